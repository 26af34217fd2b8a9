//! What Raddle could not control, in words.

use raddle_model::Escape;

/// `fork: the new process is not controlled`.
pub fn words(escape: Escape) -> String {
    let what = match escape {
        Escape::Unknown => "an operation that this version of Raddle does not know",
        Escape::Fork | Escape::UnderscoreFork | Escape::Popen | Escape::PosixSpawn => {
            "the new process is not controlled"
        }
        Escape::System | Escape::WaitProcess => "waits for another process",
        Escape::WaitInput => "waits for input from outside",
        Escape::FileLock => "waits for a file lock",
        Escape::Daemon => "stays in the foreground",
        Escape::KillGroup => "signals to a process group reach this process only",
        Escape::Signalfd => "receives signals from outside only",
        Escape::PriorityFutex => "priority inheritance is not controlled",
        Escape::FutexWaitv => "futex_waitv is not controlled",
        Escape::ProcessorTimer => "a CPU-time timer",
        Escape::UnequalCheck => "the checked function behaves differently when it is called again",
        Escape::StopSignal => "a stop signal is ignored",
        Escape::OutsideSignal => "a signal from outside",
    };
    match escape.call() {
        Some(call) => format!("{call}: {what}"),
        None => what.to_owned(),
    }
}
