//! What flows where in a program's machine code: which reads decide a branch, what an access is to, which lock
//! is taken, or what is written.
//!
//! The program was compiled with the hooks of `-fsanitize=thread`, so every access to memory that others could
//! see stands right behind a call that announces it: the call's return address is the *place* of the access,
//! as traces know it. Between those, values go through registers and the stack, and that is followed here:
//! each function is interpreted once with sets of sources in place of values (`function`), joined where ways
//! meet, until nothing changes; then arguments and results are passed between functions (`program`), whoever
//! calls. What a branch decides flows into everything that is computed on only one of its ways.
//!
//! Where nothing is known (memory without a hook, functions of other libraries, calls through pointers), the
//! source is `Unknown`, and what it flows into depends on every read that its thread may make. A function that
//! can't be followed at all (jumps through tables, stacks of variable size) is *irregular*: its branches are
//! unknown, and it is named.
//!
//! What it misses: who else calls a function through a pointer with which arguments is taken from all calls
//! through pointers and from `pthread_create`, and not from libraries; and what a try for a lock returns flows
//! from nothing.

mod binary;
mod function;
mod hooks;
mod program;
mod resolve;
mod runtime;
mod sources;
mod state;

use std::{collections::BTreeMap, path::Path};

use raddle_model::flows::Flows;

pub use binary::SliceError;

/// What was found out about a program.
#[derive(Clone, Debug, Default)]
pub struct Sliced {
    /// What flows where, by places.
    pub flows: Flows,
    /// By place: its address in the file.
    pub addresses: BTreeMap<u64, u64>,
    /// Places where something is compared and exchanged, as locks do; by their addresses in the file.
    pub exchanges: BTreeMap<u64, u64>,
    /// Functions that could not be followed.
    pub irregular: Vec<String>,
    /// Functions that were.
    pub n_functions: usize,
}

/// Looks through a program's code. `module`: its path, as traces have it.
pub fn slice(path: &Path, module: &str) -> Result<Sliced, SliceError> {
    let binary = binary::Binary::read(path)?;
    Ok(program::slice(&binary, module))
}
