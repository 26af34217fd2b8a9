//! The exact text and exit code of every kind of error that a user can cause, in one file (`messages.txt`), and the help of
//! every command (`help.txt`). `UPDATE_EXPECT=1` writes them anew. docs/voice.md has the rules that these texts follow.

mod common;

use std::fs;

use common::{code, folder, raddle, told, write};
use expect_test::expect_file;

/// Two threads that take two locks in opposite orders.
const DEADLOCK: &str = "#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *arg) {
    pthread_mutex_lock(&a); pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, one, 0);
    pthread_mutex_lock(&b); pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
    pthread_join(thread, 0);
    return 0;
}
";

/// By topic, command lines that are wrong. The store has a deadlock of `deadlock.c`.
const CASES: &[(&str, &[&str])] = &[
    (
        "commands and arguments",
        &[
            "rnu",
            "run",
            "run --nosuch",
            "run a.c -j",
            "show",
            "cargo bench",
            "cargo test --partition 1/4",
            "completions tcsh",
            "--ascii cc a.c",
        ],
    ),
    (
        "values",
        &[
            "run a.c --time soon",
            "run a.c --time 0s",
            "run a.c --execs none",
            "run a.c --seed x",
            "run a.c --memory much",
            "run a.c --checkpoints much",
            "run a.c --until-saturated=2",
            "run a.c --detect rain",
            "run a.c --points some",
            "run a.c --around a.c",
            "run a.c --around a.c:0",
            "run a.c --since=-x",
            "run a.c --cpus 0",
            "run a.c --cflags '-DX",
            "replay dl --times 0",
        ],
    ),
    (
        "strategies",
        &[
            "run a.c --strategy chess",
            "run a.c --strategy ptc",
            "run a.c --strategy walk:fast",
            "run a.c --strategy pct:d=0",
            "run a.c --strategy pct:d=3,c=0.9",
            "run a.c --strategy pct:depth=3",
            "run a.c --strategy stride:one,two",
            "run a.c --strategy stride:sum=half",
            "run a.c --strategy dfs:x",
            "run a.c --strategy pcb:x",
            "run a.c --strategy dpor:fast",
            "run a.c --strategy dpor:preemptions=x",
            "run a.c --strategy rank:paper+1.1.2.1",
            "run a.c --strategy total:steps=x",
            "compare a.c --strategies walk,walk",
            "compare a.c --strategies walk --baseline pos",
        ],
    ),
    (
        "options that contradict each other",
        &[
            "run deadlock.c -k --until-first",
            "run deadlock.c --resume",
            "run deadlock.c --dot it.dot",
            "run deadlock.c --strategy dfs --until-saturated",
            "run deadlock.c --strategy dfs --around deadlock.c:5",
            "run deadlock.c --strategy walk --since HEAD",
            "run deadlock.c --around nosuch",
            "run deadlock.c --strategy dfs --hapset it.json",
            "run deadlock.c --strategy hapset --memory-model c11",
            "run deadlock.c --sync-only --memory-model tso",
            "review dl --keep --discard",
            "review dl --suppress",
            "review --keep",
            "review dl",
            "debug dl --at 3 --before-bug",
        ],
    ),
    (
        "files",
        &[
            "run nosuch.c",
            "run -- ./nosuch",
            "run notes.txt",
            "run -- ./notes.txt",
            "run -- ./script",
            "run -- ./plain",
            "run broken.c",
            "run unlinked.c",
            "run deadlock.c --stdin nosuch",
            "run deadlock.c --classes .",
            "run deadlock.c --classes nosuch/it.json",
            "run deadlock.c --classes broken.json",
            "run deadlock.c --classes other.json",
            "run deadlock.c --suppressions nosuch",
            "compare deadlock.c deadlock.c",
        ],
    ),
    (
        "configuration",
        &[
            "run deadlock.c --config nosuch.toml",
            "run deadlock.c --config syntax.toml",
            "run deadlock.c --config key.toml",
            "run deadlock.c --config value.toml",
            "run deadlock.c --config rule.toml",
            "run deadlock.c --config reason.toml",
            "run deadlock.c --config profile.toml --profile ci",
            "run deadlock.c --profile ci",
        ],
    ),
    (
        "findings and the store",
        &[
            "show nothing",
            "show latest --store empty",
            "show ./nosuch.json",
            "show broken.json",
            "show newer.json",
            "show ../odd",
            "run --resume",
            "run --resume=nothing",
            "report nothing",
            "report -o nosuch/it.html",
            "report --format perfetto --store empty",
            "review dl --suppress --reason it --expires soon",
            "review dl --suppress --reason it --expires 2001-01-01",
            "store export nothing",
            "store import broken.json",
            "store ls --store empty",
            "list --store empty",
        ],
    ),
    (
        "programs",
        &[
            "run clean.c --execs 2",
            "run fails.c --execs 2",
            "compare fails.c --execs 2 --repeats 1",
        ],
    ),
];

