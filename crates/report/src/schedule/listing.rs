//! The schedule as a list, for more threads than fit side by side.

use std::fmt::Write as _;

use raddle_model::Finding;

use crate::{
    layout::style::{Ink, Style, width},
    schedule::{
        pointer,
        rows::{Cell, Row, size},
    },
    words::place::{self, Sources},
};

/// The schedule, one step a line, the thread's name before it.
pub(crate) fn render(
    finding: &Finding,
    rows: &[Row<'_>],
    style: &Style,
    sources: &mut Sources<'_>,
) -> String {
    let cells = || {
        rows.iter().filter_map(|row| match row {
            Row::Step(cell) => Some(cell),
            Row::Switch(_) | Row::Fold(_) => None,
        })
    };
    let thread_width =
        cells().map(|it| width(&place::thread(finding, it.thread))).max().unwrap_or(0);
    let text_width = cells().map(|it| it.words.width()).max().unwrap_or(0);
    let last = finding.n_steps_dropped + finding.steps.len() as u64;
    let number_width = last.to_string().len().max(4);
    let thread_width = thread_width.clamp(6, 16);
    let tail = cells().map(tail_width).max().unwrap_or(0);
    let room = style.width.saturating_sub(8 + number_width + thread_width + tail).max(12);
    let text_width = text_width.min(room);
    let list = List { finding, style, number_width, thread_width, text_width };
    let mut out = list.heading();
    for row in rows {
        let line = match row {
            Row::Step(cell) => list.step(cell, sources),
            Row::Switch(reason) => {
                let rule = style.rule();
                let text = format!("{rule} switch ({reason}) {rule}");
                list.note(&style.paint(Ink::Switch, &text))
            }
            Row::Fold(text) => list.note(&style.paint(Ink::Dim, text)),
        };
        let _ = writeln!(out, "{line}");
    }
    out
}

struct List<'a> {
    finding: &'a Finding,
    style: &'a Style,
    number_width: usize,
    thread_width: usize,
    text_width: usize,
}

impl List<'_> {
    fn heading(&self) -> String {
        let number = format!("{:>width$}", "step", width = self.number_width);
        let thread = self.style.fit("thread", self.thread_width);
        let heading = self.style.paint(Ink::Strong, &format!("  {number}  {thread}"));
        format!("{heading}  {}\n", size(self.finding))
    }

    fn note(&self, text: &str) -> String {
        format!("  {:width$}  {text}", "", width = self.number_width)
    }

    fn step(&self, cell: &Cell<'_>, sources: &mut Sources<'_>) -> String {
        let number = cell.number.map(|it| it.to_string()).unwrap_or_default();
        let number = format!("{number:>width$}", width = self.number_width);
        let thread = self.style.fit(&place::thread(self.finding, cell.thread), self.thread_width);
        let text = cell.words.fit(self.text_width, self.style);
        let place = cell.place.map(place::short).unwrap_or_default();
        let used = 8 + self.number_width + self.thread_width + self.text_width;
        let room = self.style.width.saturating_sub(used + width(&place) + 2);
        let tail = match cell.mark {
            Some(mark) => {
                self.style.paint(Ink::Error, &format!("{} {mark}", self.style.arrow_left()))
            }
            None => {
                let source = place::source(cell.place, sources);
                let source = self.style.cut(self.style.tame(&source).trim(), room);
                self.style.paint(Ink::Dim, &source)
            }
        };
        let number = self.style.paint(Ink::Dim, &number);
        let pointer = pointer(cell.spot, self.style);
        let bar = self.style.bar(cell.n_held(cell.thread));
        let bar = self.style.paint(Ink::Warning, bar);
        format!("{pointer}{number}  {thread} {bar}{text}  {place}  {tail}").trim_end().to_owned()
    }
}

/// Columns of the place and the mark.
fn tail_width(cell: &Cell<'_>) -> usize {
    let place = cell.place.map_or(0, |it| width(&place::short(it)));
    place + cell.mark.map_or(0, |mark| 5 + width(mark))
}
