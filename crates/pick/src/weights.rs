//! How many events threads still have before them, as far as that is known.
//!
//! A thread that has not been created yet counts with the one that will create it: it takes its events along
//! when it appears (Zhao et al., ASPLOS 2025). A thread of which nothing is known is taken to be like its elder
//! sibling.

use raddle_model::ThreadId;

use crate::roles::Newcomer;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// By thread: events before it and before those that it has yet to create.
    left: Vec<u64>,
    /// By thread: the events of the last one that it created.
    of_child: Vec<u64>,
}

impl Weights {
    pub(crate) fn new() -> Weights {
        Weights { left: Vec::with_capacity(64), of_child: Vec::with_capacity(64) }
    }

    /// A thread appears, with so many events to come, if that is known. Gives back what it was given.
    pub(crate) fn add(&mut self, newcomer: &Newcomer, n_below: Option<u64>) -> u64 {
        let parent = newcomer.parent.map(ThreadId::idx);
        let weight = n_below.unwrap_or_else(|| parent.map_or(0, |it| self.of_child[it]));
        if let Some(parent) = parent {
            self.left[parent] = self.left[parent].saturating_sub(weight);
            self.of_child[parent] = weight;
        }
        self.left.push(weight);
        self.of_child.push(0);
        weight
    }

    /// What is left of a thread: never 0, for it is there.
    #[inline]
    pub(crate) fn of(&self, thread: ThreadId) -> u64 {
        self.left[thread.idx()].max(1)
    }

    /// A thread has one event less before it.
    #[inline]
    pub(crate) fn take(&mut self, thread: ThreadId) {
        let left = &mut self.left[thread.idx()];
        *left = left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Role, ThreadId};

    use super::Weights;
    use crate::roles::Newcomer;

    fn newcomer(thread: u32, parent: Option<u32>) -> Newcomer {
        Newcomer { thread: ThreadId(thread), parent: parent.map(ThreadId), role: Role::MAIN }
    }

    #[test]
    fn children_take_their_events_along() {
        let mut weights = Weights::new();
        weights.add(&newcomer(0, None), Some(30));
        assert_eq!(weights.of(ThreadId(0)), 30);
        weights.add(&newcomer(1, Some(0)), Some(12));
        assert_eq!([0, 1].map(|it| weights.of(ThreadId(it))), [18, 12]);
        weights.add(&newcomer(2, Some(0)), None);
        assert_eq!([0, 1, 2].map(|it| weights.of(ThreadId(it))), [6, 12, 12]);
        weights.take(ThreadId(1));
        assert_eq!(weights.of(ThreadId(1)), 11);
    }

    #[test]
    fn who_is_there_has_something_to_do() {
        let mut weights = Weights::new();
        weights.add(&newcomer(0, None), None);
        weights.take(ThreadId(0));
        assert_eq!(weights.of(ThreadId(0)), 1);
    }
}
