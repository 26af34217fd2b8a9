//! Data races, as the execution goes by: each access to memory that a second thread comes to is held against
//! the earlier ones, whether it is a step or not.
//!
//! The core is `raddle_analysis::hb`. A thread's execution is cut into segments, at what releases something
//! to others. Memory that one thread owns has the segments of its last write and its last read in its cells
//! (`shadow`), which costs nothing as long as the segment is the same; when another thread comes, they
//! become a history. (Of an owner's accesses to parts of a cell only the last part is known then. That can
//! hide a race of neighbouring bytes until the next execution, which knows that the memory is shared.)
//!
//! Races are told by pairs of places, each once in an execution. Of an access to memory that was its
//! thread's own the place is not known: the launcher lets the same execution run again with that memory
//! *watched*, which tells both sides' stacks and locks as well.
//!
//! Code of system libraries has no hooks, and synchronises by atomics that we don't see. An atomic op that
//! finds another value than the last one left was preceded by such code: its thread, and whoever comes to the
//! variable after it, is taken to come after all that any thread did. And frees by system libraries, which count references, are not judged.

mod intent;
mod lines;
mod told;
mod watched;

use raddle_analysis::hb::{
    Accessed, Atomic, Bytes, Causality, Conflict, HistoryId, Segment, SharedHistoryId,
};
use raddle_model::{Event, MemoryOrder, ObjectId, Op, OpKind, OpResult, Points, SiteId, ThreadId};

use crate::{
    control::Control,
    record::stack::Caller,
    state::{
        accesses,
        detect::{Detect, Touch, Window, accesses_of_owner},
        shadow::{Cell, NO_HISTORY, NO_SHARED_HISTORY, Shadow, State},
    },
};

impl Control {
    /// Begins an execution: are races looked for, and is memory watched?
    pub(crate) fn begin_detection(&mut self) {
        // SAFETY: the header is mapped for as long as the process lives.
        let (is_on, watch) =
            unsafe { ((*self.header).request.record_races == 1, (*self.header).request.watch) };
        // What is a scheduling point depends on what was seen in a race.
        self.memory.detect.is_on = is_on || self.scheduler.points.are_learned();
        self.begin_memory();
        self.begin_orders();
        self.memory.locksets.is_on = self.scheduler.points == Points::Lockset;
        self.watch(watch);
    }

    /// Nothing is looked for.
    pub(crate) fn forget_detection(&mut self) {
        self.memory.detect.is_on = false;
        self.memory.weak.is_on = false;
        self.memory.orders.clear();
        self.memory.locksets.is_on = false;
        self.watch(raddle_model::Watch::default());
    }

    /// The segment of what the thread that runs does now.
    #[inline]
    pub(crate) fn now(&mut self) -> Segment {
        let open = self.memory.detect.causality.open_segment(self.me);
        if open == Segment::NONE { self.begin_segment() } else { open }
    }

    fn begin_segment(&mut self) -> Segment {
        let segment = self.memory.detect.causality.segment(self.me);
        // Numbers run short: each thread keeps its segment from now on, and nothing is looked for.
        if self.memory.detect.is_on && self.memory.detect.causality.is_full() {
            self.memory.detect.is_on = false;
            accesses::add_thinned();
        }
        self.set_mine();
        segment
    }

    /// An op was performed that is no access to memory: what it orders.
    #[inline]
    pub(crate) fn order_by(&mut self, op: &Op, result: OpResult, value: u64) {
        if !self.memory.detect.is_on || self.scheduler.machine.n_threads() == 1 {
            return;
        }
        if self.memory.weak.is_on && op.kind.empties_buffers() {
            self.memory.weak.stores.catch_up(self.me);
        }
        // By far the most common, and what a step may cost is measured with it.
        let is_lock = op.kind == OpKind::Lock && result == OpResult::Done;
        if is_lock && !self.follows_locks() {
            self.memory.detect.causality.acquire(self.me, op.object);
        } else {
            self.order_by_event(&Event::of(self.me, op, result, value, None));
        }
    }

    #[inline(never)]
    fn order_by_event(&mut self, event: &Event) {
        self.memory.detect.causality.step(event);
        if self.follows_locks() {
            self.memory.locksets.held.step(event, self.recorder.emit.n_steps);
        }
        self.set_mine();
    }

