//! Generated programs: searches find what the axioms allow.

use raddle_model::{
    MemoryModel::{C11, Sc as Consistent, Tso},
    MemoryOrder::SeqCst,
    Rng,
};

use crate::{
    axioms::{Sc, outcomes},
    explore::{explore, explore_as, within},
    generator::generated,
    program::Instr,
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

#[test]
fn bounded_searches_find_what_axioms_allow_in_the_end() {
    let mut rng = Rng::new(31);
    for case in 0..200 {
        let program = generated(&mut rng, 4 + case % 3, 2 + case % 2);
        for (memory, sc) in [(C11, Sc::Executed), (Tso, Sc::Buffered)] {
            let expected = outcomes(&program, sc);
            for spec in ["ipb", "idb"] {
                let found = explore_as(memory, spec, &program, Branches::Never, 1);
                assert_eq!(found.outcomes, expected, "{memory:?} {spec} {program:?}");
            }
        }
    }
}

#[test]
fn bounded_reduction_finds_what_so_many_preemptions_show() {
    let mut rng = Rng::new(32);
    for case in 0..500 {
        let program = generated(&mut rng, 4 + case % 4, 2 + case % 2);
        for memory in [C11, Tso] {
            for n_preemptions in 0..3 {
                let expected = within(memory, &program, n_preemptions);
                let spec = format!("dpor:preemptions={n_preemptions}");
                let found = explore_as(memory, &spec, &program, Branches::Never, 1);
                assert!(
                    expected.is_subset(&found.outcomes),
                    "{memory:?} {spec} {program:?} {:?}",
                    expected.difference(&found.outcomes).next()
                );
            }
        }
    }
}

#[test]
fn reductions_find_what_total_store_order_allows() {
    let mut rng = Rng::new(30);
    for case in 0..1200 {
        let program = generated(&mut rng, 4 + case % 4, 2 + case % 2);
        let all = explore_as(Tso, "dfs", &program, Branches::AtOdd, 3);
        let expected = outcomes(&program, Sc::Buffered);
        for spec in ["dpor:classic", "dpor", "dpor:optimal"] {
            let found = explore_as(Tso, spec, &program, Branches::Never, 1);
            assert_eq!(found.outcomes, expected, "{spec} {program:?}");
            let found = explore_as(Tso, spec, &program, Branches::AtOdd, 1 + case as usize % 3);
            assert_eq!(found.classes, all.classes, "{spec} {program:?}");
        }
    }
}

/// Where nothing is weaker than sequentially consistent, the memory model costs no executions but such as show nothing new.
#[test]
fn what_is_in_order_takes_no_more_executions() {
    let mut rng = Rng::new(28);
    for case in 0..300 {
        let mut program = generated(&mut rng, 4 + case % 4, 1 + case % 2);
        for instr in program.threads.iter_mut().flatten() {
            *instr = match *instr {
                Instr::Store { at, value, .. } => Instr::Store { at, value, order: SeqCst },
                Instr::Add { at, value, .. } => Instr::Add { at, value, order: SeqCst },
                Instr::Load { at, .. } | Instr::Cas { at, .. } => Instr::Load { at, order: SeqCst },
                Instr::Fence { .. } => Instr::Load { at: 0, order: SeqCst },
            };
        }
        for spec in ["dpor:classic", "dpor", "dpor:optimal"] {
            let counts = [C11, Consistent].map(|memory| {
                let found = explore_as(memory, spec, &program, Branches::Never, 1);
                (found.n_executions - found.n_redundant, found.outcomes)
            });
            assert_eq!(counts[0], counts[1], "{spec} {program:?}");
        }
    }
}
