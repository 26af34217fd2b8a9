//! Families of programs whose executions can be counted by hand: which store each load reads, and how the stores to each
//! location stand. The counts are those of searches that explore one execution for each of these (GenMC and others).

use raddle_model::MemoryModel::{self, C11, Tso};

use crate::{explore::explore_as, program::program, vm::Branches};

/// So many threads that do the same.
fn threads(n_threads: u64, text: &str) -> String {
    vec![text; n_threads as usize].join(" | ")
}

fn check(memory: MemoryModel, text: &str, expected: u64) {
    for spec in ["dpor", "dpor:optimal"] {
        let found = explore_as(memory, spec, &program(text), Branches::Never, 1);
        let counts = (found.n_executions, found.classes.len() as u64);
        assert_eq!(counts, (expected, expected), "{memory:?} {spec} {text}");
    }
}

#[test]
fn readers_see_the_store_or_not() {
    for n in 1..=6 {
        check(C11, &format!("Wx 1 rlx | {}", threads(n, "Rx rlx")), 1 << n);
        check(Tso, &format!("Wx 1 rlx | {}", threads(n, "Rx rlx")), 1 << n);
    }
    for n in 1..=4 {
        check(
            C11,
            &format!("Wx 1 rlx; Wx 2 rlx; Wx 3 rlx | {}", threads(n, "Rx acq")),
            4_u64.pow(n as u32),
        );
    }
}

/// Each store, each read-modify-write after each other one.
#[test]
fn writers_come_in_every_order() {
    for (n, expected) in [(2, 2), (3, 6), (4, 24)] {
        for text in ["Wx 1 rlx", "Wx 1 sc", "Ux 1 rlx", "Ux 1 acqrel"] {
            check(C11, &threads(n, text), expected);
            check(Tso, &threads(n, text), expected);
        }
    }
}

/// Pairs of loads of which each sees its store or not, independently, where nothing orders the stores and the loads.
#[test]
fn relaxed_loads_are_independent() {
    check(C11, "Wx 1 rlx; Wy 1 rlx | Ry rlx; Rx rlx", 4);
    check(C11, "Wx 1 rlx; Wy 1 rel | Ry acq; Rx rlx", 3);
    check(Tso, "Wx 1 rlx; Wy 1 rlx | Ry rlx; Rx rlx", 3);
}

/// Store buffering has four executions, independent readers of independent stores sixteen. The one in which one of two loads
/// has to be stale is explored once for each of the two.
#[test]
fn either_of_two_stale_loads_is_explored() {
    for (text, n_executions, n_classes) in [
        ("Wx 1 rlx; Ry rlx | Wy 1 rlx; Rx rlx", 5, 4),
        ("Wx 1 rlx | Wy 1 rlx | Rx rlx; Ry rlx | Ry rlx; Rx rlx", 17, 16),
    ] {
        let found = explore_as(C11, "dpor", &program(text), Branches::Never, 1);
        assert_eq!((found.n_executions, found.classes.len()), (n_executions, n_classes), "{text}");
    }
}
