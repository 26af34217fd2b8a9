//! Why it fails, in sentences, and what was measured of it.

use std::fmt::Write as _;

use raddle_model::{Explanation, Finding};

use crate::{
    finding::diagnosis::Diagnosis,
    layout::style::{self, Ink, Style, width},
    words::{likelihood, minimised},
};

/// All that the first screen says below its lines, one sentence after the other, without line breaks of their own.
pub fn sentences(finding: &Finding, explanation: &Explanation, style: &Style) -> Vec<String> {
    Diagnosis::of(finding, Some(explanation), style).sentences()
}

/// How small the schedule became, and how likely it is.
pub(crate) fn statistics(explanation: &Explanation, style: &Style) -> Vec<String> {
    let mut all = Vec::from_iter(minimised::line(explanation, style));
    let chances = likelihood::line(&explanation.likelihood);
    all.extend(chances.map(|it| format!("chance of one execution: {it}")));
    all
}

/// A note in as many lines as it takes, all but the first indented.
pub(crate) fn wrapped(out: &mut String, head: &str, text: &str, style: &Style) {
    let indent = " ".repeat(2 + width(head));
    let room = style.width.saturating_sub(indent.len()).max(20);
    for (idx, line) in style::wrapped(text, room).iter().enumerate() {
        let before = match idx {
            0 => format!("  {}", style.paint(Ink::Strong, head)),
            _ => indent.clone(),
        };
        let _ = writeln!(out, "{before}{line}");
    }
}
