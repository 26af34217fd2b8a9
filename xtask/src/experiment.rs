//! The papers' experiments over programs of our own: `cargo xtask experiment NAME`.
//!
//! An experiment is a list of cells and some pages. A cell is one measurement with a name: campaigns of a strategy on
//! a program (`Search`), or anything else that can be written as JSON (`Cell::new`). Every cell goes to `results.json`
//! of its experiment as soon as it is known, and an interrupted experiment goes on there; a cell whose program or
//! parameters are others than they were is made again. Pages (`RESULTS.md`, plots, sections of documents) are made of
//! `results.json` alone, and a test holds them together. Seconds, and counts of searches that ended with their time,
//! depend on the machine; nothing else does.

mod branches;
mod cell;
mod directed;
mod hapset;
mod lab;
mod overview;
mod page;
mod plot;
mod points;
mod rank;
mod results;
mod rstest;
mod stride;
mod total_replay;
mod trial;

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};

use self::{
    cell::{Case, Cell, Search},
    lab::{Budget, Lab},
    page::{Page, table},
    results::Results,
    trial::Campaigns,
};

/// An experiment.
pub(crate) struct Experiment {
    /// Its folder in `experiments`, and what the command line calls it.
    pub(crate) name: &'static str,
    /// What is measured, in this order.
    cells: fn() -> Vec<Cell>,
    /// What is made of the results. Rows of cells that are not there (`--only`, `--quick`) are left out.
    pages: fn(&Results) -> anyhow::Result<Vec<Page>>,
    /// Its part of `experiments/README.md`: published, by the paper's rules, by ours.
    overview: fn(&Results) -> anyhow::Result<String>,
}

/// All of them, in the order in which `all` makes them.
pub(crate) const EXPERIMENTS: &[Experiment] = &[
    rank::EXPERIMENT,
    rstest::EXPERIMENT,
    hapset::EXPERIMENT,
    total_replay::EXPERIMENT,
    stride::EXPERIMENT,
    points::EXPERIMENT,
    directed::EXPERIMENT,
];

/// How to make experiments.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// A name, or `all`.
    pub(crate) which: String,
    /// Only cells whose name contains this; nothing is written then.
    pub(crate) only: String,
    /// A few cells with small budgets; nothing is written then.
    pub(crate) is_quick: bool,
    /// Forget what an earlier run has found.
    pub(crate) is_anew: bool,
    /// Make everything anew, write nothing, and fail where something else than a time differs.
    pub(crate) is_check: bool,
    /// The `raddle` to use; one is built if none is named.
    pub(crate) raddle: Option<PathBuf>,
    /// Cells at the same time.
    pub(crate) jobs: usize,
}

/// What the command line can ask for.
pub(crate) fn names() -> Vec<&'static str> {
    EXPERIMENTS.iter().map(|it| it.name).chain(["all"]).collect()
}

/// Makes experiments; results and pages go to their folders, if nothing was left out.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let lab = Lab::new(options.raddle.as_deref(), options.is_quick)?;
    let is_asked = |it: &&Experiment| options.which == "all" || options.which == it.name;
    for experiment in EXPERIMENTS.iter().filter(is_asked) {
        experiment.run(&lab, options).with_context(|| format!("experiment {}", experiment.name))?;
    }
    if options.is_whole() {
        overview::page()?.write()?;
    }
    Ok(())
}

impl Options {
    /// Is nothing left out, and is it to be kept?
    fn is_whole(&self) -> bool {
        self.only.is_empty() && !self.is_quick && !self.is_check
    }
}

impl Experiment {
    fn run(&self, lab: &Lab, options: &Options) -> anyhow::Result<()> {
        let mut cells = (self.cells)();
        let all: Vec<String> = cells.iter().map(|it| it.key.clone()).collect();
        cells.retain(|it| it.key.contains(&options.only) && (it.is_quick || !options.is_quick));
        ensure!(!cells.is_empty(), "no cell's name contains `{}`", options.only);
        let path = self.results();
        let mut known = Results::default();
        if !(options.is_anew || options.is_quick || options.is_check) {
            known = Results::read(&path)?;
            known.retain(&all);
        }
        let kept = options.is_whole().then_some(path.as_path());
        let results = self.measure(lab, &cells, known, kept, options.jobs)?;
        if options.is_check {
            let differences = results.differences(&Results::read(&path)?);
            ensure!(differences.is_empty(), "other than before:\n{}", differences.join("\n"));
            eprintln!("{}: {} cells as before, times apart", self.name, cells.len());
            return Ok(());
        }
        for page in (self.pages)(&results)? {
            if options.is_whole() {
                page.write()?;
            } else if page.path.ends_with(".md") {
                eprint!("\n{}", page.text);
            }
        }
        Ok(())
    }

