//! Tasks of async runtimes (tokio's): the order in which those are polled that are ready is the schedule's.
//!
//! A runtime takes the first task of its queue and polls it. Here, that is a step, and the schedule says whether the task is
//! polled now, put behind the others that are ready, or held until the thread would wait: until then all others, and the
//! future that the thread was asked for, were polled as far as they go. To put a task back is what its runtime does when it is
//! woken, with the one reference that the queue had: nothing is made up, a runtime may have taken another one first.
//!
//! A task is put off once at most before another one is polled, and a few times in all; it is held once: nobody starves.
//!
//! Not seen: the future that a thread is asked for (`block_on`), and what one task polls by itself (`join!`, sets of
//! futures). Where `select!` begins is the schedule's, too.

use std::{
    ffi::c_uint,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use raddle_model::{ObjectId, Op, OpKind, SiteId};
use raddle_trace::{ObjectClass, ObjectEntry, STACK_DEPTH, protocol::RegionTag};

use crate::{
    control::{Control, Inside, enter, enter_if, outside},
    hooks::{CALLER, caller},
    outside::tasks::{self, Functions, StandIns, functions},
    record::{library::TaskSort, stacks::Stack},
    schedule::{signals::leave, step::step},
    state::tasks::{Spawn, Task, Tasks, is_known_layout},
};

/// What takes the place of the runtime's functions.
pub(crate) fn stand_ins() -> StandIns {
    StandIns {
        poll: do_poll,
        dealloc: do_dealloc,
        shutdown: do_shutdown,
        number: number as *const () as usize,
        draw: draw as *const () as usize,
    }
}

/// How often a task is put off before it is polled, at most.
const PUT_OFF_MAX: u32 = 8;
/// How often a task that comes back at once is put off again. (A thread of several has a place for the task that was woken
/// last; three times in a row it is served before its queue.)
const RETURNS_MAX: u32 = 3;

/// What becomes of a task that is about to be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Now,
    /// Behind those that are ready now.
    Later,
    /// Behind all that can be done.
    Last,
}

unsafe extern "C-unwind" fn do_poll(header: usize, table: usize) {
    let own = functions(table);
    let turn = match enter() {
        Some(mut inside) => {
            // SAFETY: a task is about to be polled; the thread that runs is inside a hook.
            let turn = unsafe { turn(&mut inside, header, own) };
            if turn == Turn::Last {
                let me = inside.me;
                inside.scheduler.tasks.hold(me, header, table);
            }
            leave(turn, inside)
        }
        None => Turn::Now,
    };
    // SAFETY: the runtime's own functions, with its own task. Each takes the reference that we were given.
    unsafe {
        match turn {
            Turn::Now => {
                let begun = begin_poll(header);
                (own.poll)(header);
                end_poll(header, begun);
            }
            Turn::Later => (own.schedule)(header),
            Turn::Last => {}
        }
    }
}

/// A poll, as its steps are told from those of the runtime around it.
#[derive(Clone, Copy)]
struct Poll {
    /// The steps before it.
    n_steps: u64,
    /// The program's call that led to it.
    called_from: usize,
    object: ObjectId,
}

fn begin_poll(header: usize) -> Option<Poll> {
    let mut inside = enter()?;
    let (me, n_steps) = (inside.me, inside.recorder.emit.n_steps);
    let called_from = inside.own_caller();
    let task = inside.scheduler.tasks.find(header);
    let begun = task.map(|task| {
        task.polled_by = Some(me);
        Poll { n_steps, called_from, object: task.object }
    });
    leave(begun, inside)
}

/// A poll is over; the task may be, too, and its memory another one's.
fn end_poll(header: usize, begun: Option<Poll>) {
    let Some(begun) = begun else { return };
    let Some(mut inside) = enter() else { return };
    let awaits = inside.last_own_site(&begun);
    let task = inside.scheduler.tasks.find(header).filter(|it| it.object == begun.object);
    if let Some(task) = task {
        task.polled_by = None;
        task.awaits = awaits.unwrap_or(task.awaits);
    }
    leave((), inside);
}

