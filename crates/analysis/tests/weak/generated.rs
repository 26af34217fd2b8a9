//! Generated programs: the rules allow what the axioms allow.

use raddle_model::Rng;

use crate::{
    axioms::{Sc, outcomes},
    explored::explore,
    generator::generated,
    program::Program,
};

fn hold_to_axioms(program: &Program) -> bool {
    let (explored, _) = explore(program);
    let (executed, standard) = (outcomes(program, Sc::Executed), outcomes(program, Sc::Standard));
    assert_eq!(explored, executed, "{program:?}");
    assert!(executed.is_subset(&standard), "{program:?}");
    executed != standard
}

#[test]
fn rules_allow_what_axioms_allow() {
    let mut rng = Rng::new(23);
    let mut n_narrower = 0;
    for case in 0..4000 {
        let program = generated(&mut rng, 4 + case % 3, 2 + case % 2);
        n_narrower += u32::from(hold_to_axioms(&program));
    }
    // What the order of SC ops leaves out is little.
    assert_eq!(n_narrower, 5);
}

/// The longer the programs, the fewer of them.
#[test]
fn rules_allow_what_axioms_allow_in_longer_programs() {
    let mut rng = Rng::new(24);
    for case in 0..120 {
        hold_to_axioms(&generated(&mut rng, 7 + case % 2, 2));
    }
}
