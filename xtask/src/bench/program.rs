//! Builds the programs of `xtask/bench` and runs them, under Raddle and without it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use raddle_explore::{Block, BlockResult, Session, Target};
use raddle_launch::{CompilerChoice, Language, Native, NativeOptions, Toolchain};
use raddle_model::{End, MemoryModel, PickerSpec, Plan, Points};
use raddle_trace::{Entry, Summary, Trace};
use tempfile::TempDir;

/// Where the programs are built, with what, and how much they are to do.
#[derive(Debug)]
pub(crate) struct Bench {
    toolchain: Toolchain,
    folder: TempDir,
    is_quick: bool,
}

/// What a program said about itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// How long it took.
    pub(crate) ns: f64,
    /// The most memory that it had.
    pub(crate) peak_kib: f64,
}

/// One execution under Raddle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    pub(crate) told: Timing,
    pub(crate) summary: Summary,
}

impl Ran {
    pub(crate) fn ns_per_step(&self) -> f64 {
        self.told.ns / self.summary.n_steps as f64
    }
}

impl Bench {
    pub(crate) fn new(is_quick: bool) -> anyhow::Result<Bench> {
        // Gcc's, for its libtsan is what the bar names and each object must fit both.
        let toolchain = Toolchain::open(CompilerChoice::Gcc)?;
        Ok(Bench { toolchain, folder: TempDir::new()?, is_quick })
    }

    /// How much of a full measurement to do.
    pub(crate) fn amount(&self, full: u64) -> u64 {
        if self.is_quick { full.div_ceil(10) } else { full }
    }

    /// How often to measure the same.
    pub(crate) fn n_rounds(&self) -> usize {
        if self.is_quick { 2 } else { 5 }
    }

    /// A program with hooks.
    pub(crate) fn hooked(&self, source: &str, flags: &[&str]) -> anyhow::Result<PathBuf> {
        let object = self.object(source, flags)?;
        let program = self.path(source, "raddle");
        self.hooked_command(source, &["-pthread"], &object, &program)?;
        Ok(program)
    }

    /// An object file with hooks, to be linked with any runtime that knows them.
    pub(crate) fn object(&self, source: &str, flags: &[&str]) -> anyhow::Result<PathBuf> {
        let object = self.path(source, "o");
        let flags: Vec<&str> = flags.iter().copied().chain(["-pthread", "-c"]).collect();
        self.hooked_command(source, &flags, &sources().join(source), &object)?;
        Ok(object)
    }

    fn hooked_command(
        &self,
        source: &str,
        flags: &[&str],
        input: &Path,
        output: &Path,
    ) -> anyhow::Result<()> {
        let mut args: Vec<OsString> = flags.iter().map(OsString::from).collect();
        args.extend(["-o".into(), output.into(), input.into()]);
        finish(self.toolchain.driver(language(source), &args)?)
    }

    /// A program without hooks, from its source or an object; `kind` tells it from others.
    pub(crate) fn plain(
        &self,
        source: &str,
        kind: &str,
        input: Option<&Path>,
        flags: &[&str],
    ) -> anyhow::Result<PathBuf> {
        let program = self.path(source, kind);
        let compiler = if language(source) == Language::C { "gcc" } else { "g++" };
        let mut command = Command::new(compiler);
        command.args(flags).arg("-pthread").arg("-o").arg(&program);
        command.arg(input.unwrap_or(&sources().join(source)));
        finish(command)?;
        Ok(program)
    }

    fn path(&self, source: &str, extension: &str) -> PathBuf {
        self.folder.path().join(source).with_extension(extension)
    }

    /// The runtime library.
    pub(crate) fn runtime(&self) -> PathBuf {
        self.toolchain.runtime.clone()
    }

    /// A program that waits for blocks.
    pub(crate) fn open(&self, program: &Path, args: &[u64]) -> anyhow::Result<Runner> {
        let args = args.iter().map(|it| it.to_string().into()).collect();
        let runtime = self.toolchain.runtime.clone();
        let mut options = NativeOptions::new(program.into(), args, runtime);
        // One thread that computes makes no steps, however busy it is.
        options.hang_timeout = Duration::from_secs(600);
        Ok(Runner {
            session: Native::new(options).open()?,
            shared: Vec::new(),
            prefix: Vec::new(),
            points: Points::Visible,
            races: false,
            memory_model: MemoryModel::Sc,
        })
    }
}

