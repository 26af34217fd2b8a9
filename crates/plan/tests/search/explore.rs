//! Runs a search over a toy program to its end.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{OpKind, Rng, SearchProgress, ThreadSet};
use raddle_plan::search::{Run, SearchSpec, Start, Task};

use crate::{
    oracle,
    toy::{
        program::Program,
        vm::{N_REGS, Outcome, Toy},
    },
};

/// What came of a search.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) progress: SearchProgress,
    pub(crate) classes: BTreeSet<Vec<(u32, u32)>>,
    /// Executions that were not redundant.
    pub(crate) n_full: u64,
    pub(crate) outcomes: BTreeSet<Outcome>,
    /// The schedules of all executions, in the order in which they counted.
    pub(crate) schedules: Vec<Vec<(u32, u32)>>,
    /// Has all been explored?
    pub(crate) is_whole: bool,
}

/// How a search is carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// Executions at once.
    pub(crate) n_workers: usize,
    /// In which order their results come back.
    pub(crate) seed: u64,
    /// May waits end by themselves?
    pub(crate) may_time_out: bool,
    /// Save and restore after so many executions.
    pub(crate) save_every: Option<u64>,
    /// Give up after so many executions.
    pub(crate) max: u64,
    /// Are classes worked out?
    pub(crate) has_classes: bool,
    /// Is a lock's release no scheduling point, as in the runtime?
    pub(crate) has_silent_releases: bool,
}

impl Default for How {
    fn default() -> How {
        How {
            n_workers: 1,
            seed: 0,
            may_time_out: true,
            save_every: None,
            max: 2_000_000,
            has_classes: true,
            has_silent_releases: false,
        }
    }
}

/// The whole search.
pub(crate) fn explore(spec: &str, program: &Program) -> Found {
    explore_as(spec, program, How::default())
}

pub(crate) fn explore_as(spec: &str, program: &Program, how: How) -> Found {
    let toy = Toy::new(program.clone());
    let spec = SearchSpec::parse(spec).expect("a search has this name");
    let mut search = spec.start(Start { may_time_out: how.may_time_out, ..Start::default() });
    let mut rng = Rng::new(how.seed);
    let mut found = Found::default();
    let mut out: Vec<(Task, Run, Outcome)> = Vec::new();
    let mut schedules = BTreeMap::new();
    loop {
        for task in search.next(how.n_workers - out.len()) {
            let mut run = Run::default();
            let outcome = toy.run(&task.prefix, task.tail, &mut run);
            assert_eq!(outcome.diverged_at, None, "{} follows {:?}", program.name, task.prefix);
            if how.has_silent_releases {
                let releases = run.steps.iter_mut().filter(|it| it.kind == OpKind::Unlock);
                releases.for_each(|it| it.enabled = ThreadSet::one(it.thread));
            }
            out.push((task, run, outcome));
        }
        if out.is_empty() {
            break;
        }
        let (task, run, outcome) = out.swap_remove(rng.below(out.len() as u32) as usize);
        if how.has_classes {
            found.classes.insert(oracle::class(&run, how.may_time_out));
        }
        found.outcomes.insert(outcome);
        let schedule = run.steps.iter().map(|it| (it.thread.0, it.choice)).collect();
        schedules.insert(task.number, schedule);
        for number in search.learn(task.number, &run) {
            found.schedules.push(schedules.remove(&number).expect("only what ran counts"));
        }
        if how.max < found.schedules.len() as u64 {
            return found;
        }
        let n_counted = found.schedules.len() as u64;
        if how.save_every.is_some_and(|it| n_counted.is_multiple_of(it)) {
            search = spec.restore(&search.save()).expect("saved");
            out.clear();
            schedules.clear();
        }
    }
    assert!(search.is_finished(), "{}: nothing to do, and not finished", program.name);
    assert_eq!(schedules.len(), 0, "{}: results that never counted", program.name);
    found.is_whole = true;
    found.progress = search.progress();
    found.n_full = found.progress.n_executions - found.progress.n_redundant;
    found
}

impl Found {
    /// What each thread by itself came to, and how executions ended.
    pub(crate) fn local_ends(&self) -> BTreeSet<(usize, [i64; N_REGS], bool)> {
        let ends = self.outcomes.iter().flat_map(|outcome| {
            let threads = outcome.regs.iter().enumerate();
            threads.map(|(thread, regs)| (thread, *regs, outcome.is_deadlock))
        });
        ends.collect()
    }
}
