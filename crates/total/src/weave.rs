//! A schedule in which given uses read given defines: Algorithms 10 and 11, for many constraints at once.
//!
//! Threads go on as they did in a history; who does what next is chosen anew. Each constraint is an automaton
//! (after RFF: Wolff et al., ASPLOS 2024): until its define is done it holds the use back; from then on it wants the use, and holds
//! other defines of the variable back; when the use is done it is satisfied. If all who could go on are held
//! back, the constraint that holds back the earliest step lets go: it can't be had in this way, and perhaps
//! not at all. The dissertation's algorithms block both threads instead, and deadlock where one of them holds
//! a lock or is waited for (F3.8). What must come before a use, by its thread and by what is to be read on the way, and
//! writes its variable, or is to read another define of it, must come before the use's define, too: that is held back
//! until then (as in consistency of reads-from relations). Who would be held back inside a critical section is held back where it begins, if
//! whoever is waited for needs the same lock.
//!
//! No single way of choosing satisfies everything that can be, so there are several policies to try. What
//! threads do after they read another value than in the history is not known: the schedule ends with the last
//! use, and whoever runs it goes on freely.
//!
//! What [`Rules`] know is followed. Of everything else (futexes, descriptors) the
//! order in the history is kept for each object. Time O(steps · threads · log steps).

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{OpResult, ThreadId};

use crate::{
    history::{Act, History},
    locks::{HeldAt, Locks},
    rules::Rules,
};

/// A use is to read this define; `None`: the value before the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Constraint {
    /// The step that reads.
    pub use_step: u32,
    /// The step that writes.
    pub define: Option<u32>,
}

/// Who goes first, of those who are neither wanted nor held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// As in the history.
    AsBefore,
    /// The threads of the defines, then those of the uses.
    DefinesFirst,
    /// The threads of the uses as far as they may, then those of the defines.
    UsesFirst,
    /// Everybody else as far as they can.
    OthersFirst,
}

impl Policy {
    /// All, in the order in which they are tried.
    pub const ALL: [Policy; 4] =
        [Policy::AsBefore, Policy::DefinesFirst, Policy::UsesFirst, Policy::OthersFirst];
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Woven {
    /// Steps of the history, in their new order, up to the last use.
    pub steps: Vec<u32>,
    /// Constraints that were satisfied, by their number. Sorted.
    pub satisfied: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    Open,
    Over,
}

struct Loom<'a> {
    history: &'a History,
    constraints: &'a [Constraint],
    policy: Policy,
    threads: Vec<Vec<u32>>,
    at: Vec<usize>,
    states: Vec<State>,
    of_use: BTreeMap<u32, Vec<usize>>,
    of_define: BTreeMap<u32, Vec<usize>>,
    /// By step that takes a lock: constraints whose use is in the section that begins there, and whose define needs
    /// that lock.
    of_section: BTreeMap<u32, Vec<usize>>,
    /// The same: constraints whose use needs the lock, and other defines of whose variable are in that section.
    of_other_section: BTreeMap<u32, Vec<usize>>,
    /// By define, or step that takes its lock: whose it is, and a step that must come before.
    of_later: BTreeMap<u32, Vec<(usize, u32)>>,
    /// By variable: constraints that hold other defines back.
    open: BTreeMap<u64, BTreeSet<usize>>,
    last_define: BTreeMap<u64, u32>,
    rules: Rules,
    /// By object: steps of other kinds, in their order, those done taken off.
    others: BTreeMap<u64, std::collections::VecDeque<u32>>,
    /// Steps that nobody takes: threads wait there for each other.
    gates: Vec<u32>,
    /// Who goes before all others.
    first: Option<usize>,
    woven: Woven,
}

/// Weaves a schedule. See the module.
pub fn weave(history: &History, constraints: &[Constraint], policy: Policy) -> Woven {
    let mut loom = Loom::new(history, constraints, policy);
    while loom.states.iter().any(|it| *it != State::Over) {
        let Some(thread) = loom.choose() else {
            if loom.let_go() {
                continue;
            }
            break;
        };
        loom.step(thread);
    }
    let last = loom.woven.steps.iter().rposition(|it| loom.of_use.contains_key(it));
    loom.woven.steps.truncate(last.map_or(0, |it| it + 1));
    loom.woven.satisfied.sort_unstable();
    loom.woven
}

