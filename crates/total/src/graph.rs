//! Concurrent dependency graphs (Algorithms 6 to 8) and guidelines (Algorithm 9).
//!
//! The root is a branch, or an access-manner: what it is made of are reads. A *box* chooses one of its reads
//! and leads to a *circle*; the circle leads to one box for each define that the read could have, in which
//! the read is replaced by the reads that flow into the define. A box without reads is a leaf. Each way from
//! the root to a leaf is a *guideline*: use-defines that decide the branch.
//!
//! Corrected: boxes hold steps, not source text; a read that was chosen on the way is not chosen again, so
//! that two threads that feed each other do not make an endless graph. Optimised (Algorithm 8), reads with
//! one possible define get no node at all.
//!
//! The number of leaves is the product of the define sets, so the graph is cut at a given size, and says so.

use std::{collections::BTreeSet, slice};

use raddle_model::{Drawing, DrawnEdge, DrawnNode, Shape};

use crate::{
    history::{History, Sources},
    uses::{DefineSets, UseDefine},
};

/// What a graph is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// A branch, by its step.
    Branch(u32),
    /// An access-manner, by its steps: locks and references in it.
    Manner(Vec<u32>),
    /// Whatever these reads decide.
    Reads(Vec<u32>),
}

impl Root {
    /// What it is made of. Sorted.
    pub fn reads(&self, history: &History) -> Vec<u32> {
        let mut reads = match self {
            Root::Branch(step) => history.reads_into(*step),
            Root::Manner(steps) => steps.iter().flat_map(|it| history.reads_into(*it)).collect(),
            Root::Reads(reads) => reads.clone(),
        };
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    /// The step that is the last before it is decided.
    pub fn last(&self) -> Option<u32> {
        match self {
            Root::Branch(step) => Some(*step),
            Root::Manner(steps) | Root::Reads(steps) => steps.iter().copied().max(),
        }
    }
}

/// Use-defines that decide the root. Sorted.
pub type Guideline = Vec<UseDefine>;

/// See the module.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    is_cut: bool,
}

#[derive(Clone, Debug)]
struct Node {
    kind: NodeKind,
    /// The node that leads here, and the define that was chosen, if the parent is a circle.
    parent: Option<usize>,
    chosen: Option<UseDefine>,
}

#[derive(Clone, Debug)]
enum NodeKind {
    /// Reads that are not replaced yet.
    Box(Vec<u32>),
    /// The read that is.
    Circle(u32),
}

/// What a box is made of, while its reads are replaced.
#[derive(Clone)]
struct Open<'a> {
    sources: Sources<'a>,
    reads: BTreeSet<u32>,
    /// Replaced, here or on the way: they do not come back.
    settled: BTreeSet<u32>,
}

impl Open<'_> {
    /// Adds what flows into a define.
    fn add(&mut self, define: Option<u32>) {
        let reads = define.map_or_else(Vec::new, |it| self.sources.reads_into(it));
        self.reads.extend(reads.into_iter().filter(|it| !self.settled.contains(it)));
    }
}

impl Graph {
    /// The graph of a root, of at most so many nodes.
    pub fn new(
        history: &History,
        sets: &DefineSets<'_>,
        root: &Root,
        is_optimised: bool,
        n_max: usize,
    ) -> Graph {
        let first = Node { kind: NodeKind::Box(root.reads(history)), parent: None, chosen: None };
        let mut graph = Graph { nodes: vec![first], is_cut: false };
        let mut at = 0;
        while at < graph.nodes.len() {
            graph.expand(at, history, sets, is_optimised, n_max);
            at += 1;
        }
        graph
    }

    /// Algorithm 6. Time O(reads · log reads), and of each unknown flow the length of its thread, if that is not in yet.
    fn expand(
        &mut self,
        at: usize,
        history: &History,
        sets: &DefineSets<'_>,
        is_optimised: bool,
        n_max: usize,
    ) {
        let NodeKind::Box(reads) = &self.nodes[at].kind else { return };
        let settled = self.way(at).iter().map(|it| it.use_step).collect();
        let reads = reads.iter().copied().collect();
        let mut open = Open { sources: Sources::of(history), reads, settled };
        let mut is_other = false;
        while let Some(read) = open.reads.pop_last() {
            let defines = sets.of(read);
            open.settled.insert(read);
            if is_optimised && let [define] = defines[..] {
                open.add(define);
                is_other = true;
                continue;
            }
            if is_other {
                let all = open.reads.iter().copied().chain([read]);
                self.nodes[at].kind = NodeKind::Box(all.collect());
            }
            if self.nodes.len() + defines.len() >= n_max {
                self.is_cut = true;
                return;
            }
            let circle = self.nodes.len();
            self.nodes.push(Node { kind: NodeKind::Circle(read), parent: Some(at), chosen: None });
            for define in defines {
                let mut open = open.clone();
                open.add(define);
                let kind = NodeKind::Box(open.reads.into_iter().collect());
                let chosen = Some(UseDefine { use_step: read, define });
                self.nodes.push(Node { kind, parent: Some(circle), chosen });
            }
            return;
        }
        self.nodes[at].kind = NodeKind::Box(Vec::new());
    }

    /// The use-defines chosen between the root and a node.
    fn way(&self, node: usize) -> Guideline {
        let mut found = Vec::new();
        let mut at = Some(node);
        while let Some(idx) = at {
            found.extend(self.nodes[idx].chosen);
            at = self.nodes[idx].parent;
        }
        found.sort_unstable();
        found
    }

    /// All guidelines. Algorithm 9.
    pub fn guidelines(&self) -> Vec<Guideline> {
        let mut has_child = vec![false; self.nodes.len()];
        for parent in self.nodes.iter().filter_map(|it| it.parent) {
            has_child[parent] = true;
        }
        let leaves = (0..self.nodes.len()).filter(|it| !has_child[*it]);
        leaves.map(|it| self.way(it)).collect()
    }

    /// Boxes and circles.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Roughly what they take in memory.
    pub fn n_bytes(&self) -> usize {
        let of_kind = |it: &Node| match &it.kind {
            NodeKind::Box(reads) => reads.len() * 4,
            NodeKind::Circle(_) => 0,
        };
        self.nodes.iter().map(|it| of_kind(it) + size_of::<Node>()).sum()
    }

    /// Was it too large?
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// As it is drawn. `title`: what the root is; `name`: what a step is called.
    pub fn drawing<L>(&self, title: L, name: impl Fn(u32) -> L) -> Drawing<L> {
        let node = |it: &Node| {
            let (shape, steps) = match &it.kind {
                NodeKind::Box(_) if it.parent.is_none() => (Shape::Box, &[][..]),
                NodeKind::Box(reads) => (Shape::Box, reads.as_slice()),
                NodeKind::Circle(read) => (Shape::Circle, slice::from_ref(read)),
            };
            let edge = match it.chosen.map(|it| it.define) {
                None => DrawnEdge::Plain,
                Some(None) => DrawnEdge::First,
                Some(Some(define)) => DrawnEdge::Define(name(define)),
            };
            let labels = steps.iter().map(|it| name(*it)).collect();
            DrawnNode { parent: it.parent, edge, shape, labels }
        };
        Drawing { title, nodes: self.nodes.iter().map(node).collect(), is_cut: self.is_cut }
    }
}
