//! Systematic search: planners that leave nothing out, up to their bound.
//!
//! A search hands out *tasks*: a prefix of choices, and who chooses after it. What the execution of a task
//! did comes back as a [`Run`], and tells the search where else it must go. Results may come back in any
//! order; they *count* in an order of the search's own, which depends on nothing but the program: a task
//! counts when all before it do. So the same executions are made, in the same order, whatever the number
//! of workers, and what is handed out ahead of its turn is only what is certain to be wanted.
//!
//! Threads are kept in bit sets: a program with more than 256 threads is given up at once
//! ([`RunError::TooManyThreads`]).

mod dfs;
mod dpor;
mod levels;
mod rank;
mod run;
mod spec;
mod total;
mod tree;

use std::collections::BTreeMap;

use raddle_model::{Drawing, PickerSpec, SearchProgress, flows::Flows};
use serde_json::value::RawValue;

pub use raddle_model::ThreadSet;

pub use self::{
    dpor::{HapSets, Pair},
    rank::{Tuple, covering},
    run::{ModuleNames, ObjectName, Pending, Run, RunError, RunReader, Step},
    spec::{Dpor, Hapset, SearchSpec, SpecError, Start},
    total::{DrawnStep, LocksetRace, Thesis, lockset_races},
};

/// One execution that a search wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// A ticket: it says which task a result belongs to. Not the order in which results count.
    pub number: u64,
    /// Choices to follow first: a thread for each step, and after it a data choice where the step has one.
    pub prefix: Vec<u32>,
    /// Who chooses then.
    pub tail: PickerSpec,
}

/// Which executions come next, until all have been made.
pub trait Search {
    /// The next executions that can be run now, at most `n_max`; none: wait for results, or finished.
    fn next(&mut self, n_max: usize) -> Vec<Task>;

    /// The task that counts next, if it has been handed out: who learns from no other before it decides
    /// himself where to stop.
    fn turn(&self) -> Option<u64>;

    /// Where in the search a task is that has been handed out, for whoever reads its finding: the tuple
    /// of a ranked search.
    fn label(&self, _number: u64) -> Option<String> {
        None
    }

    /// Choices of a task's prefix that tasks begin with which are still to come, for whoever keeps copies of executions;
    /// `None`: what was handed out at once tells.
    fn common(&self, _number: u64) -> Option<u32> {
        None
    }

    /// Takes in what a task's execution did. Gives back the numbers of the tasks that count now, in order:
    /// often just this one, none if an earlier result is still to come, many when that one has come.
    fn learn(&mut self, number: u64, run: &Run) -> Vec<u64>;

    /// Pairs of steps of the execution that was learned from last which the search itself takes for a race, and has told
    /// of no earlier one.
    fn judged(&self) -> &[[u32; 2]] {
        &[]
    }

    /// Hears what flows where in the program, before the first task; who does not ask does not care.
    fn hear_flows(&mut self, _flows: &Flows) {}

    /// Learns from an execution that is no part of the search: a random one that came before it.
    fn teach(&mut self, _run: &Run) {}

    /// Which orders of two statements were covered, if that guides the search.
    fn covered(&self) -> Option<&HapSets> {
        None
    }

    /// Has everything been explored?
    fn is_finished(&self) -> bool;

    /// How far it is.
    fn progress(&self) -> SearchProgress;

    /// What the first execution depends on; empty if the search does not know.
    fn drawings(&self) -> &[Drawing<DrawnStep>] {
        &[]
    }

    /// Everything that is needed to go on later, with [`SearchSpec::restore`]. Tasks whose results do not
    /// count yet are handed out again.
    fn save(&self) -> Box<RawValue>;
}

/// A search whose results count in the order of their turns, whenever they come.
trait InTurn: Search {
    /// Results whose turn has not come.
    fn waiting(&mut self) -> &mut BTreeMap<u64, Run>;

    /// Takes in the result whose turn it is.
    fn take_in(&mut self, run: &Run);

    /// What [`Search::learn`] promises.
    fn learn_in_turn(&mut self, number: u64, run: &Run) -> Vec<u64> {
        if self.turn() != Some(number) {
            self.waiting().insert(number, run.clone());
            return Vec::new();
        }
        self.take_in(run);
        let mut counted = vec![number];
        while let Some(number) = self.turn()
            && let Some(run) = self.waiting().remove(&number)
        {
            self.take_in(&run);
            counted.push(number);
        }
        counted
    }
}
