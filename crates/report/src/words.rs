//! What one value is called: a place, a step, what went wrong, why that is only potential. A file for each kind of
//! value; who tells a whole finding or campaign takes its words from here.

pub(crate) mod access;
pub(crate) mod act;
pub(crate) mod delays;
pub(crate) mod doubt;
pub mod escape;
pub mod fault;
pub(crate) mod gap;
pub(crate) mod history;
pub mod likelihood;
pub mod minimised;
pub(crate) mod names;
pub(crate) mod orders;
pub(crate) mod place;
pub(crate) mod scope;
pub(crate) mod steps;
pub(crate) mod strength;
