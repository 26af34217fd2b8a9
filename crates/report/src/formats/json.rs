//! JSON lines: one value a line, for programs to read. Fields are described in `docs/json.md`; a change
//! that could break a reader raises [`VERSION`], new fields do not.

mod call;
mod evidence;
mod explanation;
mod lines;
#[cfg(test)]
mod schema;
mod search;
mod strength;

use std::borrow::Cow;

use raddle_model::{
    ArmYield, Around, Coverage, Fault, Figures, Finding, HeapError, History, Miss, Missed, Place,
    Reproduced, Step, ThreadId, ThreadState, Tried, WaitFor,
};
use serde::Serialize;

pub use self::lines::{Ratio, Regressed};
use self::{
    call::CallLine,
    evidence::{EvidenceLine, FreedLine, HeapLine},
    explanation::ExplanationLine,
    lines::{ComparedLine, OutputLine, SummaryLine, SuppressedLine},
    search::SearchLine,
    strength::StrengthLine,
};
use crate::{
    campaign::{
        closing::{NewEnd, Replayed, Suppressed, Uncontrolled},
        compare::{Reach, Row},
        status::Status,
        strength::Strength,
        suite::TestLine,
    },
    finding::shown::Shown,
    words::fault,
};

/// The version of all lines.
pub const VERSION: u32 = 1;

/// `{"type":"finding",…}`.
///
/// A failure without a name, which was not kept, is the baseline's: `{"type":"baseline",…}`.
pub fn finding(shown: &Shown<'_>) -> String {
    let finding = shown.finding;
    let id = (!shown.id.is_empty()).then_some(shown.id);
    let (certainty, why_potential) = evidence::certainty(finding);
    let r#type = if id.is_some() { "finding" } else { "baseline" };
    to_line(
        r#type,
        &FindingLine {
            id,
            kind: finding.kind.word(),
            message: fault::line(finding),
            execution: finding.execution,
            seed: shown.seed,
            strategy: (!finding.strategy.is_empty())
                .then(|| crate::finding::text::strategy(finding)),
            steps: finding.n_steps_dropped + finding.steps.len() as u64,
            switches: finding.n_switches,
            thread: finding.thread,
            threads: finding.threads.iter().map(ThreadLine::new).collect(),
            cycle: &finding.cycle,
            sites: finding.sites.iter().map(PlaceLine::new).collect(),
            bucket: format!("{:016x}", finding.bucket.0),
            trace_digest: format!("{:016x}", finding.trace_digest),
            reproduced: shown.reproduced,
            replay: id.map(|id| format!("raddle replay {id}")),
            output: &finding.output,
            test: shown.test,
            certainty,
            why_potential: why_potential.as_deref(),
            delays: finding.delays().map(|(step, it)| DelayLine::new(finding, step, it)).collect(),
            evidence: finding.evidence.as_deref().map(EvidenceLine::new),
            freed: finding.freed.as_deref().map(FreedLine::new),
            heap: heap_error(finding).map(HeapLine::new),
            history: match &finding.fault {
                Fault::History(it) => Some(it),
                _ => None,
            },
            explanation: shown.explanation.map(|it| ExplanationLine::new(finding, it)),
        },
    )
}

/// What is wrong with the use of a heap block, if that is the finding.
fn heap_error(finding: &Finding) -> Option<&HeapError> {
    match &finding.fault {
        Fault::Misuse(it) => it.heap.as_deref(),
        _ => None,
    }
}

/// `{"type":"progress",…}`.
pub fn progress(status: &Status) -> String {
    to_line("progress", &figures(status))
}

/// What the summary says besides the figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Closing<'a> {
    /// The campaign's seed.
    pub seed: u64,
    /// Did the user end it?
    pub interrupted: bool,
    /// Did the program never have a second thread?
    pub single_threaded: bool,
    /// Kinds of things that could not be controlled.
    pub uncontrolled: u64,
    /// Each of them.
    pub uncontrolled_calls: &'a [Uncontrolled<'a>],
    /// Why executions did not come to an end of their own.
    pub inconclusive_calls: &'a [Uncontrolled<'a>],
    /// Did the program fail before it had a second thread?
    pub baseline_failed: bool,
}

