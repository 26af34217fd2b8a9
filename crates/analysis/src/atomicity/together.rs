//! Two variables that belong together, and a thread that treats them one after the other.
//!
//! After MUVI (Lu et al., SOSP 2007), which learns from a program's text which variables are accessed
//! together. Here the trace has to show it: a critical section that writes both. Then of the same lock
//!
//! - a thread reads one in one section and the other in its next, and in between another thread's section writes
//!   both: it has seen the old one and the new one;
//! - a thread writes one in one section and the other in its next, and in between another thread's section reads
//!   both: half of the change.
//!
//! Whoever waits for a condition in between looks at things anew.
//!
//! Time: for each lock, linear in its sections and in the pairs of variables of neighbouring ones, which are bounded.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{ObjectId, OpKind, ThreadId};

use super::Access;

/// Variables of one section that are told apart.
const VARIABLES_MAX: usize = 16;
/// Sections of one lock that are kept.
const SECTIONS_MAX: usize = 4096;

/// What was meant to be one.
#[derive(Debug)]
pub(super) struct Found {
    /// The first access, another thread's in between, the last.
    pub(super) accesses: [Access; 3],
    /// What the first is to, and the last.
    pub(super) object: ObjectId,
    pub(super) other: ObjectId,
    /// Whose sections they are in.
    pub(super) lock: ObjectId,
}

/// By variable.
type Accesses = BTreeMap<ObjectId, Access>;

/// A critical section.
#[derive(Debug)]
struct Section {
    thread: ThreadId,
    since: u64,
    /// The first of each variable.
    reads: Accesses,
    writes: Accesses,
    /// Did its thread wait for a condition since the section before?
    has_waited: bool,
}

/// The sections of each lock, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Together {
    sections: BTreeMap<ObjectId, Vec<Section>>,
}

impl Together {
    /// An access by a thread that has last waited for a condition at step `waited`.
    pub(super) fn access(&mut self, object: ObjectId, access: &Access, waited: usize) {
        for (lock, since) in &access.locks {
            let sections = self.sections.entry(lock.lock).or_default();
            let open = sections.iter().rposition(|it| it.thread == access.thread);
            let is_open = open.is_some_and(|idx| sections[idx].since == *since);
            if !is_open && sections.len() < SECTIONS_MAX {
                let before = open.map_or(0, |idx| sections[idx].since);
                sections.push(Section {
                    thread: access.thread,
                    since: *since,
                    reads: BTreeMap::new(),
                    writes: BTreeMap::new(),
                    has_waited: before < waited as u64,
                });
            }
            let last = sections.iter_mut().rfind(|it| it.thread == access.thread);
            if let Some(section) = last.filter(|it| it.since == *since) {
                section.add(object, access);
            }
        }
    }

    /// What was not one. Pairs of variables that a section has written together are meant to be.
    pub(super) fn found(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for (lock, sections) in &self.sections {
            let pairs = written_together(sections);
            if pairs.is_empty() {
                continue;
            }
            for (idx, first) in sections.iter().enumerate() {
                let later = sections[idx + 1..].iter().position(|it| it.thread == first.thread);
                let Some(n_between) = later else { continue };
                let last = &sections[idx + 1 + n_between];
                if !last.has_waited {
                    let between = &sections[idx + 1..idx + 1 + n_between];
                    found.extend(split(*lock, [first, last], between, &pairs));
                }
            }
        }
        found
    }
}

impl Section {
    fn add(&mut self, object: ObjectId, access: &Access) {
        if self.reads.len() + self.writes.len() >= VARIABLES_MAX {
            return;
        }
        if access.kind != OpKind::Write {
            self.reads.entry(object).or_insert_with(|| access.clone());
        }
        if access.kind.is_write() {
            self.writes.entry(object).or_insert_with(|| access.clone());
        }
    }

    fn touches(&self, object: ObjectId) -> bool {
        self.reads.contains_key(&object) || self.writes.contains_key(&object)
    }
}

/// Pairs of variables that some section has written, both orders of each.
fn written_together(sections: &[Section]) -> BTreeSet<(ObjectId, ObjectId)> {
    let mut pairs = BTreeSet::new();
    for section in sections {
        for one in section.writes.keys() {
            let others = section.writes.keys().filter(|it| *it != one);
            pairs.extend(others.map(|other| (*one, *other)));
        }
    }
    pairs
}

/// A pair that a thread treats in two sections, and another in one of those in between.
fn split(
    lock: ObjectId,
    [first, last]: [&Section; 2],
    between: &[Section],
    pairs: &BTreeSet<(ObjectId, ObjectId)>,
) -> Option<Found> {
    let is_split = |one: ObjectId, other: ObjectId| {
        pairs.contains(&(one, other)) && !first.touches(other) && !last.touches(one)
    };
    let half = |mine: [&Accesses; 2], theirs: fn(&Section) -> &Accesses| {
        let of_one = |(object, begin): (&ObjectId, &Access)| {
            let others = mine[1].iter().filter(|(other, _)| is_split(*object, **other));
            let mut halves = others.filter_map(|(other, end)| {
                let both = between
                    .iter()
                    .map(theirs)
                    .find(|it| it.contains_key(other) && it.contains_key(object))?;
                let accesses = [begin.clone(), both[object].clone(), end.clone()];
                Some(Found { accesses, object: *object, other: *other, lock })
            });
            halves.next()
        };
        mine[0].iter().find_map(of_one)
    };
    half([&first.reads, &last.reads], |it| &it.writes)
        .or_else(|| half([&first.writes, &last.writes], |it| &it.reads))
}
