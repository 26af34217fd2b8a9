//! Programs of a few ops, run by any picker: what `raddle-machine` does, as far as a picker can tell.

use std::{cell::OnceCell, collections::BTreeMap};

use raddle_model::{
    Interest, Length, ObjectId, Op, OpKind, PickerSpec, Profile, Role, SiteId, ThreadId, Use,
};
use raddle_pick::{AnyPicker, Chooser, Origin, Threads, View};

/// A program: what each thread does. The first exists from the start; if no thread creates others, all do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Toy {
    pub(crate) code: Vec<Vec<Op>>,
    /// Threads that read this object again and again, at the end of their code, until another has written
    /// it: a spin loop that nobody recognises.
    pub(crate) spins: BTreeMap<u32, u32>,
    /// By thread: who creates it, if anybody creates anybody.
    parents: OnceCell<Option<Vec<usize>>>,
}

/// An op on an object.
pub(crate) fn on(kind: OpKind, object: u32) -> Op {
    Op::on(kind, ObjectId(object), SiteId(1))
}

/// A write.
pub(crate) fn write(object: u32) -> Op {
    on(OpKind::Write, object)
}

impl Toy {
    /// Threads and what they do.
    pub(crate) fn new(code: Vec<Vec<Op>>) -> Toy {
        Toy { code, ..Toy::default() }
    }

    /// With threads that spin, and what each waits for.
    pub(crate) fn spinning(code: Vec<Vec<Op>>, spins: BTreeMap<u32, u32>) -> Toy {
        Toy { code, spins, ..Toy::default() }
    }

    /// Threads that do nothing but so many ops, each on an object of its own.
    pub(crate) fn lengths(lengths: &[usize]) -> Toy {
        let code = (1..).zip(lengths).map(|(thread, n_ops)| vec![write(thread); *n_ops]);
        Toy::new(code.collect())
    }

    pub(crate) fn of(code: &[&[Op]]) -> Toy {
        Toy::new(code.iter().map(|it| it.to_vec()).collect())
    }

    /// What there is to know about it: lengths, and how often each object is used by whom.
    pub(crate) fn profile(&self) -> Profile {
        let roles = self.roles();
        let parents = self.parents().cloned().unwrap_or_else(|| vec![0; self.code.len()]);
        let below = |count: &dyn Fn(&[Op]) -> u32| {
            let mut below: Vec<u32> = self.code.iter().map(|it| count(it)).collect();
            for idx in (1..below.len()).rev() {
                below[parents[idx]] += below[idx];
            }
            below
        };
        let n_below = below(&|code| code.len() as u32);
        let mut profile = Profile { n_threads: roles.len() as u32, ..Profile::EMPTY };
        profile.n_choices = u64::from(n_below[0]);
        for (idx, role) in roles.iter().enumerate() {
            let n_events = self.code[idx].len() as u32;
            let length =
                Length { role: *role, n_events, n_below: n_below[idx], ..Length::default() };
            profile.lengths.push(length);
        }
        profile.lengths.sort_by_key(|it| it.role);
        let mut objects: Vec<u32> = self.code.iter().flatten().map(|it| it.object.0).collect();
        objects.sort_unstable();
        objects.dedup();
        for object in objects.into_iter().filter(|it| *it != 0) {
            let uses = |code: &[Op]| code.iter().filter(|it| it.object.0 == object).count() as u32;
            let below = below(&uses);
            let interest = profile.interests.len() as u32;
            let n_users = self.code.iter().filter(|it| uses(it) > 0).count();
            if n_users > 1 {
                profile.interests.push(Interest { name: object.into(), n_uses: below[0].into() });
                for (role, n_below) in roles.iter().zip(below) {
                    profile.uses.push(Use { role: *role, interest, n_below });
                }
            }
        }
        profile.uses.sort_by_key(|it| (it.interest, it.role));
        profile
    }

