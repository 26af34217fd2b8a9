//! The program's memory: plain accesses, races, what was freed.

pub(crate) mod access;
pub(crate) mod detect;
pub(crate) mod freed;
pub(crate) mod sync;
