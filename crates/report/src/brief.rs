//! What must be known of a finding, in a few lines: who did what where. For pages, trackers and annotations,
//! which have their own ways to write places.

use raddle_model::{Access, Finding, Held, OpKind, Place, ThreadState};

use crate::{evidence, place, steps};

/// One thing that a thread did, or waits to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point<'a> {
    /// `T1 waits for mutex `right`, held by T2 since bank.c:30`.
    pub(crate) words: String,
    /// Where.
    pub(crate) place: &'a Place,
}

/// The lines; those that matter most first.
pub(crate) fn points(finding: &Finding) -> Vec<Point<'_>> {
    if let Some(evidence) = finding.evidence.as_deref() {
        let accesses = evidence.accesses.iter().map(|it| access(finding, it));
        let links = evidence.links.iter().map(|it| {
            let who = place::thread(finding, it.thread);
            let taken = since(&it.holds);
            let words = format!("{who} takes {} while it holds {taken}", it.wants);
            Point { words, place: &it.wants_at }
        });
        return accesses.chain(links).collect();
    }
    let waits: Vec<Point<'_>> = in_order(finding).filter_map(|it| wait(finding, it)).collect();
    if !waits.is_empty() && finding.thread.is_none() {
        return waits;
    }
    let Some(place) = finding.sites.first() else { return Vec::new() };
    let who = finding.thread.map(|it| place::thread(finding, it));
    let words = who.map_or_else(|| "here".to_owned(), |it| format!("in {it}"));
    vec![Point { words, place }]
}

/// Threads of a cycle first, in its order; then those that wait for something else than another's end.
fn in_order(finding: &Finding) -> impl Iterator<Item = &ThreadState> {
    let mut states: Vec<&ThreadState> = finding.threads.iter().collect();
    states.sort_by_key(|it| {
        let in_cycle = finding.cycle.iter().position(|thread| *thread == it.thread);
        (in_cycle.unwrap_or(usize::MAX), it.pending == Some(OpKind::Join))
    });
    states.into_iter()
}

fn wait<'a>(finding: &Finding, state: &'a ThreadState) -> Option<Point<'a>> {
    let wait = state.waits_for.as_ref()?;
    let verb = state.pending.map_or("waits for", |it| steps::waiting(it, wait));
    let who = place::thread(finding, state.thread);
    let holders = wait.holders.iter().map(|(holder, taken)| {
        let is_ahead = place::is_ahead(finding, *holder, wait);
        let holder = place::thread_in_passing(finding, *holder);
        match place::short(taken).as_str() {
            _ if is_ahead => format!(", which lets {holder} go first"),
            "" => format!(", held by {holder}"),
            taken => format!(", held by {holder} since {taken}"),
        }
    });
    let holders: String = holders.collect();
    Some(Point { words: format!("{who} {verb} {}{holders}", wait.object), place: &wait.at })
}

fn access<'a>(finding: &Finding, access: &'a Access) -> Point<'a> {
    let who = place::thread(finding, access.thread);
    let evidence = finding.evidence.as_deref().expect("bug: an access is part of the evidence");
    let what = evidence::words(access, evidence);
    let holds: Vec<String> = access.holds.iter().map(since).collect();
    let holding = match holds.as_slice() {
        [] => "holding no lock".to_owned(),
        all => format!("holding {}", all.join(", ")),
    };
    Point { words: format!("{who}: {what}, {holding}"), place: &access.place }
}

/// `mutex `left` (since bank.c:30)`.
fn since(held: &Held) -> String {
    match place::short(&held.taken_at).as_str() {
        "" => held.lock.clone(),
        taken => format!("{} (since {taken})", held.lock),
    }
}
