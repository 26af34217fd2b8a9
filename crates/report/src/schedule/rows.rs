//! Rows of a schedule: steps, switches between them, folded stretches, and how it ended.

use raddle_model::{Access, Finding, Flags, Kind, OpKind, OpResult, Place, Step, ThreadId};

use super::{
    Spot, When, fold, own_place,
    switches::{self, Locks},
};
use crate::{
    layout::{number, style::Style},
    words::{
        access,
        names::Names,
        steps::{self, Words},
    },
};

/// One line of the schedule.
pub(crate) enum Row<'a> {
    Step(Cell<'a>),
    /// Why another thread runs from here on.
    Switch(String),
    /// Steps left out.
    Fold(String),
}

/// What one thread did, or was about to do when the execution ended.
pub(crate) struct Cell<'a> {
    /// The step's number; `None` for what was not done any more.
    pub(crate) number: Option<u64>,
    pub(crate) thread: ThreadId,
    pub(crate) words: Words,
    pub(crate) place: Option<&'a Place>,
    /// Why this row matters: `assert failed`.
    pub(crate) mark: Option<&'static str>,
    /// Is it what the program did not write?
    pub(crate) is_implied: bool,
    /// What the text names, if it is that.
    pub(crate) spot: Option<&'a Spot>,
    /// How many locks each thread holds at this step, of those that hold any.
    pub(crate) held: Vec<(ThreadId, usize)>,
}

impl Cell<'_> {
    /// How many locks a thread holds at this step.
    pub(crate) fn n_held(&self, thread: ThreadId) -> usize {
        self.held.iter().find(|it| it.0 == thread).map_or(0, |it| it.1)
    }
}

/// `43 steps, 5 switches`.
pub(crate) fn size(finding: &Finding) -> String {
    let n_steps = finding.n_steps_dropped + finding.steps.len() as u64;
    let switches = match finding.n_switches {
        1 => "1 switch".to_owned(),
        many => format!("{} switches", number::grouped(many)),
    };
    format!("{}, {switches}", number::count(n_steps, "step"))
}

/// The rows of a finding's schedule.
pub(crate) fn rows<'a>(
    finding: &'a Finding,
    spots: &'a [Spot],
    rows_max: usize,
    names: &mut Names<'a>,
    style: &Style,
) -> Vec<Row<'a>> {
    let reasons = switches::reasons(finding);
    let at = |it: &Spot| match it.when {
        When::Step(step, after) => {
            let idx = usize::try_from(step.checked_sub(finding.n_steps_dropped)?).ok()?;
            Some((idx, after))
        }
        When::End => None,
    };
    let mut named: Vec<usize> = spots.iter().filter_map(|it| Some(at(it)?.0)).collect();
    let panicked = panicked(finding);
    named.extend(panicked);
    let spot = |idx: usize| {
        let of_thread = |it: &&Spot| it.thread == finding.steps[idx].thread;
        spots.iter().filter(of_thread).find(|it| at(it) == Some((idx, 0)))
    };
    let period = fold::period(finding).filter(|_| !style.full);
    let kept = match period {
        Some(period) => fold::last(finding, period),
        None => fold::kept(finding, &named, &reasons, rows_max, style.full),
    };
    let mut rows = Vec::new();
    let n_known = reasons.iter().flatten().count() as u64;
    let mut gap = Gap {
        n_steps: finding.n_steps_dropped,
        n_switches: finding.n_switches.saturating_sub(n_known),
        is_start: true,
        period,
    };
    let mut locks = Locks::default();
    for (idx, step) in finding.steps.iter().enumerate() {
        let n_before = locks.held_by(step.thread).len();
        locks.apply(step);
        let reason_to_switch = &reasons[idx];
        if !kept[idx] {
            gap.n_steps += 1;
            gap.n_switches += u64::from(reason_to_switch.is_some());
            continue;
        }
        gap.flush(&mut rows, style);
        rows.push(Row::Step(Cell {
            number: Some(finding.n_steps_dropped + idx as u64 + 1),
            thread: step.thread,
            words: steps::words(step, names, style),
            place: place_of_step(finding, idx),
            mark: mark_of_step(finding, idx),
            is_implied: fold::is_implied(step),
            spot: spot(idx),
            held: held(finding, &locks, Some((step.thread, n_before))),
        }));
        let n_steps = finding.n_steps_dropped + idx as u64 + 1;
        rows.extend(unseen(finding, spots, n_steps, &locks, names, style));
        rows.extend(between(finding, spots, n_steps, &locks));
        if panicked == Some(idx) {
            rows.extend(end_rows(finding, spots, &locks, names, style));
        }
        if let Some(reason) = reason_to_switch {
            if kept.get(idx + 1).is_some_and(|it| *it) {
                rows.push(Row::Switch(reason.clone()));
            } else {
                gap.n_switches += 1;
            }
        }
    }
    gap.flush(&mut rows, style);
    if panicked.is_none() {
        rows.extend(end_rows(finding, spots, &locks, names, style));
    }
    rows
}

