//! Histories that many words have in common.
//!
//! What several threads read, they read in long stretches: the words of a table have all been written in the same segment,
//! and read in the same few. So each such history is kept once, never changes, and a word has only its number. What another
//! read makes of it is looked up: after the first word of a stretch that is one comparison.
//!
//! A history's successor depends on what is ordered, too, and a thread may learn more within its segment. Whatever was
//! ordered stays so, and a read that is kept although it is known to be before can't make a race of anything that is none.

use std::{collections::BTreeMap, iter::from_fn};

use raddle_model::ThreadId;

use super::{
    Accessed, Causality, Histories, HistoryId,
    history::{self, Entry},
};

/// A history that any number of words have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedHistoryId(pub u32);

/// See the module.
#[derive(Debug)]
pub struct SharedHistories {
    all: Vec<Box<[Entry]>>,
    numbers: BTreeMap<Box<[Entry]>, u32>,
    successors: Box<[Successor; N_SUCCESSORS]>,
    short: Box<[Short; N_SHORT]>,
    /// To work in.
    scratch: Histories,
}

/// What a read made of a history, the last time that anybody asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Successor {
    history: u32,
    read: Entry,
    is: u32,
}

/// The number of a history of one or two accesses, the last time that anybody asked: most words begin with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Short {
    entries: [Entry; 2],
    is: u32,
}

const N_SHORT: usize = 1 << 6;
const NO_SHORT: Short = Short { entries: [Entry::NONE; 2], is: 0 };
const N_SUCCESSORS: usize = 1 << 10;
const NONE: Successor = Successor { history: u32::MAX, read: Entry::NONE, is: 0 };
/// So many histories are kept. (Each has been some word's, and may still be.)
const MOST: usize = 1 << 20;

impl Default for SharedHistories {
    fn default() -> SharedHistories {
        SharedHistories::new()
    }
}

impl SharedHistories {
    /// None yet.
    pub fn new() -> SharedHistories {
        SharedHistories {
            all: Vec::new(),
            numbers: BTreeMap::new(),
            successors: Box::new([NONE; N_SUCCESSORS]),
            short: Box::new([NO_SHORT; N_SHORT]),
            scratch: Histories::new(),
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        if !self.all.is_empty() {
            self.all.clear();
            self.numbers.clear();
            self.successors.fill(NONE);
            self.short.fill(NO_SHORT);
        }
    }

    /// The history of these accesses. `None` if there are too many histories.
    pub fn of(&mut self, mut accesses: impl Iterator<Item = Accessed>) -> Option<SharedHistoryId> {
        let mut next = || accesses.next().map(|it| Entry::of(&it));
        let first = [next(), next(), next()];
        let [Some(one), two, None] = first else {
            return self.number(first.into_iter().flatten().chain(from_fn(next)).collect());
        };
        let entries = [one, two.unwrap_or(Entry::NONE)];
        let place = (entries[0].key() ^ entries[1].key().rotate_left(3)) as usize % N_SHORT;
        let known = &self.short[place];
        if known.entries == entries {
            return Some(SharedHistoryId(known.is));
        }
        let number = self.number(Some(one).into_iter().chain(two).collect())?;
        self.short[place] = Short { entries, is: number.0 };
        Some(number)
    }

    fn number(&mut self, entries: Box<[Entry]>) -> Option<SharedHistoryId> {
        if let Some(known) = self.numbers.get(&entries) {
            return Some(SharedHistoryId(*known));
        }
        let number = self.all.len() as u32;
        if self.all.len() >= MOST {
            return None;
        }
        self.all.push(entries.clone());
        self.numbers.insert(entries, number);
        Some(SharedHistoryId(number))
    }

    /// The accesses of a history.
    pub fn accesses(&self, history: SharedHistoryId) -> impl Iterator<Item = Accessed> + '_ {
        self.all[history.0 as usize].iter().map(|it| it.get())
    }

    /// What the history of a word is after a thread has read it. `None` if that races with a write, or if there are too
    /// many histories.
    pub fn read(
        &mut self,
        history: SharedHistoryId,
        thread: ThreadId,
        accessed: &Accessed,
        causality: &Causality,
    ) -> Option<SharedHistoryId> {
        if let Some(known) = self.after_read(history, accessed) {
            return Some(known);
        }
        let next = self.find_successor(history, thread, accessed, causality)?;
        let (place, read) = place_of(history, accessed);
        self.successors[place] = Successor { history: history.0, read, is: next.0 };
        Some(next)
    }