/// The schedule's choice, inside a hook.
unsafe fn turn(inside: &mut Inside, header: usize, own: &Functions) -> Turn {
    // SAFETY: the caller promises a task; the borrows end before the step.
    unsafe {
        if own.sort == TaskSort::Pool {
            inside.claim(header, own.table);
            return Turn::Now;
        }
        let Some(task) = inside.task_at(header, own.table) else { return Turn::Now };
        let tasks = &inside.scheduler.tasks;
        let is_alone = own.sort == TaskSort::CurrentThread;
        let is_back = task.put_off_at == Some(tasks.n_polls);
        if is_back && !is_alone && task.n_returned < RETURNS_MAX {
            inside.scheduler.tasks.note_return(header);
            return Turn::Later;
        }
        let mut turns = [Turn::Now; 3];
        let mut n_turns = 1;
        let mut add = |turn: Turn, is_possible: bool| {
            if is_possible {
                turns[n_turns] = turn;
                n_turns += 1;
            }
        };
        let is_free = !is_back && task.n_put_off < PUT_OFF_MAX;
        add(Turn::Later, is_free && tasks.is_other_ready(header));
        add(Turn::Last, is_free && is_alone && tasks.has_driver && !task.was_held);
        let op = Op::on(OpKind::Task, task.object, task.spawn.site).arg(n_turns as u64);
        let chosen = step(inside, op).value as usize;
        let turn = turns[chosen.min(n_turns - 1)];
        inside.scheduler.tasks.note(header, turn);
        turn
    }
}

impl Tasks {
    /// A task that was put off comes back at once.
    fn note_return(&mut self, header: usize) {
        if let Some(task) = self.find(header) {
            task.n_returned += 1;
        }
    }

    fn note(&mut self, header: usize, turn: Turn) {
        let n_polls = self.n_polls;
        self.n_polls += u64::from(turn == Turn::Now);
        let Some(task) = self.find(header) else { return };
        match turn {
            Turn::Now => {
                (task.put_off_at, task.n_put_off, task.n_returned) = (None, 0, 0);
                task.was_held = false;
            }
            Turn::Later => {
                (task.put_off_at, task.n_returned) = (Some(n_polls), 0);
                task.n_put_off += 1;
            }
            Turn::Last => task.was_held = true,
        }
    }
}

impl Control {
    /// The task at an address; `None` if it is laid out in a way that we don't know, or no scheduler's.
    unsafe fn task_at(&mut self, header: usize, table: usize) -> Option<Task> {
        // SAFETY: the caller promises a task.
        if !unsafe { is_known_layout(header, table) } {
            return None;
        }
        if let Some(task) = self.scheduler.tasks.find(header) {
            return Some(*task);
        }
        // SAFETY: as above.
        let spawn = unsafe { self.claim(header, table) }.unwrap_or_default();
        let object = self.add_task_object(&spawn);
        let task = Task {
            header,
            spawn,
            object,
            put_off_at: None,
            n_put_off: 0,
            n_returned: 0,
            was_held: false,
            polled_by: None,
            awaits: SiteId(0),
        };
        self.scheduler.tasks.live.push(task);
        Some(task)
    }

    /// Where a task was spawned that is polled for the first time.
    unsafe fn claim(&mut self, header: usize, table: usize) -> Option<Spawn> {
        // SAFETY: the caller promises a task.
        unsafe { number_of(header, table) }.and_then(|it| self.scheduler.tasks.claim(it))
    }

    /// What stands for a task: what was spawned at a place, as a block of memory is what was allocated at one.
    fn add_task_object(&mut self, spawn: &Spawn) -> ObjectId {
        let class = ObjectClass::Task;
        let entry = ObjectEntry {
            class: class as u8,
            region: RegionTag::Task as u8,
            base: spawn.site.0,
            ordinal: spawn.ordinal,
            stack: spawn.stack.0,
            name: self.recorder.emit.site_hash(spawn.site),
            ..ObjectEntry::default()
        };
        self.recorder.emit.add_object(entry, class, 0)
    }

    /// The innermost call of the program's own that has led the thread that runs here; 0 if there is none.
    fn own_caller(&self) -> usize {
        let modules = &self.recorder.modules;
        self.hot.stack.callers().find(|it| modules.is_own_code(*it)).unwrap_or(0)
    }

    /// Where the program's own code stood at the last step of a poll.
    fn last_own_site(&self, poll: &Poll) -> Option<SiteId> {
        const LOOKED_AT: usize = 256;
        let (emit, modules) = (&self.recorder.emit, &self.recorder.modules);
        let n_steps = (emit.n_steps - poll.n_steps).min(LOOKED_AT as u64) as usize;
        let events = emit.last_events(n_steps);
        let own = |site: SiteId| {
            let mut site = site;
            while emit.site_entry(site).via != 0 {
                site = SiteId(emit.site_entry(site).via);
            }
            let pc = emit.site_pc(site);
            (modules.is_own_code(pc) && pc != poll.called_from).then_some(site)
        };
        let its = events.iter().rev().filter(|it| it.thread == self.me);
        its.filter_map(|it| own(it.site)).next()
    }

