//! A native program as something that can be run: how it is built (`raddle cc`, `raddle run x.c`),
//! what kind of file it is, the runtime library that lives in it, and the names in its tables.
//!
//! Nothing here prints: errors are values, and the compiler's own output passes through.

mod asked;
mod blocked;
mod cache;
pub mod cargo;
mod cc;
mod changes;
mod checkpoints;
mod compile;
pub mod debugger;
mod elf;
mod fault;
mod native;
mod options;
#[expect(unsafe_code, reason = "signals processes")]
mod processes;
mod runtime;
#[expect(unsafe_code, reason = "shares memory with the program, and prepares its process")]
mod server;
mod session;
mod shell;
mod symbols;
mod watchdog;

pub use asked::Asked;
pub use cache::{Cache, CacheError};
pub use cc::{CcError, CompilerChoice, Language, Toolchain, driver};
pub use changes::{Changed, ChangesError, changed_since};
pub use compile::{CompileError, CompileRequest, Compiled, compile};
pub use elf::{Executable, ExecutableError, Hooks, inspect, unhooked_code};
pub use fault::Fault;
pub use native::Native;
pub use options::NativeOptions;
pub use runtime::{HEADER, HEADERS, RUNTIME_HASH, RUNTIME_NAME, extract_runtime};
pub use shell::shell;
pub use symbols::{Symbols, demangled, library_code};
