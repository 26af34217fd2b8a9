//! Pages of HTML, each one file with all that it needs: nothing comes from elsewhere, and the page says so to
//! the browser.
//!
//! What comes from the program under test (names, output, sources) is text, never markup: here it goes
//! through `escape`, in data for scripts through `data`, and scripts put it into the page as text.

mod compare;
mod curve;
mod finding;
mod lanes;
mod run;
mod sources;
mod tree;

use serde::Serialize;

pub use self::{
    compare::{Heading, compare},
    finding::{FindingPage, View, finding, passing},
    run::{FileSteps, RunFigures, RunFinding, RunPage, run},
    sources::{Files, Source},
};
use crate::layout::markup::escape;

/// Colours, letters, tables: what all pages share.
pub(crate) const BASE: &str = include_str!("pages/base.css");

/// The parts of a page.
pub(crate) struct Document<'a> {
    pub(crate) title: &'a str,
    /// Style sheets after [`BASE`].
    pub(crate) style: &'a str,
    /// Markup, escaped where it must be.
    pub(crate) body: &'a str,
    /// Values for the script, made by [`data`]; empty for none.
    pub(crate) data: &'a str,
    /// Our own script; empty for none.
    pub(crate) script: &'a str,
}

/// The whole file.
pub(crate) fn document(parts: &Document<'_>) -> String {
    let Document { title, style, body, data, script } = parts;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
    let title = escape(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <title>{title}</title>\n<style>\n{BASE}{style}</style>\n{body}"
    );
    if !data.is_empty() {
        out.push_str("<script type=\"application/json\" id=\"data\">");
        out.push_str(data);
        out.push_str("</script>\n");
    }
    if !script.is_empty() {
        out.push_str("<script>\n");
        out.push_str(script);
        out.push_str("</script>\n");
    }
    out
}

/// A value as JSON that may stand in a `script` element: no `<` in it, so that no text can end the element
/// or begin a comment.
pub(crate) fn data(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("bug: these values are plain data");
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests;
