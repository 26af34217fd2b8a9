//! The last words of a campaign and of a replay.

use std::fmt::Write as _;

use raddle_model::{Finding, Place};

use crate::{
    campaign::{
        search,
        status::{Status, Tally},
    },
    finding::text,
    layout::{
        number::{count, grouped, percent, seconds},
        style::{Ink, Style},
    },
    words::{act::listed, place},
};

/// Things that could not be controlled which are shown.
const UNCONTROLLED_MAX: usize = 8;
/// Fewer schedules than this say little about all others.
const SCHEDULES_MIN: u64 = 10;

/// Something that could not be controlled.
#[derive(Clone, Debug)]
pub struct Uncontrolled<'a> {
    /// What.
    pub what: String,
    /// The function that the program called, if it is known.
    pub call: Option<&'a str>,
    /// How often.
    pub count: u64,
    /// Where, innermost first.
    pub stack: &'a [Place],
}

/// `explored 20,000 executions (9,312 distinct) in 14.2 s (1,408/s), no finding`.
pub fn explored(status: &Status, is_interrupted: bool, style: &Style) -> String {
    let verb = if is_interrupted { "interrupted after" } else { "explored" };
    let executions = count(status.figures.executions, "execution");
    let distinct = grouped(status.figures.distinct_traces);
    let time = seconds(status.figures.elapsed_s());
    let speed = grouped(status.figures.execs_per_s().round() as u64);
    let n_timing = status.findings.iter().filter(|it| it.is_timing).count() as u64;
    let mut found = match status.findings.len() as u64 - n_timing {
        0 if status.figures.executions == status.figures.n_inconclusive => {
            style.paint(Ink::Warning, "no result: no execution finished")
        }
        0 => style.paint(Ink::Good, "no finding"),
        many => style.paint(Ink::Error, &count(many, "finding")),
    };
    if n_timing > 0 {
        let _ =
            write!(found, ", {}", style.paint(Ink::Warning, &count(n_timing, "timing assumption")));
    }
    let cut = match status.figures.n_cut_short {
        0 => String::new(),
        many => format!("{} cut short, ", grouped(many)),
    };
    format!("{verb} {executions} ({distinct} distinct) in {time} ({speed}/s), {cut}{found}\n")
}

/// What no schedule can change, and what was done about it: `misuse-5c74 fails in every schedule tried (1,000): …`.
pub fn constant(status: &Status, until_first: bool) -> String {
    let executions = status.figures.executions;
    let is_constant = |it: &&Tally| it.count == executions && executions > 1 && !it.is_race;
    let ids: Vec<String> =
        status.findings.iter().filter(is_constant).map(|it| it.id.clone()).collect();
    if ids.is_empty() {
        return String::new();
    }
    let fail = if ids.len() == 1 { "fails" } else { "fail" };
    // Few schedules do not say that others are the same.
    let so = match (executions < SCHEDULES_MIN, ids.len()) {
        (true, _) => "",
        (false, 1) => ": it does not depend on the schedule",
        (false, _) => ": they do not depend on the schedule",
    };
    let mut out = format!(
        "note: {} {fail} in every schedule tried ({}){so}\n",
        listed(&ids),
        grouped(executions)
    );
    let n_failures = status.findings.iter().filter(|it| !it.is_race).count();
    let others = match n_failures - ids.len() {
        0 => "no failure that depends on the schedule was found",
        _ => "failures that depend on the schedule are listed above",
    };
    if !until_first {
        let after = if ids.len() == 1 { "it" } else { "them" };
        let _ = writeln!(out, "note: the search continued after {after}; {others}");
    }
    out
}

/// `; the first one was stopped after 1,204 steps at lib.c:9 in spin`.
pub fn cut_at(n_steps: u64, stack: &[Place], base: &str) -> String {
    let at = stack.first().map(|it| format!(" at {}", place::with_function(it, base)));
    let steps = count(n_steps, "step");
    format!("; the first one was stopped after {steps}{}", at.unwrap_or_default())
}

/// One line for each finding, for campaigns with more than one.
pub fn tallies(status: &Status, style: &Style) -> String {
    let mut out = String::new();
    let width = status.findings.iter().map(|it| it.id.len()).max().unwrap_or(0);
    for tally in &status.findings {
        let id = style.paint(Ink::Error, &format!("{:width$}", tally.id));
        let times = format!("{}{}", style.times(), grouped(tally.count));
        let _ = writeln!(out, "  {id}  {times:>6}  {}", tally.place);
    }
    out
}

