//! Regressions as text, and back.

use expect_test::{Expect, expect};
use raddle_model::{Bucket, Carrier, Finding, Kind, NamedObject, OpKind, PickerSpec, Plan};

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

/// What Raddle wrote before regressions were TOML. Version 1 called objects by texts.
const OLD: &str = r#"raddle-regression 2
# deadlock: T1 waits for `b` held by T2 (taken at prog.c:4)
id dl-67c2
kind deadlock
bucket 67c2c05454193ef1
message "T1 waits for `b` held by T2 (taken at prog.c:4)"
args ["-n","3 4"]
build 000000000000feed
carrier "threads"
exit-is-fine
digest ffffffffffffffff
thread 1
site {"function":"take","file":"prog.c","line":4,"column":5,"module":"prog","offset":0}
plan PLAN
choices 0*2 1
choices 2*2
object 1 {"class":"mutex","location":{"name":"a"}}
object 2 "mutex `left`"
place 1 {"function":"main","file":"prog.c","line":13,"column":5,"module":"prog","offset":0}
dropped 3
# thread, op, object, place
step 1 lock 1 1
step 2 lock 2 0
"#;

fn old() -> String {
    let plan = serde_json::to_string(&Plan::new(PickerSpec::Walk, u64::MAX)).expect("plain data");
    OLD.replace("PLAN", &plan)
}

#[test]
fn what_an_older_raddle_has_written_is_read() {
    let read = Regression::parse(&old()).expect("it can be read");
    let Regression { id, args, program_hash, carrier, exit_is_fine, finding } = &read;
    assert_eq!((id.as_str(), *program_hash, *exit_is_fine), ("dl-67c2", 0xfeed, true));
    assert_eq!((args.as_slice(), *carrier), (&["-n".into(), "3 4".into()][..], Carrier::Threads));
    assert_eq!((finding.kind, finding.trace_digest), (Kind::Deadlock, u64::MAX));
    assert_eq!(
        (finding.plan.seed, finding.plan.prefix.as_slice()),
        (u64::MAX, &[0, 0, 1, 2, 2][..])
    );
    assert_eq!((finding.steps.len(), finding.n_steps_dropped), (2, 3));
    let names = [NamedObject::name(&finding.objects[1]), NamedObject::name(&finding.objects[2])];
    assert_eq!(names[0], "`a`");
    // Read, it is written as it is today, and says the same.
    assert_eq!(
        Regression::parse(&read.to_text(MESSAGE)).map(|it| it.finding.steps),
        Ok(read.finding.steps)
    );
}

#[test]
fn long_choices_are_wrapped() {
    let mut sample = sample();
    sample.finding.plan.prefix = (0..500).map(|it| it / 3 % 2).chain([7; 90]).collect();
    let text = sample.to_text(MESSAGE);
    assert!(
        text.lines().skip_while(|it| !it.starts_with("choices")).take(20).all(|it| it.len() <= 100)
    );
    let read = Regression::parse(&text).expect("it can be read");
    assert_eq!(read.finding.plan.prefix, sample.finding.plan.prefix);
}

/// What a plan knows to be shared can be thousands of names.
#[test]
fn a_long_plan_is_wrapped() {
    let mut sample = sample();
    sample.finding.plan.shared = (0..500).map(|it| u64::MAX - it).collect();
    let text = sample.to_text(MESSAGE);
    let plan = text.lines().skip_while(|it| *it != "[plan]");
    assert!(plan.clone().count() > 50);
    assert!(plan.clone().all(|it| it.len() <= 100));
    let read = Regression::parse(&text).expect("it can be read");
    assert_eq!(read.finding.plan, sample.finding.plan);
}

/// Until plans were tables of several lines.
#[test]
fn a_plan_on_one_line_is_read() {
    let text = sample().to_text(MESSAGE);
    let (rest, plan) = text.split_once("\n[plan]\n").expect("a plan is a table");
    let fields = plan.replace("= [\n", "= [").replace("\n    ", " ").replace(",\n]", "]");
    let fields: Vec<&str> = fields.lines().collect();
    let text = format!("{rest}plan = {{ {} }}\n", fields.join(", "));
    assert_eq!(Regression::parse(&text).map(|it| it.finding.plan), Ok(sample().finding.plan));
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
    expect.assert_eq(&format!("x.toml:{error}"));
}

