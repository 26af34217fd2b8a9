//! Plain accesses to memory: most are nobody else's business, and cost a look at one cell.
//!
//! Seed paper 1's classification, as far as one execution can see it (`shadow` has the states). What
//! an execution learns, that a variable is shared after all, is told to the launcher by name, and
//! known from the first access on in later executions.

use std::{
    arch::naked_asm,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use raddle_analysis::hb::Segment;
use raddle_model::{Flags, Misuse, ObjectId, Op, OpKind, Points};

use crate::{
    control::{Caller, Control, Inside, control, enter_if, leave, looks, may_enter},
    memory::{detect::Touch, freed::end_freed},
    schedule::{step::step, waiting::stare},
    state::shadow::{Cell, Shadow, State},
};

/// An access of `SIZE` bytes (1, 2, 4 or 8) that was not settled by one look at its cell: what is the
/// thread's own still is settled by a second, in a new segment.
#[inline(never)]
pub(crate) fn access<const SIZE: usize, const IS_WRITE: bool>(
    address: usize,
    pc: usize,
    sp: usize,
) {
    if !looks() {
        return;
    }
    // SAFETY: active means initialised.
    if !IS_WRITE && unsafe { (*control()).hot.patience } < 0 {
        let touch = Touch::new(address, SIZE, OpKind::Read, Caller { pc, sp });
        if stare(&touch) {
            return;
        }
    }
    // SAFETY: active means initialised.
    if SIZE >= 4 && address.is_multiple_of(SIZE) && unsafe { is_settled::<SIZE, IS_WRITE>(address) }
    {
        return;
    }
    let kind = if IS_WRITE { OpKind::Write } else { OpKind::Read };
    range(address, SIZE, kind, Caller { pc, sp });
}

/// Is an aligned access to whole cells to memory that is the thread's own? Then it is settled here: the
/// segment is another than that of the thread's last access, and that is all.
#[inline(always)]
unsafe fn is_settled<const SIZE: usize, const IS_WRITE: bool>(address: usize) -> bool {
    // SAFETY: the thread that runs, outside every hook, may change its own cells; aligned cells of one
    // access are side by side, and have partners.
    unsafe {
        let control = control();
        if !may_enter() || (*control).hot.mine == Cell::NOBODYS.twice() {
            return false;
        }
        let cell = (*control).memory.shadow.own_cell(address);
        if cell.is_null() {
            return false;
        }
        let me = (*control).me;
        let is_own =
            |cell: Cell| cell.is_owned() && (*control).memory.detect.owner(cell.segment()) == me;
        if !is_own(*cell) || SIZE == 8 && !is_own(*cell.add(1)) {
            return false;
        }
        let (to, mine) = match IS_WRITE {
            true => (cell, (*control).hot.mine_written),
            false => (Shadow::reads(cell), (*control).hot.mine),
        };
        if SIZE == 8 {
            to.cast::<u64>().write(mine);
        } else {
            to.cast::<u32>().write(mine as u32);
        }
        true
    }
}

/// An access to any range.
#[inline(never)]
pub(crate) fn range(address: usize, size: usize, kind: OpKind, caller: Caller) {
    let Some(mut inside) = enter_if(size != 0 && looks()) else { return };
    let touch = Touch::new(address, size, kind, caller);
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        if inside.is_ignored(kind) {
            return leave((), inside);
        }
        if let Some(object) = inside.touch(&touch) {
            if inside.scheduler.machine.n_live() > 1 && is_wanted(object, &touch) && is_due() {
                visible(&mut inside, object, &touch, Flags::NONE);
            }
            inside.inspect(&touch);
        } else if inside.scheduler.points == Points::All {
            of_all(&mut inside, &touch);
        }
    }
    leave((), inside);
}

/// An access to memory that nobody else has touched, where all accesses are points.
unsafe fn of_all(inside: &mut Inside, touch: &Touch) {
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let cell = inside.memory.shadow.cell(touch.address);
        let is_lock = cell.is_null() || matches!((*cell).state(), State::Sync(_));
        if !is_lock && inside.scheduler.machine.n_live() > 1 && is_due() {
            let object = inside.variables(touch.address, touch.size);
            visible(inside, object, touch, Flags::NONE);
        }
    }
}

/// An access to a volatile object: those are made for others to see, so it is always a step. (Who waits
/// for a volatile flag would wait for ever if the flag were its own until another writes it.) It orders nothing, and
/// races as any other plain access does.
#[cold]
#[inline(never)]
pub(crate) fn volatile(address: usize, size: usize, kind: OpKind, caller: Caller) {
    let Some(mut inside) = enter_if(looks()) else { return };
    let touch = Touch::new(address, size, kind, caller);
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let cell = inside.memory.shadow.cell(address);
        let is_lock = cell.is_null() || matches!((*cell).state(), State::Sync(_));
        if is_lock {
            inside.touch(&touch);
            return leave((), inside);
        }
        let object = inside.variables(address, size);
        if inside.scheduler.machine.n_live() > 1 {
            visible(&mut inside, object, &touch, Flags::VOLATILE);
        }
        inside.inspect(&touch);
    }
    leave((), inside);
}

