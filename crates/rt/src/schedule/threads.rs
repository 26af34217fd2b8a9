//! The program's threads: what carries them, how they begin and how they end.

mod names;

use std::{
    cell::UnsafeCell,
    collections::VecDeque,
    ffi::{c_int, c_void},
    mem::take,
    ops::Range,
    ptr,
    sync::atomic::{AtomicU32, Ordering::*},
};

use raddle_fiber::{Donor, Fiber, raw};
use raddle_model::{Flags, ObjectId, Op, OpKind, SiteId, ThreadId};
use raddle_trace::{ObjectClass, ObjectEntry, protocol::RegionTag};

use crate::{
    base::{
        apart::apart,
        arena,
        die::die,
        real::{self, Start},
    },
    control::{Control, Inside, begin_tracking, control},
    record::stack::ShadowStack,
    schedule::step::{choose_next, complete, step},
    state::{
        heap::Named,
        thread::{ThreadRt, stack_range},
    },
};

/// Donors that wait for a thread to borrow them. They are made before the fork, and each is used once
/// in an execution: a thread begins with fresh thread-locals.
#[derive(Default)]
pub(crate) struct Donors {
    /// With the lowest and highest address of each one's stack.
    waiting: VecDeque<(*mut Donor, (usize, usize))>,
    /// Threads of executions that are over, the next one last: used before all others.
    #[expect(clippy::vec_box, reason = "they go into the table of threads as they are")]
    used: Vec<Box<ThreadRt>>,
}

static DONORS: DonorsCell =
    DonorsCell(UnsafeCell::new(Donors { waiting: VecDeque::new(), used: Vec::new() }));

struct DonorsCell(UnsafeCell<Donors>);

// SAFETY: touched by the thread that runs, inside a hook, or by the server between executions.
unsafe impl Sync for DonorsCell {}

/// Makes donors until so many wait.
pub(crate) fn provide_donors(count: usize) {
    // SAFETY: see `DonorsCell`.
    let donors = unsafe { &mut *DONORS.0.get() };
    while donors.waiting.len() < count {
        match make_donor(ptr::null()) {
            Some(donor) => donors.waiting.push_back(donor),
            None => return,
        }
    }
}

/// The upper ends of the stacks of all donors.
pub(crate) fn stack_tops() -> Vec<usize> {
    // SAFETY: see `DonorsCell`.
    unsafe { (*DONORS.0.get()).waiting.iter().map(|(_, range)| range.1).collect() }
}

fn make_donor(attr: *const libc::pthread_attr_t) -> Option<(*mut Donor, (usize, usize))> {
    let number = next_stack(attr);
    let donor = Box::leak(Box::new(Donor::new(boot, number)));
    let mut id = 0;
    // SAFETY: the donor lives for ever; all signals are blocked in its thread, so that they reach the
    // carrier.
    let error = unsafe {
        let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        real::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        let start: Start = std::mem::transmute(raddle_fiber::donor_main as *const ());
        let error = with_stack(attr, number, |attr| {
            real::pthread_create(&raw mut id, attr, start, (&raw mut *donor).cast())
        });
        real::pthread_sigmask(libc::SIG_SETMASK, &raw const old, ptr::null_mut());
        error
    };
    if error != 0 {
        return None;
    }
    donor.wait();
    let range = stack_range(donor.fiber.thread_pointer());
    Some((donor, range))
}

/// Creates a thread that ends at once. The C and C++ libraries take other ways until there has been a
/// second thread; whether one has been made ready before an execution must make no difference.
pub(crate) fn warm_up_threads() {
    const STACK_OF_SECOND: usize = 256 << 10;
    unsafe extern "C-unwind" fn nothing(arg: *mut c_void) -> *mut c_void {
        arg
    }
    // SAFETY: the memory is ours for ever; the thread is joined.
    apart(|| unsafe {
        let (mut attr, mut id) = (std::mem::zeroed(), 0);
        libc::pthread_attr_init(&raw mut attr);
        let stack = arena::map(STACK_OF_SECOND).cast();
        libc::pthread_attr_setstack(&raw mut attr, stack, STACK_OF_SECOND);
        if real::pthread_create(&raw mut id, &raw const attr, nothing, ptr::null_mut()) == 0 {
            real::pthread_join(id, ptr::null_mut());
        }
        libc::pthread_attr_destroy(&raw mut attr);
    });
}

