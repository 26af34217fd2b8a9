//! As published: the searches of Setiadi's dissertation (seed paper 3), each by its own algorithms. `total` itself goes by
//! a model of states, and misses less.
//!
//! - `total:reachability`: every execution-variant of every trace (Algorithm 2 with §5.2, chapter 4); `total:tpair`: those
//!   of each two threads. In [`reachability`].
//! - `total:groups`: of the variants, one for each combination of branch outcomes (Algorithms 3 to 5). In [`groups`].
//! - `total:guidelines`: no variants, but guidelines out of dependency graphs, woven into schedules (Algorithms 6 to 11).
//!   In [`guidelines`].
//!
//! Races are judged by access-manners as executions come (§5.4, `judge`).
//!
//! All of them run the program once without preemption, derive *test cases* from the trace, execute one, take the new
//! trace in, and end when there is no test case left. A trace that an execution had is not taken in again. Executions
//! are made one after the other, for each may spare others; `-j` changes nothing.
//!
//! Corrections to the text stand in the heads of the files in `crates/total`; what remains missed, in docs/total-replay.md.

mod groups;
mod guidelines;
mod reachability;
mod roots;
mod variation;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

use raddle_model::{Count, Derived, Scope, SearchProgress, TraceSize, Unreached, flows::Flows};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use self::{
    groups::Groups, guidelines::Guidelines, reachability::Reachability, variation::chain_ids,
};
use super::{Attempt, STEPS_MAX, judge::Judge, past::Past, replays::Replays};
use crate::search::{InTurn, Run, Search, SpecError, Task};

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thesis {
    /// Execution-variants.
    Reachability,
    /// Execution-variants of each two threads.
    Tpair,
    /// Branch-affect groups of execution-variants.
    Groups,
    /// Dependency graphs and guidelines.
    Guidelines,
}

impl Thesis {
    /// As the user writes it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Thesis::Reachability => "reachability",
            Thesis::Tpair => "tpair",
            Thesis::Groups => "groups",
            Thesis::Guidelines => "guidelines",
        }
    }

    /// The one of this name.
    pub(crate) fn parse(name: &str) -> Option<Thesis> {
        let all = [Thesis::Reachability, Thesis::Tpair, Thesis::Groups, Thesis::Guidelines];
        all.into_iter().find(|it| it.name() == name)
    }
}

/// How test cases are derived from traces.
trait Method: fmt::Debug + Send {
    /// An execution has come that did what none did before.
    fn take_in(&mut self, past: &Past, with: &Setting<'_>);

    /// The next test case, as choices to follow; none: it is finished.
    fn next(&mut self, with: &Setting<'_>) -> Option<Vec<u32>>;

    /// Were there more nodes than could be looked at?
    fn is_cut(&self) -> bool;

    /// The graphs that were kept for one execution, where that was most.
    fn most(&self) -> Size;
}

/// Graphs: nodes, and what they take in memory.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    nodes: Count,
    n_bytes: u64,
}

impl Size {
    /// With another one beside it.
    fn and(self, Size { nodes, n_bytes }: Size) -> Size {
        let is_cut = self.nodes.is_cut || nodes.is_cut;
        let nodes = Count { n: self.nodes.n + nodes.n, is_cut };
        Size { nodes, n_bytes: self.n_bytes + n_bytes }
    }

    /// The larger one. One that was cut is perhaps larger than any.
    fn max(self, other: Size) -> Size {
        let is_cut = self.nodes.is_cut || other.nodes.is_cut;
        let larger = if self.nodes.n < other.nodes.n { other } else { self };
        Size { nodes: Count { is_cut, ..larger.nodes }, ..larger }
    }
}

/// What holds for all executions.
struct Setting<'a> {
    flows: &'a Flows,
    /// May waits end by themselves although others can go on?
    may_time_out: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Published {
    method: Box<dyn Method>,
    flows: Flows,
    may_time_out: bool,
    /// Not handed out yet: at most one.
    queue: VecDeque<Vec<u32>>,
    /// An execution has come, and the next test case is to be derived.
    is_due: bool,
    /// What it did, if none did so before.
    new: Option<Past>,
    has_begun: bool,
    /// Handed out, and how many counted before.
    out: Option<u64>,
    next_number: u64,
    waiting: BTreeMap<u64, Run>,
    replays: Replays,
    /// Executions by what their threads did, as hashes.
    seen: BTreeSet<Vec<u64>>,
    n_redundant: u64,
    judge: Judge,
    /// Which of those that have counted were judged.
    is_judged: Vec<bool>,
    /// How large the first execution is.
    first: Option<TraceSize>,
    n_steps: usize,
    /// What has counted, for whoever restores it.
    counted: Vec<Run>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    flows: Flows,
    may_time_out: bool,
    counted: Vec<Run>,
}

impl Published {
    pub(crate) fn new(thesis: Thesis, may_time_out: bool) -> Published {
        let method: Box<dyn Method> = match thesis {
            Thesis::Reachability => Box::new(Reachability::default()),
            Thesis::Tpair => Box::new(Reachability::of_pairs()),
            Thesis::Groups => Box::new(Groups::default()),
            Thesis::Guidelines => Box::new(Guidelines::default()),
        };
        Published {
            method,
            flows: Flows::default(),
            may_time_out,
            queue: VecDeque::from([Vec::new()]),
            is_due: false,
            new: None,
            has_begun: false,
            out: None,
            next_number: 0,
            waiting: BTreeMap::new(),
            replays: Replays::default(),
            seen: BTreeSet::new(),
            n_redundant: 0,
            judge: Judge::default(),
            is_judged: Vec::new(),
            first: None,
            n_steps: 0,
            counted: Vec::new(),
        }
    }

