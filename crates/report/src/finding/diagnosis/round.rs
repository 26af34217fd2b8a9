//! What threads do over and over in a livelock: the last steps of its schedule are the round that is repeated.

use raddle_model::{Fault, Finding, OpKind, Step, ThreadId};

use crate::words::act::{self, listed, short, verb};

/// Different things that one thread does, at most, if each is to be said; and names in brackets.
const ACTS_MAX: usize = 2;
const NAMES_MAX: usize = 4;

/// "T0 tries to lock `lock` and T1 reads `is_done`, over and over"; of a longer round, what it is about.
pub(super) fn sentence(finding: &Finding) -> Option<String> {
    let Fault::Round(threads, n_steps) = &finding.fault else { return None };
    let each: Option<Vec<String>> = threads
        .iter()
        .map(|it| Some(format!("{} {}", short(*it), listed(&acts(finding, *it)?))))
        .collect();
    if let Some(each) = each.filter(|it| !it.is_empty()) {
        return Some(format!("{}, over and over", listed(&each)));
    }
    let mut names: Vec<String> = Vec::new();
    for name in round(finding).iter().filter_map(|it| name(finding, it)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let whose: Vec<String> = threads.iter().copied().map(short).collect();
    let repeat = if whose.len() == 1 { "repeats" } else { "repeat" };
    let is_short = (1..=NAMES_MAX).contains(&names.len());
    is_short.then(|| {
        let whose = listed(&whose);
        format!("{whose} {repeat} the same {n_steps} steps forever ({})", listed(&names))
    })
}

/// "tries to lock `lock`, over and over": of one thread, where that is short.
pub(super) fn of_thread(finding: &Finding, thread: ThreadId) -> Option<String> {
    Some(format!("{}, over and over", listed(&acts(finding, thread)?)))
}

/// The steps that are repeated, as far as they were kept.
fn round(finding: &Finding) -> &[Step] {
    let Fault::Round(_, n_steps) = finding.fault else { return &[] };
    let n_steps = usize::try_from(n_steps).unwrap_or(usize::MAX);
    &finding.steps[finding.steps.len().saturating_sub(n_steps)..]
}

/// What one thread does, if it is little; yields say nothing.
fn acts(finding: &Finding, thread: ThreadId) -> Option<Vec<String>> {
    let mut acts: Vec<String> = Vec::new();
    let own = round(finding).iter().filter(|it| it.thread == thread && it.kind != OpKind::Yield);
    for step in own {
        let act = format!("{} {}", verb(step.kind), name(finding, step)?);
        if !acts.contains(&act) {
            acts.push(act);
        }
    }
    (1..=ACTS_MAX).contains(&acts.len()).then_some(acts)
}

fn name(finding: &Finding, step: &Step) -> Option<String> {
    let object = finding.objects.get(step.object.idx()).filter(|it| !it.is_none());
    object.map(act::name)
}