/// A schedule after which two steps of different threads, which no lock keeps apart, come one right after the
/// other: nothing orders them then. `kept`: what reads are to read on the way. `None` if there is none that can
/// be had by letting the one thread go there first, or the other, or both as they did.
pub fn meet(history: &History, pair: [u32; 2], kept: &[Constraint]) -> Option<Vec<u32>> {
    let threads = pair.map(|it| history.steps[it as usize].thread.idx());
    let firsts = [None, Some(threads[0]), Some(threads[1])];
    firsts.into_iter().find_map(|first| {
        let mut loom = Loom::new(history, kept, Policy::AsBefore);
        loom.gates = pair.to_vec();
        loom.first = first;
        loop {
            let is_there = |idx: usize| loom.next_of(threads[idx]) == Some(pair[idx]);
            if is_there(0) && is_there(1) {
                loom.woven.steps.extend(pair);
                return Some(loom.woven.steps);
            }
            match loom.choose() {
                Some(thread) => loom.step(thread),
                None if loom.let_go() => {}
                None => return None,
            }
        }
    })
}

/// A schedule of all threads in which these steps come in this order, up to the last of them; `None` if there is none.
/// Of their own threads, everything else is made when it is due; others go on where they are waited for.
/// Those of `going_on` do as they did, before that.
pub fn complete(
    history: &History,
    order: &[u32],
    going_on: impl Fn(ThreadId) -> bool,
) -> Option<Vec<u32>> {
    let mut loom = Loom::new(history, &[], Policy::AsBefore);
    let thread = |it: u32| history.steps[it as usize].thread.idx();
    let mut wanted: BTreeSet<u32> = order.iter().copied().collect();
    for target in order {
        let due = |loom: &Loom<'_>, is_due: &dyn Fn(usize, u32) -> bool| {
            let next = (0..loom.threads.len()).filter_map(|it| Some((loom.next_of(it)?, it)));
            let due = next.filter(|(step, thread)| {
                let is_exit = history.steps[*step as usize].act == Act::Exit;
                is_due(*thread, *step) && !is_exit && loom.is_enabled(*step)
            });
            due.min().map(|it| it.1)
        };
        let as_it_was =
            |thread: usize, step: u32| step < *target && going_on(ThreadId(thread as u32));
        while let Some(next) = due(&loom, &as_it_was) {
            loom.step(next);
        }
        let own = thread(*target);
        while loom.next_of(own) != Some(*target) || !loom.is_enabled(*target) {
            let is_own = |thread: usize, step: u32| thread == own && !wanted.contains(&step);
            let is_other = |_: usize, step: u32| !wanted.contains(&step);
            let next = due(&loom, &is_own).or_else(|| due(&loom, &is_other));
            loom.step(next?);
        }
        loom.step(own);
        wanted.remove(target);
    }
    Some(loom.woven.steps)
}

