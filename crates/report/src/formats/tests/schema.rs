//! What SARIF 2.1.0 says about the part of it that we write: which properties each object may have, which it
//! must have, and what they are. Written from the standard (sections 3.13 to 3.38); anything that is not
//! in this table is an error, so that a new property has to be looked up there.

use serde_json::Value;

/// What a value may be.
enum Is {
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number from this one.
    From(i64),
    /// A reference: no characters that a URI may not have.
    Uri,
    One(&'static str),
    /// An array of these, with at least so many.
    Many(&'static str, usize),
    /// An object whose values are all such.
    Map(&'static Is),
}

/// Name of the object; its properties, and whether they are required.
type Rule = (&'static str, &'static [(&'static str, bool, Is)]);

const RULES: &[Rule] = &[
    (
        "sarifLog",
        &[
            ("$schema", false, Is::Uri),
            ("version", true, Is::Word(&["2.1.0"])),
            ("runs", true, Is::Many("run", 0)),
        ],
    ),
    (
        "run",
        &[
            ("tool", true, Is::One("tool")),
            ("columnKind", false, Is::Word(&["utf16CodeUnits", "unicodeCodePoints"])),
            ("originalUriBaseIds", false, Is::Map(&Is::One("artifactLocation"))),
            ("results", false, Is::Many("result", 0)),
        ],
    ),
    ("tool", &[("driver", true, Is::One("toolComponent"))]),
    (
        "toolComponent",
        &[
            ("name", true, Is::Text),
            ("semanticVersion", false, Is::Text),
            ("rules", false, Is::Many("reportingDescriptor", 0)),
        ],
    ),
    (
        "reportingDescriptor",
        &[
            ("id", true, Is::Text),
            ("name", false, Is::Text),
            ("shortDescription", false, Is::One("message")),
        ],
    ),
    (
        "result",
        &[
            ("ruleId", false, Is::Text),
            ("ruleIndex", false, Is::From(-1)),
            ("level", false, Is::Word(&["none", "note", "warning", "error"])),
            ("message", true, Is::One("message")),
            ("locations", false, Is::Many("location", 0)),
            ("relatedLocations", false, Is::Many("location", 0)),
            ("codeFlows", false, Is::Many("codeFlow", 0)),
            ("partialFingerprints", false, Is::Map(&Is::Text)),
            ("properties", false, Is::Map(&Is::Text)),
        ],
    ),
    ("message", &[("text", true, Is::Text)]),
    (
        "codeFlow",
        &[("message", false, Is::One("message")), ("threadFlows", true, Is::Many("threadFlow", 1))],
    ),
    (
        "threadFlow",
        &[
            ("id", false, Is::Text),
            ("message", false, Is::One("message")),
            ("locations", true, Is::Many("threadFlowLocation", 1)),
        ],
    ),
    (
        "threadFlowLocation",
        &[
            ("location", false, Is::One("location")),
            ("executionOrder", false, Is::From(-1)),
            ("importance", false, Is::Word(&["important", "essential", "unimportant"])),
        ],
    ),
    (
        "location",
        &[
            ("physicalLocation", false, Is::One("physicalLocation")),
            ("message", false, Is::One("message")),
        ],
    ),
    (
        "physicalLocation",
        &[
            ("artifactLocation", false, Is::One("artifactLocation")),
            ("region", false, Is::One("region")),
        ],
    ),
    ("artifactLocation", &[("uri", false, Is::Uri), ("uriBaseId", false, Is::Text)]),
    ("region", &[("startLine", false, Is::From(1)), ("startColumn", false, Is::From(1))]),
];

/// Panics at the first thing that the standard does not allow.
#[track_caller]
pub(super) fn check(text: &str) {
    let log: Value = serde_json::from_str(text).expect("SARIF is JSON");
    object(&log, "sarifLog", "");
    for run in log["runs"].as_array().expect("checked") {
        references(run);
        orders(run);
    }
}

fn object(value: &Value, name: &str, at: &str) {
    let (_, properties) = RULES.iter().find(|it| it.0 == name).expect("the table has it");
    let object = value.as_object().unwrap_or_else(|| panic!("{at}: no {name}"));
    for key in object.keys() {
        assert!(properties.iter().any(|it| it.0 == key), "{at}: {name} has no `{key}`");
    }
    for (key, is_required, is) in *properties {
        match object.get(*key) {
            None => assert!(!is_required, "{at}: `{key}` is missing"),
            Some(value) => check_value(value, is, &format!("{at}/{key}")),
        }
    }
}

fn check_value(value: &Value, is: &Is, at: &str) {
    match is {
        Is::Text => assert!(value.is_string(), "{at}: {value}"),
        Is::Word(words) => {
            assert!(value.as_str().is_some_and(|it| words.contains(&it)), "{at}: {value}");
        }
        Is::From(least) => {
            assert!(value.as_i64().is_some_and(|it| it >= *least), "{at}: {value}");
        }
        Is::Uri => {
            let is_uri = |it: &str| {
                let is_allowed = |byte: u8| {
                    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
                };
                !it.is_empty() && it.bytes().all(is_allowed)
            };
            assert!(value.as_str().is_some_and(is_uri), "{at}: {value}");
        }
        Is::One(name) => object(value, name, at),
        Is::Many(name, least) => {
            let all = value.as_array().unwrap_or_else(|| panic!("{at}: no array"));
            assert!(all.len() >= *least, "{at}: too few");
            for (idx, it) in all.iter().enumerate() {
                object(it, name, &format!("{at}/{idx}"));
            }
        }
        Is::Map(is) => {
            let all = value.as_object().unwrap_or_else(|| panic!("{at}: no object"));
            for (key, it) in all {
                check_value(it, is, &format!("{at}/{key}"));
            }
        }
    }
}

/// Rules and bases that are referred to are there (3.27.6, 3.4.4).
fn references(run: &Value) {
    let rules = run["tool"]["driver"]["rules"].as_array().expect("checked");
    for result in run["results"].as_array().expect("checked") {
        let index = result["ruleIndex"].as_u64().expect("checked") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    if run.to_string().contains("\"uriBaseId\":\"SRCROOT\"") {
        assert!(run["originalUriBaseIds"]["SRCROOT"]["uri"].as_str().unwrap().ends_with('/'));
    }
}

/// Within a thread, and across threads, steps have an order of their own (3.38.11).
fn orders(run: &Value) {
    for result in run["results"].as_array().expect("checked") {
        for flow in result["codeFlows"].as_array().into_iter().flatten() {
            let mut all: Vec<u64> = Vec::new();
            for thread in flow["threadFlows"].as_array().expect("checked") {
                let steps = thread["locations"].as_array().expect("checked");
                let orders = steps.iter().filter_map(|it| it["executionOrder"].as_u64());
                let orders: Vec<u64> = orders.collect();
                assert!(orders.is_sorted(), "{thread}");
                all.extend(orders);
            }
            let n_all = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), n_all, "two steps at once");
        }
    }
}
