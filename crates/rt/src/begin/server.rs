//! The beginning: is this program to be controlled, and by which plan? And the fork server: the
//! program stops before `main`, and each execution is a copy of it.

mod function;
mod leftovers;
mod start;

use std::{collections::BTreeSet, slice, sync::atomic::Ordering::*};

use function::{FunctionEnd, take_void};
use raddle_fiber::raw;
use raddle_machine::Machine;
use raddle_model::{Handlers, ObjectId, PickerSpec, Points, ProfileView, Timeouts};
use raddle_pick::{AnyPicker, Chooser, Nonpreemptive, Origin};
use raddle_trace::{
    Common, Entry, Header, ObjectClass, ObjectEntry, Segment,
    protocol::{Command, NO_PROCESS_CODE, RegionTag, Reply, SEGMENT_FD, SEGMENT_VARIABLE},
};
use start::run_execution;

use crate::{
    base::{
        die::{self, AT_LAST, FOUND, decimal},
        random, real,
    },
    begin::environment,
    control::{self, Control, Hot, Memory, Process, Recorder, Scheduler, control, is_active},
    outside::{faults, near, pauses},
    process::{
        checkpoint,
        launcher::{
            answer, control_ref, count_last, die_with_parent, next_command, prefix, reply,
            take_block, wait_for,
        },
        rewind,
    },
    record::{
        brief::BriefRoom, emit::Emit, library::Library, modules::Modules, panics::Panics,
        stacks::Stacks, ways::Ways,
    },
    schedule::threads,
    state::{
        accesses::Written, check::Check, detect::Detect, forks::Forks, heap::Heap, io::Io,
        locksets::Locksets, shadow::Shadow, signals::Signals, thread::ThreadRt, waiting::Waiting,
        weak::Weak,
    },
    tell::end,
};

pub(crate) use function::{begin_at_function, forget_told, next_execution};
pub(crate) use start::begin_before_main;

#[used]
#[unsafe(link_section = ".init_array")]
static INIT: extern "C" fn() = init;

/// Runs when the library is loaded, before any constructor of the program.
extern "C" fn init() {
    // SAFETY: the environment is set up before constructors run, and no other thread exists.
    let is_wanted = unsafe { !libc::getenv(SEGMENT_VARIABLE.as_ptr()).is_null() };
    if !is_wanted || is_active() {
        return;
    }
    for name in [SEGMENT_VARIABLE, c"LD_PRELOAD"] {
        // SAFETY: as above. What the program starts itself is not ours to control.
        unsafe { libc::unsetenv(name.as_ptr()) };
    }
    std::panic::set_hook(Box::new(|info| {
        let text = info.payload_as_str().unwrap_or("panic");
        let (file, line) = info.location().map_or(("", 0), |it| (it.file(), it.line()));
        let mut digits = [0_u8; 10];
        crate::base::die::die(&[
            text.as_bytes(),
            b" at ",
            file.as_bytes(),
            b":",
            decimal(line, &mut digits),
        ]);
    }));
    let Some(segment) = map_segment() else {
        crate::base::die::die(&[b"the segment that the launcher shares can't be mapped"]);
    };
    FOUND.store(segment.header(), Relaxed);
    // SAFETY: the header is mapped, and the launcher waits.
    unsafe { (*segment.header()).live.is_found = 1 };
    // SAFETY: M_ARENA_MAX: one heap for all threads, or addresses would depend on who runs where.
    unsafe { libc::mallopt(-8, 1) };
    real::find_all();
    if let Some(structure) = environment::first_unknown_structure() {
        die::refuse(structure);
    }
    crate::hooks::find_all();
    crate::base::debug::find();
    threads::warm_up_threads();
    take_control(segment);
}

fn map_segment() -> Option<Segment> {
    // SAFETY: the launcher put the segment at this descriptor; the mapping stays for ever.
    unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        if libc::fstat(SEGMENT_FD, &raw mut status) != 0 {
            return None;
        }
        let size = status.st_size as usize;
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let base = libc::mmap(std::ptr::null_mut(), size, prot, flags, SEGMENT_FD, 0);
        if base == libc::MAP_FAILED { None } else { Segment::open(base.cast(), size).ok() }
    }
}

