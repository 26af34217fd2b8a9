//! Reachability testing's variant graph (Algorithm 2, with locks and waits, §5.2), and TPAIR's count.
//!
//! Each node is a state: how far each thread is. A *variant* is a step that would read, or write, another
//! version of its variable than it did, or a call that goes on where the history has left its thread blocked; it is
//! one more execution for reachability testing, and is not followed further here.
//!
//! Corrected (F3.3, F3.4): the version of a write is the one that it makes; a node is told from others by how
//! far threads are *and* who waits, for the same steps in another order leave another thread asleep. Who can go on, and
//! what calls return, is as everywhere ([`Rules`]): a wait gives its lock back and takes it again, a notification wakes
//! one, whichever; a call has to return what it did, for its thread would go on in another way.
//!
//! TPAIR: the variants of each two threads, the others left out. Of semaphores, barriers and once blocks, which are
//! for all threads, a pair knows nothing.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Count, OpResult, ThreadId};

use crate::{
    history::{Act, History, Step},
    rules::Rules,
};

/// A link to the node before, and four lists.
const NODE_BYTES: usize = 120;

/// A step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Which. Behind the last one of the history come those that threads were blocked at.
    pub step: u32,
    /// Of a notification: which of those that wait it wakes.
    pub way: u32,
}

/// See the module.
#[derive(Debug)]
pub struct Variants {
    nodes: Vec<Node>,
    /// Of each variant: the node where it parts, and the step that does.
    found: Vec<(usize, Taken)>,
    is_cut: bool,
}

#[derive(Debug)]
struct Node {
    parent: Option<(usize, Taken)>,
    state: State,
}

#[derive(Clone, Debug)]
struct State {
    at: Vec<u32>,
    rules: Rules,
    /// By variable: how often it was written. A function of `at`, kept for speed.
    versions: Vec<u32>,
}

struct Program<'a> {
    history: &'a History,
    threads: Vec<Vec<u32>>,
    /// By step of an access: its variable's number, and the version that it reads or makes.
    versions: BTreeMap<u32, (usize, u32)>,
    n_variables: usize,
}

impl Variants {
    /// All variants of a history, unless the graph has more than `n_max` nodes. Only `shared` variables
    /// count (sorted, as [`History::shared`] gives them).
    pub fn of(history: &History, shared: &[u64], n_max: usize) -> Variants {
        Variants::among(history, shared, n_max, |_| true)
    }

    fn among(
        history: &History,
        shared: &[u64],
        n_max: usize,
        takes_part: impl Fn(ThreadId) -> bool,
    ) -> Variants {
        let program = Program::new(history, shared, takes_part);
        let first = State {
            at: vec![0; program.threads.len()],
            rules: Rules::new(program.steps(), &history.counts),
            versions: vec![0; program.n_variables],
        };
        let mut known = BTreeSet::from([first.key()]);
        let mut graph = Variants {
            nodes: vec![Node { parent: None, state: first }],
            found: Vec::new(),
            is_cut: false,
        };
        let mut next = 0;
        while next < graph.nodes.len() {
            for thread in 0..program.threads.len() {
                let Some(step) = program.enabled(&graph.nodes[next].state, thread) else {
                    continue;
                };
                let n_ways = graph.nodes[next].state.rules.n_ways(program.step(step));
                for taken in (0..n_ways).map(|way| Taken { step, way }) {
                    if program.is_variant(&graph.nodes[next].state, step) {
                        graph.found.push((next, taken));
                        continue;
                    }
                    let state = program.after(&graph.nodes[next].state, taken);
                    if graph.nodes.len() >= n_max {
                        graph.is_cut = true;
                    } else if known.insert(state.key()) {
                        graph.nodes.push(Node { parent: Some((next, taken)), state });
                    }
                }
            }
            next += 1;
        }
        graph
    }

    /// How many variants.
    pub fn count(&self) -> Count {
        Count { n: self.found.len() as u64, is_cut: self.is_cut }
    }

    /// How many nodes, those of the variants included.
    pub fn n_nodes(&self) -> Count {
        Count { n: (self.nodes.len() + self.found.len()) as u64, is_cut: self.is_cut }
    }

    /// Roughly what they take in memory: indices, versions, flags of locks and waits. What else is kept here for speed
    /// is no part of the graph.
    pub fn n_bytes(&self) -> u64 {
        let of_state = |it: &State| {
            let lists = (it.at.len() + it.versions.len()) * 4 + it.rules.waiting().len() * 16;
            lists + it.rules.n_held() * 24 + NODE_BYTES
        };
        self.nodes.iter().map(|it| of_state(&it.state) as u64).sum()
    }

    /// What all that is kept of it takes in memory while variants are derived: nodes with their states, and by which it is
    /// known that they are there.
    pub fn n_kept_bytes(&self) -> u64 {
        let of_node = |Node { state, .. }: &Node| {
            let lists = (state.at.len() + state.versions.len()) * size_of::<u32>();
            let key = state.at.len() * size_of::<u32>() + state.rules.waiting().len() * 16 + 48;
            size_of::<Node>() + lists + state.rules.n_bytes() + key
        };
        let found = self.found.len() * size_of::<(usize, Taken)>();
        (self.nodes.iter().map(of_node).sum::<usize>() + found) as u64
    }

