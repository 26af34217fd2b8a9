//! An execution, as total replay keeps it.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Flags, ObjectId, OpKind, OpResult, Side, ThreadId};
use raddle_total::{Act, Flow, History, MustOrder, Step, ways};

use super::{
    super::{Pending, Run, Step as RunStep, ThreadSet},
    std_locks::{StdStep, std_steps},
};
use raddle_model::flows::Flows;

/// A step by what is the same in other executions, as long as its thread does the same.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(super) struct Instance {
    pub(super) thread: u32,
    pub(super) place: u64,
    /// How often the thread had been there before.
    pub(super) nth: u32,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    pub(super) history: History,
    /// By step.
    pub(super) instances: Vec<Instance>,
    /// By step: what pickers call it, where it is.
    pub(super) keys: Vec<u32>,
    /// By step: the value that was read, if there is one.
    pub(super) values: Vec<Option<u64>>,
    /// By step: the calls that led there, as a hash.
    pub(super) contexts: Vec<u64>,
    /// By step: how it was performed, where there were several ways.
    pub(super) choices: Vec<Option<u32>>,
    /// By step: it is told even if nobody else is alive.
    pub(super) is_told: Vec<bool>,
    /// Calls whose outcome in other schedules is not foreseen.
    pub(super) unforeseen: BTreeSet<&'static str>,
    /// Objects that held two values at once: nobody knows what a read of them reads.
    pub(super) mixed: BTreeSet<u64>,
}

impl Past {
    /// What an execution did.
    pub(super) fn of(run: &Run, flows: &Flows) -> Past {
        let mut past = Past::default();
        let std = std_steps(run, flows);
        let mut visits: BTreeMap<(ThreadId, u64), u32> = BTreeMap::new();
        let mut threads: BTreeMap<ObjectId, ThreadId> = BTreeMap::new();
        // Whose wait could have ended by itself since its last step.
        let mut timed = ThreadSet::NONE;
        for (idx, step) in run.steps.iter().enumerate() {
            if step.kind == OpKind::Spawn {
                threads.insert(step.object, ThreadId(step.value as u32));
            }
            let name = |object: ObjectId| run.objects.get(object.idx()).map_or(0, |it| it.name);
            let named = run.sites.get(step.site.0 as usize).copied();
            let place = named.unwrap_or_else(|| u64::from(step.site.0));
            let std_step = std.by_step.get(&idx).copied();
            let act = std_step.map_or_else(|| act(step, &threads), |it| it.act);
            let visit = visits.entry((step.thread, place)).or_default();
            past.instances.push(Instance { thread: step.thread.0, place, nth: *visit });
            *visit += 1;
            let site = step.site.0;
            let key = run.site_keys.get(site as usize).copied().unwrap_or(u64::from(site));
            past.keys.push(Side::key(step.kind, key));
            let is_valued = act.is_read() && (1..=8).contains(&step.size);
            past.values.push(is_valued.then_some(step.value));
            past.contexts.push(step.context);
            past.choices.push((step.n_choices > 1).then_some(step.choice));
            past.is_told.push(matches!(
                step.kind,
                OpKind::Spawn | OpKind::Join | OpKind::Finish | OpKind::Start | OpKind::Exit
            ));
            let is_atomic = step.kind >= OpKind::AtomicLoad && step.kind <= OpKind::AtomicCas;
            let is_atomic = is_atomic || step.flags.has(Flags::VOLATILE);
            let is_atomic = is_atomic && std_step.is_none();
            // What a lock does beside being taken and given back orders nothing. A thread begins after its creation.
            let is_nothing =
                std_step.is_some_and(|it| it.act == Act::Other) || step.kind == OpKind::Start;
            let object = if is_nothing { 0 } else { name(step.object) };
            timed = timed.or(step.timed);
            let is_whim = step.kind == OpKind::CondWake
                && !step.flags.has(Flags::TIMED)
                && timed.and(ThreadSet::one(step.thread)) != ThreadSet::NONE;
            timed = timed.minus(ThreadSet::one(step.thread));
            if std_step.is_none() && (is_whim || !is_foreseen(step)) {
                past.unforeseen.insert(step.kind.verb());
            }
            past.count(act, object, step);
            let kept = Step {
                thread: step.thread,
                act,
                object,
                other: name(std_step.map_or(step.other, |it: StdStep| it.lock)),
                place,
                is_atomic,
                is_timed: step.flags.has(Flags::TIMED),
                answer: step.result,
                way: step.choice,
            };
            past.history.push(kept, Flow::Nothing);
        }
        past.history.blocked = blocked(run, &threads, &std.waiting);
        past.unforeseen.extend(by_others(run));
        past.mixed = past.mixed();
        past
    }

    /// Objects of which two reads differ although nobody wrote in between. A block that is written as a whole is one
    /// object, with parts of different values; and code without hooks writes unseen.
    fn mixed(&self) -> BTreeSet<u64> {
        let mut read: BTreeMap<u64, u64> = BTreeMap::new();
        let mut mixed = BTreeSet::new();
        for (step, value) in self.history.steps.iter().zip(&self.values) {
            if let Some(value) = *value
                && *read.entry(step.object).or_insert(value) != value
            {
                mixed.insert(step.object);
            }
            if step.act.is_write() {
                read.remove(&step.object);
            }
        }
        mixed
    }