/// The thread that runs becomes `main`, alone for now.
fn take_control(segment: Segment) {
    let header = segment.header();
    let mut emit = Emit::new(&segment);
    let entry = ObjectEntry {
        class: ObjectClass::Thread as u8,
        region: RegionTag::Thread as u8,
        ..ObjectEntry::default()
    };
    let object = emit.add_object(entry, ObjectClass::Thread, 0);
    emit.add_thread(raddle_model::ThreadId(0));
    let main = ThreadRt::main(object);
    // SAFETY: the header is mapped for as long as the process lives.
    let has_fibers = unsafe { (*header).request.carrier == 0 };
    let shadow = Shadow::new();
    let library = Library::load();
    AT_LAST.get_or_init(|| end::end_by_bug);
    control::activate(Control {
        hot: Hot::new(main.fs, shadow.chunks()),
        me: raddle_model::ThreadId(0),
        is_inside: true,
        scheduler: Scheduler {
            has_fibers,
            has_fsgsbase: raddle_fiber::has_fsgsbase(),
            machine: Machine::new(object),
            delay_ns: 0,
            chooser: Chooser::new(&[], AnyPicker::Nonpreemptive(Nonpreemptive::new())),
            threads: vec![Box::new(main)],
            shared: Vec::new(),
            max_steps: u64::MAX,
            trial: None,
            waiting: Waiting::default(),
            known_done: Vec::new(),
            commons: [ObjectId::NONE; Common::ALL.len()],
            points: Points::Visible,
        },
        memory: Memory {
            peeks_from: None,
            shadow,
            detect: Detect::new(object),
            weak: Weak::new(),
            orders: Vec::new(),
            locksets: Locksets::default(),
            heap: Heap::default(),
            written: Written::NONE,
            told: BTreeSet::new(),
            tied: Vec::new(),
        },
        recorder: Recorder {
            ways: Ways::new(library.is_any()),
            modules: Modules::new(library),
            emit,
            stacks: Stacks::new(segment.caps().stacks),
            panics: Panics::default(),
            options: std::ptr::null_mut(),
            keeps_stacks: false,
            tells_lone: false,
            brief: BriefRoom::default(),
        },
        process: Process {
            is_execution: false,
            begin_early: begin_before_main,
            exit: None,
            lone_look: None,
            is_copy: false,
            io: Io::default(),
            signals: Signals::default(),
            check: Check::default(),
            forks: Forks::default(),
            keys: Vec::new(),
            listings: Vec::new(),
            plan_number: 0,
        },
        segment,
        header,
    });
    // SAFETY: we have just been put in control, on the thread that runs.
    unsafe {
        (*control()).find_modules();
        pauses::take_out(&*control());
        near::install(&mut *control(), crate::hooks::near());
        faults::install();
        crate::schedule::cancel::warm_up_unwinder();
        crate::hooks::register_handlers();
        (*control()).is_inside = false;
    }
}

/// An execution begins, inside a hook. Variables of its first thread are named by how far below `stack_base` they are.
fn begin_here(control: &mut Control, stack_base: usize) {
    let header = control.header;
    // SAFETY: the header and the block's entries are mapped for as long as the process lives.
    let (entry, plan_number) = unsafe {
        let idx = (*header).live.n_done.load(Relaxed) as usize;
        (*control.segment.entries().add(idx), (*header).request.plan_number)
    };
    if control.process.plan_number != plan_number {
        read_plan(control);
    }
    begin_execution(control, &entry);
    let picker = entry.picker().unwrap_or(PickerSpec::Nonpreemptive);
    if control.process.check.begin(header, picker, entry.n_prefix) {
        control.prepare_for_function();
    }
    control.this().stack_base = stack_base;
    control.watch_stack();
    control.process.is_execution = true;
    crate::base::debug::wait();
}