    /// A fence of the thread that runs.
    pub(crate) fn order_by_fence(&mut self, order: MemoryOrder) {
        if self.memory.detect.is_on && self.scheduler.machine.n_threads() > 1 {
            let causality = &mut self.memory.detect.causality;
            match self.memory.weak.is_on {
                true => self.memory.weak.stores.fence(self.me, order, causality),
                false => causality.fence(self.me, order),
            }
            self.set_mine();
        }
    }

    /// The thread that runs comes after all that was released to an object.
    pub(crate) fn acquire(&mut self, object: ObjectId) {
        if self.memory.detect.is_on {
            self.memory.detect.causality.acquire(self.me, object);
        }
    }

    /// What the thread that runs did is known to whoever acquires the object.
    pub(crate) fn release(&mut self, object: ObjectId) {
        if self.memory.detect.is_on {
            self.memory.detect.causality.release(self.me, object);
            self.set_mine();
        }
    }

    /// Code without hooks tells others what the thread that runs did: who acquires anything, acquires it.
    pub(crate) fn release_to_all(&mut self) {
        if self.memory.detect.is_on {
            self.memory.detect.causality.release_to_all(self.me);
            self.set_mine();
        }
    }

    /// Code without hooks goes on in the thread that runs, and may take whatever others have given back.
    pub(crate) fn know_all(&mut self) {
        if self.memory.detect.is_on {
            self.memory.detect.causality.know_all(self.me);
            self.set_mine();
        }
    }

    /// The thread that runs comes to an atomic instruction without a hook.
    pub(crate) fn order_by_unhooked(&mut self, object: ObjectId, address: usize, size: usize) {
        if self.memory.detect.is_on {
            let is_changed = self.is_line_changed(address, size);
            let bytes = Bytes { start: address as u64, size: size as u64 };
            if self.memory.weak.is_on {
                // What the stores of hooked ops passed on is with those stores.
                self.memory.detect.causality.know_all(self.me);
                self.memory.weak.forget(address, size);
            }
            self.memory.detect.causality.step_unhooked(self.me, object, bytes, is_changed);
            self.set_mine();
        }
    }

    /// The thread that runs takes or gives back what the system shares between all: the lock of a file.
    pub(crate) fn meet(&mut self) {
        if self.memory.detect.is_on {
            self.memory.detect.causality.meet(self.me);
            self.set_mine();
        }
    }

    /// The thread that runs accesses memory that is its own.
    #[inline]
    pub(crate) fn access_own(&mut self, cell: *mut Cell, at: usize, touch: &Touch) {
        let is_alone = self.scheduler.machine.is_alone();
        let (segment, mask) = (self.now(), touch.mask(at));
        // SAFETY: the caller has a cell, which has a partner.
        unsafe {
            if *cell == Cell::UNTOUCHED {
                self.memory.shadow.log(cell);
            }
            if touch.kind == OpKind::Read {
                if *cell == Cell::UNTOUCHED {
                    *cell = Cell::owned(segment, 0, false);
                }
                let reads = Shadow::reads(cell);
                *reads = (*reads).and(Cell::owned(segment, mask, false));
            } else {
                *cell = (*cell).and(Cell::owned(segment, mask, !is_alone));
            }
        }
        if self.memory.shadow.is_watched(cell) {
            self.log(at, touch, segment);
        }
    }

    /// The thread that runs, alone alive, takes over memory that others have used.
    pub(crate) fn take_over(&mut self, cell: *mut Cell, at: usize, touch: &Touch) {
        if !self.is_all_before(cell) || self.memory.shadow.is_watched(cell) {
            let history = self.history_of(cell);
            self.inspect_word(history, cell, at, touch);
            self.drop_history(history);
        }
        // SAFETY: the caller has a cell, which has a partner.
        unsafe {
            *cell = Cell::UNTOUCHED;
            *Shadow::reads(cell) = Cell::UNTOUCHED;
        }
        self.access_own(cell, at, touch);
    }

    /// The thread that runs reads what others have only read, and its owner wrote before they were there.
    pub(crate) fn read_shared(&mut self, cell: *mut Cell, at: usize, touch: &Touch) {
        // SAFETY: the caller has a cell, which has a partner.
        let (writes, reads) = unsafe { (*cell, *Shadow::reads(cell)) };
        let (segment, mask) = (self.now(), touch.mask(at));
        let (history, was) = match writes.state() {
            State::ReadShared(history) => (self.read_again(history, cell, at, touch), reads),
            _ if !self.memory.detect.is_on => (NO_SHARED_HISTORY, Cell::UNTOUCHED),
            _ => {
                let accesses = accesses_of_owner(writes, reads);
                let history = self.memory.detect.shared.of(accesses).unwrap_or(NO_SHARED_HISTORY);
                (self.read_again(history, cell, at, touch), Cell::UNTOUCHED)
            }
        };
        // SAFETY: as above.
        unsafe {
            *cell = Cell::read_shared(history);
            *Shadow::reads(cell) = was.and(Cell::owned(segment, mask, false));
        }
    }