impl<'a> Loom<'a> {
    fn new(history: &'a History, constraints: &'a [Constraint], policy: Policy) -> Loom<'a> {
        let mut of_use: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut of_define: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut open: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
        let mut states = Vec::new();
        for (idx, it) in constraints.iter().enumerate() {
            of_use.entry(it.use_step).or_default().push(idx);
            match it.define {
                Some(define) => {
                    of_define.entry(define).or_default().push(idx);
                    states.push(State::Before);
                }
                None => {
                    let object = history.steps[it.use_step as usize].object;
                    open.entry(object).or_default().insert(idx);
                    states.push(State::Open);
                }
            }
        }
        let [of_section, of_other_section] = sections(history, constraints);
        let mut others: BTreeMap<u64, std::collections::VecDeque<u32>> = BTreeMap::new();
        for (idx, step) in history.steps.iter().enumerate() {
            if step.act == Act::Other && step.object != 0 {
                others.entry(step.object).or_default().push_back(idx as u32);
            }
        }
        let threads = history.by_thread();
        Loom {
            history,
            constraints,
            policy,
            at: vec![0; threads.len()],
            threads,
            states,
            of_use,
            of_define,
            of_section,
            of_other_section,
            of_later: later(history, constraints),
            open,
            last_define: BTreeMap::new(),
            rules: Rules::new(&history.steps, &history.counts),
            others,
            gates: Vec::new(),
            first: None,
            woven: Woven { steps: Vec::new(), satisfied: Vec::new() },
        }
    }

    fn next_of(&self, thread: usize) -> Option<u32> {
        self.threads[thread].get(self.at[thread]).copied()
    }

    /// The best of those who can go on and are not held back.
    fn choose(&self) -> Option<usize> {
        let free = (0..self.threads.len()).filter_map(|thread| {
            let step = self.next_of(thread)?;
            let is_free =
                self.is_enabled(step) && !self.is_held(step) && !self.gates.contains(&step);
            is_free.then(|| (self.first != Some(thread), self.rank(thread), step, thread))
        });
        free.min().map(|it| it.3)
    }

    /// Lower goes first.
    fn rank(&self, thread: usize) -> u8 {
        let is_of = |step: u32| self.history.steps[step as usize].thread.idx() == thread;
        let live = || self.constraints.iter().zip(&self.states).filter(|it| *it.1 != State::Over);
        let is_wanted = live().any(|(it, state)| *state == State::Open && is_of(it.use_step));
        let is_defining =
            live().any(|(it, state)| *state == State::Before && it.define.is_some_and(is_of));
        let is_using = live().any(|(it, state)| *state == State::Before && is_of(it.use_step));
        match self.policy {
            Policy::AsBefore => 1 - u8::from(is_wanted && !is_defining),
            Policy::DefinesFirst if is_defining => 0,
            Policy::DefinesFirst => 2 - u8::from(is_wanted),
            Policy::UsesFirst if is_using || is_wanted => 0,
            Policy::UsesFirst => 2 - u8::from(is_defining),
            Policy::OthersFirst if is_wanted => 1,
            Policy::OthersFirst => 2 * u8::from(is_defining || is_using),
        }
    }

    fn is_held(&self, step: u32) -> bool {
        self.holder(step).is_some()
    }

    /// A constraint that holds a step back.
    fn holder(&self, step: u32) -> Option<usize> {
        let first = |all: &BTreeMap<u32, Vec<usize>>, state: State| {
            let all = all.get(&step).into_iter().flatten().copied();
            all.into_iter().find(|it| self.states[*it] == state)
        };
        let it = &self.history.steps[step as usize];
        let earlier = self.of_later.get(&step).into_iter().flatten();
        let mut earlier = earlier.filter(|(constraint, before)| {
            self.states[*constraint] != State::Over && !self.is_done(*before)
        });
        if let Some((constraint, _)) = earlier.next() {
            return Some(*constraint);
        }
        match it.done() {
            Act::Lock | Act::ReadLock | Act::Wake => first(&self.of_section, State::Before)
                .or_else(|| first(&self.of_other_section, State::Open)),
            _ => first(&self.of_use, State::Before).or_else(|| {
                // A define that is wanted itself, by another that is open for the same variable, waits for that.
                let open = self.open.get(&it.object).filter(|_| it.act.is_write());
                let mut open = open.into_iter().flatten().copied();
                open.find(|idx| self.constraints[*idx].use_step != step)
            }),
        }
    }

    fn is_done(&self, step: u32) -> bool {
        let thread = self.history.steps[step as usize].thread.idx();
        self.next_of(thread).is_none_or(|it| step < it)
    }

    fn is_enabled(&self, idx: u32) -> bool {
        let step = &self.history.steps[idx as usize];
        let is_over = |it: ThreadId| {
            self.threads.get(it.idx()).is_none_or(|steps| self.at[it.idx()] == steps.len())
        };
        let of_object = || self.others.get(&step.object).and_then(|it| it.front());
        let is_next = step.act != Act::Other || step.object == 0 || of_object() == Some(&idx);
        let is_same = |it: OpResult| !step.act.has_answers() || it == step.answer;
        is_next && self.rules.answer(step, is_over).is_some_and(is_same)
    }

    fn step(&mut self, thread: usize) {
        let idx = self.threads[thread][self.at[thread]];
        self.at[thread] += 1;
        self.woven.steps.push(idx);
        let step = self.history.steps[idx as usize];
        self.rules.perform(&step);
        if let Some(all) = self.others.get_mut(&step.object).filter(|_| step.act == Act::Other) {
            all.pop_front();
        }
        if step.act.is_read() {
            self.used(idx, step.object);
        }
        if step.act.is_write() {
            self.last_define.insert(step.object, idx);
            for constraint in self.of_define.get(&idx).into_iter().flatten() {
                if self.states[*constraint] == State::Before {
                    self.states[*constraint] = State::Open;
                    self.open.entry(step.object).or_default().insert(*constraint);
                }
            }
        }
    }

    fn used(&mut self, idx: u32, object: u64) {
        for constraint in self.of_use.get(&idx).into_iter().flatten() {
            if let Some(open) = self.open.get_mut(&object) {
                open.remove(constraint);
            }
            self.states[*constraint] = State::Over;
            if self.last_define.get(&object).copied() == self.constraints[*constraint].define {
                self.woven.satisfied.push(*constraint);
            }
        }
    }

    /// Nobody can go on: lets go of the constraint that holds back the earliest step. `false`: none does.
    fn let_go(&mut self) -> bool {
        let held = (0..self.threads.len()).filter_map(|it| self.next_of(it));
        let earliest = held.filter(|it| self.is_held(*it)).min();
        let Some(constraint) = earliest.and_then(|it| self.holder(it)) else { return false };
        self.states[constraint] = State::Over;
        let object = self.history.steps[self.constraints[constraint].use_step as usize].object;
        if let Some(open) = self.open.get_mut(&object) {
            open.remove(&constraint);
        }
        true
    }
}

