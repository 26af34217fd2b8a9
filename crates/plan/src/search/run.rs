//! One execution, as a search sees it.

mod spin;

use std::sync::Arc;

use raddle_model::{
    End, Event, Flags, MemoryOrder, ObjectId, Op, OpKind, OpResult, SiteId, ThreadId, ThreadSet,
    hash_bytes, mix,
};
use raddle_trace::{
    CompactTrace, EnabledSet, Module, Object, ObjectEntry, Region, Site, SiteEntry, Tables, Trace,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::spin::{is_repeat, is_waiting, last_look, repeats};

/// The steps of one execution, with the choices that each had.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// In order.
    pub steps: Vec<Step>,
    /// What threads were about to do at the end.
    pub pending: Vec<Pending>,
    /// How it ended; `None` if nobody knows.
    pub end: Option<End>,
    /// Objects by number; entry 0 is none.
    pub objects: Vec<ObjectName>,
    /// Names of sites by number, equal in all executions; entry 0 is unknown.
    pub sites: Vec<u64>,
    /// What pickers call them; empty: by their numbers.
    #[serde(default)]
    pub site_keys: Vec<u64>,
}

/// What an object is called in all executions. Numbers are given by first use, so they are equal in two
/// executions only up to where these part.
///
/// Blocks are told apart by the order in which their site allocated them: two threads that allocate at
/// one site exchange names when they exchange the order. Only `dpor:optimal` compares names of objects
/// that were made after executions parted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectName {
    /// The object.
    pub name: u64,
    /// The block of memory it is in, which is freed as a whole; 0 if it is in none.
    pub block: u64,
}

/// One step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub kind: OpKind,
    /// Marks.
    pub flags: Flags,
    /// How it ended.
    pub result: OpResult,
    /// To what.
    pub object: ObjectId,
    /// The mutex of a condition variable's wait; else none.
    pub other: ObjectId,
    /// Where in the code.
    pub site: SiteId,
    /// As in the event.
    pub value: u64,
    /// Bytes accessed, as in the event.
    #[serde(default)]
    pub size: u8,
    /// How far into its object an access begins.
    #[serde(default)]
    pub offset: u32,
    /// Where memory is weak, of an atomic access that is not up to date: the step of the store that comes right after the
    /// one that was read, or right after the one that was made.
    #[serde(default)]
    pub passed: Option<u32>,
    /// Is it an atomic op or a fence that is weaker than sequentially consistent?
    #[serde(default)]
    pub is_weak: bool,
    /// Who could go on.
    pub enabled: ThreadSet,
    /// Whose wait could end by itself.
    pub timed: ThreadSet,
    /// Did the thread before yield, and could it go on at once? To leave it was no preemption.
    #[serde(default)]
    pub gives_way: bool,
    /// Ways to perform the step: 1 where it had no data choice.
    pub n_choices: u32,
    /// The way that was chosen.
    pub choice: u32,
    /// A hash of the last calls that led there, equal in all executions of one build; 0 if unknown.
    pub context: u64,
}

impl Step {
    /// What its thread was about to do.
    pub fn op(&self) -> Pending {
        Pending {
            thread: self.thread,
            kind: self.kind,
            flags: self.flags,
            object: self.object,
            other: self.other,
            site: self.site,
            is_blocked: false,
            is_weak: self.is_weak,
        }
    }

    /// Who could have been chosen: whoever could go on, first of all `last` if it did not let others go first, then
    /// round and round in the order of creation; then, if that is allowed, those whose wait could end by itself.
    pub fn options(
        &self,
        may_time_out: bool,
        last: ThreadId,
    ) -> impl Iterator<Item = ThreadId> + use<> {
        let stays = if self.gives_way { ThreadSet::NONE } else { ThreadSet::one(last) };
        let first = self.enabled.and(stays);
        let timed = if may_time_out { self.timed.minus(self.enabled) } else { ThreadSet::NONE };
        first.iter().chain(self.enabled.minus(first).round(last)).chain(timed.iter())
    }
}

/// What a thread was about to do when the execution ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub kind: OpKind,
    /// Marks.
    pub flags: Flags,
    /// To what.
    pub object: ObjectId,
    /// The mutex of a condition variable's wait; else none.
    pub other: ObjectId,
    /// Where in the code.
    pub site: SiteId,
    /// It could not have gone on.
    pub is_blocked: bool,
    /// As of a step.
    #[serde(default)]
    pub is_weak: bool,
}

impl Pending {
    /// Did its thread say that another was to go on first?
    pub fn is_yield(&self) -> bool {
        Op { flags: self.flags, ..Op::on(self.kind, self.object, self.site) }.is_yield()
    }
}