    /// What the history of such memory is after the read.
    fn read_again(
        &mut self,
        history: SharedHistoryId,
        cell: *mut Cell,
        at: usize,
        touch: &Touch,
    ) -> SharedHistoryId {
        if history == NO_SHARED_HISTORY || !self.memory.detect.is_on {
            return NO_SHARED_HISTORY;
        }
        accesses::add_look();
        let segment = self.now();
        let site = if accesses::has_looked_enough() { SiteId(0) } else { self.site_of(touch) };
        let accessed = Accessed::new(OpKind::Read, touch.mask(at), segment, site);
        let Detect { shared, causality, .. } = &mut self.memory.detect;
        let next = shared.read(history, self.me, &accessed, causality);
        if next.is_some() && !self.memory.shadow.is_watched(cell) {
            return next.unwrap_or(NO_SHARED_HISTORY);
        }
        let own = self.history_of(cell);
        self.inspect_word(own, cell, at, touch);
        let Detect { shared, histories, .. } = &mut self.memory.detect;
        let next = shared.of(histories.accesses(own));
        self.drop_history(own);
        next.unwrap_or_else(|| {
            accesses::add_thinned();
            NO_SHARED_HISTORY
        })
    }

    /// Makes a cell part of a variable. What is known of it goes on in its history.
    pub(crate) fn share_cell(&mut self, cell: *mut Cell, object: ObjectId) {
        let history = self.history_of(cell);
        // SAFETY: the caller has a cell, which has a partner.
        unsafe {
            if !(*cell).is_owned() {
                self.memory.shadow.log(cell);
            }
            *cell = Cell::variable(object);
            *Shadow::reads(cell) = Cell::of_history(history);
        }
    }

    /// Do an owner's accesses happen before whatever the thread that runs does now?
    #[inline]
    fn is_all_before(&self, cell: *mut Cell) -> bool {
        // SAFETY: the caller has a cell, which has a partner.
        let (writes, reads) = unsafe { (*cell, *Shadow::reads(cell)) };
        let is_before = |it: Cell| {
            it.mask() == 0 || self.memory.detect.causality.is_before(it.segment(), self.me)
        };
        writes.is_owned() && is_before(writes) && (!reads.is_owned() || is_before(reads))
    }

    /// The history of a variable; of other memory, one made from what its cell says.
    fn history_of(&mut self, cell: *mut Cell) -> HistoryId {
        // SAFETY: the caller has a cell, which has a partner.
        let (writes, reads) = unsafe { (*cell, *Shadow::reads(cell)) };
        match writes.state() {
            State::Variable(_) => reads.history(),
            State::ReadShared(NO_SHARED_HISTORY) => NO_HISTORY,
            _ if !self.memory.detect.is_on => NO_HISTORY,
            State::ReadShared(history) => {
                let detect = &mut self.memory.detect;
                let own = detect.histories.add();
                detect.shared.accesses(history).for_each(|it| detect.histories.note(own, &it));
                own
            }
            _ => self.memory.detect.history_with(accesses_of_owner(writes, reads)),
        }
    }

    /// A cell is used for something else: its history, if it has one, ends.
    pub(crate) fn end_history(&mut self, cell: *mut Cell) {
        // SAFETY: the caller has a cell, which has a partner.
        let (writes, reads) = unsafe { (*cell, *Shadow::reads(cell)) };
        if let State::Variable(_) = writes.state() {
            self.drop_history(reads.history());
        }
    }

