//! What all depth-first searches have in common: the path of the last execution that counts, the ways not
//! yet taken beside it, and who is sent where.
//!
//! Each node of the path is a state in which somebody was chosen; its *children* are the ways to go on
//! from there that the search wants. The deepest node with a child that is not done comes first, and its
//! children come in their order: that is the order in which results count. All children that are known
//! are certain to be wanted, so they may be handed out ahead of their turn, deepest first.
//!
//! Memory: O(depth · threads) for the path, and one execution for each that was handed out ahead.

mod estimate;
mod parting;

use std::{cell::Cell, collections::BTreeMap};

use raddle_model::{
    CoveredPairs, Divergence, MemoryModel, PickerSpec, Scope, SearchProgress, SearchSize, ThreadId,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

pub(crate) use self::estimate::{Leaves, Samples};
use super::{HapSets, InTurn, ObjectName, Run, Search, Step, Task};

/// A way to go on: who, and how, where there is more than one way to perform the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Way {
    pub(crate) thread: ThreadId,
    /// `None`: not known to have a choice.
    pub(crate) choice: Option<u32>,
}

/// Where a child stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    /// Not handed out.
    Waiting,
    /// Handed out under this number.
    Out(u64),
    /// Counted; what is behind it may still be under way.
    Taken,
    /// Counted; another path goes through what is behind it (see `dpor/forest`).
    Away(u64),
}

impl State {
    /// Has its execution counted?
    pub(crate) const fn has_counted(self) -> bool {
        matches!(self, State::Taken | State::Away(_))
    }
}

/// A way that the search wants to go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Child<E> {
    pub(crate) way: Way,
    pub(crate) state: State,
    /// What the policy keeps about it.
    pub(crate) extra: E,
}

/// A state in which somebody is chosen.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Node<N, E> {
    /// In the order in which they are taken.
    pub(crate) children: Vec<Child<E>>,
    /// Which child the path goes through; none at the end of a path that was cut.
    pub(crate) current: Option<usize>,
    /// What the policy keeps about it.
    pub(crate) extra: N,
}

/// The path of the last execution that counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Path<N, E> {
    pub(crate) steps: Vec<Step>,
    /// One for each step, and one more where the path was cut. Nodes from `n_nodes` on are spare.
    nodes: Vec<Node<N, E>>,
    n_nodes: usize,
    /// Nodes before this one belong to the path that this one was parted from.
    #[serde(default)]
    floor: usize,
    pub(crate) objects: Vec<ObjectName>,
    pub(crate) sites: Vec<u64>,
    /// What its atomics may read.
    #[serde(default)]
    pub(crate) memory: MemoryModel,
}

/// What a policy says about an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was worth it.
    New,
    /// It showed nothing new.
    Redundant,
}

/// What makes one depth-first search differ from another.
pub(crate) trait Policy: Serialize + DeserializeOwned {
    /// Kept at nodes.
    type Node: Clone + std::fmt::Debug + Default + Serialize + DeserializeOwned;
    /// Kept at children.
    type Child: Clone + std::fmt::Debug + Serialize + DeserializeOwned;

    /// The steps from `from` on are new: says where else to go. The node at `from` is old, unless it is
    /// the first: the path goes through another of its children now. May cut the path.
    fn grow(&mut self, path: &mut Path<Self::Node, Self::Child>, from: usize, run: &Run)
    -> Verdict;

    /// Adds further choices to follow after a child's own. Who chooses then?
    fn beyond(
        &self,
        _path: &Path<Self::Node, Self::Child>,
        _node: usize,
        _child: usize,
        _choices: &mut Vec<u32>,
    ) -> PickerSpec {
        PickerSpec::Nonpreemptive
    }

    /// Everything is done: is there a next level, to begin from the start again?
    fn next_level(&mut self) -> bool {
        false
    }

    /// The level under way.
    fn level(&self) -> Option<u32> {
        None
    }

    /// Has a bound left something out, in this level?
    fn is_cut(&self) -> bool {
        false
    }

    /// Learns from an execution that is no part of the search.
    fn teach(&mut self, _run: &Run) {}

    /// Which orders were covered, if that guides the search.
    fn covered(&self) -> Option<(&HapSets, CoveredPairs)> {
        None
    }

    /// How many leaves this level has, judged by one path, where that can be told better than by the ways at
    /// its nodes.
    fn sample(&self, _path: &Path<Self::Node, Self::Child>) -> Option<f64> {
        None
    }

