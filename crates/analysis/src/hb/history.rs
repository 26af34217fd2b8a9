//! The accesses to memory that matter for later ones.
//!
//! Memory is looked at in words of four bytes. The history of a word is a short list of accesses, each with
//! the bytes of the word that it was to. An access that is ordered before a later one, and conflicts with
//! nothing that the later one does not conflict with too, is dropped for it: after a plain write only the
//! write is left, after reads that happened one after the other only the last. So one or two are the rule;
//! as many as there are threads, when all read, or use the word as an atomic, without order. That is
//! FastTrack's rule for reads, said for all kinds.
//!
//! Bound: a list has 24 bytes for its first two accesses and for each two more, and at most 16
//! accesses; then the oldest is forgotten, which can hide a race and invents none.

use raddle_model::{OpKind, SiteId, ThreadId};

use super::{Causality, Segment};

/// An access to some bytes of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// When, and by whom.
    pub segment: Segment,
    /// Which bytes: bit `n` for the `n`th byte of the word.
    pub mask: u8,
    /// Does it write?
    pub is_write: bool,
    /// Is it atomic?
    pub is_atomic: bool,
    /// Did it free the memory?
    pub is_free: bool,
    /// Where in the code; 0 if that is not known.
    pub site: SiteId,
}

impl Accessed {
    /// An access of a kind to some bytes.
    #[inline]
    pub const fn new(kind: OpKind, mask: u8, segment: Segment, site: SiteId) -> Accessed {
        Accessed {
            segment,
            mask,
            is_write: !matches!(kind, OpKind::Read | OpKind::AtomicLoad),
            is_atomic: matches!(
                kind,
                OpKind::AtomicLoad | OpKind::AtomicStore | OpKind::AtomicRmw | OpKind::AtomicCas
            ),
            is_free: matches!(kind, OpKind::Free),
            site,
        }
    }

    /// The kind, as far as it is known.
    pub const fn kind(&self) -> OpKind {
        match (self.is_free, self.is_atomic, self.is_write) {
            (true, _, _) => OpKind::Free,
            (false, false, false) => OpKind::Read,
            (false, false, true) => OpKind::Write,
            (false, true, false) => OpKind::AtomicLoad,
            (false, true, true) => OpKind::AtomicStore,
        }
    }

    const fn conflicts_with(&self, other: &Accessed) -> bool {
        (self.is_write || other.is_write) && !(self.is_atomic && other.is_atomic)
    }

    /// Does whatever conflicts with the other conflict with this one too?
    const fn covers(&self, other: &Accessed) -> bool {
        (self.is_write || !other.is_write) && (!self.is_atomic || other.is_atomic)
    }
}

/// A race: the earlier access, that the later one came upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Who made the earlier access.
    pub thread: ThreadId,
    /// The earlier access, with the bytes that both are to.
    pub earlier: Accessed,
    /// All bytes of the word for which the later access races with this or another one.
    pub bytes: u8,
}

/// The history of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryId(pub u32);

/// Most accesses in one history.
const MOST: usize = 16;
/// Accesses in one node.
const PER_NODE: usize = 2;
/// No node.
const END: u32 = u32::MAX;

/// An access in 8 bytes. Zero: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Segment, bytes, and three marks.
    what: u32,
    site: u32,
}

const MASK_SHIFT: u32 = Segment::BITS;
const MASK_BITS: u32 = 15 << MASK_SHIFT;
const IS_WRITE: u32 = 1 << 29;
const IS_ATOMIC: u32 = 1 << 30;
const IS_FREE: u32 = 1 << 31;
const _: () = assert!(MASK_SHIFT + 4 == 29);

impl Entry {
    pub(super) const NONE: Entry = Entry { what: 0, site: 0 };

    /// A number that tells most entries apart.
    #[inline]
    pub(super) const fn key(self) -> u32 {
        self.what.wrapping_mul(0x9e37_79b1) >> 8 ^ self.site
    }

    #[inline]
    pub(super) const fn of(it: &Accessed) -> Entry {
        let marks = if it.is_write { IS_WRITE } else { 0 }
            | if it.is_atomic { IS_ATOMIC } else { 0 }
            | if it.is_free { IS_FREE } else { 0 };
        Entry { what: it.segment.0 | (it.mask as u32) << MASK_SHIFT | marks, site: it.site.0 }
    }

    #[inline]
    pub(super) const fn get(self) -> Accessed {
        Accessed {
            segment: Segment(self.what & ((1 << Segment::BITS) - 1)),
            mask: (self.what >> MASK_SHIFT) as u8 & 15,
            is_write: self.what & IS_WRITE != 0,
            is_atomic: self.what & IS_ATOMIC != 0,
            is_free: self.what & IS_FREE != 0,
            site: SiteId(self.site),
        }
    }
}

