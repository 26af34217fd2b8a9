//! Under which conditions a program runs.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use raddle_model::{Conditions, Handlers, Limits, MemoryModel, Points, Timeouts};

use super::CarrierArg;
use crate::values;

/// Under which conditions a program runs: what it is built with and given, what it may use and do.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConditionArgs {
    /// How threads are run
    #[arg(long, value_enum, default_value_t, help_heading = "Schedule")]
    pub(crate) carrier: CarrierArg,
    /// Scheduling points: the steps before which the scheduler may switch threads
    #[arg(long, value_enum, default_value_t, help_heading = "Schedule")]
    pub(crate) points: PointsArg,
    /// Memory model: what atomic loads may read (docs/memory.md)
    #[arg(long, value_enum, default_value_t, value_name = "MODEL", help_heading = "Schedule")]
    pub(crate) memory_model: MemoryModelArg,
    /// Maximum number of steps per execution; 16 times as many while the steps still reach new states
    #[arg(long, value_name = "N", help_heading = "Schedule", value_parser = values::count)]
    #[arg(default_value_t = Limits::DEFAULT.max_steps)]
    pub(crate) max_steps: u64,
    /// When timed waits time out although another thread is enabled
    #[arg(long, value_enum, default_value_t, help_heading = "Schedule")]
    pub(crate) timeouts: TimeoutsArg,
    /// Explore spurious wake-ups of condition variables, which POSIX allows
    #[arg(long, help_heading = "Schedule")]
    pub(crate) spurious: bool,
    /// Where signal handlers run
    #[arg(long, value_enum, default_value_t, value_name = "WHERE", help_heading = "Schedule")]
    pub(crate) signals: SignalsArg,

    /// Do not report non-zero exit codes
    #[arg(long, help_heading = "Program")]
    pub(crate) exit_ok: bool,
    /// Accept an uninstrumented program and control its synchronisation only
    #[arg(long, help_heading = "Program")]
    pub(crate) sync_only: bool,
    /// Compiler flags, quoted as in a shell: "-O2 -DN=3"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "Program")]
    pub(crate) cflags: Option<String>,
    /// Compiler: gcc, clang, or a path [default: $RADDLE_CC, or cc]
    #[arg(long, value_name = "COMPILER", help_heading = "Program")]
    pub(crate) compiler: Option<String>,
    /// Standard input of the program [default: empty]
    #[arg(long, value_name = "FILE", help_heading = "Program")]
    pub(crate) stdin: Option<PathBuf>,
    /// Memory limit per execution
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "Program")]
    #[arg(default_value = "4G")]
    pub(crate) memory: u64,
    /// Stop an execution that makes no step for this long; it counts as inconclusive
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Program")]
    #[arg(default_value = "10s")]
    pub(crate) hang_timeout: Duration,
    /// Start a new process for every execution instead of rewinding one process
    #[arg(long, help_heading = "Program")]
    pub(crate) fresh: bool,
    /// Number of processors reported to the program
    #[arg(long, value_name = "N", default_value = "4", help_heading = "Program")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cpus: u32,
}

impl ConditionArgs {
    /// What the program may do in each execution.
    pub(crate) fn of_executions(&self) -> Conditions {
        Conditions {
            limits: Limits { max_steps: self.max_steps },
            timeouts: self.timeouts.into(),
            spurious: self.spurious,
            handlers: self.signals.into(),
            points: self.points.into(),
            memory_model: self.memory_model.into(),
        }
    }

    /// The same arguments, but for what the program may do.
    pub(crate) fn with(&self, conditions: Conditions) -> ConditionArgs {
        let Conditions { limits, timeouts, spurious, handlers, points, memory_model } = conditions;
        ConditionArgs {
            max_steps: limits.max_steps,
            timeouts: timeouts.into(),
            spurious,
            signals: handlers.into(),
            points: points.into(),
            memory_model: memory_model.into(),
            ..self.clone()
        }
    }
}

