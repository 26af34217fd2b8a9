//! Reachability testing's variant graph (Algorithm 2, with locks and waits, §5.2), and TPAIR's count.
//!
//! Each node is a state: how far each thread is. A *variant* is a step that would read, or write, another
//! version of its variable than it did; it is one more execution for reachability testing, and is not
//! followed further here.
//!
//! Corrected (F3.3, F3.4): the version of a write is the one that it makes; a node is told from others by how
//! far threads are *and* who waits, for the same steps in another order leave another thread asleep; a wait
//! gives its lock back and takes it again; a notification wakes one, the first; locks have owners and are
//! recursive.
//!
//! TPAIR, as a counter: the variants of each two threads, the others left out.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Count, ThreadId};

use crate::history::{Act, History};

/// See the module.
#[derive(Debug)]
pub struct Variants {
    nodes: Vec<Node>,
    /// Of each variant: the node where it parts, and the step that does.
    found: Vec<(usize, u32)>,
    is_cut: bool,
}

#[derive(Debug)]
struct Node {
    parent: Option<(usize, u32)>,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: Vec<u32>,
    /// Who waits at which condition variable, in the order of arrival.
    waiting: Vec<(u64, ThreadId)>,
    owners: BTreeMap<u64, (ThreadId, u32)>,
    /// By variable: how often it was written. A function of `at`, kept for speed.
    versions: Vec<u32>,
}

struct Program<'a> {
    history: &'a History,
    threads: Vec<Vec<u32>>,
    /// By step of an access: its variable's number, and the version that it reads or makes.
    versions: BTreeMap<u32, (usize, u32)>,
    n_variables: usize,
    /// By thread that another creates: who does, and its how manieth step that is.
    spawned: BTreeMap<ThreadId, (usize, u32)>,
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
            waiting: Vec::new(),
            owners: BTreeMap::new(),
            versions: vec![0; program.n_variables],
        };
        let mut known = BTreeSet::from([first.clone()]);
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
                if program.is_variant(&graph.nodes[next].state, step) {
                    graph.found.push((next, step));
                    continue;
                }
                let state = program.after(&graph.nodes[next].state, step);
                if graph.nodes.len() >= n_max {
                    graph.is_cut = true;
                } else if known.insert(state.clone()) {
                    graph.nodes.push(Node { parent: Some((next, step)), state });
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

    /// Roughly what they take in memory.
    pub fn n_bytes(&self) -> u64 {
        let of_state = |it: &State| {
            let lists = (it.at.len() + it.versions.len()) * 4 + it.waiting.len() * 16;
            lists + it.owners.len() * 24 + size_of::<Node>()
        };
        self.nodes.iter().map(|it| of_state(&it.state) as u64).sum()
    }

    /// The steps of each variant: up to the one that differs, and that one.
    pub fn schedules(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        self.found.iter().map(|(node, step)| {
            let mut steps = vec![*step];
            let mut at = *node;
            while let Some((parent, step)) = self.nodes[at].parent {
                steps.push(step);
                at = parent;
            }
            steps.reverse();
            steps
        })
    }
}

/// Variants of each two threads, added up.
pub fn count_pairs(history: &History, shared: &[u64], n_max: usize) -> Count {
    let n_threads = history.n_threads() as u32;
    let mut count = Count::default();
    for first in 0..n_threads {
        for second in first + 1..n_threads {
            let is_one = |it: ThreadId| it.0 == first || it.0 == second;
            let of_pair = Variants::among(history, shared, n_max, is_one).count();
            count.n += of_pair.n;
            count.is_cut |= of_pair.is_cut;
        }
    }
    count
}

impl Program<'_> {
    fn new<'a>(
        history: &'a History,
        shared: &[u64],
        takes_part: impl Fn(ThreadId) -> bool,
    ) -> Program<'a> {
        let mut threads = vec![Vec::new(); history.n_threads()];
        let mut versions = BTreeMap::new();
        let mut last: BTreeMap<u64, (usize, u32)> = BTreeMap::new();
        let mut spawned = BTreeMap::new();
        for (idx, step) in history.steps.iter().enumerate() {
            let counts = match step.done() {
                _ if !takes_part(step.thread) => false,
                Act::Branch(_) | Act::Other | Act::Finish | Act::Exit => false,
                Act::Spawn(child) | Act::Join(child) => takes_part(child),
                act if act.is_access() => shared.binary_search(&step.object).is_ok(),
                _ => true,
            };
            if !counts {
                continue;
            }
            if let Act::Spawn(child) = step.act {
                let position = threads[step.thread.idx()].len() as u32;
                spawned.insert(child, (step.thread.idx(), position));
            }
            if step.act.is_access() {
                let number = last.len();
                let version = last.entry(step.object).or_insert((number, 0));
                version.1 += u32::from(step.act.is_write());
                versions.insert(idx as u32, *version);
            }
            threads[step.thread.idx()].push(idx as u32);
        }
        Program { history, threads, versions, n_variables: last.len(), spawned }
    }

    /// The next step of a thread, if it can be taken.
    fn enabled(&self, state: &State, thread: usize) -> Option<u32> {
        let idx = *self.threads[thread].get(state.at[thread] as usize)?;
        let me = ThreadId(thread as u32);
        if self.spawned.get(&me).is_some_and(|(parent, step)| state.at[*parent] <= *step) {
            return None;
        }
        let step = &self.history.steps[idx as usize];
        let is_free = |lock| state.owners.get(&lock).is_none_or(|it| it.0 == me);
        let is_enabled = match step.done() {
            Act::Lock | Act::ReadLock => is_free(step.object),
            Act::Wake => !state.waiting.contains(&(step.object, me)) && is_free(step.other),
            Act::Join(target) => {
                let target = target.idx();
                state.at.get(target).is_none_or(|at| *at as usize == self.threads[target].len())
            }
            _ => true,
        };
        is_enabled.then_some(idx)
    }

    fn is_variant(&self, state: &State, idx: u32) -> bool {
        let is_write = self.history.steps[idx as usize].act.is_write();
        self.versions.get(&idx).is_some_and(|(variable, recorded)| {
            state.versions[*variable] + u32::from(is_write) != *recorded
        })
    }

    fn after(&self, state: &State, idx: u32) -> State {
        let step = &self.history.steps[idx as usize];
        let mut next = state.clone();
        next.at[step.thread.idx()] += 1;
        if let Some((variable, _)) = self.versions.get(&idx).filter(|_| step.act.is_write()) {
            next.versions[*variable] += 1;
        }
        match step.done() {
            Act::Lock | Act::ReadLock => take(&mut next, step.object, step.thread),
            Act::Unlock => give(&mut next, step.object, false),
            Act::Wait => {
                give(&mut next, step.other, true);
                next.waiting.push((step.object, step.thread));
            }
            Act::Wake => take(&mut next, step.other, step.thread),
            Act::Notify => {
                if let Some(at) = next.waiting.iter().position(|it| it.0 == step.object) {
                    next.waiting.remove(at);
                }
            }
            Act::NotifyAll => next.waiting.retain(|it| it.0 != step.object),
            _ => {}
        }
        next
    }
}

fn take(state: &mut State, lock: u64, thread: ThreadId) {
    state.owners.entry(lock).or_insert((thread, 0)).1 += 1;
}

fn give(state: &mut State, lock: u64, all: bool) {
    if let Some((_, depth)) = state.owners.get_mut(&lock) {
        *depth -= 1;
        if all || *depth == 0 {
            state.owners.remove(&lock);
        }
    }
}
