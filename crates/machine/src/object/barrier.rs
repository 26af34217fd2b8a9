//! Barriers: the last thread to arrive lets all go, and is the chosen one.

use raddle_model::{Misuse, ThreadId};

/// A barrier.
#[derive(Clone, Debug, Hash)]
pub struct Barrier {
    needed: u32,
    /// Threads that have arrived and wait.
    pub(crate) arrived: Vec<ThreadId>,
}

impl Barrier {
    pub(crate) fn new(needed: u32) -> Barrier {
        Barrier { needed, arrived: Vec::new() }
    }

    /// Arrives. The threads to let go, if this was the last one needed.
    pub(crate) fn arrive(&mut self, thread: ThreadId) -> Option<Vec<ThreadId>> {
        if self.arrived.len() as u32 + 1 >= self.needed {
            return Some(std::mem::take(&mut self.arrived));
        }
        self.arrived.push(thread);
        None
    }

    /// How many have to arrive still.
    pub(crate) fn n_missing(&self) -> u32 {
        self.needed - self.arrived.len() as u32
    }

    pub(crate) fn destroy(&self) -> Result<(), Misuse> {
        if self.arrived.is_empty() { Ok(()) } else { Err(Misuse::DestroyAwaited) }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::script::check;

    #[test]
    fn the_last_one_is_chosen() {
        check(
            "
             0 barrier pair
             0 leave pair
             1 barrier pair
             0 goes",
            expect![[r#"
                0 barrier pair: Done 1
                0 leave pair: Parked
                1 barrier pair: Chosen 1
                0 goes: Done
            "#]],
        );
    }

    /// Threads of the next generation arrive before those of this one have left.
    #[test]
    fn generations() {
        check(
            "
             0 barrier pair
             0 leave pair
             1 barrier pair
             1 barrier pair
             1 leave pair
             2 barrier pair
             who
             3 barrier pair
             3 leave pair
             1 goes
             0 goes
             who
             0 barrier pair
             3 goes",
            expect![[r#"
                0 barrier pair: Done 1
                0 leave pair: Parked
                1 barrier pair: Chosen 1
                1 barrier pair: Done 1
                1 leave pair: Parked
                2 barrier pair: Chosen 1
                who: [0, 1]
                3 barrier pair: Done 1
                3 leave pair: Parked
                1 goes: Done
                0 goes: Done
                who: []
                0 barrier pair: Chosen 1
                3 goes: Done
            "#]],
        );
    }

    #[test]
    fn alone() {
        check(
            "
             0 barrier solo
             0 barrier solo",
            expect![[r#"
                0 barrier solo: Chosen
                0 barrier solo: Chosen
            "#]],
        );
    }

    #[test]
    fn destroy_with_waiters() {
        check(
            "
             0 barrier pair
             0 leave pair
             1 destroy pair
             1 barrier pair
             1 destroy pair
             0 goes",
            expect![[r#"
                0 barrier pair: Done 1
                0 leave pair: Parked
                1 destroy pair: destroy-awaited
                1 barrier pair: Chosen 1
                1 destroy pair: Done
                0 goes: Done
            "#]],
        );
    }
}
