//! An execution, as total replay keeps it.

use std::collections::BTreeMap;

use raddle_model::{Flags, ObjectId, OpKind, OpResult, Side, ThreadId};
use raddle_total::{Act, Flow, History, Step};

use super::{
    super::{Run, Step as RunStep},
    flows::Flows,
    std_locks::std_locks,
};

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
}

impl Past {
    /// What an execution did.
    pub(super) fn of(run: &Run, flows: &Flows) -> Past {
        let mut past = Past::default();
        let std_locks = std_locks(run, flows);
        let mut visits: BTreeMap<(ThreadId, u64), u32> = BTreeMap::new();
        let mut threads: BTreeMap<ObjectId, ThreadId> = BTreeMap::new();
        for (idx, step) in run.steps.iter().enumerate() {
            if step.kind == OpKind::Spawn {
                threads.insert(step.object, ThreadId(step.value as u32));
            }
            let name = |object: ObjectId| run.objects.get(object.idx()).map_or(0, |it| it.name);
            let named = run.sites.get(step.site.0 as usize).copied();
            let place = named.unwrap_or_else(|| u64::from(step.site.0));
            let std_lock = std_locks.get(&idx).copied();
            let act = std_lock.unwrap_or_else(|| act(step, &threads));
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
            let is_atomic = is_atomic && std_lock.is_none();
            // What a lock does beside being taken and given back orders nothing.
            let object = if std_lock == Some(Act::Other) { 0 } else { name(step.object) };
            let other = name(step.other);
            let step = Step { thread: step.thread, act, object, other, place, is_atomic };
            past.history.push(step, Flow::Nothing);
        }
        past
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

    /// The step of an instance.
    pub(super) fn find(&self, instance: Instance) -> Option<u32> {
        self.instances.iter().position(|it| *it == instance).map(|it| it as u32)
    }

    /// The choices that make these steps, in this order. While only one thread is alive, what it does is no
    /// choice.
    pub(super) fn prefix(&self, steps: &[u32]) -> Vec<u32> {
        let mut choices = Vec::with_capacity(steps.len());
        let spawns = |it: &Step| matches!(it.act, Act::Spawn(_));
        // Threads of toys may be there from the beginning.
        let has_spawns = self.history.steps.iter().any(spawns);
        let mut n_live = 1_usize;
        for idx in steps {
            let step = &self.history.steps[*idx as usize];
            if !has_spawns || n_live > 1 || self.is_told[*idx as usize] {
                choices.push(step.thread.0);
                choices.extend(self.choices[*idx as usize]);
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

fn act(step: &RunStep, threads: &BTreeMap<ObjectId, ThreadId>) -> Act {
    let is_done = matches!(step.result, OpResult::Done | OpResult::OwnerDied);
    match step.kind {
        OpKind::Read | OpKind::AtomicLoad => Act::Read,
        OpKind::Write | OpKind::AtomicStore => Act::Write,
        OpKind::AtomicCas if step.result == OpResult::Busy => Act::Read,
        OpKind::ReadWrite | OpKind::AtomicRmw | OpKind::AtomicCas => Act::Update,
        OpKind::Lock | OpKind::TryLock | OpKind::WriteLock | OpKind::TryWriteLock if is_done => {
            Act::Lock
        }
        OpKind::ReadLock | OpKind::TryReadLock if is_done => Act::ReadLock,
        OpKind::Unlock | OpKind::RwUnlock if is_done => Act::Unlock,
        OpKind::CondWait if is_done => Act::Wait,
        OpKind::CondWake if step.result != OpResult::Busy => Act::Wake,
        OpKind::Signal => Act::Notify,
        OpKind::Broadcast => Act::NotifyAll,
        OpKind::Spawn => Act::Spawn(ThreadId(step.value as u32)),
        OpKind::Join => threads.get(&step.object).map_or(Act::Other, |it| Act::Join(*it)),
        OpKind::Finish => Act::Finish,
        _ => Act::Other,
    }
}
