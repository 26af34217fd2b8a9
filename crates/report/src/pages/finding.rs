//! The page of one finding: lanes of threads to step through, the source beside them, and the text of
//! `raddle show` for paper and for browsers without scripts.

use maud::{Markup, PreEscaped, html};
use raddle_model::{Constraint, Fault, Finding, Kind, Passing, Place};
use serde::Serialize;

use super::{
    Document, Files, Source, data, document,
    lanes::{Lanes, lanes},
    sources::{Quote, Quotes},
};
use crate::{
    finding::{
        diagnosis::Diagnosis,
        shown::Shown,
        text::{self, circumstances, headline_text},
    },
    layout::{number::count, style::Style},
    words::{delays, doubt, place},
};

const STYLE: &str = include_str!("finding.css");
const SCRIPT: &str = include_str!("finding.js");

/// Columns of the text for paper.
const TEXT_WIDTH: usize = 110;

/// A finding, and other schedules to compare it with.
#[derive(Debug)]
pub struct FindingPage<'a> {
    /// The finding, as it is told.
    pub shown: Shown<'a>,
    /// What was run, as the user calls it.
    pub program: &'a str,
    /// The schedules that can be looked at, the one to begin with first.
    pub views: Vec<View<'a>>,
    /// Why it fails, one sentence each; empty if that is not known.
    pub reason: Vec<String>,
}

/// A schedule that can be looked at.
#[derive(Debug)]
pub struct View<'a> {
    /// What the button says: `as found`.
    pub label: &'a str,
    /// The schedule, with what explains its numbers.
    pub finding: &'a Finding,
    /// The orders that make it fail, in its own steps; empty where they are not known.
    pub orders: &'a [Constraint],
    /// A step that differs from the same one of another schedule, from 0.
    pub difference: Option<u64>,
}

/// A schedule that passes, so that it can be looked at like one that fails.
pub fn passing(finding: &Finding, passing: &Passing) -> Finding {
    Finding {
        // Nothing failed: no thread, no place, nobody waits.
        kind: Kind::Assert,
        fault: Fault::default(),
        thread: None,
        sites: Vec::new(),
        is_cycle: false,
        cycle: Vec::new(),
        evidence: None,
        freed: None,
        threads: passing.threads.clone(),
        steps: passing.steps.clone(),
        n_steps_dropped: passing.n_steps_dropped,
        objects: passing.objects.clone(),
        places: passing.places.clone(),
        stacks: passing.stacks.clone(),
        plan: passing.plan.clone(),
        n_switches: passing.size.n_switches,
        output: String::new(),
        ..finding.clone()
    }
}

/// What the script gets.
#[derive(Serialize)]
struct Data {
    views: Vec<Lanes>,
    files: Vec<Quote>,
}

/// The page.
pub fn finding(page: &FindingPage<'_>, files: &mut Files<'_>) -> String {
    let shown = &page.shown;
    let mut quotes = Quotes::default();
    let spots = Diagnosis::of(shown.finding, shown.explanation, &plain()).spots;
    // The numbers of the text are of the schedule that it tells.
    let spots_of =
        |it: &View<'_>| if std::ptr::eq(it.finding, shown.finding) { &*spots } else { &[] };
    let views: Vec<Lanes> =
        page.views.iter().map(|it| lanes(it, spots_of(it), shown.base, &mut quotes)).collect();
    let mut cache = Cache { files, texts: Vec::new() };
    let header = header(page, &mut cache);
    let values = Data { views, files: quotes.read(shown.base, &mut |it| cache.file(it)) };
    let body = html! {
        (header)
        (PreEscaped(EXPLORER))
        (as_text(shown, &mut cache))
    };
    let title = format!("{} {}", shown.id, headline_text(shown, &plain()));
    let data = data(&values);
    document(&Document { title: title.trim(), style: STYLE, body, data: &data, script: SCRIPT })
}

pub(super) fn plain() -> Style {
    Style { color: false, unicode: true, width: TEXT_WIDTH, full: false }
}

/// Headline, who did what where, why.
fn header(page: &FindingPage<'_>, cache: &mut Cache<'_, '_>) -> Markup {
    let shown = &page.shown;
    let finding = shown.finding;
    let word = if finding.is_warning() { "warning" } else { "error" };
    let diagnosis = Diagnosis::of(finding, shown.explanation, &plain());
    let reason = diagnosis.sentences();
    let mut source = |at| place::source(Some(at), &mut |it| cache.line(it));
    html! {
        header {
            h1 {
                span class={ "severity " (word) } { (word) "[" (shown.id) "]" } " "
                (words(&diagnosis.sentence))
            }
            @if !diagnosis.table.is_empty() {
                pre class="text history" { (diagnosis.table.join("\n")) }
            }
            @if !diagnosis.spans.is_empty() {
                ol class="points" {
                    @for span in &diagnosis.spans {
                        @let (at, source) = (place::short(&span.place), source(&span.place));
                        li class=[span.number.is_none().then_some("unreached")]
                            value=[span.number] data-named=[span.number] {
                            (words(&span.words))
                            @if !at.is_empty() {
                                " " span class="at" title=(place::with_function(&span.place, shown.base)) { (at) }
                            }
                            @if !source.trim().is_empty() { " " code { (source.trim()) } }
                        }
                    }
                }
            }
            @if !reason.is_empty() {
                ul class="reason" { @for it in &reason { li { (words(it)) } } }
            }
            p class="found" { (page.program) " · " (circumstances(shown)) }
            @for notice in notices(finding) { p class="notice" { (notice) } }
        }
    }
}

