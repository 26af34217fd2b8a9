//! Futexes, as system calls. The words are variables to the machine: atomics on them conflict with
//! waits and wakes.
//!
//! A wait is a step that looks at the word; if the value is the expected one the thread queues before
//! anybody else runs, so both are one step, as in the kernel; then a second step, to come back.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

use libc::timespec;
use raddle_model::{MemoryOrder, ObjectId, Op, OpKind, OpResult};

use crate::{
    base::time, control::Inside, outside::clock, record::stack::Caller, schedule::step::step,
};

/// All bits: `FUTEX_BITSET_MATCH_ANY`.
const ANY: u32 = u32::MAX;

/// What the kernel is given. `count2` is also the address of a time.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) word: *mut u32,
    pub(super) op: c_int,
    pub(super) value: u32,
    pub(super) count2: usize,
    pub(super) word2: *mut u32,
    pub(super) value3: u32,
}

impl Call {
    fn command(&self) -> c_int {
        self.op & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME)
    }

    /// Do we know what it does? Those that inherit priorities we do not.
    pub(super) fn is_controlled(&self) -> bool {
        matches!(
            self.command(),
            libc::FUTEX_WAIT
                | libc::FUTEX_WAKE
                | libc::FUTEX_REQUEUE
                | libc::FUTEX_CMP_REQUEUE
                | libc::FUTEX_WAKE_OP
                | libc::FUTEX_WAIT_BITSET
                | libc::FUTEX_WAKE_BITSET
        )
    }

    /// Does it wait for other threads of this process, for as long as it takes?
    pub(super) fn is_endless(&self) -> bool {
        let is_wait = matches!(self.command(), libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET);
        let is_private = self.op & libc::FUTEX_PRIVATE_FLAG != 0;
        // SAFETY: a word that is not null and aligned is one, the program promises.
        is_wait
            && is_private
            && self.count2 == 0
            && !self.word.is_null()
            && self.word.is_aligned()
            && unsafe { AtomicU32::from_ptr(self.word) }.load(SeqCst) == self.value
    }

    /// Performs it, inside a hook; the error is the kernel's.
    pub(super) unsafe fn perform(&self, inside: &mut Inside, caller: Caller) -> Result<u32, c_int> {
        if self.word.is_null() {
            return Err(libc::EFAULT);
        }
        if !self.word.is_aligned() {
            return Err(libc::EINVAL);
        }
        // SAFETY: the program promises a word, or two where the command needs two.
        unsafe {
            match self.command() {
                libc::FUTEX_WAIT => self.wait(inside, ANY, caller),
                libc::FUTEX_WAIT_BITSET => self.wait(inside, self.value3, caller),
                libc::FUTEX_WAKE => self.wake(inside, ANY, caller),
                libc::FUTEX_WAKE_BITSET => self.wake(inside, self.value3, caller),
                libc::FUTEX_REQUEUE => self.requeue(inside, None, caller),
                libc::FUTEX_CMP_REQUEUE => self.requeue(inside, Some(self.value3), caller),
                _ => self.wake_op(inside, caller),
            }
        }
    }

    /// In the machine's time: from now for `FUTEX_WAIT`, absolute for `FUTEX_WAIT_BITSET`.
    unsafe fn deadline(&self) -> Result<Option<u64>, c_int> {
        // SAFETY: the program promises a time or null.
        let Some(given) = (unsafe { (self.count2 as *const timespec).as_ref() }) else {
            return Ok(None);
        };
        if given.tv_sec < 0 || !time::is_valid(given) {
            return Err(libc::EINVAL);
        }
        Ok(Some(if self.command() == libc::FUTEX_WAIT {
            clock::deadline_after(time::nanoseconds(given))
        } else if self.op & libc::FUTEX_CLOCK_REALTIME != 0 {
            time::deadline(libc::CLOCK_REALTIME, given)
        } else {
            time::deadline(libc::CLOCK_MONOTONIC, given)
        }))
    }

    unsafe fn wait(&self, inside: &mut Inside, bits: u32, caller: Caller) -> Result<u32, c_int> {
        // SAFETY: the program promises a word; the borrows end before each step.
        unsafe {
            let deadline = self.deadline()?;
            if bits == 0 {
                return Err(libc::EINVAL);
            }
            let object = futex_at(inside, self.word);
            let site = inside.site(caller);
            inside.this().spin.reset();
            let is_told = !inside.scheduler.machine.is_alone();
            step(inside, Op::on(OpKind::FutexWait, object, site));
            let seen = AtomicU32::from_ptr(self.word).load(SeqCst);
            if is_told {
                inside.recorder.emit.set_value(u64::from(seen), 4);
            }
            if seen != self.value {
                if is_told {
                    inside.recorder.emit.set_result(OpResult::Busy);
                }
                know_what_std_knows(inside, caller);
                return Err(libc::EAGAIN);
            }
            let me = inside.me;
            inside.scheduler.machine.queue_at_futex(me, object, bits);
            let woken = step(inside, Op::on(OpKind::FutexWake, object, site).until(deadline));
            know_what_std_knows(inside, caller);
            match woken.result {
                OpResult::TimedOut => Err(libc::ETIMEDOUT),
                OpResult::Interrupted => Err(libc::EINTR),
                _ => Ok(0),
            }
        }
    }

    unsafe fn wake(&self, inside: &mut Inside, bits: u32, caller: Caller) -> Result<u32, c_int> {
        if bits == 0 {
            return Err(libc::EINVAL);
        }
        // The kernel counts after it has woken: one at least.
        let count = (self.value as i32).max(1) as u64;
        // SAFETY: the program promises a word; the borrows end before the step.
        unsafe {
            let object = futex_at(inside, self.word);
            let site = inside.site(caller);
            inside.this().spin.reset();
            let op = Op::on(OpKind::FutexNotify, object, site).arg(count | u64::from(bits) << 32);
            Ok(step(inside, op).value as u32)
        }
    }

    unsafe fn requeue(
        &self,
        inside: &mut Inside,
        expected: Option<u32>,
        caller: Caller,
    ) -> Result<u32, c_int> {
        let (count, count2) = (self.value as i32, self.count2 as i32);
        if count < 0 || count2 < 0 {
            return Err(libc::EINVAL);
        }
        // SAFETY: the program promises two words; the borrows end before the step.
        unsafe {
            let (from, to) = (futex_at(inside, self.word), futex_at(inside, self.word2));
            let site = inside.site(caller);
            inside.this().spin.reset();
            step(inside, Op::on(OpKind::FutexNotify, from, site).other(to));
            let seen = AtomicU32::from_ptr(self.word).load(SeqCst);
            if expected.is_some_and(|it| it != seen) {
                return Err(libc::EAGAIN);
            }
            let machine = &mut inside.scheduler.machine;
            let n_woken = machine.wake_futex(from, count as u32, ANY, 0);
            Ok(n_woken + machine.requeue(from, to, count2 as u32))
        }
    }

    /// Changes the second word, wakes at the first, and at the second if that had a certain value.
    unsafe fn wake_op(&self, inside: &mut Inside, caller: Caller) -> Result<u32, c_int> {
        // SAFETY: the program promises two words; the borrows end before the step.
        unsafe {
            let (object, object2) = (futex_at(inside, self.word), futex_at(inside, self.word2));
            let site = inside.site(caller);
            let is_told = !inside.scheduler.machine.is_alone();
            inside.this().spin.reset();
            let op = Op::on(OpKind::AtomicRmw, object2, site).order(MemoryOrder::SeqCst);
            step(inside, op.other(object).bytes(0, 4));
            let (seen, is_second) = change(AtomicU32::from_ptr(self.word2), self.value3)?;
            inside.release(object);
            inside.release(object2);
            if is_told {
                inside.recorder.emit.set_value(u64::from(seen), 4);
            }
            let machine = &mut inside.scheduler.machine;
            let mut n_woken = machine.wake_futex(object, self.value, ANY, 0);
            if is_second {
                n_woken += machine.wake_futex(object2, self.count2 as u32, ANY, 0);
            }
            Ok(n_woken)
        }
    }
}

