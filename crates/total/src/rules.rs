//! Who can go on, whatever the order of steps, and what calls are told then: locks, waits, semaphores, barriers, once
//! blocks, creation and joins.
//!
//! What it misses: a lock that prefers writers lets readers in that would have to wait. Time: a wait with a limit
//! may end whenever it is blocked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use raddle_model::{OpResult, ThreadId};

use crate::history::{Act, History, Step};

/// In how many ways each step of a history can be made, if they come in this order.
pub fn ways(history: &History, order: &[u32]) -> Vec<u32> {
    let mut rules = Rules::new(&history.steps, &history.counts);
    let steps = order.iter().map(|it| &history.steps[*it as usize]);
    let one = |step: &Step| {
        let n_ways = rules.n_ways(step);
        rules.perform(step);
        n_ways
    };
    steps.map(one).collect()
}

/// By step of an order: whom it wakes, if it is a notification of one.
pub fn woken(history: &History, order: &[u32]) -> Vec<Option<ThreadId>> {
    let mut rules = Rules::new(&history.steps, &history.counts);
    let one = |step: &Step| {
        let woken = rules.woken(step).map(|it| rules.waiting[it].1);
        rules.perform(step);
        woken
    };
    order.iter().map(|it| &history.steps[*it as usize]).map(one).collect()
}

/// If the steps come in this order, does each wait that runs out of time do so when nobody else can go on? Of objects that
/// are not modelled nobody knows that.
pub fn is_in_time(history: &History, order: &[u32]) -> bool {
    let mut rules = Rules::new(&history.steps, &history.counts);
    let mut left: Vec<VecDeque<&Step>> = vec![VecDeque::new(); history.n_threads()];
    for step in &history.steps {
        left[step.thread.idx()].push_back(step);
    }
    for step in order.iter().map(|it| &history.steps[*it as usize]) {
        let is_over = |it: ThreadId| left.get(it.idx()).is_none_or(VecDeque::is_empty);
        let can_go_on = |it: &&Step| {
            let is_known = it.thread != step.thread && (it.act != Act::Other || it.object == 0);
            let answer = if is_known { rules.answer(it, is_over) } else { None };
            answer.is_some_and(|answer| !is_late(it, answer))
        };
        if is_late(step, step.answer) && left.iter().filter_map(|it| it.front()).any(can_go_on) {
            return false;
        }
        rules.perform(step);
        left[step.thread.idx()].pop_front();
    }
    true
}

/// Does a step say that a wait has run out of time?
pub(crate) fn is_late(step: &Step, answer: OpResult) -> bool {
    step.is_timed && answer != OpResult::Done
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// By lock: who holds it, and how often.
    owners: BTreeMap<u64, (ThreadId, u32)>,
    readers: BTreeMap<u64, u32>,
    /// By semaphore: its count. By barrier: how many it waits for.
    counts: BTreeMap<u64, u32>,
    /// Who waits at which condition variable or barrier, in the order in which they came.
    waiting: Vec<(u64, ThreadId)>,
    /// Whose wait is over, for its time was.
    late: BTreeSet<ThreadId>,
    /// By thread that waits: how often it held the lock that it gave back.
    depths: BTreeMap<ThreadId, u32>,
    /// By once block: who runs it; nobody any more when it has been run.
    runners: BTreeMap<u64, Option<ThreadId>>,
    /// Threads that nobody has created yet.
    unborn: BTreeSet<ThreadId>,
    /// The program has exited.
    has_ended: bool,
}