/// How it ended.
fn end_rows<'a>(
    finding: &'a Finding,
    spots: &'a [Spot],
    locks: &Locks,
    names: &mut Names<'a>,
    style: &Style,
) -> Vec<Row<'a>> {
    let held = held(finding, locks, None);
    let row = |cell: Cell<'a>| {
        let is_it = |it: &&Spot| it.when == When::End && it.thread == cell.thread;
        Row::Step(Cell { held: held.clone(), spot: spots.iter().find(is_it), ..cell })
    };
    ends(finding, names, style).into_iter().map(row).collect()
}

/// The last step before a panic, which is not the end of the others: the thread's last one on its line.
fn panicked(finding: &Finding) -> Option<usize> {
    let (thread, place) = (finding.thread?, finding.sites.first()?);
    let is_there = |step: &Step| {
        let own = own_place(finding, step);
        own.is_some_and(|it| (it.line, &it.file) == (place.line, &place.file))
    };
    let last = finding.steps.iter().rposition(|it| it.thread == thread && is_there(it));
    last.filter(|_| finding.kind == Kind::Panic && finding.evidence.is_none())
}

/// `… 30 of 38 steps not shown …`.
pub(super) fn not_shown<'a>(finding: &Finding, n_shown: u64, style: &Style) -> Row<'a> {
    let n_steps = finding.n_steps_dropped + finding.steps.len() as u64;
    let n_left_out = number::grouped(n_steps.saturating_sub(n_shown));
    let of = number::count(n_steps, "step");
    let dots = style.ellipsis();
    Row::Fold(format!("{dots} {n_left_out} of {of} not shown {dots}"))
}

/// How many locks each thread holds. Who releases one holds it until then.
fn held(
    finding: &Finding,
    locks: &Locks,
    before: Option<(ThreadId, usize)>,
) -> Vec<(ThreadId, usize)> {
    let threads = finding.threads.iter().map(|it| it.thread);
    let counts = threads.map(|thread| {
        let n_before = before.filter(|it| it.0 == thread).map_or(0, |it| it.1);
        (thread, locks.held_by(thread).len().max(n_before))
    });
    counts.filter(|it| it.1 > 0).collect()
}

/// Accesses that the text names and that are no scheduling points, after so many steps.
fn unseen<'a>(
    finding: &'a Finding,
    spots: &'a [Spot],
    n_steps: u64,
    locks: &Locks,
    names: &mut Names<'a>,
    style: &Style,
) -> Vec<Row<'a>> {
    let after = |it: &Spot| match it.when {
        When::Step(step, after) if step + 1 == n_steps => after,
        When::Step(..) | When::End => 0,
    };
    let is_told = |it: &&Spot| accesses(finding).any(|access| is_of(it, access));
    let here = spots.iter().filter(|it| after(it) > 0 && !is_told(it));
    let mut here: Vec<(&'a Spot, OpKind)> = here.filter_map(|it| Some((it, it.kind?))).collect();
    here.sort_by_key(|it| after(it.0));
    here.dedup_by_key(|it| (it.0.thread, after(it.0)));
    let row = |(spot, kind): (&'a Spot, OpKind)| {
        let is_written = spot.value.is_some() && kind.is_write();
        let step = Step {
            thread: spot.thread,
            kind,
            object: spot.object,
            value: spot.value.unwrap_or_default(),
            flags: if is_written { Flags::WRITTEN.0 } else { 0 },
            ..Step::default()
        };
        let words = match spot.value {
            Some(_) => steps::words(&step, names, style),
            None => steps::without_value(&step, names, style),
        };
        Row::Step(Cell {
            number: None,
            thread: spot.thread,
            words,
            place: Some(&spot.place),
            mark: None,
            is_implied: false,
            spot: Some(spot),
            held: held(finding, locks, None),
        })
    };
    here.into_iter().map(row).collect()
}

/// Accesses of a race that were no steps, and frees of what is used afterwards, after so many steps.
fn between<'a>(
    finding: &'a Finding,
    spots: &'a [Spot],
    n_steps: u64,
    locks: &Locks,
) -> impl Iterator<Item = Row<'a>> {
    let held = held(finding, locks, None);
    let free = finding.freed.as_deref().map(|it| &it.free);
    let here = accesses(finding)
        .chain(free)
        .filter(move |it| it.step == n_steps && access::step_idx(finding, it).is_none());
    here.map(move |it| {
        let (op, mark) = match finding.evidence.as_deref() {
            Some(evidence) => (access::words(it, evidence), Some(access::mark(finding, it))),
            None => (it.kind.verb().to_owned(), None),
        };
        let words = Words { op, result: String::new() };
        let (thread, place, held) = (it.thread, Some(&it.place), held.clone());
        let spot = spots.iter().find(|spot| is_of(spot, it));
        Row::Step(Cell { number: None, thread, words, place, mark, is_implied: false, spot, held })
    })
}

