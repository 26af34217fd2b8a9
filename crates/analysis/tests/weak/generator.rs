//! Small programs of atomics, made at random.

use raddle_model::{MemoryOrder, Rng};

use crate::program::{Instr, Program};

const LOADS: [MemoryOrder; 3] = [MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::SeqCst];
const STORES: [MemoryOrder; 3] = [MemoryOrder::Relaxed, MemoryOrder::Release, MemoryOrder::SeqCst];
const ALL: [MemoryOrder; 5] = [
    MemoryOrder::Relaxed,
    MemoryOrder::Acquire,
    MemoryOrder::Release,
    MemoryOrder::AcqRel,
    MemoryOrder::SeqCst,
];

/// So many instructions, on so many locations.
pub(crate) fn generated(rng: &mut Rng, n_instrs: u32, n_places: u32) -> Program {
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
