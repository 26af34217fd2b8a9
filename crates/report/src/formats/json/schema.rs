//! What the lines are, as a JSON schema: `docs/json.schema.json`, made of the same structures that are written. The page
//! that describes them (`docs/json.md`) must name each field, and no other.
#![expect(dead_code, reason = "some types are there for their schema only")]

use std::{collections::BTreeSet, env, fs, path::PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    Doctor, FiguresLine, FindingLine, Listed, Regressed, ReplayLine, RunLine, VERSION,
    lines::{ComparedLine, OutputLine, SummaryLine, SuppressedLine},
    strength::StrengthLine,
};
use crate::campaign::suite::TestLine;

/// As `raddle_model` has them, which the runtime is made of and which therefore depends on nothing more: what they are
/// written as is held to this by `cli`'s test of the published schema.
#[derive(JsonSchema)]
pub(super) struct Reproduced {
    n: u32,
    of: u32,
}

#[derive(JsonSchema)]
pub(super) struct History {
    consistency: Consistency,
    operations: Vec<Operation>,
    explained: Vec<u32>,
    refused: Vec<Refused>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Consistency {
    Linearizable,
    Sequential,
    Quiescent,
}

#[derive(JsonSchema)]
struct Operation {
    thread: u32,
    call: String,
    result: Option<String>,
    invoked: u64,
    returned: u64,
}

#[derive(JsonSchema)]
struct Refused {
    operation: u32,
    expected: Option<String>,
}

#[derive(JsonSchema)]
pub(super) struct Coverage {
    site_pairs: u64,
    both_ways: u64,
    lock_pairs: u64,
}

#[derive(JsonSchema)]
pub(super) struct ArmYield {
    strategy: String,
    executions: u64,
    new_pairs: u64,
    new_traces: u64,
    findings: u64,
}

#[derive(JsonSchema)]
pub(super) struct Tried {
    family: String,
    known: u64,
    tried: u64,
    refuted: u64,
}

#[derive(JsonSchema)]
pub(super) struct Around {
    sites: u64,
    distance: u32,
    known: u64,
    tried: u64,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum Change {
    End,
    Output,
    Value,
    Nothing,
}

/// Makes the schema of a line's own fields.
type Make = fn(&mut SchemaGenerator) -> Schema;

/// Each type of line.
const LINES: [(&str, Make); 15] = [
    ("finding", <FindingLine<'_> as JsonSchema>::json_schema),
    ("baseline", <FindingLine<'_> as JsonSchema>::json_schema),
    ("progress", <FiguresLine as JsonSchema>::json_schema),
    ("summary", <SummaryLine<'_> as JsonSchema>::json_schema),
    ("suppressed", <SuppressedLine<'_> as JsonSchema>::json_schema),
    ("output", <OutputLine<'_> as JsonSchema>::json_schema),
    ("replay", <ReplayLine<'_> as JsonSchema>::json_schema),
    ("regression", <ReplayLine<'_> as JsonSchema>::json_schema),
    ("regress", <Regressed<'_> as JsonSchema>::json_schema),
    ("orders", <StrengthLine<'_> as JsonSchema>::json_schema),
    ("test", <TestLine as JsonSchema>::json_schema),
    ("compared", <ComparedLine<'_> as JsonSchema>::json_schema),
    ("listed", <Listed<'_> as JsonSchema>::json_schema),
    ("run", <RunLine<'_> as JsonSchema>::json_schema),
    ("doctor", <Doctor<'_> as JsonSchema>::json_schema),
];

/// All of it.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut lines = Map::new();
    for (name, make) in LINES {
        let mut line = make(&mut generator).to_value();
        line["properties"]["type"] = json!({"const": name});
        line["properties"]["version"] = json!({"const": VERSION});
        let required = line["required"].as_array_mut().expect("a line has fields");
        required.extend([json!("type"), json!("version")]);
        lines.insert(format!("{name}-line"), line);
    }
    let all: Vec<Value> = lines.keys().map(|it| json!({"$ref": format!("#/$defs/{it}")})).collect();
    lines.extend(generator.take_definitions(true));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A JSON line of Raddle, version 1. New fields may be added without a new version.",
        "oneOf": all,
        "$defs": lines,
    })
}

fn docs(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[test]
fn the_published_schema_is_that_of_the_structures() {
    let text = serde_json::to_string_pretty(&schema()).expect("it is JSON") + "\n";
    let path = docs("json.schema.json");
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &text).expect("written");
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert!(published == text, "{} is old; UPDATE_EXPECT=1 writes it", path.display());
}

/// All names of fields, at any depth.
fn fields(value: &Value, all: &mut BTreeSet<String>) {
    if let Some(properties) = value["properties"].as_object() {
        all.extend(properties.keys().cloned());
    }
    let parts: Vec<&Value> = match value {
        Value::Object(map) => map.values().collect(),
        Value::Array(list) => list.iter().collect(),
        _ => Vec::new(),
    };
    parts.into_iter().for_each(|it| fields(it, all));
}

#[test]
fn the_page_names_every_field_and_every_line() {
    let page = fs::read_to_string(docs("json.md")).expect("the page");
    let mut all = BTreeSet::new();
    fields(&schema(), &mut all);
    let named: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    // `{"n":5,"of":5}`
    let is_named =
        |it: &str| named.contains(it) || named.iter().any(|all| all.contains(&format!("\"{it}\"")));
    let missing: Vec<&String> = all.iter().filter(|it| !is_named(it)).collect();
    assert!(missing.is_empty(), "docs/json.md does not name {missing:?}");
    for (name, _) in LINES {
        assert!(page.contains(&format!("## `{name}`\n")), "docs/json.md has no section `{name}`");
    }
    // The first column of each table names fields, and nothing else.
    let rows = page.lines().filter(|it| it.starts_with("| `"));
    let of_tables = rows.flat_map(|row| {
        let cell = row.split('|').nth(1).unwrap_or_default();
        cell.split('`').skip(1).step_by(2)
    });
    let unknown: Vec<&str> = of_tables.filter(|it| !all.contains(*it)).collect();
    assert!(unknown.is_empty(), "docs/json.md has rows of no field: {unknown:?}");
}
