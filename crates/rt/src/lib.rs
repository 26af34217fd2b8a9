//! The part that lives inside the program under test.
//!
//! Ground rules, for every line of this crate:
//!
//! - A hook first asks `control::enter`; if that gives no token, the real function runs and nothing else.
//! - Nothing here calls a function that we hook, except through `real` or as a raw system call.
//! - Nothing here allocates from the program's heap (our allocator is `base/arena`), prints, or unwinds.
//! - One thread of the program runs at a time, and only that one is in here: `control` is global
//!   state without locks. Threads that Raddle did not create are turned away by `enter`.
//! - The state is reached through the token (`control::Inside`). What may switch to another thread takes the token whole,
//!   so no borrow of the state lives across a switch. Where code runs that was handed no token (the server, signal
//!   handlers, the fast paths of plain accesses), `control::control` is the way, for one statement at a time.
//! - No pointer leaves this crate: objects and sites are numbered here.
//! - Frames that code of the program may unwind through are `C-unwind` and have nothing to drop.
//!
//! Its folders, each of which uses only those before it (`crates/tidy` holds that):
//!
//! - `abi`: what glibc and the processor lay out. `base`: what we stand on: our heap (`arena`), the C library's functions behind ours (`real`), a last word (`die`).
//! - `record`: what is told of an execution, and what names are made of. `state`: what is known about the program, part
//!   by part. Values without behaviour of the whole: `control` holds them all, and says who may touch them.
//! - `process`: what goes to the launcher and comes from it; rewinding, live copies.
//! - `tell`: names of code and memory, notes, the end of an execution.
//! - `memory`: which memory is shared, races, what was freed.
//! - `schedule`: a step (`step`), a plain access that may become one (`access`), threads, signals, timers, who waits in
//!   loops, and when it is enough. These files call each other in circles, for a step runs handlers that take steps.
//! - `outside`: descriptors, clocks, children, faults, code without hooks.
//! - `hooks`: functions of the C library and of the instrumentation, a file for each header.
//! - `begin`: how an execution begins, and what puts all of the above to work.

#![expect(unsafe_code, reason = "stands in for the C library inside a running program")]
#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "nearly every line here is a C interface; blocks are kept to one thought instead"
)]

mod abi;
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
