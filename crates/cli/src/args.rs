//! What the command line may say.

mod around;
mod compare;
mod conditions;
mod detect;
mod orders;
mod report;
mod review;
mod run;
mod store;

use std::{ffi::OsString, io::Write as _, path::PathBuf, time::Duration};

use clap::{
    ArgMatches, Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand,
    ValueEnum,
    error::{ContextKind, ContextValue},
};
use raddle_model::Carrier;

pub(crate) use around::Around;
pub(crate) use compare::CompareArgs;
pub(crate) use conditions::{ConditionArgs, MemoryModelArg, PointsArg};
pub(crate) use detect::{DetectArg, detect};
pub(crate) use orders::OrdersArgs;
pub(crate) use report::{AtEnd, ReportArgs, ReportFormat};
pub(crate) use review::ReviewArgs;
pub(crate) use run::{ProgressMode, RunArgs};
pub(crate) use store::{StoreArgs, StoreVerb};

use crate::{exit::Exit, overview, project, spelling, values, version};

/// Find concurrency bugs in C, C++ and Rust programs by controlling their schedules
#[derive(Debug, Parser)]
#[command(name = "raddle", version, long_version = version::long(), max_term_width = 100)]
#[command(propagate_version = true)]
#[command(args_override_self = true)]
#[command(after_help = "Exit codes: 0 clean, 1 usage, 2 findings, 3 inconclusive, \
    4 the program fails without concurrency, 5 not reproduced, 70 internal error, 130 interrupted.")]
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
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t, env = "RADDLE_COLOR")]
    #[arg(value_name = "WHEN", hide_env = true)]
    pub(crate) color: ColorMode,
    /// Use ASCII characters only
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
    /// (same as `raddle run --strategy total`)
    Total(Box<RunArgs>),
    /// Explore a program on a build server: 60 s, all findings, one line each, exit code 3 if not everything was
    /// controlled; with the profile `ci` of raddle.toml, if it has one
    #[command(override_usage = "raddle ci [OPTIONS] SOURCE... [-- ARGS...]\n       \
                                raddle ci [OPTIONS] -- PROGRAM [ARGS...]")]
    Ci(Box<RunArgs>),
    /// Replay the schedule of a finding
    Replay(ReplayArgs),
    /// Show a finding
    Show(ShowArgs),
    /// Explain what a kind of finding, a note or a warning means
    Explain(ExplainArgs),
    /// Write a finding or a run as an HTML page, SARIF, JUnit, Markdown or a Perfetto trace
    Report(ReportArgs),
    /// Minimise the schedule of a finding and explain why it fails
    Min(MinArgs),
    /// Find memory orders of atomic operations that could be weaker (docs/memory.md)
    Orders(Box<OrdersArgs>),
    /// Keep a finding as a regression test, suppress it, or discard it
    Review(ReviewArgs),
    /// List, export, import or prune stored runs
    Store(StoreArgs),
    /// Check whether a change to the program fixed a finding
    Regress(RegressArgs),
    /// Replay the schedule of a finding under gdb or lldb, stopped at a step
    Debug(DebugArgs),
    /// List findings, newest first
    List(ListArgs),
    /// Compare strategies on your programs
    Compare(Box<CompareArgs>),
    /// Write a raddle.toml for the project in this directory, and say what to run next
    Init,
    /// Check that this machine has what Raddle needs and that known bugs are found
    Doctor {
        /// Print the commands that install what is missing, and do not check
        #[arg(long, conflicts_with = "json")]
        fix: bool,
        /// One JSON value on standard output, for bug reports
        #[arg(long)]
        json: bool,
    },
    /// Write what belongs beside the programs: a CMake package, raddle.pc, the headers, manual pages and completions
    Setup {
        /// Directory whose `bin` has Raddle's programs [default: that of this program]
        #[arg(long, value_name = "DIR")]
        prefix: Option<PathBuf>,
    },
    /// Write a script that completes command lines of `raddle` in a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: ShellName,
    },
    /// Write the manual page of `raddle`
    Man {
        /// Directory for the pages of `raddle` and of each command [default: one page on standard output]
        #[arg(long, short, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Explore the tests or programs of a Rust crate (same as `cargo raddle`)
    #[command(disable_help_flag = true)]
    Cargo {
        /// Arguments for `cargo raddle`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Compile C with Raddle's instrumentation; takes the arguments of gcc or clang
    #[command(disable_help_flag = true)]
    Cc {
        /// Arguments for the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Compile C++ with Raddle's instrumentation; takes the arguments of g++ or clang++
    #[command(name = "c++", disable_help_flag = true)]
    Cxx {
        /// Arguments for the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

/// `raddle replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Finding id or a unique prefix of it, `latest`, or the file of a finding
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Number of replays
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::count)]
    pub(crate) times: u64,
    /// How threads are run [default: as when the finding was found]
    #[arg(long, value_enum)]
    pub(crate) carrier: Option<CarrierArg>,
    /// Show the program's output
    #[arg(long)]
    pub(crate) show_output: bool,
    /// Use the schedule as it was found, not the minimised one
    #[arg(long)]
    pub(crate) original: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `raddle show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Finding id or a unique prefix of it, `latest`, or the file of a finding
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Show every step, every stack frame, all output and statistics
    #[arg(long)]
    pub(crate) full: bool,
    /// Output format [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ShowFormat>,
    /// Use the schedule as it was found, not the minimised one
    #[arg(long)]
    pub(crate) original: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `raddle explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A code (`race`, `lost-wakeup`, `stability`), or the id of a finding; without it, all codes are listed
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Directory where runs and findings are stored
    #[arg(long, value_name = "DIR", default_value_os_t = project::store(), env = "RADDLE_STORE")]
    #[arg(hide_env = true)]
    pub(crate) store: PathBuf,
}

/// What `raddle show` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowFormat {
    /// Text for people
    Text,
    /// Markdown summary for issue trackers
    Md,
    /// One JSON value, see docs/json.md
    Json,
}

