//! Seed paper 1: its three small programs without Raddle and under its scheduling function, at its visible operations
//! and, as ConTest has it, at every access.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use raddle_report::layout::number::grouped;
use serde::{Deserialize, Serialize};

use super::{
    Budget, Campaigns, Case, Cell, Experiment, Lab, Page, Results, Search, table, trial::Rate,
};

pub(super) const EXPERIMENT: Experiment = Experiment { name: "rstest", cells, pages, overview };

/// A program, and what the paper says of the one after which it was made. (Its digits are not in our copy.)
struct Subject {
    name: &'static str,
    source: &'static str,
    flags: &'static [&'static str],
    natively: &'static str,
    with_rstest: &'static str,
}

const SUBJECTS: [Subject; 3] = [
    Subject {
        name: "clean",
        source: "programs/fail/papers/clean.c",
        flags: &["-DROUNDS=50"],
        natively: "no deadlock in minutes",
        with_rstest: "after seconds",
    },
    Subject {
        name: "fund managers",
        source: "programs/fail/papers/fund_managers.c",
        flags: &["-DMANAGERS=3", "-DTRANSFERS=100"],
        natively: "never",
        with_rstest: "many times in each execution",
    },
    Subject {
        name: "tango",
        source: "programs/fail/papers/tango.c",
        flags: &["-DFRAMES=50"],
        natively: "never",
        with_rstest: "once in some executions",
    },
];

/// The paper's: a loop with a sleep, over a list of ready threads.
const PAPER: &str = "rstest:p=0.2,sleep=1,base=ready";

/// What a column is called, its strategy, and its points.
const SEARCHES: [(&str, &str, &str); 4] = [
    ("paper", PAPER, "lockset"),
    ("paper, all", PAPER, "all"),
    ("ours", "rstest:p=0.2", "visible"),
    ("portfolio", "portfolio", "visible"),
];

const BUDGET: Budget = Budget { executions: 2_000, seconds: 60 };
/// To see how long an execution takes.
const TIMED: Budget = Budget { executions: 500, seconds: 60 };
const REPEATS: u32 = 10;
const NATIVE_RUNS: u32 = 1_000;
const NATIVE_QUICK: u32 = 20;
/// A run that has not ended by then is considered blocked forever; after so many of those the rest is left out.
const PATIENCE: Duration = Duration::from_secs(5);
const HANGS_MAX: u32 = 3;

/// Executions without Raddle.
#[derive(Debug, Serialize, Deserialize)]
struct Native {
    native_runs: u32,
    native_failures: u32,
    seconds: f64,
}

impl Subject {
    fn case(&self) -> Case {
        Case::new(self.name, self.source).with_flags(self.flags)
    }
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for subject in &SUBJECTS {
        let (case, is_quick) = (subject.case(), subject.name == "tango");
        let flags = subject.flags.join(" ");
        let native = move |lab: &Lab| run_natively(lab, &subject.case());
        let key = super::results::key(&[subject.name, "native"]);
        cells.push(Cell::new(&key, &[&flags], &[subject.source], native).quick(is_quick));
        for (label, strategy, points) in SEARCHES {
            let search = |budget| {
                Search::new(&case, strategy, budget).label(label).options(&["--points", points])
            };
            cells.push(Cell::of(search(BUDGET).repeats(REPEATS)).quick(is_quick));
            let timed = search(TIMED);
            let key = super::results::key(&[subject.name, label, "timed"]);
            let inputs = format!("{flags} {strategy} {points} {TIMED:?}");
            let rate = move |lab: &Lab| lab.rate(&timed);
            cells.push(Cell::new(&key, &[&inputs], &[subject.source], rate).quick(is_quick));
        }
    }
    cells
}

/// Runs a program as it is, again and again.
fn run_natively(lab: &Lab, case: &Case) -> anyhow::Result<Native> {
    let folder = lab.folder()?;
    let program = lab.native(case, folder.path())?;
    let n_runs = if lab.is_quick { NATIVE_QUICK } else { NATIVE_RUNS };
    let mut native = Native { native_runs: 0, native_failures: 0, seconds: 0.0 };
    let mut n_hangs = 0;
    while native.native_runs < n_runs && n_hangs < HANGS_MAX {
        native.native_runs += 1;
        let begin = Instant::now();
        let mut child = Command::new(&program)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("the program does not start")?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if begin.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                break None;
            }
            // `Child::wait` has no deadline; this is short compared with a run.
            std::thread::sleep(Duration::from_micros(200));
        };
        native.native_failures += u32::from(!status.is_some_and(|it| it.success()));
        n_hangs += u32::from(status.is_none());
        if status.is_some() {
            native.seconds += begin.elapsed().as_secs_f64();
        }
    }
    Ok(native)
}

