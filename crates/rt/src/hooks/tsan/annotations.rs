//! What a program says about itself: TSan's interface (`sanitizer/tsan_interface.h`) and the older `Annotate…`
//! functions, which libraries with locks and allocators of their own call.
//!
//! Honoured: what orders (happens-before and after, acquire and release, also with an atomic at the same address; locks
//! made by hand, whose own accesses are not looked at; fibers), what is not to be looked at (reads and writes that are
//! ignored, races called benign), accesses to what others own (external tags), fresh memory of an allocator of the
//! program's own, names of threads. Others are there so that programs link, and do nothing: synchronisation that is to
//! be ignored, and what TSan itself has no use for.

use std::ffi::{CStr, c_char, c_int};

use raddle_model::{MemoryOrder, Op, OpKind};

use crate::{
    control::{control, enter, enter_if},
    hooks::{caller, export},
    schedule::{access::range, signals::leave, step::step, threads::IMPLIED},
};

export! {
    __tsan_acquire => do_acquire;
    __tsan_release => do_release;
    __tsan_mutex_create => do_nothing;
    __tsan_mutex_destroy => do_nothing;
    __tsan_mutex_pre_lock => do_ignore_all;
    __tsan_mutex_post_lock => do_locked;
    __tsan_mutex_pre_unlock => do_unlock;
    __tsan_mutex_post_unlock => do_heed_all;
    __tsan_mutex_pre_signal => do_ignore_all;
    __tsan_mutex_post_signal => do_heed_all;
    __tsan_mutex_pre_divert => do_heed_all;
    __tsan_mutex_post_divert => do_ignore_all;
    __tsan_flush_memory => do_nothing;
    __tsan_ignore_thread_begin => do_ignore_all;
    __tsan_ignore_thread_end => do_heed_all;
    __tsan_switch_to_fiber => do_switch_fiber;
    __tsan_set_fiber_name => do_nothing;
    __tsan_destroy_fiber => do_nothing;
    __tsan_get_current_fiber => do_current_fiber;
    __tsan_create_fiber => do_create_fiber;
    __tsan_external_register_tag => do_one;
    __tsan_external_register_header => do_nothing;
    __tsan_external_assign_tag => do_nothing;
    __tsan_external_read => do_external_read;
    __tsan_external_write => do_external_write;
    AnnotateHappensBefore => do_happens_before;
    AnnotateHappensAfter => do_happens_after;
    AnnotateIgnoreReadsBegin => do_ignore_reads;
    AnnotateIgnoreReadsEnd => do_heed_reads;
    AnnotateIgnoreWritesBegin => do_ignore_writes;
    AnnotateIgnoreWritesEnd => do_heed_writes;
    AnnotateIgnoreSyncBegin => do_nothing;
    AnnotateIgnoreSyncEnd => do_nothing;
    AnnotateBenignRaceSized => do_benign_sized;
    AnnotateBenignRace => do_benign;
    AnnotateRWLockCreate => do_nothing;
    AnnotateRWLockCreateStatic => do_nothing;
    AnnotateRWLockDestroy => do_nothing;
    AnnotateRWLockAcquired => do_rwlock_acquired;
    AnnotateRWLockReleased => do_rwlock_released;
    AnnotateThreadName => do_name;
    AnnotateNewMemory => do_new_memory;
    RunningOnValgrind => do_zero;
    ValgrindSlowdown => do_slowdown;
    WTFAnnotateHappensBefore => do_happens_before;
    WTFAnnotateHappensAfter => do_happens_after;
    WTFAnnotateBenignRaceSized => do_benign_sized;
    AnnotateCondVarSignal => do_nothing;
    AnnotateCondVarSignalAll => do_nothing;
    AnnotateCondVarWait => do_nothing;
    AnnotateEnableRaceDetection => do_nothing;
    AnnotateExpectRace => do_nothing;
    AnnotateFlushExpectedRaces => do_nothing;
    AnnotateFlushState => do_nothing;
    AnnotateMemoryIsInitialized => do_nothing;
    AnnotateMemoryIsUninitialized => do_nothing;
    AnnotateMutexIsNotPHB => do_nothing;
    AnnotateMutexIsUsedAsCondVar => do_nothing;
    AnnotateNoOp => do_nothing;
    AnnotatePCQCreate => do_nothing;
    AnnotatePCQDestroy => do_nothing;
    AnnotatePCQGet => do_nothing;
    AnnotatePCQPut => do_nothing;
    AnnotatePublishMemoryRange => do_nothing;
    AnnotateTraceMemory => do_nothing;
    AnnotateUnpublishMemoryRange => do_nothing;
}

extern "C" fn do_nothing() {}

extern "C" fn do_zero() -> usize {
    0
}

/// TSan's answer.
extern "C" fn do_slowdown() -> f64 {
    10.0
}

extern "C" fn do_one() -> usize {
    1
}

/// What a program says that orders it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Acquire,
    /// A lock that is held alone: after those who read under it, too.
    AcquireAlone,
    Release,
    /// To whoever holds the lock alone.
    ReleaseShared,
}

