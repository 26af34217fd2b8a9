//! A native program as something that can be run: how it is built (`raddle cc`, `raddle run x.c`),
//! what kind of file it is, the runtime library that lives in it, and the names in its tables.
//!
//! Nothing here prints: errors are values, and the compiler's own output passes through.

mod cache;
mod cc;
mod compile;
mod elf;
mod fault;
mod runtime;
mod symbols;

pub use cache::{Cache, CacheError};
pub use cc::{CcError, CompilerChoice, Language, Toolchain, driver};
pub use compile::{CompileError, CompileRequest, Compiled, compile};
pub use elf::{Executable, ExecutableError, Hooks, inspect};
pub use fault::Fault;
pub use runtime::{RUNTIME_HASH, RUNTIME_NAME, extract_runtime};
pub use symbols::Symbols;
