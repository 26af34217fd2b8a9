//! Where the user wants a campaign to look: near a finding, near a line, near what was changed.
//!
//! A focus is lines of source files. In an execution it is the sites whose places are there: a call's own line, or one that
//! it was inlined into. If none of the execution's operations is on those lines, those a few lines away count,
//! since what is removed (a lock, say) leaves nothing to find.

use std::collections::BTreeSet;

use raddle_model::{Finding, Place, SiteId};
use raddle_trace::Trace;

use crate::{finding::Names, target::Symbols};

/// How far from the lines a site may be, if there is none nearer.
const DISTANCES: [u32; 3] = [0, 3, 10];

/// Lines of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The file: its path, or the end of it.
    pub file: String,
    /// The first of the lines, from 1.
    pub first: u32,
    /// The last of them.
    pub last: u32,
}

/// Where the user wants a campaign to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// The lines. Empty: everywhere.
    pub spots: Vec<Spot>,
}

impl Spot {
    /// Is a place in the file, and no more than so many lines away?
    fn has(&self, place: &Place, distance: u32) -> bool {
        let lines = self.first.saturating_sub(distance)..=self.last.saturating_add(distance);
        place.line > 0 && lines.contains(&place.line) && is_same_file(&self.file, &place.file)
    }
}

/// Do two paths name one file, as far as the shorter one says?
fn is_same_file(one: &str, other: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        let parts = path.split('/').filter(|it| !it.is_empty() && *it != ".");
        parts.rev().map(str::to_owned).collect()
    };
    let (one, other) = (parts(one), parts(other));
    !one.is_empty() && !other.is_empty() && one.iter().zip(&other).all(|(one, other)| one == other)
}

impl Focus {
    /// The places that a finding is about.
    pub fn of(finding: &Finding) -> Focus {
        let mut places: Vec<&Place> = finding.sites.iter().collect();
        if let Some(evidence) = &finding.evidence {
            places.extend(evidence.accesses.iter().map(|it| &it.place));
            places.extend(evidence.links.iter().flat_map(|it| [&it.holds.taken_at, &it.wants_at]));
        }
        if let Some(freed) = &finding.freed {
            places.push(&freed.free.place);
        }
        for wait in finding.threads.iter().filter_map(|it| it.waits_for.as_ref()) {
            places.push(&wait.at);
            places.extend(wait.holders.iter().map(|it| &it.1));
            places.extend(wait.missed.iter().map(|it| &it.at));
        }
        let spot = |it: &Place| Spot { file: it.file.clone(), first: it.line, last: it.line };
        let spots: BTreeSet<Spot> =
            places.into_iter().filter(|it| it.line > 0 && !it.file.is_empty()).map(spot).collect();
        Focus { spots: spots.into_iter().collect() }
    }

    /// Is it everywhere?
    pub fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }

    /// The sites of an execution that are there, and how far away they are at most.
    pub(crate) fn sites(
        &self,
        trace: &Trace,
        symbols: &mut dyn Symbols,
    ) -> (BTreeSet<SiteId>, u32) {
        let used: BTreeSet<SiteId> = trace.events.iter().map(|it| it.site).collect();
        let mut names = Names::new(trace, symbols);
        let frames: Vec<(SiteId, Vec<Place>)> =
            used.into_iter().map(|it| (it, names.frames(it))).collect();
        for distance in DISTANCES {
            let is_there = |it: &&(SiteId, Vec<Place>)| {
                it.1.iter().any(|place| self.spots.iter().any(|spot| spot.has(place, distance)))
            };
            let sites: BTreeSet<SiteId> = frames.iter().filter(is_there).map(|it| it.0).collect();
            if !sites.is_empty() {
                return (sites, distance);
            }
        }
        (BTreeSet::new(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Spot, is_same_file};
    use raddle_model::Place;

    #[test]
    fn files_are_compared_by_what_both_say() {
        assert!(is_same_file("cache.c", "/home/me/src/cache.c"));
        assert!(is_same_file("./src/cache.c", "/home/me/src/cache.c"));
        assert!(is_same_file("/home/me/src/cache.c", "src/cache.c"));
        assert!(!is_same_file("che.c", "/home/me/src/cache.c"));
        assert!(!is_same_file("lib/cache.c", "/home/me/src/cache.c"));
        assert!(!is_same_file("", "cache.c"));
    }

    #[test]
    fn lines_and_those_near_them() {
        let spot = Spot { file: "a.c".into(), first: 10, last: 12 };
        let at = |line| Place { file: "/x/a.c".into(), line, ..Place::default() };
        assert!(spot.has(&at(10), 0) && spot.has(&at(12), 0) && spot.has(&at(15), 3));
        assert!(!spot.has(&at(9), 0) && !spot.has(&at(16), 3) && !spot.has(&at(0), 20));
    }
}
