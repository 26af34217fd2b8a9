//! Regressions of before they were TOML: a line for each fact, `key value`, compound values as JSON. They are read, and not
//! written any more.

use raddle_model::{Home, NamedObject, ObjectClass, ObjectId};
use serde_json::{Map, Value, json};

use super::file::{File, ParseError, VERSION};

/// What the first line begins with.
pub(super) const MAGIC: &str = "raddle-regression";

/// Reads a file of version 1 or 2.
pub(super) fn parse(text: &str) -> Result<File, ParseError> {
    let mut values = Map::from_iter([("version".to_owned(), VERSION.into())]);
    for (idx, line) in text.lines().enumerate().skip(1) {
        let is_empty = line.trim().is_empty() || line.starts_with('#');
        let taken = if is_empty { Ok(()) } else { take(&mut values, line) };
        taken.map_err(|what| ParseError { line: idx + 1, what })?;
    }
    serde_json::from_value(Value::Object(values))
        .map_err(|error| ParseError { line: text.lines().count(), what: error.to_string() })
}

/// Takes in a line, as what it would be today.
fn take(values: &mut Map<String, Value>, line: &str) -> Result<(), String> {
    let (key, value) = line.split_once(' ').unwrap_or((line, ""));
    let damaged = |error: &dyn std::fmt::Display| format!("this is damaged ({error})");
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| damaged(&error));
    let hex = |text: &str| u64::from_str_radix(text, 16).map_err(|error| damaged(&error));
    // `3 {…}`: they come in the order of their numbers.
    let numbered = || value.split_once(' ').map_or(value, |it| it.1);
    let (key, value, is_one_of_many) = match key {
        "id" | "kind" => (key, value.trim().into(), false),
        "bucket" | "build" | "digest" => (key, hex(value.trim())?.into(), false),
        "message" | "args" | "carrier" | "plan" | "thread" => (key, json(value)?, false),
        "dropped" => (key, json(value)?, false),
        "exit-is-fine" => ("exit_is_fine", true.into(), false),
        "site" => ("sites", json(value)?, true),
        "place" => ("places", json(numbered())?, true),
        // Version 1 had a text here, which nothing can be made of.
        "object" if numbered().starts_with('"') => {
            let number = values.get("objects").and_then(Value::as_array).map_or(0, Vec::len) + 1;
            let home = Home::Number(ObjectId(number as u32));
            ("objects", json!(NamedObject::at(ObjectClass::Variable, home)), true)
        }
        "object" => ("objects", json(numbered())?, true),
        "step" => ("steps", step(value).ok_or_else(|| damaged(&value))?, true),
        "choices" => {
            let runs = value.split_whitespace().map(run).collect::<Option<Vec<Value>>>();
            let runs = runs.ok_or_else(|| damaged(&value))?;
            let all = values.entry("choices").or_insert_with(|| json!([]));
            all.as_array_mut().expect("bug: choices are a list").extend(runs);
            return Ok(());
        }
        _ => {
            return Err(format!(
                "expected `id`, `kind`, `plan`, `step` or another key, found `{key}`"
            ));
        }
    };
    match is_one_of_many {
        false => drop(values.insert(key.to_owned(), value)),
        true => {
            let all = values.entry(key).or_insert_with(|| json!([]));
            all.as_array_mut().expect("bug: these are lists").push(value);
        }
    }
    Ok(())
}

/// `1 lock 4 2`: thread, op, object, place.
fn step(text: &str) -> Option<Value> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [thread, verb, object, place] = words.as_slice() else { return None };
    let number = |it: &str| it.parse::<u32>().ok();
    Some(json!([number(thread)?, verb, number(object)?, number(place)?]))
}

/// `0*3`: a choice, and how often; `1`: once.
fn run(word: &str) -> Option<Value> {
    let (choice, times) = word.split_once('*').unwrap_or((word, "1"));
    Some(json!([choice.parse::<u32>().ok()?, times.parse::<u32>().ok()?]))
}
