//! The executions of a block: what each is to do, and how it went.

use raddle_model::PickerSpec;

/// What one execution of a block is to do differently from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Entry {
    /// The execution's seed.
    pub seed: u64,
    /// The picker's number: see `PickerSpec::to_numbers`.
    pub picker: u32,
    /// Choices in its prefix.
    pub n_prefix: u32,
    /// The picker's parameters.
    pub params: [u64; 2],
    /// Where its prefix begins in the area. The launcher fills in both when it writes a block.
    pub prefix_at: u64,
}

impl Entry {
    /// An execution with this picker and seed.
    pub const fn new(picker: PickerSpec, seed: u64) -> Entry {
        let (number, params) = picker.to_numbers();
        Entry { seed, picker: number, n_prefix: 0, params, prefix_at: 0 }
    }

    /// Its picker; `None` if the numbers are no picker's.
    pub const fn picker(&self) -> Option<PickerSpec> {
        PickerSpec::from_numbers(self.picker, self.params)
    }
}

/// How one execution of a block went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Summary {
    /// Steps taken.
    pub n_steps: u64,
    /// Scheduling points among them.
    pub n_points: u64,
    /// Switches between threads.
    pub n_switches: u64,
    /// The digest of the whole trace: thread, op, object and site of each step, in order.
    pub digest: u64,
    /// The digest of its Mazurkiewicz class: equal for traces that differ in independent steps only.
    pub class: u64,
    /// Threads that ran.
    pub n_threads: u32,
    /// The most threads alive at once.
    pub n_live_max: u32,
    /// The end, as `End::to_numbers`; kind 0 if nothing was written.
    pub end_kind: u32,
    /// Its detail.
    pub end_detail: i32,
    /// Operations that could not be controlled.
    pub n_uncontrolled: u32,
    /// The first step at which the prefix could not be followed, plus one; 0 if it could.
    pub diverged_at: u32,
    /// Pairs that it covered, in the area of pairs after those of the executions before it.
    pub n_pairs: u32,
    /// Accesses to variables that were no steps, because there were too many.
    pub n_thinned: u32,
    /// Its longest delay, in microseconds (`Event::delay_ns`).
    pub delay_us: u32,
    /// Readings of clocks, while there were other threads.
    pub n_clock_reads: u32,
    /// Threads that have allocated memory, while there were others.
    pub n_allocators: u32,
    /// Whether it came as its picker was asked: see `Kept`.
    pub kept: u32,
}

impl Summary {
    /// More steps than an execution can have.
    const IMPLAUSIBLE: u64 = 1 << 48;

    /// Cuts counts that only a program which wrote over them can have left, so that they can be added up.
    pub fn make_plausible(&mut self) {
        for count in [&mut self.n_steps, &mut self.n_points, &mut self.n_switches] {
            *count = (*count).min(Summary::IMPLAUSIBLE);
        }
    }
}

/// The free of memory that was used afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FreedEntry {
    /// Steps that were made before it ended.
    pub step: u64,
    /// Who freed it; `u32::MAX` if there is no such memory.
    pub thread: u32,
    /// The calls that led to it; 0 if they are not known.
    pub stack: u32,
}

/// What is wrong with the use of a heap block that the end is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct HeapEntry {
    /// An access outside of the block: where it begins, in bytes from the block's beginning.
    pub offset: i64,
    /// How many bytes it is to; 0 for no such access.
    pub size: u64,
    /// 1: it writes.
    pub is_write: u32,
    /// A block that is freed: the family of functions that allocated it, as a number.
    pub allocated: u16,
    /// The family that frees it. The same: the end is not about that.
    pub freed: u16,
}

impl FreedEntry {
    /// The end is not about freed memory.
    pub const NONE: FreedEntry = FreedEntry { step: 0, thread: u32::MAX, stack: 0 };
}
