//! Steps at which a picker does something else than usual, drawn before the execution begins.
//!
//! Only steps at which more than one thread can go on are counted: a point that falls where there is no
//! choice would be wasted.

use raddle_model::ProfileView;

/// The most points of one execution.
pub(crate) const POINTS_MAX: u32 = 64;

/// How many choices an execution is taken to have when none has been seen.
const CHOICES_GUESSED: u64 = 128;

/// How many choices an execution is expected to have.
pub(crate) fn choices(profile: &ProfileView<'_>) -> u64 {
    if profile.n_choices == 0 { CHOICES_GUESSED } else { profile.n_choices }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    /// The step of each point and its index among those drawn. Invariant: sorted.
    points: Vec<(u64, u32)>,
    /// The next point.
    next: usize,
    /// Choices so far.
    n_choices: u64,
}

impl Points {
    /// Points at these steps, which are counted from 1.
    pub(crate) fn new(steps: impl Iterator<Item = u64>) -> Points {
        let mut points: Vec<(u64, u32)> = steps.zip(0..POINTS_MAX).collect();
        points.sort_unstable();
        Points { points, next: 0, n_choices: 0 }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// One more choice.
    #[inline]
    pub(crate) fn step(&mut self) {
        self.n_choices += 1;
    }

    /// The index of the next point, if it is due at this choice.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        let (step, idx) = *self.points.get(self.next)?;
        if self.n_choices < step {
            return None;
        }
        self.next += 1;
        Some(idx)
    }
}