/// Takes blocks of executions from the launcher and runs them in processes forked from this one. Those begin with
/// `main`, or, if `is_early`, by coming back from here.
fn serve(is_early: bool) {
    adopt_orphans();
    checkpoint::remember_beginning();
    reply(Reply::Ready);
    loop {
        match next_command() {
            Command::Run => {}
            Command::Bury => {
                bury_orphans();
                continue;
            }
        }
        prepare_shadow();
        // SAFETY: the header is mapped for as long as the process lives. Other processes write to it: no reference to
        // all of it may live meanwhile.
        let header = unsafe { (*control()).header };
        crate::outside::traps::install(header, crate::hooks::raw_syscall);
        take_block(header);
        if run_block(header, is_early) == Side::Copy {
            return;
        }
        answer(header);
    }
}

/// Who comes back from a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Server,
    Copy,
}

/// Copies of executions outlive those who made them: they become children of the server.
fn adopt_orphans() {
    // SAFETY: says something about this process, no more.
    unsafe {
        raw::syscall(libc::SYS_prctl, [36 /* PR_SET_CHILD_SUBREAPER */, 1, 0, 0, 0, 0])
    };
}

/// Forgets those of them that have ended.
fn bury_orphans() {
    const NO_HANG: usize = 1;
    // SAFETY: asks for any child that has ended; no execution runs.
    while unsafe { raw::syscall(libc::SYS_wait4, [usize::MAX, 0, NO_HANG, 0, 0, 0]) } > 0 {}
}

/// Makes the chunks of the shadow that executions will use, so that they find them made.
fn prepare_shadow() {
    // SAFETY: no execution runs; `sbrk(0)` asks where the heap ends.
    unsafe {
        let heap_end = libc::sbrk(0) as usize;
        let control = &mut *control();
        let stacks = threads::stack_tops()
            .into_iter()
            .chain([control.scheduler.threads[0].stack_top, heap_end]);
        for top in stacks {
            control.memory.shadow.cell(top - 1);
        }
        for address in control.recorder.modules.data_addresses() {
            control.memory.shadow.cell(address);
        }
    }
}

/// Runs a block: each process that is forked runs one execution, or as many as it can be rewound for.
///
/// A process that lingers may have answered for this block and for others before it ends.
fn run_block(header: *mut Header, is_early: bool) -> Side {
    // SAFETY: the server alone runs, between executions.
    read_plan(unsafe { &mut *control() });
    loop {
        // SAFETY: the header is mapped; the field is atomic.
        let n_before = unsafe { (*header).live.n_done.load(Relaxed) } as usize;
        // SAFETY: as above; a process that lingers has blocks of one.
        rewind::prepare(unsafe { (*header).live.n_block } as usize - n_before);
        let told = FunctionEnd::of(header);
        let child = fork_patiently();
        if child == 0 {
            die_with_parent();
            if is_early {
                return Side::Copy;
            }
            rewind::begin(run_execution);
        }
        let Some(is_over) = end_process(header, child as i32) else { return Side::Server };
        if take_void(header, &told) {
            continue;
        }
        if control_ref().scheduler.has_fibers {
            threads::provide_donors(n_donors_wanted(header, n_before));
        }
        // SAFETY: as above.
        let is_done =
            unsafe { (*header).live.n_done.load(Relaxed) >= u64::from((*header).live.n_block) };
        if is_over || is_done {
            return Side::Server;
        }
    }
}

/// Forks. A machine that has no room for one more process now may have some soon: an execution that was not run must
/// not count as one.
fn fork_patiently() -> isize {
    const TRIES: u32 = 300;
    let pause = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    for _ in 0..TRIES {
        // SAFETY: the copy relies on no other kernel thread: donors are parked for ever.
        let child = unsafe { raw::fork() };
        if child >= 0 {
            return child;
        }
        // SAFETY: sleeps for a time of our own.
        unsafe {
            raw::syscall(libc::SYS_nanosleep, [&raw const pause as usize, 0, 0, 0, 0, 0]);
        }
    }
    raw::exit_group(NO_PROCESS_CODE)
}

