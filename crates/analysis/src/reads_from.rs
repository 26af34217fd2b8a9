//! Which writes the reads of an execution could take their values from, by places in the code: what reads-from fuzzing
//! makes its constraints of.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{ObjectId, OpKind, OpResult, ReadsFrom, Side, ThreadId};
use raddle_trace::Trace;

/// Places of an object that are combined with each other, of reads and of writes.
const PLACES_MAX: usize = 32;

/// Places where an object is read or written, in order, and by whom.
#[derive(Default)]
struct Places {
    all: Vec<(u32, By)>,
}

/// Who comes to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    One(ThreadId),
    Several,
}

impl Places {
    fn add(&mut self, key: u32, thread: ThreadId) {
        match self.all.iter().position(|it| it.0 == key) {
            Some(idx) if self.all[idx].1 == By::One(thread) => {}
            Some(idx) => self.all[idx].1 = By::Several,
            None if self.all.len() < PLACES_MAX => self.all.push((key, By::One(thread))),
            None => {}
        }
    }
}

#[derive(Default)]
struct Object {
    reads: Places,
    writes: Places,
}

/// All pairs of a write and a read of one object that different threads have made, and of what was there at first and a
/// read; in the order of the trace. Who takes a lock reads from the section before. Linear in steps, and in pairs of
/// places for each object.
pub fn reads_from(trace: &Trace) -> Vec<ReadsFrom> {
    let mut objects: BTreeMap<ObjectId, Object> = BTreeMap::new();
    let mut order = Vec::new();
    for event in &trace.events {
        let takes = event.kind.takes_lock() && event.result == OpResult::Done;
        if !(event.kind.is_access() || takes) || event.object == ObjectId::NONE {
            continue;
        }
        let locked = matches!(event.kind, OpKind::CondWake);
        let id = if locked { event.other } else { event.object };
        let key = Side::key(event.kind, trace.site_hash(event.site));
        let object = objects.entry(id).or_insert_with(|| {
            order.push(id);
            Object::default()
        });
        if takes || !matches!(event.kind, OpKind::Write | OpKind::AtomicStore) {
            object.reads.add(key, event.thread);
        }
        if takes || event.kind.is_write() {
            object.writes.add(key, event.thread);
        }
    }
    let mut known = BTreeSet::new();
    let mut pairs = Vec::new();
    for Object { reads, writes } in order.iter().map(|it| &objects[it]) {
        let is_shared = |by: By, other: By| by == By::Several || by != other;
        let of_read = |(read, by): &(u32, By)| {
            let (read, by) = (*read, *by);
            let writers = writes.all.iter().filter(move |it| is_shared(by, it.1));
            let sources: Vec<u32> = writers.map(|it| it.0).collect();
            let initial = (!sources.is_empty()).then_some(0);
            sources.into_iter().chain(initial).map(move |write| ReadsFrom { write, read })
        };
        pairs.extend(reads.all.iter().flat_map(of_read).filter(|it| known.insert(*it)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::{Expect, expect};
    use raddle_model::{Side, SiteId};

    use super::reads_from;
    use crate::toy;

    /// With lines instead of places: `3>5` is what line 3 writes and line 5 reads, `*` what was there at first.
    fn check(text: &str, expected: Expect) {
        let mut trace = toy::trace(text);
        for (idx, site) in trace.sites.iter_mut().enumerate() {
            site.offset = idx as u64;
        }
        let key =
            |idx: usize| Side::key(trace.events[idx].kind, trace.site_hash(SiteId(idx as u32 + 1)));
        let lines: BTreeMap<u32, usize> =
            (0..trace.events.len()).map(|idx| (key(idx), idx)).collect();
        let name = |key: u32| lines.get(&key).map_or_else(|| "*".to_owned(), usize::to_string);
        let pair = |it: raddle_model::ReadsFrom| format!("{}>{}", name(it.write), name(it.read));
        let told: Vec<String> = reads_from(&trace).into_iter().map(pair).collect();
        expected.assert_eq(&told.join(" "));
    }

    #[test]
    fn reads_and_writes_of_others() {
        let text = "0 spawn 1
                    0 spawn 2
                    0 write x
                    1 write x
                    1 read y
                    2 read x";
        check(text, expect!["2>5 3>5 *>5"]);
    }

    /// An addition is both; who reads what only it has written has no choice.
    #[test]
    fn additions_and_own_values() {
        let text = "0 spawn 1
                    0 rmw n
                    1 rmw n
                    0 store p
                    0 load p";
        check(text, expect!["2>1 *>1 1>2 *>2"]);
    }

    #[test]
    fn sections_of_a_lock() {
        let text = "0 spawn 1
                    0 lock m
                    0 unlock m
                    1 lock m
                    1 unlock m";
        check(text, expect!["3>1 *>1 1>3 *>3"]);
    }
}
