//! Hand-made findings in the formats of other tools.

use expect_test::{Expect, expect};
use raddle_model::{Fault, Finding, OpKind, Place};
use serde_json::Value;

use super::{
    Item, Suite, annotations, code_quality, junit, markdown, markdown_of_run, perfetto, sarif,
};
use crate::{
    finding::shown::Shown,
    tests::{analyses, samples},
};

mod as_annotations;
mod as_code_quality;
mod as_junit;
mod as_markdown;
mod as_sarif;
mod as_trace;
mod schema;

/// Names and messages that would be something else if they were not escaped.
const EVIL: &str = "]]>\"'<b>&amp;`%0A::error::\x1b[31m|*";

fn item<'a>(finding: &'a Finding, id: &'a str) -> Item<'a> {
    let shown = Shown {
        finding,
        id,
        seed: Some(7),
        reproduced: None,
        base: "/home/me",
        explanation: None,
        test: None,
    };
    Item { shown, program: "bank.c", reason: Vec::new() }
}

fn sources(place: &Place) -> Option<String> {
    samples::source_line(place)
}

fn evil() -> Finding {
    let mut finding = samples::assertion();
    finding.fault = Fault::Said(EVIL.into());
    finding.output = format!("{EVIL}\n```\nmore\n");
    finding.threads[1].name = EVIL.into();
    for place in finding.sites.iter_mut().chain(&mut finding.places) {
        place.file = format!("/home/me/a b,c:%{}.c", place.line);
        place.function = EVIL.into();
    }
    finding
}
