//! `show`, `list` and `replay` with a store made by hand.

mod common;

use std::{fs, io::Read as _, path::Path, process::Stdio};

use common::{check, folder, raddle, told};
use expect_test::expect;
use nix::pty::{OpenptyResult, openpty};
use raddle_explore::{
    Store, StoredTarget,
    store::{About, Run, RunInfo},
};
use raddle_model::{
    Bucket, Carrier, Certainty, Fault, Finding, Kind, NamedObject, ObjectClass, ObjectId, OpKind,
    PickerSpec, Place, Plan, Reproduced, Step, ThreadId, ThreadState,
};

fn place(line: u32) -> Place {
    Place { file: "queue.c".into(), line, function: "push".into(), ..Place::default() }
}

fn finding() -> Finding {
    let state = |number: u32| ThreadState {
        thread: ThreadId(number),
        name: String::new(),
        parent: (number > 0).then_some(ThreadId(0)),
        created_at: Place::default(),
        creation: Vec::new(),
        function: String::new(),
        is_finished: false,
        pending: None,
        waits_for: None,
        stack: vec![place(2)],
    };
    let step = |thread: u32, kind| Step {
        thread: ThreadId(thread),
        kind,
        object: ObjectId(1),
        place: 1,
        value: 3,
        ..Step::default()
    };
    Finding {
        kind: Kind::Assert,
        bucket: Bucket(0x7f3a),
        fault: Fault::Said("head != tail".into()),
        thread: Some(ThreadId(1)),
        sites: vec![place(2)],
        is_cycle: false,
        cycle: Vec::new(),
        threads: vec![state(0), state(1)],
        steps: vec![step(0, OpKind::Write), step(1, OpKind::Read)],
        n_steps_dropped: 0,
        objects: vec![NamedObject::default(), NamedObject::called(ObjectClass::Variable, "head")],
        places: vec![Place::default(), place(1)],
        stacks: Vec::new(),
        plan: Plan::new(PickerSpec::Walk, 0),
        execution: 42,
        n_switches: 1,
        trace_digest: 0,
        output: "queue full\n".into(),
        strategy: "walk".into(),
        position: None,
        certainty: Certainty::Shown,
        evidence: None,
        freed: None,
        delay_us: 0,
    }
}

fn begin(root: &Path) -> Run {
    let info = RunInfo {
        target: StoredTarget { program: "/nowhere/queue".into(), ..StoredTarget::default() },
        program_hash: 0,
        carrier: Carrier::Fibers,
        seed: 7,
        exit_is_fine: false,
        invocation: None,
        about: About::default(),
    };
    Store::at(root.join(".raddle")).begin(info).expect("a run")
}

fn store(root: &Path, ids: &[&str]) {
    let mut run = begin(root);
    for (idx, id) in ids.iter().enumerate() {
        let finding = Finding { bucket: Bucket(idx as u64), ..finding() };
        run.add(id, &finding, Reproduced { n: 5, of: 5 }).expect("added");
    }
}