    /// Can a child be taken although what is behind others of its node is not explored yet?
    fn is_free(_node: &Node<Self::Node, Self::Child>, _child: usize) -> bool {
        false
    }

    /// Which schedules it explores.
    fn scope(&self) -> Scope;

    /// Are all ways at a node known as soon as it is seen?
    const IS_STATIC: bool;
}

impl<N: Clone + Default, E: Clone> Path<N, E> {
    pub(crate) const fn new() -> Path<N, E> {
        Path {
            steps: Vec::new(),
            nodes: Vec::new(),
            n_nodes: 0,
            floor: 0,
            objects: Vec::new(),
            sites: Vec::new(),
            memory: MemoryModel::Sc,
        }
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    pub(crate) fn node(&self, idx: usize) -> &Node<N, E> {
        assert!(idx < self.n_nodes, "bug: no such node");
        &self.nodes[idx]
    }

    pub(crate) fn node_mut(&mut self, idx: usize) -> &mut Node<N, E> {
        assert!(idx < self.n_nodes, "bug: no such node");
        &mut self.nodes[idx]
    }

    /// Adds a node without children.
    pub(crate) fn push_node(&mut self) -> &mut Node<N, E> {
        if self.nodes.len() == self.n_nodes {
            self.nodes.push(Node { children: Vec::new(), current: None, extra: N::default() });
        }
        self.n_nodes += 1;
        let node = &mut self.nodes[self.n_nodes - 1];
        node.children.clear();
        node.current = None;
        node
    }

    /// Forgets steps from `n_steps` on; their nodes too, but not the one at which the next would begin.
    pub(crate) fn cut(&mut self, n_steps: usize) {
        self.steps.truncate(n_steps);
        self.n_nodes = self.n_nodes.min(n_steps + 1);
        if let Some(node) = self.nodes[..self.n_nodes].get_mut(n_steps) {
            node.current = None;
        }
    }

    /// Who took the step before `idx`; main before the first.
    pub(crate) fn last(&self, idx: usize) -> ThreadId {
        idx.checked_sub(1).map_or(ThreadId(0), |it| self.steps[it].thread)
    }

    /// The choices up to a node.
    pub(crate) fn choices(&self, n_steps: usize) -> Vec<u32> {
        let mut choices = Vec::with_capacity(self.steps.len() + 2);
        for step in &self.steps[..n_steps] {
            push_choice(&mut choices, step.thread, (step.n_choices > 1).then_some(step.choice));
        }
        choices
    }

    /// The deepest node with a child that can be taken, and that child.
    fn first_open<P: Policy<Node = N, Child = E>>(&self) -> Option<(usize, usize)> {
        self.opens::<P>().next()
    }

    /// All children that can be taken, in the order in which they will be, as far as it is known.
    fn opens<P: Policy<Node = N, Child = E>>(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        // Where another path goes on, ways nearer to the beginning have to wait for it.
        let mut is_parted = false;
        let nodes = (self.floor..self.n_nodes).rev().map_while(move |idx| {
            let node = (!is_parted).then(|| &self.nodes[idx])?;
            is_parted = node.is_parted();
            Some((idx, node, is_parted))
        });
        nodes.flat_map(|(idx, node, is_parted)| {
            let open = node.children.iter().enumerate().filter(|(_, it)| !it.state.has_counted());
            let open = open.filter(move |(child, _)| !is_parted || P::is_free(node, *child));
            open.map(move |(child, _)| (idx, child))
        })
    }

    /// The weight of all that has been explored, by the children known now; of what is its own.
    pub(crate) fn done(&self) -> f64 {
        let mut done = 0.0;
        let mut weight = 1.0;
        for (idx, node) in self.nodes[..self.n_nodes].iter().enumerate() {
            let n_taken = node.children.iter().filter(|it| it.state == State::Taken).count();
            weight /= node.children.len().max(1) as f64;
            if self.floor <= idx {
                done += weight * (n_taken - usize::from(node.current.is_some())) as f64;
            }
        }
        let is_whole = self.nodes[..self.n_nodes].last().is_none_or(|it| it.current.is_some());
        if is_whole { done + weight } else { done }
    }

    /// Ways of its own that were not taken: each leads to an execution at least.
    pub(crate) fn n_waiting(&self) -> u64 {
        let own = self.nodes[..self.n_nodes].iter().skip(self.floor).flat_map(|it| &it.children);
        own.filter(|it| !it.state.has_counted()).count() as u64
    }

    /// Knuth's product of the ways at each node.
    fn knuth(&self) -> f64 {
        let product =
            |x: f64, node: &Node<N, E>| (x * node.children.len().max(1) as f64).min(1e300);
        self.nodes[..self.n_nodes].iter().fold(1.0, product)
    }
}

pub(crate) fn push_choice(choices: &mut Vec<u32>, thread: ThreadId, choice: Option<u32>) {
    choices.push(thread.0);
    choices.extend(choice);
}

impl<N: Clone, E: Clone> Clone for Node<N, E> {
    fn clone(&self) -> Node<N, E> {
        let Node { children, current, extra } = self;
        Node { children: children.clone(), current: *current, extra: extra.clone() }
    }

