//! What a ranked search goes through: tuples in order, of each all subsets of its variables, for each the orders of
//! threads; and where an execution may be preempted.

use std::collections::BTreeMap;

use raddle_model::{OpKind, Ranking, ThreadId};
use serde::{Deserialize, Serialize};

use super::{Tuple, covering};
use crate::search::{Run, ThreadSet};

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stages {
    tuples: Vec<Tuple>,
    /// Which tuple is under way, and which subset of its variables.
    stage: usize,
    subset: Vec<usize>,
    /// How many variables there were to choose from when the tuple began.
    n_choosable: usize,
    /// Names of variables that threads were seen to conflict about, as they came.
    variables: Vec<u64>,
    n_threads: u32,
    /// Orders of threads for the tuple under way, and for how many threads they are.
    family: Vec<Ranking>,
    n_covered: u32,
}

/// What a search goes on to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Subset,
    Tuple,
    End,
}

/// A step before which another thread may go on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Point {
    /// One of these in the place of the thread that runs.
    Preempts(usize, ThreadSet),
    /// The thread that gave way, all the same.
    GoesOn(usize, ThreadId),
}

impl Stages {
    pub(super) fn new(mut tuples: Vec<Tuple>) -> Stages {
        // Variables to choose from are known when something has run.
        if tuples.first().is_some_and(|it| it.variables.is_some_and(|it| it > 0)) {
            tuples.insert(0, Tuple::ORDER[0]);
        }
        let mut stages = Stages {
            tuples,
            stage: 0,
            subset: Vec::new(),
            n_choosable: 0,
            variables: Vec::new(),
            n_threads: 2,
            family: Vec::new(),
            n_covered: 0,
        };
        stages.begin_tuple();
        stages
    }

    /// The tuple under way.
    pub(super) fn tuple(&self) -> Option<&Tuple> {
        self.tuples.get(self.stage)
    }

    /// The last tuple that is done.
    pub(super) fn done(&self) -> Option<&Tuple> {
        self.stage.checked_sub(1).and_then(|it| self.tuples.get(it))
    }

    /// Orders of threads that are gone through.
    pub(super) fn family(&self) -> &[Ranking] {
        &self.family
    }

    /// Subsets of the tuple under way.
    pub(super) fn n_subsets(&self) -> f64 {
        let (len, all) = (self.subset.len(), self.n_choosable);
        (0..len).fold(1.0, |it, n| it * (all - n) as f64 / (n + 1) as f64)
    }

    /// Begins a tuple with its first subset, or goes on to the next that has one.
    fn begin_tuple(&mut self) -> Next {
        while let Some(tuple) = self.tuples.get(self.stage) {
            self.n_choosable = self.variables.len();
            self.n_covered = 0;
            // Of fewer variables than that, all.
            let n_wanted = tuple.variables.unwrap_or(0) as usize;
            let n_variables = n_wanted.min(self.n_choosable);
            if n_wanted == 0 || n_variables > 0 {
                self.subset = (0..n_variables).collect();
                self.cover();
                return Next::Tuple;
            }
            self.stage += 1;
        }
        Next::End
    }

    /// The next subset of as many variables; none: the next tuple.
    pub(super) fn go_on(&mut self) -> Next {
        let len = self.subset.len();
        let next = (0..len).rev().find(|it| self.subset[*it] + len - it < self.n_choosable);
        let Some(idx) = next else {
            self.stage += 1;
            return self.begin_tuple();
        };
        self.subset[idx] += 1;
        for it in idx + 1..len {
            self.subset[it] = self.subset[it - 1] + 1;
        }
        self.cover();
        Next::Subset
    }

    /// Finds orders for as many threads as there are, if that has changed.
    fn cover(&mut self) {
        if self.n_covered != self.n_threads {
            self.n_covered = self.n_threads;
            self.family = covering(self.tuples[self.stage].threads, self.n_threads);
        }
    }

