//! The schedule with one column per thread, the place and the source line to the right. A bar stands left of
//! what a thread does while it holds a lock, a double one for several, and where it would stand while others go on.

use std::fmt::Write as _;

use raddle_model::{Finding, OpKind, ThreadId};

use crate::{
    layout::style::{Ink, Style, width},
    schedule::{
        pointer,
        rows::{Cell, Row, size},
    },
    words::place::{self, Sources},
};

/// The function that a thread runs does not widen its column beyond this.
const LABEL_MAX: usize = 14;
/// A column narrower than this says nothing.
const COLUMN_MIN: usize = 12;
/// Source text shorter than this says nothing.
const SOURCE_MIN: usize = 16;
/// Columns between columns.
const GAP: usize = 2;

/// The schedule, or `None` if it is too wide for the style.
pub(crate) fn render(
    finding: &Finding,
    threads: &[ThreadId],
    rows: &[Row<'_>],
    style: &Style,
    sources: &mut Sources<'_>,
) -> Option<String> {
    let grid = Grid::new(finding, threads, rows, style)?;
    let mut out = String::new();
    grid.heading(&mut out);
    for row in rows {
        match row {
            Row::Step(cell) => grid.step(&mut out, cell, sources),
            Row::Switch(reason) => {
                let rule = style.rule();
                let text = style.paint(Ink::Switch, &format!("{rule} switch ({reason}) {rule}"));
                grid.note(&mut out, &text);
            }
            Row::Fold(text) => grid.note(&mut out, &style.paint(Ink::Dim, text)),
        }
    }
    Some(out)
}

struct Grid<'a> {
    finding: &'a Finding,
    style: &'a Style,
    threads: &'a [ThreadId],
    /// For each thread, the numbers of the steps between which it was alive.
    lives: Vec<(u64, u64)>,
    number_width: usize,
    /// Without the bars.
    widths: Vec<usize>,
    /// For each thread, whether it holds a lock somewhere.
    has_bar: Vec<bool>,
    /// The file whose name is left out of places, because it is always the same and there is no room.
    one_file: Option<&'a str>,
    place_width: usize,
    source_width: usize,
}

impl<'a> Grid<'a> {
    fn new(
        finding: &'a Finding,
        threads: &'a [ThreadId],
        rows: &[Row<'a>],
        style: &'a Style,
    ) -> Option<Grid<'a>> {
        let cells = || {
            rows.iter().filter_map(|row| match row {
                Row::Step(cell) => Some(cell),
                Row::Switch(_) | Row::Fold(_) => None,
            })
        };
        let last = finding.n_steps_dropped + finding.steps.len() as u64;
        let number_width = last.to_string().len().max(4);
        let naturals: Vec<usize> = threads
            .iter()
            .map(|thread| {
                let texts = cells().filter(|it| it.thread == *thread).map(|it| it.words.width());
                let label = width(&place::thread(finding, *thread));
                let wanted = width(&place::thread_in_passing(finding, *thread));
                texts.chain([label.min(LABEL_MAX).max(wanted)]).max().unwrap_or(0)
            })
            .collect();
        let has_bar: Vec<bool> =
            threads.iter().map(|it| cells().any(|cell| cell.n_held(*it) > 0)).collect();
        let bars = has_bar.iter().filter(|it| **it).count();
        let lay_out = |only_lines: bool| {
            // Functions without a line do not widen the column beyond a label.
            let place = |it: &Cell<'_>| match it.place {
                Some(place) if place.line == 0 => width(&place_text(it, only_lines)).min(LABEL_MAX),
                _ => width(&place_text(it, only_lines)),
            };
            let place_width = cells().map(place).max().unwrap_or(0);
            let tail = cells().map(|it| place_width + mark_width(it)).max().unwrap_or(0);
            let room = style.width.checked_sub(2 + number_width + GAP + bars + tail)?;
            Some((share(&naturals, room)?, place_width, only_lines))
        };
        let is_whole = |layout: &(Vec<usize>, usize, bool)| layout.0 == naturals;
        let wide = lay_out(false);
        let file = one_file(cells());
        let narrow = || lay_out(true).filter(|_| file.is_some());
        let (widths, place_width, only_lines) = match wide {
            Some(layout) if is_whole(&layout) => layout,
            wide => narrow().or(wide)?,
        };
        let used = widths.iter().map(|it| it + GAP).sum::<usize>() + bars;
        let source_width =
            style.width.saturating_sub(2 + number_width + GAP + used + place_width + GAP);
        let lives = threads.iter().map(|it| life(finding, *it)).collect();
        Some(Grid {
            finding,
            style,
            threads,
            lives,
            number_width,
            widths,
            has_bar,
            one_file: file.filter(|_| only_lines),
            place_width,
            source_width,
        })
    }

    fn heading(&self, out: &mut String) {
        let mut line = format!("  {:>width$}", "step", width = self.number_width);
        for (idx, thread) in self.threads.iter().enumerate() {
            let width = self.widths[idx] + usize::from(self.has_bar[idx]);
            let label = self.style.fit(&place::thread(self.finding, *thread), width);
            let _ = write!(line, "  {label}");
        }
        let mut sizes = vec![size(self.finding)];
        if let Some(file) = self.one_file {
            let lines = format!("lines of {file}");
            sizes = vec![format!("{}, {lines}", sizes[0]), lines];
        }
        let room = self.style.width.saturating_sub(width(&line) + GAP);
        line = match sizes.iter().find(|it| width(it) <= room) {
            Some(size) => format!("{}  {size}", self.style.paint(Ink::Strong, &line)),
            None => self.style.paint(Ink::Strong, line.trim_end()),
        };
        let _ = writeln!(out, "{line}");
        if self.one_file.is_some() && sizes.iter().all(|it| room < width(it)) {
            self.note(out, &self.style.paint(Ink::Dim, &sizes[0]));
        }
    }

    fn note(&self, out: &mut String, text: &str) {
        let _ = writeln!(out, "  {:width$}  {text}", "", width = self.number_width);
    }

    fn step(&self, out: &mut String, cell: &Cell<'_>, sources: &mut Sources<'_>) {
        let number = cell.number.map(|it| it.to_string()).unwrap_or_default();
        let number = format!("{number:>width$}", width = self.number_width);
        let pointer = pointer(cell.spot, self.style);
        let mut line = format!("{pointer}{}", self.style.paint(Ink::Dim, &number));
        for (idx, (thread, width)) in self.threads.iter().zip(&self.widths).enumerate() {
            let (born, dead) = self.lives[idx];
            let is_alive = cell.number.is_none_or(|it| born <= it && it <= dead);
            let n_held = cell.n_held(*thread);
            let bar = match self.has_bar[idx] {
                true => self.style.paint(Ink::Warning, self.style.bar(n_held)),
                false => String::new(),
            };
            let text = match *thread == cell.thread {
                true => cell.words.fit(*width, self.style),
                false if is_alive && n_held == 0 => {
                    self.style.paint(Ink::Dim, &self.style.fit(".", *width))
                }
                false => self.style.fit("", *width),
            };
            let _ = write!(line, "  {bar}{text}");
        }
        self.tail(&mut line, cell, sources);
        let _ = writeln!(out, "{}", line.trim_end());
    }

    /// Place, then the mark or the source text.
    fn tail(&self, line: &mut String, cell: &Cell<'_>, sources: &mut Sources<'_>) {
        let _ = write!(
            line,
            "  {}",
            self.style.fit(&place_text(cell, self.one_file.is_some()), self.place_width)
        );
        if let Some(mark) = cell.mark {
            let mark = format!("{} {mark}", self.style.arrow_left());
            let _ = write!(line, "  {}", self.style.paint(Ink::Error, &mark));
        } else if self.source_width >= SOURCE_MIN {
            let source = place::source(cell.place, sources);
            let source = self.style.cut(self.style.tame(&source).trim(), self.source_width);
            let _ = write!(line, "  {}", self.style.paint(Ink::Dim, &source));
        }
    }
}

