//! As published: RankChecker's Algorithm 1 (seed paper 0), for the paper's tuples in the paper's order.
//!
//! - At every entry of the scheduler the first by priority that can go on runs (line 27).
//! - Work queues: all executions without preemption, then those with one, and so on (lines 11 to 22).
//! - Before an access that is tracked, the thread becomes the last by priority, in every order of the family (lines 33
//!   to 40); of accesses with calls that came before, only the first l count.
//! - A happens-before graph over what is tracked, as in CHESS: where a state with the same graph was left with the same
//!   priorities, it is not left so again. So executions that would differ in the order of independent steps only
//!   are cut before they run.
//!
//! What its text leaves open: with v = 0 what synchronises is tracked, with all, that and every variable. The scheduler
//! is entered at every point, tracked or not. A thread that yields is passed by. Each tuple begins anew.
//!
//! Memory: the choices of each execution that was preempted further, 32 bytes for each that waits, eight for each state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use raddle_model::{Divergence, OpKind, PickerSpec, Ranking, Scope, SearchProgress, ThreadId, mix};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::{
    Tuple,
    stages::{Next, Stages, is_sync},
};
use crate::search::{
    InTurn, Run, Search, SpecError, Step, Task,
    tree::{AHEAD_MAX, is_same, push_choice},
};

/// A work item: a state, and the priorities with which it is left.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Item {
    /// The execution that it was left in; `None`: the initial state.
    parent: Option<usize>,
    /// After so many of its steps.
    at: usize,
    /// Who goes on.
    thread: ThreadId,
    ranking: Ranking,
    /// Who was preempted.
    last_of_all: Option<ThreadId>,
}

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RankPaper {
    stages: Stages,
    /// Executions of this level that do not count yet, in order; and of the next.
    queue: VecDeque<(Item, Option<u64>)>,
    next_queue: VecDeque<(Item, Option<u64>)>,
    /// Preemptions of the level under way.
    level: u32,
    /// Executions that items were left in.
    parents: Vec<Vec<Step>>,
    /// States that were left: happens-before graph and priorities.
    seen: BTreeSet<u64>,
    #[serde(skip)]
    results: BTreeMap<u64, Run>,
    next_number: u64,
    n_executions: u64,
    n_diverged: u64,
    divergence: Option<Divergence>,
}

impl RankPaper {
    pub(crate) fn new(tuples: Vec<Tuple>) -> RankPaper {
        let mut rank = RankPaper {
            stages: Stages::new(tuples),
            queue: VecDeque::new(),
            next_queue: VecDeque::new(),
            level: 0,
            parents: Vec::new(),
            seen: BTreeSet::new(),
            results: BTreeMap::new(),
            next_number: 0,
            n_executions: 0,
            n_diverged: 0,
            divergence: None,
        };
        rank.begin();
        rank
    }

    /// As [`Search::save`] left it: nothing is handed out.
    pub(crate) fn restore(saved: &RawValue) -> Result<RankPaper, SpecError> {
        let mut rank: RankPaper = serde_json::from_str(saved.get())?;
        rank.queue.iter_mut().for_each(|it| it.1 = None);
        Ok(rank)
    }

    /// Lines 8 to 10.
    fn begin(&mut self) {
        self.level = 0;
        self.parents.clear();
        self.seen.clear();
        self.next_queue.clear();
        let item = |ranking: &Ranking| Item {
            parent: None,
            at: 0,
            thread: ThreadId(0),
            ranking: *ranking,
            last_of_all: None,
        };
        self.queue = self.stages.family().iter().map(|it| (item(it), None)).collect();
    }

    fn task(&mut self, idx: usize) -> Task {
        let number = self.next_number;
        self.next_number += 1;
        self.queue[idx].1 = Some(number);
        let Item { parent, at, thread, ranking, last_of_all } = self.queue[idx].0;
        let mut prefix = Vec::with_capacity(at + 1);
        if let Some(parent) = parent {
            for step in &self.parents[parent][..at] {
                push_choice(&mut prefix, step.thread, (step.n_choices > 1).then_some(step.choice));
            }
            push_choice(&mut prefix, thread, None);
        }
        Task { number, prefix, tail: PickerSpec::Ranked { ranking, last_of_all, is_strict: true } }
    }

    fn count(&mut self, run: &Run) {
        let (item, _) = self.queue.pop_front().expect("bug: it was nobody's turn");
        self.n_executions += 1;
        match self.differs(&item, run) {
            Some(step) => self.note_divergence(&item, step, run),
            None => self.grow(&item, run),
        }
        // Lines 16 to 21.
        while self.queue.is_empty() {
            let Some(tuple) = self.stages.tuple() else { return };
            if self.level < tuple.preemptions && !self.next_queue.is_empty() {
                self.level += 1;
                self.queue = std::mem::take(&mut self.next_queue);
            } else if self.stages.go_on() != Next::End {
                self.begin();
            }
        }
    }