/// `{"type":"summary",…}`: the last line of a campaign.
pub fn summary(status: &Status, closing: &Closing<'_>) -> String {
    to_line(
        "summary",
        &SummaryLine {
            figures: figures(status),
            seed: closing.seed,
            interrupted: closing.interrupted,
            single_threaded: closing.single_threaded,
            uncontrolled: closing.uncontrolled,
            uncontrolled_calls: closing.uncontrolled_calls.iter().map(CallLine::new).collect(),
            inconclusive_calls: closing.inconclusive_calls.iter().map(CallLine::new).collect(),
            baseline_failed: closing.baseline_failed,
        },
    )
}

/// `{"type":"regress",…}`: whether a change fixed a finding.
pub fn regress(regressed: &Regressed<'_>) -> String {
    to_line("regress", regressed)
}

/// `{"type":"orders",…}`: which memory orders of a program could be weaker.
pub fn orders(strength: &Strength<'_>) -> String {
    to_line("orders", &StrengthLine::new(strength))
}

/// `{"type":"replay",…}`: one for each replay.
pub fn replay(id: &str, time: u64, replayed: &Replayed, is_rebuilt: bool) -> String {
    replay_line("replay", id, time, replayed, is_rebuilt)
}

/// `{"type":"regression",…}`: one for each regression that a run ran first.
pub fn regression(id: &str, replayed: &Replayed, is_rebuilt: bool) -> String {
    replay_line("regression", id, 1, replayed, is_rebuilt)
}

fn replay_line(
    r#type: &'static str,
    id: &str,
    time: u64,
    replayed: &Replayed,
    is_rebuilt: bool,
) -> String {
    let (step, expected, found) = match replayed {
        Replayed::Diverged { step, expected, found, .. } => {
            (Some(*step), Some(expected.as_str()), Some(found.as_str()))
        }
        Replayed::Reproduced { .. } | Replayed::Gone => (None, None, None),
    };
    let failure = match replayed {
        Replayed::Diverged { end: NewEnd::Other(message), .. } => Some(message.as_str()),
        _ => None,
    };
    let verdict = match replayed {
        Replayed::Reproduced { .. } => "reproduced",
        Replayed::Diverged { .. } => "diverged",
        Replayed::Gone => "gone",
    };
    to_line(
        r#type,
        &ReplayLine {
            id,
            time,
            verdict,
            reproduced: replayed.is_reproduced(),
            exact: matches!(replayed, Replayed::Reproduced { is_exact: true }),
            diverged_at_step: step,
            expected,
            found,
            other_failure: failure,
            rebuilt: is_rebuilt,
        },
    )
}

/// `{"type":"suppressed",…}`: a finding that the user does not want to hear of.
pub fn suppressed(suppressed: &Suppressed<'_>) -> String {
    let Suppressed { finding, count, origin, reason } = *suppressed;
    to_line(
        "suppressed",
        &SuppressedLine {
            kind: finding.kind.word(),
            message: fault::line(finding),
            executions: count,
            rule: origin,
            reason: (!reason.is_empty()).then_some(reason),
        },
    )
}

/// `{"type":"output",…}`: what one execution wrote.
pub fn output(execution: u64, output: &str) -> String {
    to_line("output", &OutputLine { execution, output })
}

/// A row of `raddle list`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listed<'a> {
    /// The finding's id.
    pub id: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// One line.
    pub message: String,
    /// The executable.
    pub program: Cow<'a, str>,
    /// The run that found it.
    pub run: &'a str,
    /// When, in UTC.
    pub date: &'a str,
}

/// `{"type":"listed",…}`.
pub fn listed(listed: &Listed<'_>) -> String {
    to_line("listed", listed)
}

/// A row of `raddle store ls`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunLine<'a> {
    /// The run's id.
    pub run: &'a str,
    /// When it began, in UTC.
    pub date: &'a str,
    /// The executable.
    pub program: Cow<'a, str>,
    /// Executions; null if the run has not ended.
    pub executions: Option<u64>,
    /// Findings that are stored with it.
    pub findings: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

/// `{"type":"run",…}`.
pub fn run(run: &RunLine<'_>) -> String {
    to_line("run", run)
}

/// `{"type":"test",…}`.
pub fn test(test: &TestLine) -> String {
    to_line("test", test)
}

/// What `raddle doctor` has looked at.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Doctor<'a> {
    /// What `raddle --version` says.
    pub raddle: &'a str,
    /// Each check.
    pub checks: Vec<Check>,
    /// Commands that install what is missing.
    pub missing: Vec<&'a str>,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// `ok`, `warning` or `error`.
    pub health: &'static str,
    /// What was seen.
    pub text: String,
}

/// `{"type":"doctor",…}`.
pub fn doctor(doctor: &Doctor<'_>) -> String {
    to_line("doctor", doctor)
}

