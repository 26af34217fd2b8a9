//! The part of a `finding` line that says why it happens.

use raddle_model::{Constraint, Explanation, Finding, Likelihood, MinimisingEnd, Point, Share};
use serde::Serialize;

use super::{PlaceLine, strength::WeaknessLine};
use crate::{finding::reason, layout::style::Style, words::likelihood};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExplanationLine<'a> {
    minimised: MinimisedLine,
    /// Orders that are enough together; empty if none matter, null if none were found.
    orders: Option<Vec<OrderLine<'a>>>,
    sufficient: Option<ShareLine>,
    /// So many steps came first, the same in all of these executions.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_first_steps: Option<u64>,
    depth: Option<usize>,
    passes: Option<PassesLine<'a>>,
    likelihood: Vec<LikelihoodLine<'a>>,
    /// Which memory orders are too weak, if that was looked into.
    #[serde(skip_serializing_if = "Option::is_none")]
    weakness: Option<WeaknessLine<'a>>,
    /// The same and what stands out, in sentences.
    sentences: Vec<String>,
}

impl<'a> ExplanationLine<'a> {
    pub(super) fn new(finding: &'a Finding, it: &'a Explanation) -> ExplanationLine<'a> {
        let reason = it.reason.as_ref();
        let orders = reason.map(|it| &it.orders);
        let style = Style { width: usize::MAX, ..Style::default() };
        ExplanationLine {
            minimised: MinimisedLine::new(it),
            orders: orders.map(|all| all.iter().map(|it| OrderLine::new(finding, it)).collect()),
            sufficient: reason.map(|it| ShareLine::new(it.sufficient)),
            same_first_steps: reason.map(|it| it.n_same).filter(|it| *it > 0),
            depth: reason.and_then(raddle_model::Reason::depth),
            passes: it.passing.as_ref().map(|it| PassesLine {
                steps: it.n_steps_dropped + it.steps.len() as u64,
                reversed_order: it.reversed,
                differs_at: it.difference.as_ref().map(|it| PointLine::new(finding, &it.point)),
                value_failing: it.difference.as_ref().map(|it| it.values[0]),
                value_passing: it.difference.as_ref().map(|it| it.values[1]),
            }),
            likelihood: it.likelihood.iter().map(LikelihoodLine::new).collect(),
            weakness: it.weakness.as_ref().map(WeaknessLine::new),
            sentences: reason::sentences(finding, it, &style),
        }
    }
}

/// How the schedule was made small.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MinimisedLine {
    preemptions_before: u64,
    preemptions: u64,
    switches_before: u64,
    steps_before: u64,
    threads: u64,
    replays: u64,
    ending: &'static str,
}

impl MinimisedLine {
    const fn new(explanation: &Explanation) -> MinimisedLine {
        let it = &explanation.minimising;
        MinimisedLine {
            preemptions_before: it.before.n_preemptions,
            preemptions: it.after.n_preemptions,
            switches_before: it.before.n_switches,
            steps_before: it.before.n_steps,
            threads: it.after.n_threads,
            replays: it.n_replays,
            ending: match it.ending {
                MinimisingEnd::Done => "done",
                MinimisingEnd::Budget => "budget",
                MinimisingEnd::Time => "time",
                MinimisingEnd::NotReproduced => "not-reproduced",
            },
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OrderLine<'a> {
    first: PointLine<'a>,
    second: PointLine<'a>,
    necessary: bool,
    reversed: ShareLine,
}

impl<'a> OrderLine<'a> {
    fn new(finding: &'a Finding, order: &'a Constraint) -> OrderLine<'a> {
        OrderLine {
            first: PointLine::new(finding, &order.first),
            second: PointLine::new(finding, &order.second),
            necessary: order.is_necessary(),
            reversed: ShareLine::new(order.reversed),
        }
    }
}

/// What a thread does.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PointLine<'a> {
    thread: u32,
    /// From 1, as `raddle show` numbers them; null for what it did not come to.
    step: Option<u64>,
    op: &'static str,
    object: Option<String>,
    at: PlaceLine<'a>,
    source: &'a str,
    called_at: Option<PlaceLine<'a>>,
}

impl<'a> PointLine<'a> {
    fn new(finding: &'a Finding, point: &'a Point) -> PointLine<'a> {
        let object = finding.objects.get(point.object.idx());
        PointLine {
            thread: point.thread.0,
            step: point.step.map(|it| it + 1),
            op: point.kind.verb(),
            object: object.filter(|it| !it.is_none()).map(raddle_model::NamedObject::to_string),
            at: PlaceLine::new(&point.place),
            source: &point.source,
            called_at: point.caller.as_ref().map(|it| PlaceLine::new(&it.0)),
        }
    }
}

/// The nearest schedule that passes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PassesLine<'a> {
    steps: u64,
    reversed_order: Option<usize>,
    differs_at: Option<PointLine<'a>>,
    value_failing: Option<u64>,
    value_passing: Option<u64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShareLine {
    n: u64,
    of: u64,
}

impl ShareLine {
    const fn new(share: Share) -> ShareLine {
        ShareLine { n: share.n, of: share.of }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LikelihoodLine<'a> {
    strategy: &'a str,
    n: u64,
    of: u64,
    /// The bounds of the chance, with 95 % confidence.
    low: f64,
    high: f64,
}

impl<'a> LikelihoodLine<'a> {
    fn new(it: &'a Likelihood) -> LikelihoodLine<'a> {
        let (low, high) = likelihood::interval(it.share);
        LikelihoodLine { strategy: &it.strategy, n: it.share.n, of: it.share.of, low, high }
    }
}
