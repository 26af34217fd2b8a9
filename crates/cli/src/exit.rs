//! Exit codes, and what makes a command fail. The codes are documented in `docs/exit-codes.md`.

use std::{
    io::Write as _,
    panic::PanicHookInfo,
    sync::atomic::{AtomicBool, Ordering},
};

use raddle_explore::{StoreError, TargetError, classes::ClassesError, regression::RegressionError};
use raddle_launch::{CacheError, CcError, CompileError, ExecutableError};

use crate::signals::{self, Stop};

/// How `raddle` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing was found.
    Clean,
    /// The user, or the world, asked for something impossible.
    Usage,
    /// The program has a bug, or a replay showed it again.
    Findings,
    /// Nothing was found, and nothing is known: no execution came to its end. With `--strict`, also if not everything
    /// was under control.
    Inconclusive,
    /// The program fails without any help of the schedule.
    Baseline,
    /// A replay did not show the finding.
    NotReproduced,
    /// We have a bug.
    Bug,
    /// A signal ended us.
    Signal(i32),
}

impl Exit {
    /// The process's exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Usage => 1,
            Exit::Findings => 2,
            Exit::Inconclusive => 3,
            Exit::Baseline => 4,
            Exit::NotReproduced => 5,
            Exit::Bug => 70,
            Exit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(130),
        }
    }
}

/// Why a command failed: one line for the user, and how to exit.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What others have to say first: the compiler's own words, the program's output.
    pub(crate) words: String,
    /// One line, without "error: ".
    pub(crate) line: String,
}

impl Failure {
    /// The user can do something about it.
    pub(crate) const fn usage(line: String) -> Failure {
        Failure { exit: Exit::Usage, words: String::new(), line }
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Failure {
        match error {
            CompileError::Compiler { stderr } => Failure {
                exit: Exit::Usage,
                words: stderr,
                line: "the program failed to compile".to_owned(),
            },
            error => Failure::usage(error.to_string()),
        }
    }
}

impl From<ClassesError> for Failure {
    fn from(error: ClassesError) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<RegressionError> for Failure {
    fn from(error: RegressionError) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<ExecutableError> for Failure {
    fn from(error: ExecutableError) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<CcError> for Failure {
    fn from(error: CcError) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let hint = match &error {
            StoreError::Unknown { .. } => "; `raddle list` shows all findings",
            StoreError::NoRun { .. } => "; `raddle store ls` shows all runs",
            StoreError::Ambiguous { .. } | StoreError::AmbiguousRun { .. } => {
                "; use a longer prefix"
            }
            StoreError::Empty { .. } => " yet; `raddle run` stores them there",
            _ => "",
        };
        Failure::usage(format!("{error}{hint}"))
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Failure {
        let exit = match &error {
            TargetError::Unusable(_) => Exit::Usage,
            TargetError::Baseline(_) => Exit::Baseline,
            TargetError::Stopped => {
                Exit::Signal(signals::came().unwrap_or(signal_hook::consts::SIGINT))
            }
            TargetError::Bug(_) => Exit::Bug,
        };
        let text = match error {
            TargetError::Bug(why) => {
                format!("internal error: {why}; this is a bug in raddle, please report it")
            }
            error => error.to_string(),
        };
        let (line, words) = text.split_once('\n').unwrap_or((&text, ""));
        Failure { exit, words: words.to_owned(), line: line.to_owned() }
    }
}

impl Stop {
    /// How to exit, if a signal came.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.signal().map(Exit::Signal)
    }
}

/// The panic hook: one line, for the first panic only, and the campaign is told to end.
pub(crate) fn report_bug(info: &PanicHookInfo<'_>) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    signals::stop_now();
    if IS_TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    let text = info.payload_as_str().unwrap_or("no message");
    let text = text.lines().next().unwrap_or_default();
    let at = info.location().map(|it| format!(" at {it}")).unwrap_or_default();
    // There is nobody left to tell if this fails.
    let _ = writeln!(
        std::io::stderr(),
        "error: internal error{at}: {text}; this is a bug in raddle, please report it"
    );
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn codes_are_those_of_the_documentation() {
        let documented = include_str!("../../../docs/exit-codes.md");
        for exit in [
            Exit::Clean,
            Exit::Usage,
            Exit::Findings,
            Exit::Inconclusive,
            Exit::Baseline,
            Exit::NotReproduced,
            Exit::Bug,
            Exit::Signal(2),
        ] {
            let row = format!("| {} |", exit.code());
            assert!(documented.contains(&row), "{exit:?} is not documented");
        }
    }
}