/// A finding that the user does not want to hear of.
#[derive(Clone, Copy, Debug)]
pub struct Suppressed<'a> {
    /// The first one of its bucket.
    pub finding: &'a Finding,
    /// Executions that showed it.
    pub count: u64,
    /// Where the rule is: `raddle.toml:7`.
    pub origin: &'a str,
    /// Why, as the user says; empty in TSan's files.
    pub reason: &'a str,
}

/// `suppressed ×31: data race on `hits` (4 bytes) at stats.c:9 (raddle.toml:7: a statistic)`.
pub fn suppressed(suppressed: &Suppressed<'_>, style: &Style) -> String {
    let Suppressed { finding, count, origin, reason } = *suppressed;
    let what = text::title(finding);
    let at = text::short_place(finding, style);
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    let times = format!("{}{}", style.times(), grouped(count));
    let line = format!("suppressed {times}: {what} at {at} ({origin}{because})");
    format!("{}\n", style.tame(&line))
}

/// Why a campaign saw less than its user may believe.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doubts<'a> {
    /// No execution had a second thread.
    pub is_single_threaded: bool,
    /// Executions that did not come to an end of their own.
    pub inconclusive: &'a [Uncontrolled<'a>],
    /// The campaign was ended for them.
    pub is_given_up: bool,
    /// What could not be controlled.
    pub uncontrolled: &'a [Uncontrolled<'a>],
}

/// Warnings about a campaign that saw less than its user may believe; empty if all is well.
pub fn warnings(status: &Status, doubts: &Doubts<'_>, base: &str, style: &Style) -> String {
    let Doubts { is_single_threaded, inconclusive, is_given_up, uncontrolled } = *doubts;
    let mut out = String::new();
    let label = style.paint(Ink::Warning, "warning");
    if is_single_threaded {
        let _ =
            writeln!(out, "{label}: the program never creates a second thread: nothing to explore");
    }
    for it in inconclusive.iter().take(UNCONTROLLED_MAX) {
        let (n, all) = (grouped(it.count), count(status.figures.executions, "execution"));
        let are = if it.count == 1 { "is" } else { "are" };
        let what = style.tame(&it.what);
        let _ = writeln!(out, "{label}: {n} of {all} {are} inconclusive: {what}");
        frames(&mut out, it.stack, base);
    }
    if !inconclusive.is_empty() {
        let _ = writeln!(
            out,
            "  Raddle does not control what these executions wait for or compute, so they are not\n  findings; \
             if they are only slow, raise --hang-timeout and --time"
        );
    }
    if is_given_up {
        let _ = writeln!(out, "{label}: stopped early after 5 inconclusive executions in a row");
    }
    if status.figures.n_spent > 0 {
        let verb = if status.figures.n_spent == 1 { "was" } else { "were" };
        let cut = count(status.figures.n_spent, "execution");
        let steps = count(status.figures.steps_max, "step");
        let _ = writeln!(out, "{label}: {cut} {verb} cut short after {steps}; raise --max-steps");
    }
    if status.figures.n_thinned > 0 {
        let executions = count(status.figures.n_thinned, "execution");
        let _ = writeln!(
            out,
            "{label}: in {executions}, some accesses to shared memory were not scheduling points\n  because there \
             were too many of them; raise --max-steps"
        );
    }
    if status.figures.n_unmet_races > 0 {
        let pairs = count(status.figures.n_unmet_races, "more pair");
        let _ = writeln!(
            out,
            "{label}: {pairs} of code locations raced and were not examined before time ran out;\n  raise --time"
        );
    }
    if status.figures.stability < 100.0 {
        let stability = percent(status.figures.stability);
        let _ = writeln!(
            out,
            "{label}: stability {stability}: some behaviour of the program was not controlled\n  (raddle explain stability)"
        );
    }
    if let Some(it) = &status.search {
        out.push_str(&search::warnings(it, &label));
    }
    for it in uncontrolled.iter().take(UNCONTROLLED_MAX) {
        let times = format!("{}{}", style.times(), grouped(it.count));
        let _ = writeln!(out, "  uncontrolled: {} {times}", style.tame(&it.what));
        frames(&mut out, it.stack, base);
    }
    if let Some(n_more) = uncontrolled.len().checked_sub(UNCONTROLLED_MAX).filter(|it| *it > 0) {
        let _ = writeln!(out, "  {} {n_more} more", style.ellipsis());
    }
    out
}

fn frames(out: &mut String, stack: &[Place], base: &str) {
    for frame in stack.iter().take(4) {
        let _ = writeln!(out, "      at {}", place::with_function(frame, base));
    }
}