    /// An access has faulted, and the program goes on: it never happened, and nothing is known of that memory.
    pub(crate) fn forget_faulted(&mut self, fault: usize) {
        const PAGE: usize = 4096;
        const SIZE_MAX: usize = 16;
        let start = fault & !3;
        let end = (start + SIZE_MAX).min((fault | (PAGE - 1)) + 1);
        for at in (start..end).step_by(4) {
            let cell = self.memory.shadow.own_cell(at);
            // What is watched is one object's altogether.
            if cell.is_null() || cell != self.memory.shadow.cell(at) {
                continue;
            }
            // SAFETY: not null, so a cell, which has a partner.
            let state = unsafe { *cell }.state();
            if matches!(state, State::Untouched | State::Sync(_) | State::Freed | State::Outside) {
                continue;
            }
            self.end_history(cell);
            self.memory.shadow.log(cell);
            // SAFETY: as above.
            unsafe { (*cell, *Shadow::reads(cell)) = (Cell::UNTOUCHED, Cell::UNTOUCHED) };
        }
    }

    fn drop_history(&mut self, history: HistoryId) {
        if history != NO_HISTORY {
            self.memory.detect.histories.remove(history);
        }
    }

    /// The thread that runs makes an access now: held against what is known of its variables.
    #[inline]
    pub(crate) fn inspect(&mut self, touch: &Touch) {
        if !self.memory.detect.is_on {
            return;
        }
        let mut at = touch.address & !3;
        while at < touch.address + touch.size {
            let cell = self.memory.shadow.cell(at);
            if cell.is_null() {
                return;
            }
            // SAFETY: not null, so a cell, which has a partner.
            let (writes, reads) = unsafe { (*cell, *Shadow::reads(cell)) };
            if let State::Variable(object) = writes.state() {
                if matches!(touch.kind, OpKind::Write | OpKind::ReadWrite) {
                    self.memory.detect.forget_value(object);
                    self.memory.weak.forget(touch.address, touch.size);
                }
                self.inspect_word(reads.history(), cell, at, touch);
            }
            at += 4;
        }
    }

    fn inspect_word(
        &mut self,
        history: HistoryId,
        cell: *const Cell,
        at: usize,
        touch: &Touch,
    ) -> Option<Conflict> {
        if history == NO_HISTORY || !self.memory.detect.is_on {
            return None;
        }
        let segment = self.now();
        let site = self.site_of(touch);
        let accessed = Accessed::new(touch.kind, touch.mask(at), segment, site);
        let Detect { histories, causality, .. } = &mut self.memory.detect;
        let conflict = histories.access(history, self.me, &accessed, causality);
        if self.memory.shadow.is_watched(cell) {
            self.log(at, touch, segment);
        }
        if let Some(conflict) = conflict {
            self.found(at, touch, &conflict);
        }
        conflict
    }

    /// Where an access is made.
    #[inline]
    pub(crate) fn site_of(&mut self, touch: &Touch) -> SiteId {
        touch.site.get().unwrap_or_else(|| {
            let site = self.site(touch.caller);
            touch.site.set(Some(site));
            site
        })
    }

    #[cold]
    fn found(&mut self, at: usize, touch: &Touch, conflict: &Conflict) {
        let is_sure = !self.memory.detect.causality.is_before_unhooked(conflict.earlier.segment);
        if is_sure && !self.is_benign(touch.address, touch.size) {
            self.tell_race(at, touch, conflict);
        }
        self.expose_memory(self.memory.shadow.cell(at), touch);
    }

    /// An atomic op was performed on a variable: what it orders, and what it races with.
    #[inline(never)]
    pub(crate) fn inspect_atomic(
        &mut self,
        touch: &Touch,
        object: ObjectId,
        atomic: Atomic,
        seen: u64,
    ) {
        if !self.memory.detect.is_on || self.scheduler.machine.n_threads() == 1 {
            return;
        }
        self.classify(&touch.with_kind(atomic.access()));
        let (offset, _) = self.recorder.emit.bytes_of(object, touch.address, touch.size);
        let window = Window { object, offset: offset as usize };
        if self.memory.detect.is_foreign(self.me, window, touch, atomic, seen) {
            self.memory.detect.causality.know_all_at(self.me, object);
        }
        let bytes = touch.bytes();
        self.acquire_annotated(bytes, atomic);
        self.for_objects(touch, object, |causality, me, object| {
            causality.before_atomic(me, object, bytes, atomic);
        });
        self.inspect(&touch.with_kind(atomic.access()));
        self.for_objects(touch, object, |causality, me, object| {
            causality.after_atomic(me, object, bytes, atomic);
        });
        self.set_mine();
    }

