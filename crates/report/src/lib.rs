//! Findings, progress and closing lines as text and as JSON lines.
//!
//! Values in, strings out: nothing here prints, reads a file or asks the time. The caller says how wide
//! and how colourful the text may be ([`Style`]) and hands in the source lines.

mod brief;
pub mod closing;
mod columns;
pub mod compare;
mod delays;
mod doubt;
pub mod escape;
mod evidence;
pub mod fault;
mod fold;
pub mod formats;
mod gap;
pub mod json;
pub mod likelihood;
mod listing;
mod markup;
pub mod minimised;
pub mod named;
mod names;
pub mod number;
mod orders;
pub mod page;
mod place;
pub mod progress;
pub mod reason;
pub mod sampling;
mod schedule;
mod scope;
pub mod search;
mod stacks;
mod steps;
mod style;
pub mod suite;
mod switches;
pub mod table;
#[cfg(test)]
mod tests;
pub mod text;
mod timeline;

use raddle_model::Figures;

pub use style::{Ink, Style};
pub use text::{Shown, Sources};

/// How a campaign stands, while it runs and when it is over.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// What it has come to.
    pub figures: Figures,
    /// What was found so far, in order.
    pub findings: Vec<Tally>,
    /// How far the search has come, if it is one.
    pub search: Option<search::SearchStatus>,
}

/// A finding and how often it was met.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Its id.
    pub id: String,
    /// How often.
    pub count: u64,
    /// Where, as short as it can be said: `bank.c:31`.
    pub place: String,
    /// Does it take a very long delay?
    pub is_timing: bool,
}
