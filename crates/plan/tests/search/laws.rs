//! What holds for every search.

use raddle_plan::search::{Run, SearchSpec, Start};

use crate::{
    explore::{How, explore, explore_as},
    toy::{
        library::*,
        program::{
            If,
            Ins::{self, *},
            Program,
            Val::Is,
            Var::At,
        },
        vm::Toy,
    },
};

const SEARCHES: &[&str] = &[
    "dfs",
    "ipb",
    "idb",
    "dpor",
    "dpor:classic",
    "dpor:optimal",
    "dpor:preemptions=1",
    "hapset",
    "hapset:ipb",
    "hapset:order",
    "hapset:paper",
    "hapset:pcb=1",
    "dpor:plain",
    "pcb:1",
    "rank:paper",
    "total:reachability",
    "total:tpair",
    "total:groups",
    "total:guidelines",
    "rank:0.0.2.1+1.0.2.1+1.all.2.1+2.1.2.1+1.all.3.2",
];

fn programs() -> Vec<Program> {
    vec![
        inc(2),
        lastzero(2),
        deadlock01(),
        whichwaiter(),
        timedwait(),
        rwtries(),
        semtry(),
        barrier(2),
        futex(),
        family(),
    ]
}

/// The same executions count in the same order, however many run at once and in whatever order they end.
#[test]
fn workers_change_nothing() {
    for program in programs() {
        for spec in SEARCHES {
            let alone = explore_as(spec, &program, How { has_classes: false, ..How::default() });
            for (n_workers, seed) in [(2, 1), (3, 2), (8, 3), (8, 4)] {
                let how = How { n_workers, seed, has_classes: false, ..How::default() };
                let crowd = explore_as(spec, &program, how);
                assert!(alone.schedules == crowd.schedules, "{spec} of {}: {how:?}", program.name);
                assert_eq!(alone.progress, crowd.progress, "{spec} of {}: {how:?}", program.name);
            }
        }
    }
}

/// A search that was saved and restored goes on where it was: nothing is lost and nothing counts twice.
#[test]
fn a_search_can_be_resumed() {
    for program in programs() {
        for spec in SEARCHES {
            let whole = explore_as(spec, &program, How { has_classes: false, ..How::default() });
            for (n_workers, save_every) in [(1, 1), (1, 7), (4, 3)] {
                let how = How {
                    n_workers,
                    save_every: Some(save_every),
                    seed: save_every,
                    has_classes: false,
                    ..How::default()
                };
                let parts = explore_as(spec, &program, how);
                assert!(whole.schedules == parts.schedules, "{spec} of {}: {how:?}", program.name);
                assert_eq!(whole.progress, parts.progress, "{spec} of {}: {how:?}", program.name);
            }
        }
    }
}

/// When a search has ended, it knows how large it was.
#[test]
fn the_last_estimate_is_exact() {
    for program in programs() {
        for spec in ["dfs", "dpor"] {
            let found = explore(spec, &program);
            let estimate = found.progress.estimate.expect("executions were made");
            assert!((estimate.total - found.n_full as f64).abs() < 1e-6, "{spec}: {estimate:?}");
            assert_eq!(estimate.done, 1.0);
        }
    }
}

/// Reduced searches know of some executions that they are certain; there are never fewer, and their number never
/// falls.
#[test]
fn at_least_means_at_least() {
    for program in [inc(3), lastzero(3), whichwaiter(), timedwaits(), twostage(3)] {
        for spec in ["dpor", "dpor:classic", "dpor:optimal", "dpor:preemptions=1"] {
            let toy = Toy::new(program.clone());
            let mut search = SearchSpec::parse(spec).expect("its name").start(Start::default());
            let mut run = Run::default();
            let mut least = Vec::new();
            while let [task] = &search.next(1)[..] {
                toy.run(&task.prefix, task.tail, &mut run);
                search.learn(task.number, &run);
                least.extend(search.progress().estimate.and_then(|it| it.least));
            }
            let what = format!("{spec} of {}: {least:?}", program.name);
            let n_all = search.progress().n_executions;
            assert!(!least.is_empty() && least.is_sorted(), "{what}");
            assert!(least.iter().all(|it| *it <= n_all), "{what} of {n_all}");
            assert!(least.iter().zip(1..).any(|(it, n_made)| n_made < *it), "{what}");
        }
    }
}

