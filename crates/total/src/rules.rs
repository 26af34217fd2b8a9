//! Who can go on, whatever the order of steps: locks, waits, creation and joins.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::ThreadId;

use crate::history::{Act, Step};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// By lock: who holds it, and how often.
    owners: BTreeMap<u64, (ThreadId, u32)>,
    readers: BTreeMap<u64, u32>,
    /// Who waits at which condition variable, in the order in which they came.
    waiting: Vec<(u64, ThreadId)>,
    /// Threads that nobody has created yet.
    unborn: BTreeSet<ThreadId>,
}

impl Rules {
    /// At the beginning of what makes these steps, in whatever order.
    pub(crate) fn new<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Rules {
        let child = |it: &Step| match it.act {
            Act::Spawn(child) => Some(child),
            _ => None,
        };
        let unborn = steps.into_iter().filter_map(child).collect();
        Rules { unborn, ..Rules::default() }
    }

    /// Can this be the next step? `is_over`: has a thread made its last one?
    pub(crate) fn is_enabled(&self, step: &Step, is_over: impl FnOnce(ThreadId) -> bool) -> bool {
        let me = step.thread;
        if self.unborn.contains(&me) {
            return false;
        }
        let is_free = |lock: u64| self.owners.get(&lock).is_none_or(|it| it.0 == me);
        let is_unread = |lock: u64| self.readers.get(&lock).is_none_or(|it| *it == 0);
        match step.act {
            Act::Lock => is_free(step.object) && is_unread(step.object),
            Act::ReadLock => is_free(step.object),
            Act::Wake => !self.waiting.contains(&(step.object, me)) && is_free(step.other),
            Act::Join(target) => is_over(target),
            _ => true,
        }
    }

    /// A step is made.
    pub(crate) fn perform(&mut self, step: &Step) {
        match step.act {
            Act::Lock => self.owners.entry(step.object).or_insert((step.thread, 0)).1 += 1,
            Act::ReadLock => *self.readers.entry(step.object).or_default() += 1,
            Act::Wake => self.owners.entry(step.other).or_insert((step.thread, 0)).1 += 1,
            Act::Unlock => self.give(step.object, false),
            Act::Wait => {
                self.give(step.other, true);
                self.waiting.push((step.object, step.thread));
            }
            Act::Notify => {
                if let Some(at) = self.waiting.iter().position(|it| it.0 == step.object) {
                    self.waiting.remove(at);
                }
            }
            Act::NotifyAll => self.waiting.retain(|it| it.0 != step.object),
            Act::Spawn(child) => {
                self.unborn.remove(&child);
            }
            _ => {}
        }
    }

    fn give(&mut self, lock: u64, all: bool) {
        if let Some((_, depth)) = self.owners.get_mut(&lock) {
            *depth -= 1;
            if all || *depth == 0 {
                self.owners.remove(&lock);
            }
        } else if let Some(n_readers) = self.readers.get_mut(&lock) {
            *n_readers = n_readers.saturating_sub(1);
        }
    }

    /// Who waits where: all that does not follow from where threads are.
    pub(crate) fn waiting(&self) -> &[(u64, ThreadId)] {
        &self.waiting
    }
}
