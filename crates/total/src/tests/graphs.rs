//! Concurrent dependency graphs and guidelines: Figures 50 to 54, 58 and 59, Tables 8, 9, 11; and schedules.

use expect_test::{Expect, expect};

use raddle_model::DrawnEdge;

use super::{FIGURE_24, FIGURE_33, Figure};
use crate::{Act, Constraint, Graph, Policy, Root, meet, weave};

fn check(figure: &Figure, root: &Root, is_optimised: bool, expected: &Expect) {
    let sets = figure.sets();
    let graph = Graph::new(&figure.history, &sets, root, is_optimised, 1_000);
    let mut shown = format!("{} nodes\n", graph.n_nodes());
    for guideline in graph.guidelines() {
        shown += &format!("{}\n", figure.show_all(&guideline));
    }
    expected.assert_eq(&shown);
}

/// Figure 50: a branch on `x + y`, where each of them has two defines.
#[test]
fn figure_50() {
    let figure = Figure::new(FIGURE_24);
    check(
        &figure,
        &Root::Branch(figure.branch(2)),
        true,
        &expect![[r"
            10 nodes
            (x, 1, -) (y, 1, -)
            (x, 1, 10) (y, 1, -)
            (x, 1, -) (y, 1, 11)
            (x, 1, 10) (y, 1, 11)
        "]],
    );
}

/// Figure 51, Algorithm 6: a box chooses a variable, its circle has a box for each define, in which the variable is
/// replaced by what flows into the define.
#[test]
fn figure_51() {
    let figure = Figure::new(FIGURE_33);
    let root = Root::Branch(figure.branch(4));
    let graph = Graph::new(&figure.history, &figure.sets(), &root, false, 1_000);
    let name = |step: u32| {
        let step = &figure.history.steps[step as usize];
        format!("{}:{}", step.place, figure.names[&step.object])
    };
    let mut shown = String::new();
    for (idx, node) in graph.drawing("n < 0".to_owned(), name).nodes.iter().enumerate() {
        let parent = node.parent.map(|it| format!("{it} -> ")).unwrap_or_default();
        let edge = match &node.edge {
            DrawnEdge::Define(define) => format!(" by {define}"),
            _ => String::new(),
        };
        shown += &format!("{parent}{idx} {:?} [{}]{edge}\n", node.shape, node.labels.join(" "));
    }
    expect![[r#"
        0 Box []
        0 -> 1 Circle [4:n]
        1 -> 2 Box [3:x 3:y] by 3:n
        2 -> 3 Circle [3:y]
        3 -> 4 Box [3:x] by 2:y
        4 -> 5 Circle [3:x]
        5 -> 6 Box [] by 1:x
        5 -> 7 Box [] by 20:x
    "#]]
    .assert_eq(&shown);
}

/// Figure 52 (a) and Table 8.
#[test]
fn table_8() {
    let figure = Figure::new(FIGURE_33);
    check(
        &figure,
        &Root::Branch(figure.branch(4)),
        false,
        &expect![[r"
            8 nodes
            (x, 3, 1) (y, 3, 2) (n, 4, 3)
            (x, 3, 20) (y, 3, 2) (n, 4, 3)
        "]],
    );
}

/// Figure 52 (b) and Table 9.
#[test]
fn table_9() {
    let figure = Figure::new(FIGURE_33);
    check(
        &figure,
        &Root::Branch(figure.branch(4)),
        true,
        &expect![[r"
            4 nodes
            (x, 3, 1)
            (x, 3, 20)
        "]],
    );
}

/// Figure 58 and Table 11: the access-manner that uses `ref2`.
#[test]
fn table_11() {
    let figure = Figure::new(FIGURE_33);
    let access = figure.step(27, Act::Write, "credit");
    check(
        &figure,
        &Root::Manner(vec![access]),
        true,
        &expect![[r"
            4 nodes
            (ref2, 27, 23)
            (ref2, 27, 30)
        "]],
    );
}

/// Two threads that feed each other: the graph ends.
#[test]
fn a_cycle_of_flows_ends() {
    let figure = Figure::new(
        "
        T1:1 read y
        T1:2 write x <- y
        T2:5 read x
        T2:6 write y <- x
        T1:3 read x
        T1:3 if true <- x",
    );
    let sets = figure.sets();
    let root = Root::Branch(figure.branch(3));
    let graph = Graph::new(&figure.history, &sets, &root, true, 1_000);
    assert!(!graph.is_cut());
    assert!(Graph::new(&figure.history, &sets, &root, true, 2).is_cut());
}

/// The places of a schedule that satisfies all constraints, with the first policy that does.
fn woven(figure: &Figure, constraints: &[Constraint]) -> Option<Vec<u64>> {
    let mut all = Policy::ALL.iter().map(|it| weave(&figure.history, constraints, *it));
    let woven = all.find(|it| it.satisfied.len() == constraints.len())?;
    Some(woven.steps.iter().map(|it| figure.history.steps[*it as usize].place).collect())
}

/// Figure 53, case 1 (Algorithm 10): a use is to read its own thread's define, and another thread's came between.
/// Case 2 (Algorithm 11) is Figure 54.
#[test]
fn figure_53() {
    let figure = Figure::new("T2:20 write x\nT1:1 write x\nT2:25 read x");
    let constraint = Constraint { use_step: 2, define: Some(0) };
    assert_eq!(woven(&figure, &[constraint]).as_deref(), Some(&[20, 25][..]));
}

/// Figure 54: line 3 reads line 20's `x`.
#[test]
fn figure_54() {
    let figure = Figure::new(FIGURE_33);
    let constraint = Constraint {
        use_step: figure.step(3, Act::Read, "x"),
        define: Some(figure.step(20, Act::Write, "x")),
    };
    assert_eq!(woven(&figure, &[constraint]).as_deref(), Some(&[1, 2, 20, 3][..]));
}

/// Figure 59: line 27 reads line 30's `ref2`.
#[test]
fn figure_59() {
    let figure = Figure::new(FIGURE_33);
    let constraint = Constraint {
        use_step: figure.step(27, Act::Read, "ref2"),
        define: Some(figure.step(30, Act::Write, "ref2")),
    };
    let places = woven(&figure, &[constraint]).expect("it can be had");
    assert!(places.ends_with(&[30, 27]) || places.ends_with(&[30, 25, 27]), "{places:?}");
}

/// Both at once.
#[test]
fn several_constraints() {
    let figure = Figure::new(FIGURE_33);
    let constraints = [
        Constraint {
            use_step: figure.step(3, Act::Read, "x"),
            define: Some(figure.step(20, Act::Write, "x")),
        },
        Constraint {
            use_step: figure.step(27, Act::Read, "ref2"),
            define: Some(figure.step(30, Act::Write, "ref2")),
        },
    ];
    assert!(woven(&figure, &constraints).is_some());
}

/// Algorithm 11 would block thread 1 inside its critical section and wait for thread 2, which wants the lock
/// (F3.8). Here thread 2 goes first.
#[test]
fn a_use_in_a_critical_section() {
    let figure = Figure::new(
        "
        T1:1 lock a
        T1:2 read x
        T1:3 unlock a
        T2:10 lock a
        T2:11 write x
        T2:12 unlock a",
    );
    let constraint = Constraint { use_step: 1, define: Some(4) };
    assert_eq!(woven(&figure, &[constraint]), Some(vec![10, 11, 12, 1, 2]));
}

/// Figure 57: between its own write and its read, each in a critical section of its own, thread 1 waits outside for
/// thread 2, which needs the lock.
#[test]
fn a_use_in_a_second_critical_section() {
    let figure = Figure::new(
        "
        T1:1 lock a
        T1:2 write x
        T1:3 unlock a
        T1:4 lock a
        T1:5 read x
        T1:6 unlock a
        T2:10 lock a
        T2:11 write x
        T2:12 unlock a
        T3:20 lock a
        T3:21 write x
        T3:22 unlock a",
    );
    let constraint = Constraint { use_step: 4, define: Some(7) };
    assert_eq!(woven(&figure, &[constraint]), Some(vec![1, 2, 3, 10, 11, 12, 4, 5]));
    // Thread 3 does not take the lock before thread 1 has read, whoever goes first.
    for policy in Policy::ALL {
        let woven = weave(&figure.history, &[Constraint { use_step: 4, define: Some(1) }], policy);
        assert_eq!(woven.satisfied, [0], "{policy:?}: {woven:?}");
    }
}

/// One thread's lock is in the way of the other: it goes there first.
#[test]
fn two_steps_meet() {
    let figure = Figure::new(
        "
        T1:1 lock a
        T1:2 write x
        T1:3 unlock a
        T2:10 lock a
        T2:11 unlock a
        T2:12 write x",
    );
    let woven = meet(&figure.history, [1, 5], &[]).expect("they can meet");
    assert_eq!(woven, [3, 4, 0, 1, 5]);
    assert_eq!(meet(&figure.history, [1, 4], &[]), None);
}

#[test]
fn what_can_not_be_had_lets_go() {
    let figure = Figure::new(
        "
        T1:1 read x
        T1:2 spawn 2
        T2:10 write x",
    );
    assert_eq!(woven(&figure, &[Constraint { use_step: 0, define: Some(2) }]), None);
}

/// A thread reads one thread's define and then another's: the second comes after the first was read, whoever was first
/// before.
#[test]
fn one_define_after_the_other() {
    let figure = Figure::new(
        "
        T1:1 lock a
        T1:2 write x
        T1:3 unlock a
        T3:20 lock a
        T3:21 write x
        T3:22 unlock a
        T2:10 read x
        T2:11 read x",
    );
    let constraints =
        [Constraint { use_step: 7, define: Some(1) }, Constraint { use_step: 6, define: Some(4) }];
    assert_eq!(woven(&figure, &constraints), Some(vec![20, 21, 10, 22, 1, 2, 11]));
}
