//! What is told of an execution, and what its names are made of: values that know nothing of the rest.

pub(crate) mod brief;
pub(crate) mod coverage;
pub(crate) mod emit;
pub(crate) mod library;
pub(crate) mod modules;
pub(crate) mod panics;
pub(crate) mod stack;
pub(crate) mod stacks;
pub(crate) mod ways;
