//! What happened before what in an execution, and which of its steps are in a race.
//!
//! A step happens before another if it has to come before it in every execution that is equivalent
//! (Mazurkiewicz): because they are of one thread, because they depend on each other, or because the one let
//! the other go on. This is the transitive closure, kept as a vector clock for each step: for each thread the
//! number of its last step that happens before, plus one.
//!
//! Two steps of different threads are in a *race* if they depend on each other, could both be possible in one
//! state, and nothing else puts them in order. A thread that waits for a lock is in a race with whoever took
//! it: the release in between belongs to the lock, not to the past of the one who waits. A wait
//! that was ended by a signal has the signal in its past.
//!
//! Where time jumps to a deadline because nobody can go on, all that happens later comes after all before.
//!
//! What it misses: that time goes by. Each step takes a moment, so two steps that don't depend on each other
//! here may be told apart by a clock, and a deadline may pass by itself. A thread that yields goes on after
//! some step of another; the first one there was counts as what let it go on.

mod enable;
mod needless;
mod races;
mod sequence;

use raddle_model::{
    Conflict, Effect, Flags, MemoryModel, ObjectId, OpKind, OpResult, ThreadId, conflict,
};

pub(crate) use self::sequence::Sequence;
use super::deed::{Deed, FENCES, Marks};
use crate::search::{
    ObjectName, Pending, Step,
    run::{last_look, repeats},
};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct HappensBefore {
    may_time_out: bool,
    memory: MemoryModel,
    /// ThreadSet that a clock has room for.
    n_threads: usize,
    events: Vec<Event>,
    clocks: Vec<u32>,
    /// By thread: its last step, plus one.
    last: Vec<u32>,
    /// By thread: the step that created it, plus one.
    created: Vec<u32>,
    /// By object.
    lists: Vec<Vec<Entry>>,
    /// By name: what no op names.
    beyond: Vec<(u64, Vec<Entry>)>,
    /// Steps before which time jumped to a deadline, and the last steps of all threads before each.
    jumps: Vec<(usize, Vec<u32>)>,
    /// The past of the op that was asked about last: without what its objects add.
    past: Vec<u32>,
    /// Its clock.
    clock: Vec<u32>,
    /// Its races.
    found: Vec<usize>,
    /// Room for a sequence, and for a clock.
    spare: Sequence,
    without: Vec<u32>,
}

/// What is kept about a step.
#[derive(Clone, Copy, Debug)]
struct Event {
    thread: ThreadId,
    /// The thread's step before, plus one.
    previous: u32,
    deed: Deed,
    lists: [Option<ListIdx>; 3],
    /// How deep the thread holds the lock after it; negative: how deep it will hold it again after its wait.
    depth: i32,
    /// It read again what it had read before: it only waits.
    is_repeat: bool,
}

/// Where the uses of an object are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListIdx {
    Object(usize),
    Beyond(usize),
}

/// A use of an object.
#[derive(Clone, Copy, Debug)]
struct Entry {
    event: u32,
    how: Effect,
    /// The last entry before it that covers others, plus one.
    cover: u32,
    /// Is every store to the object, up to it, sequentially consistent?
    is_in_order: bool,
}

/// An op whose past and races are asked for: the next step, or one that was never taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) op: Pending,
    event: Event,
    /// Its deadline passed because nobody could go on.
    has_jumped: bool,
    /// When its thread, which waits by looking, looked last.
    looked: Option<usize>,
}

/// What an op does, as far as its thread's own past tells.
#[derive(Clone, Copy, Debug)]
struct Doing {
    deed: Deed,
    depth: i32,
    is_repeat: bool,
    looked: Option<usize>,
}

impl Asked {
    pub(crate) fn deed(&self) -> &Deed {
        &self.event.deed
    }

    /// Steps up to here were taken when its thread came to it.
    pub(crate) fn announced(&self) -> usize {
        self.event.previous as usize
    }
}

/// Does every earlier use that matters to the second come before the first, which matters too?
const fn covers(first: Effect, second: Effect) -> bool {
    match first {
        Effect::Change => matches!(second, Effect::Look | Effect::LookInOrder | Effect::Change),
        Effect::Take | Effect::TryTake | Effect::Whole => true,
        _ => false,
    }
}

