//! What Raddle knows of Rust's std and of its compiler: names, paths and layouts that nobody promises. Tables and
//! predicates, without anything that acts on them; `tests/toolchain` holds them against the toolchain that is installed.
//!
//! Names are demangled, with the types of generic functions (`{:#}` of `rustc_demangle`), as all compilers since 1.70 write
//! them. Where std has moved a function, old and new paths stand side by side.

mod crates;
mod files;
mod functions;
mod output;
mod panics;
mod parts;

pub use crates::{PERSONALITY, is_glue, is_std_crate, root_crate};
pub use files::{is_compilers, is_registry_crate, is_rust_library};
pub use functions::{
    Doing, Wrapped, called, collection, is_housekeeping, outermost, recognise, wrapped,
};
pub use output::own_lines;
pub use panics::{EXCEPTION_CLASS, PANICKED, PASSED_ON, PAYLOAD_DATA, PAYLOAD_VTABLE};
pub use parts::{Part, is_overflow, part};
