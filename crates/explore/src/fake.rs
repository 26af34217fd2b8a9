//! Toy programs for the tests of this crate.
//!
//! Site `n` is line `n` of `toy.c`; the function there is `f1` for lines 10 to 19, and so on. The global
//! at offset `n` is the `n`th letter.

mod shuttle;
mod weave;

use std::{thread, time::Duration};

use raddle_model::{
    End, Escape, Event, ObjectId, Op, OpKind, Place, Plan, SiteId, Standstill, ThreadId,
    Uncontrolled, hash_bytes, mix,
};
use raddle_trace::{
    Entry, Module, Object, ObjectClass, Pair, Region, Site, Summary, Thread, Trace,
};

use crate::coverage::covered;
use crate::target::{
    Block, BlockResult, CodeAddress, Execution, Session, StackSpot, Symbols, Target, TargetError,
    Until, Variable,
};

pub(crate) use self::{shuttle::Shuttle, weave::Weave};

/// Debug information of a toy program.
pub(crate) struct ToySymbols;

impl Symbols for ToySymbols {
    fn places(&mut self, module: &str, offset: u64) -> Vec<Place> {
        let module = module.rsplit('/').next().unwrap_or_default().to_owned();
        if module != "toy" {
            return vec![Place { function: "raise".into(), module, ..Place::default() }];
        }
        vec![Place {
            function: format!("f{}", offset / 10),
            file: "/home/me/toy.c".into(),
            line: offset as u32,
            column: 5,
            module,
            offset: 0,
        }]
    }

    fn global(&mut self, _: &str, offset: u64, _: u64) -> Option<Variable> {
        let letter = char::from(b'a' + u8::try_from(offset / 64).ok()?);
        Some(Variable { whole: letter.into(), shift: offset % 64, ..Variable::default() })
    }

    fn local(&mut self, spot: &StackSpot<'_>, _: u64) -> Option<Variable> {
        let whole = format!("local{}", spot.from_sp);
        let function = format!("f{}", spot.code.offset / 10);
        Some(Variable { whole, function, ..Variable::default() })
    }

    fn block(
        &mut self,
        calls: &[CodeAddress<'_>],
        block_size: u64,
        offset: u64,
        _: u64,
    ) -> Option<Variable> {
        let is_queue = calls.first()?.offset >= 500;
        is_queue.then(|| Variable {
            whole: "Queue".into(),
            path: format!(".field{offset}"),
            field_of: "struct Queue".into(),
            type_name: "struct Queue".into(),
            size: block_size,
            ..Variable::default()
        })
    }

    fn source_line(&mut self, _: &Place) -> Option<String> {
        None
    }
}

/// An execution that ended so, with this many threads and nothing else.
pub(crate) fn trace(end: End, n_threads: u32) -> Trace {
    let site = |number: u64| Site { module: Some(0), offset: number + 1, via: None };
    let (end_kind, end_detail) = end.to_numbers();
    Trace {
        events: Vec::new(),
        options: Vec::new(),
        n_dropped: 0,
        sites: (0..1_000).map(site).collect(),
        objects: vec![Object::default()],
        threads: (0..n_threads).map(|number| thread(number.checked_sub(1).map(|_| 0))).collect(),
        modules: vec![
            Module { path: "/home/me/toy".into(), is_announced: true },
            Module { path: "/lib/libc.so.6".into(), is_announced: true },
        ]
        .into(),
        stacks: vec![Vec::new()],
        notes: Vec::new(),
        races: Vec::new(),
        end: Some(end),
        end_thread: None,
        end_site: SiteId(0),
        end_object: ObjectId::NONE,
        freed: None,
        heap_fault: None,
        history: None,
        message: String::new(),
        standstill: Standstill::default(),
        memory_limit: None,
        summary: Summary { n_threads, end_kind: end_kind.into(), end_detail, ..Summary::default() },
    }
}

fn thread(parent: Option<u32>) -> Thread {
    Thread {
        parent: parent.map(ThreadId),
        created_at: SiteId(0),
        creation: 0,
        start: Site::default(),
        name: String::new(),
        is_described: true,
        is_finished: false,
        n_events: 0,
        is_blocked: false,
        pending: Op::default(),
        holders: Vec::new(),
        frames: Vec::new(),
    }
}

/// Ways to write a trace by hand.
pub(crate) trait TraceExt {
    /// Adds a global object.
    fn global(&mut self, class: ObjectClass, offset: u64) -> ObjectId;
    /// Adds an object.
    fn object(&mut self, class: ObjectClass, region: Region) -> ObjectId;
    /// Blocks a thread at a line, with who holds what it waits for and since which line.
    fn block(&mut self, thread: u32, op: OpKind, on: ObjectId, line: u32, holders: &[(u32, u32)]);
    /// Adds a step.
    fn step(&mut self, thread: u32, op: OpKind, on: ObjectId, line: u32);
    /// Says who ended it where, and by which lines it came there, innermost first.
    fn ended_by(&mut self, thread: u32, lines: &[u32]);
}

impl TraceExt for Trace {
    fn global(&mut self, class: ObjectClass, offset: u64) -> ObjectId {
        self.object(class, Region::Global { module: 0, offset })
    }

    fn object(&mut self, class: ObjectClass, region: Region) -> ObjectId {
        self.objects.push(Object { class, region, name: 0 });
        ObjectId(self.objects.len() as u32 - 1)
    }

    fn block(&mut self, thread: u32, op: OpKind, on: ObjectId, line: u32, holders: &[(u32, u32)]) {
        let thread = &mut self.threads[thread as usize];
        thread.is_blocked = true;
        thread.pending = Op::on(op, on, SiteId(line));
        thread.holders = holders.iter().map(|it| (ThreadId(it.0), SiteId(it.1))).collect();
    }

