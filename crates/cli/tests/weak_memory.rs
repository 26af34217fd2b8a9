//! Searches under `--memory-model c11` and `tso`, over litmus tests as programs: what the rules allow is found, what they forbid is
//! not, and then the search says that it has explored everything.

#[path = "../../analysis/tests/weak/axioms.rs"]
mod axioms;
#[path = "../../analysis/tests/weak/cases.rs"]
mod cases;
mod common;
#[path = "../../analysis/tests/weak/program.rs"]
mod program;

use std::path::Path;

use common::{explored, folder, write};

use crate::{
    axioms::{Sc, outcomes},
    cases::{CASES, Is, has},
    program::{Outcome, Outcomes, program},
};

/// Does a search find an outcome of a litmus test? If not, it must have explored everything.
fn finds(folder: &Path, [model, strategy]: [&str; 2], text: &str, outcome: &str) -> bool {
    let args = ["run", "litmus.c", "--memory-model", model, "--strategy", strategy];
    let args = [&args[..], &["--progress", "none", "--no-explain", "--execs", "200000"]].concat();
    let output = explored(folder, &[&args[..], &["--", text, outcome]].concat());
    let told = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(2) => true,
        Some(0) => {
            assert!(told.contains("all schedules were explored"), "{strategy} {text}: {told}");
            assert!(!told.contains("sequentially consistent"), "{strategy} {text}: {told}");
            false
        }
        code => panic!("{code:?} {text}: {told}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn check(strategy: &str, wanted: impl Fn(&str) -> bool) {
    let folder = folder();
    write(folder.path(), "litmus.c", include_str!("litmus.c"));
    let mut n_cases = 0;
    for (name, text, outcome, is) in CASES.iter().filter(|it| wanted(it.1)) {
        let by = |sc| has(&outcomes(&program(text), sc), outcome);
        assert_eq!(
            [by(Sc::Executed), by(Sc::Standard)],
            [*is == Is::Allowed, *is != Is::Forbidden]
        );
        let found = finds(folder.path(), ["c11", strategy], text, outcome);
        assert_eq!(found, *is == Is::Allowed, "{strategy} {name}: {text}: {outcome}");
        n_cases += 1;
    }
    assert!(n_cases >= 20, "{n_cases}");
}

#[test]
fn dpor_finds_what_is_allowed_and_nothing_else() {
    check("dpor", |_| true);
}

#[test]
fn optimal_dpor_finds_what_is_allowed_and_nothing_else() {
    check("dpor:optimal", |_| true);
}

/// Of small ones.
#[test]
fn dfs_finds_what_is_allowed_and_nothing_else() {
    check("dfs", |text| {
        let program = program(text);
        program.threads.len() == 2 && program.threads.iter().map(Vec::len).sum::<usize>() <= 4
    });
}

/// Under total store order, what its axioms allow.
#[test]
fn dpor_finds_what_total_store_order_allows() {
    let folder = folder();
    write(folder.path(), "litmus.c", include_str!("litmus.c"));
    let mut n_found = 0;
    for (name, text, outcome, _) in CASES {
        let by = |sc| has(&outcomes(&program(text), sc), outcome);
        let expected = by(Sc::Buffered);
        assert!(expected || !by(Sc::Whole), "{name}");
        let found = finds(folder.path(), ["tso", "dpor"], text, outcome);
        assert_eq!(found, expected, "{name}: {text}: {outcome}");
        n_found += u32::from(found);
    }
    assert!(n_found >= 4, "{n_found}");
}

/// The program and the tables write outcomes in the same way.
#[test]
fn outcomes_are_written_as_the_program_writes_them() {
    let outcomes = Outcomes::from([Outcome { reads: vec![1, 0], end: [1, 2, 0] }]);
    assert!(has(&outcomes, "1 0") && has(&outcomes, "1 0 / 1 2 0") && !has(&outcomes, "0 0"));
}