/// What atomic loads may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryModelArg {
    /// Sequential consistency: the newest store
    #[default]
    Sc,
    /// Total store order, as on x86: stores of other threads may arrive late, in order
    Tso,
    /// C11 and C++20: any store that the memory orders in the source allow
    C11,
}

impl From<MemoryModel> for MemoryModelArg {
    fn from(model: MemoryModel) -> MemoryModelArg {
        match model {
            MemoryModel::Sc => MemoryModelArg::Sc,
            MemoryModel::Tso => MemoryModelArg::Tso,
            MemoryModel::C11 => MemoryModelArg::C11,
        }
    }
}

impl From<MemoryModelArg> for MemoryModel {
    fn from(model: MemoryModelArg) -> MemoryModel {
        match model {
            MemoryModelArg::Sc => MemoryModel::Sc,
            MemoryModelArg::Tso => MemoryModel::Tso,
            MemoryModelArg::C11 => MemoryModel::C11,
        }
    }
}

/// Where handlers of signals run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignalsArg {
    /// In the interrupted thread
    #[default]
    Nested,
    /// Each in a separate thread
    Threads,
    /// In separate threads; handlers of the same signal run one after another
    Ordered,
}

impl From<Handlers> for SignalsArg {
    fn from(handlers: Handlers) -> SignalsArg {
        match handlers {
            Handlers::Nested => SignalsArg::Nested,
            Handlers::Threads => SignalsArg::Threads,
            Handlers::Ordered => SignalsArg::Ordered,
        }
    }
}

impl From<SignalsArg> for Handlers {
    fn from(signals: SignalsArg) -> Handlers {
        match signals {
            SignalsArg::Nested => Handlers::Nested,
            SignalsArg::Threads => Handlers::Threads,
            SignalsArg::Ordered => Handlers::Ordered,
        }
    }
}

/// Before which steps another thread may be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointsArg {
    /// Synchronisation operations
    Sync,
    /// Operations that other threads can observe: synchronisation and racing accesses
    #[default]
    Visible,
    /// Like `visible`, but racing accesses are found by locksets: shared memory without a common lock
    Lockset,
    /// All operations and all memory accesses
    All,
}

impl PointsArg {
    /// As the user writes it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            PointsArg::Sync => "sync",
            PointsArg::Visible => "visible",
            PointsArg::Lockset => "lockset",
            PointsArg::All => "all",
        }
    }
}

impl From<Points> for PointsArg {
    fn from(points: Points) -> PointsArg {
        match points {
            Points::Sync => PointsArg::Sync,
            Points::Visible => PointsArg::Visible,
            Points::Lockset => PointsArg::Lockset,
            Points::All => PointsArg::All,
        }
    }
}

impl From<PointsArg> for Points {
    fn from(points: PointsArg) -> Points {
        match points {
            PointsArg::Sync => Points::Sync,
            PointsArg::Visible => Points::Visible,
            PointsArg::Lockset => Points::Lockset,
            PointsArg::All => Points::All,
        }
    }
}

/// When timed waits time out although other threads could go on (docs/time.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeoutsArg {
    /// Only when no other thread is enabled
    Last,
    /// Rarely, and always the earliest deadline first
    #[default]
    Rare,
}

impl From<Timeouts> for TimeoutsArg {
    fn from(timeouts: Timeouts) -> TimeoutsArg {
        match timeouts {
            Timeouts::Last => TimeoutsArg::Last,
            Timeouts::Rare | Timeouts::Any => TimeoutsArg::Rare,
        }
    }
}

impl From<TimeoutsArg> for Timeouts {
    fn from(timeouts: TimeoutsArg) -> Timeouts {
        match timeouts {
            TimeoutsArg::Last => Timeouts::Last,
            TimeoutsArg::Rare => Timeouts::Rare,
        }
    }
}