#[test]
fn what_can_be_wrong() {
    check_error("", expect!["x.toml:1: missing field `version`"]);
    check_error("<<<<<<< HEAD\n", expect!["x.toml:1: key with no value, expected `=`"]);
    check_error(
        "version = 4\nodd = 1\n",
        expect!["x.toml:1: it was written by a newer version of raddle; update raddle"],
    );
    let text = sample().to_text(MESSAGE);
    check_error(
        &text[..text.find("[plan]").expect("there is one")],
        expect!["x.toml:1: missing field `plan`"],
    );
    check_error(
        &text.replace("kind = \"assert\"", "kind = \"odd\""),
        expect![
            "x.toml:5: unknown variant `odd`, expected one of `assert`, `abort`, `crash`, `exit`, `exception`, `panic`, `linearizability`, `deadlock`, `livelock`, `misuse`, `out-of-memory`, `race`, `atomicity`"
        ],
    );
    check_error(
        &text.replace("choices = [", "choices = [\"x\","),
        expect![[r#"x.toml:15: invalid type: string "x", expected a tuple of size 2"#]],
    );
    check_error(
        &text.replace("choices = [", "choices = [[0, 4_000_000_000],"),
        expect!["x.toml:39: too many choices: 4000000006"],
    );
    check_error(
        &text.replace("steps = [", "steps = [[1, \"fly\", 0, 0],"),
        expect!["x.toml:39: unknown op `fly`"],
    );
    check_error(
        &text.replace("steps = [", "steps = [[1, \"lock\", 0, 999],"),
        expect!["x.toml:39: place 999 or object 0 is missing"],
    );
    check_error(
        &format!("odd = 1\n{text}"),
        expect![
            "x.toml:1: unknown field `odd`, expected one of `version`, `id`, `kind`, `bucket`, `message`, `args`, `build`, `carrier`, `exit_is_fine`, `digest`, `thread`, `sites`, `plan`, `choices`, `objects`, `places`, `dropped`, `steps`"
        ],
    );
    check_error(
        "raddle-regression 3\n",
        expect!["x.toml:1: it was written by a newer version of raddle; update raddle"],
    );
    let old = old();
    check_error(
        &old[..old.find("plan ").expect("there is one")],
        expect!["x.toml:13: missing field `plan`"],
    );
    check_error(
        &old.replace("kind deadlock", "kind odd"),
        expect![
            "x.toml:23: unknown variant `odd`, expected one of `assert`, `abort`, `crash`, `exit`, `exception`, `panic`, `linearizability`, `deadlock`, `livelock`, `misuse`, `out-of-memory`, `race`, `atomicity`"
        ],
    );
    check_error(
        &old.replace("choices 0*2", "choices x*2"),
        expect!["x.toml:15: this is damaged (x*2 1)"],
    );
    check_error(
        &old.replace("bucket ", "bucket zz"),
        expect!["x.toml:5: this is damaged (invalid digit found in string)"],
    );
    check_error(&format!("{old}step 1 fly 0 0\n"), expect!["x.toml:24: unknown op `fly`"]);
    check_error(
        &format!("{old}odd 1\n"),
        expect!["x.toml:24: expected `id`, `kind`, `plan`, `step` or another key, found `odd`"],
    );
}

#[test]
fn those_of_a_program_are_loaded_by_name() {
    let folder = tempfile::TempDir::new().expect("a folder");
    assert_eq!(load(folder.path(), "bank").expect("nothing is fine"), []);
    let own = folder.path().join("bank");
    std::fs::create_dir(&own).expect("made");
    for (name, id) in [("b.toml", "b"), ("a.toml", "a"), ("note.txt", "c")] {
        let text = Regression { id: id.into(), ..sample() }.to_text(MESSAGE);
        std::fs::write(own.join(name), text).expect("written");
    }
    let ids = |all: Vec<Regression>| all.into_iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(load(folder.path(), "bank").expect("read")), ["a", "b"]);
    assert_eq!(ids(load(folder.path(), "other").expect("read")), [""; 0]);
    // One that was kept before, and one that was kept again.
    std::fs::write(own.join("aa.sched"), old()).expect("written");
    std::fs::write(own.join("b.sched"), old()).expect("written");
    assert_eq!(ids(load(folder.path(), "bank").expect("read")), ["a", "dl-67c2", "b"]);
    std::fs::write(own.join("c.toml"), "no").expect("written");
    let error = load(folder.path(), "bank").expect_err("one is damaged").to_string();
    let error = error.rsplit_once("bank/").map_or("", |it| it.1);
    expect!["c.toml:1: key with no value, expected `=`"].assert_eq(error);
}

/// Whatever a file says, it is a regression, or what is wrong with it is one line.
#[test]
fn garbled_files() {
    let mut n_wrong = 0;
    let (new, old) = (sample().to_text(MESSAGE), old());
    let all =
        [raddle_tidy::garbled(new.as_bytes(), 2_500), raddle_tidy::garbled(old.as_bytes(), 2_500)];
    for bytes in all.into_iter().flatten() {
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
