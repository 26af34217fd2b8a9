//! A tree of boxes and circles, to be drawn: what decides a branch (total replay's concurrent dependency graphs).
//!
//! Labels are steps where it is made, places where a search hands it on, and text where it is drawn.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Drawing<L> {
    /// What is decided: the label of the first node.
    pub title: L,
    /// Invariant: each comes after its parent.
    pub nodes: Vec<DrawnNode<L>>,
    /// Was it too large, so that there would be more?
    pub is_cut: bool,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct DrawnNode<L> {
    /// The node that leads here.
    pub parent: Option<usize>,
    /// What leads here.
    pub edge: DrawnEdge<L>,
    /// How it is drawn.
    pub shape: Shape,
    /// What it says, line by line.
    pub labels: Vec<L>,
}

/// What leads to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum DrawnEdge<L> {
    /// Nothing that would be said.
    Plain,
    /// This define was read.
    Define(L),
    /// The value before the first define was.
    First,
}

/// How a node is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Shape {
    /// Reads that are left to decide.
    Box,
    /// The read that is decided next.
    Circle,
}

impl<L> Drawing<L> {
    /// The same with other labels.
    pub fn map<M>(&self, mut label: impl FnMut(&L) -> M) -> Drawing<M> {
        let nodes = self.nodes.iter().map(|it| DrawnNode {
            parent: it.parent,
            edge: match &it.edge {
                DrawnEdge::Plain => DrawnEdge::Plain,
                DrawnEdge::Define(define) => DrawnEdge::Define(label(define)),
                DrawnEdge::First => DrawnEdge::First,
            },
            shape: it.shape,
            labels: it.labels.iter().map(&mut label).collect(),
        });
        let nodes = nodes.collect();
        Drawing { title: label(&self.title), nodes, is_cut: self.is_cut }
    }
}
