//! What the runtime knows of memory and registers that others lay out: glibc's structures, the processor's conventions.
//! Another C library or processor would be another file here. The entries of hooks are by their hooks, in assembly, too.

pub(crate) mod glibc;
pub(crate) mod x86_64;
