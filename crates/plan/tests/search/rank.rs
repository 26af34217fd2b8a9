//! Seed paper 0's ranking: where bugs are found.

use std::collections::BTreeSet;

use raddle_model::{Rng, ThreadId};
use raddle_plan::search::{Run, SearchSpec, Start, Tuple, covering};

use crate::toy::{
    library::*,
    program::{If, Ins::*, Program, Val::Is, Var::At},
    vm::{Outcome, Toy},
};

/// The tuple and the number of the first execution that goes wrong.
fn first(program: &Program, is_wrong: fn(&Outcome) -> bool) -> Option<(String, u64)> {
    let toy = Toy::new(program.clone());
    let mut search = SearchSpec::parse("rank").expect("its name").start(Start::default());
    let mut run = Run::default();
    while let [task] = &search.next(1)[..] {
        let outcome = toy.run(&task.prefix, task.tail, &mut run);
        assert_eq!(outcome.diverged_at, None, "{} follows {:?}", program.name, task.prefix);
        let label = search.label(task.number);
        search.learn(task.number, &run);
        if is_wrong(&outcome) {
            return label.zip(Some(search.progress().n_executions));
        }
    }
    assert!(search.is_finished());
    None
}

#[track_caller]
fn check(program: &Program, is_wrong: fn(&Outcome) -> bool, tuple: &str, at_most: u64) {
    let (found_at, n_executions) = first(program, is_wrong).expect("it is found");
    assert_eq!(found_at, tuple, "{}", program.name);
    assert!(n_executions <= at_most, "{}: {n_executions}", program.name);
}

/// Without preemption, by the order of two threads: a reader that must not be first.
#[test]
fn an_order_of_two_threads_needs_two_schedules() {
    let writes = vec![Store(At(0), Is(1))];
    let reads = vec![Load(0, At(0)), Goto(If::Differs(0, 0), 3), Fail];
    for threads in [vec![writes.clone(), reads.clone()], vec![reads, writes]] {
        let program = spawned("order", threads);
        let (tuple, n_executions) = first(&program, |it| it.n_failures > 0).expect("it is found");
        assert_eq!(tuple, "(0, 0, 2, 1)");
        assert!(n_executions <= 2, "{n_executions}");
    }
}

/// A lost update needs one preemption between a read and a write; a deadlock of two one before a lock.
#[test]
fn one_preemption() {
    let program = inc(2);
    check(&program, |it| it.vars[0] == 1, "(1, all, 2, 1)", 12);
    check(&deadlock01(), |it| it.is_deadlock, "(1, 0, 2, 1)", 12);
}

/// A thread that yields goes on all the same: between the two reads, both writes come.
#[test]
fn a_yield_that_comes_to_nothing() {
    let writes = vec![Store(At(0), Is(1)), Hint, Store(At(1), Is(1))];
    let reads = vec![
        Load(0, At(0)),
        Load(1, At(1)),
        Goto(If::Equal(1, 0), 5),
        Goto(If::Differs(0, 0), 5),
        Fail,
    ];
    check(&spawned("hint", vec![writes, reads]), |it| it.n_failures > 0, "(2, 1, 2, 1)", 60);
}

/// Every round of a loop is a point only where the tuple says so.
#[test]
fn rounds() {
    let tuples = |text: &str| SearchSpec::parse(text).expect("its name").to_string();
    assert_eq!(tuples("rank"), "rank");
    assert_eq!(tuples("rank:1.all.2.3+2.1.2.1"), "rank:1.all.2.3+2.1.2.1");
    for wrong in ["rank:", "rank:1.2.3", "rank:1.all.5.1", "rank:1.all.2.0", "rank:x.0.2.1"] {
        assert!(SearchSpec::parse(wrong).is_err(), "{wrong}");
    }
    assert_eq!(Tuple::ORDER.len(), 12);
}

/// How many executions a tuple takes is known more or less as soon as it has preempted as often as it may.
#[test]
fn tuples_are_estimated() {
    let toy = Toy::new(inc(3));
    let mut search = SearchSpec::parse("rank:2.1.2.1").expect("its name").start(Start::default());
    let mut run = Run::default();
    let mut totals = Vec::new();
    while let [task] = &search.next(1)[..] {
        toy.run(&task.prefix, task.tail, &mut run);
        search.learn(task.number, &run);
        let progress = search.progress();
        let is_there = progress.stage.as_deref() == Some("(2, 1, 2, 1)");
        totals.extend(progress.estimate.filter(|_| is_there).map(|it| it.total));
    }
    // (0, 0, 2, 1) comes first, for somebody must have seen a variable.
    let n_all = (search.progress().n_executions - 2) as f64;
    assert!(totals.len() > 5, "{totals:?}");
    assert!(totals.iter().all(|it| n_all / 3.0 < *it && *it < n_all * 3.0), "{n_all}: {totals:?}");
}

/// For 200 threads (docs/strategies.md): some sets of t threads, each of which comes in every order.
#[test]
fn orders_of_many_threads() {
    for (t, n_rankings) in [(2, 2), (3, 100), (4, 1_008)] {
        let rankings = covering(t, 200);
        assert_eq!(rankings.len(), n_rankings, "t = {t}");
        let mut rng = Rng::new(u64::from(t));
        for _ in 0..200 {
            let mut set = BTreeSet::new();
            while set.len() < t as usize {
                set.insert(rng.below(200));
            }
            let orders: BTreeSet<Vec<u32>> = rankings
                .iter()
                .map(|ranking| {
                    let mut order: Vec<u32> = set.iter().copied().collect();
                    order.sort_by_key(|it| ranking.key(ThreadId(*it)));
                    order
                })
                .collect();
            assert_eq!(orders.len(), (1..=t as usize).product::<usize>(), "{set:?}");
        }
    }
}
