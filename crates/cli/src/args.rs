//! What the command line may say.

mod compare;
mod conditions;
mod detect;
mod report;
mod review;
mod run;
mod store;

use std::{
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{
    ArgMatches, Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand,
    ValueEnum,
    error::{ContextKind, ContextValue},
};
use raddle_model::Carrier;

pub(crate) use compare::CompareArgs;
pub(crate) use conditions::{ConditionArgs, PointsArg};
pub(crate) use detect::{DetectArg, detect};
pub(crate) use report::{ReportArgs, ReportFormat};
pub(crate) use review::ReviewArgs;
pub(crate) use run::{ProgressMode, RunArgs};
pub(crate) use store::{StoreArgs, StoreVerb};

use crate::{exit::Exit, spelling, values};

/// Find the bugs of concurrent C, C++ and Rust programs by owning their schedules.
#[derive(Debug, Parser)]
#[command(name = "raddle", version, propagate_version = true, max_term_width = 100)]
#[command(args_override_self = true)]
#[command(after_help = "Exit codes: 0 clean, 1 usage, 2 findings, 3 inconclusive, \
    4 the program fails by itself, 5 not reproduced, 70 internal error, 130 interrupted.")]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// How to look.
    #[command(flatten)]
    pub(crate) look: Look,
}

/// How text looks.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Look {
    /// Colours
    #[arg(long, global = true, value_enum, default_value_t, env = "RADDLE_COLOR")]
    #[arg(value_name = "WHEN", hide_env = true)]
    pub(crate) color: ColorMode,
    /// Only ASCII characters
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    #[default]
    Auto,
    Always,
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Explore the interleavings of a program
    Run(Box<RunArgs>),
    /// Total replay: run only the interleavings that can change a branch, a reference or a lock
    /// (`raddle run --strategy total`)
    Total(Box<RunArgs>),
    /// Run the schedule of a finding again
    Replay(ReplayArgs),
    /// Show a finding
    Show(ShowArgs),
    /// Write a finding or a run as a page, or for other tools
    Report(ReportArgs),
    /// Make a finding's schedule small, and say why it fails
    Min(MinArgs),
    /// Keep a finding as a regression, suppress it, or throw it away
    Review(ReviewArgs),
    /// Look through the store, take findings elsewhere, make room
    Store(StoreArgs),
    /// Say whether a finding is gone after a change of the program
    Regress(RegressArgs),
    /// Run the schedule of a finding under gdb, stopped at a step
    Debug(DebugArgs),
    /// List findings, newest first
    List(ListArgs),
    /// Compare strategies on programs of yours
    Compare(Box<CompareArgs>),
    /// Check that everything is there, and that a known bug is found
    Doctor,
    /// Explore a Rust crate's tests and programs, also as `cargo raddle`: build, run, test
    #[command(disable_help_flag = true)]
    Cargo {
        /// Arguments of `cargo raddle`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Compile C with raddle's hooks: takes the arguments of gcc or clang
    #[command(disable_help_flag = true)]
    Cc {
        /// Arguments of the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Compile C++ with raddle's hooks: takes the arguments of g++ or clang++
    #[command(name = "c++", disable_help_flag = true)]
    Cxx {
        /// Arguments of the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

/// `raddle replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The finding: its id, the start of its id, `latest`, or a finding's file
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// How often
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::count)]
    pub(crate) times: u64,
    /// What carries the program's threads, if not what carried them when it was found
    #[arg(long, value_enum)]
    pub(crate) carrier: Option<CarrierArg>,
    /// Show what the program writes
    #[arg(long)]
    pub(crate) show_output: bool,
    /// The schedule that was found first, not the smallest one that is known
    #[arg(long)]
    pub(crate) original: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `raddle show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The finding: its id, the start of its id, `latest`, or a finding's file
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Every step, every frame, all output
    #[arg(long)]
    pub(crate) full: bool,
    /// What to write, if not text
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ShowFormat>,
    /// The schedule that was found first, not the smallest one that is known
    #[arg(long)]
    pub(crate) original: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What `raddle show` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowFormat {
    /// Text for people
    Text,
    /// A brief in Markdown, for issue trackers
    Md,
    /// One JSON value, see docs/json.md
    Json,
}

/// `raddle min`.
#[derive(Debug, Args)]
pub(crate) struct MinArgs {
    /// The finding: its id, the start of its id, `latest`, or a finding's file
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Executions that it may take
    #[arg(long, value_name = "N", default_value = "2000", value_parser = values::count)]
    pub(crate) replays: u64,
    /// The emergency stop: the result depends on the machine if it strikes
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    pub(crate) time: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `raddle regress`.
#[derive(Debug, Args)]
pub(crate) struct RegressArgs {
    /// The finding: its id, the start of its id, `latest`, or a finding's file
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Executions
    #[arg(long, value_name = "N", default_value = "20000", value_parser = values::count)]
    pub(crate) execs: u64,
    /// Stop after this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    pub(crate) time: Duration,
    /// Workers [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = values::count)]
    pub(crate) jobs: Option<u64>,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl RegressArgs {
    /// How many workers.
    pub(crate) fn n_jobs(&self) -> usize {
        n_jobs(self.jobs)
    }
}

/// `raddle debug`.
#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    /// The finding: its id, the start of its id, `latest`, or a finding's file
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Stop before this step, as `raddle show` numbers them
    #[arg(long, value_name = "STEP", value_parser = values::count, conflicts_with = "before_bug")]
    pub(crate) at: Option<u64>,
    /// Stop before the step in which it goes wrong, a race's second access or else the last one: what happens if
    /// nothing is said
    #[arg(long)]
    pub(crate) before_bug: bool,
    /// Which debugger; gdb if it is there, else lldb
    #[arg(long, value_name = "NAME")]
    pub(crate) debugger: Option<DebuggerName>,
    /// A command for the debugger, when it is there; several are possible
    #[arg(long = "ex", value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
    /// End when the commands are done
    #[arg(long)]
    pub(crate) batch: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// A debugger, as the user calls it.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum DebuggerName {
    Gdb,
    Lldb,
}

/// `raddle list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show the N newest findings [default: 50 on a terminal, else all]
    #[arg(long, value_name = "N", value_parser = crate::values::count, conflicts_with = "all")]
    pub(crate) last: Option<u64>,
    /// Show all findings
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What most verbs take.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Where findings are kept
    #[arg(long, value_name = "DIR", default_value = ".raddle", env = "RADDLE_STORE")]
    #[arg(hide_env = true)]
    pub(crate) store: PathBuf,
    /// What is written to standard output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) message_format: Format,
}

