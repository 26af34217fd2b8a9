//! Optimal partial order reduction along many paths at once.
//!
//! One depth-first search knows 1.6 executions ahead of it on average (three threads that load and store
//! twice), so that whoever runs them waits for whoever plans them, and the reverse. Here a path whose work
//! lies far apart is parted in two: at the node nearest to the beginning where a way waits, one path ends and goes
//! on with that way, another one goes on with what lies behind it. Each is a depth-first search of its own, with
//! its own copy of the nodes that it has in common with the other; what it wants at those is handed over when
//! it is done, and wanted there unless it has been explored by then. Lång and Sagonas (*Parallel
//! optimal DPOR*) share one tree between threads instead; the argument is theirs: the order in which ways
//! stand at a node decides who sleeps in which, not when they are explored, so there is still one execution
//! for each class and none besides.
//!
//! Paths take turns in *rounds*: one execution of each path, and paths are parted and joined between rounds only.
//! So what is executed, and in which order it counts, does not depend on how many executions are run at
//! once, but all of a round can be.
//!
//! Memory: O(depth · threads) for each path, of which [`PATHS_MAX`] have work and each waits for O(depth) others
//! at most; and one execution for each that came back before its turn.

use std::collections::{BTreeMap, VecDeque};

use raddle_model::{Divergence, MemoryModel, SearchProgress, SearchSize};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::{Optimal, Path, Reduced, order::HappensBefore};
use crate::search::{
    InTurn, Run, Search, SpecError, Task,
    tree::{Leaves, Policy, Tree},
};

/// Paths that have work; executions in a round.
const PATHS_MAX: usize = 64;
/// Executions of a path that are run in a round beside the one whose turn it is, at most.
const AHEAD_MAX: usize = 2;

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Forest {
    /// In the order in which they were made: each after the one that it was parted from.
    branches: Vec<Branch>,
    next_branch: u64,
    next_number: u64,
    /// Branches whose execution of this round does not count yet, in order.
    round: VecDeque<Turn>,
    #[serde(skip)]
    results: BTreeMap<u64, Run>,
    /// Of branches that are done.
    #[serde(skip)]
    spare: Vec<HappensBefore>,
    #[serde(skip)]
    room: Vec<Path>,
    /// What branches have come to that are done.
    past: Account,
}

/// A path, and the search along it.
#[derive(Debug, Serialize, Deserialize)]
struct Branch {
    number: u64,
    /// The one that it was parted from.
    parent: Option<u64>,
    tree: Tree<Reduced<Optimal>>,
}

/// A branch whose turn it will be.
#[derive(Debug, Serialize, Deserialize)]
struct Turn {
    branch: u64,
    /// The number under which its task was handed out, if it was.
    #[serde(skip)]
    number: Option<u64>,
}

/// What was counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Account {
    leaves: Leaves,
    n_executions: u64,
    n_redundant: u64,
    n_diverged: u64,
    divergence: Option<Divergence>,
}

impl Branch {
    fn where_to_part(&self) -> Option<usize> {
        self.tree.path().where_to_part::<Reduced<Optimal>>()
    }
}

impl Account {
    fn add(&mut self, tree: &Tree<Reduced<Optimal>>) {
        self.leaves.add_all(&tree.leaves);
        self.n_executions += tree.n_executions;
        self.n_redundant += tree.n_redundant;
        self.n_diverged += tree.n_diverged;
        self.divergence = self.divergence.take().or_else(|| tree.divergence.clone());
    }
}

impl Forest {
    pub(crate) fn new(may_time_out: bool, memory: MemoryModel) -> Forest {
        let tree = Tree::new(Reduced::new(Optimal::default(), may_time_out)).on(memory);
        let mut forest = Forest {
            branches: vec![Branch { number: 0, parent: None, tree }],
            next_branch: 1,
            next_number: 0,
            round: VecDeque::new(),
            results: BTreeMap::new(),
            spare: Vec::new(),
            room: Vec::new(),
            past: Account::default(),
        };
        forest.begin_round();
        forest
    }

    /// As [`Search::save`] left it: nothing is handed out.
    pub(crate) fn restore(saved: &RawValue) -> Result<Forest, SpecError> {
        let mut forest: Forest = serde_json::from_str(saved.get())?;
        let branches = forest.branches.into_iter();
        forest.branches = branches.map(|it| Branch { tree: it.tree.restored(), ..it }).collect();
        Ok(forest)
    }

    fn idx(&self, branch: u64) -> usize {
        let found = self.branches.binary_search_by_key(&branch, |it| it.number);
        found.expect("bug: no such branch")
    }

    /// Everything of a round counts: joins what is done, parts what has much to do, and lets each have a turn.
    fn begin_round(&mut self) {
        self.join();
        self.part();
        let open = self.branches.iter().filter(|it| !it.tree.has_ended());
        self.round.extend(open.map(|it| Turn { branch: it.number, number: it.tree.turn() }));
    }

