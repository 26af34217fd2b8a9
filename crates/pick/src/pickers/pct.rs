//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010): threads have
//! random priorities, the highest that can go on does, and at d - 1 steps drawn before the execution
//! begins, the running thread is lowered to the index of that change point.
//!
//! Bound: a bug of depth d (d ordering constraints suffice for it) is found with probability at least
//! 1 / (n k^(d-1)), for n threads and k steps.
//!
//! Where we depart: k and the change points count only steps at which more than one thread can go on, for a
//! change where there is no choice is wasted; k is the most choices seen in one execution so far; the
//! depth may be given, drawn for each execution (1, 2, 3 and 4 to 8 with a quarter each, for every depth
//! has bugs that the next one ruins), or the deepest whose bound is good enough,
//! which is how seed paper 4 uses PCT; threads that appear later get a random rank; timed waits end one
//! time in sixteen; fair spells (`fair`).

use raddle_model::{Depth, ThreadId};

use crate::{
    dice::Dice,
    fair::Fair,
    origin::Origin,
    points::{POINTS_MAX, Points, choices},
    priorities::Priorities,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Pct {
    dice: Dice,
    fair: Fair,
    points: Points,
    priorities: Priorities,
}

impl Pct {
    pub(crate) fn new(origin: &Origin<'_>, depth: Depth) -> Pct {
        let mut dice = Dice::new(origin.seed, origin.may_time_out);
        let k = choices(&origin.profile);
        let n_threads = u64::from(origin.profile.n_threads.max(2));
        // The bound is n k^(d-1) to one.
        let depth = resolve(depth, &mut dice, |depth| n_threads.checked_mul(power(k, depth - 1)?));
        let points = Points::new((1..depth).map(|_| 1 + dice.below_wide(k)));
        Pct::with_points(dice, points)
    }

    /// With change points that were drawn otherwise.
    pub(crate) fn with_points(dice: Dice, points: Points) -> Pct {
        let priorities = Priorities::new(points.len());
        Pct { dice, fair: Fair::new(), points, priorities }
    }
}

/// The depth of one execution. `odds` gives the bound for a depth as "one in so many", if that is a number.
pub(crate) fn resolve(depth: Depth, dice: &mut Dice, odds: impl Fn(u32) -> Option<u64>) -> u32 {
    let deepest = POINTS_MAX;
    match depth {
        Depth::Fixed(depth) => depth.clamp(1, deepest),
        Depth::Drawn => match dice.below(4) {
            3 => 4 + dice.below(5),
            depth => 1 + depth,
        },
        Depth::Guaranteed(one_in) => {
            let is_enough = |depth: &u32| odds(*depth).is_some_and(|it| it <= one_in);
            (2..=deepest).take_while(is_enough).last().unwrap_or(1)
        }
    }
}

/// `base` to the power of `exponent`, if that is a number of 64 bits.
pub(crate) fn power(base: u64, exponent: u32) -> Option<u64> {
    base.checked_pow(exponent)
}

impl Picker for Pct {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if let Some(thread) = self.dice.timed(view.threads) {
            return thread;
        }
        let mut thread = self.priorities.next(view.threads, &mut self.points, &mut self.dice);
        if self.fair.is_due() {
            thread = self.dice.uniform(view.threads);
        }
        self.priorities.perform(thread, view.threads);
        thread
    }

    #[inline]
    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        self.priorities.perform(thread, view.threads);
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
