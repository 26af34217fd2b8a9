//! Vector clocks.

use raddle_model::ThreadId;

use super::Segment;

/// For each thread, the last of its segments that is known. Threads beyond the end: none.
///
/// And the last sequentially consistent fence that is known: they are in one order, so that one number says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Vec<u32>, u32);

impl Clock {
    /// Nothing is known.
    pub const fn new() -> Clock {
        Clock(Vec::new(), 0)
    }

    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last segment of a thread that is known.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> Segment {
        Segment(self.0.get(thread.idx()).copied().unwrap_or(0))
    }

    /// A segment of a thread is known.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, segment: Segment) {
        if self.0.len() <= thread.idx() {
            self.0.resize(thread.idx() + 1, 0);
        }
        self.0[thread.idx()] = segment.0;
    }

    /// The last sequentially consistent fence that is known; 0 is none.
    #[inline]
    pub const fn fence(&self) -> u32 {
        self.1
    }

    /// A sequentially consistent fence is known, with all before it.
    #[inline]
    pub fn know_fence(&mut self, number: u32) {
        self.1 = self.1.max(number);
    }

    /// All that the other knows is known.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
        self.1 = self.1.max(other.1);
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// What the other knows is known, and nothing else.
    #[inline]
    pub fn copy(&mut self, other: &Clock) {
        self.0.clear();
        self.0.extend_from_slice(&other.0);
        self.1 = other.1;
    }

    /// Forgets all.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
        self.1 = 0;
    }

    /// Is all of it known to the other?
    pub fn is_within(&self, other: &Clock) -> bool {
        let is_known = |(idx, mine): (usize, &u32)| *mine <= other.0.get(idx).copied().unwrap_or(0);
        self.0.iter().enumerate().all(is_known)
    }
}
