//! What the runtime stands on: memory of its own, the C library's functions behind ours, the kernel's files; and a last word.

pub(crate) mod apart;
pub(crate) mod arena;
pub(crate) mod debug;
pub(crate) mod die;
pub(crate) mod locals;
pub(crate) mod maps;
pub(crate) mod random;
pub(crate) mod real;
pub(crate) mod signal_stack;
pub(crate) mod time;
