//! The part that lives inside the program under test.
//!
//! Ground rules, for every line of this crate:
//!
//! - A hook first asks `control::enter`; if that gives no token, the real function runs and nothing else.
//! - Nothing here calls a function that we hook, except through `real` or as a raw system call.
//! - Nothing here allocates from the program's heap (our allocator is `arena`), prints, or unwinds.
//! - One thread of the program runs at a time, and only that one is in here: `control` is global
//!   state without locks. Threads that Raddle did not create are turned away by `enter`.
//! - The state is reached through the token (`control::Inside`). What may switch to another thread takes the token whole,
//!   so no borrow of the state lives across a switch. Where code runs that was handed no token (the server, signal
//!   handlers, the fast paths of plain accesses), `control::control` is the way, for one statement at a time.
//! - No pointer leaves this crate: objects and sites are numbered here.
//! - Frames that code of the program may unwind through are `C-unwind` and have nothing to drop.

#![expect(unsafe_code, reason = "stands in for the C library inside a running program")]
#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "nearly every line here is a C interface; blocks are kept to one thought instead"
)]

mod base;
mod begin;
mod control;
mod hooks;
mod memory;
mod outside;
mod process;
mod record;
mod schedule;
mod state;
mod tell;
