//! A finding's schedule with all that a drawing wants: every step in its lane, why threads change, which
//! locks are held from where to where, and what orders what.
//!
//! Pages, traces for other viewers and SARIF are made of it. Nothing is folded here: those who draw
//! show a part. Rows are those of the text's schedule (`rows`), so that all say the same.

mod bands;
mod edges;

use raddle_model::{Finding, ObjectId, Place, ThreadId};

pub(crate) use self::{
    bands::Band,
    edges::{Edge, EdgeKind},
};
use crate::{
    layout::style::Style,
    schedule::{Spot, When, rows, switches},
    words::names::Names,
};

/// See the module.
pub(crate) struct Timeline<'a> {
    /// Threads, in their order.
    pub(crate) lanes: Vec<ThreadId>,
    /// Steps in order, and between them the accesses of a race that were no steps, those that the text names, and what
    /// threads were about to do at the end.
    pub(crate) rows: Vec<Row<'a>>,
    /// Which locks are held from row to row.
    pub(crate) bands: Vec<Band>,
    /// What comes before what, by rows.
    pub(crate) edges: Vec<Edge>,
}

/// What one thread did, or was about to do.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// The step's number, from 1; `None` for what was no step.
    pub(crate) number: Option<u64>,
    /// An index into the finding's steps.
    pub(crate) step: Option<usize>,
    pub(crate) thread: ThreadId,
    /// `read balance → 10`.
    pub(crate) words: String,
    pub(crate) object: ObjectId,
    pub(crate) place: Option<&'a Place>,
    /// Why this row matters: `assert failed`.
    pub(crate) mark: Option<&'static str>,
    /// Why another thread comes after it, if one does.
    pub(crate) switch: Option<String>,
    /// What the text says of it.
    pub(crate) spot: Option<&'a Spot>,
}

impl<'a> Timeline<'a> {
    /// The timeline of a finding, with what a text says of it.
    pub(crate) fn new(finding: &'a Finding, spots: &'a [Spot]) -> Timeline<'a> {
        let rows = rows(finding, spots);
        let mut lanes: Vec<ThreadId> = finding.threads.iter().map(|it| it.thread).collect();
        lanes.extend(rows.iter().map(|it| it.thread));
        lanes.sort_unstable();
        lanes.dedup();
        let row_of_step = row_of_step(&rows, finding.steps.len());
        let bands = bands::bands(finding, &row_of_step);
        let edges = edges::edges(finding, &rows, &row_of_step);
        Timeline { lanes, rows, bands, edges }
    }

    /// The lane of a thread.
    pub(crate) fn lane(&self, thread: ThreadId) -> usize {
        self.lanes.binary_search(&thread).expect("bug: every row's thread has a lane")
    }
}

fn rows<'a>(finding: &'a Finding, spots: &'a [Spot]) -> Vec<Row<'a>> {
    let style = Style { color: false, unicode: true, width: 200, full: true };
    let reasons = switches::reasons(finding);
    let all = rows::rows(finding, spots, super::ROWS_MAX, &mut Names::new(finding), &style);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for row in all {
        match row {
            rows::Row::Step(cell) => {
                let step = cell.number.map(|it| (it - finding.n_steps_dropped - 1) as usize);
                let of_step = step.map(|it| finding.steps[it].object);
                let words = format!("{}{}", cell.words.op, cell.words.result);
                let of_spot = cell.spot.filter(|it| it.when != When::End).map(|it| it.object);
                let object = of_step.or(of_spot).or_else(|| pending_object(finding, &cell));
                rows.push(Row {
                    number: cell.number,
                    step,
                    thread: cell.thread,
                    words,
                    object: object.unwrap_or(ObjectId::NONE),
                    place: cell.place.filter(|it| **it != Place::default()),
                    mark: cell.mark,
                    switch: None,
                    spot: cell.spot,
                });
            }
            // Reasons are taken from the steps: the last row before a switch may be no step.
            rows::Row::Switch(_) | rows::Row::Fold(_) => {}
        }
    }
    for idx in 0..rows.len() {
        let is_last = |it: &usize| rows.get(idx + 1).is_some_and(|next| next.step == Some(it + 1));
        let step = rows[..=idx].iter().rev().find_map(|it| it.step);
        if let Some(step) = step.filter(is_last) {
            rows[idx].switch = reasons[step].clone();
        }
    }
    rows
}

/// What a row that is no step is about: what its thread waits for, or the memory of a race.
fn pending_object(finding: &Finding, cell: &rows::Cell<'_>) -> Option<ObjectId> {
    if let Some(evidence) = finding.evidence.as_deref().filter(|it| !it.accesses.is_empty()) {
        return Some(evidence.memory_id);
    }
    let state = finding.threads.iter().find(|it| it.thread == cell.thread)?;
    state.waits_for.as_ref().map(|it| it.object_id)
}

/// For each step, its row.
fn row_of_step(rows: &[Row<'_>], n_steps: usize) -> Vec<usize> {
    let mut row_of_step = vec![0; n_steps];
    for (idx, row) in rows.iter().enumerate() {
        if let Some(step) = row.step {
            row_of_step[step] = idx;
        }
    }
    row_of_step
}

#[cfg(test)]
mod tests;
