//! Strategies side by side: each explores each program several times, with other seeds.
//!
//! How many executions a bug takes is told from campaigns of which some end without it: that says "more than
//! so many", not "so many". So quantiles are those of Kaplan and Meier's estimate (JASA 1958), and
//! what no campaign reached is said to lie beyond.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use raddle_model::{Finding, PickerSpec, Plan, mix};

use crate::{
    campaign::{Campaign, Options, Outcome},
    target::{Block, Symbols, Target, TargetError},
};

/// A program.
pub struct Subject<'a> {
    /// What the user calls it.
    pub name: String,
    /// The program itself.
    pub target: &'a dyn Target,
}

/// A strategy.
#[derive(Clone, Debug)]
pub struct Contender {
    /// As the user wrote it.
    pub name: String,
    /// How its campaigns are run; their seeds are others.
    pub options: Options,
}

impl fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What is compared, and how often.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The programs.
    pub subjects: Vec<Subject<'a>>,
    /// The strategies.
    pub contenders: Vec<Contender>,
    /// Campaigns of each strategy on each program.
    pub n_repeats: u32,
    /// What all seeds are made from. Those of one repeat are the same for all strategies.
    pub seed: u64,
    /// Campaigns that run at the same time.
    pub jobs: usize,
    /// Random executions of each program beforehand, which find out what it shares: all campaigns know it, and no
    /// search counts what it makes to find out. 0: each finds out for itself.
    pub n_learning: u64,
}

/// One strategy on one program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The program, by its index.
    pub subject: usize,
    /// The strategy, by its index.
    pub contender: usize,
    /// One for each repeat.
    pub trials: Vec<Trial>,
}

/// One campaign.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Its seed.
    pub seed: u64,
    /// Executions up to the first failure, itself included.
    pub found: Option<u64>,
    /// Where in its search that was, if the search says it: the tuple of a ranked one.
    pub place: Option<String>,
    /// Executions.
    pub executions: u64,
    /// Those that failed.
    pub failures: u64,
    /// Scheduling points of all of them.
    pub points: u64,
    /// Of the one that had most.
    pub points_max: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Was it a search that came to its end?
    pub is_over: bool,
}

/// The number of executions by which a share of the campaigns has found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantile {
    /// So many.
    At(u64),
    /// More than any campaign had.
    Beyond(u64),
}

/// Why programs can't be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A program can't be run.
    #[error("{name}: {error}")]
    Target {
        /// The program.
        name: String,
        /// Why.
        error: TargetError,
    },
    /// A program fails without any help of the schedule.
    #[error("{name} fails before it creates a second thread")]
    Baseline {
        /// The program.
        name: String,
        /// How.
        finding: Box<Finding>,
    },
}

impl Cell {
    /// Campaigns that found something.
    pub fn n_found(&self) -> usize {
        self.trials.iter().filter(|it| it.found.is_some()).count()
    }

    /// Did all campaigns search to the end, and find nothing?
    pub fn is_over(&self) -> bool {
        self.trials.iter().all(|it| it.is_over && it.found.is_none())
    }

    /// Executions that failed, of all; and all. Where campaigns end with their first finding, the quotient
    /// is the most likely rate all the same.
    pub fn failures(&self) -> (u64, u64) {
        (self.sum(|it| it.failures), self.sum(|it| it.executions))
    }

    /// Scheduling points of an execution, on average.
    pub fn points_per_execution(&self) -> f64 {
        self.sum(|it| it.points) as f64 / self.sum(|it| it.executions).max(1) as f64
    }

    /// Scheduling points of the execution that had most.
    pub fn points_max(&self) -> u64 {
        self.trials.iter().map(|it| it.points_max).max().unwrap_or(0)
    }

    /// Executions in a second of one worker.
    pub fn executions_per_s(&self) -> f64 {
        let seconds: f64 = self.trials.iter().map(|it| it.elapsed.as_secs_f64()).sum();
        self.sum(|it| it.executions) as f64 / seconds.max(1e-9)
    }