/// `{"type":"compared",…}`.
pub fn compared(row: &Row) -> String {
    let reached = |reach| match reach {
        Reach::At(executions) => Some(executions),
        Reach::Beyond(_) | Reach::Never(_) => None,
    };
    to_line(
        "compared",
        &ComparedLine {
            program: &row.program,
            strategy: &row.strategy,
            repeats: row.n_repeats,
            found: row.n_found,
            median: reached(row.median),
            p95: reached(row.p95),
            failures: row.failures,
            executions: row.executions,
            failure_rate: row.rate(),
            points_per_execution: row.points,
            points_max: row.points_max,
            execs_per_s: row.execs_per_s,
        },
    )
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FindingLine<'a> {
    id: Option<&'a str>,
    kind: &'static str,
    message: String,
    execution: u64,
    seed: Option<u64>,
    strategy: Option<String>,
    steps: u64,
    switches: u64,
    #[cfg_attr(test, schemars(with = "Option<u32>"))]
    thread: Option<ThreadId>,
    threads: Vec<ThreadLine<'a>>,
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    cycle: &'a [ThreadId],
    sites: Vec<PlaceLine<'a>>,
    bucket: String,
    trace_digest: String,
    #[cfg_attr(test, schemars(with = "Option<schema::Reproduced>"))]
    reproduced: Option<Reproduced>,
    replay: Option<String>,
    output: &'a str,
    test: Option<&'a str>,
    certainty: &'static str,
    why_potential: Option<&'a str>,
    delays: Vec<DelayLine<'a>>,
    evidence: Option<EvidenceLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    freed: Option<FreedLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heap: Option<HeapLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<schema::History>"))]
    history: Option<&'a History>,
    explanation: Option<ExplanationLine<'a>>,
}

/// A wait that was cut short: for so long no thread made progress although some could have.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DelayLine<'a> {
    #[cfg_attr(test, schemars(with = "u32"))]
    thread: ThreadId,
    step: u64,
    kind: &'static str,
    place: Option<PlaceLine<'a>>,
    ns: u64,
}

impl<'a> DelayLine<'a> {
    fn new(finding: &'a Finding, step: u64, it: &Step) -> DelayLine<'a> {
        let place = finding.places.get(it.place as usize).map(PlaceLine::new);
        DelayLine { thread: it.thread, step, kind: it.kind.verb(), place, ns: it.delay_ns() }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FiguresLine {
    executions: u64,
    execs_per_s: f64,
    distinct_traces: u64,
    elapsed_s: f64,
    steps: u64,
    findings: usize,
    stability: f64,
    inconclusive: u64,
    hung: u64,
    cut_short: u64,
    #[serde(skip_serializing_if = "is_zero")]
    races_not_examined: u64,
    spent: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<SearchLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling: Option<SamplingLine>,
}

/// A figure that is there only when there is something to count.
fn is_zero(figure: &u64) -> bool {
    *figure == 0
}

fn figures(status: &Status) -> FiguresLine {
    let figures = &status.figures;
    FiguresLine {
        executions: figures.executions,
        execs_per_s: rounded(figures.execs_per_s(), 10.0),
        distinct_traces: figures.distinct_traces,
        elapsed_s: rounded(figures.elapsed_s(), 1000.0),
        steps: figures.steps_total,
        findings: status.findings.len(),
        stability: (figures.stability * 100.0).floor() / 100.0,
        inconclusive: figures.n_inconclusive,
        hung: figures.n_inconclusive,
        cut_short: figures.n_cut_short,
        races_not_examined: figures.n_unmet_races,
        spent: figures.n_spent,
        search: status.search.as_ref().map(SearchLine::new),
        sampling: status.search.is_none().then(|| SamplingLine::new(figures)),
    }
}

/// What random executions have covered, and what is left.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SamplingLine {
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "schema::Coverage"))]
    coverage: Coverage,
    #[cfg_attr(test, schemars(with = "Vec<schema::ArmYield>"))]
    arms: Vec<ArmYield>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<schema::Tried>"))]
    hypotheses: Vec<Tried>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<schema::Around>"))]
    around: Option<Around>,
    new_pair_chance: f64,
    new_pair_chance_max: f64,
    new_trace_chance: f64,
    saturated: bool,
}

