//! The page of a run: what was found, what was covered and how fast that came, what each strategy brought,
//! where the steps were, and what was not under control. No script.

use std::fmt::Write as _;

use raddle_model::{ArmYield, CurvePoint, Drawing, Estimate, Figures, Scope};

use super::{Document, curve, document, tree};
use crate::layout::markup::escape;
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
    let n_findings = page.findings.len() as u64;
    let (class, verdict) = match n_findings {
        0 => ("good", "nothing found".to_owned()),
        n => ("severity", count(n, "finding")),
    };
    let program = escape(page.program);
    let mut out = format!("<h1>{program}: <span class=\"{class}\">{verdict}</span></h1>\n");
    let _ = writeln!(out, "<p class=\"found\">{}</p>", escape(page.date));
    match &page.end {
        None => out.push_str(
            "<p class=\"notice\">The run has not ended: it was killed, or still goes on. What it had found is \
             here.</p>\n",
        ),
        Some(end) => tiles(&mut out, end),
    }
    findings(&mut out, page, sources);
    if let Some(end) = &page.end {
        decided(&mut out, end);
        growth(&mut out, page, end);
        strategies(&mut out, end);
        files(&mut out, end);
        control(&mut out, end);
    }
    out.push_str("<h2>How it was run</h2>\n<dl>\n");
    for (name, value) in &page.facts {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    }
    out.push_str("</dl>\n");
    let title = format!("{}: {verdict}", page.program);
    document(&Document { title: &title, style: STYLE, body: &out, data: "", script: "" })
}

fn tiles(out: &mut String, end: &RunFigures) {
    let Figures { coverage, .. } = end.figures;
    let tiles = [
        (
            grouped(end.figures.executions),
            format!("executions in {}", seconds(end.figures.elapsed_s())),
        ),
        (grouped(end.figures.execs_per_s().round() as u64), "executions a second".to_owned()),
        (grouped(end.figures.distinct_traces), "distinct traces".to_owned()),
        (
            grouped(coverage.site_pairs),
            format!("pairs of places, {} both ways", grouped(coverage.both_ways)),
        ),
        (grouped(coverage.lock_pairs), "pairs of locks".to_owned()),
        (percent(end.figures.stability), "stability".to_owned()),
    ];
    out.push_str("<div class=\"tiles\">\n");
    for (figure, words) in tiles {
        let _ =
            writeln!(out, "<div><b>{}</b><span>{}</span></div>", escape(&figure), escape(&words));
    }
    out.push_str("</div>\n");
    let words = [
        (
            end.figures.single_threaded,
            "The program never had a second thread: there was nothing to explore.",
        ),
        (end.is_exhaustive, "The search has come to its end."),
        (end.figures.is_saturated, "It ended because hardly anything new was left to be seen."),
        (end.figures.interrupted, "It was ended by the user."),
    ];
    for (_, words) in words.into_iter().filter(|it| it.0) {
        let _ = writeln!(out, "<p>{words}</p>");
    }
}

fn findings(out: &mut String, page: &RunPage<'_>, sources: &mut Sources<'_>) {
    if page.findings.is_empty() {
        return;
    }
    out.push_str("<h2>Findings</h2>\n");
    let style = super::finding::plain();
    for finding in &page.findings {
        let shown = &finding.item.shown;
        let place = text::short_place(shown.finding, &style);
        let times = match finding.count {
            0 => String::new(),
            n => format!(
                " · {}, first by execution {}",
                count(n, "execution"),
                grouped(finding.first)
            ),
        };
        let _ = writeln!(
            out,
            "<details class=\"finding\"><summary><b>{}</b> {} <small>{}{times}</small></summary>\n\
             <pre>{}</pre></details>",
            escape(shown.id),
            escape(&text::headline_text(shown.finding, &style)),
            escape(&place),
            escape(&text::finding(shown, &style, sources))
        );
    }
}

/// What a branch depends on, for each branch that an interleaving decides.
fn decided(out: &mut String, end: &RunFigures) {
    if end.drawings.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<h2>What interleaving decides</h2>\n<p>{}</p>\n<p><small>Boxes hold the reads that are left to decide what \
         comes out; a circle is the read that is looked at next, and each arrow from it a write that it can read. A way \
         from the left to the right is a guideline: so many executions can be needed.</small></p>",
        escape(
            &end.scope.as_ref().map(|it| scope::words(it, end.is_exhaustive)).unwrap_or_default()
        )
    );
    for (idx, drawing) in end.drawings.iter().enumerate() {
        let open = if idx < DRAWINGS_OPEN { " open" } else { "" };
        let cut = if drawing.is_cut { ", and more" } else { "" };
        let _ = writeln!(
            out,
            "<details class=\"decided\"{open}><summary>{} <small>{}{cut}</small></summary>\n<div class=\"scroll\">{}\
             </div></details>",
            escape(&drawing.title),
            count(drawing.nodes.len() as u64, "node"),
            tree::svg(drawing)
        );
    }
}