    /// Goes on where it was saved.
    pub(crate) fn restore(thesis: Thesis, saved: &RawValue) -> Result<Published, SpecError> {
        let saved: Saved = serde_json::from_str(saved.get())?;
        let mut search =
            Published { flows: saved.flows, ..Published::new(thesis, saved.may_time_out) };
        for run in saved.counted {
            let Some(task) = search.next(1).pop() else { break };
            search.learn(task.number, &run);
        }
        Ok(search)
    }

    /// Is there no room for more executions?
    fn is_full(&self) -> bool {
        self.n_steps >= STEPS_MAX
    }

    /// Derives test cases from the execution that has come. What it did is known by then: analysis and generation are
    /// apart, for who measures them (Figure 91).
    fn derive(&mut self) {
        self.is_due = false;
        let with = Setting { flows: &self.flows, may_time_out: self.may_time_out };
        if let Some(past) = self.new.take() {
            self.method.take_in(&past, &with);
        }
        self.queue.extend(self.method.next(&with));
    }
}

impl InTurn for Published {
    fn waiting(&mut self) -> &mut BTreeMap<u64, Run> {
        &mut self.waiting
    }

    fn take_in(&mut self, run: &Run) {
        self.out = None;
        self.n_steps += run.steps.len();
        let agrees = self.replays.agrees(run);
        self.judge.new.clear();
        if agrees {
            let past = Past::of(run, &self.flows);
            let earlier = self.counted.iter().zip(&self.is_judged).filter(|it| *it.1);
            self.judge.judge(&past, earlier.map(|it| Past::of(it.0, &self.flows)));
            self.first.get_or_insert_with(|| past.history.size());
            let all: Vec<u32> = (0..past.history.steps.len() as u32).collect();
            if self.seen.insert(chain_ids(&past.history, &all)) {
                self.new = Some(past);
            } else {
                self.n_redundant += 1;
            }
        }
        self.counted.push(run.clone());
        self.is_judged.push(agrees);
        self.is_due = true;
    }
}

impl Search for Published {
    fn next(&mut self, n_max: usize) -> Vec<Task> {
        if n_max == 0 || self.out.is_some() || self.is_full() {
            return Vec::new();
        }
        if self.is_due {
            self.derive();
        }
        let Some(prefix) = self.queue.pop_front() else { return Vec::new() };
        self.has_begun = true;
        let number = self.next_number;
        self.next_number += 1;
        self.out = Some(number);
        let Attempt { prefix, picker: tail, .. } = Attempt::woven(prefix);
        vec![Task { number, prefix, tail }]
    }

    fn turn(&self) -> Option<u64> {
        self.out
    }

    fn learn(&mut self, number: u64, run: &Run) -> Vec<u64> {
        self.learn_in_turn(number, run)
    }

    fn judged(&self) -> &[[u32; 2]] {
        &self.judge.new
    }

    fn hear_flows(&mut self, flows: &Flows) {
        self.flows = flows.clone();
    }

    fn is_finished(&self) -> bool {
        let is_empty = self.queue.is_empty() && !self.is_due;
        self.has_begun && self.out.is_none() && (is_empty || self.is_full())
    }

    fn progress(&self) -> SearchProgress {
        // Without room, it has ended and not finished.
        let is_finished = self.is_finished() && self.queue.is_empty() && !self.is_due;
        let has_gap = is_finished && self.method.is_cut();
        let most = self.method.most();
        SearchProgress {
            n_executions: self.counted.len() as u64,
            n_redundant: self.n_redundant,
            n_diverged: self.replays.n_diverged,
            divergence: self.replays.first.clone(),
            is_finished,
            // Whatever it has explored, it claims nothing of the rest.
            is_cut: true,
            unreached: if has_gap { vec![Unreached::States] } else { Vec::new() },
            scope: Scope::Derived(Derived {
                first: self.first.unwrap_or_default(),
                nodes: most.nodes,
                n_bytes: most.n_bytes,
                judged: self.judge.judged(),
                ..Derived::default()
            }),
            ..SearchProgress::default()
        }
    }

    fn save(&self) -> Box<RawValue> {
        let saved = Saved {
            flows: self.flows.clone(),
            may_time_out: self.may_time_out,
            counted: self.counted.clone(),
        };
        to_raw_value(&saved).expect("bug: a search can be written")
    }
}
