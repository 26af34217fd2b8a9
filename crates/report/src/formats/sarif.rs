//! SARIF 2.1.0 (OASIS): one result for each finding, one `threadFlow` for each of its threads; the order of
//! steps across threads is their `executionOrder`.
//!
//! Paths below the working directory are relative to `SRCROOT`, as services want them that know the
//! repository.

use std::collections::BTreeMap;

use raddle_model::{Finding, Kind, Place};
use serde::Serialize;

use super::Item;
use crate::{
    finding::diagnosis::{Diagnosis, Span},
    layout::style::Style,
    schedule::timeline::{Row, Timeline},
    words::place,
};

/// Steps of a finding that are told; viewers take no more (GitHub shows 1,000 of a thread).
const STEPS_MAX: usize = 1_000;

/// The file.
pub fn sarif(items: &[Item<'_>], version: &str) -> String {
    let mut kinds: Vec<Kind> = items.iter().map(|it| it.shown.finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let base = items.first().map_or("", |it| it.shown.base);
    let mut bases = BTreeMap::new();
    if !base.is_empty() {
        let uri = format!("file://{}/", encoded(base.trim_end_matches('/')));
        bases.insert("SRCROOT", ArtifactLocation { uri, uri_base_id: None });
    }
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: "Raddle",
                semantic_version: version.to_owned(),
                rules: kinds.iter().map(|it| rule(*it)).collect(),
            },
        },
        column_kind: "unicodeCodePoints",
        original_uri_base_ids: bases,
        results: items.iter().map(|it| result(it, &kinds)).collect(),
    };
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [run],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("bug: these values are plain data");
    text.push('\n');
    text
}

fn rule(kind: Kind) -> Rule {
    Rule {
        id: kind.word(),
        name: kind.title(),
        short_description: Message { text: kind.title().to_owned() },
    }
}

fn result(item: &Item<'_>, kinds: &[Kind]) -> SarifResult {
    let shown = &item.shown;
    let finding = shown.finding;
    let style = Style::default();
    let diagnosis = Diagnosis::of(finding, shown.explanation, &style);
    let mut words = diagnosis.sentence.clone();
    for sentence in diagnosis.sentences() {
        words.push('\n');
        words.push_str(&sentence);
    }
    let at = |it: &Span| location(&it.place, shown.base, Some(it.label()));
    let first: Vec<Location> = diagnosis.primary().and_then(at).into_iter().collect();
    let places: Vec<Location> = diagnosis.spans.iter().filter_map(at).collect();
    let places = if diagnosis.spans.len() < 2 { Vec::new() } else { places };
    let level = if finding.is_warning() { "warning" } else { "error" };
    let bucket = format!("{:016x}", finding.bucket.0);
    SarifResult {
        rule_id: finding.kind.word(),
        rule_index: kinds.iter().position(|it| *it == finding.kind).unwrap_or_default(),
        level,
        message: Message { text: words },
        locations: first,
        related_locations: places,
        code_flows: flow(finding, shown.base).into_iter().collect(),
        partial_fingerprints: BTreeMap::from([("raddle/bucket/v1", bucket)]),
        properties: BTreeMap::from([
            ("id", shown.id.to_owned()),
            ("program", item.program.to_owned()),
            ("replay", format!("raddle replay {}", shown.id)),
        ]),
    }
}

/// Each thread's steps; `None` if there are none.
fn flow(finding: &Finding, base: &str) -> Option<CodeFlow> {
    let timeline = Timeline::new(finding, &[]);
    let n_left_out = timeline.rows.len().saturating_sub(STEPS_MAX);
    let mut thread_flows = Vec::new();
    for lane in &timeline.lanes {
        let rows = timeline.rows.iter().enumerate().skip(n_left_out);
        let locations: Vec<FlowLocation> = rows
            .filter(|(_, row)| row.thread == *lane)
            .map(|(idx, row)| flow_location(&timeline, idx, row, base, finding.n_steps_dropped))
            .collect();
        if !locations.is_empty() {
            let text = place::thread(finding, *lane);
            let id = format!("T{}", lane.0);
            thread_flows.push(ThreadFlow { id, message: Message { text }, locations });
        }
    }
    let n_all = finding.n_steps_dropped + n_left_out as u64;
    let text = match n_all {
        0 => "the failing schedule".to_owned(),
        n => format!("the failing schedule, without its first {n} steps"),
    };
    (!thread_flows.is_empty()).then_some(CodeFlow { message: Message { text }, thread_flows })
}

fn flow_location(
    timeline: &Timeline<'_>,
    idx: usize,
    row: &Row<'_>,
    base: &str,
    n_dropped: u64,
) -> FlowLocation {
    let is_after_switch = idx.checked_sub(1).is_some_and(|it| timeline.rows[it].switch.is_some());
    let importance = match row.mark {
        Some(_) => "essential",
        None if is_after_switch || row.switch.is_some() => "important",
        None => "unimportant",
    };
    let words = match row.mark {
        Some(mark) => format!("{} ({mark})", row.words),
        None => row.words.clone(),
    };
    let place = row.place.and_then(|it| location(it, base, Some(words.clone())));
    let nowhere =
        || Location { physical_location: None, message: Some(Message { text: words.clone() }) };
    FlowLocation {
        location: place.unwrap_or_else(nowhere),
        execution_order: n_dropped + idx as u64 + 1,
        importance,
    }
}

fn location(place: &Place, base: &str, words: Option<String>) -> Option<Location> {
    if place.file.is_empty() || place.line == 0 {
        return None;
    }
    let base = base.trim_end_matches('/');
    let relative = place.file.strip_prefix(base).and_then(|it| it.strip_prefix('/'));
    let artifact_location = match relative {
        Some(path) if !base.is_empty() => {
            ArtifactLocation { uri: encoded(path), uri_base_id: Some("SRCROOT") }
        }
        _ if place.file.starts_with('/') => {
            ArtifactLocation { uri: format!("file://{}", encoded(&place.file)), uri_base_id: None }
        }
        _ => ArtifactLocation { uri: encoded(&place.file), uri_base_id: None },
    };
    let start_column = (place.column > 0).then_some(place.column);
    Some(Location {
        physical_location: Some(PhysicalLocation {
            artifact_location,
            region: Region { start_line: place.line, start_column },
        }),
        message: words.map(|text| Message { text }),
    })
}

/// A path as part of a URI (RFC 3986).
fn encoded(path: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    original_uri_base_ids: BTreeMap<&'static str, ArtifactLocation>,
    results: Vec<SarifResult>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: String,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    name: &'static str,
    short_description: Message,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<CodeFlow>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    properties: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow {
    message: Message,
    thread_flows: Vec<ThreadFlow>,
}

#[derive(Serialize)]
struct ThreadFlow {
    id: String,
    message: Message,
    locations: Vec<FlowLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FlowLocation {
    location: Location,
    execution_order: u64,
    importance: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}
