//! Plain accesses to memory: most are nobody else's business, and cost a look at one cell.
//!
//! Seed paper 1's classification, as far as one execution can see it (`shadow` has the states). What
//! an execution learns, that a variable is shared after all, is told to the launcher by name, and
//! known from the first access on in later executions.

use crate::control::Control;
use std::sync::atomic::Ordering::Relaxed;

use raddle_model::{Flags, ObjectId, Op, OpKind, Points};

use crate::{
    abi::x86_64::peek,
    control::{Inside, control, enter_if, is_tracking, may_enter_again},
    memory::freed::require_live,
    record::stack::Caller,
    schedule::{signals::leave, step::step, waiting::stare},
    state::{
        accesses::{self, N_MET, Written},
        detect::Touch,
        shadow::{Cell, Shadow, State},
    },
};

/// An access of `SIZE` bytes (1, 2, 4 or 8) that was not settled by one look at its cell: what is the
/// thread's own still is settled by a second, in a new segment.
#[inline(never)]
pub(crate) fn access<const SIZE: usize, const IS_WRITE: bool>(
    address: usize,
    pc: usize,
    sp: usize,
) {
    if !is_tracking() {
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
    if address.is_multiple_of(SIZE) && unsafe { is_settled::<SIZE, IS_WRITE>(address) } {
        return;
    }
    let kind = if IS_WRITE { OpKind::Write } else { OpKind::Read };
    range(address, SIZE, kind, Caller { pc, sp });
}

/// Is an aligned access one to memory that is the thread's own, or nobody's yet? Then it is settled here: the segment is
/// another than that of the thread's last access, or the bytes are, and that is all. So it is if the thread reads
/// what several read.
#[inline(always)]
unsafe fn is_settled<const SIZE: usize, const IS_WRITE: bool>(address: usize) -> bool {
    // SAFETY: the thread that runs, outside every hook, may change its own cells; aligned cells of one
    // access are side by side, and have partners.
    unsafe {
        let control = control();
        if !may_enter_again() || (*control).hot.mine == Cell::NOBODYS.twice() {
            return false;
        }
        let cell = (*control).memory.shadow.own_cell(address);
        if cell.is_null() {
            return false;
        }
        let mask = if SIZE < 4 { ((1 << SIZE) - 1) << (address & 3) } else { Cell::WHOLE };
        let mine = if IS_WRITE { (*control).hot.mine_written } else { (*control).hot.mine };
        let new = Cell::from_twice(mine).with_mask(mask);
        for idx in 0..SIZE.div_ceil(4) {
            let (cell, at) = (cell.add(idx), (address & !3) + 4 * idx);
            let it = *cell;
            if it.is_owned() {
                if (*control).memory.detect.owner(it.segment()) != (*control).me {
                    if !(*control).is_anybodys() {
                        return false;
                    }
                    *cell = new.with_mask(0);
                }
            } else if it == Cell::UNTOUCHED {
                if (*control).memory.shadow.has_log() || !(*control).is_clearly_unshared(at) {
                    return false;
                }
                if !IS_WRITE {
                    *cell = new.with_mask(0);
                }
            } else if IS_WRITE || !(*control).is_shared_read(cell, mask) {
                return false;
            } else {
                continue;
            }
            let to = if IS_WRITE { cell } else { Shadow::reads(cell) };
            *to = (*to).and(new);
        }
        true
    }
}

/// An access to any range.
#[inline(never)]
pub(crate) fn range(address: usize, size: usize, kind: OpKind, caller: Caller) {
    let Some(mut inside) = enter_if(size != 0 && is_tracking()) else { return };
    let touch = Touch::new(address, size, kind, caller);
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        if inside.is_ignored(kind) {
            return leave((), inside);
        }
        inside.classify(&touch);
        let is_alone = inside.scheduler.machine.is_alone();
        if is_alone {
            inside.note_lone_look(caller.pc);
        }
        let is_told = !is_alone || inside.tells_lone();
        if let Some(object) = inside.touch(&touch) {
            if is_told && is_wanted(&mut inside, object, &touch) && is_due(&mut inside) {
                visible(&mut inside, object, &touch, Flags::NONE);
            }
            inside.inspect(&touch);
        } else if inside.scheduler.points == Points::All {
            of_all(&mut inside, &touch, is_told);
        }
    }
    leave((), inside);
}

