//! `raddle_check`: a function is explored, instead of the whole program.
//!
//! A function is a program that is cheap to go back to the beginning of. What the program does until it calls
//! `raddle_check` is preparation, done once in a process and always under the same schedule. From then on
//! every plan of a block is one call of the function, on the thread that called; the runtime's own state is
//! made what it was before each call, threads run on the stacks of those before them, and nothing is
//! forked, mapped, created or allocated. Whatever ends otherwise than by a return ends the process as always,
//! and the next one prepares anew. Plans, traces and findings know nothing of all this: only where executions
//! begin is another place.
//!
//! Whether executions can begin there is found out first ([`Begin`]), by a run of the whole program under the
//! schedule that every campaign begins with; so the answer is the same in each process. The function runs
//! twice in it, and must do the same both times: what it leaves behind in static variables or in the heap
//! would make executions depend on those before them. They can't begin there either if `raddle_check` is
//! called twice, while another thread could go on or a lock is held, if threads wake that waited before it,
//! or if threads run on stacks of the program's. Then they begin with `main`, as all others do, and the
//! function is an ordinary one.
//!
//! What it misses: the program's heap is not put back, so addresses may differ from execution to execution.

use std::ffi::{c_int, c_void};

use raddle_fiber::raw;
use raddle_model::{End, Escape, Event, Misuse, ObjectId, SiteId};
use raddle_pick::{AnyPicker, Chooser, Nonpreemptive};
use raddle_trace::Begin;

use crate::{
    base::{locals, random},
    begin::server,
    control::{self, Control, Inside, enter_if, is_active},
    process::launcher::{self, leave_void, tell_begin},
    record::stack::Caller,
    schedule::{signals::leave, step::yield_now},
    state::{
        accesses::{self, Written},
        check::Beginning,
        forks::Forks,
    },
    tell::end,
};

/// A function to be explored. What it returns is 0, unless it has failed and its caller will say how.
pub(crate) type Function = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// A process is as good as new for so many executions: then memory that they have lost is given back.
const SERVED_MAX: u64 = 1 << 22;
/// Output of so many executions may be found together.
const STREAMS_EVERY: u64 = 64;
/// Steps that are compared one by one.
const EVENTS_MAX: usize = 1 << 12;

/// Explores `function(arg)`. Returns when that is not wanted any more, or not possible; with what it
/// returned if it has failed.
pub(crate) unsafe fn check(function: Function, arg: *mut c_void, caller: Caller) -> c_int {
    // SAFETY: the program's promises are passed on; the thread that runs is inside a hook from `enter` on.
    unsafe {
        let Some(mut inside) = enter_if(is_active()) else { return function(arg) };
        let site = inside.site(caller);
        inside.process.check.n_calls += 1;
        let header = inside.header;
        let begin = Begin::from_number((*header).live.begin);
        if begin == Begin::Function && inside.process.is_execution {
            return serve(inside, function, arg, site);
        }
        if begin == Begin::Unknown && inside.process.is_execution && !inside.process.check.is_asking
        {
            tell_begin(header, Begin::Asked);
            leave_void(header);
        }
        if !inside.process.check.is_asking {
            return call(inside, function, arg, caller);
        }
        if inside.process.check.n_calls > 1 || !inside.can_begin_here() {
            inside.process.check.is_refused = true;
            return call(inside, function, arg, caller);
        }
        inside.prepare_for_function();
        run_twice(inside, function, arg, site)
    }
}

/// Calls the function, from inside a hook, and leaves that with what it returns.
/// What it is called by is ours, so the call of ours is put among the program's calls.
unsafe fn call(mut inside: Inside, function: Function, arg: *mut c_void, caller: Caller) -> c_int {
    let sp = caller.sp - size_of::<usize>();
    inside.hot.stack.push(caller.pc, sp);
    leave((), inside);
    // SAFETY: the program's promises are passed on.
    let code = unsafe { function(arg) };
    if let Some(mut inside) = enter_if(is_active()) {
        inside.hot.stack.drop_dead(sp);
        leave((), inside);
    }
    code
}

