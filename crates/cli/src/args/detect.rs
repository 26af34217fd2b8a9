//! What to look for beside executions that fail: `--detect`.

use clap::ValueEnum;
use raddle_model::Detect;

/// One thing to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DetectArg {
    /// Nothing
    None,
    /// Accesses to memory that nothing orders
    Race,
    /// Accesses to memory without a lock that the others hold (warnings)
    Lockset,
    /// Locks that are taken in different orders (confirmed, or warnings)
    Deadlock,
    /// Accesses of other threads in the midst of what was meant to be one (warnings)
    Atomicity,
    /// All of these
    All,
}

impl DetectArg {
    /// The list that asks for this.
    pub(crate) fn list(detect: Detect) -> Vec<DetectArg> {
        let all = [
            (detect.races, DetectArg::Race),
            (detect.locksets, DetectArg::Lockset),
            (detect.deadlocks, DetectArg::Deadlock),
            (detect.atomicity, DetectArg::Atomicity),
        ];
        all.into_iter().filter(|it| it.0).map(|it| it.1).collect()
    }
}

/// All that a list asks for.
pub(crate) fn detect(list: &[DetectArg]) -> Detect {
    let has = |it: DetectArg| list.contains(&it) || list.contains(&DetectArg::All);
    Detect {
        races: has(DetectArg::Race),
        locksets: has(DetectArg::Lockset),
        deadlocks: has(DetectArg::Deadlock),
        atomicity: has(DetectArg::Atomicity),
    }
}