/// A person sees the last ones and how to see the others; a pipe gets them all.
#[test]
fn a_long_list_ends_on_a_terminal() {
    let folder = folder();
    let ids: Vec<String> = (0..60).map(|it| format!("assert-{it:04}")).collect();
    store(folder.path(), &ids.iter().map(String::as_str).collect::<Vec<_>>());
    let n_lines = |args: &[&str]| {
        let output = raddle(folder.path(), args).output().expect("it starts");
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    assert_eq!(n_lines(&["list"]), 61);
    assert_eq!(n_lines(&["list", "--message-format", "json"]), 60);
    assert_eq!(n_lines(&["list", "--message-format", "json", "--last", "2"]), 2);
    let on_terminal = |args: &[&str]| {
        let Ok(OpenptyResult { master, slave }) = openpty(None, None) else {
            panic!("there are no terminals");
        };
        let child = raddle(folder.path(), args).stdout(slave).stderr(Stdio::piped()).spawn();
        let reader = std::thread::spawn(move || {
            let mut seen = Vec::new();
            // The other end of the terminal is gone: that is an error once all was read.
            let _ = fs::File::from(master).read_to_end(&mut seen);
            String::from_utf8_lossy(&seen).lines().count()
        });
        let output = child.expect("it starts").wait_with_output().expect("it ends");
        let note = String::from_utf8_lossy(&output.stderr).into_owned();
        (reader.join().expect("it reads"), note)
    };
    let (n_shown, note) = on_terminal(&["list"]);
    assert_eq!(n_shown, 51);
    expect![[r#"
        10 older findings not shown; `raddle list --all` shows all
    "#]]
    .assert_eq(&note);
    assert_eq!(on_terminal(&["list", "--all"]), (61, String::new()));
    assert_eq!(on_terminal(&["list", "--last", "2"]), (3, String::new()));
}

#[test]
fn a_finding_is_shown() {
    let folder = folder();
    fs::write(folder.path().join("queue.c"), "int head;\nassert(head != tail);\n")
        .expect("written");
    store(folder.path(), &["assert-7f3a"]);
    check(
        folder.path(),
        &["show", "assert-7"],
        expect![[r#"
            exit 0
            stdout: error[assert-7f3a]: assertion failed: head != tail
            stdout:   --> queue.c:2 in push
            stdout:    |
            stdout:  2 | assert(head != tail);
            stdout:    | ^^^^^^^^^^^^^^^^^^^^^ T1: assertion failed: head != tail
            stdout:    |
            stdout:    = replay: raddle replay assert-7f3a
            stdout: 
            stdout:   step  T0 main     T1             2 steps, 1 switch
            stdout:      1  write head  .              queue.c:1  int head;
            stdout:         ── switch (preempted) ──
            stdout:      2  .           read head → 3  queue.c:1  int head;
            stdout: ▸       .           assert         queue.c:2  ← assert failed
            stdout: 
            stdout:   program output:
            stdout:     queue full
            stdout: 
            stdout: SUMMARY: raddle: assert at queue.c:2 in push
        "#]],
    );
    check(
        folder.path(),
        &["show", "latest", "--ascii"],
        expect![[r#"
            exit 0
            stdout: error[assert-7f3a]: assertion failed: head != tail
            stdout:   --> queue.c:2 in push
            stdout:    |
            stdout:  2 | assert(head != tail);
            stdout:    | ^^^^^^^^^^^^^^^^^^^^^ T1: assertion failed: head != tail
            stdout:    |
            stdout:    = replay: raddle replay assert-7f3a
            stdout: 
            stdout:   step  T0 main     T1              2 steps, 1 switch
            stdout:      1  write head  .               queue.c:1  int head;
            stdout:         -- switch (preempted) --
            stdout:      2  .           read head -> 3  queue.c:1  int head;
            stdout: >       .           assert          queue.c:2  <- assert failed
            stdout: 
            stdout:   program output:
            stdout:     queue full
            stdout: 
            stdout: SUMMARY: raddle: assert at queue.c:2 in push
        "#]],
    );
}

#[test]
fn a_finding_is_shown_as_json() {
    let folder = folder();
    store(folder.path(), &["assert-7f3a"]);
    let args = ["show", "assert-7f3a", "--message-format", "json"];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["type"], "finding");
    assert_eq!(value["version"], 1);
    assert_eq!(value["id"], "assert-7f3a");
    assert_eq!(value["seed"], 7);
    assert_eq!(value["sites"][0]["line"], 2);
}

#[test]
fn findings_are_listed() {
    let folder = folder();
    store(folder.path(), &["assert-7f3a", "dl-02c1"]);
    let output = raddle(folder.path(), &["list"]).output().expect("raddle starts");
    let text = told(folder.path(), &output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "exit 0");
    assert!(lines[1].starts_with("stdout: id           kind    program  found "), "{text}");
    assert!(lines[2].starts_with("stdout: dl-02c1      assert  queue    2"), "{text}");
    assert!(lines[3].ends_with("  head != tail"), "{text}");
}

#[test]
fn names_that_do_not_fit() {
    let folder = folder();
    check(
        folder.path(),
        &["list"],
        expect![[r#"
            exit 0
            stderr: no findings in .raddle yet; `raddle run` stores them there
        "#]],
    );
    check(
        folder.path(),
        &["show", "dl-02c1"],
        expect![[r#"
            exit 1
            stderr: error: no findings in .raddle yet; `raddle run` stores them there
        "#]],
    );
    store(folder.path(), &["assert-7f3a", "assert-7000"]);
    check(
        folder.path(),
        &["show", "dl-02c1"],
        expect![[r#"
            exit 1
            stderr: error: no finding with an id that starts with `dl-02c1` in .raddle; `raddle list` shows all findings
        "#]],
    );
    check(
        folder.path(),
        &["replay", "assert-7"],
        expect![[r#"
            exit 1
            stderr: error: finding id `assert-7` is ambiguous: it matches assert-7000, assert-7f3a; use a longer prefix
        "#]],
    );
    check(
        folder.path(),
        &["show", "./nosuch.json"],
        expect![[r#"
            exit 1
            stderr: error: can't read ./nosuch.json: No such file or directory (os error 2)
        "#]],
    );
}

#[test]
fn the_program_is_gone() {
    let folder = folder();
    store(folder.path(), &["assert-7f3a"]);
    check(
        folder.path(),
        &["replay", "assert-7f3a"],
        expect![[r#"
            exit 1
            stderr: error: the program of this finding does not exist here: /nowhere/queue; for an exported finding, use `raddle store import FILE --program PROGRAM`
        "#]],
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    store(folder.path(), &["assert-7f3a"]);
    let mut child = raddle(folder.path(), &["show", "assert-7f3a"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("raddle starts");
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut stderr).expect("readable");
    assert_eq!(child.wait().expect("waited").code(), Some(0));
    assert_eq!(stderr, "");
}
