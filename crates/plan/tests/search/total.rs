//! Total replay on toys: it finds every lockset race that exhaustive search finds.

use std::collections::BTreeSet;

use proptest::{collection::vec, prelude::*};
use raddle_plan::search::{LocksetRace, Progress, Run, SearchSpec, Start, lockset_races};

use crate::toy::{
    program::{
        If,
        Ins::{self, *},
        Program,
        Val::{In, Is},
        Var::{At, Off},
    },
    vm::Toy,
};

/// What a search comes to.
struct Found {
    races: BTreeSet<LocksetRace>,
    progress: Progress,
    is_whole: bool,
}

fn explore(spec: &str, program: &Program, max: u64) -> Found {
    let toy = Toy::new(program.clone());
    let mut search =
        SearchSpec::parse(spec).expect("a search has this name").start(Start::default());
    let mut races = BTreeSet::new();
    let mut run = Run::default();
    while let Some(task) = search.next(1).pop() {
        toy.run(&task.prefix, task.tail, &mut run);
        races.extend(lockset_races(&run));
        search.learn(task.number, &run);
        if max < search.progress().n_executions {
            return Found { races, progress: search.progress(), is_whole: false };
        }
    }
    assert!(search.is_finished(), "{}: nothing to do, and not finished", program.name);
    Found { races, progress: search.progress(), is_whole: true }
}

fn n_executions(threads: Vec<Vec<Ins>>) -> (u64, usize) {
    let program = Program::new("toy", threads);
    let total = explore("total", &program, 1_000);
    let all = explore("dfs", &program, 100_000);
    assert!(total.is_whole && all.is_whole);
    assert_eq!(total.races, all.races, "{}", total.progress.words);
    (total.progress.n_executions, total.races.len())
}

/// Experiment 1's structure: thread 0's access races only if thread 1's branch goes the other way, which
/// thread 2 decides (by a race of its own).
#[test]
fn a_pool() {
    let factory = vec![Store(At(0), Is(1))];
    let branch = vec![
        Load(0, At(1)),
        Goto(If::Equal(0, 0), 5),
        Store(At(0), Is(2)),
        Goto(If::Always, 5),
        Store(At(2), Is(1)),
    ];
    let active = vec![Store(At(1), Is(1)), Store(At(3), Is(1))];
    assert_eq!(n_executions(vec![factory, branch, active]), (2, 2));
}

/// Nobody's reads can read anything else.
#[test]
fn nothing_to_decide() {
    let own = |var: usize| {
        vec![Store(At(var), Is(1)), Load(0, At(var)), Goto(If::Equal(0, 0), 4), Store(At(9), Is(1))]
    };
    assert_eq!(n_executions(vec![own(0), own(1)]), (1, 1));
}

/// Figure 56 (a): which lock is taken depends on what another thread wrote.
#[test]
fn a_lock_variable() {
    let by_variable = vec![
        Load(0, At(0)),
        Goto(If::Equal(0, 0), 6),
        Lock(1),
        Store(At(1), Is(1)),
        Unlock(1),
        Goto(If::Always, 9),
        Lock(0),
        Store(At(1), Is(1)),
        Unlock(0),
    ];
    let fixed = vec![Lock(0), Store(At(1), Is(2)), Unlock(0)];
    let decides = vec![Store(At(0), Is(1))];
    let (n, n_races) = n_executions(vec![by_variable, fixed, decides]);
    // The lock variable itself, and what it fails to protect.
    assert_eq!((n, n_races), (2, 2));
}

/// Figure 56 (b): what a reference refers to depends on what another thread wrote.
#[test]
fn a_reference() {
    let by_reference = vec![Load(0, At(0)), Lock(0), Store(Off(1, 0), Is(1)), Unlock(0)];
    let fixed = vec![Lock(1), Store(At(2), Is(2)), Unlock(1)];
    let decides = vec![Store(At(0), Is(1))];
    assert_eq!(n_executions(vec![by_reference, fixed, decides]), (2, 2));
}

/// Two threads write the same variable in different executions only: neither shows that it is shared.
#[test]
fn shared_in_no_execution_alone() {
    let if_set = vec![Load(3, At(1)), Goto(If::Equal(3, 0), 3), Store(At(2), Is(1))];
    let if_not = vec![Load(3, At(1)), Goto(If::Equal(3, 1), 3), Store(At(2), Is(2))];
    let (_, n_races) = n_executions(vec![if_set, vec![Store(At(1), Is(1))], if_not]);
    assert_eq!(n_races, 3);
}

fn piece() -> impl Strategy<Value = Vec<Ins>> {
    let plain = prop_oneof![
        (0_usize..2).prop_map(|var| vec![Load(0, At(var))]),
        (0_usize..2, 0_i64..2).prop_map(|(var, value)| vec![Store(At(var), Is(value))]),
        (0_usize..2).prop_map(|var| vec![Load(0, At(var)), Store(At(1 - var), In(0))]),
        // A reference, to one of two variables.
        (0_usize..2).prop_map(|var| vec![Load(0, At(var)), Store(Off(2, 0), Is(1))]),
    ];
    let branch = (0_usize..2, plain.clone()).prop_map(|(var, then)| {
        let end = 2 + then.len();
        let mut all = vec![Load(3, At(var)), Goto(If::Equal(3, 0), end)];
        all.extend(then);
        all
    });
    let inner = prop_oneof![3 => plain.clone(), 1 => branch.clone()];
    let locked = (0_usize..2, inner).prop_map(|(lock, inner)| {
        let mut all = vec![Lock(lock)];
        all.extend(inner.into_iter().map(|it| moved(it, 1)));
        all.push(Unlock(lock));
        all
    });
    prop_oneof![2 => plain, 3 => branch, 3 => locked]
}

fn moved(ins: Ins, by: usize) -> Ins {
    match ins {
        Goto(when, target) => Goto(when, target + by),
        other => other,
    }
}

fn program() -> impl Strategy<Value = Program> {
    let thread = vec(piece(), 1..=2).prop_map(|pieces| {
        let mut all: Vec<Ins> = Vec::new();
        for piece in pieces {
            let start = all.len();
            all.extend(piece.into_iter().map(|it| moved(it, start)));
        }
        all
    });
    vec(thread, 2..=3).prop_map(|threads| Program {
        n_vars: 4,
        n_mutexes: 2,
        ..Program::new("generated", threads)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn total_finds_every_race(program in program()) {
        let all = explore("dfs", &program, 2_000);
        prop_assume!(all.is_whole);
        let total = explore("total", &program, 2_000);
        prop_assert!(total.is_whole);
        let missing: Vec<_> = all.races.difference(&total.races).collect();
        prop_assert!(missing.is_empty(), "{:?}\n{}", missing, total.progress.words);
        // And one to show each race at most.
        let n_most = all.progress.n_executions + all.races.len() as u64;
        prop_assert!(total.progress.n_executions <= n_most);
    }
}
