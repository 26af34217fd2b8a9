//! Guidelines (Algorithms 6 to 11): of each branch and reference of a trace the dependency graph, of each of its ways a
//! guideline, of each guideline that no execution satisfies a schedule, which is executed; its trace is taken in.
//!
//! Where we depart: a guideline has many use-defines, which are woven together ([`raddle_total::weave`]), where Algorithms
//! 10 and 11 block two threads for one and may deadlock (F3.8). A schedule ends where a thread would go on after it
//! has read something else: nobody knows what it does then. The rest of the guideline is one of the new trace's.
//! What it misses: a guideline for which no schedule is woven is taken for infeasible; and what comes of combining
//! guidelines of several branches, for each is followed by itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use raddle_model::Count;
use raddle_total::{
    Constraint, DefineSets, Graph, Guideline, Locks, MustOrder, Policy, is_in_time, weave,
};

use super::{
    super::{DEFINES_MAX, past::Past},
    Method, Setting, Size,
    roots::{affected, decided, is_affected, name_of},
    variation::n_certain,
};

/// Nodes of one dependency graph.
const NODES_MAX: usize = 2_000;
/// Traces in which schedules are woven for one guideline.
const TRIES_MAX: u32 = 16;

/// A guideline by what it is called in every execution. Sorted.
type Named = Vec<(u64, u64)>;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Guidelines {
    queue: VecDeque<(Named, Vec<u32>)>,
    /// By execution: its use-defines.
    had: Vec<BTreeSet<(u64, u64)>>,
    /// How often schedules were woven for it.
    tries: BTreeMap<Named, u32>,
    /// What was or will be executed.
    known: BTreeSet<Vec<u32>>,
    is_cut: bool,
    most: Size,
}

impl Guidelines {
    /// Does an execution satisfy it (formula 4)?
    fn is_satisfied(&self, named: &Named) -> bool {
        self.had.iter().any(|it| named.iter().all(|of| it.contains(of)))
    }
}

impl Method for Guidelines {
    fn take_in(&mut self, past: &Past, with: &Setting<'_>) {
        let (history, branches) = decided(past, with.flows);
        let order = MustOrder::of(&history);
        let locks = Locks::of(&history);
        let sets = DefineSets::new(&history, &order, &locks).at_most(DEFINES_MAX);
        let affected = affected(&history, &sets);
        self.had.push(sets.use_defines().map(|it| name_of(past, it)).collect());
        let mut size = Size::default();
        for branch in branches.iter().filter(|it| is_affected(&history, &affected, &it.root)) {
            let graph = Graph::new(&history, &sets, &branch.root, true, NODES_MAX);
            self.is_cut |= graph.is_cut();
            let nodes = Count { n: graph.n_nodes() as u64, is_cut: graph.is_cut() };
            size = size.and(Size { nodes, n_bytes: graph.n_bytes() as u64 });
            for guideline in graph.guidelines() {
                let mut named: Named = guideline.iter().map(|it| name_of(past, *it)).collect();
                named.sort_unstable();
                let n_tries = self.tries.get(&named).copied().unwrap_or(0);
                if n_tries >= TRIES_MAX || self.is_satisfied(&named) {
                    continue;
                }
                self.tries.insert(named.clone(), n_tries + 1);
                if let Some(prefix) = schedule(past, &guideline, with)
                    && self.known.insert(prefix.clone())
                {
                    self.queue.push_back((named, prefix));
                }
            }
        }
        self.most = self.most.max(size);
    }

    fn next(&mut self, _with: &Setting<'_>) -> Option<Vec<u32>> {
        while let Some((named, prefix)) = self.queue.pop_front() {
            if !self.is_satisfied(&named) {
                return Some(prefix);
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

/// The choices that follow a guideline, as far as it is known what threads do.
fn schedule(past: &Past, guideline: &Guideline, with: &Setting<'_>) -> Option<Vec<u32>> {
    let constraints: Vec<Constraint> = guideline
        .iter()
        .map(|it| Constraint { use_step: it.use_step, define: it.define })
        .collect();
    let steps = Policy::ALL.into_iter().find_map(|policy| {
        let woven = weave(&past.history, &constraints, policy);
        let is_good = woven.satisfied.len() == constraints.len();
        let is_possible = with.may_time_out || is_in_time(&past.history, &woven.steps);
        (is_good && is_possible).then_some(woven.steps)
    })?;
    let n_certain = n_certain(past, with.flows, &steps);
    Some(past.prefix(&steps[..n_certain]))
}
