//! A finding in words. First the cause: the sentence, the lines that matter, orderings, notes, how to replay it. Then
//! the schedule, what the program wrote, and the line that scripts look for. All stacks and all statistics are there
//! when everything is asked for.

use std::fmt::Write as _;

use raddle_model::{
    Fault, Finding, Home, Kind, Miss, Missed, OpKind, Place, Reproduced, ThreadId, ThreadState,
    WaitFor,
};

use crate::{
    finding::{
        diagnosis::Diagnosis,
        evidence, reason,
        shown::Shown,
        snippet,
        stacks::{self, beside},
    },
    layout::{
        number,
        style::{self, Ink, Style, width},
    },
    schedule::{ROWS_MAX, Schedule, Spot, own_place},
    words::{
        fault,
        place::{self, Sources},
        steps,
    },
};

/// Lines of a whole report, unless everything is asked for, or what must not be folded takes more.
const LINES_MAX: usize = 45;
/// Fewer lines of a folded schedule than this say nothing.
const ROWS_MIN: usize = 8;
/// Lines of a schedule that has to be shorter still.
const SQUEEZED_MIN: usize = 4;
/// Lines of the program's output that are shown, unless all are wanted.
const OUTPUT_MAX: usize = 4;

/// The whole text of a finding.
pub fn finding(shown: &Shown<'_>, style: &Style, sources: &mut Sources<'_>) -> String {
    let mut end = String::new();
    output(&mut end, shown.finding, style);
    hint(&mut end, shown.finding);
    let n_end = end.lines().count() + 3;
    let folded = fitted(shown, n_end, folded_schedule, style, sources);
    let (mut out, schedule) = match folded {
        Ok(fits) => fits,
        Err(_) => match fitted(shown, n_end, squeezed_schedule, style, sources) {
            Ok(it) | Err(it) => it,
        },
    };
    if !schedule.is_empty() {
        let _ = write!(out, "\n{schedule}");
    }
    out.push_str(&end);
    if style.full {
        details(&mut out, shown, style, sources);
    }
    let _ = writeln!(out, "\nSUMMARY: raddle: {}", summary(shown.finding, shown.base));
    out
}

/// A diagnosis and its schedule.
type Screen = (String, String);

/// What lays out a schedule in so many lines, heading and legend included, or in as few as it can.
type LayOut = fn(&Shown<'_>, &[Spot], usize, &Style, &mut Sources<'_>) -> Laid;

/// A schedule, and what its bars mean, for which there need not be room.
struct Laid {
    text: String,
    bars: String,
}

/// The diagnosis, with as many notes as there is room for, and the schedule; an error if there is no room.
fn fitted(
    shown: &Shown<'_>,
    n_end: usize,
    lay_out: LayOut,
    style: &Style,
    sources: &mut Sources<'_>,
) -> Result<Screen, Screen> {
    let mut diagnosis = Diagnosis::of(shown.finding, shown.explanation, style);
    loop {
        let mut head = headline(shown, &diagnosis, style);
        head.push_str(&snippet::render(shown, &diagnosis, style, sources));
        let n_lines = head.lines().count() + n_end;
        let Laid { text: mut schedule, bars } = {
            let room = LINES_MAX.saturating_sub(n_lines);
            lay_out(shown, &diagnosis.spots, room, style, sources)
        };
        let n_left = LINES_MAX.checked_sub(n_lines + schedule.lines().count());
        if style.full || n_left.is_some_and(|it| bars.lines().count() <= it) {
            schedule.push_str(&bars);
        }
        if style.full || n_left.is_some() {
            return Ok((head, schedule));
        }
        if diagnosis.notes.len() < 2 {
            return Err((head, schedule));
        }
        // The last notes say least.
        diagnosis.notes.pop();
    }
}

/// The schedule, folded.
fn folded_schedule(
    shown: &Shown<'_>,
    spots: &[Spot],
    room: usize,
    style: &Style,
    sources: &mut Sources<'_>,
) -> Laid {
    let mut rows_max = ROWS_MAX;
    loop {
        let schedule = Schedule::within(shown.finding, spots, rows_max, style);
        let text = schedule.render(style, sources);
        let n_over = text.lines().count().saturating_sub(room);
        if style.full || n_over == 0 || rows_max == ROWS_MIN {
            return Laid { text, bars: schedule.bars(style) };
        }
        rows_max = rows_max.saturating_sub(n_over).max(ROWS_MIN);
    }
}

