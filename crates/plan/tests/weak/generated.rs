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
