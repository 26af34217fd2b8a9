//! What `raddle explain CODE` prints: a page for each kind of finding, each misuse, note, doubt, gap and uncontrolled
//! operation, and for what a run can end in.
//!
//! Pages are Markdown beside this file, a heading for each code. Which code belongs to which value is a `match` without a
//! rest: a new value does not compile without a code, and a code without a page fails a test.

use std::fmt::Write as _;

use raddle_model::{
    Certainty, Doubt, Escape, Explanation, Fault, Finding, Gap, Kind, Misuse, Observation,
};

use crate::layout::style::{self, Ink, Style};

/// The chapters, in the order in which they are listed.
const CHAPTERS: &[&str] = &[
    include_str!("manual/failures.md"),
    include_str!("manual/misuse.md"),
    include_str!("manual/notes.md"),
    include_str!("manual/unconfirmed.md"),
    include_str!("manual/results.md"),
    include_str!("manual/coverage.md"),
    include_str!("manual/uncontrolled.md"),
];

/// One page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// What it is asked for by: `lost-wakeup`.
    pub code: &'static str,
    /// The chapter it is in: "Failures".
    pub chapter: &'static str,
    /// The text, in Markdown, without its heading.
    pub text: &'static str,
}

impl Page {
    /// Its first sentence.
    pub fn summary(&self) -> &'static str {
        let paragraph = self.text.split("\n\n").next().unwrap_or_default();
        let end = paragraph.find(". ").or_else(|| paragraph.find(".\n"));
        end.map_or(paragraph, |it| &paragraph[..=it])
    }
}

/// Every page.
pub fn pages() -> Vec<Page> {
    let mut all = Vec::new();
    for text in CHAPTERS {
        let mut sections = text.split("\n## ");
        let head = sections.next().unwrap_or_default();
        let chapter = head.trim_start_matches("# ").lines().next().unwrap_or_default();
        all.extend(sections.filter_map(|it| {
            let (code, text) = it.split_once('\n')?;
            Some(Page { code, chapter, text: text.trim() })
        }));
    }
    all
}

/// The codes of all that a finding's report says: its kind, what was misused, why it is not confirmed, its notes.
pub fn of_finding(finding: &Finding, explanation: Option<&Explanation>) -> Vec<&'static str> {
    let mut codes = Vec::new();
    match &finding.fault {
        Fault::Misuse(it) => codes.push(of_misuse(it.misuse)),
        Fault::Forlorn(waits) if waits.iter().any(|it| it.missed.is_some()) => {
            codes.push("lost-wakeup");
        }
        _ => {}
    }
    codes.push(of_kind(finding.kind));
    if let Certainty::Potential(doubt) = &finding.certainty {
        codes.push(of_doubt(doubt));
    }
    if finding.is_timing() {
        codes.push("timing");
    }
    let reason = explanation.and_then(|it| it.reason.as_ref());
    codes.extend(reason.iter().flat_map(|it| &it.observations).map(of_observation));
    let mut seen = std::collections::BTreeSet::new();
    codes.retain(|it| seen.insert(*it));
    codes
}

/// A page for a terminal: paragraphs and items as wide as it is, code as it stands.
pub fn render(page: &Page, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Ink::Strong, page.code));
    for block in page.text.split("\n\n") {
        out.push('\n');
        if block.starts_with("    ") {
            out.push_str(block);
            out.push('\n');
            continue;
        }
        for (indent, text) in items(block) {
            let room = style.width - indent;
            for (idx, line) in style::wrapped(&text, room).iter().enumerate() {
                let lead = if idx == 0 { indent.saturating_sub(2) } else { indent };
                let _ = writeln!(out, "{:lead$}{line}", "");
            }
        }
    }
    out
}

/// The items of a list, each with the indent of its later lines; a paragraph is one without indent.
fn items(block: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for line in block.lines() {
        match (line.starts_with("- "), all.last_mut()) {
            (false, Some((_, text))) => {
                text.push(' ');
                text.push_str(line.trim());
            }
            (is_item, _) => all.push((if is_item { 2 } else { 0 }, line.to_owned())),
        }
    }
    all
}