impl SamplingLine {
    fn new(figures: &Figures) -> SamplingLine {
        SamplingLine {
            coverage: figures.coverage,
            arms: figures.arms.clone(),
            hypotheses: figures.hypotheses.clone(),
            around: figures.around,
            new_pair_chance: figures.unseen_pairs.chance,
            new_pair_chance_max: figures.unseen_pairs.upper,
            new_trace_chance: figures.unseen_traces.chance,
            saturated: figures.is_saturated,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ReplayLine<'a> {
    id: &'a str,
    time: u64,
    verdict: &'static str,
    reproduced: bool,
    exact: bool,
    diverged_at_step: Option<u64>,
    expected: Option<&'a str>,
    found: Option<&'a str>,
    other_failure: Option<&'a str>,
    rebuilt: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ThreadLine<'a> {
    #[cfg_attr(test, schemars(with = "u32"))]
    id: ThreadId,
    name: &'a str,
    function: Option<&'a str>,
    #[cfg_attr(test, schemars(with = "Option<u32>"))]
    parent: Option<ThreadId>,
    created_at: Option<PlaceLine<'a>>,
    creation: Vec<PlaceLine<'a>>,
    finished: bool,
    pending: Option<&'static str>,
    waits_for: Option<WaitLine<'a>>,
    stack: Vec<PlaceLine<'a>>,
}

impl<'a> ThreadLine<'a> {
    fn new(state: &'a ThreadState) -> ThreadLine<'a> {
        let created_at = (state.created_at != Place::default()).then_some(&state.created_at);
        ThreadLine {
            id: state.thread,
            name: &state.name,
            function: (!state.function.is_empty()).then_some(state.function.as_str()),
            parent: state.parent,
            created_at: created_at.map(PlaceLine::new),
            creation: state.creation.iter().map(PlaceLine::new).collect(),
            finished: state.is_finished,
            pending: state.pending.map(|it| it.verb()),
            waits_for: state.waits_for.as_ref().map(WaitLine::new),
            stack: state.stack.iter().map(PlaceLine::new).collect(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct WaitLine<'a> {
    object: String,
    at: PlaceLine<'a>,
    held_by: Vec<HolderLine<'a>>,
    missed: Option<MissedLine<'a>>,
}

/// A notification that did not end the wait.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MissedLine<'a> {
    op: &'static str,
    #[cfg_attr(test, schemars(with = "u32"))]
    by: ThreadId,
    at: PlaceLine<'a>,
    step: u64,
    /// Whom it woke instead, or the waiting thread itself if that waits again; `null` if no thread waited.
    #[cfg_attr(test, schemars(with = "Option<u32>"))]
    woke: Option<ThreadId>,
}

impl<'a> MissedLine<'a> {
    fn new(missed: &'a Missed) -> MissedLine<'a> {
        MissedLine {
            op: missed.kind.verb(),
            by: missed.thread,
            at: PlaceLine::new(&missed.at),
            step: missed.step,
            woke: match missed.why {
                Miss::TooEarly | Miss::TooLate => None,
                Miss::Another(thread) => Some(thread),
            },
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HolderLine<'a> {
    #[cfg_attr(test, schemars(with = "u32"))]
    thread: ThreadId,
    taken_at: PlaceLine<'a>,
}

impl<'a> WaitLine<'a> {
    fn new(wait: &'a WaitFor) -> WaitLine<'a> {
        let holders = wait.holders.iter();
        let holder = |it: &'a (ThreadId, Place)| HolderLine {
            thread: it.0,
            taken_at: PlaceLine::new(&it.1),
        };
        WaitLine {
            object: wait.object.to_string(),
            at: PlaceLine::new(&wait.at),
            held_by: holders.map(holder).collect(),
            missed: wait.missed.as_ref().map(MissedLine::new),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlaceLine<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    function: Option<&'a str>,
    module: Option<&'a str>,
}

impl<'a> PlaceLine<'a> {
    fn new(place: &'a Place) -> PlaceLine<'a> {
        let text = |it: &'a str| (!it.is_empty()).then_some(it);
        PlaceLine {
            file: text(&place.file),
            line: (place.line > 0).then_some(place.line),
            column: (place.column > 0).then_some(place.column),
            function: text(&place.function),
            module: text(&place.module),
        }
    }
}

fn rounded(number: f64, scale: f64) -> f64 {
    (number * scale).round() / scale
}

/// Every line begins with what it is.
fn to_line(r#type: &'static str, value: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Line<'a, T> {
        r#type: &'static str,
        version: u32,
        #[serde(flatten)]
        value: &'a T,
    }
    let line = Line { r#type, version: VERSION, value };
    serde_json::to_string(&line).expect("bug: these values are plain data") + "\n"
}
