//! Annotations of GitHub Actions: a line on standard output for each finding, which the service shows at the
//! place in the source.

use raddle_model::Place;

use super::Item;
use crate::{
    finding::diagnosis::{Diagnosis, Span},
    layout::style::Style,
    words::place,
};

/// The lines.
pub fn annotations(items: &[Item<'_>]) -> String {
    items.iter().map(annotation).collect()
}

/// `::error file=bank.c,line=31,title=…::…`.
fn annotation(item: &Item<'_>) -> String {
    let shown = &item.shown;
    let finding = shown.finding;
    let command = if finding.is_warning() { "warning" } else { "error" };
    let diagnosis = Diagnosis::of(finding, shown.explanation, &Style::default());
    let at: Option<&Place> = diagnosis.primary().map(|it| &it.place);
    let title = format!("raddle {}: {}", shown.id, diagnosis.sentence);
    let mut properties = Vec::new();
    if let Some(at) = at.filter(|it| !it.file.is_empty() && it.line > 0) {
        let file = place::long(&Place { line: 0, ..at.clone() }, shown.base);
        properties.push(format!("file={}", property(&file)));
        properties.push(format!("line={}", at.line));
        if at.column > 0 {
            properties.push(format!("col={}", at.column));
        }
    }
    properties.push(format!("title={}", property(&title)));
    let of_span = |it: &Span| match place::long(&it.place, shown.base).as_str() {
        "" => it.label(),
        at => format!("{} at {at}", it.label()),
    };
    let mut lines: Vec<String> = diagnosis.spans.iter().map(of_span).collect();
    lines.extend(diagnosis.sentences());
    lines.push(format!("raddle replay {}", shown.id));
    format!("::{command} {}::{}\n", properties.join(","), message(&lines.join("\n")))
}

/// As GitHub's toolkit escapes messages.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// And properties.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
