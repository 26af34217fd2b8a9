//! How launcher and runtime talk: descriptors, single bytes through pipes, a signal, names of environment variables, exit
//! codes, numbers in the segment. Both sides take them from here.

use std::ffi::CStr;

use raddle_model::End;

/// The segment's descriptor in the program. The three are out of the way of the program's own, but low: a fork copies the
/// table of descriptors up to the highest one.
pub const SEGMENT_FD: i32 = 240;
/// The pipe that commands come through.
pub const COMMAND_FD: i32 = 241;
/// The pipe that replies go through.
pub const REPLY_FD: i32 = 242;

/// Asks an execution to say where it is stuck.
pub const HANG_SIGNAL: i32 = 62;

/// How the runtime ends when it has a bug, whether it can say so or not.
pub const BUG_CODE: i32 = 70;
/// How the runtime ends when the C library is none that it knows. Its last words name a structure.
pub const UNUSABLE_CODE: i32 = 72;
/// How the server ends when it can't fork. The launcher begins with another one.
pub const NO_PROCESS_CODE: i32 = 71;

/// Says that the program is to be controlled; without it the runtime does nothing.
pub const SEGMENT_VARIABLE: &CStr = c"RADDLE_SEGMENT";
/// A file that says which code is not the program's own, but its language's library: addresses in the program's file, where
/// each stretch begins and ends. Those that end where they begin are `pause` instructions; those that seem to end before that
/// are calls of hooks, each with its number in [`NEAR_HOOKS`].
pub const LIBRARY_VARIABLE: &CStr = c"RADDLE_LIBRARY_CODE";
/// A file that the execution writes its process to, and then waits for a debugger.
pub const DEBUG_VARIABLE: &CStr = c"RADDLE_DEBUG";

/// The hooks that programs call most: they are called without a detour.
pub const NEAR_HOOKS: [&str; 10] = [
    "__tsan_read1",
    "__tsan_read2",
    "__tsan_read4",
    "__tsan_read8",
    "__tsan_write1",
    "__tsan_write2",
    "__tsan_write4",
    "__tsan_write8",
    "__tsan_func_entry",
    "__tsan_func_exit",
];

/// A variable's name, for the launcher.
pub const fn name(variable: &'static CStr) -> &'static str {
    match variable.to_str() {
        Ok(name) => name,
        Err(_) => panic!("bug: names of variables are ASCII"),
    }
}

/// What the launcher tells the server. An end of file tells it to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// Run the block that stands in the segment; there is a reply when it is done.
    Run = b'B',
    /// Forget copies of executions that have ended. There is no reply.
    Bury = b'Z',
}

impl Command {
    /// All of them.
    pub const ALL: [Command; 2] = [Command::Run, Command::Bury];

    /// From the pipe.
    pub const fn from_byte(byte: u8) -> Option<Command> {
        match byte {
            b'B' => Some(Command::Run),
            b'Z' => Some(Command::Bury),
            _ => None,
        }
    }
}

/// What the server tells the launcher, or a copy of an execution that has run a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reply {
    /// The program stands before `main`.
    Ready = b'R',
    /// The block is done.
    Done = b'D',
}

impl Reply {
    /// All of them.
    pub const ALL: [Reply; 2] = [Reply::Ready, Reply::Done];

    /// From the pipe.
    pub const fn from_byte(byte: u8) -> Option<Reply> {
        match byte {
            b'R' => Some(Reply::Ready),
            b'D' => Some(Reply::Done),
            _ => None,
        }
    }
}

/// Where an object lives, as a number: what the other fields of an [`ObjectEntry`](crate::ObjectEntry) mean follows from
/// it. The first four are a [`Watch`](raddle_model::Watch)'s, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RegionTag {
    /// Not known.
    Unknown = 0,
    /// A global of a module.
    Global = 1,
    /// Allocated memory.
    Heap = 2,
    /// A thread's stack.
    Stack = 3,
    /// The thread itself.
    Thread = 4,
    /// A file descriptor, or both ends of a pipe.
    Descriptor = 5,
    /// In the C library or the kernel.
    Common = 6,
}

impl RegionTag {
    /// All of them, by number.
    pub const ALL: [RegionTag; 7] = [
        RegionTag::Unknown,
        RegionTag::Global,
        RegionTag::Heap,
        RegionTag::Stack,
        RegionTag::Thread,
        RegionTag::Descriptor,
        RegionTag::Common,
    ];

    /// From the segment; what is no number of a region is not known.
    pub fn from_number(number: u32) -> RegionTag {
        RegionTag::ALL.get(number as usize).copied().unwrap_or(RegionTag::Unknown)
    }
}

/// Does the launcher want to see an execution that ended so (`None`: it could not say how)? Then it is the last one of its
/// block.
pub const fn must_be_looked_at(end: Option<End>, exit_is_fine: bool) -> bool {
    match end {
        Some(End::Exit(0)) => false,
        Some(End::Exit(_)) => !exit_is_fine,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_what_was_sent() {
        assert_eq!(Command::ALL.map(|it| Command::from_byte(it as u8)), Command::ALL.map(Some));
        assert_eq!(Reply::ALL.map(|it| Reply::from_byte(it as u8)), Reply::ALL.map(Some));
        let known =
            |byte: &u8| Command::from_byte(*byte).is_some() || Reply::from_byte(*byte).is_some();
        assert_eq!((0..=u8::MAX).filter(known).count(), Command::ALL.len() + Reply::ALL.len());
    }

    #[test]
    fn numbers_of_regions_are_what_was_written() {
        let read = RegionTag::ALL.map(|it| RegionTag::from_number(it as u32));
        assert_eq!(read, RegionTag::ALL);
        assert_eq!(RegionTag::from_number(7), RegionTag::Unknown);
        assert_eq!(RegionTag::from_number(u32::MAX), RegionTag::Unknown);
    }

    #[test]
    fn descriptors_are_one_range() {
        assert_eq!([SEGMENT_FD, COMMAND_FD, REPLY_FD], [240, 241, 242]);
    }

    #[test]
    fn executions_that_end_well_are_not_looked_at() {
        assert!(!must_be_looked_at(Some(End::Exit(0)), false));
        assert!(must_be_looked_at(Some(End::Exit(3)), false));
        assert!(!must_be_looked_at(Some(End::Exit(3)), true));
        assert!(must_be_looked_at(Some(End::Deadlock), true));
        assert!(must_be_looked_at(None, true));
    }
}
