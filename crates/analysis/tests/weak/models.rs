//! Total store order and sequential consistency: what the rules allow is what their axioms allow.

use raddle_model::{
    MemoryModel::{self, Sc as Consistent, Tso},
    Rng,
};

use crate::{
    axioms::{Sc, outcomes},
    cases::{
        CASES,
        Is::{self, Allowed, Forbidden},
        has,
    },
    explored::explore_as,
    generator::generated,
    program::{Outcomes, Program, program},
};

/// What x86 processors do, as Owens, Sarkar and Sewell have it (*A better x86 memory model: x86-TSO*, TPHOLs 2009), and
/// compilers' mapping of C11 to it.
const TSO_CASES: &[(&str, &str, &str, Is)] = &[
    ("store buffering", "Wx 1 rlx; Ry rlx | Wy 1 rlx; Rx rlx", "0 0", Allowed),
    ("release and acquire do not help", "Wx 1 rel; Ry acq | Wy 1 rel; Rx acq", "0 0", Allowed),
    ("SC loads do not, either", "Wx 1 rel; Ry sc | Wy 1 rel; Rx sc", "0 0", Allowed),
    ("SC stores are exchanges", "Wx 1 sc; Ry rlx | Wy 1 sc; Rx rlx", "0 0", Forbidden),
    ("one is not enough", "Wx 1 sc; Ry rlx | Wy 1 rlx; Rx rlx", "0 0", Allowed),
    ("fences", "Wx 1 rlx; F sc; Ry rlx | Wy 1 rlx; F sc; Rx rlx", "0 0", Forbidden),
    (
        "weaker fences are no instructions",
        "Wx 1 rlx; F acqrel; Ry rlx | Wy 1 rlx; F acqrel; Rx rlx",
        "0 0",
        Allowed,
    ),
    (
        "a read-modify-write elsewhere is a fence",
        "Wx 1 rlx; Uz 1 rlx; Ry rlx | Wy 1 rlx; Uz 1 rlx; Rx rlx",
        "0 0 0 1",
        Forbidden,
    ),
    (
        "so is an exchange that fails",
        "Wx 1 rlx; Cz 7 8 rlx rlx; Ry rlx | Wy 1 rlx; Cz 7 8 rlx rlx; Rx rlx",
        "0 0 0 0 0 0",
        Forbidden,
    ),
    ("message", "Wx 1 rlx; Wy 1 rlx | Ry rlx; Rx rlx", "1 0", Forbidden),
    ("load buffering", "Rx rlx; Wy 1 rlx | Ry rlx; Wx 1 rlx", "1 1", Forbidden),
    (
        "independent reads",
        "Wx 1 rlx | Wy 1 rlx | Rx rlx; Ry rlx | Ry rlx; Rx rlx",
        "1 0 1 0",
        Forbidden,
    ),
    (
        "own stores are read early",
        "Wx 1 rlx; Rx rlx; Ry rlx | Wy 1 rlx; Ry rlx; Rx rlx",
        "1 0 1 0",
        Allowed,
    ),
    ("n5: own store and another's", "Wx 1 rlx; Rx rlx | Wx 2 rlx; Rx rlx", "2 1", Forbidden),
    ("n6", "Wx 1 rlx; Rx rlx; Ry rlx | Wy 1 rlx; Wx 2 rlx", "1 0 / 1 1 0", Allowed),
    ("2+2W", "Wx 1 rlx; Wy 2 rlx | Wy 1 rlx; Wx 2 rlx", "/ 1 1 0", Forbidden),
    ("R", "Wx 1 rlx; Wy 1 rlx | Wy 2 rlx; Rx rlx", "0 / 1 2 0", Allowed),
    ("S", "Wx 2 rlx; Wy 1 rlx | Ry rlx; Wx 1 rlx", "1 / 2 1 0", Forbidden),
    ("write to read causality", "Wx 1 rlx | Rx rlx; Wy 1 rlx | Ry rlx; Rx rlx", "1 1 0", Forbidden),
    ("read to write causality", "Wx 1 rlx | Rx rlx; Ry rlx | Wy 1 rlx; Rx rlx", "1 0 0", Allowed),
    ("with a fence", "Wx 1 rlx | Rx rlx; Ry rlx | Wy 1 rlx; F sc; Rx rlx", "1 0 0", Forbidden),
    ("coherence", "Wx 1 rlx; Wx 2 rlx | Rx rlx; Rx rlx", "2 1", Forbidden),
    ("a weak exchange does not fail by itself", "cx 0 1 rlx rlx", "0 0", Forbidden),
];

fn axioms_of(model: MemoryModel, program: &Program) -> Outcomes {
    outcomes(program, if model == Tso { Sc::Buffered } else { Sc::Whole })
}

#[test]
fn outcomes_are_those_of_the_models() {
    let all = CASES.iter().chain(TSO_CASES);
    for (name, text, ..) in all {
        let program = program(text);
        let [consistent, buffered] = [Consistent, Tso].map(|model| {
            let (explored, _) = explore_as(model, &program);
            assert_eq!(explored, axioms_of(model, &program), "{model:?} {name}");
            explored
        });
        assert!(consistent.is_subset(&buffered), "{name}");
        assert!(buffered.is_subset(&outcomes(&program, Sc::Standard)), "{name}");
    }
}

#[test]
fn processors_do_what_is_known_of_them() {
    for (name, text, outcome, is) in TSO_CASES {
        let (explored, _) = explore_as(Tso, &program(text));
        assert_eq!(has(&explored, outcome), *is == Allowed, "{name}");
    }
}

#[test]
fn rules_allow_what_the_models_axioms_allow() {
    let mut rng = Rng::new(29);
    let mut n_wider = 0;
    for case in 0..3000 {
        let program = generated(&mut rng, 4 + case % 4, 2 + case % 2);
        let [consistent, buffered] = [Consistent, Tso].map(|model| {
            let (explored, _) = explore_as(model, &program);
            assert_eq!(explored, axioms_of(model, &program), "{model:?} {program:?}");
            explored
        });
        n_wider += u32::from(consistent != buffered);
    }
    // Most of them have nothing to reorder.
    assert_eq!(n_wider, 37);
}