/// What all executions of a plan have in common, whatever their prefix, picker and seed.
fn read_plan(control: &mut Control) {
    let header = control.header;
    // SAFETY: the launcher wrote so many names into the area, and waits.
    unsafe {
        let segment = control.segment;
        let names = segment.copy(segment.shared(), (*header).request.n_shared as usize);
        control.set_shared(names);
        control.scheduler.max_steps = (*header).request.max_steps;
        control.scheduler.points = Points::from_number((*header).request.points);
        control.recorder.options = match (*header).request.record_options {
            0 => std::ptr::null_mut(),
            _ => segment.options(),
        };
        control.recorder.keeps_stacks = (*header).request.record_options >= 2;
        control.recorder.tells_lone = (*header).request.record_options == 3;
        control.scheduler.machine.may_wake_spuriously = (*header).request.spurious == 1;
        control.scheduler.machine.may_reorder =
            (*header).request.timeouts == Timeouts::Any.number();
        control.process.signals.handlers = Handlers::from_number((*header).request.handlers);
        control.process.plan_number = (*header).request.plan_number;
    }
}

/// Waits for the process of executions, as [`end_execution`] does; `None` if it has answered for the last
/// one and was waiting.
fn end_process(header: *mut Header, child: i32) -> Option<bool> {
    // SAFETY: the header is mapped; the fields are atomic.
    unsafe { (*header).live.child.store(child, Relaxed) };
    let status = wait_for(child);
    leftovers::end_all(header);
    // SAFETY: as above.
    unsafe {
        (*header).live.child.store(0, Relaxed);
        let is_void = (*header).live.is_void == 1;
        let is_open = (*header).live.is_answered.load(Acquire) == 0;
        is_open.then(|| !is_void && count_last(header, status))
    }
}

/// Donors that the executions of a process would have liked to find.
fn n_donors_wanted(header: *mut Header, n_before: usize) -> usize {
    const MOST: u32 = 1024;
    let segment = &control_ref().segment;
    // SAFETY: so many summaries have been written.
    let summaries = unsafe {
        let n_done = (*header).live.n_done.load(Relaxed) as usize;
        std::slice::from_raw_parts(segment.summaries(), n_done)
    };
    // A process that has waited for other blocks ends in one of those.
    let n_before = n_before.min(summaries.len());
    let n_threads = summaries[n_before..].iter().map(|it| it.n_threads).max().unwrap_or(0);
    n_threads.saturating_sub(1).min(MOST) as usize
}

/// The plan becomes the chooser.
fn begin_execution(control: &mut Control, entry: &Entry) {
    let header = control.header;
    // SAFETY: the areas hold what the launcher wrote; they stay mapped and unchanged for the block.
    unsafe {
        let prefix = prefix(control, entry);
        control.scheduler.max_steps = (*header).request.max_steps;
        control.scheduler.trial = None;
        control.forget_waiting();
        control.scheduler.known_done.clear();
        control.scheduler.commons = [ObjectId::NONE; Common::ALL.len()];
        let Some(picker) = entry.picker() else {
            crate::base::die::die(&[b"the plan names a picker that this runtime does not have"]);
        };
        let origin = Origin {
            picker,
            seed: entry.seed,
            may_time_out: (*header).request.timeouts != Timeouts::Last.number(),
            profile: profile(header, &control.segment),
        };
        control.scheduler.chooser = Chooser::of(prefix, &origin);
        if (*header).request.n_block == 1 && (*header).request.is_brief == 0 {
            control.go_live();
        }
        random::restart();
        control.begin_detection();
    }
}

/// What the plan knows about the threads, where the launcher has put it.
unsafe fn profile(header: *const Header, segment: &Segment) -> ProfileView<'static> {
    // SAFETY: the launcher wrote so many into each area, of plain integers; the mapping stays for ever, and
    // nobody writes during a block.
    unsafe {
        ProfileView {
            n_choices: (*header).request.n_choices,
            n_threads: (*header).request.n_threads_known,
            lengths: slice::from_raw_parts(segment.lengths(), (*header).request.n_lengths as usize),
            interests: slice::from_raw_parts(
                segment.interests(),
                (*header).request.n_interests as usize,
            ),
            uses: slice::from_raw_parts(segment.uses(), (*header).request.n_uses as usize),
        }
    }
}