/// The schedule of which more is left out than what can be folded.
fn squeezed_schedule(
    shown: &Shown<'_>,
    spots: &[Spot],
    room: usize,
    style: &Style,
    sources: &mut Sources<'_>,
) -> Laid {
    let mut rows_max = room.max(SQUEEZED_MIN);
    loop {
        let folded = Schedule::within(shown.finding, spots, ROWS_MIN, style);
        // A table that leaves out what the text names says less than the text.
        if rows_max < folded.n_named() + 1 {
            return Laid { text: folded.elsewhere(shown.id), bars: String::new() };
        }
        let squeezed = folded.squeezed(rows_max, style);
        let text = squeezed.render(style, sources);
        if text.lines().count() <= room || rows_max == SQUEEZED_MIN {
            return Laid { text, bars: squeezed.bars(style) };
        }
        rows_max -= 1;
    }
}

/// Every stack, who waits for whom, and statistics: for those who ask for everything.
fn details(out: &mut String, shown: &Shown<'_>, style: &Style, sources: &mut Sources<'_>) {
    let _ = writeln!(out, "\n  {}", style.paint(Ink::Strong, "stacks:"));
    let spots = Diagnosis::of(shown.finding, shown.explanation, style).spots;
    let schedule = Schedule::new(shown.finding, &spots, style);
    body(out, shown, &schedule, style, sources);
    let _ = writeln!(out, "\n  {}", style.paint(Ink::Strong, "statistics:"));
    reason::wrapped(out, "", &circumstances(shown), style);
    for line in shown.explanation.map(|it| reason::statistics(it, style)).unwrap_or_default() {
        reason::wrapped(out, "", &line, style);
    }
}

/// Where the program's own code has no lines, it was built without debug information, or has lost it.
pub(crate) fn bare_module(finding: &Finding) -> Option<&str> {
    let is_bare = |it: &&Place| it.file.is_empty() && it.offset > 0 && !place::is_library(it);
    let is_rust = place::is_rust(&finding.places);
    let is_missed = |it: &&Place| is_bare(it) && !(is_rust && place::is_glue(it));
    let found = finding.sites.iter().chain(&finding.places).find(is_missed);
    found.map(|it| it.module.as_str())
}

fn hint(out: &mut String, finding: &Finding) {
    if let Some(module) = bare_module(finding) {
        let _ = writeln!(
            out,
            "\n  hint: {module} has no debug information; build with -g to see source lines and variable names"
        );
    }
}

/// What one execution wrote, under a heading.
pub fn execution(index: u64, output: &str, style: &Style) -> String {
    let rule = style.rule();
    let head = format!("{rule} execution {} {rule}", number::grouped(index));
    let mut out = format!("{}\n", style.paint(Ink::Switch, &head));
    for line in output.lines() {
        let _ = writeln!(out, "{}", style.tame(line));
    }
    out
}

/// `deadlock at bank.c:31 in transfer`: the line that scripts look for, without its prefix.
pub fn summary(finding: &Finding, base: &str) -> String {
    let of_evidence = finding.evidence.as_deref().and_then(evidence::main_place);
    let first = of_evidence.or(places(finding).first().copied()).cloned();
    // Of an exit, only the line before it is known.
    let first = first.clone().filter(|it| it.line > 0).or_else(|| {
        let diagnosis = Diagnosis::of(finding, None, &Style::default());
        diagnosis.primary().map(|it| it.place.clone()).or(first)
    });
    match first.map(|it| place::with_function(&it, base)) {
        Some(place) if !place.is_empty() => format!("{} at {place}", finding.kind.word()),
        _ => finding.kind.word().to_owned(),
    }
}