    /// Beside what must be run now, adds what will be later, of those paths that take turns.
    fn look_ahead(&mut self, n_max: usize, tasks: &mut Vec<Task>) {
        for turn in &self.round {
            for _ in 0..AHEAD_MAX {
                if n_max <= tasks.len() {
                    return;
                }
                let found = self.branches.binary_search_by_key(&turn.branch, |it| it.number);
                let tree = &mut self.branches[found.expect("bug: no such branch")].tree;
                let Some(task) = tree.later_task(self.next_number) else { break };
                self.next_number += 1;
                tasks.push(task);
            }
        }
    }

    /// Branches that are done hand over what they want elsewhere.
    fn join(&mut self) {
        let is_done = |it: &Branch| it.tree.has_ended() && !it.tree.path().is_parted();
        while let Some(idx) = self.branches.iter().skip(1).rposition(is_done) {
            let Branch { number, parent, tree } = self.branches.remove(idx + 1);
            self.past.add(&tree);
            let parent = self.idx(parent.expect("bug: only the first branch was parted from none"));
            let (policy, path) = self.branches[parent].tree.parts_mut();
            let (behind, room) = tree.into_parts();
            self.spare.extend(policy.join(path, behind));
            path.close(number);
            self.room.push(room);
        }
    }

    /// Parts paths, those first that can be parted nearest to their beginning, until enough have work.
    fn part(&mut self) {
        let n_open = self.branches.iter().filter(|it| !it.tree.has_ended()).count();
        if PATHS_MAX <= n_open {
            return;
        }
        let mut parts: Vec<Option<usize>> =
            self.branches.iter().map(Branch::where_to_part).collect();
        for _ in n_open..PATHS_MAX {
            let known = parts.iter().enumerate().filter_map(|(idx, at)| Some(((*at)?, idx)));
            let Some((at, idx)) = known.min() else { return };
            self.part_one(idx, at);
            parts[idx] = self.branches[idx].where_to_part();
            parts.extend(self.branches.last().map(Branch::where_to_part));
        }
    }

    /// Parts one path at a node.
    fn part_one(&mut self, idx: usize, at: usize) {
        let number = self.next_branch;
        self.next_branch += 1;
        let spare = self.spare.pop();
        let branch = &mut self.branches[idx];
        let parent = branch.number;
        let (policy, path) = branch.tree.parts_mut();
        let room = self.room.pop().unwrap_or_default();
        let (policy, path) = (policy.part(spare), path.part(at, number, room));
        for other in self.branches.iter_mut().filter(|it| it.parent == Some(parent)) {
            if path.floor() < other.tree.path().floor() {
                other.parent = Some(number);
            }
        }
        let tree = Tree::behind(policy, path);
        self.branches.push(Branch { number, parent: Some(parent), tree });
    }

    fn count(&mut self, run: &Run) {
        let turn = self.round.pop_front().expect("bug: it was nobody's turn");
        let idx = self.idx(turn.branch);
        self.branches[idx].tree.count(run);
        if self.round.is_empty() {
            self.begin_round();
        }
    }
}

impl InTurn for Forest {
    fn waiting(&mut self) -> &mut BTreeMap<u64, Run> {
        &mut self.results
    }

    fn take_in(&mut self, run: &Run) {
        self.count(run);
    }
}

impl Search for Forest {
    fn next(&mut self, n_max: usize) -> Vec<Task> {
        let mut tasks = Vec::new();
        for turn in 0..self.round.len() {
            if self.round[turn].number.is_some() || n_max <= tasks.len() {
                continue;
            }
            let idx = self.idx(self.round[turn].branch);
            let number = self.next_number;
            self.next_number += 1;
            self.round[turn].number = Some(number);
            let task = self.branches[idx].tree.first_task(number);
            tasks.push(task.expect("bug: a turn for nothing"));
        }
        if !tasks.is_empty() {
            self.look_ahead(n_max, &mut tasks);
        }
        tasks
    }

    fn turn(&self) -> Option<u64> {
        self.round.front()?.number
    }

    fn learn(&mut self, number: u64, run: &Run) -> Vec<u64> {
        self.learn_in_turn(number, run)
    }

    fn is_finished(&self) -> bool {
        self.round.is_empty()
    }

    fn progress(&self) -> SearchProgress {
        let is_finished = self.is_finished();
        let mut all = self.past.clone();
        self.branches.iter().for_each(|it| all.add(&it.tree));
        let done = match is_finished {
            true => 1.0,
            false => self.branches.iter().map(|it| it.tree.path().done()).sum(),
        };
        let n_waiting = self.branches.iter().map(|it| it.tree.path().n_waiting()).sum::<u64>();
        let least = (!is_finished).then_some(all.n_executions + n_waiting);
        SearchProgress {
            n_executions: all.n_executions,
            n_redundant: all.n_redundant,
            n_diverged: all.n_diverged,
            divergence: all.divergence,
            estimate: all.leaves.estimate(Some(done)).map(|it| SearchSize { least, ..it }),
            is_finished,
            scope: self.branches[0].tree.policy().scope(),
            ..SearchProgress::default()
        }
    }

    fn save(&self) -> Box<RawValue> {
        to_raw_value(self).expect("bug: a search is plain data")
    }
}
