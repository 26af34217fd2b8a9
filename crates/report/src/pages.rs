//! Pages of HTML, each one file with all that it needs: nothing comes from elsewhere, and the page says so to
//! the browser.
//!
//! What comes from the program under test (names, output, sources) is text, never markup: `html!` escapes whatever is not
//! `PreEscaped`, which only style sheets, scripts and their `data` are; and scripts put it into the page as text.

mod compare;
mod curve;
mod finding;
mod lanes;
mod run;
mod sources;
mod tree;

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

pub use self::{
    compare::{Heading, compare},
    finding::{FindingPage, View, finding, passing},
    run::{FileSteps, RunFigures, RunFinding, RunPage, run},
    sources::{Files, Source},
};

/// Colours, letters, tables: what all pages share.
pub(crate) const BASE: &str = include_str!("pages/base.css");

/// The parts of a page.
pub(crate) struct Document<'a> {
    pub(crate) title: &'a str,
    /// Style sheets after [`BASE`].
    pub(crate) style: &'a str,
    pub(crate) body: Markup,
    /// Values for the script, made by [`data`]; empty for none.
    pub(crate) data: &'a str,
    /// Our own script; empty for none.
    pub(crate) script: &'a str,
}

/// The whole file.
pub(crate) fn document(parts: &Document<'_>) -> String {
    let Document { title, style, body, data, script } = parts;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta http-equiv="Content-Security-Policy" content=(policy);
            title { (title) }
            style { (PreEscaped(BASE)) (PreEscaped(style)) }
            (body)
            @if !data.is_empty() {
                script type="application/json" id="data" { (PreEscaped(data)) }
            }
            @if !script.is_empty() { script { (PreEscaped(script)) } }
        }
    };
    // What the program wrote may have any letter.
    page.into_string().replace(|it: char| it.is_control() && it != '\n' && it != '\t', "\u{fffd}")
}

/// A value as JSON that may stand in a `script` element: no `<` in it, so that no text can end the element
/// or begin a comment.
pub(crate) fn data(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("bug: these values are plain data");
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A length of a drawing: `12.5`.
pub(crate) fn px(length: f64) -> String {
    format!("{length:.1}")
}

#[cfg(test)]
mod tests;