/// `bank.c:31`, or `pool.c:140 ⇄ pool.c:171` for a cycle or a race.
pub fn short_place(finding: &Finding, style: &Style) -> String {
    let mut places: Vec<String> = places(finding).into_iter().map(place::short).collect();
    places.retain(|it| !it.is_empty());
    places.dedup();
    match places.as_slice() {
        [] => "?".to_owned(),
        [first, second] if finding.is_cycle || finding.evidence.is_some() => {
            format!("{first} {} {second}", if style.unicode { "⇄" } else { "<>" })
        }
        [first, ..] => first.clone(),
    }
}

/// Where it failed; for a cycle, where each of its threads waits.
fn places(finding: &Finding) -> Vec<&Place> {
    let waits = finding.cycle.iter().filter_map(|thread| {
        let state = finding.threads.iter().find(|it| it.thread == *thread)?;
        state.waits_for.as_ref().map(|it| &it.at)
    });
    let places: Vec<&Place> = waits.collect();
    if !places.is_empty() {
        return places;
    }
    if let Some(at) = fault::told_wait(finding).and_then(|it| fault::waits_at(finding, it)) {
        return vec![at];
    }
    // Of a `main` that returned, the file is known; its last access to what others used is the nearest line.
    let is_returned = finding.kind == Kind::Exit && finding.sites.iter().all(|it| it.line == 0);
    let end = finding.steps.last().filter(|it| is_returned && it.kind == OpKind::Exit);
    let end = end.and_then(|it| own_place(finding, it)).filter(|it| it.line > 0);
    end.map_or_else(|| finding.sites.iter().collect(), |it| vec![it])
}

/// What went wrong, as short as it can be said: `deadlock`, `data race on `hits` (4 bytes)`.
pub(crate) fn title(finding: &Finding) -> String {
    evidence::headline(finding).unwrap_or_else(|| finding.kind.title().to_owned())
}

fn headline(shown: &Shown<'_>, diagnosis: &Diagnosis, style: &Style) -> String {
    let (severity, ink) = match shown.finding.is_warning() {
        false => ("error", Ink::Error),
        true => ("warning", Ink::Warning),
    };
    let label = match shown.id {
        "" => severity.to_owned(),
        id => format!("{severity}[{id}]"),
    };
    let room = style.width.saturating_sub(4).max(20);
    let text = format!("{label}: {}", diagnosis.sentence);
    let mut out = String::new();
    for (idx, line) in style::wrapped(&text, room).iter().enumerate() {
        let _ = match (idx, line.strip_prefix(&label)) {
            (0, Some(rest)) => {
                writeln!(out, "{}{}", style.paint(ink, &label), style.paint(Ink::Strong, rest))
            }
            _ => writeln!(out, "    {}", style.paint(Ink::Strong, line)),
        };
    }
    out
}

/// The sentence that a report opens with: `deadlock: T1 and T2 wait for each other`.
pub(crate) fn headline_text(shown: &Shown<'_>, style: &Style) -> String {
    Diagnosis::of(shown.finding, shown.explanation, style).sentence
}

/// `rank at c=1, v=1`: what chose the execution, and where a search had come to.
pub(crate) fn strategy(finding: &Finding) -> String {
    match &finding.position {
        Some(position) => format!("{} at {position}", finding.strategy),
        None => finding.strategy.clone(),
    }
}

/// `found at execution 1,942 by surw, seed 7, replayed 5/5`.
pub(crate) fn circumstances(shown: &Shown<'_>) -> String {
    let mut text = format!("found at execution {}", number::grouped(shown.finding.execution));
    if !shown.finding.strategy.is_empty() {
        let _ = write!(text, " by {}", strategy(shown.finding));
    }
    if let Some(seed) = shown.seed {
        let _ = write!(text, ", seed {seed}");
    }
    match shown.reproduced {
        Some(Reproduced { of: 0, .. }) => text.push_str(", not replayed"),
        Some(Reproduced { n, of }) => drop(write!(text, ", replayed {n}/{of}")),
        None => {}
    }
    text
}

