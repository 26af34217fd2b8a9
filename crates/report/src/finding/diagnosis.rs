//! A finding as its first screen says it: one sentence, the lines that matter in the order in which they happened, the
//! orderings that make it fail with what was measured, notes, and help. A value: text, pages, Markdown, SARIF, JUnit and
//! annotations are renderings of it.

mod aba;
mod help;
mod mark;
mod marks;
mod notes;
mod operands;
mod released;
mod round;
mod sentence;
mod stale;
mod unlocked;
mod wakeup;

use raddle_model::{Explanation, Fault, Finding, Place, ThreadId};

pub(crate) use self::mark::Mark;
use self::mark::Moment;
use crate::{
    layout::style::Style,
    schedule::Spot,
    words::{history, place},
};

/// What the first screen says.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// What happened to which data, by whom: "T2 writes `stock` between T1's read and write".
    pub sentence: String,
    /// Operations that no order explains, as a table.
    pub table: Vec<String>,
    /// The lines that matter, in the order in which they happened.
    pub spans: Vec<Span>,
    /// The orderings that make it fail: "fails in 20 of 20 schedules with 1 before 2; in 0 of 20 with 2 before 1".
    pub order: Option<String>,
    /// What else is known of this schedule.
    pub notes: Vec<String>,
    /// What to hold, order or change, and how that is known.
    pub help: Vec<String>,
    /// Where the lines that matter are in the schedule.
    pub(crate) spots: Vec<Spot>,
}

/// A line that matters.
#[derive(Clone, Debug)]
pub struct Span {
    /// Which one it is, from 1; `None` for one that is alone, and for a line that was not reached.
    pub number: Option<usize>,
    /// Who was there.
    pub thread: Option<ThreadId>,
    /// What happened there: "T1 (buyer) reads `stock` = 1".
    pub words: String,
    /// Where: in the program's own code, as far as it is known.
    pub place: Place,
    /// What to underline: the name of the data; empty for the call at the place's column.
    pub name: String,
    /// Is it where the finding shows?
    pub is_primary: bool,
}

impl Span {
    /// "1. T1 (buyer) reads `stock` = 1".
    pub fn label(&self) -> String {
        match self.number {
            Some(number) => format!("{number}. {}", self.words),
            None => self.words.clone(),
        }
    }
}

impl Diagnosis {
    /// What there is to say of a finding.
    pub fn of(finding: &Finding, explanation: Option<&Explanation>, style: &Style) -> Diagnosis {
        let marks = marks::marks(finding, explanation);
        let said = notes::Said { finding, explanation, marks: &marks, style };
        let (table, mut notes) = match &finding.fault {
            Fault::History(it) => (history::table(it, style), history::notes(it)),
            _ => (Vec::new(), Vec::new()),
        };
        notes.extend(said.notes());
        Diagnosis {
            sentence: sentence::sentence(finding, &marks, style),
            order: said.order(),
            notes,
            table,
            help: help::help(&said),
            spans: spans(finding, &marks, style),
            spots: marks.iter().filter_map(Mark::spot).collect(),
        }
    }

    /// Where the finding shows.
    pub fn primary(&self) -> Option<&Span> {
        self.spans.iter().find(|it| it.is_primary).or(self.spans.first())
    }

    /// All that stands below the sentence and the spans, one sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = Vec::from_iter(self.order.as_ref().map(|it| format!("order: {it}")));
        all.extend(self.notes.iter().cloned());
        all.extend(self.help.iter().map(|it| format!("help: {it}")));
        all
    }
}

/// `T1 (buyer)`, `T0 (main)`, `T2`.
pub(crate) fn thread(finding: &Finding, thread: ThreadId) -> String {
    let long = place::thread(finding, thread);
    match long.split_once(' ') {
        Some((number, name)) => format!("{number} ({name})"),
        None => long,
    }
}

/// Every thread is introduced where it comes first.
fn spans(finding: &Finding, marks: &[Mark], style: &Style) -> Vec<Span> {
    let mut introduced: Vec<ThreadId> = Vec::new();
    let of_mark = |mark: &Mark| {
        let who = match introduced.contains(&mark.thread) {
            true => format!("T{}", mark.thread.0),
            false => thread(finding, mark.thread),
        };
        introduced.push(mark.thread);
        let what = mark.words(finding, marks, style);
        let words = match mark.has_act(finding) {
            _ if mark.moment == Moment::Never => format!("did not happen: {who}'s {what}"),
            true => format!("{who} {what}"),
            false => format!("{who}: {what}"),
        };
        Span {
            number: mark.number,
            thread: Some(mark.thread),
            words: style.tame(&words),
            place: mark.place.clone(),
            name: mark.underlined(finding),
            is_primary: mark.is_primary,
        }
    };
    marks.iter().map(of_mark).collect()
}