    /// The steps of each variant: up to the one that differs, and that one.
    pub fn schedules(&self) -> impl Iterator<Item = Vec<Taken>> + '_ {
        self.found.iter().map(|(node, taken)| {
            let mut steps = vec![*taken];
            let mut at = *node;
            while let Some((parent, taken)) = self.nodes[at].parent {
                steps.push(taken);
                at = parent;
            }
            steps.reverse();
            steps
        })
    }
}

/// Variants of each two threads, with the threads.
pub fn of_pairs<'a>(
    history: &'a History,
    shared: &'a [u64],
    n_max: usize,
) -> impl Iterator<Item = ([ThreadId; 2], Variants)> + 'a {
    let n_threads = history.n_threads() as u32;
    let pairs =
        (0..n_threads).flat_map(move |it| (it + 1..n_threads).map(move |other| (it, other)));
    pairs.map(move |(first, second)| {
        let pair = [first, second].map(ThreadId);
        (pair, Variants::among(history, shared, n_max, |it| pair.contains(&it)))
    })
}

/// Variants of each two threads, added up.
pub fn count_pairs(history: &History, shared: &[u64], n_max: usize) -> Count {
    let mut count = Count::default();
    for of_pair in of_pairs(history, shared, n_max).map(|it| it.1.count()) {
        count.n += of_pair.n;
        count.is_cut |= of_pair.is_cut;
    }
    count
}

impl State {
    /// Locks that are held follow from where threads are.
    fn key(&self) -> (Vec<u32>, Vec<(u64, ThreadId)>) {
        (self.at.clone(), self.rules.waiting().to_vec())
    }
}

impl Program<'_> {
    fn new<'a>(
        history: &'a History,
        shared: &[u64],
        takes_part: impl Fn(ThreadId) -> bool,
    ) -> Program<'a> {
        let n_threads = history.n_threads();
        let has_all = (0..n_threads as u32).all(|it| takes_part(ThreadId(it)));
        let counts = |step: &Step| match step.act {
            _ if !takes_part(step.thread) || step.thread.idx() >= n_threads => false,
            Act::Branch(_) | Act::Other | Act::Finish | Act::Exit => false,
            Act::Spawn(child) | Act::Join(child) => takes_part(child),
            Act::Take | Act::TryTake | Act::Post | Act::Arrive | Act::Leave => has_all,
            Act::Enter | Act::EnterDone => has_all,
            act if act.is_access() => shared.binary_search(&step.object).is_ok(),
            _ => true,
        };
        let mut program = Program {
            history,
            threads: vec![Vec::new(); n_threads],
            versions: BTreeMap::new(),
            n_variables: 0,
        };
        let mut last: BTreeMap<u64, (usize, u32)> = BTreeMap::new();
        let all = history.steps.iter().chain(&history.blocked);
        for (step, idx) in all.zip(0_u32..).filter(|it| counts(it.0)) {
            if step.act.is_access() {
                let number = last.len();
                let version = last.entry(step.object).or_insert((number, 0));
                version.1 += u32::from(step.act.is_write());
                program.versions.insert(idx, *version);
            }
            program.threads[step.thread.idx()].push(idx);
        }
        program.n_variables = last.len();
        program
    }

    fn step(&self, idx: u32) -> &Step {
        let n_made = self.history.steps.len();
        let made = self.history.steps.get(idx as usize);
        made.unwrap_or_else(|| &self.history.blocked[idx as usize - n_made])
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.threads.iter().flatten().map(|it| self.step(*it))
    }

    /// Was its thread blocked there, whenever it was seen?
    fn is_blocked(&self, idx: u32) -> bool {
        self.history.steps.len() <= idx as usize
    }

    /// The next step of a thread, if it can be taken.
    fn enabled(&self, state: &State, thread: usize) -> Option<u32> {
        let idx = *self.threads[thread].get(state.at[thread] as usize)?;
        let step = self.step(idx);
        let is_over = |it: ThreadId| {
            let target = it.idx();
            state.at.get(target).is_none_or(|at| *at as usize == self.threads[target].len())
        };
        let is_same =
            |it: &OpResult| self.is_blocked(idx) || !step.act.has_answers() || *it == step.answer;
        state.rules.answer(step, is_over).filter(is_same).map(|_| idx)
    }

    fn is_variant(&self, state: &State, idx: u32) -> bool {
        let is_write = self.step(idx).act.is_write();
        let is_other = |it: &(usize, u32)| state.versions[it.0] + u32::from(is_write) != it.1;
        self.is_blocked(idx) || self.versions.get(&idx).is_some_and(is_other)
    }

    fn after(&self, state: &State, Taken { step: idx, way }: Taken) -> State {
        let step = self.step(idx);
        let mut next = state.clone();
        next.at[step.thread.idx()] += 1;
        if let Some((variable, _)) = self.versions.get(&idx).filter(|_| step.act.is_write()) {
            next.versions[*variable] += 1;
        }
        next.rules.perform(&Step { way, ..*step });
        next
    }
}