fn body(
    out: &mut String,
    shown: &Shown<'_>,
    schedule: &Schedule<'_>,
    style: &Style,
    sources: &mut Sources<'_>,
) {
    if let Some(evidence) = &shown.finding.evidence {
        return evidence::body(out, shown, evidence, style, sources);
    }
    match shown.finding.kind {
        Kind::Deadlock => deadlock(out, shown, schedule, style, sources),
        Kind::Livelock => every_stack(out, shown, style, sources),
        _ => {
            failing_stack(out, shown, style, sources);
            freed(out, shown, style, sources);
        }
    }
}

/// Who freed the memory, and who had allocated it.
fn freed(out: &mut String, shown: &Shown<'_>, style: &Style, sources: &mut Sources<'_>) {
    let Some(block) = fault::block(shown.finding) else { return };
    let mut tell = |head: String, stack: &[Place]| {
        let _ = writeln!(out, "  {}", style.tame(&head));
        stacks::render(out, shown, stack, 6, style, sources);
    };
    let who = |thread| style.paint(Ink::Strong, &place::thread(shown.finding, thread));
    if let Some(freed) = &shown.finding.freed {
        tell(format!("freed by {} at:", who(freed.free.thread)), &freed.free.stack);
    }
    if let Home::Heap { thread, stack, .. } = &block.home {
        let size = number::count(block.size, "byte");
        tell(format!("allocated by {} ({size}) at:", who(*thread)), stack);
    }
}

/// Who waits for what, who holds it: the threads of the cycle first, in its order, then the others,
/// those that only wait for the end of another last.
fn deadlock(
    out: &mut String,
    shown: &Shown<'_>,
    schedule: &Schedule<'_>,
    style: &Style,
    sources: &mut Sources<'_>,
) {
    let finding = shown.finding;
    let order = |it: &&ThreadState| {
        let idx_in_cycle = finding.cycle.iter().position(|thread| *thread == it.thread);
        (idx_in_cycle.unwrap_or(usize::MAX), it.pending == Some(OpKind::Join))
    };
    let mut states: Vec<&ThreadState> = finding.threads.iter().collect();
    states.sort_by_key(order);
    for state in states {
        let Some(wait) = &state.waits_for else { continue };
        let who = place::thread(finding, state.thread);
        let label = style.paint(Ink::Strong, &who);
        let verb = state.pending.map_or("waits for", |it| steps::waiting(it, wait));
        let letter = schedule.names.letter(wait.object_id);
        let letter = letter.map(|it| format!(" ({it})")).unwrap_or_default();
        let what = format!("{verb} {}{letter}", style.tame(&wait.object.to_string()));
        let room = style.width.saturating_sub(3 + width(&who));
        for (idx, line) in style::wrapped(&what, room).iter().enumerate() {
            let before = if idx == 0 { format!("  {label}") } else { "     ".to_owned() };
            let _ = writeln!(out, "{before} {line}");
        }
        waiting(out, shown, wait, style, sources);
        if let Some(it) = &wait.missed {
            let text = missed(shown, it, state.thread);
            for line in style::wrapped(&text, style.width.saturating_sub(6)) {
                let _ = writeln!(out, "      {line}");
            }
        } else if wait.holders.is_empty() && state.pending != Some(OpKind::Join) {
            let _ = writeln!(out, "      no thread is left to end this wait");
        }
    }
}

/// The last notification that the thread could have had, and why it had not: a lost wake-up, or another's.
fn missed(shown: &Shown<'_>, missed: &Missed, waiter: ThreadId) -> String {
    let thread = place::thread_in_passing(shown.finding, missed.thread);
    let (what, at) = (missed.kind.verb(), place::short(&missed.at));
    let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
    let became = match missed.why {
        Miss::TooEarly => "came before the wait, when no thread was waiting".to_owned(),
        Miss::TooLate | Miss::Another(_) => fault::missed(missed, waiter),
    };
    format!("the last {what}, by {thread}{at} (step {}), {became}", number::grouped(missed.step))
}