    /// Room is used again.
    fn clone_from(&mut self, other: &Node<N, E>) {
        self.children.clone_from(&other.children);
        self.current = other.current;
        self.extra.clone_from(&other.extra);
    }
}

impl<N, E: Clone> Node<N, E> {
    /// Does another path go through one of its children?
    fn is_parted(&self) -> bool {
        self.children.iter().any(|it| matches!(it.state, State::Away(_)))
    }

    /// Adds a child at the end.
    pub(crate) fn add(&mut self, way: Way, extra: E) {
        self.children.push(Child { way, state: State::Waiting, extra });
    }

    /// The path goes through the step's way, which is the node's first child.
    pub(crate) fn begin(&mut self, step: &Step, extra: E) {
        let choice = (step.n_choices > 1).then_some(step.choice);
        let way = Way { thread: step.thread, choice };
        self.children.push(Child { way, state: State::Taken, extra });
        self.current = Some(self.children.len() - 1);
    }

    /// The step has been taken: if it could be performed in other ways too, these are wanted as well, right
    /// after it.
    pub(crate) fn add_choices(&mut self, step: &Step) {
        if step.n_choices <= 1 {
            return;
        }
        let Some(current) = self.current else { return };
        let extra = self.children[current].extra.clone();
        self.children[current].way.choice = Some(step.choice);
        let mut at = current + 1;
        for choice in 0..step.n_choices {
            let way = Way { thread: step.thread, choice: Some(choice) };
            if self.children.iter().all(|it| it.way != way) {
                self.children
                    .insert(at, Child { way, state: State::Waiting, extra: extra.clone() });
                at += 1;
            }
        }
    }
}

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Tree<P: Policy> {
    policy: P,
    path: Path<P::Node, P::Child>,
    /// The execution without prefix, with which a level begins.
    root: State,
    next_number: u64,
    #[serde(skip)]
    results: BTreeMap<u64, Run>,
    /// Tasks handed out that do not count yet.
    #[serde(skip)]
    n_out: usize,
    /// What [`Path::first_open`] says, if that was asked since the path has changed.
    #[serde(skip)]
    open: Cell<Option<Option<(usize, usize)>>>,
    pub(crate) leaves: Leaves,
    #[serde(default)]
    samples: Samples,
    pub(crate) n_executions: u64,
    pub(crate) n_redundant: u64,
    pub(crate) n_diverged: u64,
    pub(crate) divergence: Option<Divergence>,
}

/// Results that wait for an earlier one, at most, for each task that is asked for.
pub(crate) const AHEAD_MAX: usize = 4;

impl<P: Policy> Tree<P> {
    pub(crate) fn new(policy: P) -> Tree<P> {
        Tree {
            policy,
            path: Path::new(),
            root: State::Waiting,
            next_number: 0,
            results: BTreeMap::new(),
            n_out: 0,
            open: Cell::new(None),
            leaves: Leaves::default(),
            samples: Samples::default(),
            n_executions: 0,
            n_redundant: 0,
            n_diverged: 0,
            divergence: None,
        }
    }

    /// The same, for executions whose atomics may read other than the newest store.
    pub(crate) fn on(mut self, memory: MemoryModel) -> Tree<P> {
        self.path.memory = memory;
        self
    }

    /// As [`Search::save`] left it: nothing is handed out.
    pub(crate) fn restored(mut self) -> Tree<P> {
        if let State::Out(_) = self.root {
            self.root = State::Waiting;
        }
        for node in &mut self.path.nodes {
            for child in &mut node.children {
                if let State::Out(_) = child.state {
                    child.state = State::Waiting;
                }
            }
        }
        self
    }

