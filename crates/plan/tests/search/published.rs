//! Seed paper 2's algorithms as it prints them, against every schedule.

use std::collections::BTreeSet;

use expect_test::expect;
use raddle_model::PickerSpec;
use raddle_plan::search::{HapSets, Run, SearchSpec, Start};

use crate::{
    explore::{Found, How, explore_as},
    toy::{
        library::*,
        program::{If, Ins::*, Program, Val::Is, Var::At},
        vm::Toy,
    },
};

const HOW: How = How {
    n_workers: 1,
    seed: 0,
    may_time_out: false,
    save_every: None,
    max: 2_000_000,
    has_classes: false,
    has_silent_releases: false,
};

fn found(spec: &str, program: &Program) -> Found {
    explore_as(spec, program, HOW)
}

fn executions(spec: &str, program: &Program) -> usize {
    found(spec, program).schedules.len()
}

/// Two steps of one thread on p, between them one of another, by Algorithm 1: an access of the own thread hides
/// nothing, so e3 has e1 in its set, which Figure 1 does not print.
#[test]
fn learned_by_algorithm_1() {
    let allocates = vec![Store(At(0), Is(1)), Store(At(0), Is(0))];
    let uses = vec![Load(0, At(0)), Goto(If::Equal(0, 0), 4), Load(1, At(0)), Store(At(1), Is(10))];
    let program = Program::new("figure 1", vec![allocates, uses]);
    let learned = |spec: &str| {
        let mut search = SearchSpec::parse(spec).expect("its name").start(Start::default());
        let mut run = Run::default();
        Toy::new(program.clone()).run(&[0, 1, 1, 1, 0], PickerSpec::Nonpreemptive, &mut run);
        search.teach(&run);
        let sets: &HapSets = search.covered().expect("it is guided");
        sets.iter().map(|(pair, _)| (pair.site, pair.predecessor)).collect::<BTreeSet<_>>()
    };
    assert_eq!(learned("hapset"), BTreeSet::from([(101, 1), (2, 103)]));
    assert_eq!(learned("hapset:paper"), BTreeSet::from([(101, 1), (103, 1), (2, 103)]));
    assert_eq!(learned("hapset:pcb=1"), learned("hapset:paper"));
}

/// Persistent sets lose no outcome: what `dpor:plain` misses is listed, and only where a thread can't go on.
#[test]
fn plain_misses_only_what_waits() {
    let mut missed = Vec::new();
    for program in small() {
        let all = found("dfs", &program).outcomes;
        let plain = found("dpor:plain", &program).outcomes;
        assert!(plain.is_subset(&all), "{}", program.name);
        if plain != all {
            missed.push(format!("{} {} of {}", program.name, plain.len(), all.len()));
        }
    }
    expect!["dinphil_2 2 of 3"].assert_eq(&missed.join("\n"));
}

/// A bound of K lets no execution have more than K preemptions, and a larger one misses nothing that the smaller
/// one finds.
#[test]
fn bounds_are_kept() {
    for program in [inc(3), lastzero(3), twostage(2), wronglock(2), dinphil(3)] {
        let within = |max: u32| found(&format!("ipb:{max}"), &program).outcomes;
        let mut before = BTreeSet::new();
        for max in 0..4 {
            let bounded = found(&format!("pcb:{max}"), &program);
            assert!(bounded.outcomes.is_subset(&within(max)), "{} pcb:{max}", program.name);
            assert!(bounded.outcomes.is_superset(&before), "{} pcb:{max}", program.name);
            assert!(bounded.progress.is_cut, "it claims nothing of the rest");
            before = bounded.outcomes;
        }
    }
}

/// Executions: `dpor:plain`, `dpor:classic` (with sleep sets), `pcb:0`, `pcb:1`, `pcb:2`, `hapset:paper`,
/// `hapset:pcb=2`.
#[test]
fn executions_of_each_form() {
    let mut table = String::new();
    for program in [inc(2), inc(3), lastzero(4), reorder(3), twostage(2), wronglock(2), dinphil(3)]
    {
        table += &format!("{:14}", program.name);
        for spec in [
            "dpor:plain",
            "dpor:classic",
            "pcb:0",
            "pcb:1",
            "pcb:2",
            "hapset:paper",
            "hapset:pcb=2",
        ] {
            table += &format!(" {:5}", executions(spec, &program));
        }
        table += "\n";
    }
    expect![[r#"
        inc_2              6     4     1     4     6     3     3
        inc_3             90    36     1    24    60     9    15
        lastzero_4       126    51     5   115   747     8    11
        reorder_3        129    56     6    22    70     9     9
        twostage_2         4     3     2     3     4     3     3
        wronglock_1_2    304    48     2    12    48    13    13
        dinphil_3         12     8     1    15    18     4     6
    "#]]
    .assert_eq(&table);
}
