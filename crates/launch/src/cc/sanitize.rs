//! `-fsanitize=` as the user gave it: our hooks are the thread sanitizer's, and most others need the
//! same bytes of the address space or the same interceptors.

use std::collections::BTreeSet;

/// What gcc or clang refuse to combine with `thread`, or what would have its runtime in the program
/// fight ours.
const CONFLICTS: &[&str] = &[
    "address",
    "dataflow",
    "hwaddress",
    "kernel-address",
    "kernel-hwaddress",
    "kernel-memory",
    "kernel-memtag-stack",
    "leak",
    "memory",
    "memtag",
    "realtime",
    "safe-stack",
    "type",
];

/// The sanitizers in force after the flags read so far.
#[derive(Debug, Default)]
pub(super) struct Sanitizers {
    on: BTreeSet<String>,
    is_thread_refused: bool,
}

impl Sanitizers {
    /// Notes one `-fsanitize=names`.
    pub(super) fn add(&mut self, names: &str) {
        for name in names.split(',') {
            self.on.insert(name.into());
            self.is_thread_refused &= name != "thread";
        }
    }

    /// Notes one `-fno-sanitize=names`.
    pub(super) fn remove(&mut self, names: &str) {
        for name in names.split(',') {
            if name == "all" {
                self.on.clear();
            }
            self.on.remove(name);
            self.is_thread_refused |= name == "thread" || name == "all";
        }
    }

    /// The first sanitizer that can't live with ours.
    pub(super) fn conflict(&self) -> Option<&'static str> {
        CONFLICTS.iter().copied().find(|name| self.on.contains(*name))
    }

    /// Does the user want these files without hooks?
    pub(super) fn is_thread_refused(&self) -> bool {
        self.is_thread_refused
    }
}

/// `names` without `thread`: `None` if nothing is left. The compiler's driver must not see it.
pub(super) fn without_thread(names: &str) -> Option<String> {
    let kept: Vec<&str> = names.split(',').filter(|name| *name != "thread").collect();
    if kept.is_empty() { None } else { Some(kept.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(flags: &str, conflict: Option<&str>, is_thread_refused: bool) {
        let mut sanitizers = Sanitizers::default();
        for flag in flags.split_whitespace() {
            match flag.strip_prefix('!') {
                Some(names) => sanitizers.remove(names),
                None => sanitizers.add(flag),
            }
        }
        assert_eq!(sanitizers.conflict(), conflict);
        assert_eq!(sanitizers.is_thread_refused(), is_thread_refused);
    }

    #[test]
    fn later_flags_undo_earlier_ones() {
        check("", None, false);
        check("thread", None, false);
        check("undefined,bounds", None, false);
        check("undefined,address", Some("address"), false);
        check("address !address", None, false);
        check("address !all", None, true);
        check("!thread", None, true);
        check("!thread thread", None, false);
        check("thread !undefined", None, false);
    }

    #[test]
    fn thread_is_taken_out_of_lists() {
        assert_eq!(without_thread("thread"), None);
        assert_eq!(without_thread("undefined,thread,bounds").as_deref(), Some("undefined,bounds"));
    }
}
