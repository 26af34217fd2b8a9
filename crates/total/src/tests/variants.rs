//! Reachability testing and branch-affect groups: Figures 35, 41 to 46, 55, Tables 3 to 5 and 10.

use std::collections::BTreeMap;

use expect_test::expect;

use super::{FIGURE_24, FIGURE_33, Figure};
use crate::{Act, BranchTable, Root, Tried, Variants, affect_groups, count_pairs};

const MANY: usize = 100_000;

fn schedules(variants: &Variants) -> impl Iterator<Item = Vec<u32>> {
    variants.schedules().map(|it| it.iter().map(|it| it.step).collect())
}

/// Figure 35 (and 43): seven variants.
#[test]
fn figure_35() {
    let figure = Figure::new(FIGURE_24);
    let shared = figure.history.shared();
    let variants = Variants::of(&figure.history, &shared, MANY);
    assert_eq!(variants.count().n, 7);
    assert!(!variants.count().is_cut);
    assert_eq!(count_pairs(&figure.history, &shared, MANY).n, 7);
}

#[test]
fn a_graph_that_is_too_large_says_so() {
    let figure = Figure::new(FIGURE_24);
    let variants = Variants::of(&figure.history, &figure.history.shared(), 3);
    assert!(variants.count().is_cut);
}

