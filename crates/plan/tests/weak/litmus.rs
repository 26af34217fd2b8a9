//! The litmus tests: outcomes of searches and of random executions are exactly those of the axioms.

use raddle_model::{
    MemoryModel::{self, C11, Sc as Consistent, Tso},
    PickerSpec,
};

use crate::{
    axioms::{Sc, outcomes},
    cases::{CASES, Is, has},
    explore::{explore, explore_as, sample},
    program::{Outcomes, program},
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
        let found = sample(C11, PickerSpec::Walk, &program, 10_000);
        assert_eq!(found.outcomes, outcomes(&program, Sc::Executed), "{name}");
    }
}

#[test]
fn reductions_find_all_outcomes_and_no_other() {
    let mut counts = Vec::new();
    for spec in ["dpor:classic", "dpor", "dpor:optimal"] {
        let (mut n_executions, mut n_redundant, mut n_classes) = (0, 0, 0);
        for (name, text, ..) in CASES {
            let program = program(text);
            let found = explore(spec, &program, Branches::Never, 3);
            assert_eq!(found.outcomes, outcomes(&program, Sc::Executed), "{spec} {name}");
            n_executions += found.n_executions;
            n_redundant += found.n_redundant;
            n_classes += found.classes.len();
        }
        counts.push((spec, n_executions, n_redundant, n_classes));
    }
    // Executions, those of them that show nothing new, and classes: what reads read and how stores are ordered.
    let expected =
        [("dpor:classic", 615, 41, 516), ("dpor", 574, 0, 516), ("dpor:optimal", 574, 0, 516)];
    assert_eq!(counts, expected);
}

/// What the other models allow.
fn outcomes_of(memory: MemoryModel, text: &str) -> Outcomes {
    outcomes(&program(text), if memory == Tso { Sc::Buffered } else { Sc::Whole })
}

#[test]
fn searches_find_what_other_models_allow() {
    let mut counts = Vec::new();
    for memory in [Tso, Consistent] {
        for spec in ["dfs", "dpor:classic", "dpor", "dpor:optimal"] {
            let (mut n_executions, mut n_redundant, mut n_classes) = (0, 0, 0);
            for (name, text, ..) in CASES {
                let found = explore_as(memory, spec, &program(text), Branches::Never, 3);
                assert_eq!(found.outcomes, outcomes_of(memory, text), "{memory:?} {spec} {name}");
                n_executions += found.n_executions;
                n_redundant += found.n_redundant;
                n_classes += found.classes.len();
            }
            if spec != "dfs" {
                counts.push((memory, spec, n_executions, n_redundant, n_classes));
            }
        }
    }
    // Executions, those of them that show nothing new, and classes.
    let expected = [
        (Tso, "dpor:classic", 829, 13, 485),
        (Tso, "dpor", 819, 3, 485),
        (Tso, "dpor:optimal", 816, 0, 485),
        (Consistent, "dpor:classic", 511, 34, 477),
        (Consistent, "dpor", 477, 0, 477),
        (Consistent, "dpor:optimal", 477, 0, 477),
    ];
    assert_eq!(counts, expected);
}

#[test]
fn random_executions_find_what_total_store_order_allows() {
    for (name, text, ..) in CASES {
        let found = sample(Tso, PickerSpec::Walk, &program(text), 10_000);
        assert_eq!(found.outcomes, outcomes_of(Tso, text), "{name}");
    }
}
