//! The commands of `docs/build-systems.md`, as they stand there, in copies of `examples/`; and `cmake/Raddle.cmake`.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use common::{code, folder, stderr, stdout, write};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../docs/build-systems.md");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a recipe.
fn commands(recipe: &str) -> Vec<&'static str> {
    let (_, rest) =
        PAGE.split_once(&format!("<!-- recipe: {recipe} -->\n```console\n")).expect("a recipe");
    let (block, _) = rest.split_once("```").expect("its end");
    block.lines().map(|it| it.strip_prefix("$ ").expect("a command")).collect()
}

/// The example and `cmake`, side by side as in the repository.
fn example(name: &str) -> (TempDir, PathBuf) {
    let folder = folder();
    for from in ["cmake".to_owned(), format!("examples/{name}")] {
        let to = folder.path().join(&from);
        fs::create_dir_all(&to).expect("made");
        for entry in fs::read_dir(repository().join(&from)).expect("read").flatten() {
            // Not what somebody has built there.
            if entry.file_type().is_ok_and(|it| it.is_file()) {
                fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
            }
        }
    }
    let at = folder.path().join("examples").join(name);
    (folder, at)
}

/// A command of a user who has installed Raddle.
fn shell(at: &Path, line: &str) -> Output {
    let raddle = Path::new(env!("CARGO_BIN_EXE_raddle"));
    let mut path = raddle.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(at).env("PATH", path);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_ours = text.starts_with("RADDLE_") && text != "RADDLE_CACHE";
        if is_ours || ["CC", "CXX", "CFLAGS", "CXXFLAGS", "MAKEFLAGS", "MFLAGS"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.output().expect("a shell")
}

#[track_caller]
fn fine(at: &Path, line: &str) -> String {
    let output = shell(at, line);
    let all = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(code(&output), Some(0), "{line}: {all}");
    all
}

/// Builds as the page says, and the last command shows a bug.
#[track_caller]
fn follow(name: &str) -> (TempDir, PathBuf, String) {
    let (folder, at) = example(name);
    let commands = commands(name);
    let (last, first) = commands.split_last().expect("commands");
    for line in first {
        fine(&at, line);
    }
    let output = shell(&at, last);
    assert_ne!(code(&output), Some(0), "{}", stdout(&output));
    let all = format!("{}{}", stdout(&output), stderr(&output));
    (folder, at, all)
}

fn lacks(programs: &[&str]) -> bool {
    programs.iter().any(|it| raddle_tidy::lacks(it, "its recipe in docs/build-systems.md"))
}

#[test]
fn cmake() {
    if lacks(&["cmake", "make"]) {
        return;
    }
    let (_folder, at, out) = follow("cmake");
    assert!(out.contains("error[race-") && out.contains("`account.balance_`"), "{out}");
    assert!(out.contains("50% tests passed, 1 tests failed out of 2"), "{out}");
    assert!(out.contains("account_interleavings (Failed)"), "{out}");
    // What was found can be worked with where the page says.
    assert!(fine(&at.join("build-raddle"), "raddle list").contains("race-"));
    fine(&at, "ctest --test-dir build-raddle -LE raddle");
    // Single words will do instead of the toolchain file.
    let out = fine(&at, "CC=raddle-cc CXX=raddle-cxx cmake -B by-words");
    assert!(!out.contains("not added"), "{out}");
    // People without Raddle build it, too.
    let out = fine(&at, "cmake -B plain && cmake --build plain && ctest --test-dir plain");
    assert!(
        out.contains("test account_interleavings not added: not compiled by raddle-cc"),
        "{out}"
    );
    assert!(out.contains("100% tests passed, 0 tests failed out of 2"), "{out}");
}

#[test]
fn mistakes_in_cmake_have_one_line_each() {
    if lacks(&["cmake", "make"]) {
        return;
    }
    let (_folder, at) = example("cmake");
    write(&at, "lib.cpp", "int f() { return 1; }\n");
    for (call, said) in [
        ("NAME x", "TARGET is missing; usage: raddle_add_test(NAME name TARGET target)"),
        ("NAME x TARGET nowhere", "`nowhere` is not a target; add_executable must come first"),
        ("NAME x TARGET lib", "`lib` is not an executable"),
        ("NAME x TARGET lib QUICK", "unexpected argument QUICK"),
    ] {
        let text = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(x CXX)\nadd_library(lib lib.cpp)\n\
             include(${{CMAKE_CURRENT_SOURCE_DIR}}/../../cmake/Raddle.cmake)\nraddle_add_test({call})\n"
        );
        write(&at, "CMakeLists.txt", &text);
        let output = shell(&at, "cmake -B build");
        let error: String = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_ne!(code(&output), Some(0), "{error}");
        assert!(error.contains(&format!("raddle_add_test: {said}")), "{error}");
    }
    let line = "cmake -B none -DCMAKE_TOOLCHAIN_FILE=../../cmake/raddle-toolchain.cmake";
    let output = shell(&at, &format!("PATH=/usr/bin:/bin {line}"));
    assert!(stderr(&output).contains("raddle-cc and raddle-cxx not found"), "{}", stderr(&output));
}

