//! A schedule as values for the page's script: tables of strings, and rows of numbers into them. Ten
//! thousand steps take about half a megabyte so.

use std::collections::HashMap;

use raddle_model::{Finding, Frame, Place, Point};
use serde::Serialize;

use super::{finding::View, sources::Quotes};
use crate::{
    schedule::{
        Spot, When, rows,
        timeline::{Band, Edge, EdgeKind, Row, Timeline},
    },
    words::{access, names::Names, place},
};

/// One schedule.
#[derive(Debug, Serialize)]
pub(super) struct Lanes {
    /// What the button says.
    label: String,
    /// `43 steps, 5 switches`.
    size: String,
    /// Steps before the first that is there.
    dropped: u64,
    threads: Vec<Lane>,
    /// Objects: short name, and in full.
    objects: Vec<(String, String)>,
    /// Places: file (or -1), line, as it is shown, function.
    places: Vec<(i64, u32, String, String)>,
    /// Texts of steps, marks, and why threads change.
    texts: Vec<String>,
    /// Step number (0 for none), lane, text, object, place, mark, reason and stack (0 for none).
    rows: Vec<[u64; 8]>,
    /// Lane, lock, first row, last row (or -1), depth.
    bands: Vec<[i64; 5]>,
    /// First row, last row, kind.
    edges: Vec<(usize, usize, &'static str)>,
    /// Rows that the text names, and what it calls them: 1, 2, 3.
    named: Vec<(usize, usize)>,
    /// Stacks: the places of their frames. The first is of those that are not known.
    stacks: Vec<Vec<u64>>,
    /// The row whose value differs from the same one of another schedule.
    difference: Option<usize>,
}

/// A thread.
#[derive(Debug, Serialize)]
struct Lane {
    /// `T1`.
    name: String,
    /// What the program calls it, or the function that it runs.
    title: String,
    /// Where it was created.
    created: String,
    /// How it ended.
    end: String,
}

/// The values of a schedule.
pub(super) fn lanes(view: &View<'_>, spots: &[Spot], base: &str, quotes: &mut Quotes) -> Lanes {
    let finding = view.finding;
    let timeline = Timeline::new(finding, spots);
    let mut maker = Maker { base, quotes, texts: Texts::default(), places: Places::default() };
    let mut stacks: Vec<Vec<u64>> =
        finding.stacks.iter().map(|it| maker.stack(finding, it)).collect();
    let mut rows: Vec<[u64; 8]> =
        timeline.rows.iter().map(|it| maker.row(finding, &timeline, it)).collect();
    maker.add_stacks(finding, &timeline, &mut rows, &mut stacks);
    let mut names = Names::new(finding);
    let mut objects = vec![(String::new(), String::new())];
    for idx in 1..finding.objects.len() {
        let id = raddle_model::ObjectId(idx as u32);
        objects.push((names.short(id), finding.objects[idx].plain()));
    }
    let named: Vec<(usize, usize)> =
        spots.iter().filter_map(|it| self::named(finding, &timeline, it)).collect();
    // An ordering that the text leaves out, since others imply it, is not drawn.
    let is_told =
        |it: &(usize, usize, &str)| named.is_empty() || named.iter().any(|of| of.0 == it.0);
    let orders = orders(view, &timeline).into_iter().filter(is_told);
    let edges = timeline.edges.iter().map(edge).chain(orders).collect();
    Lanes {
        label: view.label.to_owned(),
        size: rows::size(finding),
        dropped: finding.n_steps_dropped,
        threads: timeline.lanes.iter().map(|it| lane(finding, *it, base)).collect(),
        objects,
        places: maker.places.all,
        texts: maker.texts.all,
        rows,
        bands: timeline.bands.iter().map(|it| band(&timeline, it)).collect(),
        edges,
        named,
        stacks,
        difference: view.difference.and_then(|it| row_of(finding, &timeline, it)),
    }
}

/// From what comes first to what comes later, for each order that makes it fail.
fn orders(view: &View<'_>, timeline: &Timeline<'_>) -> Vec<(usize, usize, &'static str)> {
    let row = |point: &Point| match point.step {
        Some(step) => row_of(view.finding, timeline, step),
        None => {
            let is_end = |it: &Row<'_>| it.number.is_none() && it.thread == point.thread;
            timeline.rows.iter().rposition(is_end)
        }
    };
    let ends = view.orders.iter().filter_map(|it| Some((row(&it.first)?, row(&it.second)?)));
    ends.map(|(from, to)| (from.min(to), from.max(to), "reason")).collect()
}

/// The row of a line of the text, and its number there.
fn named(finding: &Finding, timeline: &Timeline<'_>, spot: &Spot) -> Option<(usize, usize)> {
    let is_its = |it: &Row<'_>| it.spot.is_some_and(|own| std::ptr::eq(own, spot));
    let row = match spot.when {
        When::Step(step, 0) => row_of(finding, timeline, step)?,
        When::Step(..) => timeline.rows.iter().position(is_its)?,
        When::End => timeline.rows.iter().rposition(|it| it.thread == spot.thread)?,
    };
    Some((row, spot.number?))
}

/// The row of a step, counted from 0 at the execution's start.
fn row_of(finding: &Finding, timeline: &Timeline<'_>, step: u64) -> Option<usize> {
    let idx = usize::try_from(step.checked_sub(finding.n_steps_dropped)?).ok()?;
    timeline.rows.iter().position(|it| it.step == Some(idx))
}

fn lane(finding: &Finding, thread: raddle_model::ThreadId, base: &str) -> Lane {
    let state = finding.threads.iter().find(|it| it.thread == thread);
    let whole = place::thread(finding, thread);
    let name = format!("T{}", thread.0);
    let title = whole.strip_prefix(&name).unwrap_or_default().trim().to_owned();
    let created = state.filter(|it| it.parent.is_some());
    let created = created.map(|it| place::with_function(&it.created_at, base)).unwrap_or_default();
    let end = match state {
        Some(it) if it.is_finished => "finished".to_owned(),
        Some(it) if finding.thread == Some(it.thread) => "failed".to_owned(),
        Some(it) => match (&it.waits_for, it.pending) {
            (Some(wait), _) => format!("waits for {}", wait.object.plain()),
            (None, Some(pending)) => format!("about to {}", pending.word()),
            (None, None) => "running".to_owned(),
        },
        None => String::new(),
    };
    Lane { name, title, created, end }
}

fn band(timeline: &Timeline<'_>, band: &Band) -> [i64; 5] {
    let lane = timeline.lane(band.thread) as i64;
    let to = band.to.map_or(-1, |it| it as i64);
    [lane, i64::from(band.lock.0), band.from as i64, to, band.depth as i64]
}

fn edge(edge: &Edge) -> (usize, usize, &'static str) {
    let kind = match edge.kind {
        EdgeKind::Order => "order",
        EdgeKind::Value => "value",
        EdgeKind::Stale => "stale",
        EdgeKind::Passed => "passed",
        EdgeKind::Race => "race",
    };
    (edge.from, edge.to, kind)
}

struct Maker<'a> {
    base: &'a str,
    quotes: &'a mut Quotes,
    texts: Texts,
    places: Places,
}

