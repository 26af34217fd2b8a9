//! What goes wrong before anything runs: one clear line each, and its exit code.
//!
//! Tests that need the runtime are in `programs.rs`.

mod common;

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use common::{check, folder, raddle};
use expect_test::expect;

#[test]
fn nothing_to_run() {
    check(
        folder().path(),
        &["run"],
        expect![[r#"
            exit 1
            stderr: error: no program given; name C, C++ or Rust sources (`raddle run bank.c`) or, after `--`, a program built with `raddle cc` (`raddle run -- ./bank`)
        "#]],
    );
}

#[test]
fn a_mistyped_verb() {
    for (line, meant) in [
        ("rnu prog.c", "run"),
        ("repaly latest", "replay"),
        ("shwo latest", "show"),
        ("mni latest", "min"),
        ("lsit", "list"),
        ("regerss latest", "regress"),
        ("store exprot x", "export"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = raddle(folder().path(), &words).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {errors}");
        assert!(errors.contains(&format!("a similar subcommand exists: '{meant}'")), "{errors}");
    }
    let output = raddle(folder().path(), &["cargo", "tset"]).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "error: unknown command `tset`; did you mean `test`?\n");
}

#[test]
fn no_time_at_all() {
    let folder = folder();
    common::write(folder.path(), "prog.c", "int main(void) { return 0; }");
    for line in [
        "run prog.c --time 0",
        "run prog.c --time 0s",
        "run prog.c --hang-timeout 0ms",
        "total prog.c --time 0",
        "compare prog.c --time 0",
        "regress latest --time 0",
        "min latest --time 0",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = raddle(folder.path(), &words).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {errors}");
        assert!(errors.contains("expected a duration of more than zero"), "{line}: {errors}");
    }
}

#[test]
fn a_configuration_that_is_no_file() {
    let folder = folder();
    common::write(folder.path(), "prog.c", "int main(void) { return 0; }");
    fs::create_dir(folder.path().join("raddle.toml")).expect("made");
    for words in [&["run", "prog.c"][..], &["total", "prog.c"]] {
        let output = raddle(folder.path(), words).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert_eq!(errors, "error: raddle.toml: Is a directory (os error 21)\n");
    }
}

#[test]
fn no_such_source() {
    check(
        folder().path(),
        &["run", "nosuch.c"],
        expect![[r#"
            exit 1
            stderr: error: file not found: nosuch.c
        "#]],
    );
}

#[test]
fn no_such_program() {
    let folder = folder();
    check(
        folder.path(),
        &["run", "--", "./nosuch", "--quick"],
        expect![[r#"
            exit 1
            stderr: error: program `./nosuch` not found
        "#]],
    );
    check(
        folder.path(),
        &["run", "./nosuch"],
        expect![[r#"
            exit 1
            stderr: error: program `./nosuch` not found
        "#]],
    );
    check(
        folder.path(),
        &["run", "--", "no-such-program-anywhere"],
        expect![[r#"
            exit 1
            stderr: error: program `no-such-program-anywhere` not found
        "#]],
    );
}

#[test]
fn not_a_program() {
    let folder = folder();
    let script = folder.path().join("script");
    fs::write(&script, "#!/bin/sh\nexit 0\n").expect("written");
    check(
        folder.path(),
        &["run", "--", "./script"],
        expect![[r#"
            exit 1
            stderr: error: `./script` is not executable; if it is a program, run `chmod +x` on it
        "#]],
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("made executable");
    check(
        folder.path(),
        &["run", "--", "./script"],
        expect![[r#"
            exit 1
            stderr: error: `./script` is a script; name the program that it starts
        "#]],
    );
    check(
        folder.path(),
        &["run", "--", "."],
        expect![[r#"
        exit 1
        stderr: error: `.` is not a file
    "#]],
    );
}

#[test]
fn a_program_without_hooks() {
    check(
        folder().path(),
        &["run", "--", "/bin/true"],
        expect![[r#"
            exit 1
            stderr: error: `/bin/true` is not instrumented; build it with `raddle cc` or `raddle c++`, or use --sync-only to control its synchronisation only
        "#]],
    );
}

#[test]
fn a_source_that_does_not_compile() {
    let folder = folder();
    fs::write(folder.path().join("bad.c"), "int main(void) { return nothing; }\n")
        .expect("written");
    let output = raddle(folder.path(), &["run", "bad.c"]).output().expect("raddle starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("bad.c:1:"), "the compiler's own words are missing: {stderr}");
    assert_eq!(stderr.lines().last(), Some("error: compilation of bad.c failed"));
}

/// The C compiler says what is missing; what to do about it with `raddle run`, Raddle has to say.
#[test]
fn a_source_that_needs_a_library() {
    let folder = folder();
    let text = "#include <math.h>\nint main(int n, char **v) { return cbrt(n + !v) > 9; }\n";
    fs::write(folder.path().join("root.c"), text).expect("written");
    let output = raddle(folder.path(), &["run", "root.c"]).output().expect("raddle starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line =
        "error: compilation of root.c failed; add libraries with --cflags, e.g. `--cflags=-lm`";
    assert_eq!(stderr.lines().last(), Some(line));
    let args = ["run", "root.c", "--cflags=-lm", "--execs", "2"];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_rust_source_without_rustc() {
    let folder = folder();
    fs::write(folder.path().join("x.rs"), "fn main() {}\n").expect("written");
    let output = raddle(folder.path(), &["run", "x.rs"]).env("RUSTC", "/nowhere/rustc").output();
    expect![[r#"
        exit 1
        stderr: error: can't start `/nowhere/rustc`: No such file or directory (os error 2); Rust crates require cargo and rustc in PATH
    "#]].assert_eq(&common::told(folder.path(), &output.expect("raddle starts")));
}

#[test]
fn no_such_input() {
    let folder = folder();
    fs::write(folder.path().join("x.c"), "int main(void) { return 0; }\n").expect("written");
    check(
        folder.path(),
        &["run", "--stdin", "nosuch", "x.c"],
        expect![[r#"
        exit 1
        stderr: error: --stdin nosuch: No such file or directory (os error 2)
    "#]],
    );
}

#[test]
fn bad_values() {
    let folder = folder();
    check(
        folder.path(),
        &["run", "--time", "5 parsecs", "x.c"],
        expect![[r#"
            exit 1
            stderr: error: invalid value '5 parsecs' for '--time <TIME>': expected a duration, e.g. `500ms`, `10s`, `2m` or `1h`
            stderr: 
            stderr: For more information, try '--help'.
        "#]],
    );
    check(
        folder.path(),
        &["run", "--execs", "none", "x.c"],
        expect![[r#"
            exit 1
            stderr: error: invalid value 'none' for '--execs <N>': expected a number of 1 or more, e.g. `20000` or `20k`
            stderr: 
            stderr: For more information, try '--help'.
        "#]],
    );
    check(
        folder.path(),
        &["run", "--memory", "much", "x.c"],
        expect![[r#"
            exit 1
            stderr: error: invalid value 'much' for '--memory <SIZE>': expected a size, e.g. `512M` or `2G`
            stderr: 
            stderr: For more information, try '--help'.
        "#]],
    );
    check(
        folder.path(),
        &["run", "--seed", "x", "x.c"],
        expect![[r#"
            exit 1
            stderr: error: invalid value 'x' for '--seed <SEED>': expected a number, e.g. `42` or `0x2a`
            stderr: 
            stderr: For more information, try '--help'.
        "#]],
    );
    check(
        folder.path(),
        &["run", "--carrier", "pigeons", "x.c"],
        expect![[r#"
        exit 1
        stderr: error: invalid value 'pigeons' for '--carrier <CARRIER>'
        stderr:   [possible values: fibers, threads]
        stderr: 
        stderr: For more information, try '--help'.
    "#]],
    );
    check(
        folder.path(),
        &["run", "--cflags", "'-DX", "x.c"],
        expect![[r#"
            exit 1
            stderr: error: --cflags: unclosed quote in `'-DX`
        "#]],
    );
}

#[test]
fn bad_strategies() {
    let folder = folder();
    check(
        folder.path(),
        &["run", "--strategy", "rpro:d=3,r=0", "x.c"],
        expect![[r#"
            exit 1
            stderr: error: invalid value 'rpro:d=3,r=0' for '--strategy <STRATEGY>': invalid value `0` for `r`; expected a number from 1 to 100000
            stderr:   rpro:d=1..64|drawn|paper, r=1..100000|drawn, c=0.5..0.9999  (like pct, with all priority changes within r steps)
            stderr: 
            stderr: For more information, try '--help'.
        "#]],
    );
    let output = raddle(folder.path(), &["run", "--strategy", "chess", "x.c"]).output();
    let told = common::told(folder.path(), &output.expect("raddle starts"));
    for line in
        ["exit 1", "unknown strategy `chess`; available:", "stderr:   pct:d=1..64|drawn|paper"]
    {
        assert!(told.contains(line), "{told}");
    }
}

#[test]
fn what_was_meant_and_what_can_not_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for (args, told) in [
        (["--strategy", "pctt"], "unknown strategy `pctt`; did you mean `pct`?"),
        (["--strategy", "dporr:optimal"], "unknown strategy `dporr`; did you mean `dpor`?"),
        (["--classes", "."], "--classes . is a directory; name a file"),
        (["--hapset", "."], "--hapset . is a directory; name a file"),
        (["--dot", "."], "--dot . is a directory; name a file"),
        (["--dot", "no/x.dot"], "--dot no/x.dot: the directory no does not exist; create it first"),
    ] {
        let output = raddle(folder.path(), &["run", args[0], args[1], "x.c"]).output();
        let all = common::told(folder.path(), &output.expect("raddle starts"));
        assert!(all.contains("exit 1") && all.contains(told), "{all}");
    }
}

#[test]
fn bad_environment() {
    let folder = folder();
    let output = raddle(folder.path(), &["run", "x.c"]).env("RADDLE_BUDGET", "much").output();
    let output = output.expect("raddle starts");
    expect![[r#"
        exit 1
        stderr: error: invalid value 'much' for '--budget <RADDLE_BUDGET>': expected a number of executions or a duration, e.g. `20k` or `60s`
        stderr: 
        stderr: For more information, try '--help'.
    "#]].assert_eq(&common::told(folder.path(), &output));
}

#[test]
fn unknown_verbs_and_options() {
    let folder = folder();
    check(
        folder.path(),
        &["frobnicate"],
        expect![[r#"
        exit 1
        stderr: error: unrecognized subcommand 'frobnicate'
        stderr: 
        stderr: Usage: raddle [OPTIONS] <COMMAND>
        stderr: 
        stderr: For more information, try '--help'.
    "#]],
    );
    check(
        folder.path(),
        &["list", "--nosuch"],
        expect![[r#"
        exit 1
        stderr: error: unexpected argument '--nosuch' found
        stderr: 
        stderr: Usage: raddle list [OPTIONS]
        stderr: 
        stderr: For more information, try '--help'.
    "#]],
    );
    check(
        folder.path(),
        &["replay"],
        expect![[r#"
        exit 1
        stderr: error: the following required arguments were not provided:
        stderr:   <ID>
        stderr: 
        stderr: Usage: raddle replay <ID>
        stderr: 
        stderr: For more information, try '--help'.
    "#]],
    );
    let bare = raddle(folder.path(), &[]).output().expect("raddle starts");
    assert_eq!(bare.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&bare.stderr).contains("Usage: raddle"));
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = folder();
    for args in [&["--help"][..], &["run", "--help"], &["help", "replay"], &["--version"]] {
        let output = raddle(folder.path(), args).output().expect("raddle starts");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(output.stderr.is_empty() && !output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn the_compiler_has_its_arguments_to_itself() {
    let folder = folder();
    for args in [&["cc", "--version"][..], &["cc", "--help"], &["c++", "-dumpversion"]] {
        let output = raddle(folder.path(), args).output().expect("raddle starts");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("raddle"), "{args:?}");
    }
    let none = raddle(folder.path(), &["cc", "nosuch.c"]).output().expect("raddle starts");
    assert!(!none.status.success());
    assert!(String::from_utf8_lossy(&none.stderr).contains("nosuch.c"));
}

#[test]
fn the_compilers_have_names_of_one_word() {
    let folder = folder();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_raddle"), folder.path().join("raddle-c++"))
        .expect("linked");
    let link = folder.path().join("raddle-c++");
    let [cc, cxx] = [env!("CARGO_BIN_EXE_raddle-cc"), env!("CARGO_BIN_EXE_raddle-cxx")];
    let link = link.to_str().expect("a path in UTF-8");
    // Only the C++ compiler knows the library, so the link shows which of the two it was.
    fs::write(
        folder.path().join("a.cc"),
        "#include <string>\nint main(int n, char **) { std::string a(n, 'a'); return a.size() != 1; }\n",
    )
    .expect("written");
    for (compiler, works) in [(cc, false), (cxx, true), (link, true)] {
        let mut command = Command::new(compiler);
        command.args(["a.cc", "-o", "a"]).current_dir(folder.path());
        let built = command.output().expect("it starts");
        assert_eq!(built.status.success(), works, "{compiler}: {built:?}");
    }
    let ran =
        raddle(folder.path(), &["run", "--execs", "1", "--", "./a"]).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
}

#[test]
fn a_compiler_without_raddle_says_what_it_needs() {
    let folder = folder();
    for name in ["raddle-cc", "raddle-cxx"] {
        let there = match name {
            "raddle-cc" => env!("CARGO_BIN_EXE_raddle-cc"),
            _ => env!("CARGO_BIN_EXE_raddle-cxx"),
        };
        // Not by this process: while it writes, another test's child may have the file open, too.
        let copied = Command::new("cp").arg(there).arg(folder.path().join(name)).status();
        assert!(copied.expect("cp starts").success());
        let output = Command::new(folder.path().join(name)).env("PATH", "/nowhere").output();
        let output = output.expect("it starts");
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            format!(
                "error: can't start `raddle`: No such file or directory (os error 2); `{name}` requires `raddle` in \
                 the same directory or in PATH\n"
            )
        );
    }
}

#[test]
fn shells_and_man_learn_the_command_line() {
    let folder = folder();
    for (shell, check) in [("bash", "bash -n"), ("zsh", ""), ("fish", "")] {
        let output =
            raddle(folder.path(), &["completions", shell]).output().expect("raddle starts");
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = String::from_utf8_lossy(&output.stdout);
        for word in ["raddle", "regress", "keep-going"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        if !check.is_empty() {
            fs::write(folder.path().join("script"), &output.stdout).expect("written");
            let mut command = Command::new("sh");
            command.args(["-c", &format!("{check} script")]).current_dir(folder.path());
            assert!(command.status().expect("a shell").success(), "{shell} can't read it");
        }
    }
    let page = raddle(folder.path(), &["man"]).output().expect("raddle starts");
    assert!(String::from_utf8_lossy(&page.stdout).contains(".TH raddle 1"), "{page:?}");
    let pages = raddle(folder.path(), &["man", "-o", "pages"]).output().expect("raddle starts");
    assert_eq!(pages.status.code(), Some(0), "{pages:?}");
    for name in ["raddle.1", "raddle-run.1", "raddle-store-export.1"] {
        assert!(folder.path().join("pages").join(name).exists(), "{name}");
    }
    fs::write(folder.path().join("file"), "").expect("written");
    let failed = raddle(folder.path(), &["man", "-o", "file"]).output().expect("raddle starts");
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&failed.stderr),
        "error: can't write file: File exists (os error 17)\n"
    );
}

#[test]
fn codes_are_explained() {
    let folder = folder();
    let text = |words: &[&str]| {
        let output = raddle(folder.path(), words).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let page = text(&["explain", "double-free"]);
    assert!(page.starts_with("double-free\n\nA block is freed twice.\n\nTwo threads"), "{page}");
    let list = text(&["explain"]);
    assert!(list.contains("\n  lost-wakeup ") && list.contains("\n  stability "), "{list}");
    check(
        folder.path(),
        &["explain", "dubble-free"],
        expect![[r#"
            exit 1
            stderr: error: unknown code `dubble-free`; did you mean `double-free`?
        "#]],
    );
    check(
        folder.path(),
        &["explain", "dl-5301"],
        expect![[r#"
            exit 1
            stderr: error: no findings in .raddle yet; `raddle run` stores them there
        "#]],
    );
}

#[test]
fn versions_say_which_build_it_is() {
    let folder = folder();
    let output = raddle(folder.path(), &["--version"]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let starts: Vec<&str> = text.lines().map(|it| it.split(' ').next().unwrap_or("")).collect();
    assert_eq!(starts, ["raddle", "commit:", "compiler:", "runtime:"], "{text}");
}

#[test]
fn help_is_one_screen_and_all_of_it_is_there() {
    let folder = folder();
    let text = |words: &[&str]| {
        let output = raddle(folder.path(), words).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let short = text(&["--help"]);
    assert_eq!(short, text(&["help"]));
    assert_eq!(short, text(&["-h"]));
    let all = text(&["help", "all"]);
    assert_eq!(all, text(&["--help-all"]));
    assert!(short.lines().count() < 25 && all.lines().count() > short.lines().count(), "{all}");
}
