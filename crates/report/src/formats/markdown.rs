//! A brief for an issue tracker: what went wrong, where, why, the schedule, and how to see it again.

use std::fmt::Write as _;

use super::Item;
use crate::{
    finding::{diagnosis::Diagnosis, text},
    layout::style::Style,
    schedule::Schedule,
    words::place::{self, Sources},
};

/// Columns of the schedule: what trackers show without scrolling.
const WIDTH: usize = 100;
/// Lines of the program's output.
const OUTPUT_MAX: usize = 20;

/// A finding.
pub fn markdown(item: &Item<'_>, sources: &mut Sources<'_>) -> String {
    let mut out = String::new();
    write(&mut out, item, "#", sources);
    out
}

/// All findings of a run, one after the other.
pub fn markdown_of_run(title: &str, items: &[Item<'_>], sources: &mut Sources<'_>) -> String {
    let mut out = format!("# {}\n", plain(title));
    if items.is_empty() {
        out.push_str("\nNo findings.\n");
    }
    for item in items {
        out.push('\n');
        write(&mut out, item, "##", sources);
    }
    out
}

fn write(out: &mut String, item: &Item<'_>, level: &str, sources: &mut Sources<'_>) {
    let shown = &item.shown;
    let finding = shown.finding;
    let style = Style { color: false, unicode: true, width: WIDTH, full: false };
    let diagnosis = Diagnosis::of(finding, shown.explanation, &style);
    let _ = writeln!(out, "{level} {}: {}\n", shown.id, plain(&diagnosis.sentence));
    let _ = writeln!(out, "{}, {}.\n", code(item.program), text::circumstances(shown));
    if !diagnosis.table.is_empty() {
        let _ = writeln!(out, "```text\n{}\n```\n", diagnosis.table.join("\n"));
    }
    for span in &diagnosis.spans {
        let at = place::with_function(&span.place, shown.base);
        let at = if at.is_empty() { String::new() } else { format!(" at {}", code(&at)) };
        let source = place::source(Some(&span.place), sources);
        let source = match source.trim() {
            "" => String::new(),
            text => format!(": {}", code(text)),
        };
        let item = match span.number {
            Some(number) => format!("{number}."),
            None => "-".to_owned(),
        };
        let _ = writeln!(out, "{item} {}{at}{source}", plain(&span.words));
    }
    for sentence in diagnosis.sentences() {
        let _ = writeln!(out, "\n{}", plain(&sentence));
    }
    let schedule = Schedule::new(finding, &diagnosis.spots, &style).render(&style, sources);
    if !schedule.is_empty() {
        out.push('\n');
        fence(out, &schedule);
    }
    output(out, &finding.output, &style);
    let _ = writeln!(out, "\nReplay with `raddle replay {}`.", shown.id);
}

fn output(out: &mut String, output: &str, style: &Style) {
    let lines: Vec<String> = output.trim_end().lines().map(|it| style.tame(it)).collect();
    if lines.is_empty() {
        return;
    }
    let n_left = lines.len().saturating_sub(OUTPUT_MAX);
    let which = if n_left > 0 { ", its last lines" } else { "" };
    let _ = writeln!(out, "\nThe program's output{which}:\n");
    fence(out, &(lines[n_left..].join("\n") + "\n"));
}

/// A block of text, with a fence that is longer than any in it.
fn fence(out: &mut String, text: &str) {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let _ = write!(out, "{fence}text\n{text}{fence}\n");
}

/// Text within a sentence: what Markdown and HTML would take for their own is escaped, but for
/// `` `names` ``.
fn plain(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(&text.replace('`', "'"));
    }
    let of_part = |(idx, part): (usize, &&str)| match idx % 2 {
        0 => escape(part),
        _ => code(part),
    };
    parts.iter().enumerate().map(of_part).collect()
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if matches!(char, '\\' | '*' | '_' | '[' | ']' | '<' | '#' | '|' | '~' | '@' | '&') {
            out.push('\\');
        }
        out.push(if char == '\n' { ' ' } else { char });
    }
    out
}

/// Text in a code span, with as many backquotes as it takes.
fn code(text: &str) -> String {
    let text = text.replace('\n', " ");
    match longest_run(&text) {
        0 => format!("`{text}`"),
        n => {
            let ticks = "`".repeat(n + 1);
            format!("{ticks} {text} {ticks}")
        }
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or(0)
}
