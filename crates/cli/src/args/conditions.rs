//! Under which conditions a program runs.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use raddle_model::{Conditions, Handlers, Limits, Points, Timeouts};

use super::CarrierArg;
use crate::values;

/// Under which conditions a program runs: what it is built with and given, what it may use and do.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConditionArgs {
    /// What carries the program's threads
    #[arg(long, value_enum, default_value_t, help_heading = "Schedule")]
    pub(crate) carrier: CarrierArg,
    /// Before which steps another thread may be chosen
    #[arg(long, value_enum, default_value_t, help_heading = "Schedule")]
    pub(crate) points: PointsArg,
    /// Steps after which an execution is cut short; 16 times as many if they still do something new
    #[arg(long, value_name = "N", help_heading = "Schedule", value_parser = values::count)]
    #[arg(default_value_t = Limits::DEFAULT.max_steps)]
    pub(crate) max_steps: u64,
    /// When timed waits time out although another thread could go on
    #[arg(long, value_enum, default_value_t, help_heading = "Schedule")]
    pub(crate) timeouts: TimeoutsArg,
    /// Let waits on condition variables end without a signal, as POSIX allows
    #[arg(long, help_heading = "Schedule")]
    pub(crate) spurious: bool,
    /// Where handlers of signals run
    #[arg(long, value_enum, default_value_t, value_name = "WHERE", help_heading = "Schedule")]
    pub(crate) signals: SignalsArg,

    /// Non-zero exit codes are no findings
    #[arg(long, help_heading = "Program")]
    pub(crate) exit_ok: bool,
    /// The program is not built with hooks: control its synchronisation only
    #[arg(long, help_heading = "Program")]
    pub(crate) sync_only: bool,
    /// Flags for the compiler, as in a shell: "-O2 -DN=3"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "Program")]
    pub(crate) cflags: Option<String>,
    /// gcc, clang, or a path [default: $RADDLE_CC, or cc]
    #[arg(long, value_name = "COMPILER", help_heading = "Program")]
    pub(crate) compiler: Option<String>,
    /// What the program reads as standard input [default: nothing]
    #[arg(long, value_name = "FILE", help_heading = "Program")]
    pub(crate) stdin: Option<PathBuf>,
    /// Memory that one execution may use
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "Program")]
    #[arg(default_value = "4G")]
    pub(crate) memory: u64,
    /// An execution that makes no step for this long is a hang
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Program")]
    #[arg(default_value = "10s")]
    pub(crate) hang_timeout: Duration,
    /// Give every execution a process of its own, instead of making one process as it was
    #[arg(long, help_heading = "Program")]
    pub(crate) fresh: bool,
    /// Processors that the program sees
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
        }
    }

    /// The same arguments, but for what the program may do.
    pub(crate) fn with(&self, conditions: Conditions) -> ConditionArgs {
        let Conditions { limits, timeouts, spurious, handlers, points } = conditions;
        ConditionArgs {
            max_steps: limits.max_steps,
            timeouts: timeouts.into(),
            spurious,
            signals: handlers.into(),
            points: points.into(),
            ..self.clone()
        }
    }
}

/// Where handlers of signals run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignalsArg {
    /// In the thread that the signal interrupts
    #[default]
    Nested,
    /// Each in a thread of its own
    Threads,
    /// In threads, those of one signal one after the other
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
    /// Those that synchronise
    Sync,
    /// Those that other threads can tell: races too
    #[default]
    Visible,
    /// As `visible`, by the rule of the paper: memory that threads share without a lock in common
    Lockset,
    /// All, and every access to memory is one
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
    /// Only when nobody else can run
    Last,
    /// Seldom, the one with the earliest deadline
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