    fn parents(&self) -> Option<&Vec<usize>> {
        let find = || {
            let mut parents = vec![0; self.code.len()];
            let mut has_any = false;
            for (parent, code) in self.code.iter().enumerate() {
                for op in code.iter().filter(|it| it.kind == OpKind::Spawn) {
                    parents[op.arg as usize] = parent;
                    has_any = true;
                }
            }
            has_any.then_some(parents)
        };
        self.parents.get_or_init(find).as_ref()
    }

    fn roles(&self) -> Vec<Role> {
        let parents = self.parents().cloned().unwrap_or_else(|| vec![0; self.code.len()]);
        let mut roles = vec![Role::MAIN];
        for idx in 1..self.code.len() {
            let n_elder = parents[1..idx].iter().filter(|it| **it == parents[idx]).count() as u32;
            roles.push(roles[parents[idx]].child(n_elder));
        }
        roles
    }
}

/// How to run a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How<'a> {
    pub(crate) picker: PickerSpec,
    pub(crate) seed: u64,
    pub(crate) profile: &'a Profile,
}

impl How<'_> {
    pub(crate) fn chooser(&self) -> Chooser<'_> {
        let origin = Origin {
            picker: self.picker,
            seed: self.seed,
            may_time_out: true,
            profile: self.profile.view(),
        };
        Chooser::new(&[], AnyPicker::new(&origin))
    }
}

/// A program that runs.
pub(crate) struct Running<'a> {
    toy: &'a Toy,
    /// By thread: ops done.
    at: Vec<usize>,
    n_threads: u32,
    holders: BTreeMap<ObjectId, ThreadId>,
    written: Vec<ObjectId>,
    enabled: Vec<ThreadId>,
    last: ThreadId,
    n_steps: u64,
}

impl<'a> Running<'a> {
    pub(crate) fn new(toy: &'a Toy) -> Running<'a> {
        let mut running = Running {
            toy,
            at: vec![0; toy.code.len()],
            n_threads: if toy.parents().is_some() { 1 } else { toy.code.len() as u32 },
            holders: BTreeMap::new(),
            written: Vec::with_capacity(8),
            enabled: Vec::with_capacity(toy.code.len()),
            last: ThreadId(0),
            n_steps: 0,
        };
        running.list_enabled();
        running
    }

    /// Takes a step: who took it. `None` when all is done.
    pub(crate) fn step(&mut self, chooser: &mut Chooser<'_>) -> Option<ThreadId> {
        if self.enabled.is_empty() {
            return None;
        }
        let view = View { step: self.n_steps, last: self.last, threads: &*self };
        let is_forced = self.enabled.len() == 1;
        let thread = if is_forced { chooser.forced(&view) } else { chooser.pick(&view) };
        assert!(self.can_go_on(thread), "{thread:?} can't go on");
        self.perform(thread);
        Some(thread)
    }

    fn perform(&mut self, thread: ThreadId) {
        let op = *self.op(thread);
        match op.kind {
            OpKind::Spawn => self.n_threads += 1,
            OpKind::Lock => assert!(self.holders.insert(op.object, thread).is_none()),
            OpKind::Unlock => assert_eq!(self.holders.remove(&op.object), Some(thread)),
            OpKind::Write if !self.written.contains(&op.object) => self.written.push(op.object),
            _ => {}
        }
        if !self.is_spinning(thread) {
            self.at[thread.idx()] += 1;
        }
        self.last = thread;
        self.n_steps += 1;
        self.list_enabled();
    }

    /// Does it repeat its last op, for nobody has written what it waits for?
    fn is_spinning(&self, thread: ThreadId) -> bool {
        let awaited = self
            .toy
            .spins
            .get(&thread.0)
            .filter(|_| self.at[thread.idx()] + 1 == self.toy.code[thread.idx()].len());
        awaited.is_some_and(|it| !self.written.contains(&ObjectId(*it)))
    }

    fn list_enabled(&mut self) {
        self.enabled.clear();
        for thread in (0..self.n_threads).map(ThreadId) {
            if self.can_go_on(thread) {
                self.enabled.push(thread);
            }
        }
    }

    fn can_go_on(&self, thread: ThreadId) -> bool {
        let op = self.toy.code[thread.idx()].get(self.at[thread.idx()]);
        op.is_some_and(|it| it.kind != OpKind::Lock || !self.holders.contains_key(&it.object))
    }
}

impl Threads for Running<'_> {
    fn n_enabled(&self) -> u32 {
        self.enabled.len() as u32
    }

