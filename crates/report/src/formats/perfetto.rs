//! A trace for Perfetto and Chrome's viewer, in the Trace Event Format: a track for each thread, a slice for
//! each step, arrows for what comes before what, held locks on tracks of their own.
//!
//! Time is logical: a step takes a microsecond.

use raddle_model::Finding;
use serde::Serialize;
use serde_json::{Value, json};

use super::Item;
use crate::{
    finding::text,
    schedule::timeline::{EdgeKind, Timeline},
    words::{names::Names, place},
};

/// All is one process.
const PROCESS: u32 = 1;

#[derive(Serialize)]
struct File {
    #[serde(rename = "traceEvents")]
    trace_events: Vec<Value>,
    #[serde(rename = "displayTimeUnit")]
    display_time_unit: &'static str,
    #[serde(rename = "otherData")]
    other_data: Value,
}

/// The file.
pub fn perfetto(item: &Item<'_>) -> String {
    let finding = item.shown.finding;
    let timeline = Timeline::new(finding, &[]);
    let mut events = tracks(item, &timeline);
    events.extend(steps(item, &timeline));
    events.extend(switches(&timeline));
    events.extend(locks(finding, &timeline));
    events.extend(arrows(&timeline));
    let file = File {
        trace_events: events,
        display_time_unit: "ns",
        other_data: json!({
            "tool": "raddle",
            "finding": item.shown.id,
            "what": text::headline_text(&item.shown, &crate::layout::style::Style::default()),
            "time": "logical: one step is one microsecond",
        }),
    };
    let mut text = serde_json::to_string(&file).expect("bug: these values are plain data");
    text.push('\n');
    text
}

fn tracks(item: &Item<'_>, timeline: &Timeline<'_>) -> Vec<Value> {
    let process = format!("{} {}", item.program, item.shown.id);
    let mut events = vec![json!({
        "ph": "M", "pid": PROCESS, "name": "process_name", "args": { "name": process.trim() },
    })];
    for (lane, thread) in timeline.lanes.iter().enumerate() {
        let name = place::thread(item.shown.finding, *thread);
        events.push(json!({
            "ph": "M", "pid": PROCESS, "tid": thread.0, "name": "thread_name", "args": { "name": name },
        }));
        events.push(json!({
            "ph": "M", "pid": PROCESS, "tid": thread.0, "name": "thread_sort_index",
            "args": { "sort_index": lane },
        }));
    }
    events
}

fn steps(item: &Item<'_>, timeline: &Timeline<'_>) -> Vec<Value> {
    let finding = item.shown.finding;
    let event = |(idx, row): (usize, &crate::schedule::timeline::Row<'_>)| {
        let mut args = json!({});
        if let Some(number) = row.number {
            args["step"] = json!(number);
        }
        if let Some(place) = row.place {
            args["at"] = json!(place::with_function(place, item.shown.base));
        }
        if let Some(object) = finding.objects.get(row.object.idx()).filter(|it| !it.is_none()) {
            args["object"] = json!(object.to_string());
        }
        if let Some(mark) = row.mark {
            args["mark"] = json!(mark);
        }
        let category = if row.mark.is_some() { "step,failure" } else { "step" };
        json!({
            "ph": "X", "pid": PROCESS, "tid": row.thread.0, "ts": idx, "dur": 1, "cat": category,
            "name": row.words, "args": args,
        })
    };
    timeline.rows.iter().enumerate().map(event).collect()
}

/// An instant where a thread lost its turn.
fn switches(timeline: &Timeline<'_>) -> Vec<Value> {
    let rows = timeline.rows.iter().enumerate();
    let switched = rows.filter_map(|(idx, row)| Some((idx, row, row.switch.as_ref()?)));
    switched
        .map(|(idx, row, reason)| {
            json!({
                "ph": "i", "s": "t", "pid": PROCESS, "tid": row.thread.0, "ts": idx + 1,
                "cat": "switch", "name": reason,
            })
        })
        .collect()
}

/// Locks need not be given back in the opposite order, so that each hold has a track of its own.
fn locks(finding: &Finding, timeline: &Timeline<'_>) -> Vec<Value> {
    let mut names = Names::new(finding);
    let mut events = Vec::new();
    for (id, band) in timeline.bands.iter().enumerate() {
        let name = format!("T{} holds {}", band.thread.0, names.short(band.lock));
        let end = band.to.unwrap_or(timeline.rows.len());
        for (phase, at) in [("b", band.from), ("e", end)] {
            events.push(json!({
                "ph": phase, "pid": PROCESS, "tid": band.thread.0, "ts": at, "cat": "lock",
                "id": id, "name": name,
            }));
        }
    }
    events
}

fn arrows(timeline: &Timeline<'_>) -> Vec<Value> {
    let mut events = Vec::new();
    for (id, edge) in timeline.edges.iter().enumerate() {
        let name = match edge.kind {
            EdgeKind::Order => "comes before",
            EdgeKind::Value => "value seen",
            EdgeKind::Stale => "stale value seen",
            EdgeKind::Passed => "not seen",
            EdgeKind::Race => "race",
        };
        for (phase, row) in [("s", edge.from), ("f", edge.to)] {
            let thread = timeline.rows[row].thread.0;
            let mut event = json!({
                "ph": phase, "pid": PROCESS, "tid": thread, "ts": row, "cat": "order",
                "id": id, "name": name,
            });
            if phase == "f" {
                // It ends in the slice that is there, not in the next one.
                event["bp"] = json!("e");
            }
            events.push(event);
        }
    }
    events
}