/// Do all of these accesses that one of a thread would conflict with, if it writes or only reads, happen before what the
/// thread does now?
#[inline]
pub(super) fn are_ordered(
    mut accesses: impl Iterator<Item = Accessed>,
    thread: ThreadId,
    is_write: bool,
    causality: &Causality,
) -> bool {
    accesses.all(|it| !(is_write || it.is_write) || causality.is_before(it.segment, thread))
}

/// A new access, on its way past the earlier ones.
struct Meeting<'a> {
    accessed: &'a Accessed,
    thread: ThreadId,
    causality: &'a Causality,
    conflict: Option<Conflict>,
    /// Is the same access known already, perhaps to other bytes? The rule in loops.
    is_there: bool,
}

impl Meeting<'_> {
    /// What is left of an earlier access.
    #[inline]
    fn meet(&mut self, entry: Entry) -> Entry {
        let (old, accessed) = (entry.get(), self.accessed);
        let new = Entry::of(accessed);
        if (entry.what ^ new.what) & !MASK_BITS == 0 && entry.site == new.site {
            self.is_there = true;
            return Entry { what: entry.what | new.what, ..entry };
        }
        let overlap = old.mask & accessed.mask;
        if overlap == 0 {
            return entry;
        }
        let is_ordered = self.causality.is_before(old.segment, self.thread);
        let is_race = !is_ordered && old.conflicts_with(accessed);
        if is_race {
            self.conflict = Some(self.worse(Accessed { mask: overlap, ..old }));
        }
        if !(is_ordered || is_race) || !accessed.covers(&old) {
            return entry;
        }
        match old.mask & !overlap {
            0 => Entry::default(),
            mask => Entry::of(&Accessed { mask, ..old }),
        }
    }

    /// Of the races so far and another one, the first with a write; else the first.
    #[cold]
    fn worse(&self, earlier: Accessed) -> Conflict {
        let other = Conflict {
            thread: self.causality.owner(earlier.segment),
            earlier,
            bytes: earlier.mask,
        };
        let Some(one) = self.conflict else { return other };
        let bytes = one.bytes | other.bytes;
        let is_worse = other.earlier.is_write && !one.earlier.is_write;
        Conflict { bytes, ..if is_worse { other } else { one } }
    }
}

/// Part of a list. Invariant: entries that are used come first, and so do nodes with entries.
#[derive(Clone, Copy, Debug)]
struct Node {
    entries: [Entry; PER_NODE],
    next: u32,
    /// Entries used in the whole list; in its first node only.
    n_entries: u32,
}

const _: () = assert!(size_of::<Node>() == 24);

/// The histories of words.
#[derive(Debug)]
pub struct Histories {
    nodes: Vec<Node>,
    free: u32,
}

impl Default for Histories {
    fn default() -> Histories {
        Histories::new()
    }
}

impl Histories {
    /// None yet, with room for a few.
    pub fn new() -> Histories {
        Histories { nodes: Vec::with_capacity(64), free: END }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.free = END;
    }

