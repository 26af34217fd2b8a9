//! Runs a program of atomics under a plan.

use raddle_analysis::hb::{Access, Causality, Place, Reading, Stores, Way};
use raddle_model::{
    End, MemoryModel, MemoryOrder, ObjectId, Op, OpKind, OpResult, PickerSpec, ProfileView, SiteId,
    ThreadId, ThreadSet,
};
use raddle_pick::{Chooser, Origin, Threads, View};
use raddle_plan::search::{ObjectName, Run, Step};

use crate::program::{Instr, N_PLACES, Outcome, Program};

/// Which store each read has read, and in which order the stores to each location stand: an execution, whatever the order
/// in which its steps were taken.
pub(crate) type Class = (Vec<Vec<u64>>, [Vec<u64>; N_PLACES]);

/// What came of an execution beside its steps.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    pub(crate) class: Class,
    pub(crate) diverged_at: Option<u64>,
}

/// Does a thread look at what it has read?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branches {
    Never,
    /// After it has read an odd number, it leaves out its next instruction.
    AtOdd,
}

struct State<'a> {
    program: &'a Program,
    branches: Branches,
    causality: Causality,
    stores: Stores,
    places: [Place; N_PLACES],
    next: Vec<usize>,
    /// What each thread is about to do; of main, which has ended, nothing.
    ops: Vec<Op>,
    enabled: Vec<ThreadId>,
    reads: Vec<Vec<u64>>,
    class: Class,
    ways: Vec<Way>,
    /// The ids of what was done, by step.
    ids: Vec<u64>,
}

impl Threads for State<'_> {
    fn n_enabled(&self) -> u32 {
        self.enabled.len() as u32
    }
    fn enabled(&self, idx: u32) -> ThreadId {
        self.enabled[idx as usize]
    }
    fn is_enabled(&self, thread: ThreadId) -> bool {
        self.enabled.contains(&thread)
    }
    fn timed(&self) -> &[ThreadId] {
        &[]
    }
    fn op(&self, thread: ThreadId) -> &Op {
        &self.ops[thread.idx()]
    }
    fn n_threads(&self) -> u32 {
        self.ops.len() as u32
    }
    fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        (thread.0 > 0).then_some(ThreadId(0))
    }
    fn name(&self, object: ObjectId) -> u64 {
        u64::from(object.0)
    }
}

/// Runs it; `run` is filled.
pub(crate) fn execute(
    memory: MemoryModel,
    program: &Program,
    branches: Branches,
    prefix: &[u32],
    (picker, seed): (PickerSpec, u64),
    run: &mut Run,
) -> Done {
    run.clear();
    run.objects.push(ObjectName::default());
    run.objects.extend((0..N_PLACES as u64).map(|it| ObjectName { name: it * 2 + 100, block: 0 }));
    let origin = Origin { picker, seed, may_time_out: false, profile: ProfileView::default() };
    let mut chooser = Chooser::of(prefix, &origin);
    let mut state = State::new(memory, program, branches);
    let mut last = ThreadId(0);
    while !state.enabled.is_empty() {
        let step = state.step(&mut chooser, last, run.steps.len() as u64);
        last = step.thread;
        run.steps.push(step);
    }
    run.end = Some(End::Exit(0));
    Done {
        outcome: Outcome {
            reads: state.reads.concat(),
            end: std::array::from_fn(|at| state.places[at].newest().value),
        },
        class: state.class,
        diverged_at: chooser.diverged_at(),
    }
}