/// So many accesses of an execution to variables that nobody has raced for are steps: they say what happened, and
/// change nothing. Of a program that does little else, a reader has seen enough by then.
const QUIET_MAX: u64 = 1 << 12;

/// Those that there were.
static N_QUIET: AtomicU64 = AtomicU64::new(0);

/// Is an access to a variable worth a step? A race is seen whether it is one or not.
#[inline]
unsafe fn is_wanted(object: ObjectId, touch: &Touch) -> bool {
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        let control = control();
        let is_all = (*control).scheduler.points == Points::All || (*control).is_among_last();
        if is_all || (*control).recorder.emit.is_exposed(object) {
            return true;
        }
        // One thread runs at a time: no need to be atomic.
        let n_quiet = N_QUIET.load(Relaxed);
        if n_quiet < QUIET_MAX {
            N_QUIET.store(n_quiet + 1, Relaxed);
            return true;
        }
        is_awaited(object, touch)
    }
}

/// Does the thread that runs read the same again and again? Who waits must be seen to wait.
unsafe fn is_awaited(object: ObjectId, touch: &Touch) -> bool {
    let Touch { address, size, kind, caller, .. } = *touch;
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        if kind != OpKind::Read || size > 8 {
            (*control()).this().spin.reset();
            return false;
        }
        let site = (*control()).site_of(touch);
        let value = look(address, size, caller);
        (*control()).this().spin.read(site, object, value);
        (*control()).this().spin.flags() != Flags::NONE
    }
}

/// A read of memory that nobody else may know yet, by a thread that waits for it to change: it is a step, and so are
/// those to come.
pub(crate) unsafe fn watch(touch: &Touch) {
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let object = (*control()).variables(touch.address, touch.size);
        visible(&mut Inside::assume(), object, touch, Flags::SPIN);
        (*control()).inspect(touch);
    }
}

/// Accesses to variables since a budget has run short, and those of them that were left out.
static N_MET: AtomicU64 = AtomicU64::new(0);
static N_THINNED: AtomicU64 = AtomicU64::new(0);

/// Begins another execution.
pub(crate) fn restart() {
    N_MET.store(0, Relaxed);
    N_THINNED.store(0, Relaxed);
    N_QUIET.store(0, Relaxed);
}

/// Accesses to variables that were left out so far.
pub(crate) fn n_thinned() -> u32 {
    u32::try_from(N_THINNED.load(Relaxed)).unwrap_or(u32::MAX)
}

/// Is an access to a variable a step? All are, until a quarter of the budget is spent: then a program
/// that simply works on shared memory for long is more likely than one that goes round in circles, and
/// the more is spent, the fewer accesses are steps. Who spins is told from who works by then. (Of the last ones all are:
/// they decide.)
unsafe fn is_due() -> bool {
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        let (n_steps, budget) =
            ((*control()).recorder.emit.n_steps, (*control()).scheduler.max_steps);
        if n_steps < budget / 4 || (*control()).is_among_last() {
            return true;
        }
        let every = if n_steps < budget / 2 { 16 } else { 256 };
        let is_due = N_MET.fetch_add(1, Relaxed).is_multiple_of(every)
            || (*control()).this().spin.flags() != Flags::NONE;
        N_THINNED.fetch_add(u64::from(!is_due), Relaxed);
        is_due
    }
}

unsafe fn visible(inside: &mut Inside, object: ObjectId, touch: &Touch, flags: Flags) {
    let Touch { address, size, kind, caller, .. } = *touch;
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let site = inside.site_of(touch);
        let (offset, n_bytes) = inside.recorder.emit.bytes_of(object, address, size);
        let mut op = Op { flags, ..Op::on(kind, object, site).bytes(offset, n_bytes) };
        if kind == OpKind::Read {
            op.flags = flags.with(inside.this().spin.flags());
        } else {
            inside.this().spin.reset();
        }
        step(inside, op);
        let cell = inside.memory.shadow.cell(address);
        if !cell.is_null() && (*cell).state() == State::Freed {
            end_freed(Misuse::UseAfterFree, address, site, object);
        }
        let mut seen = 0;
        if size <= 8 && kind != OpKind::Write {
            seen = look(address, size, caller);
            inside.recorder.emit.set_value(seen, size as u8);
            inside.this().spin.read(site, object, seen);
        } else if size <= 8 && !inside.recorder.options.is_null() {
            inside.memory.written = Written { address, size };
        }
        inside.note_step(&op, seen);
    }
}