/// Why a trace is of no use to a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Sets have no room for them.
    #[error(
        "the program has more than 256 threads, the limit of systematic searches; use a random strategy, \
         e.g. `--strategy walk`"
    )]
    TooManyThreads,
    /// Early steps were overwritten.
    #[error(
        "an execution has too many steps for a systematic search ({0} steps were lost); reduce the program's \
         work or use a random strategy, e.g. `--strategy walk`"
    )]
    TooLong(u64),
    /// The plan did not ask for them.
    #[error("bug: the choices of an execution were not recorded")]
    NoOptions,
}

impl Run {
    /// Forgets everything, and keeps the room.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.pending.clear();
        self.objects.clear();
        self.sites.clear();
        self.site_keys.clear();
        self.end = None;
    }

    /// What a trace says, if the plan asked for the choices ([`raddle_model::Record`]).
    pub fn of(trace: &Trace, names: &mut ModuleNames) -> Result<Run, RunError> {
        if trace.n_dropped != 0 {
            return Err(RunError::TooLong(trace.n_dropped));
        }
        if trace.options.len() != trace.events.len() {
            return Err(RunError::NoOptions);
        }
        if ThreadSet::MAX < trace.threads.len() as u32 {
            return Err(RunError::TooManyThreads);
        }
        names.set(&trace.modules);
        let sites: Vec<u64> = trace.sites.iter().map(|it| names.site(it)).collect();
        let mut ways = Vec::new();
        set_ways(&mut ways, trace.sites.iter().copied(), &sites);
        let objects = trace.objects.iter().enumerate();
        let steps = trace.events.iter().zip(&trace.options);
        Ok(Run {
            steps: steps.map(|(event, options)| step(event, options)).collect(),
            pending: pending(trace),
            end: trace.end,
            objects: objects.map(|(idx, it)| object_name(it, idx, &ways)).collect(),
            sites,
            site_keys: trace.sites.iter().map(site_key).collect(),
        })
    }
}

fn step(event: &Event, options: &EnabledSet) -> Step {
    Step {
        thread: event.thread,
        kind: event.kind,
        flags: event.flags,
        result: event.result,
        object: event.object,
        other: if event.passed().is_some() { ObjectId::NONE } else { event.other },
        site: event.site,
        value: event.value,
        size: event.size,
        offset: event.offset(),
        passed: event.passed().map(|it| it as u32),
        is_weak: is_weak(event),
        enabled: options.enabled,
        timed: options.timed,
        gives_way: options.gives_way != 0,
        n_choices: options.n_choices.max(1),
        choice: event.choice().unwrap_or(0),
        context: options.context,
    }
}

fn is_weak(event: &Event) -> bool {
    event.kind.is_atomic() && event.order() != MemoryOrder::SeqCst
}

fn pending(trace: &Trace) -> Vec<Pending> {
    let threads = trace.threads.iter().enumerate().filter(|(_, it)| !it.is_finished);
    threads
        .map(|(number, it)| Pending::new(ThreadId(number as u32), &it.pending, it.is_blocked))
        // Who ran at the end had announced nothing.
        .filter(|it| trace.end_thread != Some(it.thread))
        .collect()
}

impl Pending {
    fn new(thread: ThreadId, op: &Op, is_blocked: bool) -> Pending {
        Pending {
            thread,
            kind: op.kind,
            flags: op.flags,
            object: op.object,
            other: op.other,
            site: op.site,
            is_blocked,
            is_weak: op.kind.is_atomic() && op.order != MemoryOrder::SeqCst,
        }
    }
}

/// Reads executions that were told in brief, one after the other. Their tables are mostly the same, and there is
/// one room for all of them.
#[derive(Debug, Default)]
pub struct RunReader {
    run: Run,
    names: ModuleNames,
    ways: Vec<u64>,
    /// The tables that are in the run.
    objects: Vec<ObjectEntry>,
    sites: Vec<SiteEntry>,
}

impl RunReader {
    /// Is an execution of use to a search?
    pub fn check(brief: &CompactTrace<'_>) -> Result<(), RunError> {
        match brief.tables().n_threads {
            0..=ThreadSet::MAX => Ok(()),
            _ => Err(RunError::TooManyThreads),
        }
    }

    /// What an execution did, which is of use.
    pub fn read(&mut self, brief: &CompactTrace<'_>) -> &Run {
        let tables = brief.tables();
        self.set_tables(brief.modules, &tables);
        let run = &mut self.run;
        run.steps.clear();
        run.steps
            .extend(tables.events().zip(tables.options).map(|(it, options)| step(&it, options)));
        let pending =
            tables.pending.iter().filter(|it| tables.end_thread != Some(ThreadId(it.thread)));
        run.pending.clear();
        run.pending.extend(
            pending.map(|it| Pending::new(ThreadId(it.thread), &it.op(), it.is_blocked == 1)),
        );
        run.end = brief.end();
        run
    }