/// Bytes of each stack of ours, and of what guards it.
const STACK: usize = 8 << 20;
pub(crate) const GUARD: usize = 4096;

/// The stack of each thread is always at the same place.
const FIRST_STACK: usize = 0x2000_0000_0000;
const STACK_DISTANCE: usize = 9 << 20;
static N_STACKS: AtomicU32 = AtomicU32::new(0);

/// Where stacks of ours are.
pub(crate) fn stacks() -> Range<usize> {
    FIRST_STACK..FIRST_STACK + N_STACKS.load(Relaxed) as usize * STACK_DISTANCE
}

/// The number of the next stack of ours; those that the program brings have none.
fn next_stack(attr: *const libc::pthread_attr_t) -> usize {
    if attr.is_null() { N_STACKS.fetch_add(1, Relaxed) as usize } else { 0 }
}

/// Calls `create` with attributes that give a thread a stack of ours, unless the program asks for one:
/// where the program's memory is must not depend on how many threads there are.
unsafe fn with_stack(
    attr: *const libc::pthread_attr_t,
    number: usize,
    create: impl FnOnce(*const libc::pthread_attr_t) -> c_int,
) -> c_int {
    if !attr.is_null() {
        return apart(|| create(attr));
    }
    let memory = arena::map_at(FIRST_STACK + number * STACK_DISTANCE, STACK + GUARD);
    if memory.is_null() {
        return libc::EAGAIN;
    }
    // SAFETY: the memory is ours for ever; its lowest page is never touched.
    unsafe {
        raw::syscall(libc::SYS_mprotect, [memory as usize, GUARD, 0, 0, 0, 0]);
        let advice = libc::MADV_NOHUGEPAGE as usize;
        raw::syscall(libc::SYS_madvise, [memory as usize, STACK + GUARD, advice, 0, 0, 0]);
        apart(|| {
            let mut attr = std::mem::zeroed();
            libc::pthread_attr_init(&raw mut attr);
            libc::pthread_attr_setstack(&raw mut attr, memory.add(GUARD).cast(), STACK);
            let error = create(&raw const attr);
            libc::pthread_attr_destroy(&raw mut attr);
            error
        })
    }
}

/// Creates a thread that will run `start(arg)`. The error is that of `pthread_create`.
pub(crate) fn create(
    inside: &mut Inside,
    attr: *const libc::pthread_attr_t,
    start: Start,
    arg: *mut c_void,
    site: SiteId,
) -> Result<usize, c_int> {
    if !inside.process.is_execution {
        (inside.process.begin_early)();
    }
    let object = inside.add_thread_object();
    step(inside, Op::on(OpKind::Spawn, object, site));
    let me = inside.me;
    let mut thread = match inside.scheduler.has_fibers {
        // SAFETY: the thread that runs is inside a hook; the program promises a good attribute.
        true => unsafe { borrow_donor(inside, attr, object)? },
        // SAFETY: as above.
        false => Box::new(unsafe { kernel_thread(attr, object)? }),
    };
    thread.start = Some(start);
    thread.arg = arg;
    let pc = inside.recorder.emit.site_pc(site);
    thread.creation = inside.keep_stack(pc);
    thread.mask = inside.scheduler.threads[me.idx()].mask;
    thread.inherited = inside.scheduler.threads[me.idx()].own_or_inherited();
    let fs = thread.fs;
    let id = inside.scheduler.machine.create_thread(object, Some(me), site);
    begin_tracking();
    inside.recorder.emit.add_thread(id);
    inside.recorder.emit.set_value(u64::from(id.0), 0);
    inside.describe_thread(object, id);
    inside.scheduler.threads.push(thread);
    inside.announce_thread(id);
    if is_detached(attr) {
        inside.scheduler.machine.detach_quietly(id);
    }
    inside.memory.detect.spawned(me, id, object);
    inside.set_mine();
    if !inside.scheduler.has_fibers {
        // SAFETY: it has just been made, and waits to be told.
        unsafe { hand_to_kernel_thread(id) };
    }
    Ok(fs)
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attr: *const libc::pthread_attr_t, state: *mut c_int) -> c_int;
}

