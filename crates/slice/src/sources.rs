//! Where a value comes from, as a set.

/// One place that a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Nobody knows.
    Unknown,
    /// The read behind the hook that returns here.
    Read(u64),
    /// An argument of the function, by the number of its register.
    Param(u8),
    /// What a call in the function returned, by its return address.
    Ret(u64),
    /// What a call in the function wrote through pointers, by its return address.
    Out(u64),
    /// Whatever decides the branch at the end of this block: on one of its ways only was it computed.
    Control(u32),
}

/// A set of sources. Invariant: sorted, no duplicates; `Unknown` is alone, for what else there is does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources(Vec<Source>);

impl Sources {
    pub(crate) const fn none() -> Sources {
        Sources(Vec::new())
    }

    pub(crate) fn one(source: Source) -> Sources {
        Sources(vec![source])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Source> + '_ {
        self.0.iter().copied()
    }

    /// Adds all of another set; `true` if any was new.
    pub(crate) fn add(&mut self, other: &Sources) -> bool {
        if self.is_unknown() || other.0.is_empty() {
            return false;
        }
        if other.is_unknown() || self.0.is_empty() {
            self.0.clone_from(&other.0);
            return true;
        }
        let n_before = self.0.len();
        for source in &other.0 {
            if let Err(at) = self.0.binary_search(source) {
                self.0.insert(at, *source);
            }
        }
        n_before < self.0.len()
    }

    fn is_unknown(&self) -> bool {
        self.0.first() == Some(&Source::Unknown)
    }

    /// Both.
    pub(crate) fn with(mut self, other: &Sources) -> Sources {
        self.add(other);
        self
    }
}

impl FromIterator<Source> for Sources {
    fn from_iter<I: IntoIterator<Item = Source>>(all: I) -> Sources {
        let mut sources: Vec<Source> = all.into_iter().collect();
        sources.sort_unstable();
        sources.dedup();
        if sources.first() == Some(&Source::Unknown) {
            sources.truncate(1);
        }
        Sources(sources)
    }
}