/// A write to memory of which the hook came first: its value is there when its thread comes to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    address: usize,
    /// 0 for none.
    size: usize,
}

impl Written {
    pub(crate) const NONE: Written = Written { address: 0, size: 0 };
}

/// The same for a caller who has not read it yet: if it must not, the fault is the caller's.
unsafe fn look(address: usize, size: usize, caller: Caller) -> u64 {
    // SAFETY: the thread that runs is inside a hook; the program's promise is passed on.
    unsafe {
        (*control()).memory.peeks_from = Some(caller);
        let value = peek(address, size);
        (*control()).memory.peeks_from = None;
        value
    }
}

/// The value at an address that the program is about to read, of up to eight bytes. It may fault as the program
/// will: who handles that goes on in [`nothing_there`], and so this uses no stack.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn peek(address: usize, size: usize) -> u64 {
    naked_asm!(
        "xor eax, eax",
        "cmp rsi, 4",
        "jne 2f",
        "mov eax, [rdi]",
        "ret",
        "2: cmp rsi, 8",
        "jne 3f",
        "mov rax, [rdi]",
        "ret",
        "3: test rsi, rsi",
        "jz 4f",
        "dec rsi",
        "shl rax, 8",
        "mov al, [rdi + rsi]",
        "jmp 3b",
        "4: ret",
    )
}

/// At least as many bytes as [`peek`] has.
const PEEK_BYTES: usize = 48;

/// Is this instruction one of [`peek`]'s?
pub(crate) fn is_peek(pc: usize) -> bool {
    let start = peek as *const () as usize;
    (start..start + PEEK_BYTES).contains(&pc)
}

/// The rest of a [`peek`] at memory that is not there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn nothing_there() -> u64 {
    naked_asm!("xor eax, eax", "ret")
}

impl Control {
    /// Brings the cells of a range up to date. The variable that the access is to, if any: that one is
    /// still to be made, as a step if others are alive.
    fn touch(&mut self, touch: &Touch) -> Option<ObjectId> {
        let is_alone = self.scheduler.machine.n_live() == 1;
        let is_write = touch.kind != OpKind::Read;
        let mut variable = None;
        let end = touch.address + touch.size;
        let mut at = if touch.address.is_multiple_of(4) {
            self.touch_own(touch.address, end, is_write)
        } else {
            touch.address & !3
        };
        while at < end {
            let cell = self.memory.shadow.cell(at);
            if cell.is_null() {
                return None;
            }
            // SAFETY: not null, so a cell.
            match unsafe { *cell }.state() {
                State::Owned(segment, _) if self.memory.detect.owner(segment) == self.me => {
                    self.access_own(cell, at, touch);
                }
                State::Sync(_) => {}
                State::Freed => self.used_after_free(at, touch),
                State::Variable(object) => variable = variable.or(Some(object)),
                State::Untouched => {
                    if self.scheduler.shared.is_empty() || !self.is_named_shared(at) {
                        self.access_own(cell, at, touch);
                    } else {
                        let object = self.share(cell, at, variable);
                        self.recorder.emit.set_exposed(object);
                        variable = Some(object);
                    }
                }
                State::Owned(..) | State::ReadShared(_) if is_alone => {
                    self.take_over(cell, at, touch);
                }
                State::Owned(_, false) | State::ReadShared(_) if !is_write => {
                    self.read_shared(cell, at, touch);
                }
                State::Owned(..) | State::ReadShared(_) => {
                    let object = self.share(cell, at, variable);
                    variable = Some(object);
                    if !self.memory.detect.is_on() {
                        self.recorder.emit.set_exposed(object);
                        self.tell_exposed_at(at);
                    }
                }
            }
            at += 4;
        }
        variable
    }

    /// The same for whole words that are the thread's own or nobody's yet, which is the rule where an access is to many.
    /// Gives back where the first begins that is not.
    #[inline]
    fn touch_own(&mut self, mut at: usize, end: usize, is_write: bool) -> usize {
        let mut segment = Segment::NONE;
        while at + 4 <= end {
            let cell = self.memory.shadow.own_cell(at);
            // SAFETY: not null, so a cell.
            let Some(state) = (!cell.is_null()).then(|| unsafe { *cell }) else { break };
            let is_fresh = state == Cell::UNTOUCHED;
            let is_mine = match is_fresh {
                true => self.scheduler.shared.is_empty() || !self.is_named_shared(at),
                false => state.is_owned() && self.memory.detect.owner(state.segment()) == self.me,
            };
            if !is_mine {
                break;
            }
            if segment == Segment::NONE {
                segment = self.now();
            }
            if is_fresh {
                self.memory.shadow.log(cell);
            }
            let whole = |is_written| Cell::owned(segment, Cell::WHOLE, is_written);
            // SAFETY: as above; a cell has a partner.
            unsafe {
                match is_write {
                    true => *cell = whole(self.scheduler.machine.n_live() > 1),
                    false => *Shadow::reads(cell) = whole(false),
                }
                if is_fresh && !is_write {
                    *cell = Cell::owned(segment, 0, false);
                }
            }
            at += 4;
        }
        at
    }

