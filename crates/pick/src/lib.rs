//! Pickers: what chooses the next thread, inside an execution.
//!
//! A picker sees a [`View`] and nothing else: no clock, no environment, no addresses. The same picker
//! shown the same views picks the same threads. Pickers are small and do not allocate from step to step:
//! they run inside the program, between two of its steps, and what they keep for each thread grows when a
//! thread appears.
//!
//! A new picker is a file here with a type that is a `Picker`, a line in the list of [`AnyPicker`] (`any`), and
//! a variant of `raddle_model::PickerSpec` with its number.

mod any;
mod awake;
mod by_age;
mod chooser;
mod constrained;
mod delay;
mod dice;
mod draws;
mod fair;
#[cfg(test)]
mod fake;
mod nonpreemptive;
mod origin;
mod pct;
mod pending;
mod points;
mod pos;
mod priorities;
mod ranked;
mod roles;
mod rpro;
mod rstest;
mod sites;
mod sticky;
mod stride;
mod surw;
mod switches;
mod urw;
mod view;
mod walk;
mod weights;

pub use any::AnyPicker;
pub use awake::Awake;
pub use by_age::ByAge;
pub use chooser::Chooser;
pub use constrained::Constrained;
pub use delay::Delay;
pub use nonpreemptive::Nonpreemptive;
pub use origin::Origin;
pub use pct::Pct;
pub use pos::Pos;
pub use ranked::Ranked;
pub use rstest::Rstest;
pub use sites::Sites;
pub use sticky::Sticky;
pub use stride::Stride;
pub use surw::Surw;
pub use switches::Switches;

pub use urw::Urw;
pub use view::{Threads, View};
pub use walk::Walk;
