//! Every JSON line that Raddle writes is one that the published schema describes (`docs/json.schema.json`).

mod common;

use std::path::Path;

use common::{folder, raddle, stdout, write};
use jsonschema::Validator;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../docs/json.schema.json");

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
}

/// Runs a command; its lines, each of which must be valid and strictly what the schema has.
fn lines(at: &Path, args: &[&str]) -> Vec<Value> {
    let output = raddle(at, args).output().expect("raddle starts");
    let text = stdout(&output);
    let lines: Vec<Value> = text
        .lines()
        .map(|it| {
            serde_json::from_str(it).unwrap_or_else(|error| panic!("{args:?}: {error}: {it}"))
        })
        .collect();
    assert!(!lines.is_empty(), "{args:?} wrote nothing: {}", common::stderr(&output));
    let validator = validator();
    for line in &lines {
        if let Err(error) = validator.validate(line) {
            let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
            // The error of the whole says only that no type of line fits: that of its own says why.
            let name = format!("{} line", line["type"].as_str().unwrap_or_default());
            let own = json!({"$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"]});
            let own = jsonschema::validator_for(&own).expect("a schema");
            let why: Vec<String> =
                own.iter_errors(line).map(|it| format!("{}: {it}", it.instance_path())).collect();
            panic!("{args:?}: {error}\n{}\n{line:#}", why.join("\n"));
        }
    }
    lines
}

/// How many lines of a type there are.
fn n_of(lines: &[Value], name: &str) -> usize {
    lines.iter().filter(|it| it["type"] == name).count()
}

fn program(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn of_a_finding_and_what_is_done_with_it() {
    let folder = folder();
    let at = folder.path();
    let bank = program("examples/bank.c");
    let json = ["--message-format", "json"];
    let run = lines(at, &["run", &bank, "--execs", "200", "--show-output", json[0], json[1]]);
    assert_eq!((n_of(&run, "finding"), n_of(&run, "summary")), (1, 1));
    assert!(n_of(&run, "output") > 0);
    let of = |verb: &str, name: &str| {
        let all = lines(at, &[verb, "latest", json[0], json[1]]);
        assert_eq!(n_of(&all, name), 1, "{verb}: {all:?}");
    };
    of("replay", "replay");
    of("show", "finding");
    of("min", "finding");
    of("regress", "regress");
    assert_eq!(n_of(&lines(at, &["list", json[0], json[1]]), "listed"), 1);
    assert!(n_of(&lines(at, &["store", "ls", json[0], json[1]]), "run") > 0);
    // A regression test, then a suppression of the same.
    let kept = raddle(at, &["review", "latest", "--keep"]).status().expect("raddle starts");
    assert!(kept.success());
    let again = lines(at, &["run", &bank, "--execs", "200", json[0], json[1]]);
    assert_eq!(n_of(&again, "regression"), 1, "{again:?}");
    std::fs::remove_dir_all(at.join("raddle-regressions")).expect("removed");
    write(
        at,
        "raddle.toml",
        "[[suppress]]\nkind = \"deadlock\"\nfunction = \"transfer\"\nreason = \"a test\"\n",
    );
    let quiet = lines(at, &["run", &bank, "--execs", "50", json[0], json[1]]);
    assert_eq!(n_of(&quiet, "suppressed"), 1, "{quiet:?}");
}

#[test]
fn of_each_kind_of_evidence() {
    let folder = folder();
    let at = folder.path();
    write(at, "lone.c", "#include <stdlib.h>\nint main(void) { abort(); }\n");
    let lone = lines(at, &["run", "lone.c", "--message-format", "json"]);
    assert_eq!(n_of(&lone, "baseline"), 1, "{lone:?}");
    for (path, field) in [
        ("examples/reference_count.c", "/freed/free/at/line"),
        ("examples/double_checked.cpp", "/evidence/accesses/0/at/line"),
        ("programs/fail/linear/ms_queue_tail.cpp", "/history/operations/0/call"),
        ("programs/fail/memory/overflow_read.c", "/heap/access/size"),
    ] {
        let path = program(path);
        let options = ["--execs", "2000", "-k", "--detect", "all", "--message-format", "json"];
        let all = lines(at, &[&["run", &path], &options[..]].concat());
        let has = |it: &Value| {
            it["type"] == "finding" && it.pointer(field).is_some_and(|it| !it.is_null())
        };
        assert!(all.iter().any(has), "{path}: no {field}: {all:?}");
    }
}

#[test]
fn of_searches_comparisons_and_the_machine() {
    let folder = folder();
    let at = folder.path();
    let bank = program("examples/fixed/bank.c");
    for strategy in ["dfs", "dpor", "hapset", "total", "rank"] {
        let options = ["--strategy", strategy, "--time", "3s", "--message-format", "json"];
        let all = lines(at, &[&["run", &bank], &options[..]].concat());
        assert!(all.iter().any(|it| it["search"].is_object()), "{strategy}: {all:?}");
    }
    let compare = ["compare", &bank, "--strategies", "walk,dfs", "--execs", "20", "--repeats", "2"];
    let compared = lines(at, &[&compare[..], &["--message-format", "json"]].concat());
    assert_eq!(n_of(&compared, "compared"), 2, "{compared:?}");
    write(
        at,
        "message.c",
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int flag; static int data;\n\
         static void *send(void *it) { data = 1; atomic_store(&flag, 1); return it; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, send, 0);\n\
         int seen = 0; if (atomic_load(&flag)) seen = data; pthread_join(t, 0); return seen > 1; }\n",
    );
    let orders = lines(at, &["orders", "message.c", "--time", "10s", "--message-format", "json"]);
    assert_eq!(n_of(&orders, "orders"), 1, "{orders:?}");
    let doctor = lines(at, &["doctor", "--json"]);
    assert_eq!(n_of(&doctor, "doctor"), 1);
    assert!(doctor[0]["checks"].as_array().is_some_and(|it| it.len() > 4), "{doctor:?}");
}