    /// Learns which threads and which variables there are: those that are accessed by several, and written by one.
    pub(super) fn learn(&mut self, run: &Run) {
        let mut uses: BTreeMap<u64, (ThreadId, bool, bool)> = BTreeMap::new();
        for step in run.steps.iter().filter(|it| it.kind.is_access()) {
            let Some(name) = run.objects.get(step.object.idx()).map(|it| it.name) else { continue };
            let (first, is_shared, is_written) =
                uses.entry(name).or_insert((step.thread, false, false));
            *is_shared |= *first != step.thread;
            *is_written |= !matches!(step.kind, OpKind::Read | OpKind::AtomicLoad);
            if *is_written && *is_shared && !self.variables.contains(&name) {
                self.variables.push(name);
            }
        }
        let n_threads = run.steps.iter().map(|it| it.thread.0 + 1).max().unwrap_or(0);
        self.n_threads = self.n_threads.max(n_threads);
        self.cover();
    }

    /// Names of the variables that are tracked.
    pub(super) fn tracked(&self) -> Vec<u64> {
        match self.tuple().and_then(|it| it.variables) {
            None => self.variables.clone(),
            Some(_) => self.subset.iter().map(|it| self.variables[*it]).collect(),
        }
    }

    /// Where an execution may be preempted once more, behind a step.
    pub(super) fn points(&self, at: usize, run: &Run) -> Vec<Point> {
        let tuple = self.tuples[self.stage];
        let tracked = self.tracked();
        let has_sync = tuple.variables.is_none_or(|it| it == 0);
        let mut rounds: BTreeMap<Visited, u32> = BTreeMap::new();
        let mut points = Vec::new();
        for (idx, step) in run.steps.iter().enumerate() {
            if let Some((thread, place)) = gave_way(run, idx).filter(|_| at < idx || at == 0) {
                let round = rounds.entry(place).or_default();
                *round += 1;
                if *round <= tuple.rounds {
                    points.push(Point::GoesOn(idx, thread));
                }
            }
            let name = run.objects.get(step.object.idx()).map_or(0, |it| it.name);
            let is_tracked = match step.kind.is_access() {
                true => tracked.contains(&name),
                false => has_sync && is_sync(step.kind),
            };
            if !is_tracked {
                continue;
            }
            let round = rounds.entry((step.thread, step.site.0, step.context)).or_default();
            *round += 1;
            let goes_on = idx > 0 && run.steps[idx - 1].thread == step.thread;
            let others = step.enabled.without(step.thread);
            if idx <= at && at > 0 || !goes_on || others.is_empty() || tuple.rounds < *round {
                continue;
            }
            points.push(Point::Preempts(idx, others));
        }
        points
    }
}

impl Point {
    /// The step before which a thread goes on that did not, and that thread: the first by rank.
    pub(super) fn first_by(&self, ranking: &Ranking) -> (usize, ThreadId) {
        match *self {
            Point::GoesOn(at, thread) => (at, thread),
            Point::Preempts(at, others) => {
                let first = others.iter().min_by_key(|it| ranking.key(*it));
                (at, first.expect("bug: nobody of several"))
            }
        }
    }
}

/// A thread, a place, and its last calls.
type Visited = (ThreadId, u32, u64);

/// Who yielded before a step of another thread and could have gone on all the same, and where.
fn gave_way(run: &Run, idx: usize) -> Option<(ThreadId, Visited)> {
    let step = &run.steps[idx];
    let thread = run.steps[..idx].last()?.thread;
    let is_left = step.gives_way && thread != step.thread && step.enabled.has(thread);
    let at = run.steps[idx..].iter().find(|it| is_left && it.thread == thread)?;
    Some((thread, (thread, at.site.0, at.context)))
}

/// Does an op synchronise, so that a thread may be preempted before it?
pub(super) const fn is_sync(kind: OpKind) -> bool {
    use OpKind::*;
    !kind.is_access()
        && !matches!(kind, Start | Finish | Yield | CondWake | FutexWake | BarrierLeave)
}