impl Maker<'_> {
    fn row(&mut self, finding: &Finding, timeline: &Timeline<'_>, row: &Row<'_>) -> [u64; 8] {
        let text = self.texts.number(&row.words);
        let place = row.place.map_or(0, |it| self.place(it));
        let mark = self.texts.number(row.mark.unwrap_or_default());
        let reason = self.texts.number(row.switch.as_deref().unwrap_or_default());
        let lane = timeline.lane(row.thread) as u64;
        let number = row.number.unwrap_or(0);
        let stack = row.step.map_or(0, |it| u64::from(finding.steps[it].stack));
        [number, lane, text, u64::from(row.object.0), place, mark, reason, stack]
    }

    /// The number of a place, from 1.
    fn place(&mut self, place: &Place) -> u64 {
        if let Some(number) = self.places.numbers.get(place) {
            return *number;
        }
        let file = if place::is_library(place) { None } else { self.quotes.number(place) };
        let file = file.map_or(-1, |it| it as i64);
        // Where there is no file, the function is what is shown.
        let is_said = place.file.is_empty();
        let function = if is_said { String::new() } else { place::function(&place.function) };
        let entry = (file, place.line, place::long(place, self.base), function);
        self.places.all.push(entry);
        let number = self.places.all.len() as u64;
        self.places.numbers.insert(place.clone(), number);
        number
    }

    /// The frames of a stack of the finding.
    fn stack(&mut self, finding: &Finding, stack: &[u32]) -> Vec<u64> {
        let places = stack.iter().filter_map(|it| finding.places.get(*it as usize));
        places.map(|it| self.place(it)).collect()
    }

    /// Adds the stacks of accesses of a race, and those in which threads ended, at their last rows.
    fn add_stacks(
        &mut self,
        finding: &Finding,
        timeline: &Timeline<'_>,
        rows: &mut [[u64; 8]],
        stacks: &mut Vec<Vec<u64>>,
    ) {
        if stacks.is_empty() {
            stacks.push(Vec::new());
        }
        let mut add = |row: usize, stack: &[Frame]| {
            let [.., number] = &mut rows[row];
            if *number == 0 {
                *number = stacks.len() as u64;
                stacks.push(stack.iter().map(|it| self.place(it)).collect());
            }
        };
        let accesses = finding.evidence.as_deref().map_or(&[][..], |it| it.accesses.as_slice());
        for access in accesses.iter().filter(|it| !it.stack.is_empty()) {
            let step = access::step_idx(finding, access);
            let is_it = |row: &Row<'_>| match step {
                Some(_) => row.step == step,
                None => row.mark.is_some() && row.place == Some(&access.place),
            };
            if let Some(row) = timeline.rows.iter().position(is_it) {
                add(row, &access.stack);
            }
        }
        for state in finding.threads.iter().filter(|it| !it.stack.is_empty()) {
            let last = timeline.rows.iter().rposition(|it| it.thread == state.thread);
            let is_there = |row: &usize| {
                let at = timeline.rows[*row].place;
                let is_end = timeline.rows[*row].number.is_none();
                is_end || at.is_some_and(|it| state.stack.contains(it))
            };
            if let Some(row) = last.filter(is_there) {
                add(row, &state.stack);
            }
        }
    }
}

/// Texts by number; the first is empty.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u64 {
        if self.all.is_empty() {
            self.all.push(String::new());
        }
        if text.is_empty() {
            return 0;
        }
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

#[derive(Default)]
struct Places {
    all: Vec<(i64, u32, String, String)>,
    numbers: HashMap<Place, u64>,
}