impl HappensBefore {
    pub(crate) fn new(may_time_out: bool, memory: MemoryModel) -> HappensBefore {
        HappensBefore { may_time_out, memory, ..HappensBefore::default() }
    }

    /// What a step did.
    pub(crate) fn deed(&self, step: usize) -> &Deed {
        &self.events[step].deed
    }

    /// The steps known.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Forgets the steps from `n_steps` on.
    pub(crate) fn cut(&mut self, n_steps: usize) {
        for idx in (n_steps..self.events.len()).rev() {
            let event = self.events[idx];
            self.last[event.thread.idx()] = event.previous;
            for list in event.lists.into_iter().flatten() {
                self.list_mut(list).pop();
            }
        }
        self.jumps.retain(|it| it.0 < n_steps);
        self.events.truncate(n_steps);
        self.clocks.truncate(n_steps * self.n_threads);
        for creator in &mut self.created {
            if n_steps < *creator as usize {
                *creator = 0;
            }
        }
    }

    /// Does one step happen before another, later one?
    pub(crate) fn is_before(&self, first: usize, second: usize) -> bool {
        let thread = self.events[first].thread.idx();
        (first as u32) < self.clocks[second * self.n_threads + thread]
    }

    /// Asks about the next step.
    pub(crate) fn ask_step(&mut self, steps: &[Step], objects: &[ObjectName]) -> Asked {
        let step = &steps[self.events.len()];
        let op = step.op();
        self.widen(step.thread);
        let depth = self.depth(&op, Some(step.result));
        let deed = Deed::done(step, objects, self.marks(&op, depth, steps));
        let looked = last_look(&op, &steps[..self.events.len()]);
        let is_repeat = repeats(steps, self.events.len(), looked);
        self.ask(op, Doing { deed, depth, is_repeat, looked }, steps)
    }

    /// Asks about an op that was pending when the execution ended.
    pub(crate) fn ask_pending(
        &mut self,
        op: &Pending,
        steps: &[Step],
        objects: &[ObjectName],
    ) -> Asked {
        self.widen(op.thread);
        let depth = self.depth(op, None);
        let deed = Deed::pending(op, objects, self.marks(op, depth, steps));
        let looked = last_look(op, &steps[..self.events.len()]);
        self.ask(*op, Doing { deed, depth, is_repeat: false, looked }, steps)
    }

    fn ask(&mut self, op: Pending, doing: Doing, steps: &[Step]) -> Asked {
        let Doing { deed, depth, is_repeat, looked } = doing;
        // A lock that is held already is not touched, but how deep it is held must be found again.
        let is_used = |idx: usize| {
            deed.uses[idx].0 != 0 && (deed.uses[idx].1 != Effect::Nothing || depth != 0)
        };
        let lists = [
            is_used(0).then(|| self.object_list(op.object)),
            match deed.uses[1].0 {
                FENCES => Some(self.beyond_list(FENCES)),
                _ => is_used(1).then(|| self.object_list(op.other)),
            },
            is_used(2).then(|| self.beyond_list(deed.uses[2].0)),
        ];
        let previous = self.last[op.thread.idx()];
        let event = Event { thread: op.thread, previous, deed, lists, depth, is_repeat };
        let has_jumped = self.has_jumped(&op, steps);
        if has_jumped {
            self.jump(op.thread, steps);
        }
        let asked = Asked { op, event, has_jumped, looked };
        self.set_past(&asked, steps);
        self.set_clock(&asked, steps);
        asked
    }

    /// Adds the step that was asked about last.
    pub(crate) fn push(&mut self, asked: &Asked, steps: &[Step]) {
        let event = asked.event;
        let number = self.events.len() as u32;
        self.clock[event.thread.idx()] = number + 1;
        self.clocks.extend_from_slice(&self.clock);
        self.last[event.thread.idx()] = number + 1;
        for (list, (_, how)) in event.lists.into_iter().zip(event.deed.uses) {
            if let Some(list) = list {
                let list = self.list_mut(list);
                let cover = match list.last() {
                    Some(it) if covers(it.how, it.how) => list.len() as u32,
                    Some(it) => it.cover,
                    None => 0,
                };
                let is_in_order = list.last().is_none_or(|it| it.is_in_order)
                    && (how != Effect::Change || !asked.op.is_weak);
                list.push(Entry { event: number, how, cover, is_in_order });
            }
        }
        if asked.op.kind == OpKind::Spawn {
            let child = ThreadId(steps[number as usize].value as u32);
            self.widen(child);
            self.created[child.idx()] = number + 1;
        }
        self.events.push(event);
    }

