//! How many schedules there are with so many preemptions, or delays.

use raddle_plan::search::{Run, SearchSpec, Start};

use crate::{
    explore::explore,
    toy::{
        library::*,
        program::{Ins::*, Program, Val::Is, Var::At},
        vm::Toy,
    },
};

/// New executions of each level.
fn levels(spec: &str, program: &Program) -> Vec<u64> {
    let toy = Toy::new(program.clone());
    let mut search = SearchSpec::parse(spec)
        .expect("a search has this name")
        .start(Start { may_time_out: true, ..Start::default() });
    let mut levels = Vec::new();
    let mut run = Run::default();
    while let [task] = &search.next(1)[..] {
        let before = search.progress();
        let level = before.level.expect("it goes by levels") as usize;
        toy.run(&task.prefix, task.tail, &mut run);
        search.learn(task.number, &run);
        let is_new = search.progress().n_redundant == before.n_redundant;
        levels.resize(level + 1, 0);
        levels[level] += u64::from(is_new);
    }
    assert!(search.is_finished());
    levels
}

/// Threads that never wait, each with so many steps of its own.
fn straight(lengths: &[usize]) -> Program {
    let thread = |(it, length): (usize, &usize)| vec![Store(At(it), Is(1)); *length];
    Program::new("straight", lengths.iter().enumerate().map(thread).collect())
}

fn binomial(n: u64, k: u64) -> u64 {
    if n < k { 0 } else { (0..k).fold(1, |product, it| product * (n - it) / (it + 1)) }
}

/// Two threads of n steps, the first begins: a schedule is a sequence of stretches, taken in turn by the two,
/// and all but the last switch of each... written out: with s stretches, the first thread's n steps are cut
/// into a parts and the second's into b, C(n - 1, a - 1) · C(n - 1, b - 1) ways. If the first thread begins,
/// (a, b) is (m, m) or (m + 1, m); if the second begins, the other way round, and its first step is a
/// preemption as well. A switch is a preemption unless the thread before has ended, so there are s - 2 of
/// them (the one from whoever ends first is free), one more if the second begins; and s - 1 where the
/// thread that ends first is cut off... the last stretch but one always ends its thread.
fn two_threads(n: u64, level: u64) -> u64 {
    let cuts = |parts: u64| if parts == 0 { 0 } else { binomial(n - 1, parts - 1) };
    let mut count = 0;
    for stretches in 2..=2 * n {
        let (first, second) = (stretches.div_ceil(2), stretches / 2);
        let ways = cuts(first) * cuts(second);
        // The first thread begins, or the second does, which costs one preemption more.
        count += if stretches - 2 == level { ways } else { 0 };
        count += if stretches - 1 == level { ways } else { 0 };
    }
    count
}

#[test]
fn preemptions_of_two_threads() {
    for n in 1..=4 {
        let expected: Vec<u64> = (0..2 * n).map(|level| two_threads(n, level)).collect();
        let found = levels("ipb", &straight(&[n as usize, n as usize]));
        assert_eq!(found.iter().sum::<u64>(), binomial(2 * n, n));
        assert_eq!(found, expected, "two threads of {n} steps");
    }
}

/// Without preemption, whoever is to go on is chosen when a thread ends: with the first thread as it is, the
/// others in any order.
#[test]
fn no_preemption_is_any_order_of_the_others() {
    assert_eq!(levels("ipb:0", &straight(&[3, 3])), [1]);
    assert_eq!(levels("ipb:0", &straight(&[3, 3, 3])), [2]);
    assert_eq!(levels("ipb:0", &straight(&[2, 2, 2, 2])), [6]);
    assert_eq!(levels("ipb:0", &straight(&[1, 1, 1, 1, 1])), [24]);
}

/// Two threads of n steps and d delays: a delay before any of the steps at which both can go on. The schedule
/// is given by where they are: one at level 0; at level 1 one for each step of the first thread.
#[test]
fn delays_of_two_threads() {
    for n in 1..=4_u64 {
        let found = levels("idb", &straight(&[n as usize, n as usize]));
        assert_eq!(found.iter().sum::<u64>(), binomial(2 * n, n), "all schedules");
        assert_eq!(found[..2], [1, n], "two threads of {n} steps");
    }
}

/// Without delays there is one schedule, whatever the number of threads.
#[test]
fn no_delay_is_one_schedule() {
    for program in [straight(&[2; 5]), reorder(5), dinphil(4), lastzero(5)] {
        assert_eq!(levels("idb:0", &program), [1], "{}", program.name);
    }
}

/// Three threads of one step: delays choose the j-th of those left, from the one after the last.
/// First choice of 3 (cost 0, 1, 2), then of 2 (cost 0, 1): 1 + 2 + 2 + 1 schedules.
#[test]
fn delays_of_three_threads() {
    assert_eq!(levels("idb", &straight(&[1, 1, 1])), [1, 2, 2, 1]);
}

/// At full bound, everything has been explored once.
#[test]
fn all_levels_are_all_schedules() {
    for program in [inc(3), deadlock01(), whichwaiter(), timedwait(), semtry(), barrier(2)] {
        let all = explore("dfs", &program);
        for spec in ["ipb", "idb"] {
            let found = levels(spec, &program);
            assert_eq!(found.iter().sum::<u64>(), all.n_full, "{spec} of {}", program.name);
        }
    }
}

/// While a level is under way, its size is known more or less: not by orders of magnitude too much, although the
/// schedules that come first have most preemptions left. When all is done it is exact.
#[test]
fn levels_are_estimated() {
    let lengths = [6, 6];
    for (spec, level, n_all) in [("ipb:1", 1, two_threads(6, 1)), ("ipb:2", 2, two_threads(6, 2))] {
        let toy = Toy::new(straight(&lengths));
        let mut search = SearchSpec::parse(spec).expect("its name").start(Start::default());
        let mut run = Run::default();
        let mut totals = Vec::new();
        while let [task] = &search.next(1)[..] {
            toy.run(&task.prefix, task.tail, &mut run);
            search.learn(task.number, &run);
            let progress = search.progress();
            if progress.level == Some(level) && !progress.is_finished {
                totals.extend(progress.estimate.map(|it| it.total));
            }
        }
        assert!(totals.len() as u64 >= n_all, "{spec}: {totals:?}");
        let n_all = n_all as f64;
        assert!(
            totals.iter().all(|it| n_all / 3.0 < *it && *it < n_all * 3.0),
            "{spec}: {totals:?}"
        );
    }
}
