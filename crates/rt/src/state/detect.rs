//! What race detection knows (`memory/detect`).

use std::collections::BTreeMap;

use raddle_analysis::hb::{
    Accessed, Atomic, Bytes, Causality, Histories, HistoryId, Segment, SharedHistories,
};
use raddle_model::{ObjectId, OpKind, SiteId, ThreadId};

use crate::{
    record::stack::Caller,
    state::{
        detect::{intent::Intent, keys::Keys, lines::Lines, watched::Watched},
        shadow::Cell,
    },
};

pub(crate) mod intent;
mod keys;
pub(crate) mod lines;
pub(crate) mod watched;

/// What the detector knows.
#[derive(Debug)]
pub(crate) struct Detect {
    /// Are races looked for?
    pub(crate) is_on: bool,
    pub(crate) causality: Causality,
    pub(crate) histories: Histories,
    /// Of what several threads have read.
    pub(crate) shared: SharedHistories,
    /// By variable: what atomic ops have left in it.
    values: Vec<Left>,
    /// No variable from this one on has been looked at.
    n_values: usize,
    /// Variables that are memory like any other now, by address.
    pub(crate) retired: BTreeMap<usize, ObjectId>,
    /// Hashes of the races told in this execution.
    pub(crate) told: Keys,
    pub(crate) watched: Watched,
    pub(crate) intent: Intent,
    pub(crate) lines: Lines,
}

/// What atomic ops have left in eight bytes of a variable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    value: [u8; 8],
    /// Which bytes are known, as a bit set.
    known: u8,
    /// Which eight bytes.
    window: u32,
    /// Who changed them last.
    by: Option<ThreadId>,
}

/// A part of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) object: ObjectId,
    pub(crate) offset: usize,
}

/// An access to memory.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) address: usize,
    pub(crate) size: usize,
    pub(crate) kind: OpKind,
    pub(crate) caller: Caller,
    /// The caller's site, once somebody has asked for it: an access is to two words or more, as a rule.
    pub(crate) site: std::cell::Cell<Option<SiteId>>,
}

impl Touch {
    #[inline]
    pub(crate) const fn new(address: usize, size: usize, kind: OpKind, caller: Caller) -> Touch {
        Touch { address, size, kind, caller, site: std::cell::Cell::new(None) }
    }

    /// The same access, as one of another kind.
    #[inline]
    pub(crate) fn with_kind(&self, kind: OpKind) -> Touch {
        Touch { kind, site: self.site.clone(), ..*self }
    }

    pub(crate) fn bytes(&self) -> Bytes {
        Bytes { start: self.address as u64, size: self.size as u64 }
    }

    /// Which bytes of the cell at `at` it is to.
    #[inline]
    pub(crate) fn mask(&self, at: usize) -> u8 {
        let from = self.address.saturating_sub(at);
        let to = (self.address + self.size).saturating_sub(at).min(4);
        (Cell::WHOLE << from) & (Cell::WHOLE >> (4 - to))
    }
}

impl Detect {
    /// One thread, which others would join through `main`.
    pub(crate) fn new(main: ObjectId) -> Detect {
        let mut causality = Causality::new();
        causality.stands_for(main, ThreadId(0));
        Detect {
            is_on: false,
            causality,
            histories: Histories::new(),
            shared: SharedHistories::new(),
            values: vec![Left::default(); 64],
            n_values: 0,
            retired: BTreeMap::new(),
            told: Keys::default(),
            watched: Watched::default(),
            intent: Intent::default(),
            lines: Lines::default(),
        }
    }

    /// Begins another execution, with so many threads; nothing is known of what was before.
    pub(crate) fn restart(&mut self, threads: impl ExactSizeIterator<Item = ObjectId>) {
        self.is_on = false;
        self.causality.reset(threads.len());
        for (idx, object) in threads.enumerate() {
            self.causality.stands_for(object, ThreadId(idx as u32));
        }
        self.histories.clear();
        self.shared.clear();
        self.values[..self.n_values].fill(Left::default());
        self.n_values = 0;
        self.retired.clear();
        self.told.clear();
        self.intent.restart();
        self.lines.clear();
        if self.watched.is_used() {
            self.watched = Watched::default();
        }
    }

    /// Are races looked for?
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// The thread that a cell of an owner belongs to.
    #[inline]
    pub(crate) fn owner(&self, segment: Segment) -> ThreadId {
        self.causality.owner(segment)
    }

    /// The segment of what a thread does now, if it has begun.
    #[inline]
    pub(crate) fn open_segment(&self, thread: ThreadId) -> Segment {
        self.causality.open_segment(thread)
    }

    /// A thread was created.
    pub(crate) fn spawned(&mut self, parent: ThreadId, child: ThreadId, object: ObjectId) {
        self.causality.spawn(parent, child, object);
    }
}

impl Detect {
    /// Has code without hooks changed a variable since the last atomic op on it? Notes what is in it now.
    pub(crate) fn is_foreign(
        &mut self,
        me: ThreadId,
        window: Window,
        touch: &Touch,
        atomic: Atomic,
        seen: u64,
    ) -> bool {
        let Window { object, offset } = window;
        if self.values.len() <= object.idx() {
            self.values.resize(object.idx() + 64, Left::default());
        }
        self.n_values = self.n_values.max(object.idx() + 1);
        let (window, first) = ((offset / 8) as u32, offset % 8);
        let size = touch.size.min(8 - first);
        let left = &mut self.values[object.idx()];
        if left.window != window {
            *left = Left { window, ..Left::default() };
        }
        let seen = seen.to_le_bytes();
        let is_other = |idx: usize| {
            left.known & 1 << (first + idx) != 0 && left.value[first + idx] != seen[idx]
        };
        let is_foreign = atomic.kind != OpKind::AtomicStore && (0..size).any(is_other);
        // SAFETY: the program has just used so many bytes there.
        let now = unsafe { crate::abi::x86_64::peek(touch.address, size) }.to_le_bytes();
        left.value[first..first + size].copy_from_slice(&now[..size]);
        left.known |= (((1_u16 << size) - 1) << first) as u8;
        if atomic.kind == OpKind::AtomicStore || now[..size] != seen[..size] {
            left.by = Some(me);
        }
        is_foreign
    }

    /// The thread that has changed a variable by its last atomic op that did.
    pub(crate) fn last_writer(&self, object: ObjectId) -> Option<ThreadId> {
        self.values.get(object.idx())?.by
    }

    /// A plain access to a variable: what atomic ops left in it is gone, if it writes.
    pub(crate) fn forget_value(&mut self, object: ObjectId) {
        if let Some(value) = self.values.get_mut(object.idx()) {
            *value = Left::default();
        }
    }

    /// A history with these accesses.
    pub(crate) fn history_with(&mut self, accesses: impl Iterator<Item = Accessed>) -> HistoryId {
        let history = self.histories.add();
        accesses.for_each(|it| self.histories.note(history, &it));
        history
    }
}

/// The accesses that the cells of an owner stand for.
pub(crate) fn accesses_of_owner(writes: Cell, reads: Cell) -> impl Iterator<Item = Accessed> {
    let of =
        |(cell, kind): (Cell, OpKind)| Accessed::new(kind, cell.mask(), cell.segment(), SiteId(0));
    let cells = [(writes, OpKind::Write), (reads, OpKind::Read)].into_iter();
    cells.filter(|(cell, _)| cell.is_owned() && cell.mask() != 0).map(of)
}

/// Most races told of one execution.
pub(crate) const TOLD_MAX: usize = 1024;
