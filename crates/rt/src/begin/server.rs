//! The beginning: is this program to be controlled, and by which plan? And the fork server: the
//! program stops before `main`, and each execution is a copy of it.

mod function;
mod leftovers;
mod start;

use std::{
    ffi::c_int,
    slice,
    sync::atomic::{AtomicPtr, Ordering::*},
};

use raddle_fiber::raw;
use raddle_machine::Machine;
use raddle_model::{
    End, Escape, Handlers, ObjectId, PickerSpec, Points, ProfileView, SiteId, Timeouts,
};
use raddle_pick::{AnyPicker, Chooser, Nonpreemptive, Origin};
use raddle_trace::{
    Common, Entry, Header, NoteEntry, ObjectClass, ObjectEntry, Segment, Summary,
    protocol::{
        self, COMMAND_FD, Command, NO_PROCESS_CODE, REPLY_FD, RegionTag, Reply, SEGMENT_FD,
        SEGMENT_VARIABLE,
    },
};

use crate::{
    base::real,
    begin::check::Check,
    control::{self, Control, Hot, Memory, Process, Recorder, Scheduler, control, is_active},
    memory::{access::Written, detect::Detect},
    outside::{forks::Forks, io::Io},
    process::{checkpoint, rewind},
    record::{emit::Emit, library::Library, panics::Panics, stacks::Stacks, ways::Ways},
    schedule::{
        signals::{self, Signals},
        threads::{self, ThreadRt},
        waiting::Waiting,
    },
    state::{heap::Heap, shadow::Shadow},
    tell::{end::Brief, names::Modules},
};

use function::{Told, take_void};
pub(crate) use function::{begin_at_function, forget_told, next_execution};
use start::run_execution;
pub(crate) use start::{begin_before_main, is_early, main_address};

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
        crate::tell::end::die(&[
            text.as_bytes(),
            b" at ",
            file.as_bytes(),
            b":",
            decimal(line, &mut digits),
        ]);
    }));
    let Some(segment) = map_segment() else {
        crate::tell::end::die(&[b"the segment that the launcher shares can't be mapped"]);
    };
    FOUND.store(segment.header(), Relaxed);
    // SAFETY: the header is mapped, and the launcher waits.
    unsafe { (*segment.header()).live.is_found = 1 };
    // SAFETY: M_ARENA_MAX: one heap for all threads, or addresses would depend on who runs where.
    unsafe { libc::mallopt(-8, 1) };
    real::find_all();
    crate::hooks::find_all();
    crate::base::debug::find();
    threads::have_had_two();
    take_control(segment);
}

pub(crate) fn decimal(number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut rest = number;
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return &digits[start..];
        }
    }
}

/// The segment's header, once it is mapped.
static FOUND: AtomicPtr<Header> = AtomicPtr::new(std::ptr::null_mut());

/// The runtime dies of a bug: what the launcher is to hear of it.
pub(crate) fn write_last_words(words: &[u8]) {
    let header = FOUND.load(Relaxed);
    if !header.is_null() {
        // SAFETY: the header is mapped for as long as the process lives, and this process does nothing more.
        unsafe { (*header).result.set_last_words(words) };
    }
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
            heap: Heap::default(),
            written: Written::NONE,
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
            brief: Brief::default(),
        },
        process: Process {
            is_execution: false,
            exit: None,
            is_copy: false,
            io: Io::default(),
            signals: Signals::default(),
            check: Check::default(),
            forks: Forks::default(),
            listings: Vec::new(),
            plan_number: 0,
        },
        segment,
        header,
    });
    // SAFETY: we have just been put in control, on the thread that runs.
    unsafe {
        (*control()).find_modules();
        signals::install();
        crate::hooks::warm_up_unwinder();
        crate::hooks::register_handlers();
        (*control()).is_inside = false;
    }
}

