//! The interface that compilers instrument against (`-fsanitize=thread`): gcc, clang and rustc.
//!
//! A callback for a plain access comes before the access, so a switch happens inside it; the atomics
//! are performed here.

mod annotations;
mod atomic;
mod function;
pub(crate) use function::{__tsan_func_entry, __tsan_func_exit, NO_RESULT};
mod java;
mod other;
pub(crate) use other::is_shared_world;
mod plain;
pub(crate) use plain::NEAR;
mod sanitizer;
