//! The program's memory: plain accesses, races, what was freed.

pub(crate) mod bounds;
pub(crate) mod detect;
pub(crate) mod freed;
pub(crate) mod locksets;
pub(crate) mod strength;
pub(crate) mod sync;
mod turns;
pub(crate) mod variables;
pub(crate) mod weak;
