//! JUnit's XML, as build servers read it: a test case for each finding, which failed; one that passed if
//! there are none.

mod suite;

use std::fmt::Write as _;

pub use suite::junit_of_suite;

use super::Item;
use crate::{
    finding::text,
    layout::{markup::escape, style::Style},
    words::place::Sources,
};

/// What was run, and how it went.
#[derive(Clone, Debug)]
pub struct Suite<'a> {
    /// The program, as the user calls it.
    pub program: &'a str,
    /// When, in UTC: `2026-01-31T12:34:56Z`.
    pub date: &'a str,
    /// How long it took.
    pub elapsed_s: f64,
    /// What was found.
    pub items: &'a [Item<'a>],
}

/// The file.
pub fn junit(suite: &Suite<'_>, sources: &mut Sources<'_>) -> String {
    let Suite { program, date, elapsed_s, items } = suite;
    let program = escape(program);
    let n_tests = items.len().max(1);
    let counts = format!("tests=\"{n_tests}\" failures=\"{}\" errors=\"0\"", items.len());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"raddle\" {counts}>\n  \
         <testsuite name=\"{program}\" {counts} time=\"{elapsed_s:.3}\" timestamp=\"{}\">\n",
        escape(date.trim_end_matches('Z'))
    );
    if items.is_empty() {
        let _ = writeln!(
            out,
            "    <testcase name=\"schedules\" classname=\"{program}\" time=\"{elapsed_s:.3}\"/>"
        );
    }
    for item in *items {
        case(&mut out, &program, item, sources);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn case(out: &mut String, program: &str, item: &Item<'_>, sources: &mut Sources<'_>) {
    let shown = &item.shown;
    let finding = shown.finding;
    let style = Style { width: 100, ..Style::default() };
    let message = escape(&text::headline_text(shown, &style));
    let id = escape(shown.id);
    let _ = writeln!(out, "    <testcase name=\"{id}\" classname=\"{program}\">");
    out.push_str("      <properties>\n");
    let seed = shown.seed.map(|it| it.to_string());
    let bucket = format!("{:016x}", finding.bucket.0);
    let replay = format!("raddle replay {}", shown.id);
    let properties = [
        ("bucket", Some(bucket)),
        ("seed", seed),
        ("strategy", Some(text::strategy(finding))),
        ("replay", Some(replay)),
    ];
    for (name, value) in properties {
        if let Some(value) = value.filter(|it| !it.is_empty()) {
            let value = escape(&value);
            let _ = writeln!(out, "        <property name=\"{name}\" value=\"{value}\"/>");
        }
    }
    out.push_str("      </properties>\n");
    let text = text::finding(shown, &style, sources);
    let kind = finding.kind.word();
    let _ = writeln!(
        out,
        "      <failure type=\"{kind}\" message=\"{message}\">{}</failure>",
        escape(&text)
    );
    if !finding.output.is_empty() {
        let _ = writeln!(out, "      <system-out>{}</system-out>", escape(&finding.output));
    }
    out.push_str("    </testcase>\n");
}