    fn set_tables(&mut self, modules: &Arc<[Module]>, tables: &Tables<'_>) {
        let RunReader { run, names, ways, objects, sites } = self;
        let has_changed = names.set(modules) || sites != tables.sites;
        if has_changed {
            sites.clear();
            sites.extend_from_slice(tables.sites);
            let all = || tables.sites.iter().map(Site::from);
            run.sites.clear();
            run.sites.extend(all().map(|it| names.site(&it)));
            run.site_keys.clear();
            run.site_keys.extend(all().map(|it| site_key(&it)));
            set_ways(ways, all(), &run.sites);
        }
        if has_changed || objects != tables.objects {
            objects.clear();
            objects.extend_from_slice(tables.objects);
            let all = tables.objects.iter().map(Object::from).enumerate();
            run.objects.clear();
            run.objects.extend(all.map(|(idx, it)| object_name(&it, idx, ways)));
        }
    }
}

/// What modules are called in all executions; kept from trace to trace, for they are mostly the same.
#[derive(Debug, Default)]
pub struct ModuleNames {
    modules: Arc<[Module]>,
    names: Vec<u64>,
}

impl ModuleNames {
    /// Have they changed?
    fn set(&mut self, modules: &Arc<[Module]>) -> bool {
        let has_changed = !Arc::ptr_eq(&self.modules, modules);
        if has_changed {
            self.modules = Arc::clone(modules);
            self.names = modules.iter().map(|it| hash_bytes(it.path.as_bytes())).collect();
        }
        has_changed
    }

    fn site(&self, site: &Site) -> u64 {
        let module = site.module.and_then(|it| self.names.get(it as usize));
        module.map_or(0, |it| mix(*it, site.offset))
    }
}

/// The hash that the runtime shows to pickers.
fn site_key(site: &Site) -> u64 {
    mix(u64::from(site.module.unwrap_or(u32::MAX)), site.offset)
}

/// Names of sites with the calls that led there through the library: blocks are counted by both.
fn set_ways(ways: &mut Vec<u64>, all: impl Iterator<Item = Site>, names: &[u64]) {
    ways.clear();
    for (site, name) in all.zip(names) {
        // Whoever leads to a site is numbered before it.
        let via = site.via.and_then(|it| ways.get(it.0 as usize).copied());
        ways.push(via.map_or(*name, |it| mix(*name, it)));
    }
}

fn object_name(object: &Object, idx: usize, ways: &[u64]) -> ObjectName {
    let class = object.class as u64;
    let name = |words: &[u64]| words.iter().fold(class, |hash, word| mix(hash, *word)) | 1;
    let plain = |words: &[u64]| ObjectName { name: name(words), block: 0 };
    match object.region {
        Region::Unknown => {
            ObjectName { name: if idx == 0 { 0 } else { name(&[0, idx as u64]) }, block: 0 }
        }
        Region::Global { module, offset } => plain(&[1, u64::from(module), offset]),
        Region::Heap { site, ordinal, offset, .. } => {
            let site = ways.get(site.0 as usize).copied().unwrap_or(0);
            let block = mix(mix(2, site), u64::from(ordinal)) | 1;
            ObjectName { name: name(&[block, offset]), block }
        }
        Region::Stack { thread, offset, .. } => plain(&[3, u64::from(thread.0), offset]),
        Region::Thread(thread) => plain(&[4, u64::from(thread.0)]),
        Region::Descriptor(number) => plain(&[5, u64::from(number)]),
        Region::Common(common) => plain(&[6, common as u64]),
        Region::Pipe([one, other]) => plain(&[5, u64::from(one), u64::from(other)]),
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::BlockSort;
    use raddle_trace::Object;

    use super::*;

    /// The library allocates for two callers, which it counts apart: both first blocks have the same site and number.
    #[test]
    fn blocks_of_two_callers_have_two_names() {
        let site = |(offset, via): (u64, Option<u32>)| Site {
            module: Some(0),
            offset,
            via: via.map(SiteId),
        };
        let block = |site: u32| Object {
            region: Region::Heap {
                site: SiteId(site),
                ordinal: 0,
                offset: 8,
                size: 16,
                thread: ThreadId(0),
                stack: 0,
                sort: BlockSort::Heap,
            },
            ..Object::default()
        };
        let module = Module { path: "program".to_owned(), is_announced: true };
        let sites = [(0, None), (10, None), (20, None), (30, Some(1)), (30, Some(2))];
        let trace = Trace {
            sites: sites.map(site).to_vec(),
            objects: vec![Object::default(), block(3), block(4), block(3)],
            modules: vec![module].into(),
            ..Trace::default()
        };
        let run = Run::of(&trace, &mut ModuleNames::default()).expect("it is whole");
        let name = |it: u32| run.objects[ObjectId(it).idx()].name;
        assert_ne!(name(1), name(2));
        assert_eq!(name(1), name(3));
    }
}