#[test]
fn errors_of_the_user() {
    let folder = folder();
    let at = folder.path();
    for (name, text) in [
        ("deadlock.c", DEADLOCK),
        ("clean.c", "int main(void) { return 0; }\n"),
        ("fails.c", "#include <stdlib.h>\nint main(void) { abort(); }\n"),
        ("broken.c", "int main(void) { return nosuch; }\n"),
        ("unlinked.c", "int nosuch(void);\nint main(void) { return nosuch(); }\n"),
        ("notes.txt", "notes\n"),
        ("script", "#!/bin/sh\n"),
        ("broken.json", "{"),
        ("newer.json", r#"{"version":9,"raddle":"9.0.0"}"#),
        ("syntax.toml", "[profile\n"),
        ("key.toml", "[profile.default]\nexec = 5\n"),
        ("value.toml", "[profile.default]\nexecs = \"many\"\n"),
        ("rule.toml", "[[suppress]]\nkind = \"race\"\nreason = \"it\"\n"),
        ("reason.toml", "[[suppress]]\nfunction = \"f\"\n"),
        ("profile.toml", "[profile.nightly]\nexecs = 5\n"),
    ] {
        write(at, name, text);
    }
    fs::copy("/bin/true", at.join("plain")).expect("copied");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(at.join("script"), mode).expect("changed");
    let run = |args: &[&str]| raddle(at, args).output().expect("raddle starts");
    let found = run(&["run", "deadlock.c", "-j1", "--strategy", "walk", "--no-explain"]);
    assert_eq!(code(&found), Some(2), "{}", told(at, &found));
    let kept = run(&["run", "clean.c", "--execs", "2", "--classes", "other.json"]);
    assert_eq!(code(&kept), Some(0), "{}", told(at, &kept));

    let mut text = String::new();
    for (topic, lines) in CASES {
        text += &format!("# {topic}\n\n");
        for line in *lines {
            let args: Vec<&str> = line.split(' ').collect();
            let told = common::redacted(at, &run(&args));
            // What compilers say is theirs.
            let is_compiled = ["run broken.c", "run unlinked.c"].contains(line);
            let is_ours = |it: &&str| {
                !is_compiled || it.starts_with("exit") || it.contains(": error: compil")
            };
            let told: Vec<&str> = told.lines().filter(is_ours).collect();
            text += &format!("$ raddle {line}\n{}\n\n", told.join("\n"));
        }
    }
    expect_file!["messages.txt"].assert_eq(&text);
}

/// The help of every command, in `help.txt`.
#[test]
fn help_of_every_command() {
    let folder = folder();
    let mut text = String::new();
    for line in [
        "--help",
        "help all",
        "init --help",
        "run --help",
        "replay --help",
        "show --help",
        "explain --help",
        "report --help",
        "min --help",
        "review --help",
        "store --help",
        "store ls --help",
        "store export --help",
        "store import --help",
        "store prune --help",
        "regress --help",
        "debug --help",
        "list --help",
        "compare --help",
        "doctor --help",
        "completions --help",
        "man --help",
        "cargo --help",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let output = raddle(folder.path(), &args).output().expect("raddle starts");
        assert_eq!(code(&output), Some(0), "{line}");
        let help = common::stdout(&output);
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        text += &format!("$ raddle {line}\n{}\n\n", help.join("\n"));
    }
    expect_file!["help.txt"].assert_eq(&text);
}
