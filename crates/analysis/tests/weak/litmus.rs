//! The litmus tests: what is allowed and forbidden, and the exact set of outcomes, which is the axioms'.

use crate::{
    axioms::{Sc, outcomes},
    cases::{
        CASES,
        Is::{Allowed, Forbidden, LeftOut},
        has,
    },
    explored::explore,
    program::program,
};

#[test]
fn outcomes_are_those_of_the_standard() {
    let mut wrong = Vec::new();
    for (name, text, outcome, is) in CASES {
        let program = program(text);
        let (explored, _) = explore(&program);
        let (executed, standard) =
            (outcomes(&program, Sc::Executed), outcomes(&program, Sc::Standard));
        assert_eq!(explored, executed, "{name}");
        assert!(executed.is_subset(&standard), "{name}");
        let found = match (has(&explored, outcome), has(&standard, outcome)) {
            (true, _) => Allowed,
            (false, true) => LeftOut,
            (false, false) => Forbidden,
        };
        if found != *is {
            wrong.push(format!("{name}: {text}: {outcome} is {found:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn there_are_enough_of_them() {
    assert!(CASES.len() >= 60, "{}", CASES.len());
}
