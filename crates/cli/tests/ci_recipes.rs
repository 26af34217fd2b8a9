//! What is written for build servers: the scripts of `action.yml` and of `examples/ci`, as they stand there, run as the
//! service would run them; and `docs/ci.md`, which shows the same text.

mod common;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use common::{code, folder, stderr, stdout, write};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The lines of a step's script, `run: |`.
fn step(file: &str, name: &str) -> String {
    let text = read(file);
    let (_, rest) = text.split_once(&format!("- name: {name}\n")).expect("the step");
    let (_, script) = rest.split_once("run: |\n").expect("its script");
    let indent = script.len() - script.trim_start().len();
    let lines = script.lines().take_while(|it| it.len() - it.trim_start().len() >= indent);
    lines.map(|it| format!("{}\n", &it[indent..])).collect()
}

/// The lines of a job's list, such as `script:`.
fn list(file: &str, name: &str) -> String {
    let text = read(file);
    let (_, rest) = text.split_once(&format!("\n  {name}:\n")).expect("the list");
    rest.lines().map_while(|it| it.strip_prefix("    - ")).map(|it| format!("{it}\n")).collect()
}

/// Runs a script as a service does that has installed Raddle into this home.
fn serve(at: &Path, script: &str, variables: &[(&str, &str)]) -> Output {
    let raddle = Path::new(env!("CARGO_BIN_EXE_raddle")).parent().expect("a folder");
    for name in [".raddle-action", ".raddle"] {
        let home = at.join("home").join(name);
        if !home.exists() {
            fs::create_dir_all(&home).expect("made");
            symlink(raddle, home.join("bin")).expect("linked");
        }
    }
    let mut path = raddle.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).current_dir(at).env("PATH", path);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_ours = text.starts_with("RADDLE_") && text != "RADDLE_CACHE";
        if is_ours || ["CC", "CXX", "CFLAGS", "MAKEFLAGS", "MFLAGS"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
    for file in ["PATH", "OUTPUT", "STEP_SUMMARY"] {
        command.env(format!("GITHUB_{file}"), at.join(file.to_lowercase()));
    }
    command.env("HOME", at.join("home")).envs(variables.iter().copied());
    command.output().expect("bash")
}

#[test]
fn the_action_explores_and_reports() {
    let folder = folder();
    let at = folder.path();
    write(at, "bank.c", &read("examples/bank.c"));
    let script = step("action.yml", "Explore");
    let run = ("RADDLE_RUN", "raddle ci bank.c --execs 200");
    let output = serve(at, &script, &[run, ("RADDLE_INVOCATION", "1-1-test")]);
    let all = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(code(&output), Some(2), "{all}");
    assert!(all.contains("\n::error file=bank.c,line="), "{all}");
    let read = |name: &str| fs::read_to_string(at.join(name)).unwrap_or_default();
    assert_eq!(read("output"), "exit-code=2\n");
    assert!(read("step_summary").contains("deadlock"), "{}", read("step_summary"));
    assert!(
        read("raddle.sarif").contains("\"version\": \"2.1.0\"")
            || read("raddle.sarif").contains("2.1.0")
    );
    assert!(read("raddle.html").starts_with("<!doctype html>"));
    // What fails to build leaves no reports of what was found before.
    let output = serve(at, &script, &[("RADDLE_RUN", "raddle ci nowhere.c")]);
    assert_eq!(code(&output), Some(1), "{}", stderr(&output));
}

#[test]
fn the_gitlab_job_explores_and_reports() {
    let folder = folder();
    let at = folder.path();
    write(at, "bank.c", &read("examples/bank.c"));
    let file = "examples/ci/gitlab-ci.yml";
    let script = list(file, "before_script") + &list(file, "script");
    let variables =
        [("RADDLE_COMMAND", "raddle ci bank.c --execs 200"), ("RADDLE_INVOCATION", "17")];
    let output = serve(at, &script, &variables);
    assert_eq!(code(&output), Some(2), "{}{}", stdout(&output), stderr(&output));
    let output = serve(at, &list(file, "after_script"), &variables);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    for (name, has) in [
        ("raddle.junit.xml", "<testsuites"),
        ("gl-code-quality-report.json", "\"check_name\": \"raddle/deadlock\""),
        ("raddle.html", "<!doctype html>"),
    ] {
        let text = fs::read_to_string(at.join(name)).unwrap_or_default();
        assert!(text.contains(has), "{name}: {text}");
        assert!(read(file).contains(name), "{name} is no artifact");
    }
}

#[test]
fn the_nightly_search_goes_on() {
    if raddle_tidy::lacks("make", "the nightly search") {
        return;
    }
    let folder = folder();
    let at = folder.path();
    for name in ["Makefile", "mailbox.c", "mailbox.h", "test_mailbox.c"] {
        write(at, name, &read(&format!("examples/make/{name}")));
    }
    let file = "examples/ci/nightly.yml";
    let output = serve(at, &step(file, "Build"), &[]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let search = step(file, "Search");
    let variables = [("PROGRAM", "./test_mailbox"), ("TIME", "20s")];
    let first = serve(at, &search, &variables);
    let all = format!("{}{}", stdout(&first), stderr(&first));
    assert_eq!(code(&first), Some(2), "{all}");
    assert!(all.contains("error[dl-") && all.contains("\n::error "), "{all}");
    // The next night goes on with the same search.
    let second = serve(at, &search, &variables);
    let all = format!("{}{}", stdout(&second), stderr(&second));
    assert!(all.contains("resum") || all.contains("explored"), "{all}");
    assert_ne!(code(&second), Some(1), "{all}");
}

#[test]
fn the_page_shows_these_files() {
    for file in ["examples/ci/gitlab-ci.yml", "examples/ci/nightly.yml"] {
        let page = read("docs/ci.md");
        let block = format!("```yaml\n{}```", read(file));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            let start = page.find(&format!("<!-- file: {file} -->\n")).expect("its place");
            let from = page[start..].find("```yaml").expect("a block") + start;
            let to = page[from + 3..].find("```").expect("its end") + from + 6;
            let text = format!("{}{block}{}", &page[..from], &page[to..]);
            fs::write(root().join("docs/ci.md"), text).expect("written");
            continue;
        }
        assert!(
            page.contains(&block),
            "docs/ci.md shows another {file}; UPDATE_EXPECT=1 writes it"
        );
    }
}