    /// By how many executions a share of the campaigns has found something.
    pub fn quantile(&self, share: f64) -> Quantile {
        quantile(
            self.trials.iter().map(|it| (it.found.unwrap_or(it.executions), it.found.is_some())),
            share,
        )
    }

    fn sum(&self, of: impl Fn(&Trial) -> u64) -> u64 {
        self.trials.iter().map(of).sum()
    }
}

/// Kaplan and Meier: of those who are still without a find after so many executions, a part finds something
/// at the next; the product of the other parts is who is left. Each sample is a number of executions and
/// whether it ended with a find.
fn quantile(samples: impl Iterator<Item = (u64, bool)>, share: f64) -> Quantile {
    let mut by_time: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (time, is_find) in samples {
        let (n_finds, n_ends) = by_time.entry(time).or_default();
        *n_finds += u64::from(is_find);
        *n_ends += 1;
    }
    let mut n_left: u64 = by_time.values().map(|it| it.1).sum();
    let longest = by_time.keys().copied().next_back().unwrap_or(0);
    let mut without = 1.0;
    for (time, (n_finds, n_ends)) in by_time {
        without *= 1.0 - n_finds as f64 / n_left as f64;
        // A hair, for the product of fractions is not exact.
        if n_finds > 0 && without <= 1.0 - share + 1e-9 {
            return Quantile::At(time);
        }
        n_left -= n_ends;
    }
    Quantile::Beyond(longest)
}