/// A running fork server.
pub(crate) struct Runner {
    session: Box<dyn Session + Send>,
    /// What executions have taught about sharing, as in a campaign.
    shared: Vec<u64>,
    /// Choices that each execution follows before its picker is asked.
    pub(crate) prefix: Vec<u32>,
    /// Which steps are scheduling points.
    pub(crate) points: Points,
    /// Are races told?
    pub(crate) races: bool,
    /// What atomic loads may read.
    pub(crate) memory_model: MemoryModel,
}

impl Runner {
    /// One execution, which says what it took.
    pub(crate) fn run(&mut self, picker: PickerSpec) -> anyhow::Result<Ran> {
        let result = self.run_block(picker, 1)?;
        let execution = result.last.context("bug: a block of one execution shows it")?;
        let end = execution.trace.end;
        ensure!(end == Some(End::Exit(0)), "ended by {end:?}\n{}", execution.output);
        Ok(Ran { told: parse(&execution.output)?, summary: execution.trace.summary })
    }

    /// The trace of one execution.
    pub(crate) fn trace(&mut self, picker: PickerSpec) -> anyhow::Result<Trace> {
        let result = self.run_block(picker, 1)?;
        Ok(result.last.context("bug: a block of one execution shows it")?.trace)
    }

    /// The fastest of several executions, after one that does not count: the server has donors for all
    /// threads from the second one on.
    pub(crate) fn fastest(&mut self, picker: PickerSpec, n_rounds: usize) -> anyhow::Result<Ran> {
        self.run(picker)?;
        let mut fastest = self.run(picker)?;
        for _ in 1..n_rounds {
            let ran = self.run(picker)?;
            if ran.told.ns < fastest.told.ns {
                fastest = ran;
            }
        }
        Ok(fastest)
    }

    /// Many executions that say nothing; how many steps they took on average.
    pub(crate) fn run_many(
        &mut self,
        picker: PickerSpec,
        n_executions: u64,
    ) -> anyhow::Result<f64> {
        let result = self.run_block(picker, n_executions)?;
        let n_ended = result.summaries.len() as u64;
        ensure!(n_ended == n_executions, "{n_ended} of {n_executions} executions ended well");
        let n_steps: u64 = result.summaries.iter().map(|it| it.n_steps).sum();
        Ok(n_steps as f64 / n_executions as f64)
    }

    fn run_block(&mut self, picker: PickerSpec, n: u64) -> anyhow::Result<BlockResult> {
        let mut block = block(picker, n);
        block.plan.shared.clone_from(&self.shared);
        block.plan.prefix.clone_from(&self.prefix);
        block.plan.conditions.points = self.points;
        block.plan.conditions.memory_model = self.memory_model;
        block.plan.record.races = self.races;
        let result = self.session.run(&block)?;
        self.shared.extend(&result.shared_found);
        self.shared.sort_unstable();
        self.shared.dedup();
        Ok(result)
    }
}

fn block(picker: PickerSpec, n_executions: u64) -> Block {
    let mut plan = Plan::new(picker, 1);
    plan.conditions.limits.max_steps = u64::MAX;
    let entries = (1..=n_executions).map(|seed| Entry::new(picker, seed)).collect();
    Block { plan, entries, exit_is_fine: false, common: 0 }
}

/// A program on its own, the fastest of several runs. Addresses are fixed: gcc 12's libtsan can't live
/// with all the randomness of later kernels.
pub(crate) fn alone(program: &Path, args: &[u64], n_rounds: usize) -> anyhow::Result<Timing> {
    let mut fastest: Option<Timing> = None;
    for _ in 0..n_rounds {
        let output = Command::new("setarch")
            .arg("--addr-no-randomize")
            .arg(program)
            .args(args.iter().map(u64::to_string))
            .output()
            .context("failed to start setarch (package util-linux)")?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("{} ended with {}\n{stderr}", program.display(), output.status);
        }
        let told = parse(&String::from_utf8_lossy(&output.stdout))?;
        if fastest.is_none_or(|it| told.ns < it.ns) {
            fastest = Some(told);
        }
    }
    fastest.context("no run asked for")
}

/// Reads the line that `tell` of `meter.h` writes.
fn parse(output: &str) -> anyhow::Result<Timing> {
    let words: Vec<&str> = output.split_whitespace().collect();
    match words[..] {
        ["ns", ns, "kib", peak_kib] => Ok(Timing { ns: ns.parse()?, peak_kib: peak_kib.parse()? }),
        _ => bail!("the program printed: {output}"),
    }
}

fn finish(mut command: Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("failed to start {command:?}"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed\n{stderr}");
    Ok(())
}

pub(super) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bench")
}

fn language(source: &str) -> Language {
    if source.ends_with(".c") { Language::C } else { Language::Cxx }
}
