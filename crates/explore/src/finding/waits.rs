//! Who waits for what, and why nobody will end it.
//!
//! A deadlock is a cycle where each thread waits for what the next one holds, or else a wait that
//! nobody will end: a lost wake-up, a lock that died with its owner. Threads that only wait for the
//! threads of such a wait (a `main` that joins them) are its victims and are left out of the message
//! and of the bucket.

use std::collections::{BTreeMap, VecDeque};

use raddle_model::{
    Blocked, Missed, NamedObject, ObjectId, OpKind, OpResult, Place, SiteId, StdWait, ThreadId,
};
use raddle_trace::{Object, Region, Thread, Trace};

use super::{
    missed::missed,
    names::Names,
    program::{self, reported},
};

/// A thread that waits.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) thread: ThreadId,
    pub(crate) kind: OpKind,
    pub(crate) object: ObjectId,
    pub(crate) named: NamedObject,
    /// Where it waits.
    pub(crate) at: Place,
    /// Who holds what it waits for, and where each took it; for a join, the thread to be joined.
    pub(crate) holders: Vec<(ThreadId, Place)>,
    /// A notification that did not end it.
    pub(crate) missed: Option<Missed>,
    /// What it waits for in Rust's std.
    pub(crate) std_wait: Option<StdWait>,
}

/// One way along a cycle: who waits, and which of its holders is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) wait_idx: usize,
    pub(crate) holder_idx: usize,
}

impl Wait {
    /// What a blocked thread waits for.
    pub(crate) fn of(
        trace: &Trace,
        thread: ThreadId,
        stack: &[Place],
        names: &mut Names<'_>,
    ) -> Option<Wait> {
        let described = &trace.threads[thread.idx()];
        if described.is_finished || !described.is_blocked {
            return None;
        }
        let object = names.std_sync().lock(awaited(described));
        let at = names.place(described.pending.site);
        let holders = holders(trace, thread, names);
        // What a lock's holder will end needs no notification.
        let awaited = (described.pending.kind, object);
        let missed = holders.is_empty().then(|| missed(trace, thread, awaited, names)).flatten();
        Some(Wait {
            thread,
            kind: names.std_sync().pending(described.pending.kind, described.pending.site),
            object,
            named: names.object(object),
            at: if program::is_own(&at) { at } else { program::first_own(stack) },
            holders,
            missed,
            std_wait: names.std_sync().wait(described.pending.site),
        })
    }

    /// Does it wait for the end of a thread? Then its holder is that thread.
    pub(crate) fn is_join(&self) -> bool {
        self.kind == OpKind::Join
    }

    /// The wait as reports show it, with one of its holders.
    pub(crate) fn blocked(&self, holder_idx: usize) -> Blocked {
        let holder = self.holders.get(holder_idx);
        Blocked {
            thread: self.thread,
            kind: self.kind,
            std_wait: self.std_wait,
            object: self.named.clone(),
            holder: holder.map(|(thread, place)| (*thread, reported(place))),
            missed: self.missed.as_ref().map(|it| Missed {
                step: 0,
                at: reported(&it.at),
                ..it.clone()
            }),
        }
    }
}

/// The shortest cycle through the smallest thread that is in one, beginning with that thread.
pub(crate) fn cycle(waits: &[Wait]) -> Option<Vec<Link>> {
    let mut starts: Vec<usize> = (0..waits.len()).collect();
    starts.sort_by_key(|idx| waits[*idx].thread);
    starts.into_iter().find_map(|start| cycle_through(waits, start))
}

/// Breadth first, so the cycle is a shortest one.
fn cycle_through(waits: &[Wait], start: usize) -> Option<Vec<Link>> {
    let by_thread: BTreeMap<ThreadId, usize> =
        waits.iter().enumerate().map(|(idx, wait)| (wait.thread, idx)).collect();
    let mut reached_by: BTreeMap<usize, Link> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(wait_idx) = queue.pop_front() {
        for (holder_idx, (holder, _)) in waits[wait_idx].holders.iter().enumerate() {
            let Some(next) = by_thread.get(holder).copied() else { continue };
            if reached_by.contains_key(&next) {
                continue;
            }
            reached_by.insert(next, Link { wait_idx, holder_idx });
            if next == start {
                return Some(links_back(&reached_by, start));
            }
            queue.push_back(next);
        }
    }
    None
}