#[test]
fn make() {
    if lacks(&["make"]) {
        return;
    }
    let (_folder, _, out) = follow("make");
    assert!(out.contains("error[dl-") && out.contains("lost wake-up"), "{out}");
}

#[test]
fn autotools() {
    if lacks(&["autoreconf", "automake", "make"]) {
        return;
    }
    let (_folder, at, out) = follow("autotools");
    assert!(out.contains("FAIL: test_mailbox"), "{out}");
    let log = fs::read_to_string(at.join("test_mailbox.log")).expect("a log");
    assert!(log.contains("error[dl-"), "{log}");
    fine(&at, "make check");
}

#[test]
fn meson() {
    if lacks(&["meson", "ninja"]) {
        return;
    }
    let (_folder, at, out) = follow("meson");
    assert!(out.contains("mailbox FAIL"), "{out}");
    fine(&at, "meson test -C build-raddle");
}

#[test]
fn cmake_finds_the_installed_package() {
    if lacks(&["cmake", "make"]) {
        return;
    }
    let (folder, at) = example("cmake");
    let prefix = folder.path().join("prefix").display().to_string();
    fine(&at, &format!("raddle setup --prefix {prefix}"));
    let text = fs::read_to_string(at.join("CMakeLists.txt")).expect("read");
    let (before, rest) = text.split_once("include(").expect("the copy");
    let (_, after) = rest.split_once('\n').expect("a line");
    let headers = "add_executable(tells tells.cpp)\ntarget_link_libraries(tells Raddle::headers Threads::Threads)\n";
    write(
        &at,
        "CMakeLists.txt",
        &format!("{before}find_package(Raddle 0.1 REQUIRED)\n{after}{headers}"),
    );
    write(&at, "tells.cpp", "#include <raddle.hpp>\nint main() { return (int)raddle_any(1); }\n");
    // Other compilers find the headers.
    let plain = format!("cmake -B plain -DCMAKE_PREFIX_PATH={prefix}");
    assert!(fine(&at, &plain).contains("not added: not compiled by raddle-cc"));
    fine(&at, "cmake --build plain && plain/tells");
    let toolchain = format!("{prefix}/lib/cmake/Raddle/raddle-toolchain.cmake");
    let options = "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON";
    fine(
        &at,
        &format!(
            "cmake -B explored -DCMAKE_PREFIX_PATH={prefix} -DCMAKE_TOOLCHAIN_FILE={toolchain} {options}"
        ),
    );
    fine(&at, "cmake --build explored");
    let output =
        shell(&at, "ctest --test-dir explored -R account_interleavings --output-on-failure");
    let out = stdout(&output);
    assert!(out.contains("error[race-") && code(&output) != Some(0), "{out}");
    // What other tools read of this build can be run as it stands.
    let text = fs::read_to_string(at.join("explored/compile_commands.json")).expect("written");
    let commands = text.lines().filter_map(|it| it.trim().strip_prefix("\"command\": "));
    let commands: Vec<&str> =
        commands.map(|it| it.trim_end_matches(',').trim_matches('"')).collect();
    assert_eq!(commands.len(), 5, "{text}");
    for command in commands {
        assert!(command.contains("raddle-cxx "), "{command}");
        fine(&at.join("explored"), &command.replace("\\\"", "\""));
    }
    // A newer one than there is.
    write(&at, "CMakeLists.txt", &format!("{before}find_package(Raddle 99 REQUIRED)\n"));
    let output = shell(&at, &format!("cmake -B newer -DCMAKE_PREFIX_PATH={prefix}"));
    let said = stderr(&output);
    assert!(code(&output) != Some(0) && said.contains("requested version \"99\""), "{said}");
}

#[test]
fn pkg_config() {
    if lacks(&["pkg-config"]) {
        return;
    }
    let (_folder, at) = example("make");
    let text = fs::read_to_string(at.join("test_mailbox.c")).expect("read");
    write(&at, "test_mailbox.c", &format!("#include <raddle.h>\n{text}"));
    // An exported variable is for the lines after it.
    fine(&at, &commands("pkg-config").join(" && "));
}
