//! How executions begin: with the process, with `main`, or with a function.

pub(crate) mod check;
pub(crate) mod environment;
pub(crate) mod interface;
pub(crate) mod server;