    /// Measures what is not known, several cells at the same time.
    fn measure(
        &self,
        lab: &Lab,
        cells: &[Cell],
        known: Results,
        kept: Option<&Path>,
        jobs: usize,
    ) -> anyhow::Result<Results> {
        let unknown: Vec<&Cell> = cells.iter().filter(|it| !known.has(it)).collect();
        let run = Run {
            name: self.name,
            n_cells: unknown.len(),
            n_begun: AtomicUsize::new(0),
            start: Instant::now(),
            results: Mutex::new(known),
            kept,
        };
        run.all(lab, &unknown, jobs)?;
        Ok(run.results.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn folder(&self) -> PathBuf {
        root().join("experiments").join(self.name)
    }

    fn results(&self) -> PathBuf {
        self.folder().join("results.json")
    }
}

/// An experiment under way.
struct Run<'a> {
    name: &'static str,
    n_cells: usize,
    n_begun: AtomicUsize,
    start: Instant,
    results: Mutex<Results>,
    kept: Option<&'a Path>,
}

impl Run<'_> {
    fn all(&self, lab: &Lab, cells: &[&Cell], jobs: usize) -> anyhow::Result<()> {
        let next = AtomicUsize::new(0);
        let work = || -> anyhow::Result<()> {
            while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.one(lab, cell) {
                    // The others stop after the cell that they are at.
                    next.store(cells.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                match worker.join() {
                    Ok(outcome) => outcome?,
                    Err(_) => bail!("a worker panicked"),
                }
            }
            Ok(())
        })
    }

    fn one(&self, lab: &Lab, cell: &Cell) -> anyhow::Result<()> {
        let idx = self.n_begun.fetch_add(1, Ordering::Relaxed) + 1;
        let elapsed = Duration::from_secs(self.start.elapsed().as_secs());
        eprintln!("{}: cell {idx} of {} ({elapsed:?}): {}", self.name, self.n_cells, cell.key);
        let value = cell.measure(lab)?;
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.add(cell, value);
        self.kept.map_or(Ok(()), |path| results.write(path))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    use super::{EXPERIMENTS, Experiment, overview, results::Results, root};

    /// No number of a page is written by hand, and none is older than its program.
    #[test]
    fn pages_are_made_of_results() {
        for experiment in EXPERIMENTS {
            let name = experiment.name;
            let path = experiment.results();
            let results = Results::read(&path).expect("results can be read");
            for cell in (experiment.cells)() {
                let key = &cell.key;
                assert!(results.has(&cell), "{name}: `{key}` is missing or of something else");
            }
            for page in (experiment.pages)(&results).expect("pages can be made") {
                let is_same = page.is_written().expect("the page can be read");
                assert!(is_same, "cargo xtask experiment {name} makes {} anew", page.path);
            }
        }
        let page = overview::page().expect("all results can be read");
        assert!(page.is_written().expect("the page is there"), "cargo xtask experiment all");
    }

    /// What is written by hand beside results has no figures: they would be right once.
    #[test]
    fn pages_written_by_hand_have_no_figures() {
        let readme = |it: &Experiment| it.folder().join("README.md");
        let pool = root().join("experiments/hapset/pool.md");
        for path in EXPERIMENTS.iter().map(readme).chain([pool]) {
            let text = std::fs::read_to_string(&path).expect("every experiment has a page");
            // Code, names and tuples aside.
            let is_prose = |line: &&str| !line.starts_with("    ");
            for line in text.lines().filter(is_prose) {
                let prose: String = line.split('`').step_by(2).collect();
                let words =
                    prose.split(|it: char| !(it.is_ascii_digit() || it == ',' || it == '.'));
                let is_large =
                    |it: &str| it.replace([',', '.'], "").parse::<u32>().is_ok_and(|n| n > 20);
                let large: Vec<&str> = words.filter(|it| is_large(it)).collect();
                let is_year = |it: &&str| it.len() == 4 && it.starts_with("20");
                assert!(large.iter().all(is_year), "{}: {large:?} in: {line}", path.display());
            }
        }
    }

    /// Two cells with one name would be one.
    #[test]
    fn names_are_unique_and_quick_has_some_of_each() {
        for experiment in EXPERIMENTS {
            let cells = (experiment.cells)();
            let mut keys: Vec<&str> = cells.iter().map(|it| it.key.as_str()).collect();
            keys.sort_unstable();
            let n_cells = keys.len();
            keys.dedup();
            assert_eq!(keys.len(), n_cells, "{}", experiment.name);
            assert!(cells.iter().any(|it| it.is_quick), "{}: nothing is quick", experiment.name);
        }
    }
}
