//! Pickers: what chooses the next thread, inside an execution.
//!
//! A picker sees a [`View`] and nothing else: no clock, no environment, no addresses. The same picker
//! shown the same views picks the same threads. Pickers are small and do not allocate from step to step:
//! they run inside the program, between two of its steps, and what they keep for each thread grows when a
//! thread appears.
//!
//! A new picker is a file in `pickers/` with a type that is a `Picker`, a line in the list of [`AnyPicker`] (`pickers`), and
//! a variant of `raddle_model::PickerSpec` with its number.

mod chooser;
mod dice;
mod draws;
mod fair;
#[cfg(test)]
mod fake;
mod origin;
mod pending;
mod pickers;
mod points;
mod priorities;
mod reads;
mod roles;
mod view;
mod weights;

pub use chooser::Chooser;
pub use origin::Origin;
pub use pickers::{
    AnyPicker, Awake, ByAge, Constrained, Delay, Directed, Nonpreemptive, Pct, Pos, Ranked, Rff,
    Rstest, Sites, Sticky, Stride, Surw, Switches, Urw, Walk,
};

pub use view::{Threads, View};