    fn step(&mut self, thread: u32, op: OpKind, on: ObjectId, line: u32) {
        self.events.push(Event {
            kind: op,
            thread: ThreadId(thread),
            object: on,
            site: SiteId(line),
            ..Event::default()
        });
        self.summary.n_steps += 1;
        let step = (u64::from(thread) << 32) + u64::from(line);
        self.summary.digest = mix(self.summary.digest, mix(step, op as u64));
    }

    fn ended_by(&mut self, thread: u32, lines: &[u32]) {
        self.end_thread = Some(ThreadId(thread));
        self.end_site = SiteId(lines[0]);
        self.threads[thread as usize].frames = lines[1..].iter().map(|it| SiteId(*it)).collect();
    }
}

/// A target whose executions are a function of plan and seed.
///
/// What it does depends also on what it knows about sharing, so knowledge that came into force at the
/// wrong execution would change what is found.
#[derive(Clone, Debug)]
pub(crate) struct Toy {
    /// One in so many executions fails; 0 for none.
    pub(crate) fails_in: u64,
    /// At how many places.
    pub(crate) n_buckets: u64,
    /// Threads of each execution.
    pub(crate) n_threads: u32,
    /// How the baseline ends.
    pub(crate) baseline: End,
    /// Every so many-th call of `run` is an error; 0 for none.
    pub(crate) error_in: u64,
    /// Is a different trace made in blocks with a prefix?
    pub(crate) is_unstable: bool,
}

impl Default for Toy {
    fn default() -> Toy {
        Toy {
            fails_in: 37,
            n_buckets: 3,
            n_threads: 3,
            baseline: End::Exit(0),
            error_in: 0,
            is_unstable: false,
        }
    }
}

impl Target for Toy {
    fn open_until(&self, _until: &Until) -> Result<Box<dyn Session + Send>, TargetError> {
        Ok(Box::new(ToySession { toy: self.clone(), n_runs: 0 }))
    }
}

struct ToySession {
    toy: Toy,
    n_runs: u64,
}

impl ToySession {
    fn execute(&self, plan: &Plan, entry: &Entry) -> (Trace, Vec<u64>) {
        let known = plan.shared.iter().fold(0, |hash, name| mix(hash, *name));
        let chance = mix(mix(entry.seed, known), 1);
        let is_baseline = entry.picker == 0;
        let is_failing = self.toy.fails_in != 0 && chance.is_multiple_of(self.toy.fails_in);
        let end = match (is_baseline, is_failing) {
            (true, _) => self.toy.baseline,
            (false, true) => End::Assert,
            (false, false) => End::Exit(0),
        };
        let mut trace = trace(end, self.toy.n_threads);
        let shift = u32::from(self.toy.is_unstable && !plan.prefix.is_empty());
        for step in 0..1 + (chance >> 32) as u32 % 7 {
            let thread = (chance >> step) as u32 % self.toy.n_threads;
            trace.step(thread, OpKind::Yield, ObjectId::NONE, 20 + step + shift);
        }
        let line = 100 + (chance >> 16) % self.toy.n_buckets;
        trace.ended_by(0, &[line as u32, 7]);
        trace.message = "x == 1".into();
        trace.summary.class = chance % 1_000;
        trace.summary.n_pairs = 2;
        trace.summary.n_uncontrolled = u32::from(chance.is_multiple_of(4));
        let found = [chance % 97].into_iter().filter(|it| !plan.shared.contains(it)).collect();
        (trace, found)
    }
}

impl Session for ToySession {
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        self.n_runs += 1;
        if self.toy.error_in != 0 && self.n_runs.is_multiple_of(self.toy.error_in) {
            return Err(TargetError::Unusable("the toy is broken".into()));
        }
        let mut result = BlockResult::default();
        let mut pairs = Vec::new();
        for entry in &block.entries {
            let (trace, found) = self.execute(&block.plan, entry);
            let is_failing = !matches!(trace.end, Some(End::Exit(0)));
            result.summaries.push(trace.summary);
            let (class, n_rare) = (trace.summary.class, trace.summary.digest % 80);
            pairs.extend([Pair(1 + class % 20), Pair(100 + n_rare)]);
            result.shared_found.extend(found);
            if trace.summary.n_uncontrolled != 0 {
                result.uncontrolled.push(toy_note());
            }
            // Workers overtake each other.
            thread::sleep(Duration::from_micros(entry.seed % 50));
            if is_failing || block.entries.len() == 1 {
                result.last = Some(Execution { trace, output: "hello".into() });
            }
            if is_failing {
                break;
            }
        }
        result.covered = covered(&result.summaries, &pairs);
        result.shared_found.sort_unstable();
        result.shared_found.dedup();
        Ok(result)
    }
}

fn toy_note() -> Uncontrolled {
    Uncontrolled { what: Escape::WaitInput, count: 1, stack: Vec::new() }
}

/// A session that gives back one execution after the other, whatever it is asked for.
pub(crate) struct Script(Vec<Trace>);

impl Script {
    pub(crate) fn of(trace: Trace) -> Script {
        Script(vec![trace])
    }
}

impl Session for Script {
    fn run(&mut self, _: &Block) -> Result<BlockResult, TargetError> {
        let trace = self.0.remove(0);
        Ok(BlockResult {
            summaries: vec![trace.summary],
            last: Some(Execution { trace, output: String::new() }),
            ..BlockResult::default()
        })
    }
}

/// A hash of anything that can be printed, to compare large values by.
pub(crate) fn print_hash(value: &impl std::fmt::Debug) -> u64 {
    hash_bytes(format!("{value:?}").as_bytes())
}
