//! What is outside of the program: descriptors, time, children, code without hooks.

pub(crate) mod forks;
pub(crate) mod io;
pub(crate) mod time;
pub(crate) mod traps;