impl Common {
    /// Is the store where it is if nothing is said?
    pub(crate) fn is_default_store(&self) -> bool {
        self.store == Path::new(".raddle")
    }
}

/// What is written to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    #[default]
    Human,
    /// One JSON value a line, see docs/json.md
    Json,
}

/// What carries the program's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CarrierArg {
    /// One kernel thread runs them all: fast
    #[default]
    Fibers,
    /// A kernel thread for each, one at a time: for debuggers
    Threads,
}

impl From<Carrier> for CarrierArg {
    fn from(carrier: Carrier) -> CarrierArg {
        match carrier {
            Carrier::Fibers => CarrierArg::Fibers,
            Carrier::Threads => CarrierArg::Threads,
        }
    }
}

impl From<CarrierArg> for Carrier {
    fn from(carrier: CarrierArg) -> Carrier {
        match carrier {
            CarrierArg::Fibers => Carrier::Fibers,
            CarrierArg::Threads => Carrier::Threads,
        }
    }
}

/// How many workers: as many as were asked for, within reason, or one for each core.
fn n_jobs(jobs: Option<u64>) -> usize {
    let all = std::thread::available_parallelism().map_or(1, |it| it.get());
    jobs.map_or(all, |it| usize::try_from(it).unwrap_or(usize::MAX).min(jobs_max(all)))
}

/// More workers than this only wait for each other, and each is a process with descriptors and memory of its own.
fn jobs_max(n_cores: usize) -> usize {
    (4 * n_cores).max(32)
}

/// `raddle total …` as what it is short for.
pub(crate) fn as_run(line: Vec<OsString>) -> Vec<OsString> {
    let mut is_verb = true;
    let mut run = Vec::with_capacity(line.len() + 1);
    for word in line {
        if is_verb && word == "total" {
            is_verb = false;
            run.extend(["run".into(), "--strategy=total".into()]);
        } else {
            run.push(word);
        }
    }
    run
}

impl Arguments {
    /// Parses a command line; prints help, version or what is wrong with it otherwise.
    pub(crate) fn parse_or_exit(line: &[OsString]) -> Result<(Arguments, ArgMatches), Exit> {
        let mut command = Arguments::command();
        let parsed = command
            .try_get_matches_from_mut(line)
            .and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, matches)));
        parsed.map_err(|error| {
            let error = with_suggestion(error, &command).format(&mut command);
            let text = error.render();
            // There is nobody left to tell if this fails. Colours are clap's own business here.
            if error.use_stderr() {
                let _ = write!(std::io::stderr(), "{text}");
                Exit::Usage
            } else {
                let _ = write!(std::io::stdout(), "{text}");
                Exit::Clean
            }
        })
    }
}

/// Adds what the user may have meant by a verb that there is not, if clap has no idea: it knows of no exchanged letters.
fn with_suggestion(mut error: clap::Error, command: &Command) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return error;
    }
    let inner = command.get_subcommands().flat_map(Command::get_subcommands);
    let verbs = command.get_subcommands().chain(inner).map(Command::get_name);
    if let Some(near) = spelling::nearest(word, verbs) {
        let near = ContextValue::Strings(vec![near.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, near);
    }
    error
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
