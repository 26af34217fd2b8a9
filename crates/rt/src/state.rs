//! What is known about the program, part by part: the fields of `Control`.

pub(crate) mod heap;
pub(crate) mod shadow;
