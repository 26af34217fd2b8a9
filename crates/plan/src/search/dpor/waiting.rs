//! Sequences that wait behind a way: a wakeup tree, as one list.
//!
//! A tree has about as many sequences as executions will be made of it, and most of it is a single line. So its
//! steps stand one behind the other, each before what may follow it, with their levels; and in reverse, for the
//! first one is taken out first.

use serde::{Deserialize, Serialize};

use super::{deed::Deed, order::Sequence};
use crate::search::tree::Way;

/// See the module.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Waiting(
    /// Invariant: after each step, in reverse, comes one that is at most one level below it.
    Vec<Branch>,
);

/// A step of a sequence that waits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Branch {
    pub(crate) way: Way,
    pub(crate) deed: Deed,
    /// Does it do that in whatever state?
    pub(crate) is_certain: bool,
    /// The number of the node at which it is taken.
    level: u32,
}

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps of the first sequence, in order.
    pub(crate) fn first(&self) -> impl Iterator<Item = &Branch> {
        let mut next = self.0.last().map_or(0, |it| it.level);
        self.0.iter().rev().take_while(move |it| {
            next += 1;
            it.level + 1 == next
        })
    }

    /// Takes out the first step; what may follow it, and what stands beside it, is left.
    pub(crate) fn pop(&mut self) -> Option<Branch> {
        self.0.pop()
    }

    /// Takes out the first way to go on, with all that may follow it.
    pub(crate) fn pop_way(&mut self) -> Option<(Branch, Waiting)> {
        let first = self.0.pop()?;
        let start = self.start_of(self.0.len(), 0, first.level);
        let then = match start {
            0 => std::mem::take(&mut self.0),
            _ => self.0.split_off(start),
        };
        Some((first, Waiting(then)))
    }

    /// Puts a sequence behind those that begin at a node. Was it not among them?
    pub(crate) fn insert(&mut self, level: u32, sequence: &mut Sequence) -> bool {
        let mut level = level;
        // Where those stand that may follow what has been followed so far.
        let (mut start, mut end) = (0, self.0.len());
        let mut at = None;
        let mut top = end;
        while start < top {
            let below = self.start_of(top - 1, start, level);
            let Branch { way, deed, .. } = self.0[top - 1];
            if sequence.follow(way, &deed) {
                if below == top - 1 {
                    return false;
                }
                (start, end, level, at) = (below, top - 1, level + 1, None);
                top = end;
                continue;
            }
            if sequence.first_thread() == Some(way.thread) {
                // All ways to perform a thread's step stand together, or others would sleep through some.
                at = Some(below);
            }
            top = below;
        }
        let steps = sequence.branches(level);
        let at = at.unwrap_or(start);
        let is_new = steps.len() > 0;
        self.0.splice(at..at, steps);
        is_new
    }

    /// Where that begins, in reverse, which may follow the step at `idx` of a level.
    fn start_of(&self, idx: usize, from: usize, level: u32) -> usize {
        let other = self.0[from..idx].iter().rposition(|it| it.level <= level);
        other.map_or(from, |it| from + it + 1)
    }
}

impl Branch {
    pub(crate) fn new(way: Way, deed: Deed, is_certain: bool, level: u32) -> Branch {
        Branch { way, deed, is_certain, level }
    }
}
