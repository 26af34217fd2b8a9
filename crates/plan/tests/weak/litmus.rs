//! The litmus tests: outcomes of searches and of random executions are exactly those of the axioms.

use raddle_model::PickerSpec;

use crate::{
    axioms::{Sc, outcomes},
    cases::{CASES, Is, has},
    explore::{explore, sample},
    program::program,
    vm::Branches,
};

#[test]
fn dfs_finds_all_outcomes_and_no_other() {
    for (name, text, outcome, is) in CASES {
        let program = program(text);
        let found = explore("dfs", &program, Branches::Never, 3);
        assert_eq!(found.outcomes, outcomes(&program, Sc::Executed), "{name}");
        assert_eq!(has(&found.outcomes, outcome), *is == Is::Allowed, "{name}");
        assert_eq!(has(&outcomes(&program, Sc::Standard), outcome), *is != Is::Forbidden, "{name}");
        assert_eq!(found.n_redundant, 0, "{name}");
    }
}

/// Where a read or a thread is one of several, each is as likely.
#[test]
fn random_executions_find_all_outcomes_and_no_other() {
    for (name, text, ..) in CASES {
        let program = program(text);
        let found = sample(PickerSpec::Walk, &program, 10_000);
        assert_eq!(found.outcomes, outcomes(&program, Sc::Executed), "{name}");
    }
}
