//! The runtime's global state, and who may touch it: the one thread that runs, inside a hook.

use std::{
    cell::UnsafeCell,
    collections::BTreeSet,
    marker::PhantomData,
    mem::MaybeUninit,
    ops::{Deref, DerefMut, Range},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use raddle_machine::Machine;
use raddle_model::{ObjectId, Points, SiteId, ThreadId};
use raddle_pick::Chooser;
use raddle_trace::{Common, Header, OrderEntry, Segment};

use crate::{
    record::{
        brief::BriefRoom,
        emit::Emit,
        modules::Modules,
        panics::Panics,
        stack::{Caller, ShadowStack},
        stacks::Stacks,
        ways::Ways,
    },
    state::{
        accesses::Written,
        check::Check,
        detect::Detect,
        forks::Forks,
        heap::Heap,
        io::Io,
        keys::Key,
        listing::Listing,
        locksets::Locksets,
        shadow::{Cell, Shadow},
        signals::Signals,
        thread::ThreadRt,
        trial::Trial,
        waiting::{PATIENCE, Waiting},
        weak::Weak,
    },
};

/// Everything the runtime knows. See the ground rules at the top of the crate.
#[repr(C)]
pub(crate) struct Control {
    /// First, because the assembly of the hottest hooks reads it by offset.
    pub(crate) hot: Hot,
    /// The thread that runs.
    pub(crate) me: ThreadId,
    /// Is it inside a hook?
    pub(crate) is_inside: bool,
    pub(crate) scheduler: Scheduler,
    pub(crate) memory: Memory,
    pub(crate) recorder: Recorder,
    pub(crate) process: Process,
    pub(crate) segment: Segment,
    pub(crate) header: *mut Header,
}

/// Who there is, who can go on, and who is next.
pub(crate) struct Scheduler {
    pub(crate) machine: Machine,
    pub(crate) chooser: Chooser<'static>,
    #[expect(clippy::vec_box, reason = "a switch keeps pointers to entries while the table grows")]
    pub(crate) threads: Vec<Box<ThreadRt>>,
    /// Threads that wait in rounds.
    pub(crate) waiting: Waiting,
    /// How far time has jumped to the deadline of the thread that was chosen, although others could go on.
    pub(crate) delay_ns: u64,
    pub(crate) max_steps: u64,
    /// What is tried with an execution whose steps are spent.
    pub(crate) trial: Option<Box<Trial>>,
    /// Which steps are scheduling points.
    pub(crate) points: Points,
    /// Names known to be shared, sorted.
    pub(crate) shared: Vec<u64>,
    /// Objects for what the C library and the kernel keep for all threads.
    pub(crate) commons: [ObjectId; Common::ALL.len()],
    /// Once blocks that threads have found done.
    pub(crate) known_done: Vec<(ObjectId, ThreadId)>,
    /// Do the threads run on one kernel thread?
    pub(crate) has_fibers: bool,
    /// May user code set the thread pointer itself?
    pub(crate) has_fsgsbase: bool,
}

/// What is known about the program's memory.
pub(crate) struct Memory {
    pub(crate) shadow: Shadow,
    pub(crate) detect: Detect,
    pub(crate) weak: Weak,
    /// Memory orders that take the place of those in the source, sorted by place.
    pub(crate) orders: Vec<OrderEntry>,
    pub(crate) locksets: Locksets,
    pub(crate) heap: Heap,
    /// The last write, whose value is not known before the program has gone on.
    pub(crate) written: Written,
    /// Set while the runtime reads memory that the program is about to read: a fault then is the
    /// program's, at this place.
    pub(crate) peeks_from: Option<Caller>,
    /// Names of what this execution has told to be exposed.
    pub(crate) told: BTreeSet<u64>,
    /// Memory that the program shares with others, and that a copy of it would share too.
    pub(crate) tied: Vec<Range<usize>>,
}

/// What is told, and the names of it.
pub(crate) struct Recorder {
    pub(crate) emit: Emit,
    pub(crate) modules: Modules,
    pub(crate) ways: Ways,
    pub(crate) stacks: Stacks,
    /// Panics of Rust threads.
    pub(crate) panics: Panics,
    pub(crate) brief: BriefRoom,
    /// Where to write down who could have gone on; null if nobody asks.
    pub(crate) options: *mut raddle_trace::EnabledSet,
    /// With the calls that led to each step?
    pub(crate) keeps_stacks: bool,
    /// Are accesses told that a thread makes when no other is left?
    pub(crate) tells_lone: bool,
}

impl Recorder {
    /// What the last step, an update, left there.
    #[cold]
    pub(crate) fn set_left(&mut self, value: u64, size: u8) {
        if self.options.is_null() {
            return;
        }
        let mask = if size < 8 { (1 << (8 * size)) - 1 } else { u64::MAX };
        // SAFETY: the area has the events' room, which the index is cut to.
        let told = unsafe { &mut *self.options.add(self.emit.last_idx()) };
        (told.has_left, told.left) = (1, value & mask);
    }
}

/// What the kernel keeps for the process, and where in its life it is.
pub(crate) struct Process {
    pub(crate) io: Io,
    pub(crate) signals: Signals,
    pub(crate) forks: Forks,
    /// Keys of thread-specific data.
    pub(crate) keys: Vec<Key>,
    /// Folders of threads that the program is listing.
    pub(crate) listings: Vec<Listing>,
    /// Calls of `raddle_check`.
    pub(crate) check: Check,
    /// Has the execution begun (`main` was entered in the forked process)?
    pub(crate) is_execution: bool,
    /// What is done before the first thread is created, if a constructor of the program does it: executions begin there.
    pub(crate) begin_early: fn(),
    /// If the process has begun to exit: its code, and where that was asked for.
    pub(crate) exit: Option<(i32, SiteId)>,
    /// Where `main`, after all other threads, last looked at what they may have used, and how many threads there had
    /// been. Where it returns is not known: this is the nearest to it.
    pub(crate) lone_look: Option<(usize, u32)>,
    /// Is this process a copy of an execution on its way, which serves no other?
    pub(crate) is_copy: bool,
    /// Which plan's settings are in force.
    pub(crate) plan_number: u32,
}

/// What the hottest hooks look at, of the thread that runs.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Hot {
    /// The cells for reads and for writes of memory that it has read and written in its segment, twice;
    /// the latter as things stand: alone, or while others are alive.
    pub(crate) mine: u64,
    pub(crate) mine_written: u64,
    /// Reads that it may still make before they are looked at, if it makes no step.
    pub(crate) patience: i32,
    /// How many those are after a step.
    pub(crate) patience_max: i32,
    /// The shadow's table.
    pub(crate) chunks: *mut *mut Cell,
    /// Threads by segment, if `mine` is not nobody's.
    pub(crate) owners: *const ThreadId,
    /// Its thread pointer.
    pub(crate) fs: usize,
    /// Its shadow stack.
    pub(crate) stack: ShadowStack,
}

