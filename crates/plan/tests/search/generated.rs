//! What holds for every program: tried on programs that nobody would write.

use proptest::{collection::vec, prelude::*};

use crate::{
    explore::{How, explore_as},
    toy::program::{
        If,
        Ins::{self, *},
        Program,
        Val::{In, Is},
        Var::At,
    },
};

/// A few instructions that belong together. Jumps are relative to its start.
fn piece() -> impl Strategy<Value = Vec<Ins>> {
    let plain = prop_oneof![
        (0_usize..2).prop_map(|var| vec![Load(0, At(var))]),
        (0_usize..2, 1_i64..3).prop_map(|(var, value)| vec![Store(At(var), Is(value))]),
        (0_usize..2).prop_map(|var| vec![Add(1, At(var), 1)]),
        (0_usize..2, 0_i64..2).prop_map(|(var, from)| vec![Cas(
            2,
            At(var),
            Is(from),
            Is(from + 1)
        )]),
        (0_usize..2).prop_map(|var| vec![Load(0, At(var)), Plus(0, 1), Store(At(1 - var), In(0))]),
    ];
    let branch = (0_usize..2, plain.clone()).prop_map(|(var, then)| {
        let end = 2 + then.len();
        let mut all = vec![Load(3, At(var)), Goto(If::Equal(3, 0), end)];
        all.extend(then);
        all
    });
    let inner = prop_oneof![3 => plain.clone(), 1 => Just(Vec::new()), 1 => branch.clone()];
    let locked =
        (0_usize..2, 0_usize..6, inner).prop_map(|(lock, how, inner)| locked(lock, how, &inner));
    let waits = prop_oneof![
        Just(vec![Lock(0), Wait(0, 0), Unlock(0)]),
        Just(vec![Lock(0), TimedWait(3, 0, 0), Unlock(0)]),
        Just(vec![Signal(0)]),
        Just(vec![Broadcast(0)]),
        Just(vec![Lock(0), Signal(0), Unlock(0)]),
    ];
    let counts = prop_oneof![
        Just(vec![Take(0)]),
        Just(vec![TryTake(3, 0)]),
        Just(vec![Post(0)]),
        Just(vec![Arrive(3, 0)]),
        Just(vec![Once(3, 0), Goto(If::Equal(3, 0), 3), OnceDone(0)]),
        Just(vec![FutexWait(3, At(0), 0)]),
        Just(vec![FutexWake(At(0), 1)]),
    ];
    prop_oneof![4 => plain, 2 => branch, 4 => locked, 2 => waits, 3 => counts]
}

/// Something done under a lock, which is taken in one of several ways.
fn locked(lock: usize, how: usize, inner: &[Ins]) -> Vec<Ins> {
    let (take, is_try, give) = match how {
        0 => (Lock(lock), false, Unlock(lock)),
        1 => (TryLock(3, lock), true, Unlock(lock)),
        2 => (TimedLock(3, lock), true, Unlock(lock)),
        3 => (ReadLock(lock), false, RwUnlock(lock)),
        4 => (WriteLock(lock), false, RwUnlock(lock)),
        _ if lock == 0 => (TryReadLock(3, lock), true, RwUnlock(lock)),
        _ => (TryWriteLock(3, lock), true, RwUnlock(lock)),
    };
    let mut all = vec![take];
    let end = inner.len() + 2 + usize::from(is_try);
    if is_try {
        all.push(Goto(If::Equal(3, 0), end));
    }
    let start = all.len();
    all.extend(inner.iter().map(|it| moved(*it, start)));
    all.push(give);
    all
}

fn moved(ins: Ins, by: usize) -> Ins {
    match ins {
        Goto(when, target) => Goto(when, target + by),
        other => other,
    }
}

fn thread() -> impl Strategy<Value = Vec<Ins>> {
    vec(piece(), 1..=3).prop_map(|pieces| {
        let mut all: Vec<Ins> = Vec::new();
        for piece in pieces {
            let start = all.len();
            all.extend(piece.into_iter().map(|it| moved(it, start)));
        }
        all
    })
}

