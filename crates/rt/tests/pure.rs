//! The parts of the runtime that know nothing of the program around them, with their unit tests.
//!
//! The library itself can't be a test binary: its symbols would replace those of the C library there. So these files are
//! compiled once more, without the rest.

#![expect(unsafe_code, reason = "the stack of calls is memory of its own")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "as in the runtime itself")]
#![expect(dead_code, reason = "the rest of the runtime uses more of them than their tests do")]

#[path = "../src/base/arena.rs"]
mod arena;
#[path = "../src/schedule/budget/circles.rs"]
mod circles;
#[path = "../src/abi/glibc.rs"]
mod glibc;
#[path = "../src/state/detect/keys.rs"]
mod keys;
#[path = "../src/record/stack.rs"]
mod stack;
#[path = "../src/record/ways.rs"]
mod ways;
