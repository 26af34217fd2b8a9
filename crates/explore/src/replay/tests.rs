//! Verdicts on executions written by hand.

use expect_test::{Expect, expect};
use raddle_model::{End, Finding, ObjectId, OpKind, PickerSpec, Plan};
use raddle_report::words::fault::moment;
use raddle_trace::{ObjectClass, Trace};

use super::{Sameness, Verdict, replay};
use crate::{
    fake::{Script, ToySymbols, TraceExt, trace},
    finding::finding,
};

/// An execution that locks a mutex at these lines, then ends.
fn execution(end: End, lines: &[u32]) -> Trace {
    let mut trace = trace(end, 2);
    let mutex = trace.global(ObjectClass::Mutex, 0);
    for line in lines {
        trace.step(1, OpKind::Lock, mutex, *line);
    }
    trace.message = "x == 1".into();
    trace.ended_by(1, &[31, 22]);
    trace
}

fn recorded() -> Finding {
    let plan = Plan::new(PickerSpec::Walk, 7);
    finding(&execution(End::Assert, &[10, 11, 12]), &plan, 42, "", &mut ToySymbols)
        .expect("bug: an assertion failed")
}

fn check(again: Trace, expect: Expect) {
    let verdict =
        replay(&mut Script::of(again), &recorded(), &mut ToySymbols, false, Sameness::Bucket)
            .expect("bug: the script does not fail");
    expect.assert_eq(&match verdict {
        Verdict::Reproduced { exact, .. } => format!("reproduced, exact: {exact}"),
        Verdict::Gone => "gone".into(),
        Verdict::Diverged { at_step, expected, found, same_bucket, finding } => format!(
            "diverged at {at_step}, same bucket: {same_bucket}, failed: {}\n  {}\n  {}\n",
            finding.is_some(),
            moment(&expected),
            moment(&found)
        ),
    });
}

#[test]
fn the_same_again() {
    check(execution(End::Assert, &[10, 11, 12]), expect!["reproduced, exact: true"]);
}

#[test]
fn the_same_steps_with_another_digest() {
    let mut again = execution(End::Assert, &[10, 11, 12]);
    again.summary.digest += 1;
    check(again, expect!["reproduced, exact: false"]);
}

#[test]
fn the_same_steps_and_a_good_end() {
    check(execution(End::Exit(0), &[10, 11, 12]), expect!["gone"]);
    check(execution(End::Exit(0), &[10, 11, 12, 13]), expect!["gone"]);
}

#[test]
fn other_steps() {
    check(
        execution(End::Assert, &[10, 14, 12]),
        expect![[r#"
            diverged at 1, same bucket: true, failed: true
              T1 lock mutex `a` at toy.c:11
              T1 lock mutex `a` at toy.c:14
        "#]],
    );
    check(
        execution(End::Exit(0), &[10, 14, 12]),
        expect![[r#"
            diverged at 1, same bucket: false, failed: false
              T1 lock mutex `a` at toy.c:11
              T1 lock mutex `a` at toy.c:14
        "#]],
    );
}

#[test]
fn fewer_and_more_steps() {
    check(
        execution(End::Exit(0), &[10]),
        expect![[r#"
            diverged at 1, same bucket: false, failed: false
              T1 lock mutex `a` at toy.c:11
              the end of the execution
        "#]],
    );
    check(
        execution(End::Assert, &[10, 11, 12, 13]),
        expect![[r#"
            diverged at 3, same bucket: true, failed: true
              the end: x == 1
              T1 lock mutex `a` at toy.c:13
        "#]],
    );
}

#[test]
fn another_end() {
    check(
        execution(End::Crash(11), &[10, 11, 12]),
        expect![[r#"
            diverged at 3, same bucket: false, failed: true
              the end: x == 1
              the end: SIGSEGV at toy.c:31 in f3
        "#]],
    );
}

#[test]
fn a_start_that_was_dropped_is_not_compared() {
    let mut again = execution(End::Assert, &[99, 12]);
    again.n_dropped = 1;
    again.step(0, OpKind::Yield, ObjectId::NONE, 1);
    check(
        again,
        expect![[r#"
            diverged at 1, same bucket: true, failed: true
              T1 lock mutex `a` at toy.c:11
              T1 lock mutex `a` at toy.c:99
        "#]],
    );
}

#[test]
fn exit_codes_may_be_fine() {
    let again = execution(End::Exit(3), &[10, 11, 12]);
    let verdict =
        replay(&mut Script::of(again), &recorded(), &mut ToySymbols, true, Sameness::Bucket);
    assert_eq!(verdict.ok(), Some(Verdict::Gone));
}