pub(crate) fn program() -> impl Strategy<Value = Program> {
    (vec(thread(), 2..=3), 0_u32..3, any::<bool>(), any::<bool>()).prop_map(
        |(threads, count, has_ends, is_spawned)| {
            let n_threads = threads.len() as u32;
            let program = if is_spawned {
                crate::toy::library::spawned("generated", threads)
            } else {
                Program::new("generated", threads)
            };
            // Objects that not all threads name are there all the same.
            Program {
                n_vars: 2,
                sems: vec![count],
                barriers: vec![n_threads.min(2)],
                has_ends: has_ends && is_spawned,
                ..program
            }
        },
    )
}

/// Does an instruction always do the same to its object, however it turns out?
fn is_sure(ins: &Ins) -> bool {
    !matches!(
        ins,
        Cas(..)
            | TryLock(..)
            | TimedLock(..)
            | TimedWait(..)
            | TryReadLock(..)
            | TryWriteLock(..)
            | TryTake(..)
            | Arrive(..)
            | Once(..)
            | FutexWait(..)
    )
}

/// More schedules than this are not enumerated.
const SCHEDULES_MAX: u64 = 250;

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    /// Reduced searches find the classes and the outcomes that there are, each class once.
    #[test]
    fn reductions_find_every_class_once(program in program(), may_time_out: bool) {
        let how = How { may_time_out, max: SCHEDULES_MAX, ..How::default() };
        let all = explore_as("dfs", &program, how);
        prop_assume!(all.is_whole);
        for spec in ["dpor", "dpor:classic", "dpor:optimal"] {
            let found = explore_as(spec, &program, how);
            prop_assert!(found.is_whole, "{} does not end", spec);
            prop_assert_eq!(&found.outcomes, &all.outcomes, "{}", spec);
            prop_assert_eq!(&found.classes, &all.classes, "{}", spec);
            prop_assert_eq!(found.n_full, all.classes.len() as u64, "{}", spec);
            if spec == "dpor:optimal" && program.threads.iter().flatten().all(is_sure) {
                prop_assert_eq!(found.progress.n_redundant, 0, "an execution that ends asleep");
            }
        }
    }

    /// The same executions in the same order, however many run at once, and if the search is saved and goes on.
    #[test]
    fn it_does_not_matter_how_it_is_carried_out(
        program in program(), may_time_out: bool, n_workers in 2_usize..6, seed: u64,
    ) {
        let how = How { may_time_out, max: SCHEDULES_MAX, has_classes: false, ..How::default() };
        for spec in ["dfs", "dpor", "dpor:optimal", "hapset:order"] {
            let alone = explore_as(spec, &program, how);
            prop_assume!(alone.is_whole);
            let crowd = explore_as(spec, &program, How { n_workers, seed, ..how });
            prop_assert_eq!(&crowd.schedules, &alone.schedules, "{} at once by {}", n_workers, spec);
            prop_assert_eq!(&crowd.outcomes, &alone.outcomes, "{} at once by {}", n_workers, spec);
            let save_every = Some(1 + seed % 7);
            let parts = explore_as(spec, &program, How { n_workers, seed, save_every, ..how });
            prop_assert_eq!(&parts.schedules, &alone.schedules, "{} in parts", spec);
        }
    }

    /// What a thread can come to with so many preemptions, it comes to with so many.
    #[test]
    fn a_bounded_reduction_loses_nothing_below_its_bound(
        program in program(), may_time_out: bool, n_preemptions in 0_u32..4,
    ) {
        let how = How { may_time_out, max: SCHEDULES_MAX, has_classes: false, ..How::default() };
        let all = explore_as(&format!("ipb:{n_preemptions}"), &program, how);
        prop_assume!(all.is_whole);
        let found = explore_as(&format!("dpor:preemptions={n_preemptions}"), &program, how);
        prop_assert!(found.is_whole, "it does not end");
        prop_assert_eq!(found.local_ends(), all.local_ends());
    }
}