    /// Notes what the last write wrote: it was the last step, and nobody else has gone on since. Must come before
    /// memory goes away.
    #[inline(always)]
    pub(crate) fn settle_write(&mut self) {
        let Written { address, size } = self.memory.written;
        if size > 0 {
            self.memory.written = Written::NONE;
            // SAFETY: the program has just written there.
            self.recorder.emit.set_written(unsafe { peek(address, size) }, size as u8);
        }
    }

    fn used_after_free(&mut self, at: usize, touch: &Touch) {
        if self.process.is_execution {
            let site = self.site_of(touch);
            end_freed(Misuse::UseAfterFree, at.max(touch.address), site, ObjectId::NONE);
        }
    }

    /// Makes a cell part of a variable.
    fn share(&mut self, cell: *mut Cell, at: usize, variable: Option<ObjectId>) -> ObjectId {
        let object = variable.unwrap_or_else(|| self.make_variable(at));
        // SAFETY: the caller has a cell.
        if !matches!(unsafe { *cell }.state(), State::Variable(_)) {
            self.share_cell(cell, object);
        }
        object
    }

    /// Does the plan say that the variable at an address is shared? Asked at the first access to every
    /// four bytes, and most of those come one after the other.
    fn is_named_shared(&mut self, at: usize) -> bool {
        let (start, end, hash) = self.memory.heap.last;
        if start <= at && at < end {
            return self.is_known_shared(Control::block_name(hash, at - start));
        }
        if let Some((start, block)) = self.memory.heap.block_of(at) {
            let hash = self.block_hash(&block);
            self.memory.heap.last = (start, start + block.size, hash);
            return self.is_known_shared(Control::block_name(hash, at - start));
        }
        let name = self.describe(at, raddle_trace::ObjectClass::Variable).name;
        name != 0 && self.is_known_shared(name)
    }

    /// Exposes the objects that there are already, as far as the plan names them.
    pub(crate) fn expose_known(&mut self) {
        if self.scheduler.shared.is_empty() {
            return;
        }
        for object in (1..self.recorder.emit.n_objects() as u32).map(ObjectId) {
            if self.is_known_shared(self.recorder.emit.name_of(object)) {
                self.recorder.emit.set_exposed(object);
            }
        }
    }

    /// From now on what happens to an object is a scheduling point, here and in the executions to come.
    #[cold]
    pub(crate) fn expose(&mut self, object: ObjectId) {
        if !self.recorder.emit.is_exposed(object) {
            self.recorder.emit.set_exposed(object);
            self.tell_exposed(self.recorder.emit.name_of(object));
        }
    }

    /// Two accesses to memory were seen in a race: it is exposed.
    pub(crate) fn expose_memory(&mut self, cell: *const Cell, touch: &Touch) {
        // SAFETY: the caller has a cell.
        if let State::Variable(object) = unsafe { *cell }.state() {
            if self.recorder.emit.is_exposed(object) {
                return;
            }
            self.recorder.emit.set_exposed(object);
        }
        let words = (touch.address & !3..touch.address + touch.size).step_by(4);
        words.for_each(|at| self.tell_exposed_at(at));
    }

    fn tell_exposed_at(&mut self, at: usize) {
        let name = self.describe(at, raddle_trace::ObjectClass::Variable).name;
        self.tell_exposed(name);
    }

    /// Tells the launcher that an object is exposed, so that the next executions know.
    fn tell_exposed(&mut self, name: u64) {
        if name == 0 || self.is_known_shared(name) {
            return;
        }
        // SAFETY: the header is mapped; the names found follow the names known, within the room.
        unsafe {
            let header = &mut *self.header;
            let (n_known, n_found) =
                (header.request.n_shared as usize, header.result.n_shared_found as usize);
            let found = self.segment.shared().add(n_known);
            let is_told = (0..n_found).any(|idx| *found.add(idx) == name);
            if !is_told && n_known + n_found < self.segment.caps().shared as usize {
                *found.add(n_found) = name;
                header.result.n_shared_found += 1;
            }
        }
    }

    /// Does any other thread know this memory? Freeing it is a step then.
    pub(crate) fn shared_object_in(&self, address: usize, size: usize) -> Option<ObjectId> {
        let mut found = None;
        self.memory.shadow.for_range(address, size, |cell, _| {
            // SAFETY: `for_range` passes cells only.
            if let State::Variable(object) = unsafe { *cell }.state() {
                found = found.or(Some(object));
            }
        });
        found
    }
}