    /// Notes what a semaphore had before its first step, and how many threads a barrier waits for.
    fn count(&mut self, act: Act, object: u64, step: &RunStep) {
        let value = step.value as u32;
        let count = match (act, step.result) {
            (Act::Take | Act::TryTake, OpResult::Done) => value + 1,
            (Act::Take | Act::TryTake, _) => 0,
            (Act::Post, OpResult::Done) => value.saturating_sub(1),
            // How many others there were, or will be.
            (Act::Arrive, _) => value + 1,
            _ => return,
        };
        self.history.counts.entry(object).or_insert(count);
    }

    /// Adds a step of another one.
    pub(super) fn push(&mut self, from: &Past, step: usize) {
        self.history.push(from.history.steps[step], from.history.flows[step].clone());
        self.instances.push(from.instances[step]);
        self.keys.push(from.keys[step]);
        self.values.push(from.values[step]);
        self.contexts.push(from.contexts[step]);
        self.choices.push(from.choices[step]);
        self.is_told.push(from.is_told[step]);
    }

    /// Adds a step that nobody has made yet.
    pub(super) fn push_call(&mut self, step: Step) {
        self.history.push(step, Flow::Nothing);
        self.instances.push(Instance { thread: step.thread.0, place: step.place, nth: 0 });
        self.keys.push(0);
        self.values.push(None);
        self.contexts.push(0);
        self.choices.push(None);
        self.is_told.push(false);
    }

    /// The step of an instance.
    pub(super) fn find(&self, instance: Instance) -> Option<u32> {
        self.instances.iter().position(|it| *it == instance).map(|it| it as u32)
    }

    /// Was a thread the last one, though others need not have been at their ends? What it does then is no step.
    pub(super) fn has_last(&self, order: &MustOrder) -> bool {
        let steps = self.history.steps.iter().zip(0_u32..);
        let ends: Vec<u32> = steps.filter(|it| it.0.act == Act::Finish).map(|it| it.1).collect();
        let mut n_live = 1_usize;
        for (step, idx) in self.history.steps.iter().zip(0_u32..) {
            match step.act {
                Act::Spawn(_) => n_live += 1,
                Act::Finish | Act::Exit if n_live == 1 => {
                    let is_free = |it: &u32| *it < idx && !order.is_before(*it, idx);
                    return ends.iter().any(is_free);
                }
                Act::Finish => n_live = n_live.saturating_sub(1),
                _ => {}
            }
        }
        false
    }

    /// The choices that make these steps, in this order. While only one thread is alive, what it does is no
    /// choice.
    pub(super) fn prefix(&self, steps: &[u32]) -> Vec<u32> {
        let mut choices = Vec::with_capacity(steps.len());
        let spawns = |it: &Step| matches!(it.act, Act::Spawn(_));
        // ThreadSet of toys may be there from the beginning.
        let has_spawns = self.history.steps.iter().any(spawns);
        let mut n_live = 1_usize;
        for (idx, n_ways) in steps.iter().zip(ways(&self.history, steps)) {
            let step = &self.history.steps[*idx as usize];
            if !has_spawns || n_live > 1 || self.is_told[*idx as usize] {
                choices.push(step.thread.0);
                match step.act {
                    // Others may wait than did.
                    Act::Notify => choices.extend((n_ways > 1).then_some(step.way.min(n_ways - 1))),
                    _ => choices.extend(self.choices[*idx as usize]),
                }
            }
            match step.act {
                Act::Spawn(_) => n_live += 1,
                Act::Finish => n_live = n_live.saturating_sub(1),
                _ => {}
            }
        }
        choices
    }
}

/// What threads were blocked at, at the end of an execution.
fn blocked(
    run: &Run,
    threads: &BTreeMap<ObjectId, ThreadId>,
    waiting: &BTreeMap<ThreadId, ObjectId>,
) -> Vec<Step> {
    let name = |object: ObjectId| run.objects.get(object.idx()).map_or(0, |it| it.name);
    let step = |it: &Pending| {
        let Pending { kind, flags, object, .. } = *it;
        let named = run.sites.get(it.site.0 as usize).copied();
        // At a condition variable of Rust's std.
        let lock = waiting.get(&it.thread).filter(|_| kind == OpKind::FutexWake);
        let call = || act(&RunStep { kind, flags, object, ..RunStep::default() }, threads);
        Step {
            thread: it.thread,
            act: lock.map_or_else(call, |_| Act::Wake),
            object: name(object),
            other: name(lock.copied().unwrap_or(it.other)),
            place: named.unwrap_or_else(|| u64::from(it.site.0)),
            is_timed: flags.has(Flags::TIMED),
            ..Step::default()
        }
    };
    let blocked = run.pending.iter().filter(|it| it.is_blocked);
    blocked.map(step).filter(|it| it.act != Act::Other).collect()
}

