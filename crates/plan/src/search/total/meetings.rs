//! Reads and writes of a variable that no execution had together: what they are to each other nobody has seen.

use std::collections::{BTreeMap, BTreeSet};

use super::past::Past;

/// A thread, at a place.
pub(super) type OfThread = (u32, u64);

/// Places where threads read and write a variable.
#[derive(Debug, Default)]
struct Places {
    reads: BTreeSet<OfThread>,
    writes: BTreeSet<OfThread>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    /// By variable, of all executions.
    places: BTreeMap<u64, Places>,
    /// A variable, a read and a write that were in one execution.
    met: BTreeSet<(u64, OfThread, OfThread)>,
}

impl Meetings {
    /// An execution has come: all reads at places that matter which another thread's write might reach, for they were
    /// in no execution together.
    pub(super) fn hear(&mut self, past: &Past, relevant: &BTreeSet<u64>) -> BTreeSet<OfThread> {
        let mut places: BTreeMap<u64, Places> = BTreeMap::new();
        for step in &past.history.steps {
            let of = (step.thread.0, step.place);
            if step.act.is_read() && relevant.contains(&step.place) {
                places.entry(step.object).or_default().reads.insert(of);
            }
            if step.act.is_write() {
                places.entry(step.object).or_default().writes.insert(of);
            }
        }
        let mut apart = BTreeSet::new();
        for (object, Places { reads, writes }) in places {
            self.met.extend(pairs(&reads, &writes).map(|it| (object, it.0, it.1)));
            let all = self.places.entry(object).or_default();
            all.reads.extend(reads);
            all.writes.extend(writes);
            let never_met = |it: &(OfThread, OfThread)| !self.met.contains(&(object, it.0, it.1));
            apart.extend(pairs(&all.reads, &all.writes).filter(never_met).map(|it| it.0));
        }
        apart
    }
}

/// Reads and writes of different threads.
fn pairs<'a>(
    reads: &'a BTreeSet<OfThread>,
    writes: &'a BTreeSet<OfThread>,
) -> impl Iterator<Item = (OfThread, OfThread)> + 'a {
    let of_others = |read: OfThread| writes.iter().filter(move |it| it.0 != read.0);
    reads.iter().flat_map(move |read| of_others(*read).map(move |it| (*read, *it)))
}