fn waiting(
    out: &mut String,
    shown: &Shown<'_>,
    wait: &WaitFor,
    style: &Style,
    sources: &mut Sources<'_>,
) {
    let at = format!("      at {}", place::with_function(&wait.at, shown.base));
    let _ = writeln!(out, "{}", beside(&at, sources(&wait.at).as_deref(), style));
    for (holder, taken) in &wait.holders {
        let is_ahead = place::is_ahead(shown.finding, *holder, wait);
        let holder = place::thread_in_passing(shown.finding, *holder);
        let head = match place::long(taken, shown.base).as_str() {
            taken if is_ahead => format!("      queued behind {holder}, which waits at {taken}"),
            "" => format!("      held by {holder}"),
            taken => format!("      held by {holder}, taken at {taken}"),
        };
        let _ = writeln!(out, "{}", beside(&head, sources(taken).as_deref(), style));
    }
}

/// What every thread was doing, with its stack.
fn every_stack(out: &mut String, shown: &Shown<'_>, style: &Style, sources: &mut Sources<'_>) {
    for state in &shown.finding.threads {
        let label = style.paint(Ink::Strong, &place::thread(shown.finding, state.thread));
        let _ = writeln!(out, "  {label} {}", doing(shown.finding, state));
        stacks::render(out, shown, &state.stack, 6, style, sources);
    }
}

fn doing(finding: &Finding, state: &ThreadState) -> String {
    match (&state.waits_for, state.pending) {
        _ if state.is_finished => "finished".to_owned(),
        (Some(wait), _) => format!("waits for {}", wait.object),
        (None, _) if finding.thread == Some(state.thread) => "runs".to_owned(),
        (None, Some(pending)) => format!("about to {}", pending.word()),
        (None, None) => "runs".to_owned(),
    }
}

/// The thread that failed, with its stack.
fn failing_stack(out: &mut String, shown: &Shown<'_>, style: &Style, sources: &mut Sources<'_>) {
    let finding = shown.finding;
    let Some(thread) = finding.thread else {
        if finding.threads.iter().all(|it| it.stack.is_empty()) {
            let last = finding.steps.last().map(|it| place::thread(finding, it.thread));
            let last = last.map(|it| format!("; {it} did the last step")).unwrap_or_default();
            let _ = writeln!(out, "  the process was killed{last}");
        }
        return;
    };
    let label = style.paint(Ink::Strong, &place::thread(finding, thread));
    let state = finding.threads.iter().find(|it| it.thread == thread);
    let created = state
        .filter(|it| it.parent.is_some() && !place::is_library(&it.created_at))
        .map(|it| place::with_function(&it.created_at, shown.base))
        .filter(|it| !it.is_empty())
        .map(|it| format!(", created at {it}"))
        .unwrap_or_default();
    let has_stack = state.is_some_and(|it| !it.stack.is_empty()) || !finding.sites.is_empty();
    if !has_stack && created.is_empty() {
        let _ = writeln!(out, "  by {label}");
        return;
    }
    let _ = writeln!(out, "  in {label}{created}");
    match state {
        Some(state) if !state.stack.is_empty() => {
            stacks::render(out, shown, &state.stack, 6, style, sources);
        }
        _ => stacks::render(out, shown, &finding.sites, 6, style, sources),
    }
}

/// What the program wrote, its last lines.
fn output(out: &mut String, finding: &Finding, style: &Style) {
    // What the report says above is not repeated.
    let is_said = |line: &str| match &finding.fault {
        Fault::Said(said) => {
            finding.kind == Kind::Assert && line.contains(&format!("Assertion `{said}' failed"))
        }
        _ => false,
    };
    let mut lines: Vec<&str> = finding.output.trim_end().lines().collect();
    if !style.full {
        lines = raddle_rust_std::own_lines(&finding.output);
        lines.retain(|it| !is_said(it));
    }
    if lines.is_empty() {
        return;
    }
    let n_shown = if style.full { lines.len() } else { lines.len().min(OUTPUT_MAX) };
    let _ = writeln!(out, "\n  program output:");
    if n_shown < lines.len() {
        let n_left = number::grouped((lines.len() - n_shown) as u64);
        let _ = writeln!(out, "    {} {n_left} earlier lines", style.ellipsis());
    }
    for line in &lines[lines.len() - n_shown..] {
        let _ = writeln!(out, "    {}", style.tame(line).trim_end());
    }
}