impl Rules {
    /// At the beginning of what makes these steps, in whatever order. `counts`: as in a history.
    pub(crate) fn new<'a>(
        steps: impl IntoIterator<Item = &'a Step>,
        counts: &BTreeMap<u64, u32>,
    ) -> Rules {
        let child = |it: &Step| match it.act {
            Act::Spawn(child) => Some(child),
            _ => None,
        };
        let unborn = steps.into_iter().filter_map(child).collect();
        Rules { unborn, counts: counts.clone(), ..Rules::default() }
    }

    /// What a call would be told, if it were the next step; `None` if it can't be. `is_over`: has a thread made its last
    /// step?
    pub(crate) fn answer(
        &self,
        step: &Step,
        is_over: impl FnOnce(ThreadId) -> bool,
    ) -> Option<OpResult> {
        if self.has_ended || self.unborn.contains(&step.thread) {
            return None;
        }
        let or_late = step.is_timed.then_some(OpResult::TimedOut);
        let done_if = |is_open: bool| is_open.then_some(OpResult::Done);
        let tried = |is_open: bool| if is_open { OpResult::Done } else { OpResult::Busy };
        match step.act {
            // What it is told about its own lock depends on nobody else; so do errors.
            Act::Lock | Act::ReadLock | Act::TryLock | Act::TryReadLock
                if self.is_own(step) || is_error(step.answer) =>
            {
                Some(step.answer)
            }
            Act::Lock | Act::ReadLock => done_if(self.is_open(step)).or(or_late),
            Act::TryLock | Act::TryReadLock => Some(tried(self.is_open(step))),
            Act::Wake => self.wake(step),
            Act::Take => done_if(self.count(step) > 0).or(or_late),
            Act::TryTake => Some(tried(self.count(step) > 0)),
            Act::Arrive => {
                let n_there = self.waiting.iter().filter(|it| it.0 == step.object).count() as u32;
                let is_last = n_there + 1 >= self.count(step);
                Some(if is_last { OpResult::Chosen } else { OpResult::Done })
            }
            Act::Leave => done_if(!self.is_waiting(step)),
            Act::Enter => match self.runners.get(&step.object) {
                None => Some(OpResult::Chosen),
                Some(runner) => done_if(runner.is_none()),
            },
            Act::Join(target) => done_if(is_over(target)),
            _ => Some(step.answer),
        }
    }

    /// How many ways there are to make a step: which waiter it wakes.
    pub(crate) fn n_ways(&self, step: &Step) -> u32 {
        match step.act {
            Act::Notify => {
                self.waiting.iter().filter(|it| it.0 == step.object).count().max(1) as u32
            }
            _ => 1,
        }
    }

    /// A step is made, with this answer, in this way.
    pub(crate) fn perform(&mut self, step: &Step) {
        let made = step.done();
        match step.act {
            _ if made == Act::Lock => {
                self.owners.entry(step.object).or_insert((step.thread, 0)).1 += 1;
            }
            _ if made == Act::ReadLock => *self.readers.entry(step.object).or_default() += 1,
            Act::Wake => {
                self.waiting.retain(|it| *it != (step.object, step.thread));
                if made == Act::Wake {
                    self.late.remove(&step.thread);
                    let depth = self.depths.remove(&step.thread).unwrap_or(1);
                    self.owners.insert(step.other, (step.thread, depth));
                } else {
                    self.late.insert(step.thread);
                }
            }
            _ if made == Act::Unlock => self.give(step.object, false),
            _ if made == Act::Wait => {
                let depth = self.owners.get(&step.other).map_or(1, |it| it.1);
                self.depths.insert(step.thread, depth);
                self.give(step.other, true);
                self.waiting.push((step.object, step.thread));
            }
            Act::Notify => {
                if let Some(at) = self.woken(step) {
                    self.waiting.remove(at);
                }
            }
            Act::NotifyAll => self.waiting.retain(|it| it.0 != step.object),
            Act::Take | Act::TryTake if step.answer == OpResult::Done => {
                let count = self.counts.entry(step.object).or_default();
                *count = count.saturating_sub(1);
            }
            Act::Post => *self.counts.entry(step.object).or_default() += 1,
            Act::Arrive if step.answer == OpResult::Chosen => {
                self.waiting.retain(|it| it.0 != step.object);
            }
            Act::Arrive => self.waiting.push((step.object, step.thread)),
            Act::Enter if step.answer == OpResult::Chosen => {
                self.runners.insert(step.object, Some(step.thread));
            }
            Act::EnterDone => {
                self.runners.insert(step.object, None);
            }
            Act::Spawn(child) => {
                self.unborn.remove(&child);
            }
            Act::Exit => self.has_ended = true,
            _ => {}
        }
    }

    /// Does a thread that can't make its next step wait for ever, if nobody can?
    pub(crate) fn is_stuck(&self, thread: ThreadId) -> bool {
        !self.has_ended && !self.unborn.contains(&thread)
    }

    /// One that waits at a condition variable goes on when it was woken, or its time is over, and the lock is free. If the
    /// lock is not, it only leaves the queue.
    fn wake(&self, step: &Step) -> Option<OpResult> {
        let is_free = self.is_free(step.other, step.thread);
        match (self.is_waiting(step), is_free) {
            (true, _) if !step.is_timed => None,
            (true, true) => Some(OpResult::TimedOut),
            (true, false) => Some(OpResult::Busy),
            (false, true) if self.late.contains(&step.thread) => Some(OpResult::TimedOut),
            (false, true) => Some(OpResult::Done),
            (false, false) => None,
        }
    }

    /// Of those that wait, which one a notification of one wakes.
    fn woken(&self, step: &Step) -> Option<usize> {
        let here = self.waiting.iter().enumerate();
        let here = here.filter(|it| step.act == Act::Notify && it.1.0 == step.object);
        let here: Vec<usize> = here.map(|it| it.0).collect();
        here.get(step.way as usize).or(here.first()).copied()
    }

    fn is_waiting(&self, step: &Step) -> bool {
        self.waiting.contains(&(step.object, step.thread))
    }

    fn count(&self, step: &Step) -> u32 {
        self.counts.get(&step.object).copied().unwrap_or(0)
    }

    fn is_own(&self, step: &Step) -> bool {
        self.owners.get(&step.object).is_some_and(|it| it.0 == step.thread)
    }

    fn is_free(&self, lock: u64, me: ThreadId) -> bool {
        self.owners.get(&lock).is_none_or(|it| it.0 == me)
    }

    /// Could a lock be taken?
    fn is_open(&self, step: &Step) -> bool {
        let is_read = self.readers.get(&step.object).is_some_and(|it| *it > 0);
        let is_shared = matches!(step.act, Act::ReadLock | Act::TryReadLock);
        self.is_free(step.object, step.thread) && (is_shared || !is_read)
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

    /// What it takes in memory, beside itself.
    pub(crate) fn n_bytes(&self) -> usize {
        let locks = self.owners.len() * 16 + self.readers.len() * 12 + self.depths.len() * 8;
        let others = self.counts.len() * 12 + self.runners.len() * 16;
        locks + others + self.waiting.len() * 16 + (self.late.len() + self.unborn.len()) * 4
    }

    /// How many locks are held.
    pub(crate) fn n_held(&self) -> usize {
        self.owners.len() + self.readers.values().filter(|it| **it > 0).count()
    }

    /// Who waits where: all that does not follow from where threads are.
    pub(crate) fn waiting(&self) -> &[(u64, ThreadId)] {
        &self.waiting
    }
}

/// Is a call told that it was wrong?
const fn is_error(answer: OpResult) -> bool {
    !matches!(answer, OpResult::Done | OpResult::Busy | OpResult::TimedOut | OpResult::OwnerDied)
}
