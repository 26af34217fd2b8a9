//! What is known about the program, part by part: the fields of `Control`.

pub(crate) mod accesses;
pub(crate) mod check;
pub(crate) mod detect;
pub(crate) mod forks;
pub(crate) mod heap;
pub(crate) mod io;
pub(crate) mod keys;
pub(crate) mod listing;
pub(crate) mod locksets;
pub(crate) mod shadow;
pub(crate) mod signals;
pub(crate) mod thread;
pub(crate) mod timers;
pub(crate) mod trial;
pub(crate) mod waiting;
pub(crate) mod weak;