    /// Makes room in clocks for a thread.
    fn widen(&mut self, thread: ThreadId) {
        if thread.idx() < self.n_threads {
            return;
        }
        let n_threads = (thread.idx() + 1).next_power_of_two().max(4);
        let mut clocks = Vec::with_capacity(self.events.len() * n_threads);
        for clock in self.clocks.chunks(self.n_threads.max(1)) {
            clocks.extend_from_slice(clock);
            clocks.resize(clocks.len() + n_threads - clock.len(), 0);
        }
        self.clocks = clocks;
        self.last.resize(n_threads, 0);
        self.jumps.iter_mut().for_each(|it| it.1.resize(n_threads, 0));
        self.created.resize(n_threads, 0);
        self.past.resize(n_threads, 0);
        self.clock.resize(n_threads, 0);
        self.n_threads = n_threads;
    }

    fn clock_of(&self, step: usize) -> &[u32] {
        &self.clocks[step * self.n_threads..(step + 1) * self.n_threads]
    }

    fn list(&self, idx: ListIdx) -> &[Entry] {
        match idx {
            ListIdx::Object(idx) => &self.lists[idx],
            ListIdx::Beyond(idx) => &self.beyond[idx].1,
        }
    }

    fn list_mut(&mut self, idx: ListIdx) -> &mut Vec<Entry> {
        match idx {
            ListIdx::Object(idx) => &mut self.lists[idx],
            ListIdx::Beyond(idx) => &mut self.beyond[idx].1,
        }
    }

    fn object_list(&mut self, object: ObjectId) -> ListIdx {
        if self.lists.len() <= object.idx() {
            self.lists.resize_with(object.idx() + 1, Vec::new);
        }
        ListIdx::Object(object.idx())
    }

    fn beyond_list(&mut self, name: u64) -> ListIdx {
        let known = self.beyond.iter().position(|it| it.0 == name);
        ListIdx::Beyond(known.unwrap_or_else(|| {
            self.beyond.push((name, Vec::new()));
            self.beyond.len() - 1
        }))
    }

    /// All uses of an object so far.
    fn uses(&self, object: ObjectId) -> &[Entry] {
        self.lists.get(object.idx()).map_or(&[], |it| it)
    }

    /// The last step of a thread on an object.
    fn last_on(&self, thread: ThreadId, object: ObjectId) -> Option<usize> {
        let own = |it: &&Entry| self.events[it.event as usize].thread == thread;
        self.uses(object).iter().rev().find(own).map(|it| it.event as usize)
    }

    /// How deep the thread holds the op's lock when it has been performed.
    fn depth(&self, op: &Pending, result: Option<OpResult>) -> i32 {
        let object = match op.kind {
            OpKind::CondWait | OpKind::CondWake => op.other,
            OpKind::Lock | OpKind::TryLock | OpKind::Unlock => op.object,
            _ => return 0,
        };
        let before = self.last_on(op.thread, object).map_or(0, |it| self.events[it].depth);
        use OpResult::{Busy, Misused, NotOwner, TimedOut, WouldDeadlock};
        let has_changed =
            !matches!(result, Some(Busy | TimedOut | WouldDeadlock | NotOwner | Misused));
        match op.kind {
            OpKind::CondWait => -before,
            OpKind::CondWake => before.abs(),
            OpKind::Unlock => (before - i32::from(has_changed)).max(0),
            _ => before + i32::from(has_changed),
        }
    }

    fn marks(&self, op: &Pending, depth: i32, steps: &[Step]) -> Marks {
        let is_nested = match op.kind {
            OpKind::Lock | OpKind::TryLock => depth > 1,
            OpKind::Unlock => depth > 0,
            _ => false,
        };
        let is_read = op.kind == OpKind::RwUnlock && self.has_shared(op);
        let is_timed = match Effect::of(op.kind) {
            Effect::Leave => self.could_end(op, steps),
            _ => op.flags.has(Flags::TIMED) || op.kind == OpKind::Sleep,
        };
        Marks {
            is_read,
            is_nested,
            has_left: op.kind == OpKind::CondWake && self.has_left(op, steps),
            is_over: op.flags.has(Flags::TIMED_OUT) || op.flags.has(Flags::SPURIOUS),
            is_timed: is_timed && self.may_time_out,
            memory: self.memory,
            is_in_order: self.uses(op.object).last().is_none_or(|it| it.is_in_order),
        }
    }