/// The slow paths of Rust's locks have no hooks: after they have slept, they take the lock unseen. So the
/// thread is taken to know all that others have done.
unsafe fn know_what_std_knows(inside: &mut Inside, caller: Caller) {
    if inside.is_library_code(caller.pc) {
        inside.know_all();
    }
}

/// The object of a futex word.
pub(super) unsafe fn futex_at(inside: &mut Inside, word: *mut u32) -> ObjectId {
    let object = inside.variable(word as usize);
    inside.scheduler.machine.make_futex(object);
    object
}

/// Does to a word what `FUTEX_OP` coded; the old value, and whether it was as asked.
fn change(word: &AtomicU32, code: u32) -> Result<(u32, bool), c_int> {
    const SHIFTED: u32 = 8;
    let (operation, comparison) = (code >> 28, code >> 24 & 15);
    // Both are signed numbers of twelve bits.
    let mut operand = (code as i32) << 8 >> 20;
    let wanted = (code as i32) << 20 >> 20;
    if operation & SHIFTED != 0 {
        operand = 1 << (operand & 31);
    }
    let operand = operand as u32;
    let seen = word.load(SeqCst);
    let changed = match operation & !SHIFTED {
        0 => operand,
        1 => seen.wrapping_add(operand),
        2 => seen | operand,
        3 => seen & !operand,
        4 => seen ^ operand,
        _ => return Err(libc::ENOSYS),
    };
    let old = seen as i32;
    let is_as_asked = match comparison {
        0 => old == wanted,
        1 => old != wanted,
        2 => old < wanted,
        3 => old <= wanted,
        4 => old > wanted,
        5 => old >= wanted,
        _ => return Err(libc::ENOSYS),
    };
    word.store(changed, SeqCst);
    Ok((seen, is_as_asked))
}
