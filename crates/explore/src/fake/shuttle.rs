//! A toy whose threads read and write variables under any picker: it fails when one thread reads certain
//! values. What is explained of real programs is tried on it first.

use raddle_model::{
    End, Event, Flags, ObjectId, Op, OpKind, OpResult, Plan, ProfileView, SiteId, ThreadId, mix,
};
use raddle_pick::{Chooser, Origin, Threads, View};
use raddle_trace::{EnabledSet, Object, ObjectClass, Region, Trace};

use super::{TraceExt, trace};
use crate::target::{Block, BlockResult, Execution, Session, Target, TargetError, Until};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Shuttle {
    /// By thread: what it does, in order. A write writes a value of its own.
    pub(crate) threads: Vec<Vec<(OpKind, u32)>>,
    /// It fails when the first thread has read these values, in order.
    pub(crate) fails_on: Vec<u64>,
}

impl Target for Shuttle {
    fn open_until(&self, _until: &Until) -> Result<Box<dyn Session + Send>, TargetError> {
        Ok(Box::new(self.clone()))
    }
}

impl Shuttle {
    /// The steps of an execution, and what the first thread has read.
    pub(crate) fn execute(&self, plan: &Plan) -> (Trace, Vec<u64>) {
        let origin = Origin {
            picker: plan.picker,
            seed: plan.seed,
            may_time_out: false,
            profile: ProfileView::default(),
        };
        let mut chooser = Chooser::of(&plan.prefix, &origin);
        let mut trace = trace(End::Exit(0), self.threads.len() as u32);
        for number in 0..8 {
            let region = Region::Global { module: 0, offset: 64 * number };
            trace.objects.push(Object { class: ObjectClass::Variable, region, name: 0 });
        }
        let (mut memory, mut read) = ([0_u64; 8], Vec::new());
        let mut state =
            Running { shuttle: self, done: vec![0; self.threads.len()], ops: Vec::new() };
        let mut last = ThreadId(0);
        state.announce();
        while state.n_enabled() > 0 {
            let view = View { step: trace.events.len() as u64, last, threads: &state };
            trace.options.push(state.options());
            let forced = state.n_enabled() == 1;
            let thread = if forced { chooser.forced(&view) } else { chooser.pick(&view) };
            let op = state.ops[thread.idx()];
            let place = &mut memory[op.object.idx() - 1];
            if op.kind == OpKind::Write {
                *place = u64::from(op.site.0);
            } else if thread.0 == 0 {
                read.push(*place);
            }
            let value = if op.kind == OpKind::Read { *place } else { 0 };
            trace.events.push(Event::of(thread, &op, OpResult::Done, value, None));
            state.done[thread.idx()] += 1;
            state.announce();
            last = thread;
            if !self.fails_on.is_empty() && read == self.fails_on {
                trace.end = Some(End::Assert);
                trace.ended_by(0, &[100, 7]);
                trace.message = "x == 1".into();
                break;
            }
        }
        trace.summary.n_steps = trace.events.len() as u64;
        trace.summary.digest =
            trace.events.iter().fold(0, |hash, it| mix(hash, u64::from(it.site.0)));
        (trace, read)
    }
}

impl Session for Shuttle {
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        let (trace, _) = self.execute(&block.plan);
        Ok(BlockResult {
            summaries: vec![trace.summary],
            last: Some(Execution { trace, output: String::new() }),
            ..BlockResult::default()
        })
    }
}

struct Running<'a> {
    shuttle: &'a Shuttle,
    done: Vec<usize>,
    /// By thread: what it is about to do, or a fence if nothing.
    ops: Vec<Op>,
}

impl Running<'_> {
    fn announce(&mut self) {
        let op = |(thread, ops): (usize, &Vec<(OpKind, u32)>)| match ops.get(self.done[thread]) {
            Some((kind, variable)) => Op {
                flags: Flags::NONE,
                ..Op::on(
                    *kind,
                    ObjectId(1 + variable),
                    SiteId((10 * thread + self.done[thread] + 10) as u32),
                )
            },
            None => Op::on(OpKind::Fence, ObjectId::NONE, SiteId(0)),
        };
        self.ops = self.shuttle.threads.iter().enumerate().map(op).collect();
    }

    fn all(&self) -> impl Iterator<Item = ThreadId> {
        let can_go = |it: &usize| self.done[*it] < self.shuttle.threads[*it].len();
        (0..self.done.len()).filter(can_go).map(|it| ThreadId(it as u32))
    }

    fn options(&self) -> EnabledSet {
        let enabled = self.all().collect();
        EnabledSet { enabled, n_enabled: self.n_enabled(), n_choices: 1, ..EnabledSet::default() }
    }
}

impl Threads for Running<'_> {
    fn n_enabled(&self) -> u32 {
        self.all().count() as u32
    }

    fn enabled(&self, idx: u32) -> ThreadId {
        self.all().nth(idx as usize).expect("bug: so many can go on")
    }

    fn is_enabled(&self, thread: ThreadId) -> bool {
        self.all().any(|it| it == thread)
    }

    fn timed(&self) -> &[ThreadId] {
        &[]
    }

    fn op(&self, thread: ThreadId) -> &Op {
        &self.ops[thread.idx()]
    }

    fn n_threads(&self) -> u32 {
        self.done.len() as u32
    }

    fn parent(&self, _: ThreadId) -> Option<ThreadId> {
        None
    }

    fn name(&self, object: ObjectId) -> u64 {
        u64::from(object.0)
    }

    /// As of a real program: module 0, and the offset that the toy's tables say.
    fn site(&self, site: SiteId) -> u64 {
        mix(0, u64::from(site.0) + 1)
    }
}