/// How one replay went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The same failure.
    Reproduced {
        /// By the very same trace.
        is_exact: bool,
    },
    /// Other steps than recorded.
    Diverged {
        /// The first step that differs, from 1.
        step: u64,
        /// What was recorded.
        expected: String,
        /// What happened.
        found: String,
        /// How it ended then.
        end: NewEnd,
    },
    /// The same steps, no failure.
    Gone,
}

/// How a replay ended that had left the recorded steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewEnd {
    /// In the same failure all the same.
    Same,
    /// In another one: its message.
    Other(String),
    /// Without failure.
    Good,
}

impl Replayed {
    /// Did the same failure show?
    pub const fn is_reproduced(&self) -> bool {
        matches!(self, Replayed::Reproduced { .. } | Replayed::Diverged { end: NewEnd::Same, .. })
    }
}

/// `regression dl-02c1: diverged at step 5: recorded …, now …; it did not fail`.
pub fn regression(id: &str, replayed: &Replayed, style: &Style) -> String {
    let (ink, verdict, more) = match replayed {
        Replayed::Reproduced { is_exact: true } => (Ink::Error, "reproduces", String::new()),
        Replayed::Reproduced { is_exact: false } => {
            (Ink::Error, "reproduces", " with slightly different steps".to_owned())
        }
        Replayed::Diverged { end: NewEnd::Same, step, .. } => (
            Ink::Error,
            "reproduces",
            format!(" with different steps from step {} on", grouped(*step)),
        ),
        Replayed::Gone => (Ink::Good, "gone", ": the same steps no longer fail".to_owned()),
        Replayed::Diverged { step, expected, found, end } => {
            let end = match end {
                NewEnd::Other(message) => {
                    format!("it failed differently: {}", style.tame(message))
                }
                NewEnd::Same | NewEnd::Good => "it did not fail".to_owned(),
            };
            let (expected, found) = (style.tame(expected), style.tame(found));
            let step = grouped(*step);
            let more = format!(" at step {step}: recorded {expected}, now {found}; {end}");
            (Ink::Warning, "diverged", more)
        }
    };
    format!("regression {id}: {}{more}\n", style.paint(ink, verdict))
}

/// `dl-02c1: reproduced 5 of 5 times`, and where replays left the recorded steps.
pub fn replayed(id: &str, all: &[Replayed], style: &Style) -> String {
    let n_reproduced = all.iter().filter(|it| it.is_reproduced()).count() as u64;
    let n_all = all.len() as u64;
    let ink = if n_reproduced == n_all { Ink::Good } else { Ink::Error };
    let is_gone =
        |it: &Replayed| matches!(it, Replayed::Gone | Replayed::Diverged { end: NewEnd::Good, .. });
    let verdict = match (n_reproduced, n_all) {
        (0, _) if all.iter().all(is_gone) => match n_all {
            1 => "gone: the program no longer fails under this schedule".to_owned(),
            many => format!(
                "gone: the program no longer fails under this schedule ({} replays)",
                grouped(many)
            ),
        },
        (1, 1) => "reproduced".to_owned(),
        (0, 1) => "not reproduced".to_owned(),
        (0, _) => format!("not reproduced in {} replays", grouped(n_all)),
        _ => format!("reproduced {} of {} times", grouped(n_reproduced), grouped(n_all)),
    };
    let mut out = format!("{id}: {}\n", style.paint(ink, &verdict));
    let mut details: Vec<String> = all.iter().filter_map(|it| detail(it, style)).collect();
    details.dedup();
    for detail in details.iter().take(5) {
        let _ = writeln!(out, "{detail}");
    }
    out
}

fn detail(replayed: &Replayed, style: &Style) -> Option<String> {
    Some(match replayed {
        Replayed::Reproduced { is_exact: true } => return None,
        Replayed::Reproduced { is_exact: false } => {
            "  the same failure, with slightly different steps".to_owned()
        }
        Replayed::Diverged { step, expected, found, end } => {
            let end = match end {
                NewEnd::Same => "it ended in the same failure".to_owned(),
                NewEnd::Other(message) => {
                    format!("it ended in a different failure: {}", style.tame(message))
                }
                NewEnd::Good => {
                    "other schedules may still fail; explore them with `raddle run`".to_owned()
                }
            };
            let step = grouped(*step);
            let (expected, found) = (style.tame(expected), style.tame(found));
            format!(
                "  diverged at step {step}:\n    recorded: {expected}\n    now:      {found}\n  {end}"
            )
        }
        Replayed::Gone => "  the recorded steps were replayed and nothing failed".to_owned(),
    })
}