/// One thread ends the process, and the others would have gone on: what they would have done is explored.
#[test]
fn nothing_is_lost_when_an_execution_ends_early() {
    // Aborts unless x was set; it is set after two other steps.
    let checks = vec![Load(0, At(0)), Goto(If::Differs(0, 0), 3), Abort, Store(At(2), Is(1))];
    let sets = vec![Store(At(1), Is(1)), Store(At(3), Is(1)), Store(At(0), Is(1)), Load(0, At(2))];
    let reads = vec![Load(0, At(1)), Load(1, At(3))];
    for threads in [
        vec![checks.clone(), sets.clone()],
        vec![checks.clone(), sets.clone(), reads.clone()],
        vec![checks.clone(), reads, sets.clone(), checks],
    ] {
        let program = Program::new("abort", threads);
        let is_good = |it: &&crate::toy::vm::Outcome| !it.is_aborted;
        let all = explore_as("dfs", &program, How { has_classes: false, ..How::default() });
        for spec in ["dpor", "dpor:classic", "dpor:optimal", "dpor:preemptions=9"] {
            let found = explore(spec, &program);
            let good: Vec<_> = found.outcomes.iter().filter(is_good).collect();
            assert_eq!(good, all.outcomes.iter().filter(is_good).collect::<Vec<_>>(), "{spec}");
            assert!(good.len() < found.outcomes.len(), "{spec} finds no abort");
        }
    }
}

/// One ends the execution after a release, before which nobody could be chosen: what the other does is seen all the same.
#[test]
fn nothing_is_lost_when_an_execution_ends_after_a_release() {
    let ends = vec![Lock(0), Unlock(0), Abort];
    let fails = vec![Store(At(0), Is(1)), Fail];
    let program = Program::new("ends after a release", vec![ends, fails]);
    let how = How { has_silent_releases: true, has_classes: false, ..How::default() };
    let all = explore_as("dfs", &program, how).outcomes;
    assert!(all.iter().any(|it| it.n_failures > 0) && all.iter().any(|it| it.n_failures == 0));
    for spec in ["dpor", "dpor:classic", "dpor:optimal", "dpor:preemptions=1", "hapset:order"] {
        let found = explore_as(spec, &program, how).outcomes;
        let fails = found.iter().any(|it| it.n_failures > 0);
        assert!(fails, "{spec}: {found:?}");
    }
}

/// Threads that wait by looking, and yield: every search comes to an end, and sees the reader before and after
/// the writer.
#[test]
fn yields() {
    let waits = |then: Ins| {
        vec![Load(0, At(0)), Goto(If::Differs(0, 0), 4), Yield, Goto(If::Always, 0), then]
    };
    let sets = vec![Store(At(1), Is(5)), Store(At(0), Is(1))];
    let threads = vec![waits(Load(1, At(1))), sets, waits(Store(At(1), Is(7)))];
    let program = Program::new("polite", threads);
    for spec in ["dfs", "ipb:2", "idb:2", "dpor", "dpor:classic", "dpor:optimal"] {
        let how = How { max: 1_000, ..How::default() };
        let found = explore_as(spec, &program, how);
        assert!(found.is_whole, "{spec} does not end");
        let seen: Vec<i64> = found.outcomes.iter().map(|it| it.regs[0][1]).collect();
        assert_eq!(seen, [5, 7], "{spec}");
    }
}

/// A thread that yields for the first time at a place may go on at once: as if it did not yield, whatever others do.
#[test]
fn hints() {
    let writes = |between: &[Ins]| {
        let (first, last) = ([Store(At(0), Is(1))], [Store(At(1), Is(1))]);
        [&first, between, &last].concat()
    };
    let reads = vec![Load(0, At(0)), Load(1, At(1))];
    let polite = vec![Hint, Load(0, At(1))];
    let program =
        |between| Program::new("hint", vec![writes(between), reads.clone(), polite.clone()]);
    for spec in ["dfs", "ipb", "idb", "dpor", "dpor:classic", "dpor:optimal"] {
        let (plain, hinted) = (explore(spec, &program(&[])), explore(spec, &program(&[Hint])));
        assert!(hinted.is_whole, "{spec} does not end");
        assert_eq!(hinted.outcomes, plain.outcomes, "{spec}");
        if spec.starts_with("dpor") {
            assert!(hinted.progress.n_executions <= plain.progress.n_executions, "{spec}");
        }
    }
}

/// To leave a thread that yields is no preemption, nor to stay.
#[test]
fn hints_and_preemptions() {
    let polite = vec![Store(At(0), Is(1)), Hint, Store(At(1), Is(1))];
    let reads = vec![Load(0, At(0)), Load(1, At(1))];
    let seen = |spec| {
        let found = explore(spec, &Program::new("hint", vec![polite.clone(), reads.clone()]));
        let seen = found.outcomes.iter().map(|it| [it.regs[1][0], it.regs[1][1]]);
        seen.collect::<Vec<_>>()
    };
    // The first thread begins. The reader comes between its writes, or after them; the rest takes two preemptions: at the
    // beginning, and between the reads.
    assert_eq!(seen("ipb:0"), [[1, 0], [1, 1]]);
    assert_eq!(seen("ipb:2"), [[0, 0], [0, 1], [1, 0], [1, 1]]);
}
