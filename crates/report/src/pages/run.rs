//! The page of a run: what was found, what was covered and how fast that came, what each strategy brought,
//! where the steps were, and what was not under control. No script.

use maud::{Markup, html};
use raddle_model::{ArmYield, CurvePoint, Drawing, Estimate, Figures, Scope};

use super::{Document, curve, document, px, tree};
use crate::{
    campaign::sampling::chance,
    finding::text,
    formats::Item,
    layout::number::{count, grouped, percent, seconds},
    words::{place::Sources, scope},
};

const STYLE: &str = include_str!("run.css");

/// Files, and lines of each, that are listed.
const FILES_MAX: usize = 20;
const LINES_MAX: usize = 8;
/// Dependency graphs that are open at first.
const DRAWINGS_OPEN: usize = 4;

/// A run.
#[derive(Debug, Default)]
pub struct RunPage<'a> {
    /// What was run, as the user calls it.
    pub program: &'a str,
    /// When, in UTC.
    pub date: &'a str,
    /// What was found.
    pub findings: Vec<RunFinding<'a>>,
    /// How it ended; `None` if it was killed, or still goes on.
    pub end: Option<RunFigures>,
    /// Commands, versions, settings: what stands below, in order.
    pub facts: Vec<(&'a str, String)>,
}

/// A finding of a run.
#[derive(Debug)]
pub struct RunFinding<'a> {
    /// The finding, as it is told.
    pub item: Item<'a>,
    /// How often it was met.
    pub count: u64,
    /// By which execution first.
    pub first: u64,
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct RunFigures {
    /// In figures.
    pub figures: Figures,
    /// How it grew.
    pub curve: Vec<CurvePoint>,
    /// Where steps were, by file, most first.
    pub files: Vec<FileSteps>,
    /// Executions that `files` counts.
    pub n_looked_at: u64,
    /// What could not be controlled: what, how often, where.
    pub uncontrolled: Vec<(String, u64, String)>,
    /// Was it a search that has seen all?
    pub is_exhaustive: bool,
    /// Which schedules a search explored.
    pub scope: Option<Scope>,
    /// What decides the branches that total replay's interleavings can change.
    pub drawings: Vec<Drawing<String>>,
}

/// Steps in one file.
#[derive(Clone, Debug, Default)]
pub struct FileSteps {
    /// The file, as it is shown.
    pub file: String,
    /// Its steps.
    pub n_steps: u64,
    /// Line, function and steps, most first.
    pub lines: Vec<(u32, String, u64)>,
}

/// The page.
pub fn run(page: &RunPage<'_>, sources: &mut Sources<'_>) -> String {
    let (class, verdict) = match page.findings.len() as u64 {
        0 => ("good", "no findings".to_owned()),
        n => ("severity", count(n, "finding")),
    };
    let body = html! {
        h1 { (page.program) ": " span class=(class) { (verdict) } }
        p class="found" { (page.date) }
        @match &page.end {
            Some(end) => (tiles(end)),
            None => p class="notice" {
                "This run is still going on or was killed. The page shows its findings so far."
            },
        }
        (findings(page, sources))
        @if let Some(end) = &page.end {
            (decided(end))
            (growth(page, end))
            (strategies(end))
            (files(end))
            (control(end))
        }
        h2 { "Configuration" }
        dl { @for (name, value) in &page.facts { dt { (name) } dd { (value) } } }
    };
    let title = format!("{}: {verdict}", page.program);
    document(&Document { title: &title, style: STYLE, body, data: "", script: "" })
}

fn tiles(end: &RunFigures) -> Markup {
    let figures = &end.figures;
    let coverage = figures.coverage;
    let tiles = [
        (grouped(figures.executions), format!("executions in {}", seconds(figures.elapsed_s()))),
        (grouped(figures.execs_per_s().round() as u64), "executions per second".to_owned()),
        (grouped(figures.distinct_traces), "distinct traces".to_owned()),
        (
            grouped(coverage.site_pairs),
            format!("pairs of code locations, {} in both orders", grouped(coverage.both_ways)),
        ),
        (grouped(coverage.lock_pairs), "pairs of locks".to_owned()),
        (percent(figures.stability), "stability".to_owned()),
    ];
    let words = [
        (
            figures.single_threaded,
            "The program never creates a second thread, so there was nothing to explore.",
        ),
        (end.is_exhaustive, "The search is complete."),
        (
            figures.is_saturated,
            "The run stopped because further executions were unlikely to cover anything new.",
        ),
        (figures.interrupted, "The run was interrupted."),
    ];
    html! {
        div class="tiles" {
            @for (figure, words) in tiles { div { b { (figure) } span { (words) } } }
        }
        @for (_, words) in words.into_iter().filter(|it| it.0) { p { (words) } }
    }
}

fn findings(page: &RunPage<'_>, sources: &mut Sources<'_>) -> Markup {
    let style = super::finding::plain();
    html! {
        @if !page.findings.is_empty() { h2 { "Findings" } }
        @for finding in &page.findings {
            @let shown = &finding.item.shown;
            details class="finding" {
                summary {
                    b { (shown.id) } " " (text::headline_text(shown, &style)) " "
                    small {
                        (text::short_place(shown.finding, &style))
                        @if finding.count > 0 {
                            " · " (count(finding.count, "execution")) ", first in execution "
                            (grouped(finding.first))
                        }
                    }
                }
                pre { (text::finding(shown, &style, sources)) }
            }
        }
    }
}

