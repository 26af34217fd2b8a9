//! The same seed gives the same schedule, and a schedule can be followed.

use raddle_model::{OpKind, PickerSpec};
use raddle_pick::Chooser;

use crate::{
    PICKERS,
    toy::{How, Running, Toy, on, run, write},
};

/// Three threads, a lock and two variables; the first thread creates the others.
fn toy() -> Toy {
    let (lock, unlock) = (on(OpKind::Lock, 1), on(OpKind::Unlock, 1));
    let spawn = |thread| on(OpKind::Spawn, 0).arg(thread);
    Toy::of(&[
        &[spawn(1), write(2), spawn(2), lock, write(3), unlock, write(2)],
        &[write(2), lock, write(3), unlock, on(OpKind::Read, 2)],
        &[lock, write(2), write(2), unlock],
    ])
}

#[test]
fn the_seed_decides() {
    let toy = toy();
    let profile = toy.profile();
    for picker in PICKERS {
        let orders: Vec<Vec<u32>> = (0..50)
            .map(|seed| run(&toy, How { picker, seed, profile: &profile }, usize::MAX))
            .collect();
        for (seed, order) in (0..50).zip(&orders) {
            assert_eq!(order.len(), 16, "{picker:?}");
            assert_eq!(*order, run(&toy, How { picker, seed, profile: &profile }, usize::MAX));
        }
        let mut distinct = orders.clone();
        distinct.sort();
        distinct.dedup();
        let is_random = !matches!(picker, PickerSpec::Nonpreemptive | PickerSpec::Order { .. });
        assert_eq!(distinct.len() > 1, is_random, "{picker:?}: {distinct:?}");
    }
}

#[test]
fn schedules_can_be_followed() {
    let toy = toy();
    let profile = toy.profile();
    for picker in PICKERS {
        let how = How { picker, seed: 3, profile: &profile };
        let order = run(&toy, how, usize::MAX);
        for tail in PICKERS {
            let origin = raddle_pick::Origin {
                picker: tail,
                seed: 9,
                may_time_out: true,
                profile: profile.view(),
            };
            for n_prefix in [order.len() / 2, order.len()] {
                let prefix = &order[..n_prefix];
                let mut chooser = Chooser::new(prefix, raddle_pick::AnyPicker::new(&origin));
                let mut running = Running::new(&toy);
                let again: Vec<u32> =
                    std::iter::from_fn(|| running.step(&mut chooser)).map(|it| it.0).collect();
                assert_eq!(again[..n_prefix], *prefix, "{picker:?}, then {tail:?}");
                assert_eq!(again.len(), order.len(), "{picker:?}, then {tail:?}");
                assert_eq!(chooser.diverged_at(), None);
            }
        }
    }
}