/// Figures 41 to 44, Table 3: four groups, of two, one, two and two variants.
#[test]
fn table_3() {
    let figure = Figure::new(FIGURE_24);
    let variants = Variants::of(&figure.history, &figure.history.shared(), MANY);
    let sets = figure.sets();
    let root = Root::Branch(figure.branch(2));
    let groups = affect_groups(&figure.history, &sets, schedules(&variants), &root);
    let mut shown: Vec<String> = groups
        .iter()
        .map(|it| {
            // `n` is no shared variable: step 2.2 of Algorithm 3.
            let n = super::name("n");
            let mut uses = it.uses.clone();
            uses.retain(|it| figure.history.steps[it.use_step as usize].object != n);
            format!("{} variants: {{{}}}", it.members.len(), figure.show_all(&uses))
        })
        .collect();
    shown.sort();
    expect![[r#"
        [
            "1 variants: {(x, 1, 10)}",
            "2 variants: {(x, 1, 10) (y, 1, 11)}",
            "2 variants: {(y, 1, 11)}",
            "2 variants: {}",
        ]
    "#]]
    .assert_debug_eq(&shown);
}

/// Figure 55: with the first execution four, of which the branch in line 4 tells two apart (Table 10, in
/// which V4 reads `x` as 10, F3.9).
#[test]
fn figure_55() {
    let figure = Figure::new(FIGURE_33);
    let shared = [super::name("x"), super::name("y")];
    let mut shared = shared.to_vec();
    shared.sort_unstable();
    let variants = Variants::of(&figure.history, &shared, MANY);
    assert_eq!(1 + variants.count().n, 4);
    let first: Vec<u32> = (0..figure.history.steps.len() as u32).collect();
    let sets = figure.sets();
    let all = std::iter::once(first).chain(schedules(&variants));
    let root = Root::Branch(figure.branch(4));
    let groups = affect_groups(&figure.history, &sets, all, &root);
    let sizes: Vec<usize> = groups.iter().map(|it| it.members.len()).collect();
    assert_eq!(sizes, [2, 2]);
}

/// Table 10: what the four variants read, and how the branch goes. The dissertation's last row reads `x` as -3 and
/// computes 12 (F3.9): -3 + 2 is -1, so it is 10.
#[test]
fn table_10() {
    let figure = Figure::new(FIGURE_33);
    let history = &figure.history;
    let mut shared = vec![super::name("x"), super::name("y")];
    shared.sort_unstable();
    let variants = Variants::of(history, &shared, MANY);
    let all: Vec<u32> = (0..history.steps.len() as u32).collect();
    let row = |mut schedule: Vec<u32>| {
        let rest = all.iter().filter(|it| !schedule.contains(it)).copied().collect::<Vec<u32>>();
        schedule.extend(rest);
        let mut values = BTreeMap::new();
        let mut read = BTreeMap::new();
        for step in schedule.iter().map(|it| &history.steps[*it as usize]) {
            let value = match (step.place, step.act) {
                (1, Act::Write) => -3,
                (2, Act::Write) => 2,
                (20, Act::Write) => 10,
                (3, Act::Write) => read[&(3, super::name("x"))] + read[&(3, super::name("y"))],
                _ => values.get(&step.object).copied().unwrap_or(0),
            };
            if step.act.is_write() {
                values.insert(step.object, value);
            } else if step.act.is_read() {
                read.insert((step.place, step.object), value);
            }
        }
        let at = |place: u64, variable: &str| read[&(place, super::name(variable))];
        let n = at(4, "n");
        format!("{} {} {n} {} {}", at(3, "x"), at(3, "y"), n < 0, at(25, "x"))
    };
    let mut rows: Vec<String> = schedules(&variants).map(row).collect();
    rows.push(row(all.clone()));
    rows.sort();
    expect![[r#"
        -3 2 -1 true -3
        -3 2 -1 true 10
        10 2 12 false 10
        10 2 12 false 10"#]]
    .assert_eq(&rows.join("\n"));
}

/// A schedule in which the notification comes first leaves the other asleep: those are two states, although
/// both threads are as far (F3.3). And the lock that a wait gives back can be taken (F3.4).
#[test]
fn waits_are_part_of_a_state() {
    let figure = Figure::new(
        "
        T1:1 lock m
        T1:2 wait c m
        T2:10 lock m
        T2:11 write x
        T2:12 notify c
        T2:13 unlock m
        T1:2 wake c m
        T1:3 read x
        T1:4 unlock m",
    );
    let variants = Variants::of(&figure.history, &figure.history.shared(), MANY);
    // Nobody can read `x` before it is written: there is no variant, and there would be one if a wait that
    // was never notified could end.
    assert_eq!(variants.count().n, 0);
    // Thread 1 first: 3 states until it sleeps, 4 of thread 2, 3 more. Thread 2 first: 4 states, and 2 until
    // thread 1 sleeps for ever, as far as it is in a state of the other order, in which it is awake.
    assert_eq!(variants.n_nodes().n, 16);
}

#[test]
fn recursive_locks_can_be_taken_again() {
    let figure = Figure::new(
        "
        T1:1 lock m
        T1:2 lock m
        T1:3 write x
        T1:4 unlock m
        T1:5 unlock m
        T2:10 lock m
        T2:11 read x
        T2:12 unlock m",
    );
    let variants = Variants::of(&figure.history, &figure.history.shared(), MANY);
    assert_eq!(variants.count().n, 1);
}

/// Figures 45 and 46, Tables 4 and 5: four of six variants are tested.
#[test]
fn figures_45_and_46() {
    let (b1, b2) = (11, 21);
    let (is_true, is_false) = (1, 0);
    let mut table = BranchTable::default();
    table.n_rows = Some(4);
    table.test(&[(b1, 1, is_true), (b2, 1, is_true)]);
    for (variant, g1, g2) in [(2, 1, 1), (3, 1, 2), (4, 3, 1), (5, 2, 2)] {
        table.add(variant, vec![(b1, g1), (b2, g2)]);
    }
    let next = |table: &BranchTable| table.next().iter().map(|it| it.variant).collect::<Vec<_>>();
    let tried = |variant, branch| Tried { variant, branch };
    assert_eq!(table.next(), [tried(5, Some(b1))]);
    table.ask(tried(5, Some(b1)));
    table.test(&[(b1, 2, is_false), (b2, 2, is_false)]);
    // Testing V5 shows a variant more, V6.
    table.add(6, vec![(b1, 2), (b2, 1)]);
    assert_eq!(table.next(), [tried(3, None), tried(6, None)]);
    for (variant, outcomes) in [(3, [is_true, is_false]), (6, [is_false, is_true])] {
        table.ask(tried(variant, None));
        let group = |outcome| if outcome == is_true { 1 } else { 2 };
        let of = |branch, outcome| (branch, group(outcome), outcome);
        table.test(&[of(b1, outcomes[0]), of(b2, outcomes[1])]);
    }
    assert_eq!(table.n_tested(), 4);
    // All rows are full. If nobody knows that branches have two outcomes, V4 is to be tested: it is in a group of its own.
    assert_eq!(next(&table), [0; 0]);
    table.n_rows = None;
    assert_eq!(next(&table), [4]);
}
