//! The schedule of a finding, as `rows`. What those look like in text is up to `columns` (one column per thread) and
//! `listing` (many threads); drawings are made of a `timeline`.

mod columns;
mod fold;
mod listing;
pub(crate) mod rows;
mod switches;
pub(crate) mod timeline;

use raddle_model::{Explanation, Finding, ThreadId};

use self::rows::Row;
use crate::{
    layout::style::Style,
    words::{names::Names, place::Sources},
};

/// More threads than this are listed, not put side by side.
const COLUMNS_MAX: usize = 4;

/// The schedule of a finding, ready to be laid out.
pub(crate) struct Schedule<'a> {
    finding: &'a Finding,
    rows: Vec<Row<'a>>,
    /// What objects are called in it.
    pub(crate) names: Names<'a>,
}

impl<'a> Schedule<'a> {
    /// `why` marks the steps that make it fail.
    pub(crate) fn new(
        finding: &'a Finding,
        why: Option<&Explanation>,
        style: &Style,
    ) -> Schedule<'a> {
        let mut names = Names::new(finding);
        let rows = rows::rows(finding, &reason_steps(finding, why), &mut names, style);
        Schedule { finding, rows, names }
    }

    /// With heading and legend; empty if there is nothing to show.
    pub(crate) fn render(&self, style: &Style, sources: &mut Sources<'_>) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let threads = threads(self.finding, &self.rows);
        let columns = if threads.len() <= COLUMNS_MAX {
            columns::render(self.finding, &threads, &self.rows, style, sources)
        } else {
            None
        };
        let mut out =
            columns.unwrap_or_else(|| listing::render(self.finding, &self.rows, style, sources));
        out.push_str(&self.names.legend(style));
        out
    }
}

/// Indices of the steps that the reason speaks of.
fn reason_steps(finding: &Finding, why: Option<&Explanation>) -> Vec<usize> {
    let reason = why.and_then(|it| it.reason.as_ref());
    let points = reason.iter().flat_map(|it| &it.orders).flat_map(|it| [&it.first, &it.second]);
    let steps = points.filter_map(|it| it.step?.checked_sub(finding.n_steps_dropped));
    steps.filter_map(|it| usize::try_from(it).ok()).collect()
}

/// Threads that the rows speak of, in order.
fn threads(finding: &Finding, rows: &[Row<'_>]) -> Vec<ThreadId> {
    let mut threads: Vec<ThreadId> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Step(cell) => Some(cell.thread),
            Row::Switch(_) | Row::Fold(_) => None,
        })
        .collect();
    threads.extend(finding.cycle.iter().copied());
    threads.sort_unstable();
    threads.dedup();
    threads
}
