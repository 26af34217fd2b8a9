//! A random schedule that keeps given orders: who is about to do something that has to
//! come after something else waits until that has been done.
//!
//! If nobody is left who may go on, anybody who can does: whether an execution has kept its orders is for
//! whoever reads its trace to see. The same after so many choices in a row that somebody had to wait, for
//! a thread may spin until the other has done what it waits with.
//!
//! Where we depart from D4: half of the executions are uniform walks and half go by random priorities of
//! threads, drawn anew now and then, instead of partial order sampling: an explanation should hold for
//! schedules of either kind, and neither needs what POS keeps.
//!
//! A script may begin with choices (`Before::script_after`): then orders are kept after these.
//!
//! The *calm* one is not random: whoever runs goes on for as long as it can and may. That is the plainest schedule
//! that keeps the orders.

use raddle_model::{Before, PickerSpec, Side, ThreadId};

use crate::{
    dice::Dice,
    origin::Origin,
    view::{Picker, Threads, View},
};

/// Choices in a row with somebody held back, after which nobody is.
const PATIENCE: u32 = 5_000;
/// Of executions by priorities: how often they are drawn anew, per mille of choices.
const REDRAW: u32 = 60;

/// See the module.
#[derive(Clone, Debug)]
pub struct Constrained {
    dice: Dice,
    orders: Vec<AwaitedOrder>,
    manner: Manner,
    /// By thread.
    priorities: Vec<u64>,
    n_held_back: u32,
}

/// How it goes on where the orders leave a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Uniform,
    ByPriority,
    LeastSwitching,
}

#[derive(Clone, Debug)]
struct AwaitedOrder {
    first: Waited,
    second: Waited,
}

/// A side, and how often it was met.
#[derive(Clone, Debug)]
struct Waited {
    side: Side,
    n_met: u32,
}

impl Constrained {
    pub(crate) fn new(origin: &Origin<'_>, script: &[u32]) -> Constrained {
        let mut dice = Dice::new(origin.seed, origin.may_time_out);
        let waited = |side| Waited { side, n_met: 0 };
        let orders = Before::of_script(script);
        let orders = orders
            .map(|it| AwaitedOrder { first: waited(it.first), second: waited(it.second) })
            .collect();
        let manner = match origin.picker {
            PickerSpec::LeastSwitching => Manner::LeastSwitching,
            _ if dice.is_heads(500) => Manner::ByPriority,
            _ => Manner::Uniform,
        };
        Constrained { dice, orders, manner, priorities: Vec::with_capacity(64), n_held_back: 0 }
    }

    /// Has its op to wait for another's?
    fn must_wait<T: Threads>(&self, thread: ThreadId, threads: &T) -> bool {
        self.orders.iter().any(|it| {
            it.first.n_met < it.first.side.nth
                && it.second.n_met + 1 == it.second.side.nth
                && it.second.is_met_by(thread, threads)
        })
    }

    /// A thread is about to perform its op.
    fn perform<T: Threads>(&mut self, thread: ThreadId, threads: &T) {
        for order in &mut self.orders {
            order.first.meet(thread, threads);
            order.second.meet(thread, threads);
        }
    }

    /// One of those who may go on: of all if that is nobody.
    fn draw<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        let threads = view.threads;
        let n_enabled = threads.n_enabled();
        let is_free = |idx: &u32| !self.must_wait(threads.enabled(*idx), threads);
        let n_free = (0..n_enabled).filter(is_free).count() as u32;
        self.n_held_back = if n_free == n_enabled { 0 } else { self.n_held_back + 1 };
        let is_released = n_free == 0 || PATIENCE < self.n_held_back;
        let n_left = if is_released { n_enabled } else { n_free };
        let nth = match self.manner {
            Manner::Uniform => self.dice.below(n_left),
            Manner::ByPriority => {
                self.redraw(threads.n_threads());
                0
            }
            Manner::LeastSwitching => 0,
        };
        let may = |it: &Constrained, idx: &u32| {
            is_released || !it.must_wait(threads.enabled(*idx), threads)
        };
        let free = (0..n_enabled).filter(|idx| may(self, idx)).map(|idx| threads.enabled(idx));
        let chosen = match self.manner {
            Manner::LeastSwitching => {
                let first = view.last.0 + u32::from(!view.stays());
                free.min_by_key(|it| it.0.wrapping_sub(first))
            }
            Manner::ByPriority => free.max_by_key(|it| self.priorities[it.idx()]),
            Manner::Uniform => free.clone().nth(nth as usize),
        };
        chosen.unwrap_or_else(|| threads.enabled(0))
    }

    fn redraw(&mut self, n_threads: u32) {
        while self.priorities.len() < n_threads as usize {
            self.priorities.push(self.dice.bits());
        }
        if self.dice.is_heads(REDRAW) {
            let thread = self.dice.below(n_threads) as usize;
            self.priorities[thread] = self.dice.bits();
        }
    }
}

