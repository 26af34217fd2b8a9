//! What is left of an object that was destroyed, or whose memory was freed. POSIX lets an
//! implementation write an invalid value into a destroyed object: ours is a mark in its first word,
//! which initialisation, dynamic or static, overwrites. (Mutexes have a mark of their own.)

use raddle_model::{End, Misuse, ObjectId, SiteId};

use crate::{
    control::Inside,
    memory::freed::end_freed,
    record::stack::Caller,
    state::shadow::{Cell, State},
    tell::end,
};

const MARK: u32 = 0xdead_0b1e;

/// Marks the object at an address as destroyed.
pub(super) unsafe fn mark(address: usize) {
    // SAFETY: the program promises an object, which has at least four bytes, and has given it up.
    unsafe { (address as *mut u32).write_volatile(MARK) };
}

/// Ends the execution if an op has just been performed on memory that was freed while it waited for
/// its turn.
#[inline]
pub(super) unsafe fn check_freed(
    inside: &mut Inside,
    address: usize,
    object: ObjectId,
    site: SiteId,
) {
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        let cell = inside.memory.shadow.cell(address);
        if !cell.is_null() && *cell == Cell::FREED {
            end_freed(inside, Misuse::UseAfterFree, address, site, object);
        }
    }
}

/// Ends the execution if the object at an address is none any more.
pub(super) unsafe fn check(inside: &mut Inside, address: usize, caller: Caller) {
    // SAFETY: the program promises an object; the thread that runs is inside a hook.
    unsafe {
        let cell = inside.memory.shadow.cell(address);
        let state = if cell.is_null() { State::Untouched } else { (*cell).state() };
        let misuse = if state == State::Freed {
            Misuse::UseAfterFree
        } else if (address as *const u32).read_volatile() == MARK {
            Misuse::UseDestroyed
        } else {
            return;
        };
        let object = if let State::Sync(object) = state { object } else { ObjectId::NONE };
        let site = inside.site(caller);
        match misuse {
            Misuse::UseAfterFree => end_freed(inside, misuse, address, site, object),
            _ => end::end_about(inside, End::Misuse(misuse), site, object, b""),
        }
    }
}
