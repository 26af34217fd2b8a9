//! Randomized stride (Abdelrasoul, seed paper 4): a thread that is chosen runs for a random number of its
//! events, uniform in 1 ..= smax, before the next is chosen.
//!
//! A random walk hardly ever lets a long thread end before a short one begins: the two orders of a pair of
//! events are the more unlike in probability the longer the threads. With strides in proportion to the
//! thread's length L, the least likely order, a_L before b_1, has a probability that depends on
//! r = L / smax alone. Bound, for this one edge between two threads that never block (see `raddle_plan::ratio`):
//!
//! P(r) = 1 - 1/2 Σ_{j <= r} (-1)^j / j! ((r - j) / 2)^j e^((r - j) / 2), about 0.661 e^(-1.2564 r)
//!
//! `raddle_plan::ratio` has the sum, and the r for a confidence over a number of executions. There is no
//! bound for more than one edge at a time: strides are traded against switches.
//!
//! Where we depart from the paper: lengths are those of threads of the same role, not number; they count
//! all events since there has been a second thread, because the paper's count (events while others could
//! go on) leaves out exactly what a long thread does after the short ones are gone (the
//! paper's count is an option, and so is its way to measure lengths, once, in the first executions); a thread of unknown length takes that of its elder sibling, or 1; no
//! stride is longer than 20,000 events, so that a thread that spins does not spin for long; and timed
//! waits end one time in sixteen, which does not end a stride.

use raddle_model::{Counting, ProfileView, Smax, ThreadId};

use crate::{
    dice::Dice,
    origin::Origin,
    roles::{Newcomer, Roles},
    view::{Picker, Threads, View},
};

/// No stride is longer than this.
const SMAX_MAX: u32 = 20_000;

/// See the module.
#[derive(Clone, Debug)]
pub struct Stride<'a> {
    dice: Dice,
    smax: Smax,
    profile: ProfileView<'a>,
    roles: Roles,
    /// By thread: its longest stride.
    smax_of: Vec<u32>,
    /// By thread: the longest stride of the last one that it created.
    smax_of_child: Vec<u32>,
    /// Who is in a stride.
    current: ThreadId,
    /// Events left in it.
    n_left: u32,
}

impl<'a> Stride<'a> {
    pub(crate) fn new(origin: &Origin<'a>, smax: Smax) -> Stride<'a> {
        Stride {
            dice: Dice::new(origin.seed, origin.may_time_out),
            smax,
            profile: origin.profile,
            roles: Roles::new(),
            smax_of: Vec::with_capacity(16),
            smax_of_child: Vec::with_capacity(16),
            current: ThreadId(0),
            n_left: 0,
        }
    }

    #[inline]
    fn greet<T: Threads>(&mut self, threads: &T) {
        while let Some(newcomer) = self.roles.next(threads) {
            self.add(&newcomer);
        }
    }

    #[cold]
    fn add(&mut self, newcomer: &Newcomer) {
        let parent = newcomer.parent.map(ThreadId::idx);
        let elder = parent.map_or(1, |it| self.smax_of_child[it]);
        let smax = match self.smax {
            Smax::Fixed(smax) => smax,
            Smax::Ratio { per_mille, counting } | Smax::Measured { per_mille, counting } => {
                self.profile.length(newcomer.role).map_or(elder, |length| {
                    let n_events = match counting {
                        Counting::All => length.n_events,
                        Counting::Contended => length.n_contended,
                    };
                    let smax = (u64::from(n_events) * 1000).div_ceil(u64::from(per_mille.max(1)));
                    smax.min(u64::from(SMAX_MAX)) as u32
                })
            }
        };
        let smax = smax.clamp(1, SMAX_MAX);
        if let Some(parent) = parent {
            self.smax_of_child[parent] = smax;
        }
        self.smax_of.push(smax);
        self.smax_of_child.push(1);
    }
}

impl Picker for Stride<'_> {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if let Some(thread) = self.dice.timed(view.threads) {
            return thread;
        }
        if self.n_left > 0 && view.threads.is_enabled(self.current) {
            self.n_left -= 1;
            return self.current;
        }
        self.greet(view.threads);
        let thread = self.dice.uniform(view.threads);
        self.n_left = self.dice.below(self.smax_of[thread.idx()]);
        self.current = thread;
        thread
    }

    #[inline]
    fn forced<T: Threads>(&mut self, _view: &View<'_, T>, thread: ThreadId) {
        self.n_left = if thread == self.current { self.n_left.saturating_sub(1) } else { 0 };
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
