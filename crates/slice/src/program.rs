//! All functions together: arguments and results, and what is told about them.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{hash_bytes, mix};
use raddle_plan::search::{Flows, Sink, SinkKind};

use crate::{
    Sliced,
    binary::{Binary, has_hooks},
    function::{Summary, own_target, summarise},
    resolve::Resolved,
};

/// Follows every function that has hooks.
pub(crate) fn slice(binary: &Binary, module: &str) -> Sliced {
    let mut program = Program::default();
    let irregular = program.follow(binary);
    program.pointed_to = binary.pointed_to.clone();
    for summary in program.summaries.values() {
        program.pointed_to.extend(&summary.pointed_to);
    }
    let n_functions = program.summaries.values().filter(|it| is_hooked(it)).count();
    let module = hash_bytes(module.as_bytes());
    let flows = program.flows(module);
    let accesses =
        program.summaries.values().flat_map(|it| it.reads.iter().chain(it.writes.keys()));
    let addresses = accesses.map(|it| (mix(module, *it), *it)).collect();
    Sliced { flows, addresses, irregular, n_functions }
}

/// Functions without hooks are followed if they are not longer than this: helpers of the program, as a rule.
const SMALL: usize = 400;

fn is_hooked(summary: &Summary) -> bool {
    !summary.reads.is_empty() || !summary.writes.is_empty()
}

#[derive(Debug, Default)]
struct Program {
    /// By where they begin.
    summaries: BTreeMap<u64, Summary>,
    pointed_to: BTreeSet<u64>,
    /// Functions that those call which are not followed.
    called_anyhow: BTreeSet<u64>,
}

impl Program {
    /// Follows functions with hooks, and those that they call if they are small; gives back the names of those
    /// that should be followed and can't be.
    fn follow(&mut self, binary: &Binary) -> Vec<String> {
        let hooked: Vec<u64> = binary
            .functions
            .iter()
            .filter(|(_, code)| has_hooks(code, binary))
            .map(|(start, _)| *start)
            .collect();
        let mut irregular = Vec::new();
        let mut seen: BTreeSet<u64> = hooked.iter().copied().collect();
        let mut open = hooked.clone();
        while let Some(start) = open.pop() {
            let Some(code) = binary.functions.get(&start) else { continue };
            let is_hooked = hooked.binary_search(&start).is_ok();
            let is_small = code.instructions.len() <= SMALL && !binary.endless.contains(&start);
            if !is_hooked && !is_small {
                continue;
            }
            match summarise(code, binary) {
                Ok(summary) => {
                    let called = summary.calls.values().filter_map(|it| it.target);
                    open.extend(called.filter(|it| seen.insert(*it)));
                    self.summaries.insert(start, summary);
                }
                Err(_) if is_hooked => irregular.push(code.name.clone()),
                Err(_) => {}
            }
        }
        // Nobody knows with what the others call.
        let others = binary.functions.iter().filter(|it| !self.summaries.contains_key(it.0));
        for code in others.map(|it| it.1) {
            let called = code.instructions.iter().filter_map(|it| own_target(it, binary));
            self.called_anyhow.extend(called.filter(|it| self.summaries.contains_key(it)));
        }
        irregular.sort_unstable();
        irregular
    }

    fn flows(&self, module: u64) -> Flows {
        let place = |address: u64| mix(module, address);
        let mut flows = Flows::default();
        let mates = self.mates();
        let resolved = Resolved::new(&self.summaries, &self.pointed_to, &self.called_anyhow);
        let every: BTreeSet<u64> =
            self.summaries.values().flat_map(|it| it.reads.iter().copied()).collect();
        for read in &every {
            flows.reads.insert(place(*read), Vec::new());
        }
        for (start, summary) in &self.summaries {
            for ((at, kind), sources) in &summary.sinks {
                let known = resolved.reads(*start, sources);
                // In code without hooks, only branches count that reads of the program decide.
                let is_told = is_hooked(summary) || known.as_ref().is_none_or(|it| !it.is_empty());
                if *kind == SinkKind::Branch && is_told {
                    flows.n_branches += 1;
                    flows.n_unknown += u64::from(known.is_none());
                }
                let reads = known.unwrap_or_else(|| mates.get(start).unwrap_or(&every).clone());
                self.add(&mut flows, place(*at), *kind, &reads, place);
            }
            for (at, sources) in &summary.writes {
                let Some(reads) = resolved.reads(*start, sources) else { continue };
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

    /// By function: all reads that a thread which runs it may make, as far as calls tell. Those that code calls
    /// which can't be followed have no entry: nobody knows what was read before.
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
        for function in self.called_anyhow.iter().flat_map(|it| self.reached(*it)) {
            mates.remove(&function);
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
