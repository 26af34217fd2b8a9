//! The process between executions: what goes to the launcher and comes from it, going back, and copies.

pub(crate) mod checkpoint;
pub(crate) mod launcher;
pub(crate) mod rewind;