/// Lets it run twice from the same beginning: is what it does the same?
unsafe fn run_twice(
    mut inside: Inside,
    function: Function,
    arg: *mut c_void,
    site: SiteId,
) -> c_int {
    // SAFETY: the program's promises are passed on; the thread that runs is inside a hook.
    unsafe {
        inside.keep_beginning();
        for run in 0..2 {
            inside.process.check.is_again = run == 1;
            inside.go_back();
            inside.scheduler.chooser = baseline();
            let code = control::outside(&mut inside, || function(arg));
            if code != 0 {
                inside.process.check.is_refused = true;
                inside.process.check.n_before = 0;
                return leave(code, inside);
            }
            await_threads(&mut inside, site);
            if run == 0 {
                inside.process.check.first =
                    (inside.recorder.emit.digest, inside.recorder.emit.last_events(EVENTS_MAX));
                // What std does only once takes no number from what it does each time.
                inside.keep_sites();
            }
        }
        inside.process.check.is_again = false;
        inside.compare_with_first();
        inside.process.check.is_refused |= !inside.go_back();
        inside.process.check.n_before = 0;
        inside.scheduler.chooser = baseline();
        leave(0, inside)
    }
}

/// The schedule that every campaign begins with.
pub(crate) fn baseline() -> Chooser<'static> {
    Chooser::new(&[], AnyPicker::Nonpreemptive(Nonpreemptive::new()))
}

/// Runs executions, one after the other, as long as they end well.
unsafe fn serve(mut inside: Inside, function: Function, arg: *mut c_void, site: SiteId) -> c_int {
    // SAFETY: the program's promises are passed on; the thread that runs is inside a hook.
    unsafe {
        inside.keep_beginning();
        let code = warm_up(&mut inside, function, arg, site);
        if code != 0 {
            return leave(code, inside);
        }
        loop {
            inside.go_back();
            server::begin_at_function(&mut inside);
            let code = control::outside(&mut inside, || function(arg));
            if code != 0 {
                inside.process.check.n_before = 0;
                return leave(code, inside);
            }
            await_threads(&mut inside, site);
            end::tell(&mut inside, End::Exit(0), None, SiteId(0), ObjectId::NONE, b"");
            inside.process.check.n_served += 1;
            let n_served = inside.process.check.n_served;
            if !server::next_execution(
                &inside,
                n_served.is_multiple_of(STREAMS_EVERY),
                n_served < SERVED_MAX,
            ) {
                raw::exit_group(0);
            }
        }
    }
}

/// Runs the function once, as in every process: the places that it comes to have the same numbers in all
/// executions then, and need not be found in each. (Those too that only who looks for races asks for.)
unsafe fn warm_up(
    inside: &mut Inside,
    function: Function,
    arg: *mut c_void,
    site: SiteId,
) -> c_int {
    // SAFETY: the program's promises are passed on; the thread that runs is inside a hook.
    unsafe {
        let header = inside.header;
        let (n_races, n_sightings) = ((*header).result.n_races, (*header).result.n_sightings);
        inside.go_back();
        inside.begin_detection();
        inside.scheduler.chooser = baseline();
        let code = control::outside(inside, || function(arg));
        if code != 0 {
            inside.process.check.n_before = 0;
            return code;
        }
        await_threads(inside, site);
        inside.keep_sites();
        ((*header).result.n_races, (*header).result.n_sightings) = (n_races, n_sightings);
        server::forget_told(header);
        launcher::reset_streams();
        0
    }
}

/// What was printed and not written is an earlier execution's.
fn forget_output() {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
        fn __fpurge(stream: *mut libc::FILE);
    }
    // SAFETY: the C library's stream; no thread of the program uses it now.
    unsafe { __fpurge(stdout) };
}

/// The function has returned, but threads that it has created have not finished: they may go on to their end. (The
/// end of a `thread::scope` waits for closures, not for the threads that ran them.) Who has not come there soon never
/// will, or does more than finish.
unsafe fn await_threads(inside: &mut Inside, site: SiteId) {
    const TURNS_MAX: u32 = 1_000;
    let beginning = inside.process.check.beginning.as_ref().expect("bug: it has begun");
    let n_before = beginning.machine.n_live();
    for _ in 0..TURNS_MAX {
        if inside.scheduler.machine.n_live() <= n_before {
            return;
        }
        if inside.scheduler.machine.n_enabled() == 0 {
            break;
        }
        yield_now(inside, site);
    }
    end::end(inside, End::Misuse(Misuse::ThreadsLeft), site, b"");
}

