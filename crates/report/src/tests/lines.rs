//! Snapshots of closing lines, warnings, verdicts and the short JSON lines.

use std::time::Duration;

use raddle_model::Figures;

use expect_test::expect;

use super::samples;
use crate::{
    campaign::{
        closing::{self, Doubts, NewEnd, Replayed, Uncontrolled},
        status::{Status, Tally},
    },
    formats::json,
    layout::style::Style,
};

fn status() -> Status {
    Status {
        figures: Figures {
            executions: 20_000,
            elapsed: Duration::from_millis(14_200),
            distinct_traces: 9_312,
            steps_total: 2_000_000,
            stability: 100.0,
            ..Figures::default()
        },
        ..Status::default()
    }
}

#[test]
fn closing_lines() {
    let style = Style::default();
    let mut status = status();
    let clean = closing::explored(&status, false, &style);
    let tally = |id: &str| Tally {
        id: id.into(),
        count: 31,
        place: "queue.c:88".into(),
        is_timing: false,
        is_race: false,
    };
    status.findings = vec![tally("dl-02c1"), tally("assert-7f3a")];
    let found = closing::explored(&status, true, &style);
    let tallies = closing::tallies(&status, &style);
    expect![[r#"
        explored 20,000 executions (9,312 distinct) in 14.2 s (1,408/s), no finding
        interrupted after 20,000 executions (9,312 distinct) in 14.2 s (1,408/s), 2 findings
          dl-02c1         ×31  queue.c:88
          assert-7f3a     ×31  queue.c:88
    "#]]
    .assert_eq(&(clean + &found + &tallies));
}

/// A race is no failure, and a few schedules do not speak for all others.
#[test]
fn what_no_schedule_changes() {
    let tally = |id: &str, count, is_race| Tally {
        id: id.into(),
        count,
        place: "queue.c:88".into(),
        is_timing: false,
        is_race,
    };
    let said = |executions, findings: &[Tally]| {
        let mut status = status();
        status.figures.executions = executions;
        status.findings = findings.to_vec();
        closing::constant(&status, false)
    };
    let races = said(24, &[tally("race-69e1", 24, true)]);
    let few = said(2, &[tally("exit-0001", 2, false), tally("race-69e1", 1, true)]);
    let two = said(24, &[tally("exit-0001", 24, false), tally("exit-0002", 24, false)]);
    expect![[r#"
        note: exit-0001 fails in every schedule tried (2)
        note: the search continued after it; no failure that depends on the schedule was found
        note: exit-0001 and exit-0002 fail in every schedule tried (24): they do not depend on the schedule
        note: the search continued after them; no failure that depends on the schedule was found
    "#]]
    .assert_eq(&(races + &few + &two));
}

#[test]
fn warnings_name_what_was_not_controlled() {
    let style = Style::default();
    assert_eq!(closing::warnings(&status(), &Doubts::default(), "", &style), "");
    let stack = [samples::at(30, "transfer"), samples::at(50, "main")];
    let uncontrolled = [Uncontrolled {
        what: "blocking call read() on a terminal".into(),
        call: None,
        count: 12,
        stack: &stack,
    }];
    let status = Status {
        figures: Figures {
            stability: 99.2,
            n_inconclusive: 3,
            n_spent: 2,
            steps_max: 1_000_000,
            ..status().figures
        },
        ..status()
    };
    let waits = Uncontrolled {
        what: "blocked for 10 s in `semop`".into(),
        call: None,
        count: 3,
        stack: &stack,
    };
    let doubts = Doubts {
        is_single_threaded: true,
        inconclusive: &[waits],
        is_given_up: true,
        uncontrolled: &uncontrolled,
    };
    let text = closing::warnings(&status, &doubts, "/home/me", &style);
    expect![[r#"
        warning: the program never creates a second thread: nothing to explore
        warning: 3 of 20,000 executions are inconclusive: blocked for 10 s in `semop`
              at examples/bank.c:30 in transfer
              at examples/bank.c:50 in main
          Raddle does not control what these executions wait for or compute, so they are not
          findings; if they are only slow, raise --hang-timeout and --time
        warning: stopped early after 5 inconclusive executions in a row
        warning: 2 executions were cut short after 1,000,000 steps; raise --max-steps
        warning: stability 99.2%: some behaviour of the program was not controlled
          (raddle explain stability)
          uncontrolled: blocking call read() on a terminal ×12
              at examples/bank.c:30 in transfer
              at examples/bank.c:50 in main
    "#]]
    .assert_eq(&text);
}

fn diverged(end: NewEnd) -> Replayed {
    Replayed::Diverged {
        step: 44,
        expected: "T1 lock mutex `left` at bank.c:30".into(),
        found: "T2 lock mutex `right` at bank.c:31".into(),
        end,
    }
}

#[test]
fn verdicts_of_replays() {
    let style = Style::default();
    let exact = Replayed::Reproduced { is_exact: true };
    let near = Replayed::Reproduced { is_exact: false };
    let mut text = String::new();
    for all in [
        vec![exact.clone()],
        vec![exact.clone(); 5],
        vec![exact, near, diverged(NewEnd::Same)],
        vec![diverged(NewEnd::Good)],
        vec![diverged(NewEnd::Other("SIGSEGV".into()))],
        vec![Replayed::Gone, Replayed::Gone],
    ] {
        text += &closing::replayed("dl-02c1", &all, &style);
    }
    expect![[r#"
        dl-02c1: reproduced
        dl-02c1: reproduced 5 of 5 times
        dl-02c1: reproduced 3 of 3 times
          the same failure, with slightly different steps
          diverged at step 44:
            recorded: T1 lock mutex `left` at bank.c:30
            now:      T2 lock mutex `right` at bank.c:31
          it ended in the same failure
        dl-02c1: gone: the program no longer fails under this schedule
          diverged at step 44:
            recorded: T1 lock mutex `left` at bank.c:30
            now:      T2 lock mutex `right` at bank.c:31
          other schedules may still fail; explore them with `raddle run`
        dl-02c1: not reproduced
          diverged at step 44:
            recorded: T1 lock mutex `left` at bank.c:30
            now:      T2 lock mutex `right` at bank.c:31
          it ended in a different failure: SIGSEGV
        dl-02c1: gone: the program no longer fails under this schedule (2 replays)
          the recorded steps were replayed and nothing failed
    "#]]
    .assert_eq(&text);
}

#[test]
fn other_json_lines() {
    let mut text = json::progress(&status());
    text += &json::summary(&status(), &json::Closing { seed: 7, ..json::Closing::default() });
    text += &json::replay("dl-02c1", 1, &Replayed::Reproduced { is_exact: true }, false);
    text += &json::replay("dl-02c1", 2, &diverged(NewEnd::Other("SIGSEGV".into())), true);
    text += &json::output(3, "total 200\n");
    expect![[r#"
        {"type":"progress","version":1,"executions":20000,"execs_per_s":1408.5,"distinct_traces":9312,"elapsed_s":14.2,"steps":2000000,"findings":0,"stability":100.0,"inconclusive":0,"hung":0,"cut_short":0,"spent":0,"sampling":{"site_pairs":0,"both_ways":0,"lock_pairs":0,"arms":[],"new_pair_chance":0.0,"new_pair_chance_max":0.0,"new_trace_chance":0.0,"saturated":false}}
        {"type":"summary","version":1,"executions":20000,"execs_per_s":1408.5,"distinct_traces":9312,"elapsed_s":14.2,"steps":2000000,"findings":0,"stability":100.0,"inconclusive":0,"hung":0,"cut_short":0,"spent":0,"sampling":{"site_pairs":0,"both_ways":0,"lock_pairs":0,"arms":[],"new_pair_chance":0.0,"new_pair_chance_max":0.0,"new_trace_chance":0.0,"saturated":false},"seed":7,"interrupted":false,"single_threaded":false,"uncontrolled":0,"uncontrolled_calls":[],"inconclusive_calls":[],"baseline_failed":false}
        {"type":"replay","version":1,"id":"dl-02c1","time":1,"verdict":"reproduced","reproduced":true,"exact":true,"diverged_at_step":null,"expected":null,"found":null,"other_failure":null,"rebuilt":false}
        {"type":"replay","version":1,"id":"dl-02c1","time":2,"verdict":"diverged","reproduced":false,"exact":false,"diverged_at_step":44,"expected":"T1 lock mutex `left` at bank.c:30","found":"T2 lock mutex `right` at bank.c:31","other_failure":"SIGSEGV","rebuilt":true}
        {"type":"output","version":1,"execution":3,"output":"total 200\n"}
    "#]].assert_eq(&text);
}