    /// The same, where the rules of weak memory say what is ordered: before the op passes on anything. What is in memory
    /// was `found` there before it.
    pub(super) fn inspect_weakly(
        &mut self,
        touch: &Touch,
        object: ObjectId,
        atomic: Atomic,
        found: u64,
    ) {
        self.classify(&touch.with_kind(atomic.access()));
        let (offset, _) = self.recorder.emit.bytes_of(object, touch.address, touch.size);
        let window = Window { object, offset: offset as usize };
        if self.memory.detect.is_foreign(self.me, window, touch, atomic, found) {
            self.memory.detect.causality.know_all_at(self.me, object);
        }
        let bytes = touch.bytes();
        self.acquire_annotated(bytes, atomic);
        // What wakes of a futex pass on, and code without hooks.
        self.for_objects(touch, object, |causality, me, object| {
            causality.before_atomic(me, object, bytes, atomic);
        });
        self.inspect(&touch.with_kind(atomic.access()));
    }

    /// Each variable that an access is to. One is the rule; but four bytes may have been one before eight were.
    #[inline]
    fn for_objects(
        &mut self,
        touch: &Touch,
        first: ObjectId,
        mut each: impl FnMut(&mut Causality, ThreadId, ObjectId),
    ) {
        each(&mut self.memory.detect.causality, self.me, first);
        let mut at = (touch.address & !3) + 4;
        while at < touch.address + touch.size {
            if let Some(object) = self.known_variable(at).filter(|it| *it != first) {
                each(&mut self.memory.detect.causality, self.me, object);
            }
            at += 4;
        }
    }

    /// The thread that runs comes after what atomic ops have released at an address.
    pub(super) fn acquire_atomics(&mut self, address: usize) {
        if let Some(object) = self.known_variable(address).filter(|_| self.memory.detect.is_on) {
            let bytes = Bytes { start: address as u64, size: 1 };
            self.memory.detect.causality.acquire_bytes(self.me, object, bytes);
        }
    }

    /// Memory is freed: who has used it must have been before. Ends all histories in it.
    pub(crate) fn inspect_free(&mut self, address: usize, size: usize, caller: Caller) {
        if !self.memory.detect.is_on || self.scheduler.machine.n_threads() == 1 {
            return;
        }
        self.memory.weak.forget(address, size);
        let is_judged = !self.is_system_code(caller.pc);
        let mut found = None;
        let mut next = address & !3;
        while let Some(part) = self.memory.shadow.next_touched(next, address + size) {
            for at in part.clone().step_by(4) {
                let cell = self.memory.shadow.cell(at);
                // SAFETY: memory that was touched has cells.
                let writes = unsafe { *cell };
                let is_own =
                    writes.is_owned() && self.memory.detect.owner(writes.segment()) == self.me;
                if writes == Cell::UNTOUCHED || is_own {
                    continue;
                }
                let touch = Touch::new(at, 4, OpKind::Free, caller);
                if is_judged && found.is_none() {
                    found = self.inspect_freed(cell, at, &touch);
                }
                if !writes.is_owned() {
                    self.end_history(cell);
                }
            }
            next = part.end;
        }
    }

    fn inspect_freed(&mut self, cell: *mut Cell, at: usize, touch: &Touch) -> Option<Conflict> {
        // SAFETY: the caller has a cell, which has a partner.
        let (writes, reads) = unsafe { (*cell, *Shadow::reads(cell)) };
        match writes.state() {
            State::Variable(_) => self.inspect_word(reads.history(), cell, at, touch),
            State::Owned(..) if self.is_all_before(cell) => None,
            State::Owned(..) | State::ReadShared(_) => {
                let history = self.history_of(cell);
                let conflict = self.inspect_word(history, cell, at, touch);
                self.drop_history(history);
                conflict
            }
            State::Untouched | State::Sync(_) | State::Freed | State::Outside => None,
        }
    }

    /// Brings the cells of the thread that runs up to date: another thread runs, or is the only one, or its
    /// segment is another.
    #[inline]
    pub(crate) fn set_mine(&mut self) {
        let segment = self.memory.detect.open_segment(self.me);
        if segment == Segment::NONE
            || self.scheduler.points.want_every_access()
            || self.is_ignoring()
        {
            self.hot.mine = Cell::NOBODYS.twice();
            self.hot.mine_written = Cell::NOBODYS.twice();
            return;
        }
        let is_alone = self.scheduler.machine.is_alone();
        self.hot.owners = self.memory.detect.causality.owners();
        self.hot.mine = Cell::owned(segment, Cell::WHOLE, false).twice();
        self.hot.mine_written = Cell::owned(segment, Cell::WHOLE, !is_alone).twice();
    }
}