/// Text in which `` `names` `` stand between backquotes.
fn words(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (idx, part) in parts.iter().enumerate() {
            @if idx % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// What the reader should know about what is missing.
fn notices(finding: &Finding) -> Vec<String> {
    let mut all = Vec::from_iter(doubt::why(finding).map(|it| format!("unconfirmed: {it}")));
    all.extend(delays::note(finding));
    all.extend(text::bare_module(finding).map(|it| {
        format!(
            "{it} has no debug information; build with -g to see source lines and variable names"
        )
    }));
    if finding.n_steps_dropped > 0 {
        let n_steps = count(finding.n_steps_dropped, "step");
        all.push(format!("the first {n_steps} were not recorded"));
    }
    all
}

/// What the script fills.
const EXPLORER: &str = r#"<noscript><p class="notice">The schedule view requires JavaScript. The text below has the same content.</p></noscript>
<section id="explorer" aria-label="schedule" hidden>
<div class="bar">
<span class="group" id="views" role="group" aria-label="schedule shown"></span>
<span class="size" id="size"></span>
<span class="group" role="group" aria-label="go to">
<button data-go="switch-">◂ switch<kbd>p</kbd></button><button data-go="switch+">switch ▸<kbd>n</kbd></button>
</span>
<span class="group" role="group" aria-label="go to">
<button data-go="object-">◂ same object<kbd>O</kbd></button><button data-go="object+">same object ▸<kbd>o</kbd></button>
</span>
<span class="group"><button data-go="failure">failure<kbd>f</kbd></button></span>
<span class="group"><button id="theme" aria-label="light or dark">◐</button><button id="keys" aria-expanded="false" aria-controls="help">keys<kbd>?</kbd></button></span>
</div>
<div id="help" hidden></div>
<div class="stage">
<div class="left">
<div class="pane board"><div id="lanes" tabindex="0" role="listbox" aria-label="steps, one column per thread"><div id="heads"></div><div id="track"><div id="rows"></div></div></div><div id="map" aria-hidden="true"><canvas></canvas><div></div></div></div>
<p class="key" aria-hidden="true"><span><svg viewBox="0 0 26 10"><path class="edge near" d="M1 5h20"/></svg>comes before</span><span><svg viewBox="0 0 26 10"><path class="edge value near" d="M1 5h20"/></svg>value seen</span><span><svg viewBox="0 0 26 10"><path class="edge stale" d="M1 5h24"/></svg>stale value seen</span><span><svg viewBox="0 0 26 10"><path class="edge passed" d="M1 5h24"/></svg>newer value not seen</span><span><svg viewBox="0 0 26 10"><path class="edge race" d="M1 5h24"/></svg>unordered: race</span><span><svg viewBox="0 0 26 10"><path class="edge reason" d="M1 5h24"/></svg>fails in this order</span><span id="bands"></span></p>
</div>
<div class="right">
<section class="pane" id="source" aria-label="source"><h2></h2><div id="code" tabindex="0"></div></section>
<section class="pane" id="detail" aria-live="polite" aria-label="selected step"></section>
</div>
</div>
<div id="tip" role="tooltip" hidden></div>
</section>
"#;

/// The text of `raddle show`, open until the script closes it.
fn as_text(shown: &Shown<'_>, cache: &mut Cache<'_, '_>) -> Markup {
    html! {
        details id="text" open {
            summary { "As text" }
            pre class="text" { (text::finding(shown, &plain(), &mut |it| cache.line(it))) }
        }
    }
}

/// Files, each read once.
struct Cache<'c, 'f> {
    files: &'c mut Files<'f>,
    texts: Vec<(String, Source)>,
}

impl Cache<'_, '_> {
    fn file(&mut self, path: &str) -> Source {
        self.get(path).clone()
    }

    fn get(&mut self, path: &str) -> &Source {
        let known = self.texts.iter().position(|it| it.0 == path);
        let idx = known.unwrap_or_else(|| {
            self.texts.push((path.to_owned(), (self.files)(path)));
            self.texts.len() - 1
        });
        &self.texts[idx].1
    }

    /// A line of a file, without the space at its end.
    fn line(&mut self, place: &Place) -> Option<String> {
        let idx = (place.line as usize).checked_sub(1)?;
        let Source::Text(text) = self.get(&place.file) else { return None };
        text.lines().nth(idx).map(|it| it.trim_end().to_owned())
    }
}
