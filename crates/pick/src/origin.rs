//! What a picker is made from.

use raddle_model::{PickerSpec, ProfileView};

/// What a picker is made from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Which, with its parameters.
    pub picker: PickerSpec,
    /// What all its random choices come from.
    pub seed: u64,
    /// May waits with a deadline end although others can go on?
    pub may_time_out: bool,
    /// What is known about the threads.
    pub profile: ProfileView<'a>,
}
