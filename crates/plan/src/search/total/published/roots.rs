//! A trace with all that branches and references in it depend on.

use raddle_model::{
    flows::{Flows, SinkKind},
    mix,
};
use raddle_total::{DefineSets, Flow, History, Root, UseDefine, first_value};

use super::super::{
    decide::name,
    past::Past,
    reached::Reached,
    roots::{Decided, roots},
};

/// A branch, or what a reference refers to, at one moment of a thread.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// The same in every execution in which its thread comes there.
    pub(super) key: u64,
    pub(super) root: Root,
    /// What its reads have read, as a hash. Traces do not say which way a branch goes; of equal values it goes the same.
    pub(super) outcome: u64,
}

/// What executions have in common: who reads, and whose write that is. First values have a name too.
pub(super) fn name_of(past: &Past, it: UseDefine) -> (u64, u64) {
    let of = |step: u32| name(&past.instances[step as usize]);
    let first = || first_value(past.history.steps[it.use_step as usize].object);
    (of(it.use_step), it.define.map_or_else(first, of))
}

/// The history of an execution with all flows, and what is decided in it.
pub(super) fn decided(past: &Past, flows: &Flows) -> (History, Vec<Branch>) {
    let mut history = past.history.clone();
    let reached = Reached::of(past, flows);
    let is_end = |_, sink: Option<u32>| {
        sink.is_none_or(|it| flows.sinks[it as usize].kind != SinkKind::Value)
    };
    let all = roots(&mut history, flows, &reached, is_end);
    let branch = |it: Decided| {
        let sink = it.sink.map_or(0, |it| u64::from(it) + 1);
        let key = mix(name(&past.instances[it.read as usize]), sink);
        let value = |it: &u32| past.values[*it as usize].unwrap_or(u64::from(*it));
        let outcome = it.reads.iter().map(value).fold(key, mix);
        Branch { key, root: Root::Reads(it.reads), outcome }
    };
    (history, all.into_iter().map(branch).collect())
}

/// By step: can another schedule give a read something else, or a read of what it comes from? All of them at once, for
/// a long trace has as many branches as reads.
pub(super) fn affected(history: &History, sets: &DefineSets<'_>) -> Vec<bool> {
    let steps = &history.steps;
    let defines: Vec<Vec<Option<u32>>> = (0..steps.len())
        .map(|it| if steps[it].act.is_read() { sets.of(it as u32) } else { Vec::new() })
        .collect();
    let mut reads: Vec<bool> = defines.iter().map(|it| it.len() > 1).collect();
    let mut writes = vec![false; steps.len()];
    loop {
        let mut has_changed = false;
        // By thread: has it made a read that is affected?
        let mut earlier = vec![false; history.n_threads()];
        for (idx, step) in steps.iter().enumerate() {
            let thread = step.thread.idx();
            let flows = match &history.flows[idx] {
                Flow::Nothing => false,
                Flow::Reads(all) => all.iter().any(|it| reads[*it as usize]),
                Flow::Earlier => earlier[thread],
            };
            let comes = defines[idx].iter().flatten().any(|it| writes[*it as usize]);
            has_changed |= flows && !writes[idx] || comes && !reads[idx];
            writes[idx] |= flows;
            reads[idx] |= comes;
            earlier[thread] |= reads[idx];
        }
        if !has_changed {
            return reads;
        }
    }
}

/// Can another schedule give one of its uses something else?
pub(super) fn is_affected(history: &History, affected: &[bool], root: &Root) -> bool {
    root.reads(history).iter().any(|it| affected[*it as usize])
}
