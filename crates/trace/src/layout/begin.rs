//! Where executions begin: with `main`, a function of the program, or a copy of another execution.

use std::sync::atomic::{AtomicI32, AtomicU32};

/// Where executions begin: with `main`, or with a function that the program wants to be explored
/// (`raddle_check`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Begin {
    /// Nobody has called `raddle_check` yet.
    #[default]
    Unknown = 0,
    /// Somebody has: the next process finds out whether executions can begin there.
    Asked = 1,
    /// With the function.
    Function = 2,
    /// With `main`, for they can't begin there.
    Main = 3,
}

impl Begin {
    /// From the segment.
    pub const fn from_number(number: u32) -> Begin {
        match number {
            1 => Begin::Asked,
            2 => Begin::Function,
            3 => Begin::Main,
            _ => Begin::Unknown,
        }
    }
}

/// A copy of an execution that waits at a choice, and from which other executions begin.
#[derive(Debug)]
#[repr(C)]
pub struct Checkpoint {
    /// One of the constants below. The copy sleeps on this word.
    pub state: AtomicU32,
    /// Choices that were made before.
    pub position: u32,
    /// Its process.
    pub process: AtomicI32,
    /// Zero.
    pub reserved: u32,
    /// Steps that were made before.
    pub n_steps: u64,
}

impl Checkpoint {
    /// Nobody is there.
    pub const FREE: u32 = 0;
    /// The execution that comes to this position is to leave a copy there.
    pub const ASKED: u32 = 1;
    /// A copy waits.
    pub const WAITS: u32 = 2;
    /// The copy is to run the block that stands in the segment.
    pub const RUNS: u32 = 3;
    /// No copy can be made of the execution: it holds what a copy would share with it.
    pub const REFUSED: u32 = 4;
}
