//! Panics of Rust threads: where they began, and what they said.
//!
//! A panic is no end yet: it may be caught, and tests may want it. So each is noted when it begins to
//! unwind, and if the process ends as one that has panicked does, the panic that is to blame is its end:
//! the last one, unless that only passes on an earlier one (`join().unwrap()`, a poisoned lock).

use raddle_model::{End, SiteId, ThreadId};
use raddle_rust_std::{PANICKED, PASSED_ON, PAYLOAD_DATA, PAYLOAD_VTABLE};
use raddle_trace::FRAMES_MAX;

/// Panics that are kept: the first ones, and the last.
const N_KEPT: usize = 8;
const MESSAGE_MAX: usize = 256;

/// A panic.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    pub(crate) thread: ThreadId,
    pub(crate) site: SiteId,
    /// Where each function was called, innermost first.
    pub(crate) callers: Vec<usize>,
    pub(crate) message: Vec<u8>,
}

/// All of an execution.
#[derive(Debug, Default)]
pub(crate) struct Panics {
    all: Vec<Panic>,
}

impl Panics {
    /// Begins another execution.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }

    pub(crate) fn add(&mut self, mut panic: Panic) {
        panic.message.truncate(MESSAGE_MAX);
        panic.callers.truncate(FRAMES_MAX);
        if self.all.len() == N_KEPT {
            self.all.pop();
        }
        self.all.push(panic);
    }

    /// The panic that led to an end, if one did.
    pub(crate) fn blamed(&self, end: End) -> Option<&Panic> {
        if !matches!(end, End::Exit(PANICKED) | End::Abort) {
            return None;
        }
        let is_passed_on = |panic: &&Panic| {
            let has = |text: &&[u8]| panic.message.windows(text.len()).any(|it| it == *text);
            PASSED_ON.iter().any(has)
        };
        let last = self.all.iter().rev().find(|it| !is_passed_on(it)).or(self.all.last())?;
        // One that was caught and let go on (`resume_unwind`) began where it began.
        self.all.iter().find(|it| it.thread == last.thread && it.message == last.message)
    }
}

/// What a payload says, if it is text: `panic!` has boxed a `&str` or a `String`. Their layout is not
/// promised, so all that is read is looked at twice.
///
/// # Safety
///
/// The exception is one that Rust's std has just made.
pub(crate) unsafe fn message(exception: *const u8) -> Vec<u8> {
    const FIRST_PAGE: usize = 4096;
    // SAFETY: the caller promises std's exception, which is at least so long.
    let word = |at: usize| unsafe { exception.add(at).cast::<usize>().read() };
    let (data, vtable) = (word(PAYLOAD_DATA), word(PAYLOAD_VTABLE));
    if data < FIRST_PAGE || vtable < FIRST_PAGE || data % 8 != 0 || vtable % 8 != 0 {
        return Vec::new();
    }
    // SAFETY: the table of a box begins with drop, size and alignment.
    let [_, size, align] = unsafe { (vtable as *const [usize; 3]).read() };
    let words = |n: usize| {
        // SAFETY: the box holds so many words.
        (0..n).map(|idx| unsafe { (data as *const usize).add(idx).read() }).collect::<Vec<_>>()
    };
    let text = match (size, align) {
        (16, 8) => {
            let words = words(2);
            (words[0], words[1])
        }
        (24, 8) => {
            let words = words(3);
            // Capacity, place, length: a length is no more than the capacity.
            if words[2] > words[0] {
                return Vec::new();
            }
            (words[1], words[2])
        }
        _ => return Vec::new(),
    };
    if text.0 < FIRST_PAGE || text.1 == 0 || text.1 > 1 << 20 {
        return Vec::new();
    }
    // SAFETY: a text of std, as far as can be told.
    unsafe { std::slice::from_raw_parts(text.0 as *const u8, text.1.min(MESSAGE_MAX)) }.to_vec()
}
