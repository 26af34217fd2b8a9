//! The schedule of a finding, as `rows`. What those look like in text is up to `columns` (one column per thread) and
//! `listing` (many threads); drawings are made of a `timeline`.

mod columns;
mod fold;
mod listing;
pub(crate) mod rows;
mod switches;
pub(crate) mod timeline;

use std::collections::BTreeSet;

use raddle_model::{Finding, ObjectId, OpKind, Place, Step, ThreadId};

use self::{rows::Row, switches::Locks};
use crate::{
    layout::style::{Ink, Style},
    words::{
        names::Names,
        place::{self, Sources},
    },
};

/// Lines that a schedule may take up, unless a screen has less room.
pub(crate) const ROWS_MAX: usize = 40;
/// More threads than this are listed, not put side by side.
const COLUMNS_MAX: usize = 4;

/// What the text above a schedule names, which is marked in it.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// What the text calls it.
    pub(crate) number: Option<usize>,
    pub(crate) when: When,
    pub(crate) thread: ThreadId,
    pub(crate) kind: Option<OpKind>,
    pub(crate) object: ObjectId,
    pub(crate) value: Option<u64>,
    pub(crate) place: Place,
}

/// When it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// A step, counted from 0, or so many accesses of its thread after it.
    Step(u64, u32),
    /// At the end: the failure, or a wait that nobody ends.
    End,
}

/// The schedule of a finding, ready to be laid out.
pub(crate) struct Schedule<'a> {
    finding: &'a Finding,
    rows: Vec<Row<'a>>,
    /// What objects are called in it.
    pub(crate) names: Names<'a>,
}

impl<'a> Schedule<'a> {
    /// With `spots` marked.
    pub(crate) fn new(finding: &'a Finding, spots: &'a [Spot], style: &Style) -> Schedule<'a> {
        Schedule::within(finding, spots, ROWS_MAX, style)
    }

    /// The same in so many lines, heading and legend not counted.
    pub(crate) fn within(
        finding: &'a Finding,
        spots: &'a [Spot],
        rows_max: usize,
        style: &Style,
    ) -> Schedule<'a> {
        let mut names = Names::new(finding);
        let rows = rows::rows(finding, spots, rows_max, &mut names, style);
        Schedule { finding, rows, names }
    }

    /// The same in so many lines, even if something must be left out for it that would not be folded: stretches between
    /// steps (numbers tell them), switches, steps that the text does not name.
    pub(crate) fn squeezed(mut self, rows_max: usize, style: &Style) -> Schedule<'a> {
        let is_named =
            |row: &Row<'_>| matches!(row, Row::Step(it) if it.spot.is_some() || it.mark.is_some());
        self.rows.retain(|it| !matches!(it, Row::Fold(_)));
        // One line says what is not there.
        let n_max = rows_max.saturating_sub(1);
        if n_max < self.rows.len() {
            self.rows.retain(|it| matches!(it, Row::Step(_)));
        }
        let mut n_over = self.rows.len().saturating_sub(n_max);
        let has_line = |row: &Row<'_>| matches!(row, Row::Step(it) if !it.is_implied && it.place.is_some_and(|it| it.line > 0));
        for is_first in [true, false] {
            // Where no line of the program is comes first, and what nobody wrote.
            self.rows.retain(|it| {
                let is_left_out = n_over > 0 && !is_named(it) && !(is_first && has_line(it));
                n_over -= usize::from(is_left_out);
                !is_left_out
            });
        }
        let is_step = |row: &&Row<'_>| matches!(row, Row::Step(it) if it.number.is_some());
        let n_shown = self.rows.iter().filter(is_step).count() as u64;
        self.rows.insert(0, rows::not_shown(self.finding, n_shown, style));
        self
    }

    /// How many rows the text names.
    pub(crate) fn n_named(&self) -> usize {
        let is_named =
            |row: &&Row<'_>| matches!(row, Row::Step(it) if it.spot.is_some() || it.mark.is_some());
        self.rows.iter().filter(is_named).count()
    }

    /// The line that says what the bars beside the rows mean.
    pub(crate) fn bars(&self, style: &Style) -> String {
        bars(&self.rows, style)
    }

    /// Where it is shown, if there is no room for it.
    pub(crate) fn elsewhere(&self, id: &str) -> String {
        format!("  schedule: {}: raddle show {id} --full\n", rows::size(self.finding))
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
        let ops = self.rows.iter().filter_map(|row| match row {
            Row::Step(cell) => Some(cell.words.op.as_str()),
            Row::Switch(_) | Row::Fold(_) => None,
        });
        let used: BTreeSet<&str> = ops
            .flat_map(str::split_whitespace)
            .filter_map(|it| it.split(['.', '[', '+', ':']).next())
            .collect();
        out.push_str(&self.names.legend(style, |it| used.contains(it)));
        out
    }
}

/// What the bars beside the rows mean, if there are any.
fn bars(rows: &[Row<'_>], style: &Style) -> String {
    let cells = rows.iter().filter_map(|row| match row {
        Row::Step(cell) => Some(cell),
        Row::Switch(_) | Row::Fold(_) => None,
    });
    let n_held: Vec<usize> = cells.flat_map(|it| it.held.iter().map(|it| it.1)).collect();
    let one = n_held.contains(&1).then(|| format!("{} holds a lock", style.bar(1)));
    let several = n_held.iter().any(|it| 1 < *it);
    let several = several.then(|| format!("{} holds several locks", style.bar(2)));
    let all: Vec<String> = one.into_iter().chain(several).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("  {}\n", style.paint(Ink::Dim, &all.join(", "))),
    }
}

/// What stands in front of a row that the text names: its number there.
fn pointer(spot: Option<&Spot>, style: &Style) -> String {
    match spot {
        None => "  ".to_owned(),
        Some(spot) => {
            let number = spot.number.map(|it| it.to_string()).unwrap_or_default();
            style.paint(Ink::Error, &style.fit(&format!("{number}{}", style.pointer()), 2))
        }
    }
}

/// Where a step is in the program's own code: where a library does it, the call that led there.
pub(crate) fn own_place<'a>(finding: &'a Finding, step: &Step) -> Option<&'a Place> {
    let place = finding.places.get(step.place as usize)?;
    let is_wrapper = |it: &Place| place::is_library(it) || place::is_header(it);
    if !is_wrapper(place) {
        return Some(place);
    }
    let stack = finding.stacks.get(step.stack as usize).map_or(&[][..], |it| it);
    let frames = || stack.iter().filter_map(|it| finding.places.get(*it as usize));
    let own = frames().find(|it| !is_wrapper(it) && it.line > 0);
    let own = own.or_else(|| frames().find(|it| !place::is_library(it) && it.line > 0));
    Some(own.unwrap_or(place))
}

/// The locks that a thread holds after so many of the steps that were kept.
pub(crate) fn held_before(finding: &Finding, n_steps: usize, thread: ThreadId) -> Vec<ObjectId> {
    let mut locks = Locks::default();
    for step in finding.steps.iter().take(n_steps) {
        locks.apply(step);
    }
    locks.held_by(thread)
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