/// An access to memory that nobody else has touched, where all accesses are points.
unsafe fn of_all(inside: &mut Inside, touch: &Touch, is_told: bool) {
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let cell = inside.memory.shadow.cell(touch.address);
        let is_lock = cell.is_null() || matches!((*cell).state(), State::Sync(_));
        if !is_lock && is_told && is_due(inside) {
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
    let Some(mut inside) = enter_if(is_tracking()) else { return };
    let touch = Touch::new(address, size, kind, caller);
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let cell = inside.memory.shadow.cell(address);
        let is_lock = cell.is_null() || matches!((*cell).state(), State::Sync(_));
        if is_lock {
            inside.touch(&touch);
            return leave((), inside);
        }
        require_live(&mut inside, &touch, ObjectId::NONE);
        inside.classify(&touch);
        let object = inside.variables(address, size);
        if !inside.scheduler.machine.is_alone() || inside.tells_lone() {
            visible(&mut inside, object, &touch, Flags::VOLATILE);
        }
        inside.inspect(&touch);
    }
    leave((), inside);
}

/// Is an access to a variable worth a step? A race is seen whether it is one or not.
#[inline]
fn is_wanted(control: &mut Control, object: ObjectId, touch: &Touch) -> bool {
    let is_all = control.scheduler.points == Points::All || control.is_among_last();
    if is_all || control.recorder.emit.is_exposed(object) || accesses::take_quiet() {
        return true;
    }
    is_awaited(control, object, touch)
}

/// Does the thread that runs read the same again and again? Who waits must be seen to wait.
fn is_awaited(control: &mut Control, object: ObjectId, touch: &Touch) -> bool {
    let Touch { address, size, kind, caller, .. } = *touch;
    if kind != OpKind::Read || size > 8 {
        control.this().spin.reset();
        return false;
    }
    let site = control.site_of(touch);
    // SAFETY: the program is about to read there.
    let value = unsafe { look(control, address, size, caller) };
    let spin = &mut control.this().spin;
    spin.read(site, object, value);
    spin.flags() != Flags::NONE
}

/// A read of memory that nobody else may know yet, by a thread that waits for it to change: it is a step, and so are
/// those to come.
pub(crate) unsafe fn watch(inside: &mut Inside, touch: &Touch) {
    let object = inside.variables(touch.address, touch.size);
    if inside.is_order_unasked() {
        // No race will show that others know it.
        inside.recorder.emit.set_exposed(object);
    }
    // SAFETY: the caller promises that the program is about to read there.
    unsafe { visible(inside, object, touch, Flags::SPIN) };
    inside.inspect(touch);
}

/// Is an access to a variable a step? All are, until a quarter of the budget is spent: then a program
/// that simply works on shared memory for long is more likely than one that goes round in circles, and
/// the more is spent, the fewer accesses are steps. Who spins is told from who works by then. (Of the last ones all are:
/// they decide.)
fn is_due(control: &mut Control) -> bool {
    let (n_steps, budget) = (control.recorder.emit.n_steps, control.scheduler.max_steps);
    if n_steps < budget / 4 || control.is_among_last() {
        return true;
    }
    let every = if n_steps < budget / 2 { 16 } else { 256 };
    let is_due = N_MET.fetch_add(1, Relaxed).is_multiple_of(every)
        || control.this().spin.flags() != Flags::NONE;
    if !is_due {
        accesses::add_thinned();
    }
    is_due
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
        require_live(inside, touch, object);
        let mut seen = 0;
        if size <= 8 && kind != OpKind::Write {
            seen = look(inside, address, size, caller);
            inside.recorder.emit.set_value(seen, size as u8);
            inside.this().spin.read(site, object, seen);
        } else if size <= 8 && !inside.recorder.options.is_null() {
            inside.memory.written = Written { address, size, is_update: false };
        }
        inside.note_step(&op, seen);
    }
}

/// The same for a caller who has not read it yet: if it must not, the fault is the caller's.
unsafe fn look(control: &mut Control, address: usize, size: usize, caller: Caller) -> u64 {
    control.memory.peeks_from = Some(caller);
    // The handler of a fault reads it, and the compiler knows nothing of that.
    let control = std::hint::black_box(control);
    // SAFETY: the program's promise is passed on.
    let value = unsafe { peek(address, size) };
    control.memory.peeks_from = None;
    value
}