fn place_text(cell: &Cell<'_>, only_line: bool) -> String {
    match cell.place {
        Some(place) if only_line && place.line > 0 => format!(":{}", place.line),
        Some(place) => place::short(place),
        None => String::new(),
    }
}

/// The one file that all steps are in which have one.
fn one_file<'a, 'c>(cells: impl Iterator<Item = &'c Cell<'a>>) -> Option<&'a str>
where
    'a: 'c,
{
    let files = cells.filter_map(|it| it.place).map(|it| it.file.as_str());
    let mut files = files.filter(|it| !it.is_empty());
    let first = files.next()?;
    files.all(|it| it == first).then(|| first.rsplit('/').next().unwrap_or(first))
}

fn mark_width(cell: &Cell<'_>) -> usize {
    cell.mark.map_or(0, |mark| GAP + 3 + width(mark))
}

/// Widths for columns that want `naturals`, each followed by a gap; the widest give way first.
fn share(naturals: &[usize], room: usize) -> Option<Vec<usize>> {
    let room = room.checked_sub(GAP * naturals.len())?;
    let mut cap = naturals.iter().copied().max().unwrap_or(0);
    let total = |cap: usize| naturals.iter().map(|it| (*it).min(cap)).sum::<usize>();
    while total(cap) > room && cap > 0 {
        cap -= 1;
    }
    let is_readable = naturals.iter().all(|it| (*it).min(cap) >= COLUMN_MIN.min(*it));
    is_readable.then(|| naturals.iter().map(|it| (*it).min(cap)).collect())
}

/// The first and the last step of a thread's life.
fn life(finding: &Finding, thread: ThreadId) -> (u64, u64) {
    let number = |idx: usize| finding.n_steps_dropped + idx as u64 + 1;
    let kind_at = |kind: OpKind| {
        finding.steps.iter().position(|it| it.thread == thread && it.kind == kind).map(number)
    };
    (kind_at(OpKind::Start).unwrap_or(0), kind_at(OpKind::Finish).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn the_widest_column_gives_way() {
        assert_eq!(share(&[10, 30, 12], 70), Some(vec![10, 30, 12]));
        assert_eq!(share(&[10, 30, 12], 50), Some(vec![10, 22, 12]));
        assert_eq!(share(&[4, 30, 30], 30), None);
        assert_eq!(share(&[4, 6], 14), Some(vec![4, 6]));
    }
}