/// An execution begins, inside a hook. Variables of its first thread are named by how far below `stack_base` they are.
unsafe fn begin_here(stack_base: usize) {
    // SAFETY: the thread that runs is `main`, inside a hook.
    unsafe {
        let control = control();
        let header = (*control).header;
        let idx = (*header).live.n_done.load(Relaxed) as usize;
        let entry = *(*control).segment.entries().add(idx);
        if (*control).process.plan_number != (*header).request.plan_number {
            read_plan(header);
        }
        begin_execution(header, &entry);
        let picker = entry.picker().unwrap_or(PickerSpec::Nonpreemptive);
        if (*control).process.check.begin(header, picker, entry.n_prefix) {
            (*control).prepare_for_function();
        }
        (*control).this().stack_base = stack_base;
        (*control).watch_stack();
        (*control).process.is_execution = true;
        crate::base::debug::wait();
    }
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
        crate::outside::traps::install(header);
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

/// A block is begun: it has not been answered for.
fn take_block(header: *mut Header) {
    // SAFETY: the header is mapped; the field is atomic.
    unsafe { (*header).live.is_answered.store(0, Release) };
    begin_summary(header);
    reset_streams();
}

/// Says that the block is done, if nobody has.
pub(crate) fn answer(header: *mut Header) {
    // SAFETY: the header is mapped; the field is atomic.
    if unsafe { (*header).live.is_answered.swap(1, AcqRel) } == 0 {
        reply(Reply::Done);
    }
}

/// In a process that has been rewound, and has answered for its block: waits for the next one.
pub(crate) fn linger(header: *mut Header) {
    // Copies are the server's children; it will bury them all in the end.
    while next_command() != Command::Run {}
    take_block(header);
    // SAFETY: asks; the header is mapped, the field is atomic.
    unsafe {
        let me = raw::syscall(libc::SYS_getpid, [0; 6]);
        (*header).live.child.store(me as i32, Relaxed);
    }
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

/// Waits for what the launcher wants next; ends with the launcher.
fn next_command() -> Command {
    loop {
        let mut byte = 0_u8;
        // SAFETY: reads one byte into our own variable.
        let n_read = unsafe { syscall_io(libc::SYS_read, COMMAND_FD, &raw mut byte) };
        match Command::from_byte(byte) {
            Some(command) if n_read == 1 => return command,
            _ if n_read == -(libc::EINTR as isize) => {}
            _ => raw::exit_group(0),
        }
    }
}

unsafe fn syscall_io(number: i64, fd: c_int, byte: *mut u8) -> isize {
    // SAFETY: the caller gives one byte of its own.
    unsafe { raw::syscall(number, [fd as usize, byte as usize, 1, 0, 0, 0]) }
}

pub(crate) fn reply(reply: Reply) {
    let mut byte = reply as u8;
    // SAFETY: writes one byte of our own.
    unsafe { syscall_io(libc::SYS_write, REPLY_FD, &raw mut byte) };
}

/// Runs a block: each process that is forked runs one execution, or as many as it can be rewound for.
///
/// A process that lingers may have answered for this block and for others before it ends.
fn run_block(header: *mut Header, is_early: bool) -> Side {
    read_plan(header);
    loop {
        // SAFETY: the header is mapped; the field is atomic.
        let n_before = unsafe { (*header).live.n_done.load(Relaxed) } as usize;
        // SAFETY: as above; a process that lingers has blocks of one.
        rewind::prepare(unsafe { (*header).live.n_block } as usize - n_before);
        let told = Told::of(header);
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
fn read_plan(header: *mut Header) {
    // SAFETY: the launcher wrote so many names into the area, and waits.
    unsafe {
        let segment = (*control()).segment;
        let names = segment.copy(segment.shared(), (*header).request.n_shared as usize);
        (*control()).set_shared(names);
        (*control()).scheduler.max_steps = (*header).request.max_steps;
        (*control()).scheduler.points = match (*header).request.points {
            0 => Points::Sync,
            2 => Points::All,
            _ => Points::Visible,
        };
        (*control()).recorder.options = match (*header).request.record_options {
            0 => std::ptr::null_mut(),
            _ => segment.options(),
        };
        (*control()).recorder.keeps_stacks = (*header).request.record_options == 2;
        (*control()).scheduler.machine.may_wake_spuriously = (*header).request.spurious == 1;
        (*control()).scheduler.machine.may_reorder =
            (*header).request.timeouts == Timeouts::Any.number();
        (*control()).process.signals.handlers = Handlers::from_number((*header).request.handlers);
        (*control()).process.plan_number = (*header).request.plan_number;
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

/// Waits for the process of an execution, and counts the last one that it ran. Is the end of that one to be
/// looked at?
pub(crate) fn end_execution(header: *mut Header, child: i32) -> bool {
    // SAFETY: the header is mapped; the field is atomic.
    unsafe { (*header).live.child.store(child, Relaxed) };
    let status = wait_for(child);
    // SAFETY: as above.
    unsafe { (*header).live.child.store(0, Relaxed) };
    count_last(header, status)
}

fn count_last(header: *mut Header, status: i32) -> bool {
    settle_end(header, status);
    let is_over = is_looked_at(header);
    count_execution(header, &control_ref().segment);
    is_over
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

/// Counts an execution that has ended, and begins the account of the next one.
pub(crate) fn count_execution(header: *mut Header, segment: &Segment) {
    let n_done = count(header, segment);
    // SAFETY: the header is mapped; no execution runs.
    if !is_looked_at(header) && n_done < u64::from(unsafe { (*header).live.n_block }) {
        begin_summary(header);
        reset_streams();
    }
}

/// Counts an execution that has ended. How many are there now?
fn count(header: *mut Header, segment: &Segment) -> u64 {
    // SAFETY: the area has room for the block; no execution runs.
    unsafe {
        let n_done = (*header).live.n_done.load(Relaxed);
        let n_pairs = (*header).result.n_pairs.saturating_sub((*header).live.n_pairs_before);
        (*header).result.summary.n_pairs = n_pairs;
        *segment.summaries().add(n_done as usize) = (*header).result.summary;
        (*header).live.n_done.store(n_done + 1, Relaxed);
        n_done + 1
    }
}

/// If the execution that has just ended could not say how: what the kernel says.
fn settle_end(header: *mut Header, status: i32) {
    // SAFETY: the process that wrote has ended.
    unsafe {
        if (*header).result.is_end_written == 0 {
            let (kind, detail) = End::Lost(status).to_numbers();
            (*header).result.summary.end_kind = u32::from(kind);
            (*header).result.summary.end_detail = detail;
            (*header).result.summary.n_steps = (*header).live.heartbeat.load(Relaxed);
        }
    }
}

fn control_ref() -> &'static Control {
    // SAFETY: the server alone runs, between executions.
    unsafe { &*control() }
}

/// Each execution prints to an empty file and reads its input from the start.
pub(crate) fn reset_streams() {
    // SAFETY: both are the launcher's own files; where input can't be rewound nothing happens.
    unsafe {
        raw::syscall(libc::SYS_ftruncate, [1, 0, 0, 0, 0, 0]);
        raw::syscall(libc::SYS_lseek, [0, 0, 0, 0, 0, 0]);
    }
}

fn begin_summary(header: *mut Header) {
    // SAFETY: no execution runs.
    unsafe {
        (*header).result.summary = Summary::default();
        (*header).live.n_pairs_before = (*header).result.n_pairs;
        (*header).live.n_shared_before = (*header).result.n_shared_found;
        (*header).result.forget_end();
        (*header).live.forked_lock.store(0, Relaxed);
        (*header).live.heartbeat.store(0, Relaxed);
    }
}

/// Is the end of the last execution one that the launcher wants to see?
pub(crate) fn is_looked_at(header: *mut Header) -> bool {
    // SAFETY: no execution runs.
    let (summary, exit_is_fine) =
        unsafe { ((*header).result.summary, (*header).request.exit_is_fine == 1) };
    let end = End::from_numbers(summary.end_kind as u8, summary.end_detail);
    protocol::must_be_looked_at(end, exit_is_fine)
}

/// In the copy of a copy: the rest of the prefix is another one.
pub(crate) fn begin_copy(control: &mut Control) {
    die_with_parent();
    control.process.is_copy = true;
    // SAFETY: a copy runs blocks of one, and the launcher has written that one.
    let entry = unsafe { &*control.segment.entries() };
    control.scheduler.chooser.go_on_with(prefix(control, entry));
}

/// The prefix that the launcher wrote for an execution.
fn prefix(control: &Control, entry: &Entry) -> &'static [u32] {
    // SAFETY: the area holds what the launcher wrote; it stays mapped and unchanged for the block.
    unsafe {
        let start = control.segment.prefix().add(entry.prefix_at as usize);
        slice::from_raw_parts(start, entry.n_prefix as usize)
    }
}

/// In the copy: it does not outlive the server.
fn die_with_parent() {
    // SAFETY: a plain system call.
    unsafe {
        let (death, kill) = (libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize);
        raw::syscall(libc::SYS_prctl, [death, kill, 0, 0, 0, 0]);
    }
}

/// The plan becomes the chooser.
fn begin_execution(header: *mut Header, entry: &Entry) {
    // SAFETY: the areas hold what the launcher wrote; they stay mapped and unchanged for the block.
    unsafe {
        let control = control();
        let prefix = prefix(&*control, entry);
        (*control).scheduler.max_steps = (*header).request.max_steps;
        (*control).scheduler.trial = None;
        (*control).forget_waiting();
        (*control).scheduler.known_done.clear();
        (*control).scheduler.commons = [ObjectId::NONE; Common::ALL.len()];
        let Some(picker) = entry.picker() else {
            crate::tell::end::die(&[b"the plan names a picker that this runtime does not have"]);
        };
        let origin = Origin {
            picker,
            seed: entry.seed,
            may_time_out: (*header).request.timeouts != Timeouts::Last.number(),
            profile: profile(header, &(*control).segment),
        };
        (*control).scheduler.chooser = Chooser::of(prefix, &origin);
        if (*header).request.n_block == 1 && (*header).request.is_brief == 0 {
            (*control).go_live();
        }
        crate::hooks::seed_random(entry.seed);
        (*control).begin_detection();
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

fn wait_for(child: i32) -> i32 {
    let mut status = 0_i32;
    loop {
        // SAFETY: waits for our own child, into our own variable.
        let result = unsafe {
            raw::syscall(libc::SYS_wait4, [child as usize, &raw mut status as usize, 0, 0, 0, 0])
        };
        if result == child as isize || result == -(libc::ECHILD as isize) {
            return status;
        }
    }
}

impl Control {
    /// Says what could not be controlled, once for each place.
    pub(crate) fn note(&mut self, what: Escape, site: SiteId) {
        let n_max = self.segment.caps().notes;
        let place = self.recorder.emit.site_entry(site);
        // SAFETY: the header is mapped for as long as the process lives; between its blocks nobody else looks at results.
        let result = unsafe { &mut (*self.header).result };
        result.summary.n_uncontrolled += 1;
        let n_notes = result.n_notes.min(n_max);
        // SAFETY: the area has room for so many, of plain integers.
        let notes = unsafe { slice::from_raw_parts_mut(self.segment.notes(), n_max as usize) };
        let (known, free) = notes.split_at_mut(n_notes as usize);
        let is_same = |it: &&mut NoteEntry| it.frames[0] == place && it.what == what as u32;
        if let Some(it) = known.iter_mut().find(is_same) {
            it.count += 1;
            return;
        }
        let Some(it) = free.first_mut() else { return };
        (it.what, it.count, it.n_frames) = (what as u32, 1, 1);
        it.frames[0] = place;
        // They get no numbers: a note is new in one execution, and known in the next.
        for (frame, pc) in it.frames[1..].iter_mut().zip(self.hot.stack.callers()) {
            *frame = self.recorder.modules.site_entry(pc);
            it.n_frames += 1;
        }
        result.n_notes = n_notes + 1;
    }
}