struct Row {
    subject: &'static Subject,
    native: Native,
    campaigns: Vec<Campaigns>,
    rates: Vec<Rate>,
}

fn rows(results: &Results) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for subject in &SUBJECTS {
        let labels = SEARCHES.map(|it| it.0);
        let timed: Vec<Option<Rate>> = labels
            .iter()
            .map(|it| results.get(&[subject.name, it, "timed"]))
            .collect::<anyhow::Result<_>>()?;
        let rates: Option<Vec<Rate>> = timed.into_iter().collect();
        let found = (
            results.get(&[subject.name, "native"])?,
            results.row::<Campaigns>(subject.name, &labels)?,
            rates,
        );
        if let (Some(native), Some(campaigns), Some(rates)) = found {
            rows.push(Row { subject, native, campaigns, rates });
        }
    }
    Ok(rows)
}

impl Native {
    fn failures(&self) -> String {
        format!("{} of {}", grouped(self.native_failures.into()), grouped(self.native_runs.into()))
    }
}

fn found(results: &Results) -> anyhow::Result<String> {
    let lines: Vec<Vec<String>> = rows(results)?
        .iter()
        .map(|row| {
            let Subject { name, natively, with_rstest, .. } = *row.subject;
            let mut line = [name, natively, with_rstest].map(str::to_owned).to_vec();
            line.push(row.native.failures());
            line.extend(row.campaigns.iter().map(Campaigns::medians));
            line
        })
        .collect();
    let head = [
        "program",
        "published, natively",
        "with rstest",
        "ours, natively",
        "by the paper's rules",
        "at all accesses",
        "`rstest`",
        "`portfolio`",
    ];
    Ok(table(&head, &lines))
}

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let mut lines = Vec::new();
    for row in rows(results)? {
        let mut line = vec![row.subject.name.to_owned()];
        line.extend(row.campaigns[..3].iter().map(|it| format!("{:.1}", it.points())));
        line.push(format!("{:.1} ×", row.campaigns[1].points() / row.campaigns[0].points()));
        let n_ended = f64::from(row.native.native_runs);
        let native_us = 1e6 * row.native.seconds / n_ended;
        line.push(format!("{native_us:.0} µs"));
        for rate in &row.rates[..3] {
            line.push(format!("{:.0} µs", 1e6 * rate.seconds / rate.n_executions.max(1) as f64));
        }
        lines.push(line);
    }
    let head = [
        "program",
        "calls, paper",
        "calls, all accesses",
        "calls, `visible`",
        "fewer",
        "natively",
        "paper",
        "all accesses",
        "`visible`",
    ];
    let text = format!(
        "{HEAD}\nThe median of {REPEATS} campaigns of at most {} executions.\n\n{}{COST}\n{}",
        grouped(BUDGET.executions),
        found(results)?,
        table(&head, &lines)
    );
    Ok(vec![Page::whole("experiments/rstest/RESULTS.md", text)])
}

fn overview(results: &Results) -> anyhow::Result<String> {
    Ok(format!("{OVERVIEW}\n{}", found(results)?))
}

const HEAD: &str = "\
# rstest: results

Made by `cargo xtask experiment rstest`. Failed runs without Raddle; in the other columns, executions to the first failure (in
parentheses, how many campaigns found one, if not all; a dash: none). By the paper's rules:
`rstest:p=0.2,sleep=1,base=ready` at the points of `--points lockset`; the same at all accesses, as in ConTest (`--points all`);
then `rstest` and `portfolio` at `--points visible`. The paper's text is quoted instead of its figures, whose digits are not in
our copy.
";

const COST: &str = "
## Calls of the scheduler, and time

Calls per execution, and how many fewer there are by the paper's rules than at all accesses; then the time of an execution.
Natively an execution is a process; under Raddle a process serves many executions, and fewer if executions fail.
";

const OVERVIEW: &str = "\
## rstest ([rstest](rstest/RESULTS.md))

Failed runs without Raddle, and executions to the first failure with it. The paper's loop sleeps in real time over a scheduler
that it does not control; Raddle decides every switch, so a failure takes a few executions and is reproducible with its seed.
";
