//! Random priorities of *sites*: who is about to do something at the place with the highest priority goes
//! first, whichever thread that is.
//!
//! Pickers by thread grow worse with the number of threads: that one of a hundred equal threads passes a
//! place before all others is a matter of one in a hundred. But bugs are about places, and most programs
//! have far fewer of those than threads: in an execution where some place has the lowest priority, every
//! thread that comes there stops, and all others go as far as they can. (That sites scale where instances
//! do not is the lesson of RFF: Wolff et al., ASPLOS 2024.)
//!
//! Bound: a bug that shows when the threads at s places are held back, in that order, while all others go
//! on, is found with probability (n - s)! / n!, for n places that have a say in it. None for bugs that ask
//! equal threads to do different things at the same place; so half of the executions give each thread a
//! priority as well, and the two are added.
//!
//! Own work; every half of the executions draws all priorities anew at one random step, for what holds
//! threads back in the beginning is often not what holds them back in the end. Waits with a deadline end one
//! time in sixteen; fair spells (`fair`).

use raddle_model::ThreadId;

use crate::{
    dice::Dice,
    fair::Fair,
    origin::Origin,
    points::choices,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Sites {
    dice: Dice,
    fair: Fair,
    /// What the sites' priorities are made from.
    salt: u64,
    /// By thread: its own part in its ops' priorities.
    own: Vec<u64>,
    /// By thread: its op's priority.
    priorities: Vec<u64>,
    /// Bits of a thread's own part.
    own_mask: u64,
    /// The choice at which priorities are drawn anew, and choices so far.
    change_at: u64,
    n_choices: u64,
}

impl Sites {
    pub(crate) fn new(origin: &Origin<'_>) -> Sites {
        let mut dice = Dice::new(origin.seed, origin.may_time_out);
        let salt = dice.bits();
        let own_mask = if dice.is_heads(500) { u64::MAX >> 1 } else { u64::MAX >> 40 };
        let change_at = if dice.is_heads(500) {
            1 + dice.below_wide(choices(&origin.profile))
        } else {
            u64::MAX
        };
        Sites {
            dice,
            fair: Fair::new(),
            salt,
            own: Vec::with_capacity(64),
            priorities: Vec::with_capacity(64),
            own_mask,
            change_at,
            n_choices: 0,
        }
    }

    #[inline]
    fn update<T: Threads>(&mut self, view: &View<'_, T>) {
        while self.own.len() < view.threads.n_threads() as usize {
            self.greet(view.threads);
        }
        self.weigh(view.last, view.threads);
        self.n_choices += 1;
        if self.n_choices == self.change_at {
            self.change(view.threads);
        }
    }

    #[cold]
    fn greet<T: Threads>(&mut self, threads: &T) {
        let thread = ThreadId(self.own.len() as u32);
        self.own.push(self.dice.bits() & self.own_mask);
        self.priorities.push(0);
        self.weigh(thread, threads);
    }

    #[cold]
    fn change<T: Threads>(&mut self, threads: &T) {
        self.salt = self.dice.bits();
        for thread in 0..self.own.len() {
            self.weigh(ThreadId(thread as u32), threads);
        }
    }

    /// A site's part is a hash: no table to keep, and half of the range, so that sums have room.
    #[inline]
    fn weigh<T: Threads>(&mut self, thread: ThreadId, threads: &T) {
        let site = threads.op(thread).site;
        let of_site = raddle_model::mix(self.salt, u64::from(site.0)) >> 1;
        self.priorities[thread.idx()] = of_site + self.own[thread.idx()];
    }

    /// The thread that can go on with the highest priority.
    #[inline]
    fn highest<T: Threads>(&self, threads: &T) -> ThreadId {
        let mut best = threads.enabled(0);
        for idx in 1..threads.n_enabled() {
            let thread = threads.enabled(idx);
            if self.priorities[best.idx()] <= self.priorities[thread.idx()] {
                best = thread;
            }
        }
        best
    }
}

impl Picker for Sites {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        self.update(view);
        if let Some(thread) = self.dice.timed(view.threads) {
            return thread;
        }
        if self.fair.is_due() {
            return self.dice.uniform(view.threads);
        }
        self.highest(view.threads)
    }

    #[inline]
    fn forced<T: Threads>(&mut self, view: &View<'_, T>, _thread: ThreadId) {
        self.update(view);
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{ObjectId, Op, OpKind, PickerSpec, ProfileView, SiteId, ThreadId};

    use super::Sites;
    use crate::{fake::Fake, origin::Origin, view::Picker};

    /// In which order the threads go, each taking one step; thread `n` is about to be at `sites[n]`.
    fn order(seed: u64, sites: &[u32]) -> Vec<usize> {
        let origin = Origin {
            picker: PickerSpec::Sites,
            seed,
            may_time_out: false,
            profile: ProfileView::default(),
        };
        let mut picker = Sites::new(&origin);
        let all: Vec<u32> = (0..sites.len() as u32).collect();
        let mut threads = Fake::new(sites.len() as u32, &all, &[]);
        let op = |site: &u32| Op::on(OpKind::Write, ObjectId(1), SiteId(*site));
        threads.ops = sites.iter().map(op).collect();
        let mut order: Vec<usize> = Vec::new();
        while !threads.enabled.is_empty() {
            let last = order.last().copied().unwrap_or(0) as u32;
            let next: ThreadId = picker.pick(&threads.view(order.len() as u64, last));
            threads.enabled.retain(|it| *it != next);
            order.push(next.idx());
        }
        order
    }

    /// One thread at one place, nine at another: that the one is first or last is what an execution
    /// without threads' own priorities always does (half of them), and what ten equal threads do one time
    /// in five. So at least 0.5 + 0.5 × 0.2 = 60 % of 1,000; five standard deviations are 78.
    #[test]
    fn equal_threads_go_together() {
        let sites = [1, 2, 2, 2, 2, 2, 2, 2, 2, 2];
        let is_apart = |seed: &u64| matches!(order(*seed, &sites)[..], [0, ..] | [.., 0]);
        let n_apart = (0..1_000).filter(is_apart).count();
        assert!(n_apart >= 600 - 78, "{n_apart}");
    }

    /// Which of three places is last: each one time in three, of 3,000; five standard deviations are 129.
    #[test]
    fn every_place_is_held_back() {
        let mut n_last = [0_u32; 3];
        for seed in 0..3_000 {
            n_last[order(seed, &[1, 2, 3])[2]] += 1;
        }
        assert!(n_last.iter().all(|it| it.abs_diff(1_000) < 129), "{n_last:?}");
    }
}