impl Comparison<'_> {
    /// Runs all campaigns. `told` hears of each cell when it is complete, in whatever order, and how many
    /// campaigns are done. Gives back the complete cells, by program and then by strategy: all of them,
    /// unless `stop` became true.
    pub fn run(
        &self,
        symbols: &(dyn Fn() -> Box<dyn Symbols> + Sync),
        stop: &AtomicBool,
        told: &mut dyn FnMut(u64, Option<&Cell>),
    ) -> Result<Vec<Cell>, CompareError> {
        let n_trials = self.n_cells() * self.n_repeats as usize;
        let shared = self.shared()?;
        let next = AtomicUsize::new(0);
        let (sender, results) = mpsc::channel();
        let has_failed = AtomicBool::new(false);
        let work = |sender: mpsc::Sender<(usize, Result<Trial, CompareError>)>| {
            loop {
                let idx = next.fetch_add(1, Ordering::Relaxed);
                let is_over = stop.load(Ordering::Relaxed) || has_failed.load(Ordering::Relaxed);
                if n_trials <= idx || is_over {
                    return;
                }
                let trial = self.trial(idx, &shared, &mut *symbols(), stop);
                if let Some(result) = trial.transpose()
                    && sender.send((idx, result)).is_err()
                {
                    return;
                }
            }
        };
        let mut cells = BTreeMap::new();
        let mut error = None;
        thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            for (n_done, (idx, result)) in (1..).zip(results) {
                match result {
                    Ok(trial) => {
                        let cell = self.add(&mut cells, idx, trial);
                        told(n_done, Some(cell).filter(|it| self.is_complete(it)));
                    }
                    Err(why) => {
                        has_failed.store(true, Ordering::Relaxed);
                        error.get_or_insert(why);
                    }
                }
            }
        });
        if let Some(error) = error {
            return Err(error);
        }
        Ok(cells.into_values().filter(|it| self.is_complete(it)).collect())
    }

    fn is_complete(&self, cell: &Cell) -> bool {
        cell.trials.len() == self.n_repeats as usize
    }

    fn n_cells(&self) -> usize {
        self.subjects.len() * self.contenders.len()
    }

    fn add<'a>(&self, cells: &'a mut BTreeMap<usize, Cell>, idx: usize, trial: Trial) -> &'a Cell {
        let cell_idx = idx / self.n_repeats as usize;
        let cell = cells.entry(cell_idx).or_insert_with(|| Cell {
            subject: cell_idx / self.contenders.len(),
            contender: cell_idx % self.contenders.len(),
            trials: Vec::new(),
        });
        cell.trials.push(trial);
        // Workers overtake each other.
        cell.trials.sort_by_key(|it| self.repeat_of(it.seed));
        cell
    }

    fn repeat_of(&self, seed: u64) -> Option<u32> {
        (0..self.n_repeats).find(|it| self.seed_of(*it) == seed)
    }

    fn seed_of(&self, repeat: u32) -> u64 {
        mix(mix(self.seed, 0xc0), u64::from(repeat))
    }

    /// Runs one campaign; `None` if it was stopped.
    fn trial(
        &self,
        idx: usize,
        shared: &[Vec<u64>],
        symbols: &mut dyn Symbols,
        stop: &AtomicBool,
    ) -> Result<Option<Trial>, CompareError> {
        let repeat = (idx % self.n_repeats as usize) as u32;
        let cell = idx / self.n_repeats as usize;
        let subject = &self.subjects[cell / self.contenders.len()];
        let seed = self.seed_of(repeat);
        let mut options = Options {
            seed,
            jobs: 1,
            confirmations: 0,
            exposed: shared[cell / self.contenders.len()].clone(),
            ..self.contenders[cell % self.contenders.len()].options.clone()
        };
        if let Some(search) = options.method.search_mut() {
            search.is_in_turn = true;
            if self.n_learning > 0 {
                search.n_learning = 1;
            }
        }
        let mut campaign = Campaign::new(subject.target, options);
        let outcome = match campaign.run(symbols, &mut (), stop) {
            Err(TargetError::Stopped) => return Ok(None),
            Err(error) => {
                return Err(CompareError::Target { name: subject.name.clone(), error });
            }
            Ok(outcome) if outcome.figures.interrupted => return Ok(None),
            Ok(outcome) => outcome,
        };
        if let Some(finding) = &outcome.baseline_failure {
            let (name, finding) = (subject.name.clone(), Box::new(finding.clone()));
            return Err(CompareError::Baseline { name, finding });
        }
        let search = outcome.search.as_ref().filter(|_| self.n_learning > 0);
        Ok(Some(Trial::of(seed, &outcome, search.map_or(0, |it| it.effort.n_learning))))
    }

    /// What each program shares, as far as random executions can tell.
    fn shared(&self) -> Result<Vec<Vec<u64>>, CompareError> {
        let of = |subject: &Subject<'_>| {
            let failed = |error| CompareError::Target { name: subject.name.clone(), error };
            self.what_it_shares(subject.target).map_err(failed)
        };
        self.subjects.iter().map(of).collect()
    }

    fn what_it_shares(&self, target: &dyn Target) -> Result<Vec<u64>, TargetError> {
        let mut shared = Vec::new();
        if self.n_learning == 0 {
            return Ok(shared);
        }
        let mut session = target.open()?;
        for seed in 0..self.n_learning {
            let mut plan = Plan::new(PickerSpec::Walk, seed);
            plan.shared.clone_from(&shared);
            let result = session.run(&Block::one(plan, false))?;
            shared.extend(result.shared_found);
            shared.sort_unstable();
            shared.dedup();
        }
        Ok(shared)
    }
}

