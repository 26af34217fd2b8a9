//! Where memory is weak: ways to perform an atomic access that lead nowhere new, because the same execution has another
//! order of steps in which the access reads, or stands, like one that is up to date.
//!
//! An execution is which store each read has read, and how the stores to each location stand. A load that passes over a store
//! that was made before it is the same load made before that store, if nothing else keeps the two in that order; so is a store
//! that stands before an earlier one. A search turns the two round in any case. So such a way is wanted only if
//! what happens before the access (without the pair itself) has the passed store in it.
//!
//! Why nothing is lost: count the pairs of accesses to one location whose order of execution contradicts coherence order. Let
//! an access be in such pairs, and at least one of them be kept by nothing else. Made right after all that must come before it,
//! it has the same ways to choose from and more, and what it has overtaken stands in coherence order with it. No
//! other pair has changed, so the count went down. An execution whose count can't go down has wanted ways only. Whether a way is
//! wanted does not depend on the order of independent steps, so that what is explored is a system of its own, and
//! reduction explores all of it.
//!
//! Compare-exchanges are not looked at before they have been performed: which stores they find depends on values.

use raddle_model::{Conflict, OpKind, OpResult, conflict};

use super::{Asked, HappensBefore, join};
use crate::search::Step;

/// The stores to a location, and who has read them.
#[derive(Debug, Default)]
struct Location {
    /// Steps in modification order. What was there before has no number.
    stores: Vec<u32>,
    /// A load, or a compare-exchange that failed, and how many stores there are up to the one that it read.
    loads: Vec<(u32, u32)>,
}

impl HappensBefore {
    /// Does a way to perform the step that was asked about last lead nowhere new?
    pub(crate) fn is_needless(&self, asked: &Asked, steps: &[Step], choice: u32) -> bool {
        let step = &steps[self.events.len()];
        if choice == 0 || !step.kind.is_atomic() {
            return false;
        }
        let Some(mut at) = self.location(asked, step, steps) else { return false };
        let Some(position) = at.position(step, choice, steps) else { return false };
        at.drop_unread_of(position, step.kind);
        let known = self.known_without(asked, steps, &at.passed(position));
        at.passed(position).iter().any(|it| {
            let thread = self.events[*it as usize].thread;
            known[thread.idx()] <= *it
        })
    }

    /// The location of a step, as the steps before have left it; `None` if it was accessed otherwise than by atomics of its
    /// size.
    fn location(&self, asked: &Asked, step: &Step, steps: &[Step]) -> Option<Location> {
        let mut location = Location::default();
        for entry in self.uses(asked.op.object) {
            let other = &steps[entry.event as usize];
            let is_apart = other.kind.is_access()
                && (other.offset + u32::from(other.size) <= step.offset
                    || step.offset + u32::from(step.size) <= other.offset);
            if is_apart {
                continue;
            }
            let is_same = (other.offset, other.size) == (step.offset, step.size);
            match other.kind {
                OpKind::AtomicLoad
                | OpKind::AtomicStore
                | OpKind::AtomicRmw
                | OpKind::AtomicCas
                    if is_same =>
                {
                    location.add(entry.event, other)?;
                }
                kind if kind.is_access() && kind != OpKind::Read => return None,
                _ => {}
            }
        }
        Some(location)
    }

    /// What comes before an op although these steps on its location need not: a clock.
    fn known_without(&self, asked: &Asked, steps: &[Step], passed: &[u32]) -> Vec<u32> {
        let mut clock = self.past.clone();
        if let Some(post) = self.post_for(asked, steps) {
            join(&mut clock, self.clock_of(post));
        }
        if let Some((_, before)) = self.jumps.last() {
            join(&mut clock, before);
        }
        for (list, (_, how)) in asked.event.lists.into_iter().zip(asked.event.deed.uses) {
            let Some(list) = list else { continue };
            for entry in self.list(list).iter().filter(|it| !passed.contains(&it.event)) {
                if matches!(conflict(entry.how, how), Conflict::Ordered | Conflict::Race) {
                    join(&mut clock, self.clock_of(entry.event as usize));
                }
            }
        }
        clock
    }
}

impl Location {
    /// A step on it; `None` if it passed over a store that is not known.
    fn add(&mut self, number: u32, step: &Step) -> Option<()> {
        let end = match step.passed {
            None => self.stores.len(),
            Some(passed) => self.stores.iter().position(|it| *it == passed)?,
        };
        let is_load = step.kind == OpKind::AtomicLoad
            || step.kind == OpKind::AtomicCas && step.result == OpResult::Busy;
        if is_load {
            self.loads.push((number, end as u32));
            return Some(());
        }
        self.stores.insert(end, number);
        self.loads.iter_mut().filter(|it| end < it.1 as usize).for_each(|it| it.1 += 1);
        Some(())
    }

    /// How many stores there are up to the one that is read in a way of performing a step, or that the new one stands right
    /// behind.
    fn position(&self, step: &Step, choice: u32, steps: &[Step]) -> Option<usize> {
        if step.choice == choice {
            return match step.passed {
                None => Some(self.stores.len()),
                Some(passed) => self.stores.iter().position(|it| *it == passed),
            };
        }
        let is_taken = |it: &usize| {
            self.stores.get(*it).is_some_and(|it| {
                matches!(steps[*it as usize].kind, OpKind::AtomicRmw | OpKind::AtomicCas)
            })
        };
        let all = (0..=self.stores.len()).rev();
        match step.kind {
            OpKind::AtomicLoad => self.stores.len().checked_sub(choice as usize),
            OpKind::AtomicStore | OpKind::AtomicRmw => {
                all.filter(|it| !is_taken(it)).nth(choice as usize)
            }
            _ => None,
        }
    }

    /// Loads matter only to what writes.
    fn drop_unread_of(&mut self, position: usize, kind: OpKind) {
        if kind == OpKind::AtomicLoad {
            self.loads.clear();
        }
        self.loads.retain(|it| position < it.1 as usize);
    }

    /// Steps that come after a position in coherence order.
    fn passed(&self, position: usize) -> Vec<u32> {
        let loads = self.loads.iter().map(|it| it.0);
        self.stores[position..].iter().copied().chain(loads).collect()
    }
}
