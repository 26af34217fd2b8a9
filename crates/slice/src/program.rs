//! All functions together: arguments and results, and what is told about them.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{hash_bytes, mix};
use raddle_plan::search::{Flows, Sink, SinkKind};

use crate::{
    Sliced,
    binary::{Binary, Code},
    function::{Summary, called, near_target, summarise},
    sources::{Source, Sources},
    state::ARGUMENTS,
};

/// Follows every function that has hooks.
pub(crate) fn slice(binary: &Binary, module: &str) -> Sliced {
    if binary.functions.len() > FUNCTIONS_MAX {
        let what = format!("all {} functions", binary.functions.len());
        return Sliced { irregular: vec![what], ..Sliced::default() };
    }
    let mut program = Program::default();
    let mut irregular = Vec::new();
    for (start, code) in &binary.functions {
        let has_hooks = calls_hooks(code, binary);
        if !has_hooks && code.instructions.len() > SMALL {
            continue;
        }
        match summarise(code, binary) {
            Ok(summary) => {
                program.summaries.insert(*start, summary);
            }
            Err(_) => {
                // Nobody knows with what it calls others.
                program.called_anyhow.extend(code.instructions.iter().filter_map(near_target));
                if has_hooks {
                    irregular.push(code.name.clone());
                }
            }
        }
    }
    program.pointed_to = binary.pointed_to.clone();
    for summary in program.summaries.values() {
        program.pointed_to.extend(&summary.pointed_to);
    }
    program.resolve();
    let n_functions = program.summaries.values().filter(|it| has_hooks(it)).count();
    let module = hash_bytes(module.as_bytes());
    let flows = program.flows(module);
    let accesses =
        program.summaries.values().flat_map(|it| it.reads.iter().chain(it.writes.keys()));
    let addresses = accesses.map(|it| (mix(module, *it), *it)).collect();
    Sliced { flows, addresses, irregular, n_functions }
}

/// Functions of a program, more than which none is followed: calls through pointers may lead from each to each.
const FUNCTIONS_MAX: usize = 1_500;

/// Functions without hooks are followed if they are not longer than this: helpers of the program, as a rule.
const SMALL: usize = 400;

fn calls_hooks(code: &Code, binary: &Binary) -> bool {
    let mut names = code.instructions.iter().filter_map(|it| called(it, binary));
    names.any(|it| it.starts_with("__tsan_"))
}

fn has_hooks(summary: &Summary) -> bool {
    !summary.reads.is_empty() || !summary.writes.is_empty()
}

#[derive(Debug, Default)]
struct Program {
    /// By where they begin.
    summaries: BTreeMap<u64, Summary>,
    pointed_to: BTreeSet<u64>,
    /// Functions that irregular ones call.
    called_anyhow: BTreeSet<u64>,
    /// By function and argument: what it is, in reads.
    params: BTreeMap<(u64, u8), Sources>,
    /// By function: what it returns, in reads.
    returns: BTreeMap<u64, Sources>,
}

impl Program {
    /// Passes arguments and results around until nothing changes.
    fn resolve(&mut self) {
        let unknown = Sources::one(Source::Unknown);
        for function in &self.called_anyhow {
            let all = (0..ARGUMENTS.len()).map(|it| ((*function, it as u8), unknown.clone()));
            self.params.extend(all);
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            let mut params: Vec<((u64, u8), Sources)> = Vec::new();
            let mut returns: Vec<(u64, Sources)> = Vec::new();
            for (start, summary) in &self.summaries {
                returns.push((*start, self.in_reads(*start, &summary.returns)));
                for call in summary.calls.values() {
                    let targets: Vec<u64> = match call.target {
                        Some(target) => vec![target],
                        None => self.pointed_to.iter().copied().collect(),
                    };
                    for (argument, sources) in call.arguments.iter().enumerate() {
                        let sources = self.in_reads(*start, sources);
                        let all = targets.iter().map(|it| ((*it, argument as u8), sources.clone()));
                        params.extend(all.filter(|it| !it.1.is_empty()));
                    }
                }
            }
            for (key, sources) in params {
                has_changed |= self.params.entry(key).or_default().add(&sources);
            }
            for (key, sources) in returns {
                has_changed |= self.returns.entry(key).or_default().add(&sources);
            }
        }
    }