impl Hot {
    /// That of a thread that has accessed nothing.
    pub(crate) fn new(fs: usize, chunks: *mut *mut Cell) -> Hot {
        let mine = Cell::NOBODYS.twice();
        Hot {
            mine,
            mine_written: mine,
            patience: PATIENCE,
            patience_max: PATIENCE,
            chunks,
            owners: std::ptr::null(),
            fs,
            stack: ShadowStack::new(),
        }
    }
}

/// The state, and what is asked before it is looked at. The assembly of the hottest hooks finds all of it from one address.
#[repr(C)]
pub(crate) struct Global {
    pub(crate) is_active: AtomicBool,
    /// Are plain accesses looked at? Not before a second thread is made: what the first one did until then
    /// happens before all that any other will do.
    pub(crate) is_tracking: AtomicBool,
    pub(crate) control: UnsafeCell<MaybeUninit<Control>>,
}

// SAFETY: only the thread that runs and is inside a hook touches it; see the crate's ground rules.
unsafe impl Sync for Global {}

pub(crate) static GLOBAL: Global = Global {
    is_active: AtomicBool::new(false),
    is_tracking: AtomicBool::new(false),
    control: UnsafeCell::new(MaybeUninit::uninit()),
};

/// The global state. Dereference it for one statement at a time, never across a switch.
#[inline(always)]
pub(crate) fn control() -> *mut Control {
    GLOBAL.control.get().cast()
}

/// Is the program under control at all? If not, every hook is a plain pass to the real function.
#[inline(always)]
pub(crate) fn is_active() -> bool {
    GLOBAL.is_active.load(Relaxed)
}

/// Are plain accesses looked at?
#[inline(always)]
pub(crate) fn is_tracking() -> bool {
    GLOBAL.is_tracking.load(Relaxed)
}

