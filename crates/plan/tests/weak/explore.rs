//! Runs a search over a program of atomics to its end.

use std::collections::BTreeSet;

use raddle_model::{MemoryModel, PickerSpec, Rng};
use raddle_plan::search::{Run, SearchSpec, Start, Step};

use crate::{
    program::{Outcomes, Program},
    vm::{Branches, Class, Done, execute},
};

/// What came of a search.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) outcomes: Outcomes,
    /// Executions that differ in what reads read and how stores are ordered.
    pub(crate) classes: BTreeSet<Class>,
    pub(crate) n_executions: u64,
    pub(crate) n_redundant: u64,
}

/// The whole search. So many executions run at once, and their results come back in any order.
pub(crate) fn explore(
    spec: &str,
    program: &Program,
    branches: Branches,
    n_workers: usize,
) -> Found {
    explore_as(MemoryModel::C11, spec, program, branches, n_workers)
}

/// The same, by a search that takes memory for this.
pub(crate) fn explore_as(
    memory: MemoryModel,
    spec: &str,
    program: &Program,
    branches: Branches,
    n_workers: usize,
) -> Found {
    let spec = SearchSpec::parse(spec).expect("a search has this name");
    assert!(spec.knows_weak_memory());
    let mut search = spec.start(Start { memory, ..Start::default() });
    let mut rng = Rng::new(1);
    let mut found = Found::default();
    let mut out: Vec<(u64, Run)> = Vec::new();
    loop {
        for task in search.next(n_workers - out.len()) {
            let mut run = Run::default();
            let done = execute(memory, program, branches, &task.prefix, (task.tail, 7), &mut run);
            assert_eq!(done.diverged_at, None, "{program:?} follows {:?}", task.prefix);
            found.take(done);
            out.push((task.number, run));
        }
        if out.is_empty() {
            break;
        }
        let (number, run) = out.swap_remove(rng.below(out.len() as u32) as usize);
        search.learn(number, &run);
    }
    let progress = search.progress();
    assert!(search.is_finished() && progress.n_diverged == 0, "{program:?}");
    (found.n_executions, found.n_redundant) = (progress.n_executions, progress.n_redundant);
    found
}

/// Outcomes of all executions with at most so many preemptions.
pub(crate) fn within(memory: MemoryModel, program: &Program, n_preemptions: usize) -> Outcomes {
    let spec = SearchSpec::parse("dfs").expect("a search has this name");
    let mut search = spec.start(Start { memory, ..Start::default() });
    let mut outcomes = Outcomes::new();
    let mut run = Run::default();
    while let Some(task) = search.next(1).pop() {
        let tail = (task.tail, 7);
        let done = execute(memory, program, Branches::Never, &task.prefix, tail, &mut run);
        let is_preempted = |pair: &&[Step]| {
            pair[0].thread != pair[1].thread && pair[1].enabled.has(pair[0].thread)
        };
        if run.steps.windows(2).filter(is_preempted).count() <= n_preemptions {
            outcomes.insert(done.outcome);
        }
        search.learn(task.number, &run);
    }
    outcomes
}

/// So many random executions.
pub(crate) fn sample(
    memory: MemoryModel,
    picker: PickerSpec,
    program: &Program,
    n_executions: u64,
) -> Found {
    let mut found = Found { n_executions, ..Found::default() };
    let mut run = Run::default();
    for seed in 0..n_executions {
        found.take(execute(memory, program, Branches::Never, &[], (picker, seed), &mut run));
    }
    found
}

impl Found {
    fn take(&mut self, done: Done) {
        self.outcomes.insert(done.outcome);
        self.classes.insert(done.class);
    }
}