/// By step that takes a lock: constraints that wait there, [before their define is done](Loom::of_section) and
/// [from then on](Loom::of_other_section).
fn sections(history: &History, constraints: &[Constraint]) -> [BTreeMap<u32, Vec<usize>>; 2] {
    let locks = Locks::of(history);
    let mut writes: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for it in constraints {
        writes.entry(history.steps[it.use_step as usize].object).or_default();
    }
    for (idx, step) in history.steps.iter().enumerate().filter(|it| it.1.act.is_write()) {
        if !locks.at(idx as u32).is_empty()
            && let Some(all) = writes.get_mut(&step.object)
        {
            all.push(idx as u32);
        }
    }
    let mut found = [BTreeMap::new(), BTreeMap::new()];
    let thread = |step: u32| history.steps[step as usize].thread;
    for (number, it) in constraints.iter().enumerate() {
        let of_use = locks.at(it.use_step);
        for write in &writes[&history.steps[it.use_step as usize].object] {
            if of_use.is_empty() || thread(*write) == thread(it.use_step) {
                continue;
            }
            let of_write = locks.at(*write);
            let excludes =
                |a: &HeldAt, b: &HeldAt| a.lock == b.lock && !(a.is_shared && b.is_shared);
            for mine in of_use {
                let Some(theirs) = of_write.iter().find(|it| excludes(mine, it)) else { continue };
                let (kind, since) = match it.define == Some(*write) {
                    true => (0, mine.since),
                    false => (1, theirs.since),
                };
                let all: &mut Vec<usize> = found[kind].entry(since).or_default();
                if !all.contains(&number) {
                    all.push(number);
                }
            }
        }
    }
    found
}

/// See [`Loom::of_later`]. The beginning of the define's critical section counts, if what must come before needs the
/// lock, too.
fn later(history: &History, constraints: &[Constraint]) -> BTreeMap<u32, Vec<(usize, u32)>> {
    let locks = Locks::of(history);
    let thread = |it: u32| history.steps[it as usize].thread;
    let object = |it: u32| history.steps[it as usize].object;
    let mut writes: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (idx, step) in history.steps.iter().enumerate().filter(|it| it.1.act.is_write()) {
        writes.entry(step.object).or_default().push(idx as u32);
    }
    let mut found: BTreeMap<u32, Vec<(usize, u32)>> = BTreeMap::new();
    for (number, it) in constraints.iter().enumerate() {
        let Some(define) = it.define else { continue };
        let ends = before(history, constraints, it.use_step);
        let is_before = |step: u32| ends.get(&thread(step)).is_some_and(|end| step < *end);
        let of_object = writes.get(&object(it.use_step)).into_iter().flatten().copied();
        let mut first: BTreeMap<ThreadId, u32> = BTreeMap::new();
        for write in of_object.filter(|at| is_before(*at) && thread(*at) != thread(define)) {
            first.insert(thread(write), write);
        }
        let read = constraints.iter().filter(|other| {
            is_before(other.use_step)
                && object(other.use_step) == object(it.use_step)
                && other.define != it.define
                && thread(other.use_step) != thread(define)
        });
        for step in first.into_values().chain(read.map(|it| it.use_step)) {
            found.entry(define).or_default().push((number, step));
            let needs = |lock: &&HeldAt| locks.at(step).iter().any(|it| it.lock == lock.lock);
            for lock in locks.at(define).iter().filter(needs) {
                found.entry(lock.since).or_default().push((number, step));
            }
        }
    }
    found
}

/// By thread: the first step that need not come before a use, by threads and by what is to be read.
fn before(history: &History, constraints: &[Constraint], use_step: u32) -> BTreeMap<ThreadId, u32> {
    let thread = |it: u32| history.steps[it as usize].thread;
    let mut ends = BTreeMap::from([(thread(use_step), use_step)]);
    loop {
        let mut has_grown = false;
        for it in constraints {
            let is_before = ends.get(&thread(it.use_step)).is_some_and(|end| it.use_step < *end);
            let is_it = it.use_step == use_step;
            if let Some(define) = it.define.filter(|_| is_before && !is_it) {
                let end = ends.entry(thread(define)).or_default();
                has_grown |= *end <= define;
                *end = (define + 1).max(*end);
            }
        }
        if !has_grown {
            return ends;
        }
    }
}
