//! Toy programs: a tiny language, run by the machine under any picker.

pub(crate) mod library;
pub(crate) mod program;
pub(crate) mod vm;
