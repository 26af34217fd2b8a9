//! A line for each finding, as compilers write them, for editors that match such lines:
//! `bank.c:21:5: error: deadlock: … [dl-5301]`, then the lines that lead to it as notes.

use std::fmt::Write as _;

use raddle_model::Place;

use crate::{
    finding::{diagnosis::Diagnosis, shown::Shown},
    layout::style::Style,
    words::place,
};

/// The lines.
pub fn short(shown: &Shown<'_>) -> String {
    let finding = shown.finding;
    let style = Style::default();
    let diagnosis = Diagnosis::of(finding, shown.explanation, &style);
    let kind = if finding.is_warning() { "warning" } else { "error" };
    let id = if shown.id.is_empty() { finding.kind.word() } else { shown.id };
    let mut out = String::new();
    let primary = diagnosis.primary().map(|it| &it.place);
    let sentence = style.tame(&diagnosis.sentence);
    let _ = writeln!(out, "{}{kind}: {sentence} [{id}]", position(primary, shown));
    for span in &diagnosis.spans {
        let at = position(Some(&span.place), shown);
        if !at.is_empty() {
            let _ = writeln!(out, "{at}note: {}", span.label());
        }
    }
    out
}

/// `src/bank.c:21:5: `; empty if the line is not known. Where there is no column, it is the first.
fn position(at: Option<&Place>, shown: &Shown<'_>) -> String {
    let Some(at) = at.filter(|it| !it.file.is_empty() && it.line > 0) else {
        return String::new();
    };
    let file = place::long(&Place { line: 0, ..at.clone() }, shown.base);
    format!("{file}:{}:{}: ", at.line, at.column.max(1))
}
