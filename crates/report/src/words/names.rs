//! Short names for the objects of a schedule.
//!
//! A global is called by its name. What has only a description (a lock in the fourth heap block of some
//! line) gets a letter, explained in a legend below the schedule.

use std::{collections::BTreeSet, fmt::Write as _};

use raddle_model::{Finding, Home, Location, NamedObject, ObjectId};

use crate::{
    layout::style::{Style, width},
    words::{act, place},
};

/// Names longer than this, and descriptions, are replaced by letters.
const NAME_MAX: usize = 20;

/// Short names, given out as they are asked for.
pub(crate) struct Names<'a> {
    finding: &'a Finding,
    /// Objects with letters, in the order of the letters.
    lettered: Vec<ObjectId>,
    /// Objects of heap blocks that are called by their type, as they were first asked for.
    in_blocks: Vec<ObjectId>,
}

/// The name alone, without class or quotes, if it is one and short.
pub(crate) fn bare(object: &NamedObject) -> Option<String> {
    let name = match &object.location.home {
        Home::Descriptor(number) => return Some(format!("fd {number}")),
        Home::Pipe(_) => return Some(object.name()),
        Home::Thread(thread) => format!("T{}", thread.0),
        Home::Number(number) => format!("#{}", number.0),
        Home::Common(common) => common.name().to_owned(),
        _ => object.own_name()?,
    };
    let is_short = !name.contains(' ') && width(&name) <= NAME_MAX;
    is_short.then_some(name)
}

impl<'a> Names<'a> {
    pub(crate) const fn new(finding: &'a Finding) -> Names<'a> {
        Names { finding, lettered: Vec::new(), in_blocks: Vec::new() }
    }

    /// `left`, `T1`, or a letter; empty for no object.
    pub(crate) fn short(&mut self, object: ObjectId) -> String {
        let Some(named) = self.object(object).filter(|it| !it.is_none()) else {
            return String::new();
        };
        let bare = bare(named);
        if self.block(object).is_some() && !self.in_blocks.contains(&object) {
            self.in_blocks.push(object);
        }
        if let Some(bare) = bare {
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
    pub(crate) fn legend(&self, style: &Style, is_used: impl Fn(&str) -> bool) -> String {
        let mut legend = String::new();
        for object in &self.lettered {
            let letter = self.letter(*object).expect("bug: it has one");
            if !is_used(&letter) {
                continue;
            }
            let name = self.object(*object).map(NamedObject::to_string).unwrap_or_default();
            let line = format!("  {letter}: {}", style.tame(&name));
            let _ = writeln!(legend, "{}", style.cut(&line, style.width));
        }
        let mut blocks: Vec<String> =
            self.in_blocks.iter().filter_map(|object| self.block(*object)).collect();
        let mut told = BTreeSet::new();
        blocks.retain(|it| told.insert(it.clone()));
        blocks.retain(|it| is_used(it.split(':').next().unwrap_or_default()));
        for block in blocks {
            let line = format!("  {}", style.tame(&block));
            let _ = writeln!(legend, "{}", style.cut(&line, style.width));
        }
        legend
    }

    /// `Queue#2: heap block of 48 bytes allocated at pool.c:31 by main`, if it is called by its type.
    fn block(&self, object: ObjectId) -> Option<String> {
        let location: &Location = &self.object(object)?.location;
        let Home::Heap { thread, stack, sort, .. } = &location.home else { return None };
        if location.name.is_empty() {
            return None;
        }
        let name = location.name.split(['.', '[']).next()?;
        let at = stack.first().map(place::short).filter(|it| !it.is_empty());
        let at = at.map(|it| format!(" at {it}")).unwrap_or_default();
        let by = place::allocator(*thread);
        let (size, word, made) = (location.size, sort.word(), sort.made());
        Some(format!("{name}: {word} of {size} bytes {made}{at} by {by}"))
    }

    /// What an object held, if that says something.
    pub(crate) fn value(&self, object: ObjectId, value: u64, style: &Style) -> Option<String> {
        let object = self.object(object);
        act::is_telling(object).then(|| act::shown(value, object, style))
    }

    fn object(&self, object: ObjectId) -> Option<&'a NamedObject> {
        self.finding.objects.get(object.idx())
    }
}
