//! Data races of a trace, by happens-before.
//!
//! A race is reported for each pair of sites once, the first time it shows. What is no step of the trace is not seen: memory that one
//! thread alone had touched when the execution began to share it, and what a thread did while it was the
//! only one alive. The runtime sees those too.
//!
//! A thread that is alone is taken to know all that the others did: how it came to know is not in the trace.
//! A trace that has lost its start says nothing.
//!
//! Time: constant for an access, linear in the number of threads for a step that orders. Memory: 24 bytes for
//! each four bytes of variable accessed in the trace and each two accesses of them that matter
//! ([`crate::hb::Histories`]), and a clock for each lock and atomic.

use std::collections::HashSet;

use raddle_model::{Event, ObjectId, OpKind, SiteId, ThreadId};
use raddle_trace::Trace;

use crate::{
    hb::{Accessed, Atomic, Bytes, Causality, Conflict, Histories, HistoryId},
    held::HeldLocks,
    value::{Race, Side},
};

/// The data races of a trace, in the order in which they show.
pub fn races(trace: &Trace) -> Vec<Race> {
    if trace.n_dropped != 0 {
        return Vec::new();
    }
    let mut detector = Detector::new(trace);
    for (step, event) in trace.events.iter().enumerate() {
        detector.step(event, step);
    }
    let mut seen = HashSet::new();
    let firsts = detector.found.iter().filter(|it| seen.insert(it.sites));
    firsts.map(|it| complete(trace, it)).collect()
}

/// A race as the detector knows it: what can be looked up in the trace is, for those few.
#[derive(Clone, Copy, Debug)]
struct Found {
    object: ObjectId,
    word: u32,
    second_step: usize,
    conflict: Conflict,
    /// Of both accesses, sorted.
    sites: [SiteId; 2],
}

struct Detector {
    causality: Causality,
    histories: Histories,
    /// By object: the histories of its first two words, and of the others.
    words: Vec<Words>,
    found: Vec<Found>,
    seen: HashSet<([SiteId; 2], u32)>,
    live: Vec<ThreadId>,
}

#[derive(Clone, Debug, Default)]
struct Words {
    first: [Option<HistoryId>; 2],
    others: Vec<(u32, HistoryId)>,
}

impl Detector {
    fn new(trace: &Trace) -> Detector {
        Detector {
            causality: Causality::new(),
            histories: Histories::new(),
            words: vec![Words::default(); trace.objects.len()],
            found: Vec::new(),
            seen: HashSet::new(),
            live: vec![ThreadId(0)],
        }
    }

    #[inline]
    fn step(&mut self, event: &Event, step: usize) {
        if event.is_unhooked() {
            return self.causality.meet_all(event.thread);
        }
        if event.kind.is_access() {
            return self.access(event, step);
        }
        match event.kind {
            OpKind::Fence => self.causality.fence(event.thread, event.order()),
            OpKind::Free => self.free(event, step),
            kind => {
                self.causality.step(event);
                if matches!(kind, OpKind::Spawn | OpKind::Finish) {
                    self.count(event);
                }
            }
        }
    }

    fn access(&mut self, event: &Event, step: usize) {
        let atomic = Atomic::of(event);
        let bytes = Bytes::of(event);
        if let Some(atomic) = atomic {
            self.causality.before_atomic(event.thread, event.object, bytes, atomic);
        }
        let kind = atomic.map_or(event.kind, Atomic::access);
        let start = event.offset();
        let end = start + u32::from(event.size.max(1));
        for word in start / 4..end.div_ceil(4) {
            let from = start.saturating_sub(4 * word).min(4);
            let to = (end - 4 * word).min(4);
            let mask = (15_u8 << from) & (15 >> (4 - to));
            self.touch(event, step, kind, word, mask);
        }
        if let Some(atomic) = atomic {
            self.causality.after_atomic(event.thread, event.object, bytes, atomic);
        }
    }

