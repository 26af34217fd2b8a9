//! Which places a finding names, and whether those are what a program calls the cause of its failure.

use raddle_model::{Finding, Kind, OpKind, Place, Step};

use super::diagnosis::Diagnosis;
use crate::layout::style::Style;

/// Steps of a livelock's round, at most.
const ROUND_MAX: usize = 64;

/// What a program's first lines call its cause (`//@ cause: text | text`, parts of its lines) and none of these
/// findings names.
pub fn missing_causes<'a>(causes: &[&Finding], source: &'a str) -> Vec<&'a str> {
    let lines: Vec<&str> = source.lines().collect();
    let of_finding = |it: &&Finding| {
        let own = places(it).into_iter().map(|it| it.line).collect::<Vec<_>>();
        let spans = Diagnosis::of(it, None, &Style::default()).spans;
        own.into_iter().chain(spans.into_iter().map(|it| it.place.line))
    };
    let named: Vec<&str> = causes
        .iter()
        .flat_map(of_finding)
        .filter_map(|it| lines.get(it.checked_sub(1)? as usize).copied())
        .collect();
    let wanted = lines.iter().find_map(|it| it.strip_prefix("//@ cause:")).unwrap_or_default();
    let is_named = |text: &&str| text.is_empty() || named.iter().any(|it| it.contains(text));
    wanted.split(" | ").map(str::trim).filter(|it| !is_named(it)).collect()
}

/// All places that a finding speaks of, beside its schedule.
pub fn places(finding: &Finding) -> Vec<&Place> {
    let mut places: Vec<&Place> = finding.sites.iter().collect();
    if let Some(evidence) = finding.evidence.as_deref() {
        for access in &evidence.accesses {
            places.extend(access.stack.iter().chain([&access.place]));
        }
        if let Some(contrast) = &evidence.contrast {
            let seen = contrast.writes.iter().flatten().chain([&contrast.read]);
            places.extend(seen.flat_map(|it| it.stack.iter().chain([&it.place])));
        }
        places.extend(evidence.links.iter().flat_map(|it| [&it.holds.taken_at, &it.wants_at]));
    }
    if let Some(freed) = finding.freed.as_deref() {
        places.extend(&freed.free.stack);
    }
    places.extend(shown_steps(finding).filter_map(|it| finding.places.get(it.place as usize)));
    for state in &finding.threads {
        if let Some(wait) = &state.waits_for {
            places.push(&wait.at);
            places.extend(wait.holders.iter().map(|it| &it.1));
            places.extend(wait.missed.as_ref().map(|it| &it.at));
        }
        if finding.thread == Some(state.thread) || finding.kind == Kind::Livelock {
            places.extend(&state.stack);
        }
    }
    places
}

/// The steps that a report speaks of: where that went which was used all the same, and one round of a livelock.
fn shown_steps(finding: &Finding) -> impl Iterator<Item = &Step> {
    let is_gone = |it: &&Step| matches!(it.kind, OpKind::Free | OpKind::Destroy);
    let gone = finding.steps.iter().rfind(is_gone).filter(|_| finding.kind == Kind::Misuse);
    let round = if finding.kind == Kind::Livelock { ROUND_MAX } else { 0 };
    finding.steps.iter().rev().take(round).chain(gone)
}

/// Is this itself a cause of failures, and not only how one shows?
pub const fn is_cause(kind: Kind) -> bool {
    match kind {
        Kind::Race | Kind::Atomicity | Kind::Deadlock | Kind::Misuse | Kind::Livelock => true,
        Kind::Assert
        | Kind::Abort
        | Kind::Crash
        | Kind::Exit
        | Kind::Exception
        | Kind::Panic
        | Kind::Linearizability
        | Kind::OutOfMemory => false,
    }
}
