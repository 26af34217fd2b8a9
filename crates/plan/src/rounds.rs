//! Rounds: stretches of executions within which nothing that was learned comes into force.
//!
//! What an execution does may depend on what others before it have found, but not on how far the workers
//! have come. So lessons come into force where a round begins, and a round begins when all executions
//! before it are done. Rounds are parts of epochs (`sharing`): each epoch begins with a round of one, the
//! *probe*, whose trace is looked at in full; the rest are quarters of the epoch, if that is worth it.

use std::ops::Range;

use crate::sharing::epoch;

/// Epochs shorter than this are not divided further.
const DIVIDED_FROM: u64 = 32;

/// The round that an execution belongs to.
pub fn round(execution: u64) -> Range<u64> {
    let epoch = epoch(execution);
    if is_probe(execution) {
        return execution..execution + 1;
    }
    let length = epoch.end - epoch.start;
    if length < DIVIDED_FROM {
        return epoch.start + 1..epoch.end;
    }
    let quarter = length / 4;
    let start = epoch.start + (execution - epoch.start) / quarter * quarter;
    start.max(epoch.start + 1)..start.saturating_add(quarter).min(epoch.end)
}

/// Is the execution one whose trace is looked at in full, to learn from it? 0, 1, 2, 4, 8, 16…
pub const fn is_probe(execution: u64) -> bool {
    execution == 0 || execution.is_power_of_two()
}

/// Executions below this are all looked at for what they suggest: one that comes to code that the baseline did not come to
/// may suggest what that never will.
const LOOKED_AT: u64 = 32;

/// Is the execution one whose trace is looked at for what it suggests?
pub const fn is_looked_at(execution: u64) -> bool {
    execution < LOOKED_AT || is_probe(execution)
}

#[cfg(test)]
mod tests {
    use super::{is_probe, round};
    use crate::sharing::epoch;

    #[test]
    fn rounds_follow_each_other() {
        let mut starts = Vec::new();
        let mut next = 0;
        while next < 200 {
            let round = round(next);
            assert_eq!(round.start, next);
            assert!(!round.is_empty());
            starts.push(next);
            next = round.end;
        }
        assert_eq!(
            starts,
            [
                0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 40, 48, 56, 64, 65, 80, 96, 112, 128, 129,
                160, 192
            ]
        );
    }

    #[test]
    fn every_execution_of_a_round_has_the_same_round_and_epoch() {
        for execution in (0..5_000).chain(u64::MAX - 10..u64::MAX) {
            let own = round(execution);
            assert!(own.contains(&execution), "{execution}");
            assert_eq!(round(own.start), own);
            assert_eq!(round(own.end - 1), own);
            assert_eq!(epoch(own.start), epoch(own.end - 1));
            assert!(!is_probe(execution) || own.end - own.start == 1);
        }
    }
}