    /// The same, if somebody has asked lately: allocates nothing, and changes nothing.
    #[inline]
    pub fn after_read(
        &self,
        history: SharedHistoryId,
        accessed: &Accessed,
    ) -> Option<SharedHistoryId> {
        let (place, read) = place_of(history, accessed);
        let known = &self.successors[place];
        (known.history == history.0 && known.read == read).then_some(SharedHistoryId(known.is))
    }

    #[inline(never)]
    fn find_successor(
        &mut self,
        history: SharedHistoryId,
        thread: ThreadId,
        accessed: &Accessed,
        causality: &Causality,
    ) -> Option<SharedHistoryId> {
        let scratch = self.copy_to_scratch(history);
        let conflict = self.scratch.access(scratch, thread, accessed, causality);
        let entries = self.scratch.entries(scratch).collect();
        match conflict {
            None => self.number(entries),
            Some(_) => None,
        }
    }

    fn copy_to_scratch(&mut self, history: SharedHistoryId) -> HistoryId {
        self.scratch.clear();
        let scratch = self.scratch.add();
        for entry in &self.all[history.0 as usize] {
            self.scratch.note(scratch, &entry.get());
        }
        scratch
    }

    /// Do all accesses that one of a thread would conflict with, if it writes or only reads, happen before what the
    /// thread does now?
    pub fn is_ordered(
        &self,
        history: SharedHistoryId,
        thread: ThreadId,
        is_write: bool,
        causality: &Causality,
    ) -> bool {
        history::are_ordered(self.accesses(history), thread, is_write, causality)
    }
}

/// Where what a read makes of a history is kept.
#[inline]
const fn place_of(history: SharedHistoryId, accessed: &Accessed) -> (usize, Entry) {
    let read = Entry::of(accessed);
    ((history.0 ^ read.key()) as usize % N_SUCCESSORS, read)
}

#[cfg(test)]
mod tests {
    use raddle_model::{ObjectId, OpKind, SiteId};

    use super::*;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    fn read(causality: &mut Causality, thread: ThreadId, mask: u8) -> Accessed {
        Accessed::new(OpKind::Read, mask, causality.segment(thread), SiteId(7))
    }

    #[test]
    fn words_that_are_read_alike_have_one_history() {
        let (mut causality, mut shared) = (Causality::new(), SharedHistories::new());
        causality.spawn(A, B, ObjectId(1));
        let first = read(&mut causality, A, 15);
        let of_first = shared.of([first].into_iter()).expect("room");
        let second = read(&mut causality, B, 15);
        let both = shared.read(of_first, B, &second, &causality).expect("no race");
        assert_eq!(shared.after_read(of_first, &second), Some(both));
        assert_eq!(shared.read(both, B, &second, &causality), Some(both));
        assert_eq!(shared.accesses(both).collect::<Vec<_>>(), [first, second]);
        assert_eq!(shared.accesses(of_first).count(), 1, "it never changes");
        assert!(shared.is_ordered(both, A, false, &causality));
        assert!(!shared.is_ordered(both, A, true, &causality));
        causality.meet_all(B);
        assert!(shared.is_ordered(both, A, true, &causality));
    }

    #[test]
    fn the_same_accesses_are_one_history() {
        let (mut causality, mut shared) = (Causality::new(), SharedHistories::new());
        causality.spawn(A, B, ObjectId(1));
        let of_a = read(&mut causality, A, 15);
        let all = [of_a, read(&mut causality, B, 15), Accessed { is_write: true, ..of_a }];
        let mut numbers = Vec::new();
        for _ in 0..2 {
            for n in 0..=all.len() {
                let number = shared.of(all[..n].iter().copied()).expect("room");
                assert_eq!(shared.accesses(number).collect::<Vec<_>>(), all[..n]);
                numbers.push(number.0);
            }
        }
        assert_eq!(numbers, [0, 1, 2, 3, 0, 1, 2, 3]);
        shared.clear();
        assert_eq!(shared.of(all[1..2].iter().copied()), Some(SharedHistoryId(0)));
        assert_eq!(shared.of(all[..1].iter().copied()), Some(SharedHistoryId(1)), "none is kept");
    }

    #[test]
    fn a_read_that_races_has_no_successor() {
        let (mut causality, mut shared) = (Causality::new(), SharedHistories::new());
        causality.spawn(A, B, ObjectId(1));
        let write = Accessed { is_write: true, ..read(&mut causality, A, 15) };
        let written = shared.of([write].into_iter()).expect("room");
        let second = read(&mut causality, B, 1);
        assert_eq!(shared.read(written, B, &second, &causality), None);
        causality.meet_all(A);
        let after = shared.read(written, B, &second, &causality).expect("ordered now");
        assert_eq!(shared.accesses(after).collect::<Vec<_>>(), [write, second]);
    }
}
