//! How many executions make a block: enough to keep workers busy, few enough to hear from them often.

use std::time::Duration;

/// How long a block should take.
const BLOCK_TIME: Duration = Duration::from_millis(75);
/// The most executions in a block.
const BLOCK_MAX: u64 = 1_024;

/// The size of blocks, adapted to the time that they take. Nothing that is found depends on it.
#[derive(Debug)]
pub(super) struct Pace {
    n_block: u64,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { n_block: 1 }
    }

    /// How many executions the next block should have.
    pub(super) fn n_block(&self) -> u64 {
        self.n_block
    }

    /// Notes that `n_run` executions took `elapsed`. Blocks grow by doubling and shrink at once.
    pub(super) fn measure(&mut self, n_run: u64, elapsed: Duration) {
        let each = (elapsed.as_nanos() as u64 / n_run.max(1)).max(1);
        let fitting = BLOCK_TIME.as_nanos() as u64 / each;
        self.n_block = fitting.min(self.n_block * 2).clamp(1, BLOCK_MAX);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Pace;

    #[test]
    fn grows_and_shrinks() {
        let mut pace = Pace::new();
        let mut sizes = Vec::new();
        for _ in 0..4 {
            sizes.push(pace.n_block());
            pace.measure(pace.n_block(), Duration::from_micros(100));
        }
        assert_eq!(sizes, [1, 2, 4, 8]);
        for _ in 0..20 {
            pace.measure(1_000, Duration::from_millis(1));
        }
        assert_eq!(pace.n_block(), 1_024);
        pace.measure(1_024, Duration::from_secs(20));
        assert_eq!(pace.n_block(), 3);
        pace.measure(1, Duration::from_secs(1));
        assert_eq!(pace.n_block(), 1);
    }
}