fn is_detached(attr: *const libc::pthread_attr_t) -> bool {
    let mut state = 0;
    // SAFETY: the program promises that a given attribute is initialised.
    !attr.is_null()
        && unsafe { pthread_attr_getdetachstate(attr, &raw mut state) } == 0
        && state == libc::PTHREAD_CREATE_DETACHED
}

/// Does the program ask for a stack that ours can't be? One that only says how large it should be does not:
/// then the C library gives its lowest address as that of a stack that ends with the address space.
fn has_own_stack(attr: *const libc::pthread_attr_t) -> bool {
    let (mut address, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the program promises that a given attribute is initialised.
    !attr.is_null()
        && unsafe { libc::pthread_attr_getstack(attr, &raw mut address, &raw mut size) } == 0
        && ((address as usize).wrapping_add(size) != 0 || size > STACK)
}

unsafe fn borrow_donor(
    control: &Control,
    attr: *const libc::pthread_attr_t,
    object: ObjectId,
) -> Result<Box<ThreadRt>, c_int> {
    // SAFETY: see `DonorsCell`; a donor lives for ever.
    unsafe {
        let is_own = has_own_stack(attr);
        let donors = &mut *DONORS.0.get();
        if let Some(mut thread) = (!is_own).then(|| donors.used.pop()).flatten() {
            let n_bytes = control.process.check.n_searched().min(thread.room_below(thread.top));
            ptr::write_bytes((thread.top - n_bytes) as *mut u8, 0, n_bytes);
            thread.renew(object, boot);
            (*thread.fiber.get()).inherit_control_words();
            return Ok(thread);
        }
        let waiting = if is_own { None } else { donors.waiting.pop_front() };
        let (donor, range) = match waiting {
            Some(donor) => donor,
            None => make_donor(if is_own { attr } else { ptr::null() }).ok_or(libc::EAGAIN)?,
        };
        (*donor).fiber.inherit_control_words();
        let fs = (*donor).fiber.thread_pointer();
        let mut thread = ThreadRt::new(take(&mut (*donor).fiber), fs, object);
        (thread.stack_bottom, thread.stack_top) = range;
        thread.top = if is_own { 0 } else { (*donor).stack_top };
        thread.is_on_ours = !is_own;
        Ok(Box::new(thread))
    }
}

/// What a new kernel thread is told.
struct Handover {
    thread: AtomicU32,
    is_ready: AtomicU32,
}

static HANDOVER: Handover = Handover { thread: AtomicU32::new(0), is_ready: AtomicU32::new(0) };

unsafe fn kernel_thread(
    attr: *const libc::pthread_attr_t,
    object: ObjectId,
) -> Result<ThreadRt, c_int> {
    HANDOVER.is_ready.store(0, Relaxed);
    HANDOVER.thread.store(u32::MAX, Relaxed);
    let mut id = 0;
    let is_own = has_own_stack(attr);
    // SAFETY: the program promises a good attribute; the start routine never returns.
    let error = unsafe {
        let start: Start = std::mem::transmute(kernel_main as *const ());
        let attr = if is_own { attr } else { ptr::null() };
        let number = next_stack(attr);
        let arg = ptr::without_provenance_mut(number);
        with_stack(attr, number, |attr| real::pthread_create(&raw mut id, attr, start, arg))
    };
    if error != 0 {
        return Err(error);
    }
    while HANDOVER.is_ready.load(Acquire) == 0 {
        raw::futex_wait(&HANDOVER.is_ready, 0);
    }
    let fs = id as usize;
    let mut thread = ThreadRt::new(Fiber::default(), fs, object);
    (thread.stack_bottom, thread.stack_top) = stack_range(fs);
    thread.is_on_ours = !is_own;
    Ok(thread)
}

/// Tells the new kernel thread which thread it is; it then waits for its turn.
unsafe fn hand_to_kernel_thread(id: ThreadId) {
    HANDOVER.is_ready.store(0, Relaxed);
    HANDOVER.thread.store(id.0, Release);
    raw::futex_wake(&HANDOVER.thread, 1);
    while HANDOVER.is_ready.load(Acquire) == 0 {
        raw::futex_wait(&HANDOVER.is_ready, 0);
    }
}

#[unsafe(naked)]
unsafe extern "C-unwind" fn kernel_main(number: *mut c_void) -> *mut c_void {
    core::arch::naked_asm!("mov rsi, rsp", "jmp {work}", work = sym kernel_work)
}

unsafe extern "C-unwind" fn kernel_work(number: usize, entry_sp: usize) -> *mut c_void {
    crate::base::signal_stack::use_alternate_stack();
    HANDOVER.is_ready.store(1, Release);
    raw::futex_wake(&HANDOVER.is_ready, 1);
    while HANDOVER.thread.load(Acquire) == u32::MAX {
        raw::futex_wait(&HANDOVER.thread, u32::MAX);
    }
    let id = HANDOVER.thread.load(Acquire);
    // SAFETY: the creator has entered us in the table before it told us our number, and waits.
    let me = unsafe { &raw const *(&(*control()).scheduler.threads)[id as usize] };
    HANDOVER.is_ready.store(1, Release);
    raw::futex_wake(&HANDOVER.is_ready, 1);
    // SAFETY: entries are boxed and live for ever; the thread never returns from `boot`.
    unsafe {
        wait_for_turn(me);
        raddle_fiber::begin_at(raddle_fiber::stack_top(entry_sp, number), boot)
    }
}

unsafe fn wait_for_turn(thread: *const ThreadRt) {
    // SAFETY: the caller promises a living entry.
    let turn = unsafe { &(*thread).turn };
    while turn.swap(0, Acquire) == 0 {
        raw::futex_wait(turn, 0);
    }
}

/// Lets another thread run; returns when it is this one's turn again.
#[inline(always)]
pub(crate) fn switch_to(inside: &mut Inside, next: ThreadId) {
    // SAFETY: entries are boxed and live for ever; nothing is borrowed while the others run, for the token is whole.
    unsafe {
        let control: &mut Control = inside;
        let from = &raw const *control.scheduler.threads[control.me.idx()];
        let to = &raw const *control.scheduler.threads[next.idx()];
        (*from).stack.set(control.hot.stack);
        control.me = next;
        control.set_mine();
        control.hot.fs = (*to).fs;
        control.hot.stack = (*to).stack.get();
        if control.scheduler.has_fibers {
            let (old, new) = ((*from).fiber.get(), (*to).fiber.get());
            if control.scheduler.has_fsgsbase {
                raddle_fiber::switch_fast(old, new);
            } else {
                raddle_fiber::switch_by_syscall(old, new);
            }
        } else {
            (*to).turn.store(1, Release);
            raw::futex_wake(&(*to).turn, 1);
            wait_for_turn(from);
        }
    }
}

/// The first function of every thread but `main`: it has been chosen to start.
extern "C-unwind" fn boot() -> ! {
    // SAFETY: the thread that was switched to runs, inside the hook in which it was created.
    unsafe {
        let mut inside = Inside::assume();
        let me = inside.me;
        // Both carriers come here, so that variables on the stack have the same names on both.
        let here = 0_usize;
        inside.this().stack_base = &raw const here as usize;
        inside.memory.heap.last = Named::default();
        inside.watch_stack();
        complete(&mut inside, me);
        let it = &inside.scheduler.threads[me.idx()];
        let (start, arg) = (it.start.expect("bug: a thread without start"), it.arg);
        crate::schedule::signals::leave((), inside);
        let result = start(arg);
        let mut inside = Inside::assume();
        inside.is_inside = true;
        finish(inside, result)
    }
}

/// Ends the thread that runs, inside a hook: destructors, then its last step.
pub(crate) fn finish(mut inside: Inside, result: *mut c_void) -> ! {
    // SAFETY: the thread that runs is inside a hook; borrows end before user code runs.
    unsafe {
        let me = inside.me;
        inside.scheduler.threads[me.idx()].result = result;
        inside.scheduler.threads[me.idx()].is_cancel_off = true;
        crate::schedule::exit::run_thread_destructors(&mut inside, me);
        if inside.scheduler.machine.n_live() == 1 {
            crate::schedule::exit::exit_process(inside, 0, SiteId(0));
        }
        inside.end_waiting();
        let object = inside.scheduler.threads[me.idx()].object;
        step_finish(inside, Op::on(OpKind::Finish, object, SiteId(0)))
    }
}

unsafe fn step_finish(mut inside: Inside, op: Op) -> ! {
    let me = inside.me;
    step(&mut inside, op);
    // All others have finished since it announced its end: the process ends with the last thread.
    if inside.scheduler.machine.n_live() == 0 {
        inside.scheduler.machine.revive(me);
        crate::schedule::exit::exit_process(inside, 0, SiteId(0));
    }
    let next = choose_next(&mut inside, None);
    // Nobody will switch back to it.
    switch_to(&mut inside, next);
    die(&[b"thread ", &[b'0' + (me.0 % 10) as u8], b" came back after its end"])
}

impl Control {
    /// Leaves the threads that there were before so many; others will run on their stacks. `false` if one of
    /// them ran on a stack that is the program's.
    pub(crate) fn take_back_threads(&mut self, n_threads: usize) -> bool {
        let mut are_ours = true;
        while self.scheduler.threads.len() > n_threads
            && let Some(thread) = self.scheduler.threads.pop()
        {
            are_ours &= thread.is_on_ours;
            if thread.top == 0 {
                // What refers to it is gone with its execution, but its stack may not be ours to give up.
                Box::leak(thread);
            } else {
                // SAFETY: see `DonorsCell`.
                unsafe { (*DONORS.0.get()).used.push(thread) };
            }
        }
        are_ours
    }

    fn add_thread_object(&mut self) -> ObjectId {
        let entry = ObjectEntry {
            class: ObjectClass::Thread as u8,
            region: RegionTag::Thread as u8,
            ..ObjectEntry::default()
        };
        self.recorder.emit.add_object(entry, ObjectClass::Thread, 0)
    }

    fn describe_thread(&mut self, object: ObjectId, id: ThreadId) {
        self.recorder.emit.set_object_base(object, id.0);
    }

    /// The live or finished thread with this `pthread_t`; the newest, if it was used again.
    pub(crate) fn thread_of(&self, pthread: usize) -> Option<ThreadId> {
        let idx = self.scheduler.threads.iter().rposition(|it| it.fs == pthread)?;
        Some(ThreadId(idx as u32))
    }

    /// Lowest and highest address of the stack of the thread with this `pthread_t`, if that is one of ours.
    pub(crate) fn own_stack(&self, pthread: usize) -> Option<(usize, usize)> {
        let thread = &self.scheduler.threads[self.thread_of(pthread)?.idx()];
        thread.is_on_ours.then_some((thread.stack_bottom, thread.stack_top))
    }

    /// The upper end of the stack that the thread that runs wants its handlers on, if it has said so.
    pub(crate) fn handler_stack(&mut self) -> Option<usize> {
        let (end, size) = self.this().handler_stack;
        (size > 0).then_some(end)
    }

    /// A handler begins on another stack: its functions are not above those that it interrupts.
    pub(crate) fn begin_apart(&mut self) {
        let stack = std::mem::replace(&mut self.hot.stack, ShadowStack::new());
        self.this().interrupted.push(stack);
    }

    /// Such a handler returns, or is left by a jump to `sp`.
    pub(crate) fn end_apart(&mut self, sp: Option<usize>) {
        let (end, size) = self.this().handler_stack;
        let is_within = sp.is_some_and(|it| (end - size..end).contains(&it));
        if !is_within && let Some(stack) = self.this().interrupted.pop() {
            self.hot.stack = stack;
        }
    }
}

/// The flag of an op that the C++ runtime does on the program's behalf.
pub(crate) const IMPLIED: Flags = Flags::IMPLIED;
