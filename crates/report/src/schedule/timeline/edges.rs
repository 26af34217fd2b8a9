//! What comes before what: the arrows between threads.
//!
//! Each step that acquires something is joined with the last step of another thread that released it; what
//! follows from arrows and from the order within threads is not drawn. An atomic read is joined with the write
//! whose value it saw; that orders only if the one releases and the other acquires. Where memory is weak, that write need
//! not be the last one; then the read is joined with the write that it passed over as well.

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
    /// A read sees what was written, although there is a newer value.
    Stale,
    /// That newer value was written; the read does not see it.
    Passed,
    /// Nothing orders them: the two sides of a race.
    Race,
}

/// All arrows, by their first rows.
pub(super) fn edges(finding: &Finding, rows: &[Row<'_>], row_of_step: &[usize]) -> Vec<Edge> {
    let n_dropped = usize::try_from(finding.n_steps_dropped).unwrap_or(usize::MAX);
    let mut follower = Follower { n_dropped, ..Follower::default() };
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

/// Writes to an object that are kept: older ones can't be read any more.
const WRITES_MAX: usize = 64;

/// A write to memory.
#[derive(Clone, Copy)]
struct Write {
    idx: usize,
    thread: ThreadId,
    offset: u32,
    is_release: bool,
}

/// The last steps that released something.
#[derive(Default)]
struct Follower {
    /// By object: unlocks, posts, signals, arrivals.
    releases: HashMap<ObjectId, (usize, ThreadId)>,
    /// By object: writes to memory in modification order, the last ones.
    writes: HashMap<ObjectId, Vec<Write>>,
    /// Steps that are not kept, before the first one that is.
    n_dropped: usize,
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
                self.read(step, &mut found);
            }
            _ => {}
        }
        found.sort_unstable();
        found.dedup_by_key(|it| it.0);
        found
    }

    /// From the write that a read sees, and from the one that it passes over.
    fn read(&self, step: &Step, found: &mut Vec<(usize, EdgeKind)>) {
        let Some(writes) = self.writes.get(&step.object) else { return };
        let passed = self.passed(writes, step);
        let seen = match passed {
            None => writes.last(),
            Some(at) => writes[..at].iter().rfind(|it| it.offset == step.event().offset()),
        };
        if let Some(seen) = seen.filter(|it| it.thread != step.thread) {
            let is_order =
                seen.is_release && step.kind != OpKind::Read && step.event().order().is_acquire();
            let kind = match (is_order, passed) {
                (true, _) => EdgeKind::Order,
                (false, None) => EdgeKind::Value,
                (false, Some(_)) => EdgeKind::Stale,
            };
            found.push((seen.idx, kind));
        }
        found.extend(passed.map(|at| (writes[at].idx, EdgeKind::Passed)));
    }

    /// Where the write stands that an access passes over.
    fn passed(&self, writes: &[Write], step: &Step) -> Option<usize> {
        let passed = step.event().passed()?.checked_sub(self.n_dropped)?;
        writes.iter().position(|it| it.idx == passed)
    }

    fn write(&mut self, idx: usize, step: &Step) {
        let is_atomic = !matches!(step.kind, OpKind::Write | OpKind::ReadWrite);
        let event = step.event();
        let is_release = is_atomic && event.order().is_release();
        let write = Write { idx, thread: step.thread, offset: event.offset(), is_release };
        let mut writes = self.writes.remove(&step.object).unwrap_or_default();
        match self.passed(&writes, step) {
            Some(at) => writes.insert(at, write),
            None => writes.push(write),
        }
        if writes.len() > WRITES_MAX {
            writes.remove(0);
        }
        self.writes.insert(step.object, writes);
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
            kind if writes(kind, step) => self.write(idx, step),
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
