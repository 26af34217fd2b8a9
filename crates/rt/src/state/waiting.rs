//! Threads that wait in loops: what is counted of each.

use raddle_model::{Flags, ObjectId, SiteId, mix};

/// Reads of the same that differ in nothing.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    /// The last reads that differed: hashes of site, object and value. 0: none.
    entries: [u32; 16],
    pub(crate) n_same: u32,
    next: usize,
}

/// So many equal reads in a row are taken for waiting.
const SPIN_MIN: u32 = 6;

impl Spin {
    /// A read: is the thread spinning? (A loop that counts its failures up and down does nothing else.)
    #[inline]
    pub(crate) fn read(&mut self, site: SiteId, object: ObjectId, value: u64) {
        self.note(u64::from(site.0) << 32 | u64::from(object.0), value);
    }

    #[inline]
    pub(crate) fn note(&mut self, place: u64, value: u64) {
        let entry = mix(place, value) as u32 | 1;
        // All of them, without a branch for each.
        if self.entries.iter().fold(false, |is_known, it| is_known | (*it == entry)) {
            self.n_same += 1;
        } else {
            self.n_same = 0;
            self.entries[self.next] = entry;
            self.next = (self.next + 1) % self.entries.len();
        }
    }

    /// Anything else: it is not.
    #[inline]
    pub(crate) fn reset(&mut self) {
        if self.n_same > 0 || self.entries[0] != 0 {
            *self = Spin::default();
        }
    }

    /// The mark of the next read.
    #[inline]
    pub(crate) fn flags(&self) -> Flags {
        if self.n_same >= SPIN_MIN { Flags::SPIN } else { Flags::NONE }
    }
}

/// Steps that are not new to a thread.
#[derive(Debug)]
pub(crate) struct Rounds {
    /// Hashes of what it has done and seen, in sets of [`WAYS`], the newest first. 0: none.
    known: [u32; 128],
    /// Steps in a row that were known.
    pub(crate) n_known: u32,
    /// How often it gave way since, and the steps until it does so again.
    n_given: u32,
    n_until: u32,
    /// Reads of memory that nobody else knows, and how many there were.
    pub(crate) stares: Spin,
    pub(crate) n_stares: u32,
    /// Where it has yielded.
    yields: Vec<SiteId>,
    /// Is anything noted at all?
    pub(crate) is_used: bool,
}

const WAYS: usize = 4;

/// So many known steps in a row are taken for waiting: more than any loop has steps whose hashes are kept.
const ROUNDS_MIN: u32 = 192;

/// Each time that a thread has given way so often in vain, it takes twice as many steps in between, up to these.
const VAIN: u32 = 64;

pub(crate) const STEPS_BETWEEN_MAX: u32 = 64;

/// Who has given way so often in vain probably works. From then on only one of its steps in eight is looked at, as those
/// of everybody else are: what a step may cost is measured with such threads.
const IN_VAIN: u32 = VAIN * (STEPS_BETWEEN_MAX.ilog2() + 1);

impl Rounds {
    pub(crate) const fn new() -> Rounds {
        let stares = Spin { entries: [0; 16], n_same: 0, next: 0 };
        Rounds {
            known: [0; 128],
            n_known: 0,
            n_given: 0,
            n_until: 0,
            stares,
            n_stares: 0,
            yields: Vec::new(),
            is_used: false,
        }
    }

    pub(crate) fn note(&mut self, what: u64) {
        self.is_used = true;
        let entry = what as u32 | 1;
        let first = (what >> 32) as usize % (self.known.len() / WAYS) * WAYS;
        let set = &mut self.known[first..first + WAYS];
        if set.contains(&entry) {
            self.n_known = self.n_known.saturating_add(1);
        } else {
            (self.n_known, self.n_given, self.n_until) = (0, 0, 0);
            set.rotate_right(1);
            set[0] = entry;
        }
    }

    /// Does the thread yield at this place for the first time?
    pub(crate) fn is_first_yield(&mut self, site: SiteId) -> bool {
        let is_first = !self.yields.contains(&site);
        if is_first {
            self.yields.push(site);
            self.is_used = true;
        }
        is_first
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.n_known >= ROUNDS_MIN
    }

    /// Does it wait, and has it not given way in vain for very long?
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.is_waiting() && self.n_given < IN_VAIN
    }

    /// Is it time to give way, before a step of a thread that waits?
    pub(crate) fn gives_way(&mut self) -> bool {
        if self.n_until > 0 {
            self.n_until -= 1;
            return false;
        }
        let n_between = 1 << (self.n_given / VAIN).min(STEPS_BETWEEN_MAX.ilog2());
        self.n_given = self.n_given.saturating_add(1);
        // Who is in no doubt any more is asked only now and then.
        self.n_until = if self.is_in_doubt() { n_between - 1 } else { 0 };
        true
    }
}

/// What is known of all threads that wait in rounds.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// How many there are.
    pub(crate) n_threads: u32,
    /// And of those that have not given way in vain for very long.
    pub(crate) n_in_doubt: u32,
    /// When the others are asked next: so many steps of the execution.
    pub(crate) next_at: u64,
    /// By object: the thread that was seen to use it last, plus one.
    pub(crate) users: Vec<u32>,
}

impl Waiting {
    /// Is the next step one before which a thread may give way?
    #[inline(always)]
    pub(crate) fn may_give_way(&self, n_steps: u64) -> bool {
        self.n_in_doubt != 0 || (self.n_threads != 0 && self.next_at <= n_steps)
    }

    /// A thread was, and is, one that waits, and one that is in doubt.
    pub(crate) fn change(&mut self, was: (bool, bool), is: (bool, bool)) {
        self.n_threads = self.n_threads + u32::from(is.0) - u32::from(was.0);
        self.n_in_doubt = self.n_in_doubt + u32::from(is.1) - u32::from(was.1);
    }
}

/// After so many reads without a step, reads are looked at; after more, where that has been in vain.
pub(crate) const PATIENCE: i32 = 1 << 18;
pub(crate) const PATIENCE_MAX: i32 = 1 << 22;
