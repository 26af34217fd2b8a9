//! What comes before what: the arrows between threads.
//!
//! Each step that acquires something is joined with the last step of another thread that released it; what
//! follows from arrows and from the order within threads is not drawn. An atomic read is joined with the write
//! whose value it saw; that orders only if the one releases and the other acquires.

use std::collections::HashMap;

use raddle_model::{Finding, ObjectId, OpKind, OpResult, Step, ThreadId};

use super::Row;
use crate::words::access;

/// An arrow from one row to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: EdgeKind,
}

/// Why the one comes before the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EdgeKind {
    /// Synchronisation: a release and the acquire that follows it, a thread's creation and its start.
    Order,
    /// A read sees what was written; that orders nothing by itself.
    Value,
    /// Nothing orders them: the two sides of a race.
    Race,
}

/// All arrows, by their first rows.
pub(super) fn edges(finding: &Finding, rows: &[Row<'_>], row_of_step: &[usize]) -> Vec<Edge> {
    let mut follower = Follower::default();
    let mut edges = Vec::new();
    for (idx, step) in finding.steps.iter().enumerate() {
        for (from, kind) in follower.sources(step) {
            let from = row_of_step[from];
            edges.push(Edge { from, to: row_of_step[idx], kind });
        }
        follower.note(idx, step);
    }
    edges.extend(race(finding, rows));
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The last steps that released something.
#[derive(Default)]
struct Follower {
    /// By object: unlocks, posts, signals, arrivals.
    releases: HashMap<ObjectId, (usize, ThreadId)>,
    /// By object: writes to memory.
    writes: HashMap<ObjectId, (usize, ThreadId, bool)>,
    /// Creations, by the thread that was created.
    spawns: HashMap<ThreadId, usize>,
    /// Objects that stand for threads.
    threads: HashMap<ObjectId, ThreadId>,
    /// The last steps of threads.
    ends: HashMap<ThreadId, usize>,
}

impl Follower {
    /// Where arrows to this step begin.
    fn sources(&mut self, step: &Step) -> Vec<(usize, EdgeKind)> {
        let thread = step.thread;
        let mut found = Vec::new();
        // A thread's first step may be any, where the earliest are not kept.
        found.extend(self.spawns.remove(&thread).map(|it| (it, EdgeKind::Order)));
        let other = |it: &(usize, ThreadId)| (it.1 != thread).then_some((it.0, EdgeKind::Order));
        match step.kind {
            OpKind::Join | OpKind::TryJoin if is_done(step) => {
                let joined = self.threads.get(&step.object);
                let end = joined.and_then(|it| self.ends.get(it));
                found.extend(end.map(|it| (*it, EdgeKind::Order)));
            }
            OpKind::CondWake => {
                found.extend(self.releases.get(&step.object).and_then(other));
                found.extend(self.releases.get(&step.other).and_then(other));
            }
            kind if acquires(kind) && is_done(step) => {
                found.extend(self.releases.get(&step.object).and_then(other));
            }
            kind if reads(kind) => {
                let write = self.writes.get(&step.object).filter(|it| it.1 != thread);
                found.extend(write.map(|(from, _, is_release)| {
                    let is_order =
                        *is_release && kind != OpKind::Read && step.event().order().is_acquire();
                    (*from, if is_order { EdgeKind::Order } else { EdgeKind::Value })
                }));
            }
            _ => {}
        }
        found.sort_unstable();
        found.dedup_by_key(|it| it.0);
        found
    }

    fn note(&mut self, idx: usize, step: &Step) {
        let here = (idx, step.thread);
        match step.kind {
            OpKind::Spawn if is_done(step) => {
                let created = ThreadId(step.value as u32);
                self.spawns.insert(created, idx);
                self.threads.insert(step.object, created);
            }
            OpKind::Finish => {
                self.ends.insert(step.thread, idx);
            }
            OpKind::CondWait => {
                self.releases.insert(step.other, here);
            }
            kind if releases(kind) => {
                self.releases.insert(step.object, here);
            }
            kind if writes(kind, step) => {
                let is_atomic = !matches!(kind, OpKind::Write | OpKind::ReadWrite);
                let is_release = is_atomic && step.event().order().is_release();
                self.writes.insert(step.object, (idx, step.thread, is_release));
            }
            _ => {}
        }
    }
}

fn is_done(step: &Step) -> bool {
    matches!(step.result, OpResult::Done | OpResult::OwnerDied | OpResult::Chosen)
}

const fn acquires(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Lock
            | OpKind::TryLock
            | OpKind::ReadLock
            | OpKind::TryReadLock
            | OpKind::WriteLock
            | OpKind::TryWriteLock
            | OpKind::SemWait
            | OpKind::SemTryWait
            | OpKind::BarrierLeave
            | OpKind::OnceEnter
            | OpKind::FutexWake
    )
}

const fn releases(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Unlock
            | OpKind::RwUnlock
            | OpKind::Signal
            | OpKind::Broadcast
            | OpKind::SemPost
            | OpKind::BarrierArrive
            | OpKind::OnceDone
            | OpKind::FutexNotify
    )
}

const fn reads(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Read
            | OpKind::ReadWrite
            | OpKind::AtomicLoad
            | OpKind::AtomicRmw
            | OpKind::AtomicCas
    )
}

/// Does it write? A compare-exchange that failed does not.
fn writes(kind: OpKind, step: &Step) -> bool {
    match kind {
        OpKind::Write | OpKind::ReadWrite | OpKind::AtomicStore | OpKind::AtomicRmw => true,
        OpKind::AtomicCas => is_done(step),
        _ => false,
    }
}

/// From each access that an analysis speaks of to the next one.
fn race(finding: &Finding, rows: &[Row<'_>]) -> Vec<Edge> {
    let Some(evidence) = finding.evidence.as_deref() else { return Vec::new() };
    let row_of = |access| {
        let step = access::step_idx(finding, access);
        rows.iter().position(|row| match step {
            Some(_) => row.step == step,
            None => {
                row.number.is_none()
                    && row.thread == access.thread
                    && row.place == Some(&access.place)
                    && row.mark.is_some()
            }
        })
    };
    let found: Vec<usize> = evidence.accesses.iter().filter_map(row_of).collect();
    let pairs = found.windows(2).filter(|it| it[0] != it[1]);
    pairs
        .map(|it| Edge { from: it[0].min(it[1]), to: it[0].max(it[1]), kind: EdgeKind::Race })
        .collect()
}