/// Every code, by chapter, with the first sentence of its page.
pub fn list(style: &Style) -> String {
    let all = pages();
    let width = all.iter().map(|it| it.code.len()).max().unwrap_or_default();
    let mut out = String::new();
    let mut chapter = "";
    for page in &all {
        if page.chapter != chapter {
            let gap = if chapter.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{}", style.paint(Ink::Strong, page.chapter));
            chapter = page.chapter;
        }
        let summary = page.summary().replace('\n', " ");
        let room = style.width.saturating_sub(width + 4).max(20);
        let _ = writeln!(out, "  {:width$}  {}", page.code, style.cut(&summary, room));
    }
    out
}

/// The whole of it as one Markdown document, for the book.
pub fn document() -> String {
    let mut out = String::from(
        "# What findings, notes and warnings mean\n\n\
         `raddle explain CODE` prints one of these sections, `raddle explain` lists all codes, and `raddle explain ID` \
         prints the section about the kind of a finding.\n",
    );
    for text in CHAPTERS {
        out.push('\n');
        for line in text.lines() {
            out.push_str(if line.starts_with('#') { "#" } else { "" });
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The page with this code.
pub fn page(code: &str) -> Option<Page> {
    pages().into_iter().find(|it| it.code == code)
}

macro_rules! codes {
    ($(#[$meta:meta])* $function:ident, $list:ident: $type:ty { $($($pattern:pat_param)|+ => $code:literal,)* }) => {
        $(#[$meta])*
        pub const fn $function(value: &$type) -> &'static str {
            match value { $($($pattern)|+ => $code,)* }
        }

        #[cfg(test)]
        const $list: &[&str] = &[$($code),*];
    };
}

/// The code of a kind of finding.
pub const fn of_kind(kind: Kind) -> &'static str {
    kind.word()
}

/// The code of a misuse.
pub const fn of_misuse(misuse: Misuse) -> &'static str {
    misuse.word()
}

/// The code of what limits a search.
pub const fn of_gap(gap: &Gap) -> &'static str {
    gap.name()
}

codes! {
    /// The code of what stands out in a schedule.
    of_observation, OBSERVATIONS: Observation {
        Observation::LockOnOneSide { .. } => "lock-on-one-side",
        Observation::DifferentLocks { .. } => "different-locks",
        Observation::NoLock { .. } => "no-lock",
        Observation::NotOne { .. } => "not-atomic",
        Observation::NoLoop { .. } => "no-loop",
        Observation::EarlySignal { .. } => "early-signal",
        Observation::LateSignal { .. } => "late-signal",
        Observation::TakenSignal { .. } => "taken-signal",
        Observation::WastedSignal { .. } => "wasted-signal",
        Observation::Interrupted { .. } => "interrupted",
        Observation::LockOrder { .. } => "lock-order",
    }
}

codes! {
    /// The code of the reason why a finding is not confirmed.
    of_doubt, DOUBTS: Doubt {
        Doubt::Untried => "untried",
        Doubt::OtherOrder => "other-order",
        Doubt::Astray => "diverged-prediction",
        Doubt::Unlocked(..) => "no-common-lock",
        Doubt::MeantFirst => "intended-order",
        Doubt::MeantAsOne(_) => "intended-atomicity",
        Doubt::Library(_) => "uninstrumented-library",
        Doubt::Unhooked(_) => "uninstrumented-atomic",
    }
}

codes! {
    /// The code of what could not be controlled.
    of_escape, ESCAPES: Escape {
        Escape::Unknown => "unknown-operation",
        Escape::Fork | Escape::UnderscoreFork | Escape::Popen | Escape::PosixSpawn => "new-process",
        Escape::System | Escape::WaitProcess => "other-process",
        Escape::WaitInput => "outside-input",
        Escape::FileLock => "file-lock",
        Escape::Daemon => "daemon",
        Escape::KillGroup => "process-group-signal",
        Escape::Signalfd => "signalfd",
        Escape::PriorityFutex => "priority-inheritance",
        Escape::FutexWaitv => "futex-waitv",
        Escape::ProcessorTimer => "cpu-timer",
        Escape::UnequalCheck => "check-not-repeatable",
        Escape::StopSignal => "stop-signal",
        Escape::OutsideSignal => "outside-signal",
    }
}

#[cfg(test)]
mod tests;
