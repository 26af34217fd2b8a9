//! What threads are known to do, out of many executions: a tree for each thread.
//!
//! A thread does what it did whenever it has read what it had read. So executions that were seen apart tell together
//! what it does: its steps are the nodes, and after a read that matters it goes on in one way for each value that it was
//! seen to read there, and after a call that is told something for each answer (its *label*). All of them together are a model of the program, exact as far as threads have
//! been seen, in which [`reach`](crate::reach) looks for schedules that nobody has executed.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{OpResult, ThreadId, mix};

use crate::history::{Act, History, Step};

/// The label of steps that read nothing that matters.
const PLAIN: u64 = 0;

/// A step that was made, or is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The node.
    pub node: u32,
    /// What the call is told.
    pub answer: OpResult,
    /// Which of those that wait it wakes.
    pub way: u32,
}

/// The label of a step as a thread made it: what it read, if that matters, or what it was told.
pub fn label_of(step: &Step, read: Option<u64>) -> u64 {
    read.or(step.act.has_answers().then(|| answer_label(step.answer))).unwrap_or(PLAIN)
}

/// The label of an answer.
pub(crate) const fn answer_label(answer: OpResult) -> u64 {
    answer as u64 + 1
}

/// What is known of an execution's steps, beside the steps.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// By step: of a read that matters, its value.
    pub labels: &'a [Option<u64>],
    /// By step: of a write, what its value is called until somebody has read it. Equal names have equal values.
    pub names: &'a [u64],
    /// By step: of a read that matters, the write that it read.
    pub defines: &'a [Option<u32>],
}

/// What the first value of a variable is called.
pub const fn first_value(object: u64) -> u64 {
    mix(5, object)
}

/// See the module.
#[derive(Debug, Default)]
pub struct Known {
    /// May waits with a time limit end although others can go on?
    pub may_time_out: bool,
    pub(crate) nodes: Vec<Node>,
    /// By thread: its first steps. More than one, if it is not the values that decide.
    pub(crate) first: Vec<Vec<u32>>,
    pub(crate) objects: BTreeMap<u64, Touched>,
    /// As in a history.
    pub(crate) counts: BTreeMap<u64, u32>,
    /// Locks that somebody tries for, or waits for only so long: it matters how long others hold them.
    pub(crate) tried: BTreeSet<u64>,
    /// By name: the value; `None` if there were several, for what is written depends on more than was thought.
    values: BTreeMap<u64, Option<u64>>,
    /// Beginnings of the orders in which objects of other kinds were used, as hashes.
    pub(crate) orders: BTreeSet<u64>,
}

/// A step of a thread, after all that it had read.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) step: Step,
    parent: Option<u32>,
    depth: u32,
    /// Its thread's steps up to it, and what they read, as a hash: the same in every model.
    id: u64,
    /// It is a read that matters, or a call that is told something.
    pub(crate) is_labelled: bool,
    outcomes: Vec<Outcome>,
}

/// How a thread goes on after a step.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What was read.
    pub(crate) label: u64,
    /// Of what it writes: what it is called, and the value if somebody has read it.
    name: u64,
    value: Option<u64>,
    /// Does it write? A compare-exchange does, if it has read what it expects.
    pub(crate) is_write: bool,
    /// What comes then; none if that was the thread's last step.
    pub(crate) next: Vec<u32>,
}

/// Who uses an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    thread: ThreadId,
    pub(crate) is_shared: bool,
    /// A read of it matters.
    pub(crate) is_read: bool,
}

impl Known {
    /// Adds an execution; its steps as nodes, and then what threads were blocked at: what comes of it nobody has seen.
    pub fn add(&mut self, history: &History, with: &Labels<'_>) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::with_capacity(history.steps.len());
        let mut latest: Vec<Option<(u32, usize)>> = vec![None; history.n_threads()];
        let mut orders: BTreeMap<u64, u64> = BTreeMap::new();
        let n_threads = history.blocked.iter().map(|it| it.thread.idx() + 1).max().unwrap_or(0);
        self.first.resize(self.first.len().max(latest.len()).max(n_threads), Vec::new());
        self.counts.extend(&history.counts);
        for (idx, step) in history.steps.iter().enumerate() {
            let is_told = step.act.has_answers();
            let label = with.labels[idx].or(is_told.then(|| answer_label(step.answer)));
            let before = latest[step.thread.idx()];
            let node = self.node_after(before, step, label.is_some());
            let name = with.names[idx];
            let outcome = self.nodes[node as usize].outcome(label.unwrap_or(PLAIN), name);
            self.nodes[node as usize].outcomes[outcome].is_write |= step.act.is_write();
            latest[step.thread.idx()] = Some((node, outcome));
            self.touch(step, label.is_some());
            if let Some(value) = label.filter(|_| !is_told) {
                let define = with.defines[idx].map(|it| (found[it as usize], it));
                self.learn(define, step.object, value, with);
            }
            if step.act == Act::Other && step.object != 0 {
                let order = orders.entry(step.object).or_insert(step.object);
                *order = next_order(*order, step);
                self.orders.insert(*order);
            }
            found.push(node);
        }
        for step in &history.blocked {
            let before = latest.get(step.thread.idx()).copied().flatten();
            found.push(self.node_after(before, step, step.act.has_answers()));
        }
        found
    }

