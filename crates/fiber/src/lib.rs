//! Borrowed stacks and the context switch.
//!
//! A fiber borrows a whole thread identity: a real pthread, the *donor*, publishes its thread pointer
//! (FS base) and its stack, then sleeps for ever. The one carrier thread runs on that stack with that
//! thread pointer, so `__thread` variables, `errno` and `pthread_self()` are all right. A switch costs
//! about 15 ns; a futex hand-over between kernel threads 2,000 ns. With one kernel thread, a raw
//! `fork` copies the whole program with every fiber alive.
//!
//! What it misses: shadow stacks (CET) must be off; per-thread kernel state (signal mask, scheduling
//! attributes, robust lists) is the carrier's.

#![expect(
    unsafe_code,
    reason = "switches stacks and thread pointers; each function says what it needs"
)]

use std::{
    arch::{asm, naked_asm},
    ffi::c_void,
    sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Release},
};

pub mod raw;

/// Where a fiber stopped, and whose identity it has.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Fiber {
    /// The stack pointer at its last switch.
    sp: usize,
    /// The donor's thread pointer.
    fs: usize,
}

impl Fiber {
    /// A fiber that begins with `boot`, below `top` on a donor's stack, as the donor with the thread pointer
    /// `fs`.
    ///
    /// # Safety
    ///
    /// `top` is the donor's [`Donor::stack_top`], and nothing below is needed any more.
    pub unsafe fn begin(top: usize, fs: usize, boot: usize) -> Fiber {
        // The first switch pops six registers and the two control words, and returns into `boot`.
        let words: [usize; 9] = [INITIAL_CONTROL_WORDS, 0, 0, 0, 0, 0, 0, boot, 0];
        let sp = top - words.len() * 8;
        // SAFETY: the caller promises that the stack below `top` is free.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), sp as *mut usize, words.len()) };
        Fiber { sp, fs }
    }

    /// The fiber that runs now; its stack pointer is filled in when it is switched away from.
    pub fn of_current_thread() -> Fiber {
        Fiber { sp: 0, fs: thread_pointer() }
    }

    /// Gives a fresh fiber the rounding modes and masks of whoever runs, as a new thread has its
    /// creator's.
    ///
    /// # Safety
    ///
    /// The fiber is fresh from its donor.
    pub unsafe fn inherit_control_words(&mut self) {
        let words = self.sp as *mut u32;
        // SAFETY: a fresh fiber's stack begins with room for both.
        unsafe { asm!("stmxcsr [{0}]", "fnstcw [{0} + 4]", in(reg) words, options(nostack)) };
    }

    /// The thread pointer of its identity: also its `pthread_t`.
    pub fn thread_pointer(&self) -> usize {
        self.fs
    }
}

/// The thread pointer of whoever runs now, from the register: needs FSGSBASE.
///
/// # Safety
///
/// [`has_fsgsbase`] holds.
#[inline(always)]
pub unsafe fn thread_pointer_register() -> usize {
    let pointer;
    // SAFETY: the caller promises that the instruction may be used.
    unsafe { asm!("rdfsbase {}", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// The thread pointer of whoever runs now.
#[inline]
pub fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: on x86-64 Linux the first word of the thread control block is its own address.
    unsafe {
        asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, preserves_flags, readonly))
    };
    pointer
}

/// A real thread that gives its identity to a fiber.
#[derive(Debug, Default)]
pub struct Donor {
    /// What it gives. Valid once `is_published`.
    pub fiber: Fiber,
    /// The upper end of the stack that the fiber may use.
    pub stack_top: usize,
    is_published: AtomicU32,
    parked: AtomicU32,
    boot: usize,
    color: usize,
}

/// Fibers begin at so many different places in their stacks.
const N_COLORS: usize = 61;
const CACHE_LINE: usize = 64;

impl Donor {
    /// A donor whose fiber will begin with `boot`, a function that never returns. `number`: which donor
    /// it is. All stacks are aligned alike, so that the frames of a thousand fibers would fall on the
    /// same few sets of the cache; they begin at different lines instead.
    pub fn new(boot: extern "C-unwind" fn() -> !, number: usize) -> Donor {
        Donor { boot: boot as usize, color: number % N_COLORS, ..Donor::default() }
    }

    /// Waits until the donor thread has published its identity.
    pub fn wait(&self) {
        while self.is_published.load(Acquire) == 0 {
            raw::futex_wait(&self.is_published, 0);
        }
    }
}

/// Room left to the donor's own frames above the fiber's, in bytes; and to a signal's, for the C library
/// has signals of its own (when a process changes its user, every thread must).
const DONOR_FRAMES: usize = 8192;

/// Where a fiber's stack begins, on that of a thread whose start routine was entered with `entry_sp`.
/// `number`: see [`Donor::new`].
pub fn stack_top(entry_sp: usize, number: usize) -> usize {
    ((entry_sp - DONOR_FRAMES) & !(CACHE_LINE - 1)) - number % N_COLORS * CACHE_LINE
}

/// Goes on in `boot` at the place of the stack where a fiber would begin: a kernel thread's variables are
/// then where a fiber's would be.
///
/// # Safety
///
/// `top` comes from [`stack_top`], for the stack of the thread that runs, of which nothing below is
/// needed any more.
#[unsafe(naked)]
pub unsafe extern "C" fn begin_at(top: usize, boot: extern "C-unwind" fn() -> !) -> ! {
    naked_asm!("lea rsp, [rdi - 8]", "mov qword ptr [rsp], 0", "xor ebp, ebp", "jmp rsi")
}