    /// Memory that is freed is written for the last time.
    fn free(&mut self, event: &Event, step: usize) {
        let Some(words) = self.words.get(event.object.idx()) else { return };
        let all: Vec<u32> = (0..2)
            .filter(|idx| words.first[*idx as usize].is_some())
            .chain(words.others.iter().map(|(word, _)| *word))
            .collect();
        for word in all {
            self.touch(event, step, OpKind::Free, word, 15);
        }
    }

    #[inline]
    fn touch(&mut self, event: &Event, step: usize, kind: OpKind, word: u32, mask: u8) {
        if self.causality.is_full() {
            return;
        }
        let segment = self.causality.segment(event.thread);
        let history = self.history(event.object, word);
        let accessed = Accessed::new(kind, mask, segment, event.site);
        let Some(conflict) =
            self.histories.access(history, event.thread, &accessed, &self.causality)
        else {
            return;
        };
        let mut sites = [conflict.earlier.site, event.site];
        sites.sort_unstable();
        if self.seen.insert((sites, word)) {
            let object = event.object;
            self.found.push(Found { object, word, second_step: step, conflict, sites });
        }
    }

    #[inline]
    fn history(&mut self, object: ObjectId, word: u32) -> HistoryId {
        if self.words.len() <= object.idx() {
            self.words.resize(object.idx() + 1, Words::default());
        }
        let words = &mut self.words[object.idx()];
        if let Some(slot) = words.first.get_mut(word as usize) {
            return *slot.get_or_insert_with(|| self.histories.add());
        }
        if let Some((_, history)) = words.others.iter().find(|it| it.0 == word) {
            return *history;
        }
        let history = self.histories.add();
        words.others.push((word, history));
        history
    }

    /// Counts who is alive.
    fn count(&mut self, event: &Event) {
        match event.kind {
            OpKind::Spawn if event.value != 0 => self.live.push(ThreadId(event.value as u32)),
            OpKind::Finish => self.live.retain(|it| *it != event.thread),
            _ => return,
        }
        if let [alone] = self.live[..] {
            self.causality.know_all(alone);
        }
    }
}

/// Looks up in the trace what the detector does not keep.
fn complete(trace: &Trace, found: &Found) -> Race {
    let event = &trace.events[found.second_step];
    let earlier = found.conflict.earlier;
    let first_step = trace.events[..found.second_step].iter().rposition(|it| {
        it.thread == found.conflict.thread && it.object == found.object && it.site == earlier.site
    });
    let (offset, size) = extent(found.word, earlier.mask);
    let (mut first_side, mut second_side) = (
        Side {
            thread: found.conflict.thread,
            kind: earlier.kind(),
            offset,
            size,
            site: earlier.site,
            step: first_step.unwrap_or(0) as u64,
            stack: Vec::new(),
            holds: Vec::new(),
        },
        Side {
            thread: event.thread,
            kind: event.kind,
            offset: event.offset(),
            size: u32::from(event.size),
            site: event.site,
            step: found.second_step as u64,
            stack: Vec::new(),
            holds: Vec::new(),
        },
    );
    if let Some(first) = first_step.map(|it| &trace.events[it]) {
        first_side.kind = first.kind;
        (first_side.offset, first_side.size) = (first.offset(), u32::from(first.size));
    }
    let mut held = HeldLocks::new();
    for (step, event) in trace.events[..found.second_step].iter().enumerate() {
        if Some(step) == first_step {
            first_side.holds = held.of(first_side.thread).collect();
        }
        held.step(event, step as u64);
    }
    second_side.holds = held.of(second_side.thread).collect();
    Race { object: found.object, first: first_side, second: second_side }
}

/// The bytes of a mask of a word: offset and size.
fn extent(word: u32, mask: u8) -> (u32, u32) {
    let from = mask.trailing_zeros().min(4);
    (4 * word + from, (8 - mask.leading_zeros()).saturating_sub(from))
}

#[cfg(test)]
mod tests;
