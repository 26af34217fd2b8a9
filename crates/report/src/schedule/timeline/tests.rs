//! Timelines of hand-made findings, as diagrams.

use expect_test::{Expect, expect};
use raddle_model::{Finding, OpKind};

use super::{EdgeKind, Timeline};
use crate::tests::{analyses, samples};

/// Rows, then bands, then arrows.
fn check(finding: &Finding, expect: Expect) {
    use std::fmt::Write as _;
    let timeline = Timeline::new(finding, &[]);
    let mut out = String::new();
    for (idx, row) in timeline.rows.iter().enumerate() {
        let number = row.number.map_or("-".into(), |it| it.to_string());
        let indent = "          ".repeat(timeline.lane(row.thread));
        let _ = write!(out, "{idx:2} {number:>4} {indent}{}", row.words);
        let _ = write!(out, "{}", row.mark.map(|it| format!(" <- {it}")).unwrap_or_default());
        let switch = row.switch.as_ref().map(|it| format!(" | {it}"));
        let _ = writeln!(out, "{}", switch.unwrap_or_default());
    }
    for band in &timeline.bands {
        let to = band.to.map_or("the end".into(), |it| it.to_string());
        let (thread, lock) = (band.thread.0, &finding.objects[band.lock.idx()]);
        let _ = writeln!(out, "T{thread} holds {lock} {}..{to} at {}", band.from, band.depth);
    }
    for edge in &timeline.edges {
        let _ = writeln!(out, "{} -> {} {:?}", edge.from, edge.to, edge.kind);
    }
    expect.assert_eq(&out);
}

#[test]
fn a_deadlock_holds_its_locks_to_the_end() {
    check(
        &samples::ab_ba(),
        expect![[r#"
             0    1 spawn T1
             1    2 spawn T2 | T0 blocked
             2    3           start
             3    4           lock left | preempted
             4    5                     start
             5    6                     lock right
             6    - join T1 <- blocked forever
             7    -           lock right <- blocked forever
             8    -                     lock left <- blocked forever
            T1 holds mutex `left` 3..the end at 0
            T2 holds mutex `right` 5..the end at 0
            0 -> 2 Order
            1 -> 4 Order
        "#]],
    );
}

#[test]
fn a_wait_gives_its_lock_back() {
    let mut finding = samples::lost_wakeup();
    samples::add(&mut finding, &[(0, OpKind::Lock, 1, 30), (0, OpKind::Unlock, 1, 62)]);
    check(
        &finding,
        expect![[r#"
             0    1 spawn T1 | preempted
             1    2           start | preempted
             2    3 lock left
             3    4 signal ready
             4    5 unlock left | preempted
             5    6           lock left
             6    7           wait ready | T1 blocked
             7    8 lock left
             8    9 unlock left
             9    - join T1 <- blocked forever
            10    -           wait ready <- blocked forever
            T0 holds mutex `left` 2..4 at 0
            T1 holds mutex `left` 5..6 at 0
            T0 holds mutex `left` 7..8 at 0
            0 -> 1 Order
            4 -> 5 Order
            6 -> 7 Order
        "#]],
    );
}

#[test]
fn a_race_joins_its_sides_though_one_is_no_step() {
    check(
        &analyses::on_the_heap(),
        expect![[r#"
         0    1 spawn T1 | preempted
         1    2           start
         2    3           lock left
         3    -           write Account.balance <- race | preempted
         4    4 read left+40 → 100 <- race
        T1 holds mutex `left` 2..the end at 0
        0 -> 1 Order
        3 -> 4 Race
    "#]],
    );
}

#[test]
fn values_flow_and_ends_are_awaited() {
    let mut finding = samples::blank(raddle_model::Kind::Exit, 3);
    samples::add(
        &mut finding,
        &[
            (0, OpKind::Spawn, 3, 50),
            (1, OpKind::Start, 0, 0),
            (1, OpKind::Write, 5, 35),
            (1, OpKind::Lock, 1, 30),
            (1, OpKind::Lock, 2, 31),
            (1, OpKind::Unlock, 1, 36),
            (1, OpKind::Lock, 1, 30),
            (1, OpKind::Unlock, 2, 36),
            (1, OpKind::Unlock, 1, 36),
            (1, OpKind::Finish, 0, 0),
            (0, OpKind::Join, 3, 52),
            (0, OpKind::Read, 5, 40),
        ],
    );
    check(
        &finding,
        expect![[r#"
         0    1 spawn T1 | T0 blocked
         1    2           start
         2    3           write left+40
         3    4           lock left
         4    5           lock right
         5    6           unlock left
         6    7           lock left
         7    8           unlock right
         8    9           unlock left
         9   10           finish | T1 finished
        10   11 join T1
        11   12 read left+40 → 100
        T1 holds mutex `left` 3..5 at 0
        T1 holds mutex `right` 4..7 at 1
        T1 holds mutex `left` 6..8 at 0
        0 -> 1 Order
        2 -> 11 Value
        9 -> 10 Order
    "#]],
    );
}

/// Two stores; a load sees the first one, after the second one was made. And a store that stands before an earlier one is not
/// what the last load sees.
#[test]
fn a_stale_read_sees_an_old_store_and_passes_over_a_newer_one() {
    let mut finding = samples::assertion();
    finding.steps.clear();
    let steps = [
        (1, OpKind::AtomicStore, 1, 30),
        (1, OpKind::AtomicStore, 1, 31),
        (2, OpKind::AtomicLoad, 1, 50),
        (2, OpKind::AtomicStore, 1, 51),
        (1, OpKind::AtomicLoad, 1, 32),
        (2, OpKind::AtomicLoad, 1, 52),
    ];
    samples::add(&mut finding, &steps);
    for (idx, passed) in [(2, 1), (3, 1)] {
        let mut event = finding.steps[idx].event();
        event.set_chosen(1, Some(passed));
        (finding.steps[idx].detail, finding.steps[idx].other) = (event.detail, event.other);
    }
    let timeline = Timeline::new(&finding, &[]);
    let edges: Vec<_> = timeline.edges.iter().map(|it| (it.from, it.to, it.kind)).collect();
    assert_eq!(edges, [(0, 2, EdgeKind::Stale), (1, 2, EdgeKind::Passed), (1, 5, EdgeKind::Value)]);
}