impl Waited {
    fn is_met_by<T: Threads>(&self, thread: ThreadId, threads: &T) -> bool {
        let op = threads.op(thread);
        thread == self.side.thread && Side::key(op.kind, threads.site(op.site)) == self.side.key
    }

    fn meet<T: Threads>(&mut self, thread: ThreadId, threads: &T) {
        if self.is_met_by(thread, threads) {
            self.n_met += 1;
        }
    }
}

impl Picker for Constrained {
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        let timed = match self.manner {
            Manner::LeastSwitching if view.threads.n_enabled() > 0 => None,
            _ => self.dice.timed(view.threads),
        };
        let thread = timed.unwrap_or_else(|| self.draw(view));
        self.perform(thread, view.threads);
        thread
    }

    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        self.perform(thread, view.threads);
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        if self.manner == Manner::LeastSwitching { 0 } else { self.dice.below(n_choices) }
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{
        Before, ObjectId, Op, OpKind, PickerSpec, ProfileView, Side, SiteId, ThreadId,
    };

    use super::Constrained;
    use crate::{fake::Fake, origin::Origin, view::Picker};

    const KIND: OpKind = OpKind::Write;

    fn side(thread: u32, site: u64, nth: u32) -> Side {
        Side { thread: ThreadId(thread), key: Side::key(KIND, site), nth }
    }

    /// The order in which three threads take three steps each; step `n` of any is at site `n` + 1, but
    /// the last two are at the same.
    fn order(picker: PickerSpec, seed: u64, orders: &[Before]) -> Vec<(u32, u32)> {
        let origin = Origin { picker, seed, may_time_out: false, profile: ProfileView::default() };
        let mut picker = Constrained::new(&origin, &Before::script(orders));
        let mut done = [0_u32; 3];
        let mut order: Vec<(u32, u32)> = Vec::new();
        while order.len() < 9 {
            let enabled: Vec<u32> = (0..3).filter(|it| done[*it as usize] < 3).collect();
            let mut threads = Fake::new(3, &enabled, &[]);
            let site = |it: &u32| Op::on(KIND, ObjectId(1), SiteId(1 + (*it).min(1)));
            threads.ops = done.iter().map(site).collect();
            let last = order.last().map_or(0, |it| it.0);
            let next = picker.pick(&threads.view(order.len() as u64, last));
            order.push((next.0, done[next.idx()]));
            done[next.idx()] += 1;
        }
        order
    }

    #[test]
    fn orders_are_kept() {
        // The last step of thread 2 before the second of thread 0, and that before the first of thread 1.
        let orders = [
            Before { first: side(2, 2, 2), second: side(0, 2, 1) },
            Before { first: side(0, 2, 1), second: side(1, 1, 1) },
        ];
        let mut all = std::collections::BTreeSet::new();
        for seed in 0..2_000 {
            let order = order(PickerSpec::Constrained, seed, &orders);
            let at = |step| order.iter().position(|it| *it == step);
            assert!(at((2, 2)) < at((0, 1)), "{order:?}");
            assert!(at((0, 1)) < at((1, 0)), "{order:?}");
            all.insert(order);
        }
        // Where thread 0 takes its first step (four ways) and its last (four ways) is left open.
        assert_eq!(all.len(), 16);
    }

    #[test]
    fn the_calm_one_switches_where_it_must() {
        let orders = [
            Before { first: side(2, 2, 2), second: side(0, 2, 1) },
            Before { first: side(0, 2, 1), second: side(1, 1, 1) },
        ];
        for seed in 0..10 {
            let threads =
                order(PickerSpec::LeastSwitching, seed, &orders).into_iter().map(|it| it.0);
            assert_eq!(threads.collect::<Vec<_>>(), [0, 2, 2, 2, 0, 0, 1, 1, 1]);
        }
    }

    #[test]
    fn orders_that_contradict_each_other_stop_nobody() {
        let orders = [
            Before { first: side(0, 1, 1), second: side(1, 1, 1) },
            Before { first: side(1, 1, 1), second: side(2, 1, 1) },
            Before { first: side(2, 1, 1), second: side(0, 1, 1) },
        ];
        assert_eq!(order(PickerSpec::Constrained, 3, &orders).len(), 9);
        assert_eq!(order(PickerSpec::LeastSwitching, 3, &orders).len(), 9);
    }
}