fn links_back(reached_by: &BTreeMap<usize, Link>, start: usize) -> Vec<Link> {
    let mut links = vec![reached_by[&start]];
    while links[links.len() - 1].wait_idx != start {
        links.push(reached_by[&links[links.len() - 1].wait_idx]);
    }
    links.reverse();
    links
}

/// The waits that are to blame where there is no cycle: those not for a thread that waits itself.
pub(crate) fn roots(waits: &[Wait]) -> Vec<&Wait> {
    let is_waiting = |thread: ThreadId| waits.iter().any(|it| it.thread == thread);
    let is_root = |wait: &&Wait| !wait.holders.iter().any(|it| is_waiting(it.0));
    let roots: Vec<&Wait> = waits.iter().filter(is_root).collect();
    // A wait that no code of the program led to is a harness's, which waits for the rest of it.
    let own: Vec<&Wait> =
        roots.iter().copied().filter(|it| program::is_own(&it.at) && it.at.line > 0).collect();
    if own.is_empty() { roots } else { own }
}

/// A woken waiter of a condition variable waits for the mutex, not for a signal.
fn awaited(thread: &Thread) -> ObjectId {
    let op = &thread.pending;
    match op.kind {
        OpKind::CondWake if !thread.holders.is_empty() => op.other,
        _ => op.object,
    }
}

fn holders(trace: &Trace, number: ThreadId, names: &mut Names<'_>) -> Vec<(ThreadId, Place)> {
    let thread = &trace.threads[number.idx()];
    if names.std_sync().is_scope(thread.pending.site) {
        let is_of_scope = |it: &Thread| it.parent == Some(number) && !it.is_finished;
        let threads = trace.threads.iter().enumerate().filter(|it| is_of_scope(it.1));
        return threads.map(|it| (ThreadId(it.0 as u32), Place::default())).collect();
    }
    let object = trace.objects.get(thread.pending.object.idx());
    match (thread.pending.kind, object) {
        (OpKind::Join, Some(Object { region: Region::Thread(joined), .. })) => {
            vec![(*joined, Place::default())]
        }
        _ => {
            let std_sync = names.std_sync();
            let held = match thread.holders.as_slice() {
                [] => std_sync.holders(std_sync.lock(thread.pending.object)),
                known => known,
            };
            let object = thread.pending.object;
            let mut again = Vec::new();
            for (holder, _) in held {
                let function = |site| names.place(site).function;
                again.extend(taken_again(trace, object, *holder, function));
            }
            let all: Vec<(ThreadId, SiteId)> = held.iter().copied().chain(again).collect();
            all.into_iter().map(|(holder, site)| (holder, names.place(site))).collect()
        }
    }
}

/// Where the holder of a lock took it once more while it held it, and has perhaps not given it back. A release belongs to
/// the one time that its function took the lock; if it took it more than once, to any of them; if never, to the last time.
fn taken_again(
    trace: &Trace,
    lock: ObjectId,
    holder: ThreadId,
    mut function: impl FnMut(SiteId) -> String,
) -> Vec<(ThreadId, SiteId)> {
    let mut depth = 0_u32;
    let mut held: Vec<(bool, SiteId)> = Vec::new();
    for event in trace.events.iter().filter(|it| it.thread == holder && it.object == lock) {
        match event.kind {
            OpKind::Lock | OpKind::TryLock if event.result == OpResult::Done => {
                held.push((depth > 0, event.site));
                depth += 1;
            }
            OpKind::Unlock => {
                depth = depth.saturating_sub(1);
                let own = function(event.site);
                let here: Vec<usize> =
                    (0..held.len()).filter(|idx| function(held[*idx].1) == own).collect();
                match (depth, here.as_slice()) {
                    (0, _) => held.clear(),
                    (_, [one]) => drop(held.remove(*one)),
                    (_, []) => drop(held.pop()),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    held.into_iter().filter(|it| it.0).map(|it| (holder, it.1)).collect()
}