    /// Did the deadline of the next step pass because nobody could go on?
    fn has_jumped(&self, op: &Pending, steps: &[Step]) -> bool {
        if !op.flags.has(Flags::TIMED_OUT) {
            return false;
        }
        let is_enabled = steps.get(self.events.len()).is_some_and(|it| it.enabled.has(op.thread));
        let could_end = self.may_time_out && self.could_end(op, steps);
        let has_left = op.kind == OpKind::CondWake && self.has_left(op, steps);
        is_enabled && !could_end && !has_left
    }

    /// Time has jumped to the deadline of a thread: before the next step, unless it did so before an earlier
    /// one already and the thread could go on since then.
    fn jump(&mut self, thread: ThreadId, steps: &[Step]) {
        let is_known = self.jumps.last().is_some_and(|it| steps[it.0].enabled.has(thread));
        if !is_known {
            self.jumps.push((self.events.len(), self.last.clone()));
        }
    }

    /// Could a wait have ended by itself? That is seen in the state in which the thread came to it; it could
    /// if it ended there at once.
    fn could_end(&self, op: &Pending, steps: &[Step]) -> bool {
        let is_over = op.flags.has(Flags::TIMED_OUT);
        let (last, created) = (self.last[op.thread.idx()], self.created[op.thread.idx()]);
        let came = if last == 0 { created } else { last };
        steps
            .get(came as usize)
            .is_some_and(|it| it.timed.has(op.thread) || is_over && it.enabled.has(op.thread))
    }

    /// Has the thread left the queue at a condition variable already, and found its mutex held?
    fn has_left(&self, op: &Pending, steps: &[Step]) -> bool {
        let previous = (self.last[op.thread.idx()] as usize).checked_sub(1);
        previous.is_some_and(|it| steps[it].kind == OpKind::CondWake)
    }

    /// Does the thread hold the rwlock for reading?
    fn has_shared(&self, op: &Pending) -> bool {
        let own = |it: &&Entry| self.events[it.event as usize].thread == op.thread;
        let mut taken = self.uses(op.object).iter().rev().filter(own).map(|it| it.how);
        taken
            .find(|it| {
                matches!(it, Effect::Take | Effect::TryTake | Effect::Share | Effect::TryShare)
            })
            .is_some_and(|it| matches!(it, Effect::Share | Effect::TryShare))
    }

    /// What happens before an op: its past, and what its objects' earlier uses add.
    fn set_clock(&mut self, asked: &Asked, steps: &[Step]) {
        let mut clock = std::mem::take(&mut self.clock);
        clock.copy_from_slice(&self.past);
        if let Some(post) = self.post_for(asked, steps) {
            join(&mut clock, self.clock_of(post));
        }
        if let Some((_, before)) = self.jumps.last() {
            join(&mut clock, before);
        }
        for (list, (_, how)) in asked.event.lists.into_iter().zip(asked.event.deed.uses) {
            let Some(list) = list else { continue };
            self.walk(list, how, |entry, conflict| {
                if matches!(conflict, Conflict::Ordered | Conflict::Race) {
                    join(&mut clock, self.clock_of(entry.event as usize));
                }
            });
        }
        self.clock = clock;
    }

    /// Goes back through the uses of an object that matter to a new one.
    fn walk(&self, list: ListIdx, how: Effect, mut each: impl FnMut(&Entry, Conflict)) {
        let entries = self.list(list);
        let mut left = entries.len();
        while let Some(idx) = left.checked_sub(1) {
            let entry = &entries[idx];
            each(entry, conflict(entry.how, how));
            if covers(entry.how, how) {
                return;
            }
            // Reads are many, and only writes matter to them.
            let is_plain =
                how == Effect::Look || matches!(list, ListIdx::Beyond(_)) && how == Effect::Share;
            left = if is_plain { entry.cover as usize } else { idx };
        }
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (it, other) in clock.iter_mut().zip(other) {
        *it = (*it).max(*other);
    }
}