impl Control {
    fn can_begin_here(&self) -> bool {
        self.scheduler.machine.n_enabled() == 0
            && self.scheduler.machine.timed().is_empty()
            && self.recorder.emit.coverage.held(self.me).is_empty()
            && self.process.io.n_waiting == 0
            && !self.process.signals.is_any_pending
            && self.process.is_execution
    }

    /// Keeps what executions begin with.
    fn keep_beginning(&mut self) {
        let machine = self.scheduler.machine.clone();
        // SAFETY: flushes all streams; nothing is scheduled inside a hook.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        let is_small = self.memory.shadow.forget_accesses(|it| machine.has_object(it));
        self.process.check.is_refused |= !is_small;
        self.process.check.n_before = machine.n_threads();
        let thread = &self.scheduler.threads[self.me.idx()];
        self.process.check.beginning = Some(Box::new(Beginning {
            emit: self.recorder.emit.mark(),
            ordinals: self.memory.heap.ordinals(),
            thread: self.me,
            sp: raw::stack_pointer(),
            depth: self.hot.stack.depth(),
            n_destructors: thread.destructors.len(),
            locals: locals::Saved::of_this_thread(),
            machine,
        }));
    }

    /// Places that have been met have the same numbers in all that begins from now on.
    fn keep_sites(&mut self) {
        let beginning = self.process.check.beginning.as_mut().expect("bug: no beginning was kept");
        beginning.emit.keep_sites(&self.recorder.emit);
        beginning.ordinals.resize(self.recorder.emit.n_sites(), 0);
    }

    /// Goes back to what was kept. `false` if a thread ran on a stack that is the program's.
    fn go_back(&mut self) -> bool {
        let beginning = self.process.check.beginning.take().expect("bug: no beginning was kept");
        let n_threads = beginning.machine.n_threads() as usize;
        self.me = beginning.thread;
        let are_stacks_ours = self.take_back_threads(n_threads);
        self.scheduler.machine.restore(&beginning.machine);
        self.recorder.emit.restore(&beginning.emit);
        self.recorder.ways.restart();
        self.memory.heap.restart(&beginning.ordinals);
        self.memory.shadow.undo();
        self.memory.detect.restart(self.scheduler.threads.iter().map(|it| it.object));
        self.memory.locksets.restart();
        self.process.io.restart(self.recorder.emit.n_objects());
        self.recorder.panics.clear();
        forget_output();
        self.process.signals.restart();
        self.process.forks = Forks::default();
        self.process.listings.clear();
        accesses::restart();
        self.memory.written = Written::NONE;
        random::restart();
        self.hot.stack.truncate(beginning.depth);
        let thread = self.this();
        thread.destructors.truncate(beginning.n_destructors);
        thread.spin.reset();
        beginning.locals.restore();
        self.process.check.beginning = Some(beginning);
        // What was before happens before all that is to come, unless somebody waits to go on.
        control::set_tracking(n_threads > 1);
        self.set_mine();
        let n_bytes =
            self.process.check.n_searched.min(self.this().room_below(raw::stack_pointer()));
        // SAFETY: there is so much room.
        unsafe { raw::clear_below(n_bytes) };
        are_stacks_ours
    }

    /// Does the last run of the function differ from the first? Then says where they do first.
    fn compare_with_first(&mut self) {
        let (digest, first) = std::mem::take(&mut self.process.check.first);
        if digest == self.recorder.emit.digest {
            return;
        }
        self.process.check.is_refused = true;
        let second = self.recorder.emit.last_events(EVENTS_MAX);
        let is_same = |(one, other): &(&Event, &Event)| {
            (one.thread, one.kind, one.object, one.site)
                == (other.thread, other.kind, other.object, other.site)
        };
        let n_same = first.iter().zip(&second).take_while(is_same).count();
        let site = second.get(n_same).or(first.get(n_same)).map_or(SiteId(0), |it| it.site);
        self.note(Escape::UnequalCheck, site);
    }
}
