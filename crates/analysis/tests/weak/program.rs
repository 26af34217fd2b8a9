//! Small programs of atomics, written down in one line.
//!
//! Threads are separated by `|`, instructions by `;`: `Wx 1 rlx` stores, `Rx acq` loads, `Ux 5 acqrel` adds, `Cx 0 1 sc rlx`
//! compares and exchanges (`c` the weak one), `F sc` is a fence. Locations are `x`, `y`, `z`, and hold 0.

use std::{collections::BTreeSet, fmt};

use raddle_model::MemoryOrder;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instr {
    Load {
        at: usize,
        order: MemoryOrder,
    },
    Store {
        at: usize,
        value: u64,
        order: MemoryOrder,
    },
    Add {
        at: usize,
        value: u64,
        order: MemoryOrder,
    },
    Cas {
        at: usize,
        expected: u64,
        new: u64,
        order: MemoryOrder,
        failure: MemoryOrder,
        is_weak: bool,
    },
    Fence {
        order: MemoryOrder,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Instr>>,
}

pub(crate) const N_PLACES: usize = 3;

/// What the threads have read, in their order (of a compare-exchange also whether it has exchanged), and what the
/// locations hold in the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Outcome {
    pub(crate) reads: Vec<u64>,
    pub(crate) end: [u64; N_PLACES],
}

pub(crate) type Outcomes = BTreeSet<Outcome>;

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        write!(f, "{} / {}", text(&self.reads), text(&self.end))
    }
}

pub(crate) fn program(text: &str) -> Program {
    let threads = text.split('|').map(|it| it.split(';').map(|it| instr(it.trim())).collect());
    Program { threads: threads.collect() }
}

fn instr(text: &str) -> Instr {
    let words: Vec<&str> = text.split(' ').collect();
    let number = |idx: usize| words[idx].parse().expect("a number");
    let order_at = |idx: usize| order(words[idx]);
    let at = words[0].as_bytes().get(1).map_or(0, |it| usize::from(it - b'x'));
    match words[0].as_bytes()[0] {
        b'R' => Instr::Load { at, order: order_at(1) },
        b'W' => Instr::Store { at, value: number(1), order: order_at(2) },
        b'U' => Instr::Add { at, value: number(1), order: order_at(2) },
        kind @ (b'C' | b'c') => Instr::Cas {
            at,
            expected: number(1),
            new: number(2),
            order: order_at(3),
            failure: order_at(4),
            is_weak: kind == b'c',
        },
        b'F' => Instr::Fence { order: order_at(1) },
        _ => panic!("unknown: {text}"),
    }
}

fn order(text: &str) -> MemoryOrder {
    match text {
        "rlx" => MemoryOrder::Relaxed,
        "acq" => MemoryOrder::Acquire,
        "rel" => MemoryOrder::Release,
        "acqrel" => MemoryOrder::AcqRel,
        "sc" => MemoryOrder::SeqCst,
        _ => panic!("unknown: {text}"),
    }
}
