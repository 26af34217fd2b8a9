//! An execution whose steps are spent, on trial (`schedule/budget`).

use raddle_model::Rng;

/// See the module.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) rng: Rng,
    /// Choices left that are random, and then those that go round.
    pub(crate) n_random: u64,
    pub(crate) n_turns: u64,
    /// Choices since threads take turns, and how many there are to be before a state is kept.
    pub(crate) n_taken: u64,
    pub(crate) keep_at: u64,
    pub(crate) kept: Option<State>,
    pub(crate) n_compared: u32,
}

/// A state that may come again.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) outline: u64,
    pub(crate) stacks_and_objects: u64,
    pub(crate) memory: u64,
    pub(crate) outside: u64,
    /// The step before which it was.
    pub(crate) step: u64,
    /// How often it has come again, and how often only its outline has.
    pub(crate) n_repeats: u32,
    pub(crate) n_alike: u64,
    /// By thread: has it been able to go on since, and has it gone on?
    pub(crate) could: Vec<bool>,
    pub(crate) went: Vec<bool>,
}

impl Trial {
    pub(crate) fn new(max_steps: u64) -> Trial {
        Trial {
            rng: Rng::new(0),
            n_random: (max_steps / 64).clamp(1 << 10, 1 << 14),
            n_turns: (max_steps / 16).clamp(1 << 12, 1 << 16),
            n_taken: 0,
            keep_at: 1,
            kept: None,
            n_compared: 0,
        }
    }
}
