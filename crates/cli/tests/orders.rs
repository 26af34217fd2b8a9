//! Memory orders that are too weak (`raddle min`), and those that could be weaker (`raddle orders`), of programs whose
//! repair is known.

mod common;

use std::path::{Path, PathBuf};

use common::{explored, folder, stderr, stdout};
use serde_json::Value;

fn program(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let path: PathBuf = root.join(name).canonicalize().expect("there is such a program");
    path.display().to_string()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|it| serde_json::from_str(it).expect("JSON lines")).collect()
}

/// "16 store relaxed release", one for each.
fn changes(all: &Value) -> Vec<String> {
    let word = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let all = all.as_array().expect("an array").iter();
    all.map(|it| {
        let line = &it["at"]["line"];
        format!("{line} {} {} {}", word(it, "op"), word(it, "from"), word(it, "to"))
    })
    .collect()
}

/// What `raddle min` says of the first finding of a program under `c11`.
fn weakness(source: &str, more: &[&str]) -> Value {
    let folder = folder();
    let args = ["run", source, "--memory-model", "c11", "--no-explain", "--progress", "none"];
    let output = explored(folder.path(), &[&args[..], more].concat());
    assert_eq!(output.status.code(), Some(2), "{}{}", stdout(&output), stderr(&output));
    let json = ["--message-format", "json", "--time", "5m"];
    let args = [&["min", "latest", "--replays", "50", "--order-execs", "1000"], &json[..]];
    let text = stdout(&explored(folder.path(), &args.concat()));
    let finding = lines(&text).into_iter().find(|it| it["type"] == "finding");
    finding.expect("a finding")["explanation"]["weakness"].clone()
}

/// The places that are wrong, and what they must be; proved, and nothing smaller does it.
#[test]
fn too_weak_orders_are_those_that_the_right_program_has() {
    let cases: [(&str, &[&str]); 5] = [
        ("message_relaxed", &["17 store relaxed release"]),
        ("queue_relaxed_tail", &["20 store relaxed release"]),
        ("double_checked", &["17 load relaxed acquire"]),
        ("dekker_acq_rel_fence", &["18 fence acq_rel seq_cst"]),
        (
            "store_buffering",
            &[
                "16 store relaxed seq_cst",
                "17 load relaxed seq_cst",
                "24 store relaxed seq_cst",
                "25 load relaxed seq_cst",
            ],
        ),
    ];
    for (name, expected) in cases {
        let weakness = weakness(&program(&format!("fail/weak/{name}.c")), &[]);
        assert_eq!(weakness["verdict"], "orders", "{name}: {weakness}");
        assert_eq!(changes(&weakness["changes"]), expected, "{name}: {weakness}");
        assert_eq!(weakness["support"]["proved"], true, "{name}: {weakness}");
        assert_eq!(weakness["smallest"], true, "{name}: {weakness}");
    }
}

/// What was not explored to the end is not called proved.
#[test]
fn loops_that_wait_are_tested_only() {
    let weakness = weakness(&program("fail/weak/spin_relaxed_release.c"), &[]);
    assert_eq!(changes(&weakness["changes"]), ["20 store relaxed release"], "{weakness}");
    assert_eq!(weakness["support"]["proved"], false, "{weakness}");
}

/// The right program's orders are needed, but for one that has no counterpart.
#[test]
fn orders_that_could_be_weaker() {
    let folder = folder();
    let source = program("pass/weak/queue.c");
    let output = explored(folder.path(), &["orders", &source, "--message-format", "json"]);
    let told = lines(&stdout(&output)).remove(0);
    let all = ["17 store relaxed relaxed", "18 store release release", "27 load acquire acquire"];
    let rest = ["29 load relaxed relaxed", "30 store release relaxed"];
    assert_eq!(changes(&told["sites"]), [&all[..], &rest[..]].concat(), "{told}");
    assert_eq!(told["sites"][1]["fails_with"], "relaxed", "{told}");
    assert_eq!(told["support"]["proved"], true, "{told}");
    // One that fails as it is has nothing to give away.
    let source = program("fail/weak/message_relaxed.c");
    let output = explored(folder.path(), &["orders", &source]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("fails with the orders that it has"), "{}", stderr(&output));
}