impl Trial {
    /// The first `n_apart` executions do not count.
    fn of(seed: u64, outcome: &Outcome, n_apart: u64) -> Trial {
        let counted = |n: u64| n.saturating_sub(n_apart).max(1);
        // Warnings end no campaign, and who meets one before the failure must not look better than who does not.
        let errors = || outcome.findings.iter().filter(|it| !it.finding.is_warning());
        let first = errors().min_by_key(|it| it.first);
        let search = outcome.search.as_ref();
        Trial {
            seed,
            found: first.map(|it| counted(it.first + 1)),
            place: first.and_then(|it| it.finding.position.clone()),
            executions: counted(outcome.figures.executions),
            failures: errors().map(|it| it.count).sum(),
            // The average stays what it is.
            points: outcome.figures.points_total * counted(outcome.figures.executions)
                / outcome.figures.executions.max(1),
            points_max: outcome.figures.points_max,
            elapsed: outcome.figures.elapsed,
            is_over: search.is_some_and(|it| it.progress.is_finished),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicBool, time::Duration};

    use super::{Cell, CompareError, Comparison, Contender, Quantile, Subject, quantile};
    use crate::{
        campaign::Options,
        fake::{Toy, ToySymbols},
    };

    fn comparison<'a>(toys: &'a [Toy], jobs: usize) -> Comparison<'a> {
        let name = |(idx, target): (usize, &'a Toy)| {
            let name = format!("toy {idx}");
            Subject { name, target }
        };
        let contender = |name: &str, executions| Contender {
            name: name.into(),
            options: Options { executions: Some(executions), ..Options::default() },
        };
        Comparison {
            subjects: toys.iter().enumerate().map(name).collect(),
            contenders: vec![contender("short", 10), contender("long", 1_000)],
            n_repeats: 4,
            seed: 3,
            jobs,
            n_learning: 0,
        }
    }

    fn run(comparison: &Comparison<'_>) -> Result<Vec<Cell>, CompareError> {
        let mut cells =
            comparison.run(&|| Box::new(ToySymbols), &AtomicBool::new(false), &mut |_, _| {})?;
        for trial in cells.iter_mut().flat_map(|it| &mut it.trials) {
            trial.elapsed = Duration::ZERO;
        }
        Ok(cells)
    }

    #[test]
    fn cells_come_in_order_however_many_workers_there_are() {
        let toys = [Toy::default(), Toy { fails_in: 0, ..Toy::default() }];
        let cells = run(&comparison(&toys, 1)).expect("the toys are not broken");
        let places: Vec<(usize, usize)> =
            cells.iter().map(|it| (it.subject, it.contender)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!(run(&comparison(&toys, 3)).expect("as above"), cells);
        assert_eq!(cells[1].n_found(), 4);
        assert_eq!(cells[3].failures(), (0, 4_000));
        assert_eq!(cells[3].quantile(0.5), Quantile::Beyond(1_000));
        let firsts: Vec<u64> = cells[1].trials.iter().filter_map(|it| it.found).collect();
        let executions: Vec<u64> = cells[1].trials.iter().map(|it| it.executions).collect();
        assert_eq!(firsts, executions, "a campaign ends with its first finding");
    }

    #[test]
    fn a_program_that_fails_by_itself_is_named() {
        let toys = [Toy { baseline: raddle_model::End::Assert, n_threads: 1, ..Toy::default() }];
        let error = run(&comparison(&toys, 2)).expect_err("it fails");
        assert!(error.to_string().starts_with("toy 0 fails before"), "{error}");
    }

    #[test]
    fn a_broken_program_is_named() {
        let toys = [Toy { error_in: 1, ..Toy::default() }];
        let error = run(&comparison(&toys, 2)).expect_err("it is broken");
        assert_eq!(error.to_string(), "toy 0: the toy is broken");
    }

    fn at(samples: &[(u64, bool)], share: f64) -> Quantile {
        quantile(samples.iter().copied(), share)
    }

    /// Four of five found it: half of all had by the third find, 95 % were never reached.
    #[test]
    fn the_same_budget_for_all() {
        let samples = [(7, true), (3, true), (100, false), (40, true), (5, true)];
        assert_eq!(at(&samples, 0.5), Quantile::At(7));
        assert_eq!(at(&samples, 0.8), Quantile::At(40));
        assert_eq!(at(&samples, 0.95), Quantile::Beyond(100));
        assert_eq!(at(&[], 0.5), Quantile::Beyond(0));
    }

    /// Two of four give up at 10. Who is left after each find: 3/4 at 5, then of the one that is left at 20
    /// none. So the median lies at 20, not at 5 or 10.
    #[test]
    fn who_gives_up_early_says_only_that_it_takes_longer() {
        let samples = [(5, true), (10, false), (10, false), (20, true)];
        assert_eq!(at(&samples, 0.25), Quantile::At(5));
        assert_eq!(at(&samples, 0.5), Quantile::At(20));
    }
}
