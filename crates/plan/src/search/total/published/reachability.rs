//! Reachability testing (Hwang, Tai and Huang, as chapter 4 has it) with locks and waits (§5.2): from every trace, every
//! variant; each is executed once, goes on by itself from where it differs, and its trace is taken in.
//!
//! TPAIR: the variants of each two threads of a trace, in which the others go on as they did, and further where they are
//! waited for. The dissertation only counts them.
//!
//! Of each trace so many nodes of the variant graph are looked at, breadth first; where there are more, that is said.

use std::collections::{BTreeSet, VecDeque};

use raddle_model::ThreadId;
use raddle_total::{Variants, of_pairs};

use super::{
    super::past::Past,
    Method, Setting, Size,
    variation::{Shown, Variation},
};

/// Nodes of a variant graph.
const NODES_MAX: usize = 20_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Reachability {
    is_by_pairs: bool,
    queue: VecDeque<Variation>,
    /// Variants that wait or were executed.
    known: BTreeSet<Vec<u64>>,
    shown: Shown,
    is_cut: bool,
    most: Size,
}

impl Reachability {
    pub(super) fn of_pairs() -> Reachability {
        Reachability { is_by_pairs: true, ..Reachability::default() }
    }

    /// The variants of a trace; of two threads, with these.
    fn variants(&self, past: &Past) -> Vec<(Option<[ThreadId; 2]>, Variants)> {
        let shared = past.history.shared();
        if !self.is_by_pairs {
            return vec![(None, Variants::of(&past.history, &shared, NODES_MAX))];
        }
        let pairs = of_pairs(&past.history, &shared, NODES_MAX);
        pairs.map(|(pair, variants)| (Some(pair), variants)).collect()
    }

    /// Those that nobody has executed and that do not wait.
    pub(super) fn derive(&mut self, past: &Past, with: &Setting<'_>) -> Vec<Variation> {
        self.shown.add(&past.history);
        let mut found = Vec::new();
        let mut size = Size::default();
        for (pair, variants) in self.variants(past) {
            let n_bytes = variants.n_kept_bytes();
            size = size.and(Size { nodes: variants.n_nodes(), n_bytes });
            self.is_cut |= variants.count().is_cut;
            for schedule in variants.schedules() {
                let it = Variation::of(past, &schedule, pair, with);
                let Some(it) = it else { continue };
                if !self.shown.has(&it.ids) && self.known.insert(it.ids.clone()) {
                    found.push(it);
                }
            }
        }
        self.most = self.most.max(size);
        found
    }

    /// Has an execution shown this since?
    pub(super) fn is_shown(&self, it: &Variation) -> bool {
        self.shown.has(&it.ids)
    }
}

impl Method for Reachability {
    fn take_in(&mut self, past: &Past, with: &Setting<'_>) {
        let found = self.derive(past, with);
        self.queue.extend(found);
    }

    fn next(&mut self, _with: &Setting<'_>) -> Option<Vec<u32>> {
        while let Some(it) = self.queue.pop_front() {
            if !self.is_shown(&it) {
                return Some(it.prefix);
            }
        }
        None
    }

    fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn most(&self) -> Size {
        self.most
    }
}
