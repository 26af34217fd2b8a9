//! Pickers as numbers, for the shared segment.

use raddle_model::{PickerSpec, Rng};

use crate::{chooser::Tail, nonpreemptive::Nonpreemptive, walk::Walk};

/// A picker's number and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Which picker.
    pub number: u32,
    /// Its parameters; 0 where it has fewer.
    pub params: [u64; 2],
}

impl Spec {
    /// The numbers of a picker.
    pub const fn of(picker: PickerSpec) -> Spec {
        let number = match picker {
            PickerSpec::Nonpreemptive => 0,
            PickerSpec::Walk => 1,
        };
        Spec { number, params: [0; 2] }
    }

    /// The picker, ready to pick.
    pub const fn picker(self, seed: u64, may_time_out: bool) -> Option<Tail> {
        match self.number {
            0 => Some(Tail::Nonpreemptive(Nonpreemptive)),
            1 => Some(Tail::Walk(Walk::new(Rng::new(seed), may_time_out))),
            _ => None,
        }
    }
}