    /// Bytes that histories take.
    pub fn n_bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
    }

    /// A new, empty history.
    pub fn add(&mut self) -> HistoryId {
        HistoryId(self.add_node())
    }

    /// Gives a history back.
    pub fn remove(&mut self, history: HistoryId) {
        let mut node = history.0;
        while node != END {
            let next = self.nodes[node as usize].next;
            self.nodes[node as usize].next = self.free;
            self.free = node;
            node = next;
        }
    }

    /// Adds an access as it is, without asking whether it conflicts with others.
    pub fn note(&mut self, history: HistoryId, accessed: &Accessed) {
        if accessed.mask != 0 {
            self.push(history, Entry::of(accessed));
        }
    }

    /// A thread accesses the word now. The race that this is, if it is one.
    #[inline]
    pub fn access(
        &mut self,
        history: HistoryId,
        thread: ThreadId,
        accessed: &Accessed,
        causality: &Causality,
    ) -> Option<Conflict> {
        let what_now = Entry::of(accessed).what;
        let first = &mut self.nodes[history.0 as usize];
        let only = first.entries[0];
        // The only access that is known is as this one, and before it: the rule among threads that take turns.
        if first.n_entries == 1
            && (only.what ^ what_now) >> MASK_SHIFT == 0
            && causality.is_before(only.get().segment, thread)
        {
            first.entries[0] = Entry::of(accessed);
            return None;
        }
        let mut meeting = Meeting { accessed, thread, causality, conflict: None, is_there: false };
        let (mut node, mut left) = (history.0, first.n_entries as usize);
        if left <= PER_NODE {
            let mut n_kept = 0;
            for idx in 0..left {
                let rest = meeting.meet(first.entries[idx]);
                first.entries[n_kept] = rest;
                n_kept += usize::from(rest.what != 0);
            }
            first.n_entries = n_kept as u32;
        } else {
            let mut has_gaps = false;
            while left > 0 {
                let it = &mut self.nodes[node as usize];
                for entry in it.entries.iter_mut().take(left) {
                    *entry = meeting.meet(*entry);
                    has_gaps |= entry.what == 0;
                }
                left = left.saturating_sub(PER_NODE);
                node = it.next;
            }
            if has_gaps {
                self.close_gaps(history);
            }
        }
        let Meeting { conflict, is_there, .. } = meeting;
        if !is_there {
            self.push(history, Entry::of(accessed));
        }
        conflict
    }

    /// Do all accesses that one of a thread would conflict with, if it writes or only reads, happen before what the
    /// thread does now?
    #[inline]
    pub fn is_ordered(
        &self,
        history: HistoryId,
        thread: ThreadId,
        is_write: bool,
        causality: &Causality,
    ) -> bool {
        are_ordered(self.accesses(history), thread, is_write, causality)
    }

    /// The accesses of a history.
    pub fn accesses(&self, history: HistoryId) -> impl Iterator<Item = Accessed> + '_ {
        self.entries(history).map(Entry::get)
    }

    #[inline]
    pub(super) fn entries(&self, history: HistoryId) -> impl Iterator<Item = Entry> + '_ {
        let mut node = &self.nodes[history.0 as usize];
        (0..node.n_entries as usize).map(move |idx| {
            if idx > 0 && idx.is_multiple_of(PER_NODE) {
                node = &self.nodes[node.next as usize];
            }
            node.entries[idx % PER_NODE]
        })
    }

    /// Removes empty entries; the others keep their order.
    fn close_gaps(&mut self, history: HistoryId) {
        let mut left = self.nodes[history.0 as usize].n_entries as usize;
        let (mut from, mut to, mut n_kept) = (history.0, history.0, 0);
        while left > 0 {
            let node = self.nodes[from as usize];
            for entry in node.entries.iter().take(left).filter(|it| it.what != 0) {
                self.nodes[to as usize].entries[n_kept % PER_NODE] = *entry;
                n_kept += 1;
                if n_kept.is_multiple_of(PER_NODE) {
                    to = self.nodes[to as usize].next;
                }
            }
            left = left.saturating_sub(PER_NODE);
            from = node.next;
        }
        self.nodes[history.0 as usize].n_entries = n_kept as u32;
    }

    #[inline]
    fn push(&mut self, history: HistoryId, entry: Entry) {
        let first = &mut self.nodes[history.0 as usize];
        match first.entries.get_mut(first.n_entries as usize) {
            Some(free) => {
                *free = entry;
                first.n_entries += 1;
            }
            None => self.push_beyond(history, entry),
        }
    }

    /// The same, where the first node is full.
    fn push_beyond(&mut self, history: HistoryId, entry: Entry) {
        let n_entries = self.nodes[history.0 as usize].n_entries as usize;
        if n_entries == MOST {
            *self.entry(history, 0) = Entry::default();
            self.close_gaps(history);
            return self.push_beyond(history, entry);
        }
        *self.entry(history, n_entries) = entry;
        self.nodes[history.0 as usize].n_entries += 1;
    }

    /// The entry at an index, at most one beyond the last node.
    fn entry(&mut self, history: HistoryId, idx: usize) -> &mut Entry {
        let mut node = history.0;
        for _ in 0..idx / PER_NODE {
            if self.nodes[node as usize].next == END {
                let fresh = self.add_node();
                self.nodes[node as usize].next = fresh;
            }
            node = self.nodes[node as usize].next;
        }
        &mut self.nodes[node as usize].entries[idx % PER_NODE]
    }

    fn add_node(&mut self) -> u32 {
        const EMPTY: Node =
            Node { entries: [Entry { what: 0, site: 0 }; PER_NODE], next: END, n_entries: 0 };
        if self.free == END {
            self.nodes.push(EMPTY);
            return self.nodes.len() as u32 - 1;
        }
        let node = self.free;
        self.free = self.nodes[node as usize].next;
        self.nodes[node as usize] = EMPTY;
        node
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::ObjectId;

    use super::*;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    /// Two threads, of which neither knows what the other does.
    fn threads() -> Causality {
        let mut causality = Causality::new();
        causality.spawn(A, B, ObjectId(1));
        causality
    }

    fn accessed(causality: &mut Causality, kind: OpKind, thread: ThreadId, mask: u8) -> Accessed {
        Accessed::new(kind, mask, causality.segment(thread), SiteId(7))
    }

    /// What `a` did is known to `b`, and the other way round.
    fn meet(causality: &mut Causality) {
        causality.meet_all(A);
        causality.meet_all(B);
    }

    #[test]
    fn reads_matter_to_a_write_only() {
        let (mut causality, mut histories) = (threads(), Histories::new());
        let history = histories.add();
        let read = accessed(&mut causality, OpKind::Read, A, 3);
        histories.access(history, A, &read, &causality);
        assert!(histories.is_ordered(history, B, false, &causality));
        assert!(!histories.is_ordered(history, B, true, &causality));
        meet(&mut causality);
        assert!(histories.is_ordered(history, B, true, &causality));
    }
}