    /// The first step that is not as it was before, or as it was to be.
    fn differs(&self, item: &Item, run: &Run) -> Option<usize> {
        let parent = &self.parents[item.parent?];
        let differs = (0..item.at).find(|idx| !is_same(&parent[*idx], run.steps.get(*idx)));
        let is_followed = run.steps.get(item.at).is_some_and(|it| it.thread == item.thread);
        differs.or((!is_followed).then_some(item.at))
    }

    fn note_divergence(&mut self, item: &Item, step: usize, run: &Run) {
        self.n_diverged += 1;
        let expected = item.parent.and_then(|it| self.parents[it].get(step));
        self.divergence.get_or_insert(Divergence {
            step: step as u64,
            thread: item.thread,
            expected: expected.map_or(OpKind::default(), |it| it.kind),
            seen: run.steps.get(step).map(|it| (it.thread, it.kind)),
        });
    }

    /// Lines 33 to 40, for all states of an execution that are new.
    fn grow(&mut self, item: &Item, run: &Run) {
        self.stages.learn(run);
        let Some(tuple) = self.stages.tuple() else { return };
        if tuple.preemptions <= self.level {
            return;
        }
        let graphs = graphs(run, &self.stages.tracked());
        let mut is_kept = false;
        for point in self.stages.points(item.at, run) {
            for ranking in self.stages.family() {
                let (at, thread) = point.first_by(ranking);
                let preempted = run.steps[..at].last().map(|it| it.thread);
                let priorities = mix(ranking.seed, u64::from(ranking.slope) << 8)
                    ^ mix(
                        u64::from(ranking.modulus),
                        preempted.map_or(0, |it| u64::from(it.0) + 1),
                    );
                if !self.seen.insert(mix(mix(graphs[at], priorities), u64::from(thread.0))) {
                    continue;
                }
                is_kept = true;
                let parent = Some(self.parents.len());
                let last_of_all = preempted.filter(|it| *it != thread);
                let item = Item { parent, at, thread, ranking: *ranking, last_of_all };
                self.next_queue.push_back((item, None));
            }
        }
        if is_kept {
            self.parents.push(run.steps.clone());
        }
    }
}

/// The happens-before graph of each state of an execution, as a number: the sum of its steps' hashes, each of which has
/// those of the steps in it that it depends on.
fn graphs(run: &Run, tracked: &[u64]) -> Vec<u64> {
    let mut last_of_thread: BTreeMap<ThreadId, u64> = BTreeMap::new();
    // By object: the last step that changed it, and the sum of those that read it since.
    let mut uses: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut sum = 0_u64;
    let mut all = vec![0];
    for step in &run.steps {
        let name = run.objects.get(step.object.idx()).map_or(0, |it| it.name);
        let own = last_of_thread.get(&step.thread).copied().unwrap_or(0);
        let mut hash = mix(mix(own, u64::from(step.thread.0) + 1), step.kind as u64);
        hash = mix(hash, u64::from(step.choice));
        let is_access = step.kind.is_access();
        if is_access && tracked.contains(&name) || !is_access && is_sync(step.kind) {
            let reads = matches!(step.kind, OpKind::Read | OpKind::AtomicLoad);
            let (changed, read) = uses.entry(name).or_default();
            hash = mix(mix(hash, name), *changed);
            match reads {
                true => *read = read.wrapping_add(hash),
                false => {
                    hash = mix(hash, *read);
                    (*changed, *read) = (hash, 0);
                }
            }
        }
        last_of_thread.insert(step.thread, hash);
        sum = sum.wrapping_add(hash);
        all.push(sum);
    }
    all
}

impl InTurn for RankPaper {
    fn waiting(&mut self) -> &mut BTreeMap<u64, Run> {
        &mut self.results
    }

    fn take_in(&mut self, run: &Run) {
        self.count(run);
    }
}

impl Search for RankPaper {
    fn next(&mut self, n_max: usize) -> Vec<Task> {
        // All of a level is certain to be wanted.
        let n_ahead = (n_max * AHEAD_MAX).min(self.queue.len());
        let open = (0..n_ahead).filter(|it| self.queue[*it].1.is_none());
        let open: Vec<usize> = open.take(n_max).collect();
        open.into_iter().map(|it| self.task(it)).collect()
    }

    fn turn(&self) -> Option<u64> {
        self.queue.front()?.1
    }

    fn label(&self, _number: u64) -> Option<String> {
        self.stages.tuple().map(Tuple::label)
    }

    fn learn(&mut self, number: u64, run: &Run) -> Vec<u64> {
        self.learn_in_turn(number, run)
    }

    fn is_finished(&self) -> bool {
        self.stages.tuple().is_none()
    }

    fn progress(&self) -> SearchProgress {
        SearchProgress {
            n_executions: self.n_executions,
            n_diverged: self.n_diverged,
            divergence: self.divergence.clone(),
            stage: self.stages.tuple().map(Tuple::label),
            is_finished: self.is_finished(),
            is_cut: true,
            scope: Scope::Tuples(self.stages.done().map(Tuple::label)),
            ..SearchProgress::default()
        }
    }

    fn save(&self) -> Box<RawValue> {
        to_raw_value(self).expect("bug: a search is plain data")
    }
}