    /// It is done: what its policy still knows, and room for another path.
    pub(crate) fn into_parts(self) -> (P, Path<P::Node, P::Child>) {
        (self.policy, self.path)
    }

    /// A tree that goes on behind a node of another one.
    pub(crate) fn behind(policy: P, path: Path<P::Node, P::Child>) -> Tree<P> {
        Tree { path, root: State::Taken, ..Tree::new(policy) }
    }

    /// The deepest node with a child that can be taken, and that child.
    fn first_open(&self) -> Option<(usize, usize)> {
        if let Some(open) = self.open.get() {
            return open;
        }
        let open = self.path.first_open::<P>();
        self.open.set(Some(open));
        open
    }

    pub(crate) fn policy(&self) -> &P {
        &self.policy
    }

    pub(crate) fn path(&self) -> &Path<P::Node, P::Child> {
        &self.path
    }

    /// Both, to be changed by whoever parts and joins.
    pub(crate) fn parts_mut(&mut self) -> (&mut P, &mut Path<P::Node, P::Child>) {
        self.open.set(None);
        (&mut self.policy, &mut self.path)
    }

    fn number(&mut self) -> u64 {
        self.n_out += 1;
        self.next_number += 1;
        self.next_number - 1
    }

    /// The execution that comes first, under this number; none if all is done.
    pub(crate) fn first_task(&mut self, number: u64) -> Option<Task> {
        if self.root == State::Waiting {
            self.root = State::Out(number);
            return Some(Task { number, prefix: Vec::new(), tail: PickerSpec::Nonpreemptive });
        }
        let (node, child) = self.first_open()?;
        Some(self.task(number, node, child))
    }

    /// The first execution that was not handed out, under this number.
    pub(crate) fn later_task(&mut self, number: u64) -> Option<Task> {
        let is_waiting =
            |it: &(usize, usize)| self.path.node(it.0).children[it.1].state == State::Waiting;
        let (node, child) = self.path.opens::<P>().find(is_waiting)?;
        Some(self.task(number, node, child))
    }

    fn task(&mut self, number: u64, node: usize, child: usize) -> Task {
        let mut prefix = self.path.choices(node);
        let way = self.path.node(node).children[child].way;
        push_choice(&mut prefix, way.thread, way.choice);
        let tail = self.policy.beyond(&self.path, node, child, &mut prefix);
        self.path.node_mut(node).children[child].state = State::Out(number);
        Task { number, prefix, tail }
    }

    /// The number under which the task was handed out that counts next.
    pub(crate) fn turn(&self) -> Option<u64> {
        let state = match self.root {
            State::Taken => {
                let (node, child) = self.first_open()?;
                self.path.node(node).children[child].state
            }
            state => state,
        };
        match state {
            State::Out(number) => Some(number),
            _ => None,
        }
    }

    /// Counts the result whose turn it is.
    pub(crate) fn count(&mut self, run: &Run) {
        self.n_executions += 1;
        self.n_out = self.n_out.saturating_sub(1);
        let from = match self.root {
            State::Taken => match self.follow(run) {
                Some(from) => from,
                None => {
                    self.n_diverged += 1;
                    return self.finish_level();
                }
            },
            _ => {
                self.root = State::Taken;
                self.path.cut(0);
                self.path.n_nodes = 0;
                0
            }
        };
        self.path.objects.clone_from(&run.objects);
        self.path.sites.clone_from(&run.sites);
        self.path.steps.extend_from_slice(&run.steps[from..]);
        match self.policy.grow(&mut self.path, from, run) {
            Verdict::New => self.leaves.add(self.path.knuth()),
            Verdict::Redundant => self.n_redundant += 1,
        }
        if let Some(x) = self.policy.sample(&self.path) {
            self.samples.add(x);
        }
        self.finish_level();
    }

    /// Makes the path go through the child whose turn it is; the node's depth, or nothing if the execution
    /// did not go there.
    fn follow(&mut self, run: &Run) -> Option<usize> {
        let (depth, child) = self.first_open().expect("bug: it was nobody's turn");
        self.open.set(None);
        let node = self.path.node_mut(depth);
        node.children[child].state = State::Taken;
        node.current = Some(child);
        let way = node.children[child].way;
        let is_taken = |step: &Step| {
            step.thread == way.thread && way.choice.is_none_or(|it| it == step.choice)
        };
        let differs = (0..depth).find(|idx| !is_same(&self.path.steps[*idx], run.steps.get(*idx)));
        let differs = differs.or((!run.steps.get(depth).is_some_and(is_taken)).then_some(depth));
        if let Some(step) = differs {
            self.note_divergence(step, run);
            // What was there before is there no more, but where else to go is still known.
            self.path.cut(depth);
            return None;
        }
        self.path.steps.truncate(depth);
        self.path.n_nodes = depth + 1;
        Some(depth)
    }