/// Curves of what had been seen after so many executions, and what is left.
fn growth(out: &mut String, page: &RunPage<'_>, end: &RunFigures) {
    if end.curve.len() < 2 || end.figures.single_threaded {
        return;
    }
    out.push_str("<h2>What was seen, after so many executions</h2>\n<div class=\"panels\">\n");
    let hits: Vec<(u64, &str)> =
        page.findings.iter().map(|it| (it.first, it.item.shown.id)).collect();
    let traces = end.curve.iter().map(|it| (it.executions, it.traces)).collect::<Vec<_>>();
    let pairs = end.curve.iter().map(|it| (it.executions, it.pairs)).collect::<Vec<_>>();
    for (points, caption) in [(traces, "distinct traces"), (pairs, "pairs of places and of locks")]
    {
        let plot = curve::plot(&points, &hits, caption);
        let _ = writeln!(out, "<figure><figcaption>{caption}</figcaption>{plot}</figure>");
    }
    out.push_str("</div>\n");
    if end.figures.executions > 1 && !end.is_exhaustive {
        let Estimate { chance: guess, upper: most } = end.figures.unseen_pairs;
        let _ = writeln!(
            out,
            "<p>The chance that one more execution like these shows a new pair is {} (at most {}), a new trace \
             {}.</p>",
            chance(guess, false),
            chance(most, false),
            chance(end.figures.unseen_traces.chance, false)
        );
    }
}

fn strategies(out: &mut String, end: &RunFigures) {
    if end.figures.arms.is_empty() || end.figures.single_threaded {
        return;
    }
    let mut arms: Vec<&ArmYield> = end.figures.arms.iter().collect();
    arms.sort_by(|a, b| b.executions.cmp(&a.executions).then_with(|| a.strategy.cmp(&b.strategy)));
    let most = arms.first().map_or(1, |it| it.executions).max(1);
    out.push_str(
        "<h2>Strategies</h2>\n<div class=\"scroll\"><table>\n<tr><th>strategy</th><th>executions</th><th></th>\
         <th>new traces</th><th>of its executions</th><th>new pairs</th><th>found first</th></tr>\n",
    );
    for arm in arms {
        let share = 100.0 * arm.new_traces as f64 / arm.executions.max(1) as f64;
        let alarm = if arm.findings > 0 { " class=\"alarm\"" } else { "" };
        let _ = writeln!(
            out,
            "<tr><th>{}</th><td>{}</td>{}<td>{}</td><td>{share:.1} %</td><td>{}</td><td{alarm}>{}</td></tr>",
            escape(&arm.strategy),
            grouped(arm.executions),
            bar(arm.executions, most),
            grouped(arm.new_traces),
            grouped(arm.new_pairs),
            arm.findings
        );
    }
    out.push_str("</table></div>\n");
}

/// A bar as long as the share.
fn bar(part: u64, whole: u64) -> String {
    let width = 100.0 * part as f64 / whole.max(1) as f64;
    format!("<td class=\"share\"><i style=\"width:{width:.1}%\"></i></td>")
}

fn files(out: &mut String, end: &RunFigures) {
    if end.files.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<h2>Scheduling points by file</h2>\n<p><small>Steps of {}, which were looked at step by step; {} \
         scheduling points in all.</small></p>",
        count(end.n_looked_at, "execution"),
        grouped(end.figures.points_total)
    );
    out.push_str(
        "<div class=\"scroll\"><table>\n<tr><th>file</th><th>steps</th><th></th><th class=\"words\">most of them at\
         </th></tr>\n",
    );
    let most = end.files.iter().map(|it| it.n_steps).max().unwrap_or(1);
    for file in end.files.iter().take(FILES_MAX) {
        let lines: Vec<String> = file
            .lines
            .iter()
            .take(LINES_MAX)
            .map(|(line, function, n)| {
                let at = if *line > 0 { format!("line {line}") } else { String::new() };
                let at = format!("{at} {}", if function.is_empty() { "" } else { function });
                format!("{} ({})", at.trim(), grouped(*n))
            })
            .collect();
        let _ = writeln!(
            out,
            "<tr><th>{}</th><td>{}</td>{}<td class=\"words\">{}</td></tr>",
            escape(&file.file),
            grouped(file.n_steps),
            bar(file.n_steps, most),
            escape(&lines.join(", "))
        );
    }
    out.push_str("</table></div>\n");
    if end.files.len() > FILES_MAX {
        let n_more = count((end.files.len() - FILES_MAX) as u64, "more file");
        let _ = writeln!(out, "<p><small>{n_more}</small></p>");
    }
}

/// What was not under control.
fn control(out: &mut String, end: &RunFigures) {
    out.push_str("<h2>Stability</h2>\n");
    let _ = writeln!(
        out,
        "<p>{} of executions were under control throughout{}{}.</p>",
        escape(&percent(end.figures.stability)),
        match end.figures.n_inconclusive {
            0 => String::new(),
            n => format!("; {} inconclusive: no end of their own", count(n, "execution")),
        },
        match end.figures.n_spent {
            0 => String::new(),
            n => format!("; cut short at the step limit: {}", count(n, "execution")),
        }
    );
    if end.uncontrolled.is_empty() {
        return;
    }
    out.push_str(
        "<div class=\"scroll\"><table>\n<tr><th>not under control</th><th>times</th><th>where</th></tr>\n",
    );
    for (what, times, place) in &end.uncontrolled {
        let _ = writeln!(
            out,
            "<tr><th class=\"words\">{}</th><td>{}</td><td class=\"left\">{}</td></tr>",
            escape(what),
            grouped(*times),
            escape(place)
        );
    }
    out.push_str("</table></div>\n");
}
