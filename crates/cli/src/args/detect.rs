//! What to look for beside executions that fail: `--detect`.

use clap::ValueEnum;
use raddle_model::Detect;

/// One thing to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DetectArg {
    /// No additional detector
    None,
    /// Data races: conflicting accesses without a happens-before order
    Race,
    /// Accesses to shared memory without a common lock (warnings)
    Lockset,
    /// Potential deadlocks: locks acquired in different orders (confirmed, or warnings)
    Deadlock,
    /// Atomicity violations: accesses of other threads inside a sequence meant to be atomic (warnings)
    Atomicity,
    /// All detectors
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