    /// What a thread does next, after a step and its outcome.
    fn node_after(&mut self, before: Option<(u32, usize)>, step: &Step, is_labelled: bool) -> u32 {
        let next = match before {
            None => &self.first[step.thread.idx()],
            Some((node, outcome)) => &self.nodes[node as usize].outcomes[outcome].next,
        };
        let is_it = |it: &&u32| self.nodes[**it as usize].step.is_same_call(step);
        if let Some(known) = next.iter().find(is_it).copied() {
            self.nodes[known as usize].is_labelled |= is_labelled;
            return known;
        }
        let new = self.nodes.len() as u32;
        let (id, depth) = before.map_or((u64::from(step.thread.0), 0), |(node, outcome)| {
            let node = &self.nodes[node as usize];
            (mix(node.id, node.outcomes[outcome].label), node.depth + 1)
        });
        let id = mix(mix(id, step.place), step.object);
        let (parent, outcomes) = (before.map(|it| it.0), Vec::new());
        self.nodes.push(Node { step: *step, parent, depth, id, is_labelled, outcomes });
        match before {
            None => self.first[step.thread.idx()].push(new),
            Some((node, outcome)) => self.nodes[node as usize].outcomes[outcome].next.push(new),
        }
        new
    }

    /// A value was read: what a define of this execution wrote, by node and step, or the first one.
    fn learn(&mut self, define: Option<(u32, u32)>, object: u64, value: u64, with: &Labels<'_>) {
        let Some((node, write)) = define else {
            return self.learn_name(first_value(object), value);
        };
        let name = with.names[write as usize];
        let label = with.labels[write as usize].unwrap_or(PLAIN);
        let node = &mut self.nodes[node as usize];
        let idx = node.outcome(label, name);
        node.outcomes[idx].value = Some(value);
        let first_name = node.outcomes[idx].name;
        self.learn_name(name, value);
        // What flows into a write can be known better than when its node was first seen.
        if first_name != name {
            self.learn_name(first_name, value);
        }
    }

    fn learn_name(&mut self, name: u64, value: u64) {
        let known = self.values.entry(name).or_insert(Some(value));
        *known = known.filter(|it| *it == value);
    }

    fn touch(&mut self, step: &Step, is_labelled: bool) {
        if step.is_timed || matches!(step.act, Act::TryLock | Act::TryReadLock) {
            // Of a wait at a condition variable, the lock that it takes again.
            self.tried.extend([step.object, step.other]);
        }
        if step.act.is_access() {
            let first = Touched { thread: step.thread, is_shared: false, is_read: false };
            let touched = self.objects.entry(step.object).or_insert(first);
            touched.is_shared |= touched.thread != step.thread;
            touched.is_read |= is_labelled;
        }
    }

    /// What a step has written: the value, or else what it is called.
    pub(crate) fn written(&self, outcome: &Outcome) -> u64 {
        outcome.value.unwrap_or_else(|| self.value(outcome.name))
    }

    /// The value that has a name, or else the name.
    pub fn value(&self, name: u64) -> u64 {
        self.values.get(&name).copied().flatten().unwrap_or(name)
    }

    /// Was a read seen to read this value?
    pub fn has(&self, node: u32, value: u64) -> bool {
        self.nodes[node as usize].known(value).is_some()
    }

    /// A node, by a name that is the same in every model.
    pub fn id(&self, node: u32) -> u64 {
        self.nodes[node as usize].id
    }

    /// How many there are.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// What they take in memory.
    pub fn n_bytes(&self) -> usize {
        let of_outcome = |it: &Outcome| size_of::<Outcome>() + it.next.len() * size_of::<u32>();
        let of_node =
            |it: &Node| size_of::<Node>() + it.outcomes.iter().map(of_outcome).sum::<usize>();
        self.nodes.iter().map(of_node).sum()
    }

    /// How many threads there are.
    pub fn n_threads(&self) -> usize {
        self.first.len()
    }

    /// What a node does.
    pub fn step(&self, node: u32) -> &Step {
        &self.nodes[node as usize].step
    }

    /// Does a thread that ended a step with this label go on with another node?
    pub fn leads(&self, node: u32, label: u64, next: u32) -> bool {
        self.nodes[node as usize].known(label).is_some_and(|it| it.next.contains(&next))
    }

    /// A node's step before, in its thread.
    pub fn parent(&self, node: u32) -> Option<u32> {
        self.nodes[node as usize].parent
    }

    /// How many steps its thread has made before it.
    pub fn depth(&self, node: u32) -> u32 {
        self.nodes[node as usize].depth
    }
}

impl Node {
    /// Is it a step that comes right after another?
    pub(crate) fn is_after(&self, node: u32) -> bool {
        self.parent == Some(node)
    }

    pub(crate) fn known(&self, label: u64) -> Option<&Outcome> {
        self.outcomes.iter().find(|it| it.label == label)
    }

    /// The outcome with a label, as a number; made if there is none.
    fn outcome(&mut self, label: u64, name: u64) -> usize {
        let known = self.outcomes.iter().position(|it| it.label == label);
        known.unwrap_or_else(|| {
            let (value, is_write, next) = (None, false, Vec::new());
            self.outcomes.push(Outcome { label, name, value, is_write, next });
            self.outcomes.len() - 1
        })
    }
}

/// An object of another kind is used by one more step.
pub(crate) fn next_order(order: u64, step: &Step) -> u64 {
    mix(mix(order, u64::from(step.thread.0)), step.place)
}
