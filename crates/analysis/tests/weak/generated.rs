//! Generated programs: the rules allow what the axioms allow.

use raddle_model::{MemoryOrder, Rng};

use crate::{
    axioms::{Sc, outcomes},
    explored::explore,
    program::{Instr, Program},
};

const LOADS: [MemoryOrder; 3] = [MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::SeqCst];
const STORES: [MemoryOrder; 3] = [MemoryOrder::Relaxed, MemoryOrder::Release, MemoryOrder::SeqCst];
const ALL: [MemoryOrder; 5] = [
    MemoryOrder::Relaxed,
    MemoryOrder::Acquire,
    MemoryOrder::Release,
    MemoryOrder::AcqRel,
    MemoryOrder::SeqCst,
];

fn generated(rng: &mut Rng, n_instrs: u32, n_places: u32) -> Program {
    let n_threads = 2 + rng.below(3.min(n_instrs / 2)) as usize;
    let mut threads = vec![Vec::new(); n_threads];
    for idx in 0..n_instrs {
        // Each has one at least, and values tell stores apart.
        let thread = match idx as usize {
            idx if idx < n_threads => idx,
            _ => rng.below(n_threads as u32) as usize,
        };
        threads[thread].push(instr(rng, u64::from(idx) + 1, n_places));
    }
    Program { threads }
}

fn instr(rng: &mut Rng, value: u64, n_places: u32) -> Instr {
    let at = rng.below(n_places) as usize;
    let load = LOADS[rng.below(3) as usize];
    let any = ALL[rng.below(5) as usize];
    match rng.below(12) {
        0..4 => Instr::Load { at, order: load },
        4..8 => Instr::Store { at, value, order: STORES[rng.below(3) as usize] },
        8 => Instr::Add { at, value: value * 100, order: any },
        9 => Instr::Cas {
            at,
            expected: u64::from(rng.below(4)),
            new: value,
            order: any,
            failure: load,
            is_weak: rng.below(2) == 0,
        },
        _ => Instr::Fence { order: ALL[1 + rng.below(4) as usize] },
    }
}

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
