//! What earlier executions have taught about a program's threads: how long each is, and what they share.
//!
//! A thread's *role* is the path by which it was created: it is the same in every execution, whatever the
//! order of creation, and so it is by its role that a thread is known from one execution to the next.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::mix;

/// A thread, by the path of its creation. Stable from one execution to the next.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Role(pub u64);

impl Role {
    /// The first thread's.
    pub const MAIN: Role = Role(0x6d61_696e);

    /// That of the thread's `n`-th child, from 0.
    pub const fn child(self, n: u32) -> Role {
        Role(mix(self.0, n as u64 + 1))
    }
}

/// What is known about threads and what they share, before an execution begins.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The most steps at which more than one thread could go on, in one execution.
    pub n_choices: u64,
    /// The most threads in one execution.
    pub n_threads: u32,
    /// Threads' lengths. Invariant: sorted by role, no duplicates.
    pub lengths: Vec<Length>,
    /// What several threads use and some change, what is used most first. Invariant: no duplicates.
    pub interests: Vec<Interest>,
    /// Who uses them how often. Invariant: sorted by interest, then by role, no duplicates.
    pub uses: Vec<Use>,
}

/// How long a thread is: in events, as large as it was in any execution that counts.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Length {
    /// Whose.
    pub role: Role,
    /// Its events since there has been a second thread.
    pub n_events: u32,
    /// Its events while another thread could go on.
    pub n_contended: u32,
    /// Its own events, and those of all threads that it created, and so on.
    pub n_below: u32,
    /// Zero; keeps the layout free of padding.
    pub reserved: u32,
}

/// A variable, lock or the like that several threads use and some change.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Interest {
    /// The hash of its name, the same in every execution.
    pub name: u64,
    /// How often it is used, in one execution.
    pub n_uses: u64,
}

/// How often threads of a role use an object.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Use {
    /// Who.
    pub role: Role,
    /// What: an index into [`Profile::interests`].
    pub interest: u32,
    /// How often, the threads that it created included, and so on.
    pub n_below: u32,
}

/// A profile that is kept elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfileView<'a> {
    /// As [`Profile::n_choices`].
    pub n_choices: u64,
    /// As [`Profile::n_threads`].
    pub n_threads: u32,
    /// As [`Profile::lengths`].
    pub lengths: &'a [Length],
    /// As [`Profile::interests`].
    pub interests: &'a [Interest],
    /// As [`Profile::uses`].
    pub uses: &'a [Use],
}

impl Profile {
    /// The most lengths, interests and uses that a plan may carry.
    pub const LENGTHS_MAX: usize = 1 << 12;
    /// See [`Profile::LENGTHS_MAX`].
    pub const INTERESTS_MAX: usize = 1 << 8;
    /// See [`Profile::LENGTHS_MAX`].
    pub const USES_MAX: usize = 1 << 15;

    /// Nothing is known.
    pub const EMPTY: Profile = Profile {
        n_choices: 0,
        n_threads: 0,
        lengths: Vec::new(),
        interests: Vec::new(),
        uses: Vec::new(),
    };

    /// Has it no more of anything than a plan may carry?
    pub fn fits(&self) -> bool {
        self.lengths.len() <= Profile::LENGTHS_MAX
            && self.interests.len() <= Profile::INTERESTS_MAX
            && self.uses.len() <= Profile::USES_MAX
    }

    /// To look at.
    pub fn view(&self) -> ProfileView<'_> {
        ProfileView {
            n_choices: self.n_choices,
            n_threads: self.n_threads,
            lengths: &self.lengths,
            interests: &self.interests,
            uses: &self.uses,
        }
    }
}

impl ProfileView<'_> {
    /// The length of a thread, if it is known.
    pub fn length(&self, role: Role) -> Option<&Length> {
        let idx = self.lengths.binary_search_by_key(&role, |it| it.role).ok()?;
        Some(&self.lengths[idx])
    }

    /// How often a thread, and those below it, use an object.
    pub fn n_uses_below(&self, interest: u32, role: Role) -> u32 {
        let found = self.uses.binary_search_by_key(&(interest, role), |it| (it.interest, it.role));
        found.map_or(0, |idx| self.uses[idx].n_below)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Interest, Length, Profile, Role, Use};

    /// Three generations of four each: all paths differ.
    #[test]
    fn roles_are_distinct() {
        let mut roles = vec![Role::MAIN];
        let mut generation = roles.clone();
        for _ in 0..3 {
            generation = generation.iter().flat_map(|it| (0..4).map(|n| it.child(n))).collect();
            roles.extend(&generation);
        }
        assert_eq!(roles.len(), 1 + 4 + 16 + 64);
        assert_eq!(roles.iter().collect::<BTreeSet<_>>().len(), roles.len());
    }

    #[test]
    fn lookups() {
        let (main, child) = (Role::MAIN, Role::MAIN.child(0));
        let mut profile = Profile {
            lengths: [(main, 3), (child, 9)]
                .map(|(role, n_events)| Length { role, n_events, ..Length::default() })
                .to_vec(),
            interests: vec![Interest { name: 7, n_uses: 5 }, Interest { name: 8, n_uses: 2 }],
            uses: [(0, main, 4), (0, child, 1), (1, child, 2)]
                .map(|(interest, role, n_below)| Use { role, interest, n_below })
                .to_vec(),
            ..Profile::EMPTY
        };
        profile.lengths.sort_by_key(|it| it.role);
        profile.uses.sort_by_key(|it| (it.interest, it.role));
        let view = profile.view();
        assert_eq!(view.length(child).map(|it| it.n_events), Some(9));
        assert_eq!(view.length(main.child(1)), None);
        assert_eq!(view.n_uses_below(0, main), 4);
        assert_eq!(view.n_uses_below(1, child), 2);
        assert_eq!(view.n_uses_below(1, main), 0);
    }
}
