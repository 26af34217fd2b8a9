//! Pickers: what chooses the next thread, inside an execution.
//!
//! A picker sees a [`View`] and nothing else: no clock, no environment, no addresses. The same picker
//! shown the same views picks the same threads. Pickers are small and do not allocate: they run
//! inside the program, between two of its steps.
//!
//! A new picker is a file here with a type that has `pick` and `choose`, a variant of [`Tail`], and a
//! number in [`Spec`].

mod chooser;
#[cfg(test)]
mod fake;
mod nonpreemptive;
mod spec;
mod view;
mod walk;

pub use chooser::{Chooser, Tail};
pub use nonpreemptive::Nonpreemptive;
pub use spec::Spec;
pub use view::{Threads, View};
pub use walk::Walk;
