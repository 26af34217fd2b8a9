//! A toy whose threads take turns step by step, for searches: each thread writes to one variable some times,
//! and it fails if the writes come in a certain order.

use std::{thread, time::Duration};

use raddle_model::{End, Event, ObjectId, OpKind, SiteId, ThreadId, ThreadSet, mix};
use raddle_trace::{EnabledSet, Module, Object, ObjectClass, Region, Trace};

use super::{TraceExt, trace};
use crate::target::{Block, BlockResult, Execution, Session, Target, TargetError, Until};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Weave {
    /// Writes of each thread.
    pub(crate) lengths: Vec<u32>,
    /// It fails where the threads' writes begin in this order.
    pub(crate) fails_at: Vec<u32>,
    /// Found to be shared in executions that begin in this order, if it is not known before.
    pub(crate) shares: Vec<(Vec<u32>, u64)>,
    /// Every so many-th execution takes another way than it is told; 0 for none.
    pub(crate) strays: u64,
    /// A session that runs the first execution again does something else.
    pub(crate) is_fickle: bool,
}

impl Target for Weave {
    fn open_until(&self, _until: &Until) -> Result<Box<dyn Session + Send>, TargetError> {
        Ok(Box::new(WeaveSession { weave: self.clone(), n_runs: 0 }))
    }
}

struct WeaveSession {
    weave: Weave,
    n_runs: u64,
}

impl Weave {
    /// Who goes at each step: the prefix, then the one that runs for as long as it can.
    fn order(&self, prefix: &[u32]) -> (Vec<u32>, Vec<EnabledSet>) {
        let mut left = self.lengths.clone();
        let (mut order, mut options) = (Vec::new(), Vec::new());
        let mut last = 0;
        while let Some(first) = left.iter().position(|it| *it > 0) {
            let can_go = |it: u32| left.get(it as usize).is_some_and(|it| *it > 0);
            let next = prefix.get(order.len()).copied().filter(|it| can_go(*it));
            let next = next.unwrap_or(if can_go(last) { last } else { first as u32 });
            let enabled = (0..left.len()).filter(|it| left[*it] > 0);
            let enabled: ThreadSet = enabled.map(|it| ThreadId(it as u32)).collect();
            let n_enabled = enabled.len();
            options.push(EnabledSet { enabled, n_enabled, n_choices: 1, ..EnabledSet::default() });
            order.push(next);
            left[next as usize] -= 1;
            last = next;
        }
        (order, options)
    }

    fn trace(&self, prefix: &[u32], may_stray: bool) -> Trace {
        let (mut order, mut options) = self.order(prefix);
        if may_stray {
            order.truncate(1);
            options.truncate(1);
        }
        let fails = !self.fails_at.is_empty() && order.starts_with(&self.fails_at);
        let end = if fails { End::Assert } else { End::Exit(0) };
        let mut trace = trace(end, self.lengths.len() as u32);
        let region = Region::Global { module: 0, offset: 64 };
        let class = ObjectClass::Variable;
        trace.objects.push(Object { class, region, ..Object::default() });
        trace.modules = vec![Module { path: "/home/me/toy".into(), is_announced: true }].into();
        for thread in &order {
            trace.events.push(Event {
                kind: OpKind::Write,
                thread: ThreadId(*thread),
                object: ObjectId(1),
                site: SiteId(10 + thread),
                ..Event::default()
            });
        }
        trace.summary.n_steps = order.len() as u64;
        trace.summary.class = order.iter().fold(0, |hash, it| mix(hash, u64::from(*it)));
        trace.summary.digest = trace.summary.class;
        trace.options = options;
        for thread in &mut trace.threads {
            thread.is_finished = true;
        }
        if fails {
            trace.ended_by(0, &[100, 7]);
            trace.message = "x == 1".into();
        }
        trace
    }
}

impl Session for WeaveSession {
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        self.n_runs += 1;
        let plan = &block.plan;
        let may_stray = self.weave.strays != 0 && self.n_runs.is_multiple_of(self.weave.strays);
        let mut trace = self.weave.trace(&plan.prefix, may_stray && 1 < plan.prefix.len());
        let is_again = 1 < self.n_runs && plan.prefix.is_empty();
        trace.summary.digest ^= u64::from(self.weave.is_fickle && is_again);
        let order: Vec<u32> = trace.events.iter().map(|it| it.thread.0).collect();
        let shares = self
            .weave
            .shares
            .iter()
            .filter(|(at, name)| order.starts_with(at) && !plan.shared.contains(name));
        let shared_found = shares.map(|it| it.1).collect();
        // Workers overtake each other.
        thread::sleep(Duration::from_micros(trace.summary.class % 200));
        Ok(BlockResult {
            summaries: vec![trace.summary],
            shared_found,
            last: Some(Execution { trace, output: String::new() }),
            ..BlockResult::default()
        })
    }
}
