//! What let an op go on, where the order of uses of its object does not show it.

use raddle_model::{Effect, Flags, OpKind, OpResult};

use super::{Asked, Entry, HappensBefore, join};
use crate::search::Step;

impl HappensBefore {
    /// What happens before an op whatever its objects are used for: its thread's steps, and what let it go on.
    pub(super) fn set_past(&mut self, asked: &Asked, steps: &[Step]) {
        let mut past = std::mem::take(&mut self.past);
        past.fill(0);
        let created = self.created[asked.event.thread.idx()];
        let before = if asked.event.previous != 0 { asked.event.previous } else { created };
        let all = [(before as usize).checked_sub(1), self.enabler(asked, steps)];
        for step in all.into_iter().flatten() {
            join(&mut past, self.clock_of(step));
        }
        if let Some((_, before)) = self.jumps.last()
            && asked.has_jumped
            && Effect::of(asked.op.kind) == Effect::Leave
        {
            join(&mut past, before);
        }
        self.past = past;
    }

    pub(super) fn enabler(&self, asked: &Asked, steps: &[Step]) -> Option<usize> {
        let on_object = asked.event.deed.uses[0].1;
        match asked.op.kind {
            OpKind::CondWake
                if on_object == Effect::Nothing && !self.has_left(&asked.op, steps) =>
            {
                self.caller(asked, steps)
            }
            OpKind::FutexWake if on_object == Effect::Nothing => self.futex_caller(asked, steps),
            OpKind::BarrierLeave => self
                .since(asked)
                .find(|it| it.how == Effect::ArriveLast)
                .map(|it| it.event as usize),
            OpKind::Yield if asked.op.flags.has(Flags::HINT) => None,
            OpKind::Yield => self.recaller(asked, steps),
            _ if asked.op.flags.has(Flags::SPIN) => self.recaller(asked, steps),
            _ => None,
        }
    }

    /// Uses of the op's object since its thread came to it.
    fn since<'a>(&'a self, asked: &Asked) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let entries = self.uses(asked.op.object);
        let start = entries.partition_point(|it| it.event < asked.event.previous);
        entries[start..].iter()
    }

    /// Who signalled a condition variable.
    fn caller(&self, asked: &Asked, steps: &[Step]) -> Option<usize> {
        let woken = u64::from(asked.event.thread.0) + 1;
        let calls = self.since(asked).map(|it| it.event as usize);
        calls.into_iter().find(|it| match steps[*it].kind {
            OpKind::Signal => steps[*it].value == woken,
            OpKind::Broadcast => true,
            _ => false,
        })
    }

    /// Who woke a thread that waits on a variable: the events say how many were woken, and the first; so the
    /// queue is gone through from the start. Bit sets and requeued waiters are not seen: the last call counts
    /// then.
    fn futex_caller(&self, asked: &Asked, steps: &[Step]) -> Option<usize> {
        let mut waiters = Vec::new();
        let mut last = None;
        for entry in self.uses(asked.op.object) {
            let step = &steps[entry.event as usize];
            match entry.how {
                Effect::LookAndQueue => waiters.push(step.thread),
                Effect::Leave => waiters.retain(|it| *it != step.thread),
                Effect::Notify if step.value > 0 => {
                    last =
                        Some(entry.event as usize).filter(|_| asked.event.previous <= entry.event);
                    for n_woken in 0..step.value {
                        let first = if n_woken == 0 { step.choice as usize } else { 0 };
                        if waiters.is_empty() {
                            break;
                        }
                        let woken = waiters.remove(first.min(waiters.len() - 1));
                        if woken == asked.event.thread && last.is_some() {
                            return last;
                        }
                    }
                }
                _ => {}
            }
        }
        last
    }

    /// The post that a semaphore's wait needed: if it is the k-th to take one, and there were c at first, the
    /// (k − c)-th post. As the release of a lock, it is not in the wait's past: had another not taken one
    /// before, an earlier post would have done.
    pub(super) fn post_for(&self, asked: &Asked, steps: &[Step]) -> Option<usize> {
        if asked.event.deed.uses[0].1 != Effect::Draw {
            return None;
        }
        let step = steps
            .get(self.events.len())
            .filter(|it| it.thread == asked.event.thread && it.result == OpResult::Done)?;
        let entries = self.uses(asked.op.object);
        let n_taken =
            entries.iter().filter(|it| matches!(it.how, Effect::Draw | Effect::TryDraw)).count();
        let n_posted = entries.iter().filter(|it| it.how == Effect::Post).count();
        let n_at_first = (step.value + 1 + n_taken as u64).saturating_sub(n_posted as u64);
        let needed = (n_taken as u64 + 1).checked_sub(n_at_first)?.checked_sub(1)?;
        let mut posts = entries.iter().filter(|it| it.how == Effect::Post);
        posts.nth(needed as usize).map(|it| it.event as usize)
    }

    /// The step after which a thread that had yielded could go on.
    fn recaller(&self, asked: &Asked, steps: &[Step]) -> Option<usize> {
        let is_yield = |it: &Step| it.kind == OpKind::Yield || it.flags.has(Flags::SPIN);
        let start = asked.event.previous as usize;
        (start..self.events.len()).find(|it| !is_yield(&steps[*it]))
    }
}
