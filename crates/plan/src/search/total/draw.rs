//! Concurrent dependency graphs of an execution, for figures and to be drawn.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Drawing, ThreadId};
use raddle_total::{DefineSets, Graph, Locks, MustOrder, Root};

use super::{decide::Decisions, past::Past, roots::roots};
use raddle_model::flows::Flows;

/// Nodes of one graph, more than which are not made.
const NODES_MAX: usize = 200;
/// Graphs that are drawn.
const GRAPHS_MAX: usize = 64;

/// What the graphs come to.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    pub(super) n_nodes: u64,
    pub(super) n_bytes: u64,
    pub(super) drawings: Vec<Drawing<DrawnStep>>,
}

/// What a drawing says of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnStep {
    /// Something is decided by what is read here.
    Decided(u64),
    /// A read: whose, and where.
    Read(ThreadId, u64),
    /// A write.
    Write(ThreadId, u64),
}

impl DrawnStep {
    /// Where.
    pub const fn place(self) -> u64 {
        match self {
            DrawnStep::Decided(place) | DrawnStep::Read(_, place) | DrawnStep::Write(_, place) => {
                place
            }
        }
    }
}

/// The graphs of all that deciding reads decide, each way of coming there once.
pub(super) fn draw(past: &Past, flows: &Flows, decisions: &Decisions) -> Drawn {
    let mut history = past.history.clone();
    let mut together: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let deciding: BTreeSet<u32> = decisions.deciders.iter().map(|it| it.read).collect();
    let is_drawn = |read, sink: Option<u32>| sink.is_some() && deciding.contains(&read);
    for it in roots(&mut history, flows, &decisions.reached, is_drawn) {
        together.entry(it.read).or_default().extend(it.reads);
    }
    let order = MustOrder::of(&history);
    let locks = Locks::of(&history);
    let sets = DefineSets::new(&history, &order, &locks).at_most(super::DEFINES_MAX);
    let mut drawn = Drawn::default();
    let mut seen = BTreeSet::new();
    for decider in &decisions.deciders {
        let step = &history.steps[decider.read as usize];
        if !seen.insert((step.thread, step.place, decider.visit)) || seen.len() > GRAPHS_MAX {
            continue;
        }
        let reads = together.get(&decider.read).into_iter().flatten().copied();
        let affected = reads.filter(|it| decisions.is_affected[*it as usize]);
        let root = Root::Reads(affected.collect());
        let graph = Graph::new(&history, &sets, &root, true, NODES_MAX);
        drawn.n_nodes += graph.n_nodes() as u64;
        drawn.n_bytes += graph.n_bytes() as u64;
        let name = |step: u32| {
            let step = &history.steps[step as usize];
            match step.act.is_write() {
                true => DrawnStep::Write(step.thread, step.place),
                false => DrawnStep::Read(step.thread, step.place),
            }
        };
        drawn.drawings.push(graph.drawing(DrawnStep::Decided(step.place), name));
    }
    drawn
}
