//! Entries of the tables that explain a trace's numbers, and of what could not be controlled.

use super::{FRAMES_MAX, STACK_DEPTH};

/// A place in the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SiteEntry {
    /// Offset in the module: run-time address minus load bias.
    pub offset: u64,
    /// The module's number, or `u32::MAX` if it is in none.
    pub module: u32,
    /// The number of the site in the program's own code that led to this one in its language's library;
    /// 0 if there is none.
    pub via: u32,
}

/// What an object is. Read with [`crate::Object`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ObjectEntry {
    /// `ObjectClass`.
    pub class: u8,
    /// [`RegionTag`](crate::protocol::RegionTag).
    pub region: u8,
    /// Heap: `BlockSort`.
    pub sort: u16,
    /// Module, allocation site, thread or descriptor, by region.
    pub base: u32,
    /// Heap: which allocation of this site. Stack: bytes above the end of its frame, as an `i32`. Descriptor: the other
    /// end of a pipe, or 0.
    pub ordinal: u32,
    /// Heap: size of the block. Stack: bytes above the stack pointer of its function, as an `i32`.
    pub size: u32,
    /// Offset in the module, block or stack.
    pub offset: u64,
    /// The hash of its name, the same in every execution; 0 if it has none.
    pub name: u64,
    /// Heap: who allocated it.
    pub thread: u32,
    /// Heap: the calls that allocated it. Stack: one frame, of the function that it is a variable of.
    pub stack: u32,
}

/// Calls that led somewhere, innermost first: by module and offset, for keeping them must not number
/// sites.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct StackEntry {
    /// Frames kept.
    pub n_frames: u32,
    /// Zero.
    pub reserved: u32,
    /// Return addresses.
    pub frames: [SiteEntry; STACK_DEPTH],
}

/// A thread, and what it was doing at the end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ThreadEntry {
    /// Its creator; `u32::MAX` for main.
    pub parent: u32,
    /// Where it was created.
    pub created_at: u32,
    /// Its name, ended by 0.
    pub name: [u8; 16],
    /// 1: it has finished.
    pub is_finished: u8,
    /// 1: its pending op can't be performed.
    pub is_blocked: u8,
    /// The pending op's kind, or [`ThreadEntry::UNKNOWN`].
    pub op_kind: u8,
    /// The pending op's flags.
    pub op_flags: u8,
    /// The pending op's object.
    pub object: u32,
    /// The pending op's other object.
    pub other: u32,
    /// The pending op's site.
    pub site: u32,
    /// Who holds the object: up to four threads, `u32::MAX` for none.
    pub holders: [u32; 4],
    /// Where each holder took it.
    pub held_since: [u32; 4],
    /// Frames on its stack, of which the innermost are kept.
    pub n_frames: u32,
    /// Its events, and what it did without events since there has been a second thread.
    pub n_events: u32,
    /// The calls that created it, as a stack's number.
    pub creation: u32,
    /// Zero.
    pub reserved: u32,
    /// The function that it runs.
    pub start: SiteEntry,
    /// Sites of the calls that led here, innermost first.
    pub frames: [u32; FRAMES_MAX],
}

impl ThreadEntry {
    /// In place of an op: the execution was killed before it could say what the thread was doing.
    pub const UNKNOWN: u8 = u8::MAX;
}

impl Default for ThreadEntry {
    fn default() -> ThreadEntry {
        ThreadEntry {
            parent: u32::MAX,
            created_at: 0,
            name: [0; 16],
            is_finished: 0,
            is_blocked: 0,
            op_kind: ThreadEntry::UNKNOWN,
            op_flags: 0,
            object: 0,
            other: 0,
            site: 0,
            holders: [u32::MAX; 4],
            held_since: [0; 4],
            n_frames: 0,
            n_events: 0,
            creation: 0,
            reserved: 0,
            start: SiteEntry::default(),
            frames: [0; FRAMES_MAX],
        }
    }
}

/// A loaded executable or library.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ModuleEntry {
    /// Its path, ended by 0.
    pub path: [u8; 512],
    /// 1: each of its atomic instructions is announced, by a hook or by a trap.
    pub is_announced: u32,
}

/// A memory order in place of that in the source; of an [`OrderAt`](raddle_model::OrderAt).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct OrderEntry {
    /// A hash of the module's file name.
    pub module: u64,
    /// Offset in the module.
    pub offset: u64,
    /// The order, by C's number.
    pub order: u32,
    /// Zero.
    pub reserved: u32,
}

/// Something that Raddle could not control.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NoteEntry {
    /// What: the number of an [`Escape`](raddle_model::Escape).
    pub what: u32,
    /// How often in the block.
    pub count: u32,
    /// Frames kept.
    pub n_frames: u32,
    /// The place and the calls that led there, innermost first: by module and offset, because a note
    /// outlives the execution that numbered its sites.
    pub frames: [SiteEntry; 16],
}

/// An instruction without a hook that other threads may depend on: an atomic one, the read of a loop that waits, or a
/// system call. Its memory is at base + index × scale + displacement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct TrapEntry {
    /// Offset in the module: run-time address minus load bias.
    pub offset: u64,
    /// Of a distance: the offset in the module of what it leads to.
    pub displacement: u64,
    /// The module's number.
    pub module: u32,
    /// Bytes of the instruction.
    pub length: u8,
    /// Where in it four bytes say how far its memory is from its end; 0 if none do.
    pub distance_at: u8,
    /// Registers, as the processor numbers them, or [`TrapEntry::NO_REGISTER`].
    pub base: u8,
    /// As above.
    pub index: u8,
    /// 1, 2, 4 or 8.
    pub scale: u8,
    /// Bytes of memory.
    pub size: u8,
    /// 1: relative to the thread pointer.
    pub is_local: u8,
    /// 1: a system call, without memory.
    pub is_call: u8,
    /// Zero.
    pub reserved: [u8; 4],
}

impl TrapEntry {
    /// In place of a register's number.
    pub const NO_REGISTER: u8 = u8::MAX;
}