/// A second thread is made: from now on all accesses are looked at.
pub(crate) fn begin_tracking() {
    set_tracking(true);
}

/// Says whether plain accesses are looked at.
pub(crate) fn set_tracking(is_tracking: bool) {
    GLOBAL.is_tracking.store(is_tracking, Relaxed);
}

/// Puts the program under control.
pub(crate) fn activate(control_value: Control) {
    // SAFETY: called once, before any hook is active.
    unsafe { control().write(control_value) };
    GLOBAL.is_active.store(true, Relaxed);
}

/// Lets the program go: from now on every hook passes to the real function (after a `fork`).
pub(crate) fn deactivate() {
    GLOBAL.is_active.store(false, Relaxed);
    set_tracking(false);
}

/// The right to touch the global state: this thread runs, and is inside a hook. What it is borrowed for ends before another
/// thread may run, for whatever lets one run (`step`) wants the token whole.
///
/// It is no reference: other threads have tokens, too, and wait in the midst of a step for their turn.
#[derive(Debug)]
pub(crate) struct Inside(PhantomData<*mut Control>);

impl Inside {
    /// For code that is inside a hook and was not handed the token.
    ///
    /// # Safety
    ///
    /// The thread runs and is inside a hook, and whoever called has no borrow of the state.
    #[inline(always)]
    pub(crate) const unsafe fn assume() -> Inside {
        Inside(PhantomData)
    }
}

impl Deref for Inside {
    type Target = Control;

    #[inline(always)]
    fn deref(&self) -> &Control {
        // SAFETY: whoever has the token runs, inside a hook; it is lent out for as long as the borrow lives.
        unsafe { &*control() }
    }
}

impl DerefMut for Inside {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Control {
        // SAFETY: as above.
        unsafe { &mut *control() }
    }
}

/// Enters a hook. `None` if the real function is to run: nothing is controlled, the call comes from
/// inside a hook, or from a thread that Raddle did not create.
#[inline(always)]
pub(crate) fn enter() -> Option<Inside> {
    if !may_enter() {
        return None;
    }
    // SAFETY: active means initialised; from now on the thread is inside.
    unsafe {
        (*control()).is_inside = true;
        Some(Inside::assume())
    }
}

/// The same, if the condition is true.
#[inline(always)]
pub(crate) fn enter_if(condition: bool) -> Option<Inside> {
    if condition { enter() } else { None }
}

/// Could [`enter`] enter a hook?
#[inline(always)]
pub(crate) fn may_enter() -> bool {
    if !is_active() {
        return false;
    }
    let control = control();
    // SAFETY: active means initialised; the two fields are plain words, and a foreign thread that
    // reads them at a bad moment sees another thread's pointer, never its own.
    unsafe {
        !(*control).is_inside
            && (*control).hot.fs == thread_pointer((*control).scheduler.has_fsgsbase)
    }
}

/// The same, for who asks so often that the thread pointer is in reach: reading it from memory is faster then.
#[inline(always)]
pub(crate) fn may_enter_again() -> bool {
    let control = control();
    // SAFETY: as above.
    is_active()
        && unsafe { !(*control).is_inside && (*control).hot.fs == raddle_fiber::thread_pointer() }
}

/// The thread pointer of whoever runs; from the register where that is possible, for its home in memory
/// may be far away when there are many threads.
#[inline(always)]
unsafe fn thread_pointer(has_fsgsbase: bool) -> usize {
    if has_fsgsbase {
        // SAFETY: so it was found.
        unsafe { raddle_fiber::thread_pointer_register() }
    } else {
        raddle_fiber::thread_pointer()
    }
}

/// Runs `body`, code of the program, from inside a hook.
pub(crate) fn outside<T>(inside: &mut Inside, body: impl FnOnce() -> T) -> T {
    inside.is_inside = false;
    let result = body();
    inside.is_inside = true;
    result
}

impl Control {
    /// The thread that runs.
    #[inline]
    pub(crate) fn this(&mut self) -> &mut ThreadRt {
        &mut self.scheduler.threads[self.me.idx()]
    }

    /// The shadow stack of a thread.
    pub(crate) fn stack_of_thread(&self, thread: ThreadId) -> ShadowStack {
        if thread == self.me {
            self.hot.stack
        } else {
            self.scheduler.threads[thread.idx()].stack.get()
        }
    }
}
