//! What Raddle could not control, in words.

use raddle_model::Escape;

/// `fork: the new process is not controlled`.
pub fn words(escape: Escape) -> String {
    let what = match escape {
        Escape::Unknown => "something that this version of Raddle has no words for",
        Escape::Fork | Escape::UnderscoreFork | Escape::Popen | Escape::PosixSpawn => {
            "the new process is not controlled"
        }
        Escape::System | Escape::WaitProcess => "waits for another process",
        Escape::WaitInput => "waits for input from outside",
        Escape::FileLock => "waits for a lock on a file",
        Escape::Daemon => "stays in the foreground",
        Escape::KillGroup => "kill of a group reaches this process only",
        Escape::Signalfd => "gets signals from outside only",
        Escape::PriorityFutex => "priority inheritance is not controlled",
        Escape::FutexWaitv => "futex_waitv is not controlled",
        Escape::ProcessorTimer => "a timer of processor time",
        Escape::UnequalCheck => "a check that does not do the same when called again",
        Escape::StopSignal => "a signal that stops the process is ignored",
        Escape::OutsideSignal => "a signal from outside",
    };
    match escape.call() {
        Some(call) => format!("{call}: {what}"),
        None => what.to_owned(),
    }
}
