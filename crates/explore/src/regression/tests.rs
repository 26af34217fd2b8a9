//! Regressions as text, and back.

use expect_test::{Expect, expect};
use raddle_model::{Bucket, Finding, NamedObject, OpKind, PickerSpec, Plan};

use super::{Regression, load};
use crate::{
    fake::{ToySymbols, TraceExt, trace},
    finding::finding,
};

/// What its fault says: lines of a message are joined.
const MESSAGE: &str = "x == 1, \"quoted\"";

fn sample() -> Regression {
    let mut trace = trace(raddle_model::End::Assert, 2);
    trace.ended_by(1, &[31, 22]);
    trace.message = "x == 1\n\"quoted\"".into();
    let plan = Plan { prefix: vec![0, 0, 0, 1, 2, 2], ..Plan::new(PickerSpec::Walk, 7) };
    let finding = finding(&trace, &plan, 42, "out", &mut ToySymbols).expect("it fails");
    let finding = Finding {
        bucket: Bucket(0x1ec2),
        plan,
        output: String::new(),
        threads: Vec::new(),
        execution: 0,
        n_switches: 0,
        ..finding
    };
    Regression {
        id: "assert-1ec2".into(),
        args: vec!["-n".into(), "3 4".into()],
        program_hash: 0xfeed,
        carrier: raddle_model::Carrier::Threads,
        exit_is_fine: true,
        finding,
    }
}

#[test]
fn what_is_written_is_read() {
    let sample = sample();
    let text = sample.to_text(MESSAGE);
    let mut read = Regression::parse(&text).expect("it can be read");
    for (new, old) in read.finding.steps.iter_mut().zip(&sample.finding.steps) {
        // Not kept: a replay does not look at it.
        (new.result, new.flags, new.value) = (old.result, old.flags, old.value);
    }
    assert_eq!(read, sample);
}

/// Version 1 called objects by texts.
#[test]
fn what_an_older_raddle_has_written_is_read() {
    let mut sample = sample();
    sample.finding.objects = vec![NamedObject::default()];
    let text = sample.to_text(MESSAGE);
    let old = text.replacen("raddle-regression 2", "raddle-regression 1", 1);
    let old = format!("{old}object 1 \"mutex `left`\"\n");
    let read = Regression::parse(&old).expect("it can be read");
    assert_eq!(read.finding.steps.len(), sample.finding.steps.len());
    assert_eq!(read.finding.objects.len(), 2);
}

#[test]
fn long_choices_are_wrapped() {
    let mut sample = sample();
    sample.finding.plan.prefix = (0..500).map(|it| it / 3 % 2).chain([7; 90]).collect();
    let text = sample.to_text(MESSAGE);
    assert!(text.lines().filter(|it| it.starts_with("choices")).all(|it| it.len() <= 100));
    let read = Regression::parse(&text).expect("it can be read");
    assert_eq!(read.finding.plan.prefix, sample.finding.plan.prefix);
}

#[test]
fn every_op_has_a_word_of_its_own() {
    let mut verbs: Vec<&str> = OpKind::ALL.iter().map(|it| it.verb()).collect();
    verbs.sort_unstable();
    verbs.dedup();
    assert_eq!(verbs.len(), OpKind::ALL.len());
    assert!(verbs.iter().all(|it| !it.contains(' ')));
}

#[track_caller]
fn check_error(text: &str, expect: Expect) {
    let error = Regression::parse(text).expect_err("it is wrong");
    expect.assert_eq(&format!("x.sched:{error}"));
}

#[test]
fn what_can_be_wrong() {
    check_error("", expect!["x.sched:1: expected `raddle-regression 2`, found ``"]);
    check_error(
        "<<<<<<< HEAD\n",
        expect!["x.sched:1: expected `raddle-regression 2`, found `<<<<<<< HEAD`"],
    );
    check_error(
        "raddle-regression 3\n",
        expect!["x.sched:1: it was written by a newer raddle than this one"],
    );
    let text = sample().to_text(MESSAGE);
    let cut = &text[..text.find("plan ").expect("there is one")];
    check_error(cut, expect!["x.sched:15: `plan` is missing: was the file cut short?"]);
    check_error(
        &text.replace("kind assert", "kind odd"),
        expect!["x.sched:5: expected a kind of finding, found `kind odd`"],
    );
    check_error(
        &text.replace("choices 0*3", "choices x*3"),
        expect!["x.sched:17: expected a number, found `choices x*3 1 2*2`"],
    );
    check_error(
        &text.replace("bucket ", "bucket zz"),
        expect!["x.sched:6: expected hexadecimal digits, found `bucket zz0000000000001ec2`"],
    );
    check_error(
        &format!("{text}step 1 fly 0 0\n"),
        expect!["x.sched:19: expected an op, found `step 1 fly 0 0`"],
    );
    check_error(
        &format!("{text}step 1 lock 0 999\n"),
        expect!["x.sched:19: `place` is missing: was the file cut short?"],
    );
    check_error(
        &format!("{text}odd 1\n"),
        expect!["x.sched:19: expected `id`, `kind`, `plan`, `step` or another key, found `odd 1`"],
    );
}

#[test]
fn those_of_a_program_are_loaded_by_name() {
    let folder = tempfile::TempDir::new().expect("a folder");
    assert_eq!(load(folder.path(), "bank").expect("nothing is fine"), []);
    let own = folder.path().join("bank");
    std::fs::create_dir(&own).expect("made");
    for (name, id) in [("b.sched", "b"), ("a.sched", "a"), ("note.txt", "c")] {
        let text = Regression { id: id.into(), ..sample() }.to_text(MESSAGE);
        std::fs::write(own.join(name), text).expect("written");
    }
    let ids = |all: Vec<Regression>| all.into_iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(load(folder.path(), "bank").expect("read")), ["a", "b"]);
    assert_eq!(ids(load(folder.path(), "other").expect("read")), [""; 0]);
    std::fs::write(own.join("c.sched"), "no").expect("written");
    let error = load(folder.path(), "bank").expect_err("one is damaged").to_string();
    assert!(
        error.ends_with("bank/c.sched:1: expected `raddle-regression 2`, found `no`"),
        "{error}"
    );
}

/// Whatever a file says, it is a regression, or what is wrong with it is one line.
#[test]
fn garbled_files() {
    let text = sample().to_text(MESSAGE);
    let mut n_wrong = 0;
    for bytes in raddle_tidy::garbled(text.as_bytes(), 5_000) {
        match Regression::parse(&String::from_utf8_lossy(&bytes)) {
            Ok(read) => drop(read.to_text(MESSAGE)),
            Err(error) => {
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
                n_wrong += 1;
            }
        }
    }
    assert!(n_wrong > 1_000, "only {n_wrong} of 5,000 were wrong");
}
