//! GitLab's code quality report: a list that a merge request shows beside the changed lines.

use raddle_model::Place;
use serde_json::{Value, json};

use super::Item;
use crate::{finding::diagnosis::Diagnosis, layout::style::Style, words::place};

/// The report.
pub fn code_quality(items: &[Item<'_>]) -> String {
    let all: Vec<Value> = items.iter().map(issue).collect();
    serde_json::to_string_pretty(&all).expect("bug: these values are plain data") + "\n"
}

fn issue(item: &Item<'_>) -> Value {
    let shown = &item.shown;
    let finding = shown.finding;
    let diagnosis = Diagnosis::of(finding, shown.explanation, &Style::default());
    let at: Option<&Place> = diagnosis.primary().map(|it| &it.place);
    // Every entry must have a place: without one, the program's name.
    let (path, line) = match at.filter(|it| !it.file.is_empty() && it.line > 0) {
        Some(at) => (place::long(&Place { line: 0, ..at.clone() }, shown.base), at.line),
        None => (item.program.to_owned(), 1),
    };
    json!({
        "description": format!("{} (raddle replay {})", diagnosis.sentence, shown.id),
        "check_name": format!("raddle/{}", finding.kind.word()),
        "fingerprint": format!("{:016x}", finding.bucket.0),
        "severity": if finding.is_warning() { "minor" } else { "critical" },
        "location": {"path": path, "lines": {"begin": line}},
    })
}