fn act(step: &RunStep, threads: &BTreeMap<ObjectId, ThreadId>) -> Act {
    match step.kind {
        OpKind::Read | OpKind::AtomicLoad => Act::Read,
        OpKind::Write | OpKind::AtomicStore => Act::Write,
        OpKind::AtomicCas if step.result == OpResult::Busy => Act::Read,
        OpKind::ReadWrite | OpKind::AtomicRmw | OpKind::AtomicCas => Act::Update,
        OpKind::Lock | OpKind::WriteLock => Act::Lock,
        OpKind::TryLock | OpKind::TryWriteLock => Act::TryLock,
        OpKind::ReadLock => Act::ReadLock,
        OpKind::TryReadLock => Act::TryReadLock,
        OpKind::Unlock | OpKind::RwUnlock => Act::Unlock,
        OpKind::CondWait => Act::Wait,
        OpKind::CondWake => Act::Wake,
        OpKind::Signal => Act::Notify,
        OpKind::Broadcast => Act::NotifyAll,
        OpKind::SemWait => Act::Take,
        OpKind::SemTryWait => Act::TryTake,
        OpKind::SemPost => Act::Post,
        OpKind::BarrierArrive => Act::Arrive,
        OpKind::BarrierLeave => Act::Leave,
        OpKind::OnceEnter => Act::Enter,
        OpKind::OnceDone => Act::EnterDone,
        OpKind::Spawn => Act::Spawn(ThreadId(step.value as u32)),
        OpKind::Join => threads.get(&step.object).map_or(Act::Other, |it| Act::Join(*it)),
        OpKind::Finish => Act::Finish,
        OpKind::Exit => Act::Exit,
        _ => Act::Other,
    }
}

/// Calls whose outcome depends on more than is modelled of their objects: a semaphore's value that is asked for, and locks
/// for readers that may have to let a writer go first.
fn by_others(run: &Run) -> BTreeSet<&'static str> {
    let objects = |kinds: &[OpKind]| -> BTreeSet<ObjectId> {
        run.steps.iter().filter(|it| kinds.contains(&it.kind)).map(|it| it.object).collect()
    };
    let sems = objects(&[OpKind::SemWait, OpKind::SemTryWait, OpKind::SemPost]);
    let written = objects(&[OpKind::WriteLock]);
    let mut readers: BTreeMap<(ThreadId, ObjectId), u32> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for step in &run.steps {
        let of = (step.thread, step.object);
        match step.kind {
            OpKind::AtomicLoad if sems.contains(&step.object) => {
                found.insert("sem_getvalue");
            }
            OpKind::ReadLock | OpKind::TryReadLock if written.contains(&step.object) => {
                let n_held = readers.entry(of).or_default();
                if *n_held > 0 || step.kind == OpKind::TryReadLock {
                    found.insert(step.kind.verb());
                }
                *n_held += u32::from(step.result == OpResult::Done);
            }
            OpKind::RwUnlock => {
                readers.entry(of).and_modify(|it| *it = it.saturating_sub(1));
            }
            _ => {}
        }
    }
    found
}

/// Is it known what a call would come to in another schedule?
fn is_foreseen(step: &RunStep) -> bool {
    let is_usual = !matches!(step.result, OpResult::Interrupted | OpResult::OwnerDied);
    // Who comes to a block that has been run makes no step.
    let is_once = step.kind == OpKind::OnceEnter && !step.flags.has(Flags::IMPLIED);
    is_usual
        && !is_once
        && !step.kind.is_io()
        && !matches!(
            step.kind,
            OpKind::TryJoin
                | OpKind::OnceAbort
                | OpKind::FutexWait
                | OpKind::FutexWake
                | OpKind::FutexNotify
                | OpKind::Sleep
                | OpKind::Kill
                | OpKind::Handle
                | OpKind::SigWait
                | OpKind::Cancel
                | OpKind::Call
                | OpKind::Query
                | OpKind::Any
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::ObjectName;

    /// Three words that are one object: the first and the second were read without a write in between.
    #[test]
    fn what_holds_two_values_at_once() {
        let step = |kind, object, value| RunStep {
            kind,
            object: ObjectId(object),
            size: 4,
            value,
            ..RunStep::default()
        };
        let steps = vec![
            step(OpKind::Write, 1, 0),
            step(OpKind::Read, 1, 7),
            step(OpKind::Read, 2, 7),
            step(OpKind::Write, 2, 0),
            step(OpKind::Read, 2, 8),
            step(OpKind::AtomicRmw, 3, 1),
            step(OpKind::AtomicRmw, 3, 2),
            step(OpKind::Read, 1, 9),
        ];
        let object = |name| ObjectName { name, block: 0 };
        let run = Run { steps, objects: [0, 11, 12, 13].map(object).into(), ..Run::default() };
        assert_eq!(Past::of(&run, &Flows::default()).mixed, BTreeSet::from([11]));
    }
}
