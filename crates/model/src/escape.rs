//! What Raddle could not control.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

macro_rules! escapes {
    ($($(#[$meta:meta])* $name:ident = $call:literal,)*) => {
        /// Something that the program did, or that was done to it, without Raddle's say.
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Escape { $($(#[$meta])* $name,)* }

        impl Escape {
            const ALL: &[Escape] = &[$(Escape::$name,)*];

            /// The function that the program called, if it was one.
            pub const fn call(self) -> Option<&'static str> {
                let call = match self { $(Escape::$name => $call,)* };
                if call.is_empty() { None } else { Some(call) }
            }

            /// The one with this number, if there is one.
            pub fn from_number(number: u8) -> Option<Escape> {
                Escape::ALL.get(usize::from(number)).copied()
            }
        }
    };
}

escapes! {
    /// Something that this Raddle does not know.
    #[default]
    Unknown = "",
    /// A new process.
    Fork = "fork",
    /// A new process.
    UnderscoreFork = "_Fork",
    /// A new process.
    Popen = "popen",
    /// A new process.
    PosixSpawn = "posix_spawn",
    /// A wait for another process.
    System = "system",
    /// A wait for another process, by any call.
    WaitProcess = "",
    /// A wait for input from outside.
    WaitInput = "",
    /// A wait for a lock on a file.
    FileLock = "fcntl",
    /// A daemon stays in the foreground.
    Daemon = "daemon",
    /// A signal to a group reaches this process only.
    KillGroup = "",
    /// A descriptor that gets signals from outside only.
    Signalfd = "signalfd",
    /// A futex with priority inheritance.
    PriorityFutex = "futex",
    /// A wait for several futexes.
    FutexWaitv = "",
    /// A timer of processor time.
    ProcessorTimer = "setitimer",
    /// A function that is explored by itself leaves something behind.
    UnequalCheck = "",
    /// A signal that stops the process is ignored.
    StopSignal = "",
    /// A signal from outside.
    OutsideSignal = "",
}