/// What a branch depends on, for each branch that an interleaving decides.
fn decided(end: &RunFigures) -> Markup {
    if end.drawings.is_empty() {
        return Markup::default();
    }
    html! {
        h2 { "Branches that depend on the interleaving" }
        p { @if let Some(it) = &end.scope { (scope::words(it, end.is_exhaustive)) } }
        p { small {
            "A box holds the reads that the outcome still depends on. A circle is the next of these reads; each arrow \
             from it is a write that it can read. Each path from left to right is a guideline, which needs at most one \
             execution."
        } }
        @for (idx, drawing) in end.drawings.iter().enumerate() {
            details class="decided" open[idx < DRAWINGS_OPEN] {
                summary {
                    (drawing.title) " "
                    small {
                        (count(drawing.nodes.len() as u64, "node"))
                        @if drawing.is_cut { ", and more" }
                    }
                }
                div class="scroll" { (tree::svg(drawing)) }
            }
        }
    }
}

/// Curves of what had been seen after so many executions, and what is left.
fn growth(page: &RunPage<'_>, end: &RunFigures) -> Markup {
    if end.curve.len() < 2 || end.figures.single_threaded {
        return Markup::default();
    }
    let hits: Vec<(u64, &str)> =
        page.findings.iter().map(|it| (it.first, it.item.shown.id)).collect();
    let traces = end.curve.iter().map(|it| (it.executions, it.traces)).collect::<Vec<_>>();
    let pairs = end.curve.iter().map(|it| (it.executions, it.pairs)).collect::<Vec<_>>();
    let Estimate { chance: guess, upper: most } = end.figures.unseen_pairs;
    html! {
        h2 { "Coverage by number of executions" }
        div class="panels" {
            @for (points, caption) in [(traces, "distinct traces"), (pairs, "pairs of code locations and of locks")] {
                figure { figcaption { (caption) } (curve::plot(&points, &hits, caption)) }
            }
        }
        @if end.figures.executions > 1 && !end.is_exhaustive {
            p {
                "Estimated chance that one more execution covers a new pair: " (chance(guess, false))
                " (at most " (chance(most, false)) "), a new trace: "
                (chance(end.figures.unseen_traces.chance, false)) "."
            }
        }
    }
}

fn strategies(end: &RunFigures) -> Markup {
    if end.figures.arms.is_empty() || end.figures.single_threaded {
        return Markup::default();
    }
    let mut arms: Vec<&ArmYield> = end.figures.arms.iter().collect();
    arms.sort_by(|a, b| b.executions.cmp(&a.executions).then_with(|| a.strategy.cmp(&b.strategy)));
    let most = arms.first().map_or(1, |it| it.executions).max(1);
    let share = |it: &ArmYield| 100.0 * it.new_traces as f64 / it.executions.max(1) as f64;
    html! {
        h2 { "Strategies" }
        div class="scroll" { table {
            tr {
                th { "strategy" } th { "executions" } th {} th { "new traces" } th { "share of executions" }
                th { "new pairs" } th { "first to find" }
            }
            @for arm in arms {
                tr {
                    th { (arm.strategy) } td { (grouped(arm.executions)) } (bar(arm.executions, most))
                    td { (grouped(arm.new_traces)) } td { (px(share(arm))) " %" } td { (grouped(arm.new_pairs)) }
                    td class=[(arm.findings > 0).then_some("alarm")] { (arm.findings) }
                }
            }
        } }
    }
}

/// A bar as long as the share.
fn bar(part: u64, whole: u64) -> Markup {
    let width = 100.0 * part as f64 / whole.max(1) as f64;
    html! { td class="share" { i style={ "width:" (px(width)) "%" } {} } }
}

fn files(end: &RunFigures) -> Markup {
    if end.files.is_empty() {
        return Markup::default();
    }
    let most = end.files.iter().map(|it| it.n_steps).max().unwrap_or(1);
    let line = |(line, function, n): &(u32, String, u64)| {
        let at = if *line > 0 { format!("line {line}") } else { String::new() };
        format!("{} ({})", format!("{at} {function}").trim(), grouped(*n))
    };
    let lines = |it: &FileSteps| it.lines.iter().take(LINES_MAX).map(line).collect::<Vec<_>>();
    html! {
        h2 { "Scheduling points by file" }
        p { small {
            "Steps of the " (count(end.n_looked_at, "execution")) " recorded in full; "
            (grouped(end.figures.points_total)) " scheduling points in all executions."
        } }
        div class="scroll" { table {
            tr { th { "file" } th { "steps" } th {} th class="words" { "most frequent lines" } }
            @for file in end.files.iter().take(FILES_MAX) {
                tr {
                    th { (file.file) } td { (grouped(file.n_steps)) } (bar(file.n_steps, most))
                    td class="words" { (lines(file).join(", ")) }
                }
            }
        } }
        @if end.files.len() > FILES_MAX {
            p { small { (count((end.files.len() - FILES_MAX) as u64, "more file")) } }
        }
    }
}

/// What was not under control.
fn control(end: &RunFigures) -> Markup {
    let Figures { stability, n_inconclusive, n_spent, .. } = end.figures;
    html! {
        h2 { "Stability" }
        p {
            (percent(stability)) " of executions were fully controlled"
            @if n_inconclusive > 0 {
                "; " (count(n_inconclusive, "execution")) " inconclusive"
            }
            @if n_spent > 0 { "; " (count(n_spent, "execution")) " cut short at the step limit" }
            "."
        }
        @if !end.uncontrolled.is_empty() {
            div class="scroll" { table {
                tr { th { "uncontrolled" } th { "times" } th { "location" } }
                @for (what, times, place) in &end.uncontrolled {
                    tr { th class="words" { (what) } td { (grouped(*times)) } td class="left" { (place) } }
                }
            } }
        }
    }
}
