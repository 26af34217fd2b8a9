//! Short names for the objects of a schedule.
//!
//! A global is called by its name. What has only a description (a lock in the fourth heap block of some
//! line) gets a letter, explained in a legend below the schedule.

use std::fmt::Write as _;

use raddle_model::{Finding, ObjectId};

use crate::Style;

/// Names longer than this, and descriptions, are replaced by letters.
const NAME_MAX: usize = 20;

/// What the op's verb says already.
const CLASSES: [&str; 10] = [
    "variable ",
    "mutex ",
    "condition variable ",
    "rwlock ",
    "semaphore ",
    "barrier ",
    "once ",
    "thread ",
    "descriptor ",
    "spin lock ",
];

/// Short names, given out as they are asked for.
pub(crate) struct Names<'a> {
    finding: &'a Finding,
    /// Objects with letters, in the order of the letters.
    lettered: Vec<ObjectId>,
}

impl<'a> Names<'a> {
    pub(crate) const fn new(finding: &'a Finding) -> Names<'a> {
        Names { finding, lettered: Vec::new() }
    }

    /// `left`, `T1`, or a letter; empty for no object.
    pub(crate) fn short(&mut self, object: ObjectId) -> String {
        let name = self.long(object);
        let bare = CLASSES.iter().find_map(|class| name.strip_prefix(class)).unwrap_or(name);
        let bare = bare.replace('`', "");
        let is_name = !bare.contains(' ') && bare.chars().count() <= NAME_MAX;
        if is_name {
            return bare;
        }
        if !self.lettered.contains(&object) {
            self.lettered.push(object);
        }
        self.letter(object).expect("bug: it was just given one")
    }

    /// The letter of an object, if it has one.
    pub(crate) fn letter(&self, object: ObjectId) -> Option<String> {
        let idx = self.lettered.iter().position(|it| *it == object)?;
        let letter = char::from(b'A' + (idx % 26) as u8);
        Some(match idx / 26 {
            0 => letter.to_string(),
            round => format!("{letter}{round}"),
        })
    }

    /// What the letters stand for, one a line; empty if there are none.
    pub(crate) fn legend(&self, style: &Style) -> String {
        let mut legend = String::new();
        for object in &self.lettered {
            let letter = self.letter(*object).expect("bug: it has one");
            let line = format!("  {letter}: {}", style.tame(self.long(*object)));
            let _ = writeln!(legend, "{}", style.cut(&line, style.width));
        }
        legend
    }

    fn long(&self, object: ObjectId) -> &'a str {
        self.finding.objects.get(object.idx()).map(String::as_str).unwrap_or_default()
    }
}