    /// Sources of a function, with arguments and results replaced by what they come from.
    fn in_reads(&self, function: u64, sources: &Sources) -> Sources {
        let mut found = Sources::none();
        for source in sources.iter() {
            match source {
                // What it stands for was filled in before.
                Source::Control(_) => {}
                Source::Unknown | Source::Read(_) => {
                    found.add(&Sources::one(source));
                }
                Source::Param(argument) => {
                    if let Some(it) = self.params.get(&(function, argument)) {
                        found.add(it);
                    }
                }
                Source::Ret(place) => {
                    let call = self.summaries[&function].calls.get(&place);
                    let target = call.and_then(|it| it.target);
                    match target.filter(|it| self.summaries.contains_key(it)) {
                        Some(target) => {
                            if let Some(it) = self.returns.get(&target) {
                                found.add(it);
                            }
                        }
                        None => {
                            found.add(&Sources::one(Source::Unknown));
                        }
                    }
                }
            }
        }
        found
    }

    fn flows(&self, module: u64) -> Flows {
        let place = |address: u64| mix(module, address);
        let mut flows = Flows::default();
        let mates = self.mates();
        let all_reads = self.summaries.values().flat_map(|it| it.reads.iter());
        for read in all_reads {
            flows.reads.insert(place(*read), Vec::new());
        }
        for (start, summary) in &self.summaries {
            if has_hooks(summary) {
                flows.n_branches += summary.n_branches;
            }
            for ((at, kind), sources) in &summary.sinks {
                let sources = self.in_reads(*start, sources);
                let is_unknown = sources.has(Source::Unknown);
                flows.n_unknown +=
                    u64::from(is_unknown && *kind == SinkKind::Branch && has_hooks(summary));
                let reads = match is_unknown {
                    true => mates.get(start).cloned().unwrap_or_default(),
                    false => reads_of(&sources),
                };
                self.add(&mut flows, place(*at), *kind, &reads, place);
            }
            for (at, sources) in &summary.writes {
                let sources = self.in_reads(*start, sources);
                if sources.has(Source::Unknown) {
                    continue;
                }
                let reads = reads_of(&sources);
                let mut places: Vec<u64> = reads.iter().map(|it| place(*it)).collect();
                places.sort_unstable();
                flows.writes.insert(place(*at), places);
                self.add(&mut flows, place(*at), SinkKind::Value, &reads, place);
            }
        }
        flows
    }

    fn add(
        &self,
        flows: &mut Flows,
        at: u64,
        kind: SinkKind,
        reads: &BTreeSet<u64>,
        place: impl Fn(u64) -> u64,
    ) {
        if !reads.is_empty() {
            let mut reads: Vec<u64> = reads.iter().map(|it| place(*it)).collect();
            reads.sort_unstable();
            flows.add_sink(Sink { place: at, kind, reads });
        }
    }

    /// By function: all reads that a thread which runs it may make, as far as direct calls tell.
    fn mates(&self) -> BTreeMap<u64, BTreeSet<u64>> {
        let called: BTreeSet<u64> = self
            .summaries
            .values()
            .flat_map(|it| it.calls.values().filter_map(|it| it.target))
            .collect();
        let is_root = |it: &u64| !called.contains(it) || self.pointed_to.contains(it);
        let mut mates: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for root in self.summaries.keys().copied().filter(is_root) {
            let reached = self.reached(root);
            let reads: BTreeSet<u64> =
                reached.iter().flat_map(|it| self.summaries[it].reads.iter().copied()).collect();
            for function in reached {
                mates.entry(function).or_default().extend(&reads);
            }
        }
        mates
    }

    /// What a function calls, and what that calls. Through pointers: everything whose address is taken, except
    /// where the pointer is that of a new thread.
    fn reached(&self, root: u64) -> BTreeSet<u64> {
        let mut reached = BTreeSet::new();
        let mut open = vec![root];
        while let Some(function) = open.pop() {
            let Some(summary) = self.summaries.get(&function) else { continue };
            if !reached.insert(function) {
                continue;
            }
            for call in summary.calls.values() {
                match call.target {
                    Some(target) => open.push(target),
                    None if call.arguments.len() > 1 => open.extend(&self.pointed_to),
                    None => {}
                }
            }
        }
        reached
    }
}

fn reads_of(sources: &Sources) -> BTreeSet<u64> {
    let read = |it| match it {
        Source::Read(place) => Some(place),
        _ => None,
    };
    sources.iter().filter_map(read).collect()
}