    fn note_divergence(&mut self, step: usize, run: &Run) {
        if let (None, Some(expected)) = (&self.divergence, self.path.steps.get(step)) {
            self.divergence = Some(Divergence {
                step: step as u64,
                thread: expected.thread,
                expected: expected.kind,
                seen: run.steps.get(step).map(|it| (it.thread, it.kind)),
            });
        }
    }

    /// Is nothing left to be taken?
    pub(crate) fn has_ended(&self) -> bool {
        self.root == State::Taken && self.first_open().is_none()
    }

    fn finish_level(&mut self) {
        self.open.set(None);
        if self.first_open().is_none() && self.policy.next_level() {
            self.root = State::Waiting;
            self.leaves = Leaves::default();
            self.samples = Samples::default();
        }
    }
}

pub(crate) fn is_same(expected: &Step, seen: Option<&Step>) -> bool {
    seen.is_some_and(|it| {
        (it.thread, it.kind, it.object, it.site, it.choice)
            == (expected.thread, expected.kind, expected.object, expected.site, expected.choice)
    })
}

impl<P: Policy> InTurn for Tree<P> {
    fn waiting(&mut self) -> &mut BTreeMap<u64, Run> {
        &mut self.results
    }

    fn take_in(&mut self, run: &Run) {
        self.count(run);
    }
}

impl<P: Policy> Search for Tree<P> {
    fn turn(&self) -> Option<u64> {
        Tree::turn(self)
    }

    fn next(&mut self, n_max: usize) -> Vec<Task> {
        if self.root != State::Taken {
            if self.root != State::Waiting || n_max == 0 {
                return Vec::new();
            }
            let number = self.number();
            return self.first_task(number).into_iter().collect();
        }
        // Whatever is asked for: the one whose turn it is must never wait for room.
        let room = (n_max * AHEAD_MAX)
            .saturating_sub(self.n_out)
            .clamp(usize::from(self.turn().is_none()), n_max);
        let waiting =
            |it: &(usize, usize)| self.path.node(it.0).children[it.1].state == State::Waiting;
        let wanted: Vec<(usize, usize)> =
            self.path.opens::<P>().filter(waiting).take(room).collect();
        let tasks = wanted.into_iter().map(|(node, child)| {
            let number = self.number();
            self.task(number, node, child)
        });
        tasks.collect()
    }

    fn learn(&mut self, number: u64, run: &Run) -> Vec<u64> {
        self.learn_in_turn(number, run)
    }

    fn teach(&mut self, run: &Run) {
        self.policy.teach(run);
    }

    fn covered(&self) -> Option<&HapSets> {
        self.policy.covered().map(|it| it.0)
    }

    fn is_finished(&self) -> bool {
        self.has_ended()
    }

    fn progress(&self) -> SearchProgress {
        let is_finished = self.is_finished();
        let done = match (is_finished, P::IS_STATIC) {
            (true, _) => Some(1.0),
            (false, true) => None,
            (false, false) => Some(self.path.done()),
        };
        let is_open = !is_finished && !P::IS_STATIC && self.policy.level().is_none();
        let least = is_open.then(|| self.n_executions + self.path.n_waiting());
        SearchProgress {
            level: self.policy.level(),
            n_executions: self.n_executions,
            n_redundant: self.n_redundant,
            n_diverged: self.n_diverged,
            divergence: self.divergence.clone(),
            stage: None,
            estimate: match is_finished {
                true => None,
                false => self.samples.estimate(self.leaves.n()),
            }
            .or_else(|| self.leaves.estimate(done))
            .map(|it| SearchSize { least, ..it }),
            is_finished,
            is_cut: self.policy.is_cut(),
            covered: self.policy.covered().map(|it| it.1),
            scope: self.policy.scope(),
            ..SearchProgress::default()
        }
    }

    fn save(&self) -> Box<RawValue> {
        to_raw_value(self).expect("bug: a search is plain data")
    }
}
