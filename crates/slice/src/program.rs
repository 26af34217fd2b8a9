//! All functions together: arguments and results, and what is told about them.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{FlowControl, Instruction};
use raddle_model::flows::{Flows, Shown, Sink, SinkKind};
use raddle_model::{hash_bytes, mix};

use crate::{
    Sliced,
    binary::{Binary, Code, has_hooks, own_target},
    function::{Irregular, Summary, summarise},
    resolve::Resolved,
    runtime::{self, Part},
};

/// Follows every function that has hooks.
pub(crate) fn slice(binary: &Binary, module: &str) -> Sliced {
    let mut program = Program::default();
    program.follow(binary);
    program.pointed_to = binary.pointed_to.clone();
    for summary in program.summaries.values() {
        program.pointed_to.extend(&summary.pointed_to);
    }
    let n_functions = program.summaries.values().filter(|it| is_hooked(it)).count();
    let module = hash_bytes(module.as_bytes());
    let flows = program.flows(module);
    let accesses =
        program.summaries.values().flat_map(|it| it.reads.iter().chain(it.writes.keys()));
    let named = |it: &u64| (mix(module, *it), *it);
    let addresses = accesses.map(named).collect();
    let exchanges = program.summaries.values().flat_map(|it| &it.exchanges);
    let exchanges = exchanges.map(named).collect();
    let mut irregular: Vec<String> =
        program.irregular.keys().map(|it| binary.functions[it].name.clone()).collect();
    irregular.sort_unstable();
    Sliced { flows, addresses, exchanges, irregular, n_functions }
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
    /// Functions that are the language's runtime.
    runtime: BTreeSet<u64>,
    /// Functions that should be followed and can't be: how many branches each has.
    irregular: BTreeMap<u64, u64>,
}

impl Program {
    /// Follows functions with hooks, and those that they call if they are small. What std calls is its own business.
    fn follow(&mut self, binary: &Binary) {
        let hooked: Vec<u64> = binary
            .functions
            .iter()
            .filter(|(_, code)| has_hooks(code, binary))
            .map(|(start, _)| *start)
            .collect();
        let mut seen: BTreeSet<u64> = hooked.iter().copied().collect();
        let mut open = hooked.clone();
        while let Some(start) = open.pop() {
            let Some(code) = binary.functions.get(&start) else { continue };
            let is_hooked = hooked.binary_search(&start).is_ok();
            let is_small = code.instructions.len() <= SMALL;
            if !is_hooked && binary.endless.contains(&start) {
                continue;
            }
            let summary = match is_hooked || is_small {
                true => summarise(code, binary),
                false => Err(Irregular),
            };
            match summary {
                Ok(mut summary) => {
                    match runtime::part(&code.name, is_hooked) {
                        Some(Part::Sync) => summary = summary.muted(),
                        Some(Part::Threads) => {
                            self.runtime.insert(start);
                        }
                        None => {}
                    }
                    let called = summary.calls.values().filter_map(|it| it.target);
                    open.extend(called.filter(|it| seen.insert(*it)));
                    self.summaries.insert(start, summary);
                }
                Err(_) if is_hooked || runtime::part(&code.name, false).is_none() => {
                    self.irregular.insert(start, n_branches(code));
                }
                Err(_) => {}
            }
        }
        // Nobody knows with what the others call.
        let others = binary.functions.iter().filter(|it| !self.summaries.contains_key(it.0));
        for code in others.map(|it| it.1) {
            let called = code.instructions.iter().filter_map(|it| own_target(it, binary));
            self.called_anyhow.extend(called.filter(|it| self.summaries.contains_key(it)));
        }
    }

    fn flows(&self, module: u64) -> Flows {
        let place = |address: u64| mix(module, address);
        let mut flows = Flows::default();
        let mates = self.mates();
        let resolved = Resolved::new(&self.summaries, &self.pointed_to, &self.called_anyhow);
        let every: BTreeSet<u64> = self.own_reads(self.summaries.keys()).collect();
        for read in self.summaries.values().flat_map(|it| &it.reads) {
            flows.reads.insert(place(*read), Vec::new());
        }
        for (number, (start, summary)) in self.summaries.iter().enumerate() {
            let number = number as u32;
            let accesses = summary.accesses.iter().map(|it| (place(*it), number));
            flows.functions.extend(accesses);
            let shown = |at: &u64| match () {
                () if summary.accesses.contains(at) => Shown::AtPlace,
                () if summary.accompanied.contains(at) => Shown::InFunction(number),
                () => Shown::Never,
            };
            let is_own = !self.runtime.contains(start);
            for ((at, kind), sources) in summary.sinks.iter().filter(|_| is_own) {
                let known = resolved.reads(*start, sources);
                // In code without hooks, only branches count that reads of the program decide.
                let is_told = is_hooked(summary) || known.as_ref().is_none_or(|it| !it.is_empty());
                if *kind == SinkKind::Branch && is_told {
                    flows.n_branches += 1;
                    flows.n_unknown += u64::from(known.is_none());
                }
                let reads = known.unwrap_or_else(|| mates.get(start).unwrap_or(&every).clone());
                let reads = places(&reads, module);
                flows.add_sink(Sink { place: place(*at), kind: *kind, reads, shown: shown(at) });
            }
            for (at, sources) in &summary.writes {
                let Some(reads) = resolved.reads(*start, sources) else { continue };
                let (at, kind, shown) = (place(*at), SinkKind::Value, shown(at));
                let reads = places(&reads, module);
                flows.writes.insert(at, reads.clone());
                flows.add_sink(Sink { place: at, kind, reads, shown });
            }
        }
        // All that is known of them is who may come there.
        for (start, n_branches) in &self.irregular {
            flows.n_branches += n_branches;
            flows.n_unknown += n_branches;
            let reads = places(mates.get(start).unwrap_or(&every), module);
            let (place, kind) = (place(*start), SinkKind::Branch);
            flows.add_sink(Sink { place, kind, reads, shown: Shown::Never });
        }
        flows
    }

    /// What functions read that are not the runtime's.
    fn own_reads<'a>(
        &'a self,
        functions: impl IntoIterator<Item = &'a u64> + 'a,
    ) -> impl Iterator<Item = u64> + 'a {
        let own = functions.into_iter().filter(|it| !self.runtime.contains(it));
        own.filter_map(|it| self.summaries.get(it)).flat_map(|it| it.reads.iter().copied())
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
            let reads: BTreeSet<u64> = self.own_reads(&reached).collect();
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
            let summary = self.summaries.get(&function);
            if summary.is_none() && !self.irregular.contains_key(&function) {
                continue;
            }
            let is_new = reached.insert(function);
            let Some(summary) = summary.filter(|_| is_new) else { continue };
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

fn n_branches(code: &Code) -> u64 {
    let is_branch = |it: &&Instruction| {
        matches!(it.flow_control(), FlowControl::ConditionalBranch | FlowControl::IndirectBranch)
    };
    code.instructions.iter().filter(is_branch).count() as u64
}

/// The names of places. Sorted.
fn places(reads: &BTreeSet<u64>, module: u64) -> Vec<u64> {
    let mut places: Vec<u64> = reads.iter().map(|it| mix(module, *it)).collect();
    places.sort_unstable();
    places
}
