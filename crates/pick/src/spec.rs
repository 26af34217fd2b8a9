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

#[cfg(test)]
mod tests {
    use raddle_model::PickerSpec;

    use super::Spec;
    use crate::Tail;

    #[test]
    fn numbers_come_back() {
        let walk = Spec::of(PickerSpec::Walk).picker(1, true);
        assert!(matches!(walk, Some(Tail::Walk(_))), "{walk:?}");
        let nonpreemptive = Spec::of(PickerSpec::Nonpreemptive).picker(1, true);
        assert!(matches!(nonpreemptive, Some(Tail::Nonpreemptive(_))), "{nonpreemptive:?}");
        assert!(Spec { number: 99, params: [0; 2] }.picker(1, true).is_none());
    }
}
