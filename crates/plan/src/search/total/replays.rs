//! Does the program do the same again for the same choices?
//!
//! Executions share beginnings: as long as two have made the same choices, they have to have made the same steps.
//! One that has not is a program's that depends on something else (time, addresses, other processes). What it shows
//! is no consequence of its schedule, so nothing is concluded from it.
//!
//! Few executions share much. So there is a *suspicion*, too: a thread that has read and was told the same as in an
//! earlier execution goes on with another call. There may be an honest reason that no step tells (the virtual clock, a
//! descriptor, code without hooks), so the same choices are made again, and what comes of it decides.

use std::collections::BTreeMap;

use raddle_model::{Divergence, ObjectId, OpKind, ThreadId, mix};

use super::super::{Run, Step};

/// Steps that are remembered.
const STEPS_MAX: usize = 2_000_000;

/// Suspicions that are looked into: each costs executions.
const SUSPICIONS_MAX: u32 = 3;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Replays {
    /// By what a thread was told so far, as a hash: the call that it made next.
    calls: BTreeMap<u64, u64>,
    n_suspicions: u32,
    n_unknown: u64,
    /// By the choices so far, as a hash: the step that they made.
    known: BTreeMap<u64, (u64, ThreadId, OpKind)>,
    /// Executions that did something else.
    pub(super) n_diverged: u64,
    /// The first of them.
    pub(super) first: Option<Divergence>,
}

impl Replays {
    /// Does a thread of an execution go on in another way than it did, though it was told the same? Remembers the
    /// execution.
    pub(super) fn is_suspicious(&mut self, run: &Run) -> bool {
        let mut told = Told { n_unknown: self.n_unknown, ..Told::default() };
        let mut is_other = false;
        for step in &run.steps {
            let call = call(run, step);
            // Whether an access is a step depends on who came first.
            if !step.kind.is_access() && self.calls.len() < STEPS_MAX {
                is_other |= *self.calls.entry(told.of(step.thread)).or_insert(call) != call;
            }
            told.add(step, call);
        }
        self.n_unknown = told.n_unknown;
        let is_suspicious = is_other && self.n_suspicions < SUSPICIONS_MAX;
        self.n_suspicions += u32::from(is_suspicious);
        is_suspicious
    }

    /// Remembers an execution; `false` if it did something else than an earlier one with the same choices.
    pub(super) fn agrees(&mut self, run: &Run) -> bool {
        let mut choices = 0;
        for (idx, step) in run.steps.iter().enumerate() {
            let choice = if step.n_choices > 1 { u64::from(step.choice) + 1 } else { 0 };
            choices = mix(mix(choices, u64::from(step.thread.0)), choice);
            let now = call(run, step);
            match self.known.get(&choices) {
                Some((before, ..)) if *before == now => {}
                Some((_, thread, expected)) => {
                    self.n_diverged += 1;
                    self.first.get_or_insert(Divergence {
                        step: idx as u64,
                        thread: *thread,
                        expected: *expected,
                        seen: Some((step.thread, step.kind)),
                    });
                    return false;
                }
                None if self.known.len() < STEPS_MAX => {
                    self.known.insert(choices, (now, step.thread, step.kind));
                }
                None => {}
            }
        }
        true
    }
}

/// What a step does, where, to what; the same in all executions.
fn call(run: &Run, step: &Step) -> u64 {
    let place = run.sites.get(step.site.0 as usize).copied().unwrap_or_default();
    let object = run.objects.get(step.object.idx()).map_or(0, |it| it.name);
    mix(mix(step.kind as u64, place), object)
}

/// What threads were told, as hashes: the values that they read, how calls ended, what those knew who made them and
/// those whom they joined.
#[derive(Debug, Default)]
struct Told {
    threads: BTreeMap<ThreadId, u64>,
    objects: BTreeMap<ObjectId, ThreadId>,
    /// What is not known is never the same.
    n_unknown: u64,
}

impl Told {
    fn of(&self, thread: ThreadId) -> u64 {
        self.threads.get(&thread).copied().unwrap_or(u64::from(thread.0))
    }

    /// A step was made; `call`: which.
    fn add(&mut self, step: &Step, call: u64) {
        let before = self.of(step.thread);
        let is_valued = (1..=8).contains(&step.size);
        let now = match step.kind {
            OpKind::Write | OpKind::AtomicStore => return,
            OpKind::Spawn => {
                let child = ThreadId(step.value as u32);
                self.objects.insert(step.object, child);
                self.threads.insert(child, mix(mix(before, call), 1));
                mix(before, call)
            }
            OpKind::Join => {
                let joined = self.objects.get(&step.object).map_or(0, |it| self.of(*it));
                mix(mix(before, call), joined)
            }
            kind if kind.is_access() && is_valued => mix(mix(before, call), step.value),
            // Nobody knows what it was told.
            kind if kind.is_access() || kind.is_io() => {
                self.n_unknown += 1;
                mix(mix(before, call), self.n_unknown)
            }
            _ => mix(mix(mix(before, call), step.result as u64), u64::from(step.choice)),
        };
        self.threads.insert(step.thread, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kinds: &[(u32, OpKind)]) -> Run {
        let step =
            |it: &(u32, OpKind)| Step { thread: ThreadId(it.0), kind: it.1, ..Step::default() };
        Run { steps: kinds.iter().map(step).collect(), ..Run::default() }
    }

    #[test]
    fn the_same_choices_make_the_same_steps() {
        let mut replays = Replays::default();
        assert!(replays.agrees(&run(&[(0, OpKind::Read), (1, OpKind::Write)])));
        // Another choice may make anything.
        assert!(replays.agrees(&run(&[(0, OpKind::Read), (0, OpKind::Lock)])));
        assert!(!replays.agrees(&run(&[(0, OpKind::Read), (1, OpKind::Lock)])));
        assert_eq!(replays.n_diverged, 1);
        let first = replays.first.expect("there was one");
        assert_eq!((first.step, first.expected), (1, OpKind::Write));
        assert_eq!(first.seen, Some((ThreadId(1), OpKind::Lock)));
    }

    /// Thread 1 reads the same, after thread 2 or before it, and does something else then.
    #[test]
    fn who_reads_the_same_goes_on_in_the_same_way() {
        let told = |order: &[(u32, OpKind, u64)]| {
            let step = |it: &(u32, OpKind, u64)| Step {
                thread: ThreadId(it.0),
                kind: it.1,
                value: it.2,
                size: 4,
                ..Step::default()
            };
            Run { steps: order.iter().map(step).collect(), ..Run::default() }
        };
        let (lock, read, signal) = (OpKind::Lock, OpKind::Read, OpKind::Signal);
        let mut replays = Replays::default();
        assert!(!replays.is_suspicious(&told(&[(1, read, 7), (1, lock, 0), (2, lock, 0)])));
        assert!(!replays.is_suspicious(&told(&[(2, lock, 0), (1, read, 7), (1, lock, 0)])));
        // It has read something else.
        assert!(!replays.is_suspicious(&told(&[(2, lock, 0), (1, read, 8), (1, signal, 0)])));
        assert!(replays.is_suspicious(&told(&[(2, lock, 0), (1, read, 7), (1, signal, 0)])));
    }
}
