//! Calls into Rust's std. Some functions of std that order threads are compiled without hooks, and
//! need not ask the kernel for anything: `park` with its token there, `Barrier::wait` of the last to come. The
//! launcher links programs so that calls of them come back through here, or go there through here.

use raddle_model::{MemoryOrder, ObjectId, Op, OpKind};

use super::futex::futex_at;
use crate::{
    control::enter,
    record::stack::Caller,
    schedule::{signals::leave, step::step},
};

/// The thread that runs is taken to know all that others have done.
///
/// # Safety
///
/// Called from the program's code only.
#[unsafe(no_mangle)]
unsafe extern "C" fn raddle_after_std() {
    let Some(mut inside) = enter() else {
        return;
    };
    inside.know_all();
    leave((), inside);
}

/// A thread is about to wait at a condition variable, which reads the word that counts its notifications, or to
/// notify, which changes it. That is a step on the word: a notification may come between what the program looked
/// at last and that, and is lost then.
///
/// It orders nothing: what does is the mutex, which a wait gives back right after this without a hook, and the waking. The
/// step says which mutex that is; one that notifies all (`is_notified` is 2) names the word twice.
///
/// # Safety
///
/// Called from the program's code only; `pc` is where it goes on, `sp` its stack then.
#[unsafe(no_mangle)]
unsafe extern "C" fn raddle_before_std(
    word: *mut u32,
    pc: usize,
    sp: usize,
    is_notified: u32,
    mutex: *mut u32,
) {
    let Some(mut inside) = enter() else {
        return;
    };
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        if !inside.scheduler.machine.is_alone() {
            let site = inside.site(Caller { pc, sp });
            let kind = if is_notified == 0 { OpKind::AtomicLoad } else { OpKind::AtomicRmw };
            let object = futex_at(&mut inside, word);
            let other = match is_notified {
                0 => futex_at(&mut inside, mutex),
                1 => ObjectId::NONE,
                _ => object,
            };
            step(&mut inside, Op::on(kind, object, site).order(MemoryOrder::Relaxed).other(other));
            if is_notified == 0 {
                inside.release(other);
            }
        }
    }
    leave((), inside);
}

/// A thread of a scope is about to count itself as finished: what it did is known to whoever reads that count.
///
/// Which word of the scope's data is the count is the compiler's choice. The others are a pointer and a flag: the count is
/// the one that is small, and not zero. (A flag that is set as well does no harm.)
///
/// # Safety
///
/// Called from the program's code only, with the data of a scope.
#[unsafe(no_mangle)]
unsafe extern "C" fn raddle_before_scope_end(data: *const usize) {
    const WORDS: usize = 3;
    const THREADS_MAX: usize = 1 << 24;
    let Some(mut inside) = enter() else {
        return;
    };
    // SAFETY: the thread that runs is inside a hook; its scope has so many words, and lives until it is counted.
    unsafe {
        for at in (0..WORDS).map(|it| data.add(it)) {
            if (1..THREADS_MAX).contains(&*at) {
                let object = inside.variable(at as usize);
                inside.release(object);
            }
        }
    }
    leave((), inside);
}