impl State<'_> {
    fn new(memory: MemoryModel, program: &Program, branches: Branches) -> State<'_> {
        let n_threads = program.threads.len();
        let mut causality = Causality::new();
        for child in 1..=n_threads as u32 {
            causality.spawn(ThreadId(0), ThreadId(child), ObjectId(child));
        }
        let mut state = State {
            program,
            branches,
            causality,
            stores: Stores::new(memory),
            places: std::array::from_fn(|_| Place::new(0)),
            next: vec![0; n_threads],
            ops: vec![Op::on(OpKind::Finish, ObjectId::NONE, SiteId(0)); n_threads + 1],
            enabled: Vec::new(),
            reads: vec![Vec::new(); n_threads],
            class: (vec![Vec::new(); n_threads], std::array::from_fn(|_| vec![0])),
            ways: Vec::new(),
            ids: Vec::new(),
        };
        state.announce();
        state
    }

    fn instr(&self, idx: usize) -> Option<Instr> {
        self.program.threads[idx].get(self.next[idx]).copied()
    }

    fn announce(&mut self) {
        self.enabled.clear();
        for idx in 0..self.next.len() {
            let Some(instr) = self.instr(idx) else { continue };
            let (kind, at, order) = match instr {
                Instr::Load { at, order } => (OpKind::AtomicLoad, Some(at), order),
                Instr::Store { at, order, .. } => (OpKind::AtomicStore, Some(at), order),
                Instr::Add { at, order, .. } => (OpKind::AtomicRmw, Some(at), order),
                Instr::Cas { at, order, .. } => (OpKind::AtomicCas, Some(at), order),
                Instr::Fence { order } => (OpKind::Fence, None, order),
            };
            let object = at.map_or(ObjectId::NONE, |it| ObjectId(it as u32 + 1));
            let site = SiteId((idx * 100 + self.next[idx]) as u32 + 1);
            self.ops[idx + 1] = Op::on(kind, object, site).order(order);
            self.enabled.push(ThreadId(idx as u32 + 1));
        }
    }

    fn step(&mut self, chooser: &mut Chooser<'_>, last: ThreadId, step: u64) -> Step {
        let enabled: ThreadSet = self.enabled.iter().copied().collect();
        let view = View { step, last, threads: &*self };
        let thread =
            if self.enabled.len() == 1 { chooser.forced(&view) } else { chooser.pick(&view) };
        let (idx, op) = (thread.idx() - 1, self.ops[thread.idx()]);
        let instr = self.instr(idx).expect("who can go on has an instruction");
        let mut did = Step {
            thread,
            kind: op.kind,
            object: op.object,
            site: op.site,
            size: 8,
            is_weak: op.order != MemoryOrder::SeqCst,
            enabled,
            n_choices: 1,
            ..Step::default()
        };
        let id = (idx as u64 + 1) * 100 + self.next[idx] as u64;
        self.next[idx] += 1;
        self.ids.push(id);
        let n_read = self.reads[idx].len();
        self.perform(idx, instr, id, &mut did, |n_choices| chooser.choose_read(n_choices, step));
        let has_read = self.reads[idx].get(n_read).is_some_and(|it| it % 2 == 1);
        if self.branches == Branches::AtOdd && has_read {
            self.next[idx] += 1;
        }
        self.announce();
        did
    }

    fn perform(
        &mut self,
        idx: usize,
        instr: Instr,
        id: u64,
        did: &mut Step,
        choose: impl FnOnce(u32) -> u32,
    ) {
        let thread = did.thread;
        let State { causality, stores, places, ways, reads, class, ids, .. } = self;
        let (at, access, order) = match instr {
            Instr::Fence { order } => return stores.fence(thread, order, causality),
            Instr::Load { at, order } => (at, Access::Load, order),
            Instr::Store { at, order, .. } => (at, Access::Store, order),
            Instr::Add { at, order, .. } => (at, Access::Rmw, order),
            Instr::Cas { at, expected, order, failure, is_weak, .. } => {
                (at, Access::Cas { expected, failure, is_weak }, order)
            }
        };
        let place = &mut places[at];
        stores.ways(place, thread, access, order, causality, ways);
        did.n_choices = ways.len() as u32;
        did.choice = if did.n_choices > 1 { choose(did.n_choices) } else { 0 };
        let way = ways[did.choice as usize];
        let passed = place.after(way).filter(|_| way.age > 0);
        did.passed =
            passed.and_then(|it| ids.iter().position(|id| *id == it.step)).map(|it| it as u32);
        let seen = stores.peek(place, way);
        did.value = seen.value;
        if access != Access::Store {
            class.0[idx].push(seen.step);
            reads[idx].push(seen.value);
        }
        let written = match instr {
            Instr::Store { value, .. } => Some(value),
            Instr::Add { value, .. } => Some(seen.value + value),
            Instr::Cas { new, .. } if !way.is_load => Some(new),
            _ => None,
        };
        if let Instr::Cas { failure, .. } = instr {
            reads[idx].push(u64::from(!way.is_load));
            if way.is_load {
                did.result = OpResult::Busy;
                did.is_weak = failure != MemoryOrder::SeqCst;
            }
        }
        let Some(value) = written else {
            let order = match instr {
                Instr::Cas { failure, .. } => failure,
                _ => order,
            };
            stores.load(place, thread, order, way, causality);
            return;
        };
        let new = Reading { value, step: id };
        if access == Access::Store {
            stores.store(place, thread, order, way, new, causality);
        } else {
            stores.receive(place, thread, order, way, causality);
            stores.update(place, thread, order, way, new, causality);
        }
        let before = class.1[at].iter().position(|it| *it == seen.step).expect("it is kept");
        class.1[at].insert(before + 1, id);
    }
}
