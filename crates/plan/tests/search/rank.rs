//! Seed paper 0's ranking: where bugs are found.

use std::collections::BTreeSet;

use raddle_model::{Rng, ThreadId};
use raddle_plan::search::{Run, SearchSpec, Start, Tuple, covering};

use expect_test::expect;

use crate::explore::{How, explore_as};
use crate::toy::{
    library::*,
    program::{
        If,
        Ins::*,
        Program,
        Val::{In, Is},
        Var::At,
    },
    vm::{Outcome, Toy},
};

/// The tuple and the number of the first execution that goes wrong.
fn first(program: &Program, is_wrong: fn(&Outcome) -> bool) -> Option<(String, u64)> {
    first_of("rank", program, is_wrong)
}

fn first_of(
    spec: &str,
    program: &Program,
    is_wrong: fn(&Outcome) -> bool,
) -> Option<(String, u64)> {
    let toy = Toy::new(program.clone());
    let mut search = SearchSpec::parse(spec).expect("its name").start(Start::default());
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

/// Two threads that each run as soon as they are created: two preemptions if whoever runs goes on, none if a thread that
/// stands higher cuts in.
#[test]
fn new_threads_cut_in_without_a_preemption() {
    let main = vec![
        Spawn(1),
        Load(0, At(0)),
        Goto(If::Equal(0, 0), 7),
        Spawn(2),
        Load(0, At(1)),
        Goto(If::Equal(0, 0), 7),
        Fail,
    ];
    let set = |var: usize| vec![Store(At(var), Is(1))];
    let program = Program::new("births", vec![main, set(0), set(1)]);
    for spec in ["rank", "rank:paper"] {
        let found = first_of(spec, &program, |it| it.n_failures > 0);
        let (tuple, n_executions) = found.expect("it is found");
        assert_eq!(tuple, "(0, 0, 2, 1)", "{spec}");
        assert!(n_executions <= 4, "{spec}: {n_executions}");
    }
}

/// A lost update needs one preemption between a read and a write; a deadlock of two one before a lock.
#[test]
fn one_preemption() {
    let program = inc(2);
    check(&program, |it| it.vars[0] == 1, "(1, all, 2, 1)", 14);
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
    assert_eq!(Tuple::PAPER.len(), 11);
    assert_eq!(tuples("rank:paper"), "rank:paper");
    let between = ["+", ",", ":", "=", ";", " "].map(|it| format!("rank:paper{it}1.all.2.1"));
    for wrong in between.into_iter().chain(["rank:1.all.2.1+paper".to_owned()]) {
        let error = SearchSpec::parse(&wrong).expect_err("a contradiction").to_string();
        assert!(error.starts_with("`rank:paper` has a fixed list of tuples"), "{error}");
    }
}

/// All outcomes of a search with these tuples, and how many executions it made.
fn outcomes(spec: &SearchSpec, program: &Program) -> (BTreeSet<Outcome>, u64) {
    let toy = Toy::new(program.clone());
    let mut search = spec.start(Start::default());
    let mut run = Run::default();
    let mut all = BTreeSet::new();
    while let [task] = &search.next(1)[..] {
        let outcome = toy.run(&task.prefix, task.tail, &mut run);
        assert_eq!(outcome.diverged_at, None, "{} follows {:?}", program.name, task.prefix);
        search.learn(task.number, &run);
        all.insert(outcome);
    }
    assert!(search.is_finished());
    (all, search.progress().n_executions)
}

const fn tuple(preemptions: u32, variables: Option<u32>, threads: u32, rounds: u32) -> Tuple {
    Tuple { preemptions, variables, threads, rounds }
}

/// With enough preemptions, all variables and all rounds, two threads come to everything that they can: states with the
/// same happens-before graph are cut, and nothing with them. What is missed where one waits is missed by line 27: whoever
/// was preempted so that the other could wait is the last by rank, and can't go on when it has woken that one.
#[test]
fn pruning_by_graphs_loses_no_outcome() {
    let how = How { may_time_out: false, has_classes: false, ..How::default() };
    let mut n_programs = 0;
    let mut missed = Vec::new();
    for program in small().into_iter().filter(|it| it.threads.len() == 2) {
        let all = explore_as("dfs", &program, how).outcomes;
        let enough = SearchSpec::RankPaper(vec![tuple(8, None, 2, 100)]);
        let (found, _) = outcomes(&enough, &program);
        assert!(found.is_subset(&all), "{}", program.name);
        n_programs += 1;
        if found != all {
            missed.push(format!("{} {} of {}", program.name, found.len(), all.len()));
        }
    }
    assert!(n_programs > 10, "{n_programs}");
    expect!["deepwait 2 of 3"].assert_eq(&missed.join("\n"));
}

/// l: what needs a preemption in the second round of a loop is not found with l = 1, and is with l = 2; by both forms.
#[test]
fn rounds_limit_something() {
    let adds_twice = vec![
        Set(1, Is(0)),
        Load(0, At(0)),
        Plus(0, 1),
        Store(At(0), In(0)),
        Plus(1, 1),
        Goto(If::Differs(1, 2), 1),
    ];
    let looks_between = vec![Cas(2, At(0), Is(1), Is(10)), Goto(If::Equal(2, 0), 3), Fail];
    let program = Program::new("second round", vec![adds_twice, looks_between]);
    for (rounds, is_found) in [(1, false), (2, true)] {
        let tuples = vec![tuple(0, Some(0), 2, 1), tuple(2, None, 2, rounds)];
        for spec in [SearchSpec::Rank(tuples.clone()), SearchSpec::RankPaper(tuples)] {
            let (found, _) = outcomes(&spec, &program);
            let fails = found.iter().any(|it| it.n_failures > 0);
            assert_eq!(fails, is_found, "{spec}, l = {rounds}");
        }
    }
}

/// v: what needs preemptions before accesses to two variables is not found with v = 1, and is with v = 2.
#[test]
fn variables_limit_something() {
    let (x, y) = (At(0), At(1));
    let writes = vec![Store(x, Is(1)), Store(y, Is(1)), Store(x, Is(2))];
    let mut reads = Vec::new();
    for (var, value) in [(x, 1), (y, 0), (y, 1), (x, 1)] {
        reads.extend([Load(0, var), Goto(If::Differs(0, value), 9)]);
    }
    reads.push(Fail);
    let program = Program::new("two variables", vec![writes, reads]);
    for (variables, is_found) in [(1, false), (2, true)] {
        // Both variables are known when one preemption has shown both.
        let tuples = vec![tuple(1, None, 2, 1), tuple(3, Some(variables), 2, 1)];
        for spec in [SearchSpec::Rank(tuples.clone()), SearchSpec::RankPaper(tuples)] {
            let (found, _) = outcomes(&spec, &program);
            let fails = found.iter().any(|it| it.n_failures > 0);
            assert_eq!(fails, is_found, "{spec}, v = {variables}");
        }
    }
}

/// The executions to the bug, by our order and by the paper's.
#[test]
fn both_forms_find() {
    let mut table = String::new();
    for (program, is_wrong) in [
        (inc(2), (|it: &Outcome| it.vars[0] == 1) as fn(&Outcome) -> bool),
        (inc(5), |it| it.vars[0] < 5),
        (deadlock01(), |it| it.is_deadlock),
        (dinphil(3), |it| it.is_deadlock),
        (twostage(2), |it| it.n_failures > 0),
        (reorder(4), |it| it.n_failures > 0),
        (wronglock(3), |it| it.n_failures > 0),
    ] {
        let cell = |spec| match first_of(spec, &program, is_wrong) {
            Some((tuple, n)) => format!("{tuple} {n:5}"),
            None => "none".to_owned(),
        };
        table += &format!("{:14} {:>22} {:>22}\n", program.name, cell("rank"), cell("rank:paper"));
    }
    expect![[r#"
        inc_2            (1, all, 2, 1)    14   (1, all, 2, 1)    11
        inc_5            (1, all, 2, 1)    32   (1, all, 2, 1)    23
        deadlock01         (1, 0, 2, 1)     8     (1, 0, 2, 1)     7
        dinphil_3          (1, 0, 2, 1)    11     (1, 0, 2, 1)    10
        twostage_2         (1, 0, 2, 1)     8     (1, 0, 2, 1)     7
        reorder_4        (1, all, 2, 1)    27   (1, all, 2, 1)    20
        wronglock_1_3                    none                   none
    "#]]
    .assert_eq(&table);
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