/// Is this access the one that the text names?
fn is_of(spot: &Spot, access: &Access) -> bool {
    let is_then = matches!(spot.when, When::Step(step, _) if step + 1 == access.step);
    is_then && spot.thread == access.thread && spot.kind == Some(access.kind)
}

/// The accesses that an analysis speaks of.
fn accesses(finding: &Finding) -> impl Iterator<Item = &Access> {
    finding.evidence.as_deref().into_iter().flat_map(|it| &it.accesses)
}

/// The one of them that is a step.
fn access_of_step(finding: &Finding, idx: usize) -> Option<&Access> {
    accesses(finding).find(|it| access::step_idx(finding, it) == Some(idx))
}

/// Where a step is: of an access that was told, the program's own line, not the library's.
fn place_of_step(finding: &Finding, idx: usize) -> Option<&Place> {
    let access = access_of_step(finding, idx).map(|it| &it.place);
    access.or_else(|| own_place(finding, &finding.steps[idx]))
}

/// A stretch of steps that is not shown.
struct Gap {
    n_steps: u64,
    n_switches: u64,
    is_start: bool,
    /// The steps that are shown are the last ones of many rounds of so many.
    period: Option<usize>,
}

impl Gap {
    fn flush(&mut self, rows: &mut Vec<Row<'_>>, style: &Style) {
        if self.n_steps > 0 {
            let dots = style.ellipsis();
            let earlier = if self.is_start { " earlier" } else { "" };
            let steps = if self.n_steps == 1 { "step" } else { "steps" };
            let switches = match self.n_switches {
                0 => String::new(),
                1 => ", 1 switch".to_owned(),
                many => format!(", {} switches", number::grouped(many)),
            };
            let count = number::grouped(self.n_steps);
            let again = match self.period {
                Some(1) => ": the next step repeated".to_owned(),
                Some(period) => format!(": the next {period} repeated"),
                None => String::new(),
            };
            let text = format!("{dots} {count}{earlier} {steps}{switches}{again} {dots}");
            rows.push(Row::Fold(text));
        }
        *self = Gap { n_steps: 0, n_switches: 0, is_start: false, period: None };
    }
}

/// The mark of a step that is itself the failure.
fn mark_of_step(finding: &Finding, idx: usize) -> Option<&'static str> {
    let step = &finding.steps[idx];
    let is_last = idx + 1 == finding.steps.len();
    match finding.kind {
        Kind::Race | Kind::Atomicity => {
            access_of_step(finding, idx).map(|it| access::mark(finding, it))
        }
        Kind::Misuse if step.result == OpResult::Misused => Some("misuse"),
        Kind::Exit if is_last && step.kind == OpKind::Exit => Some("exits"),
        Kind::Livelock if is_last => Some("the same state again"),
        _ => None,
    }
}

/// What threads were about to do, or what happened to them between steps, at the end.
fn ends<'a>(finding: &'a Finding, names: &mut Names<'a>, style: &Style) -> Vec<Cell<'a>> {
    let is_in_steps = |idx: usize| mark_of_step(finding, idx).is_some();
    let is_told = finding.evidence.is_some();
    if is_told || (0..finding.steps.len()).rev().take(64).any(is_in_steps) {
        return Vec::new();
    }
    if finding.kind == Kind::Deadlock {
        return stuck(finding, names, style);
    }
    let (text, mark) = match finding.kind {
        Kind::Assert => ("assert", "assert failed"),
        Kind::Abort => ("abort", "abort called"),
        Kind::Crash => ("crash", "crashed"),
        Kind::Exit => ("exit", "exits"),
        Kind::Exception => ("throw", "not caught"),
        Kind::Panic => ("panic", "panicked"),
        Kind::Linearizability => ("check", "not linearizable"),
        Kind::Misuse => ("misuse", "misuse"),
        Kind::OutOfMemory => ("allocate", "out of memory"),
        Kind::Deadlock | Kind::Livelock | Kind::Race | Kind::Atomicity => return Vec::new(),
    };
    let Some(thread) = finding.thread else { return Vec::new() };
    let place = finding.sites.first();
    let words = Words { op: text.to_owned(), result: String::new() };
    let (mark, held) = (Some(mark), Vec::new());
    vec![Cell { number: None, thread, words, place, mark, is_implied: false, spot: None, held }]
}

fn stuck<'a>(finding: &'a Finding, names: &mut Names<'a>, style: &Style) -> Vec<Cell<'a>> {
    let stuck = finding.threads.iter().filter_map(|it| Some((it, it.waits_for.as_ref()?)));
    // The harness of a test waits for it where no line of the program is.
    let has_line = stuck.clone().any(|it| it.1.at.line > 0);
    stuck
        .filter(|it| it.1.at.line > 0 || !has_line || finding.cycle.contains(&it.0.thread))
        .map(|(state, wait)| Cell {
            number: None,
            thread: state.thread,
            words: steps::stuck(state.pending.unwrap_or(OpKind::Lock), wait, names, style),
            place: Some(&wait.at),
            mark: Some("blocked forever"),
            is_implied: false,
            spot: None,
            held: Vec::new(),
        })
        .collect()
}