    fn enabled(&self, idx: u32) -> ThreadId {
        self.enabled[idx as usize]
    }

    fn is_enabled(&self, thread: ThreadId) -> bool {
        thread.0 < self.n_threads && self.can_go_on(thread)
    }

    fn timed(&self) -> &[ThreadId] {
        &[]
    }

    fn op(&self, thread: ThreadId) -> &Op {
        const FINISH: Op = Op::on(OpKind::Finish, ObjectId::NONE, SiteId(0));
        self.toy.code[thread.idx()].get(self.at[thread.idx()]).unwrap_or(&FINISH)
    }

    fn n_threads(&self) -> u32 {
        self.n_threads
    }

    fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        let parent = self.toy.parents().map_or(0, |it| it[thread.idx()]);
        (thread.0 != 0).then_some(ThreadId(parent as u32))
    }

    fn name(&self, object: ObjectId) -> u64 {
        u64::from(object.0)
    }
}

/// The order in which threads take steps, in one execution; cut after so many.
pub(crate) fn run(toy: &Toy, how: How<'_>, n_max: usize) -> Vec<u32> {
    let mut chooser = how.chooser();
    let mut running = Running::new(toy);
    let mut order = Vec::new();
    while order.len() < n_max
        && let Some(thread) = running.step(&mut chooser)
    {
        order.push(thread.0);
    }
    order
}

/// How often `is_hit` holds for the order of steps, in executions with so many seeds.
pub(crate) fn hits(
    toy: &Toy,
    picker: PickerSpec,
    n_executions: u64,
    is_hit: impl Fn(&[u32]) -> bool,
) -> u32 {
    hits_with(toy, picker, &toy.profile(), n_executions, is_hit)
}

/// As [`hits`], with another profile.
pub(crate) fn hits_with(
    toy: &Toy,
    picker: PickerSpec,
    profile: &Profile,
    n_executions: u64,
    is_hit: impl Fn(&[u32]) -> bool,
) -> u32 {
    let run = |seed| run(toy, How { picker, seed, profile }, usize::MAX);
    (0..n_executions).filter(|seed| is_hit(&run(*seed))).count() as u32
}

/// A frequency must be within so many standard deviations of a probability.
#[track_caller]
pub(crate) fn assert_frequency(n_hits: u32, n_executions: u64, probability: f64) {
    const DEVIATIONS: f64 = 4.0;
    let n = n_executions as f64;
    let deviation = (probability * (1.0 - probability) / n).sqrt();
    let frequency = f64::from(n_hits) / n;
    assert!(
        (frequency - probability).abs() <= DEVIATIONS * deviation,
        "{frequency} of {n_executions}, but {probability} ± {deviation} was expected"
    );
}

/// How often each order occurs must be as even as chance makes it: χ² below its bound for this many orders.
#[track_caller]
pub(crate) fn assert_even(counts: &BTreeMap<Vec<u32>, u32>, n_orders: usize, bound: f64) {
    assert_eq!(counts.len(), n_orders, "orders that occur: {counts:?}");
    let n: u32 = counts.values().sum();
    let expected = f64::from(n) / n_orders as f64;
    let terms = counts.values().map(|it| (f64::from(*it) - expected).powi(2) / expected);
    let chi_square: f64 = terms.sum();
    assert!(chi_square < bound, "χ² is {chi_square}, more than {bound}: {counts:?}");
}
