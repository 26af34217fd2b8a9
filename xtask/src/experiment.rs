//! The papers' experiments over programs of our own: how many executions each strategy needs to the first
//! failure, as tables in Markdown.
//!
//! What the program shares is found out beforehand by random executions that do not count, the same for all
//! strategies: the papers know it from the program's text. A cell is the number of executions up to and with
//! the failing one; `none of n` is a search that ended without failure after n executions, `> n` one that was
//! given up at its budget. Times are in the results for the sake of the paper's columns; they depend on the
//! machine.

mod hapset;
mod rank;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use anyhow::Context;
use clap::ValueEnum;
use raddle_explore::{
    Campaign, Observer, Options, Outcome, SearchOptions,
    target::{Block, Session, Target},
};
use raddle_launch::{
    CompileRequest, CompilerChoice, Native, NativeOptions, Symbols, Toolchain, compile,
};
use raddle_model::{PickerSpec, Plan};
use raddle_plan::search::SearchSpec;
use raddle_trace::Entry;

/// Which experiment.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Which {
    /// Coverage guided search: seed paper 2.
    Hapset,
    /// Ranked search: seed paper 0.
    Rank,
}

/// How to make an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) which: Which,
    /// Executions after which a search is given up.
    pub(crate) executions: u64,
    /// Seconds after which it is.
    pub(crate) seconds: u64,
    /// Only programs whose name contains this.
    pub(crate) only: String,
}

/// Makes an experiment; its results go to standard output and, if nothing was left out, to its folder.
pub(crate) fn run(settings: &Settings) -> anyhow::Result<()> {
    let lab = Lab::new(settings)?;
    let (name, text) = match settings.which {
        Which::Hapset => ("hapset", hapset::tables(&lab)?),
        Which::Rank => ("rank", rank::tables(&lab)?),
    };
    eprint!("\n{text}");
    if settings.only.is_empty() {
        let path = root().join("experiments").join(name).join("RESULTS.md");
        fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A program with its flags and arguments.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// What tables call it.
    pub(crate) name: String,
    /// Its source, from the root of the repository.
    pub(crate) source: String,
    pub(crate) flags: Vec<String>,
    pub(crate) args: Vec<String>,
}

impl Case {
    pub(crate) fn new(name: &str, source: &str) -> Case {
        let (name, source) = (name.to_owned(), source.to_owned());
        Case { name, source, flags: Vec::new(), args: Vec::new() }
    }

    pub(crate) fn with_args(self, args: &[&str]) -> Case {
        Case { args: args.iter().map(|it| (*it).to_owned()).collect(), ..self }
    }

    pub(crate) fn with_flags(self, flags: &[&str]) -> Case {
        Case { flags: flags.iter().map(|it| (*it).to_owned()).collect(), ..self }
    }
}

/// Compiles and searches.
pub(crate) struct Lab<'a> {
    settings: &'a Settings,
    toolchain: Toolchain,
}

/// A program that is ready to be searched.
pub(crate) struct Prepared {
    target: Native,
    /// What it shares.
    shared: Vec<u64>,
}

/// How a search went.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Executions, also those of searches that began again.
    pub(crate) n_executions: u64,
    pub(crate) elapsed: Duration,
    pub(crate) verdict: Verdict,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Found,
    /// The search ended, and nothing had failed.
    Nothing,
    /// The budget ended.
    GivenUp,
}

struct Silent;

impl Observer for Silent {}

impl<'a> Lab<'a> {
    fn new(settings: &'a Settings) -> anyhow::Result<Lab<'a>> {
        Ok(Lab { settings, toolchain: Toolchain::open(CompilerChoice::Gcc)? })
    }

    /// Is the program to be left out?
    pub(crate) fn is_left_out(&self, case: &Case) -> bool {
        !case.name.contains(&self.settings.only)
    }

    /// Compiles a program and finds out what it shares.
    pub(crate) fn prepare(&self, case: &Case) -> anyhow::Result<Prepared> {
        let request = CompileRequest {
            inputs: vec![root().join(&case.source)],
            flags: case.flags.iter().map(Into::into).collect(),
        };
        let program = compile(&self.toolchain, &request)
            .with_context(|| format!("failed to compile {}", case.source))?
            .program;
        let args = case.args.iter().map(Into::into).collect();
        let mut options = NativeOptions::new(program, args, self.toolchain.runtime.clone());
        options.events = Some(1 << 17);
        let target = Native::new(options);
        let shared = what_is_shared(&mut *target.open()?)?;
        Ok(Prepared { target, shared })
    }

    /// Searches a program up to its first failure.
    pub(crate) fn search(&self, prepared: &Prepared, strategy: &str) -> anyhow::Result<Cell> {
        let spec = SearchSpec::parse(strategy)?;
        let search = SearchOptions { n_learning: 1, ..SearchOptions::new(spec) };
        let options = Options {
            search: Some(search),
            // The baseline, which every search makes again, does not count.
            executions: Some(self.settings.executions + 1),
            time: Some(Duration::from_secs(self.settings.seconds)),
            confirmations: 0,
            exposed: prepared.shared.clone(),
            ..Options::default()
        };
        let outcome = Campaign::new(&prepared.target, options).run(
            &mut Symbols::new(),
            &mut Silent,
            &AtomicBool::new(false),
        )?;
        let is_over = outcome.search.as_ref().is_some_and(|it| it.progress.is_finished);
        let verdict = match (outcome.findings.is_empty(), is_over) {
            (false, _) => Verdict::Found,
            (true, true) => Verdict::Nothing,
            (true, false) => Verdict::GivenUp,
        };
        let n_executions = outcome.executions.saturating_sub(1).max(1);
        Ok(Cell { n_executions, elapsed: outcome.elapsed, verdict, outcome })
    }
}

fn what_is_shared(session: &mut (dyn Session + Send)) -> anyhow::Result<Vec<u64>> {
    const EXECUTIONS: u64 = 200;
    let mut shared = Vec::new();
    for seed in 0..EXECUTIONS {
        let mut plan = Plan::new(PickerSpec::Walk, seed);
        plan.shared.clone_from(&shared);
        let entries = vec![Entry::new(PickerSpec::Walk, seed)];
        let result = session.run(&Block { plan, entries, exit_is_fine: false, common: 0 })?;
        shared.extend(result.shared_found);
        shared.sort_unstable();
        shared.dedup();
    }
    Ok(shared)
}

impl Cell {
    /// `14`, `none of 512`, `> 2000`.
    pub(crate) fn runs(&self) -> String {
        let n_executions = self.n_executions;
        match self.verdict {
            Verdict::Found => n_executions.to_string(),
            Verdict::Nothing => format!("none of {n_executions}"),
            Verdict::GivenUp => format!("> {n_executions}"),
        }
    }

    /// `14 (0.2 s)`.
    pub(crate) fn runs_and_time(&self) -> String {
        format!("{} ({:.1} s)", self.runs(), self.elapsed.as_secs_f64())
    }
}

/// A table in Markdown.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "| {} |", head.join(" | "));
    let rule = head.iter().enumerate().map(|(idx, _)| if idx == 0 { "---" } else { "---:" });
    let _ = writeln!(text, "| {} |", rule.collect::<Vec<_>>().join(" | "));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}