/// The start routine of a donor thread; its argument is its [`Donor`].
///
/// # Safety
///
/// `donor` points to a [`Donor`] that lives for ever.
#[unsafe(naked)]
pub unsafe extern "C" fn donor_main(donor: *mut c_void) -> *mut c_void {
    naked_asm!("mov rsi, rsp", "jmp {work}", work = sym donor_work)
}

unsafe extern "C" fn donor_work(donor: *mut c_void, entry_sp: usize) -> *mut c_void {
    let donor = donor.cast::<Donor>();
    // SAFETY: the caller promises a donor.
    let top = stack_top(entry_sp, unsafe { (*donor).color });
    // SAFETY: as above.
    let boot = unsafe { (*donor).boot };
    // SAFETY: `top` is on our own stack, below every frame in use; nobody else knows it yet.
    let fiber = unsafe { Fiber::begin(top, thread_pointer(), boot) };
    // SAFETY: the caller promises a donor; until it is published it is ours.
    unsafe { (*donor).fiber = fiber };
    // SAFETY: as above.
    unsafe { (*donor).stack_top = top };
    // SAFETY: as above.
    let donor = unsafe { &*donor };
    donor.is_published.store(1, Release);
    raw::futex_wake(&donor.is_published, 1);
    loop {
        raw::futex_wait(&donor.parked, 0);
    }
}

/// mxcsr (low half) and the x87 control word (high half) of a fresh thread.
const INITIAL_CONTROL_WORDS: usize = 0x1f80 | 0x037f << 32;

/// Switches from one fiber to another with `wrfsbase`.
///
/// # Safety
///
/// `from` is the fiber that runs; `to` is another one of this process that was switched away from, or
/// is fresh from its donor, and is not running. FSGSBASE is enabled.
#[unsafe(naked)]
pub unsafe extern "C" fn switch_fast(from: *mut Fiber, to: *const Fiber) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "mov rax, [rsi + 8]",
        "mov rsp, [rsi]",
        "wrfsbase rax",
        "mov rax, [rdi]",
        "mov ecx, [rax]",
        "xor ecx, [rsp]",
        "test ecx, 0xffc0", // not the exception flags: those are nobody's
        "jnz 3f",
        "movzx ecx, word ptr [rax + 4]",
        "cmp cx, [rsp + 4]",
        "jne 3f",
        "2:",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        "3:", // loading them is slow, and they hardly ever differ
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "jmp 2b",
    )
}

/// Switches from one fiber to another with a system call, where the CPU or kernel lacks FSGSBASE.
///
/// # Safety
///
/// As [`switch_fast`], without the last condition.
#[unsafe(naked)]
pub unsafe extern "C" fn switch_by_syscall(from: *mut Fiber, to: *const Fiber) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "mov rsp, [rsi]",
        "mov rsi, [rsi + 8]",
        "mov edi, 0x1002", // ARCH_SET_FS
        "mov eax, 158",    // arch_prctl
        "syscall",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// May user code set the FS base itself (`AT_HWCAP2`, bit 1)?
pub fn has_fsgsbase() -> bool {
    const AT_HWCAP2: u64 = 26;
    unsafe extern "C" {
        fn getauxval(kind: u64) -> u64;
    }
    // SAFETY: a pure look-up.
    unsafe { getauxval(AT_HWCAP2) & 2 != 0 }
}

#[cfg(test)]
mod tests {
    use std::{
        ffi::c_void,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use super::{Donor, Fiber, donor_main, switch_by_syscall, switch_fast, thread_pointer};

    unsafe extern "C" {
        fn pthread_create(
            thread: *mut usize,
            attr: *const c_void,
            start: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
            arg: *mut c_void,
        ) -> i32;
    }

    static MAIN: AtomicUsize = AtomicUsize::new(0);
    static OTHER: AtomicUsize = AtomicUsize::new(0);
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    static SWITCH: AtomicUsize = AtomicUsize::new(0);

    fn switch(from: usize, to: usize) {
        let (from, to) = (from as *mut Fiber, to as *const Fiber);
        let by_instruction = SWITCH.load(Relaxed) == 0;
        let switch = if by_instruction { switch_fast } else { switch_by_syscall };
        // SAFETY: the test switches back and forth between the two fibers that it made.
        unsafe { switch(from, to) }
    }

    extern "C-unwind" fn boot() -> ! {
        loop {
            SEEN.store(thread_pointer(), Relaxed);
            switch(OTHER.load(Relaxed), MAIN.load(Relaxed));
        }
    }

    #[test]
    fn a_fiber_has_its_donors_identity() {
        for by_syscall in [usize::from(!super::has_fsgsbase()), 1] {
            SWITCH.store(by_syscall, Relaxed);
            let donor = Box::leak(Box::new(Donor::new(boot, 7)));
            let mut id = 0;
            // SAFETY: the donor lives for ever.
            let error = unsafe {
                pthread_create(&raw mut id, std::ptr::null(), donor_main, (&raw mut *donor).cast())
            };
            assert_eq!(error, 0);
            donor.wait();
            let mut main = Fiber::of_current_thread();
            MAIN.store(&raw mut main as usize, Relaxed);
            OTHER.store(&raw const donor.fiber as usize, Relaxed);
            for _ in 0..3 {
                SEEN.store(0, Relaxed);
                switch(MAIN.load(Relaxed), OTHER.load(Relaxed));
                assert_eq!(SEEN.load(Relaxed), donor.fiber.thread_pointer());
                assert_eq!(SEEN.load(Relaxed), id);
                assert_eq!(thread_pointer(), main.thread_pointer());
            }
        }
    }
}
