//! Says what happened: names of code and memory, what could not be controlled, and the end.

pub(crate) mod end;
pub(crate) mod names;
pub(crate) mod note;
