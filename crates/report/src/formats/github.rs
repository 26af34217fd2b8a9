//! Annotations of GitHub Actions: a line on standard output for each finding, which the service shows at the
//! place in the source.

use raddle_model::Place;

use super::Item;
use crate::{
    finding::{brief, evidence, text},
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
    let points = brief::points(finding);
    let of_evidence = finding.evidence.as_deref().and_then(evidence::main_place);
    let at: Option<&Place> = of_evidence.or(points.first().map(|it| it.place));
    let style = Style::default();
    let title = format!("raddle {}: {}", shown.id, text::headline_text(finding, &style));
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
    let mut lines: Vec<String> = item.reason.clone();
    for point in points {
        match place::long(point.place, shown.base).as_str() {
            "" => lines.push(point.words),
            at => lines.push(format!("{} at {at}", point.words)),
        }
    }
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
