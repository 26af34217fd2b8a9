//! Generated programs: searches find what the axioms allow.

use raddle_model::Rng;

use crate::{
    axioms::{Sc, outcomes},
    explore::explore,
    generator::generated,
    vm::Branches,
};

#[test]
fn dfs_finds_what_axioms_allow() {
    let mut rng = Rng::new(25);
    for case in 0..1000 {
        let program = generated(&mut rng, 4 + case % 3, 2 + case % 2);
        let found = explore("dfs", &program, Branches::Never, 1 + case as usize % 3);
        assert_eq!(found.outcomes, outcomes(&program, Sc::Executed), "{program:?}");
    }
}

#[test]
fn reductions_find_what_axioms_allow() {
    let mut rng = Rng::new(26);
    for case in 0..2400 {
        let program = generated(&mut rng, 4 + case % 4, 2 + case % 2);
        let expected = outcomes(&program, Sc::Executed);
        for spec in ["dpor:classic", "dpor", "dpor:optimal"] {
            let found = explore(spec, &program, Branches::Never, 1 + case as usize % 3);
            assert_eq!(found.outcomes, expected, "{spec} {program:?}");
        }
    }
}

#[test]
fn reductions_find_what_dfs_finds_where_threads_look_at_what_they_read() {
    let mut rng = Rng::new(27);
    for case in 0..1200 {
        let program = generated(&mut rng, 4 + case % 4, 2 + case % 2);
        let all = explore("dfs", &program, Branches::AtOdd, 3);
        for spec in ["dpor:classic", "dpor", "dpor:optimal"] {
            let found = explore(spec, &program, Branches::AtOdd, 1 + case as usize % 3);
            assert_eq!(found.classes, all.classes, "{spec} {program:?}");
        }
    }
}