/// `raddle min`.
#[derive(Debug, Args)]
pub(crate) struct MinArgs {
    /// Finding id or a unique prefix of it, `latest`, or the file of a finding
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Maximum number of executions
    #[arg(long, value_name = "N", default_value = "2000", value_parser = values::count)]
    pub(crate) replays: u64,
    /// Time limit; if it is reached, the result depends on the speed of the machine
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    pub(crate) time: Duration,
    /// For findings under `--memory-model c11`: number of executions in which stronger memory orders are tested, and which
    /// a search may take to prove that they are enough
    #[arg(long, value_name = "N", default_value = "10000", value_parser = values::count)]
    pub(crate) order_execs: u64,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `raddle regress`.
#[derive(Debug, Args)]
pub(crate) struct RegressArgs {
    /// Finding id or a unique prefix of it, `latest`, or the file of a finding
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Number of executions
    #[arg(long, value_name = "N", default_value = "20000", value_parser = values::count)]
    pub(crate) execs: u64,
    /// Stop after this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    pub(crate) time: Duration,
    /// Number of worker processes [default: one per core]
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
    /// Finding id or a unique prefix of it, `latest`, or the file of a finding
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Stop before this step (step numbers are those of `raddle show`)
    #[arg(long, value_name = "STEP", value_parser = values::count, conflicts_with = "before_bug")]
    pub(crate) at: Option<u64>,
    /// Stop before the failing step: the second access of a race, otherwise the last step. This is the default
    #[arg(long)]
    pub(crate) before_bug: bool,
    /// Debugger [default: gdb if installed, otherwise lldb]
    #[arg(long, value_name = "NAME")]
    pub(crate) debugger: Option<DebuggerName>,
    /// Debugger command to run at the stop; may be repeated
    #[arg(long = "ex", value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
    /// Exit after the commands given by --ex
    #[arg(long)]
    pub(crate) batch: bool,
    /// Speak gdb's machine interface on standard input and output, for editors (docs/editors.md)
    #[arg(long, conflicts_with_all = ["batch", "debugger"])]
    pub(crate) mi: bool,
    /// The debugger command that an editor appends; not used
    #[arg(last = true, hide = true)]
    pub(crate) _command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// A debugger, as the user calls it.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum DebuggerName {
    Gdb,
    Lldb,
}

/// A shell that completes command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellName {
    Bash,
    Zsh,
    Fish,
}

/// `raddle list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show the N newest findings [default: 50 on a terminal, otherwise all]
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
    /// Directory where runs and findings are stored
    #[arg(long, value_name = "DIR", default_value_os_t = project::store(), env = "RADDLE_STORE")]
    #[arg(hide_env = true)]
    pub(crate) store: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) message_format: Format,
}

impl Common {
    /// Is the store where it is if nothing is said?
    pub(crate) fn is_default_store(&self) -> bool {
        self.store == project::store()
    }
}

/// What is written to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    #[default]
    Human,
    /// One JSON value per line, see docs/json.md
    Json,
    /// One line for each finding, as compilers write them: `file:line:column: error: …`
    Short,
}

/// What carries the program's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CarrierArg {
    /// All threads share one kernel thread: fast
    #[default]
    Fibers,
    /// One kernel thread each, of which one runs at a time: for debuggers
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
pub(crate) fn n_jobs(jobs: Option<u64>) -> usize {
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
        if overview::asks_for_all(line) {
            let _ = write!(std::io::stdout(), "{}", command.render_long_help());
            return Err(Exit::Clean);
        }
        command = command.override_help(overview::TEXT);
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

/// Adds what the user may have meant by a verb that there is not, before what clap thinks: it knows of no exchanged letters.
fn with_suggestion(mut error: clap::Error, command: &Command) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
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