    /// A task is given this number; the program's call that spawns it is the innermost one that is not a library's.
    fn note_spawn(&mut self, number: u64) {
        let modules = &self.recorder.modules;
        let mut stack: Stack = [0; STACK_DEPTH];
        let calls = self.hot.stack.callers().skip_while(|it| !modules.is_own_code(*it));
        stack.iter_mut().zip(calls).for_each(|(to, pc)| *to = pc);
        let site = match stack[0] {
            0 => SiteId(0),
            pc => self.add_site(pc, false),
        };
        let stack = self.add_stack(&stack);
        self.scheduler.tasks.spawn(number, site, stack);
    }
}

/// The number that a task was given: its table says at which distances it has its parts, and this is one of them.
unsafe fn number_of(header: usize, table: usize) -> Option<u64> {
    const FUNCTIONS: usize = 7;
    const ID: usize = FUNCTIONS + 2;
    const FAR: usize = 1 << 12;
    // SAFETY: the caller promises a table, which has so many words, and a task of its type.
    unsafe {
        let distance = (table as *const usize).add(ID).read();
        let is_one = distance < FAR && distance.is_multiple_of(8);
        is_one.then(|| ((header + distance) as *const u64).read())
    }
}

unsafe extern "C-unwind" fn do_dealloc(header: usize, table: usize) {
    if let Some(mut inside) = enter() {
        inside.scheduler.tasks.forget(header);
        leave((), inside);
    }
    // SAFETY: the runtime's own function, with its own task.
    unsafe { (functions(table).dealloc)(header) };
}

/// The runtime ends, and with it its tasks. What we hold of one is given back by a poll, which finds that it is over.
unsafe extern "C-unwind" fn do_shutdown(header: usize, table: usize) {
    let own = functions(table);
    let mut was_held = false;
    if let Some(mut inside) = enter() {
        was_held = inside.scheduler.tasks.release(header);
        leave((), inside);
    }
    // SAFETY: the runtime's own functions, with its own task; we have a reference to it.
    unsafe {
        (own.shutdown)(header);
        if was_held {
            (own.poll)(header);
        }
    }
}

/// What is done with the tasks that a thread holds, when it would wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// It holds none.
    Nothing,
    /// They are ready before it waits.
    Before,
    /// They are ready after it has waited: the machine is slow.
    After,
}

/// The thread that runs would wait, for a time if `is_timed`, inside a hook.
pub(super) unsafe fn when_to_release(inside: &mut Inside, is_timed: bool) -> Release {
    let me = inside.me;
    let Some((header, _)) = inside.scheduler.tasks.first_held(me) else { return Release::Nothing };
    let Some(task) = inside.scheduler.tasks.find(header).map(|it| *it).filter(|_| is_timed) else {
        return Release::Before;
    };
    let op = Op::on(OpKind::Task, task.object, task.spawn.site).arg(2);
    match step(inside, op).value {
        0 => Release::Before,
        _ => Release::After,
    }
}

/// Makes the tasks ready that the thread that runs holds, inside a hook.
pub(super) unsafe fn release(inside: &mut Inside) {
    let me = inside.me;
    while let Some((header, table)) = inside.scheduler.tasks.first_held(me) {
        inside.scheduler.tasks.release(header);
        // SAFETY: the runtime's own function, with its own task and the reference that we were given.
        outside(inside, || unsafe { (functions(table).schedule)(header) });
    }
}

/// Numbers a task: in place of tokio's `Id::next`.
unsafe extern "C-unwind" fn do_number() -> u64 {
    // SAFETY: the launcher has found the counter, which is an atomic one.
    let number = unsafe { AtomicU64::from_ptr(tasks::counter()) }.fetch_add(1, Relaxed);
    if let Some(mut inside) = enter() {
        inside.note_spawn(number);
        leave((), inside);
    }
    number
}

/// One of the numbers below `n_choices`: in place of tokio's `thread_rng_n`.
unsafe extern "C-unwind" fn do_draw(n_choices: c_uint) -> c_uint {
    let caller = caller();
    let Some(mut inside) = enter_if(n_choices >= 2) else { return 0 };
    let site = inside.site(caller);
    let op = Op::on(OpKind::Task, ObjectId::NONE, site).arg(u64::from(n_choices));
    let chosen = step(&mut inside, op).value;
    leave(chosen as c_uint, inside)
}

/// Functions that others jump to, and that note where those were called from.
macro_rules! entries {
    ($($name:ident => $work:path;)*) => {$(
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov r11, [rsp]",
                "mov [rip + {caller}], r11",
                "lea r11, [rsp + 8]",
                "mov [rip + {caller} + 8], r11",
                "jmp {work}",
                caller = sym CALLER,
                work = sym $work,
            )
        }
    )*};
}

entries! {
    number => do_number;
    draw => do_draw;
}
