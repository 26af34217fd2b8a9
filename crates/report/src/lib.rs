//! Findings, progress and closing lines as text, JSON lines, pages, and as other tools read them.
//!
//! Values in, strings out: nothing here prints, reads a file or asks the time. The caller says how wide
//! and how colourful the text may be ([`Style`]) and hands in the source lines.
//!
//! Folders, each of which knows only those above it: `layout`, `words`, `schedule`, `finding` (a section of a
//! finding's report is a file of it), `campaign`, `formats` (a file for each), `pages` (a file for each). `manual` stands
//! apart: what `raddle explain` prints.

pub mod campaign;
pub mod finding;
pub mod formats;
pub mod layout;
pub mod manual;
pub mod pages;
mod schedule;
#[cfg(test)]
mod tests;
pub mod words;

pub use campaign::status::{Status, Tally};
pub use finding::shown::Shown;
pub use layout::style::{Ink, Style};
pub use words::place::Sources;
