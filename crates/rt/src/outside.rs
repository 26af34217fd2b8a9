//! What is outside of the program: descriptors, time, children, code without hooks.

pub(crate) mod clock;
pub(crate) mod faults;
pub(crate) mod forks;
pub(crate) mod frame;
pub(crate) mod io;
pub(crate) mod near;
pub(crate) mod pauses;
pub(crate) mod traps;