/// Synchronisation that we do not see otherwise: a step on a variable.
pub(super) fn order(address: usize, edge: Edge) {
    let caller = caller();
    let Some(mut inside) = enter() else {
        return;
    };
    let object = inside.order_at(address);
    let site = inside.site(caller);
    let is_acquire = matches!(edge, Edge::Acquire | Edge::AcquireAlone);
    let (kind, order) = match is_acquire {
        true => (OpKind::AtomicLoad, MemoryOrder::Acquire),
        false => (OpKind::AtomicStore, MemoryOrder::Release),
    };
    step(&mut inside, Op { flags: IMPLIED, ..Op::on(kind, object, site).order(order) });
    match is_acquire {
        true => inside.acquire_at(address, object, edge == Edge::AcquireAlone),
        false => inside.release_at(object, edge == Edge::ReleaseShared),
    }
    leave((), inside);
}

extern "C" fn do_acquire(address: usize) {
    order(address, Edge::Acquire);
}

extern "C" fn do_release(address: usize) {
    order(address, Edge::Release);
}

extern "C" fn do_happens_after(_file: usize, _line: c_int, address: usize) {
    order(address, Edge::Acquire);
}

extern "C" fn do_happens_before(_file: usize, _line: c_int, address: usize) {
    order(address, Edge::Release);
}

/// `__tsan_mutex_read_lock`.
const READ_LOCK: u32 = 1 << 3;
/// `__tsan_mutex_try_lock_failed`.
const TRY_LOCK_FAILED: u32 = 1 << 5;

extern "C" fn do_locked(address: usize, flags: u32, _recursion: c_int) {
    do_heed_all();
    if flags & TRY_LOCK_FAILED == 0 {
        let is_shared = flags & READ_LOCK != 0;
        order(address, if is_shared { Edge::Acquire } else { Edge::AcquireAlone });
    }
}

extern "C" fn do_unlock(address: usize, flags: u32) -> c_int {
    let is_shared = flags & READ_LOCK != 0;
    order(address, if is_shared { Edge::ReleaseShared } else { Edge::Release });
    do_ignore_all();
    1
}

extern "C" fn do_rwlock_acquired(_file: usize, _line: c_int, lock: usize, is_write: usize) {
    order(lock, if is_write == 0 { Edge::Acquire } else { Edge::AcquireAlone });
}

extern "C" fn do_rwlock_released(_file: usize, _line: c_int, lock: usize, is_write: usize) {
    order(lock, if is_write == 0 { Edge::ReleaseShared } else { Edge::Release });
}

/// An access to what a library owns: one byte stands for all.
extern "C" fn do_external_read(address: usize) {
    range(address, 1, OpKind::Read, caller());
}

extern "C" fn do_external_write(address: usize) {
    range(address, 1, OpKind::Write, caller());
}

extern "C" fn do_create_fiber(_flags: u32) -> usize {
    fiber(|| {
        // SAFETY: the thread that runs is inside a hook.
        unsafe { (*control()).add_fiber() }
    })
}

extern "C" fn do_current_fiber() -> usize {
    fiber(|| {
        // SAFETY: the thread that runs is inside a hook.
        unsafe { (*control()).fiber() }
    })
}

/// Whatever the flags say: what is ordered in addition hides a race and invents none.
extern "C" fn do_switch_fiber(fiber: usize, _flags: u32) {
    if let Some(mut inside) = enter() {
        inside.switch_fiber(fiber);
        leave((), inside);
    }
}

fn fiber(body: impl FnOnce() -> usize) -> usize {
    if let Some(inside) = enter() { leave(body(), inside) } else { 0 }
}

/// The thread's accesses of these kinds are not looked at from now on, or are again.
fn ignore(kinds: &[OpKind], is_begin: bool) {
    let Some(mut inside) = enter() else {
        return;
    };
    inside.ignore(kinds, is_begin);
    leave((), inside);
}

extern "C" fn do_ignore_all() {
    ignore(&[OpKind::Read, OpKind::Write], true);
}

extern "C" fn do_heed_all() {
    ignore(&[OpKind::Read, OpKind::Write], false);
}

extern "C" fn do_ignore_reads() {
    ignore(&[OpKind::Read], true);
}

extern "C" fn do_heed_reads() {
    ignore(&[OpKind::Read], false);
}

extern "C" fn do_ignore_writes() {
    ignore(&[OpKind::Write], true);
}

extern "C" fn do_heed_writes() {
    ignore(&[OpKind::Write], false);
}

extern "C" fn do_benign(_file: usize, _line: c_int, address: usize) {
    benign(address, 1);
}

extern "C" fn do_benign_sized(_file: usize, _line: c_int, address: usize, size: usize) {
    benign(address, size);
}

fn benign(address: usize, size: usize) {
    let Some(mut inside) = enter() else {
        return;
    };
    inside.call_benign(address, size);
    leave((), inside);
}

unsafe extern "C" fn do_name(_file: usize, _line: c_int, name: *const c_char) {
    let Some(mut inside) = enter_if(!name.is_null()) else {
        return;
    };
    // SAFETY: the program's promise of a string is passed on; the thread that runs is inside a hook.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes();
        let me = inside.me;
        let kept = &mut inside.this().name;
        *kept = [0; 16];
        let n_kept = name.len().min(kept.len() - 1);
        kept[..n_kept].copy_from_slice(&name[..n_kept]);
        inside.announce_thread(me);
    }
    leave((), inside);
}

extern "C" fn do_new_memory(_file: usize, _line: c_int, address: usize, size: usize) {
    renew(address, size);
}

/// Nobody has accessed this memory before.
pub(super) fn renew(address: usize, size: usize) {
    let Some(mut inside) = enter() else {
        return;
    };
    inside.renew(address, size);
    leave((), inside);
}
