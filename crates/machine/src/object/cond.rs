//! Condition variables: a wait gives the mutex back and queues in one step; a signal wakes one of the
//! waiters, which one is a choice; the woken thread then competes for the mutex.

use raddle_model::{Misuse, ObjectId, ThreadId};

/// A condition variable.
#[derive(Clone, Debug, Hash, Default)]
pub struct Cond {
    /// Threads that wait, in the order in which they came, with the depth of their mutex.
    pub(crate) waiters: Vec<(ThreadId, u32)>,
    /// The mutex of the present waiters.
    mutex: ObjectId,
}

impl Cond {
    pub(crate) fn enqueue(
        &mut self,
        thread: ThreadId,
        depth: u32,
        mutex: ObjectId,
    ) -> Result<(), Misuse> {
        if !self.waiters.is_empty() && self.mutex != mutex {
            return Err(Misuse::WaitWithOtherMutex);
        }
        self.mutex = mutex;
        self.waiters.push((thread, depth));
        Ok(())
    }

    pub(crate) fn remove(&mut self, thread: ThreadId) {
        self.waiters.retain(|(it, _)| *it != thread);
    }

    pub(crate) fn destroy(&self) -> Result<(), Misuse> {
        if self.waiters.is_empty() { Ok(()) } else { Err(Misuse::DestroyAwaited) }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::script::check;

    #[test]
    fn a_signal_wakes_the_chosen_one() {
        check(
            "
             0 lock m
             0 wait c m
             0 wake c m
             1 lock m
             1 wait c m
             1 wake c m
             2 lock m
             2 wait c m
             2 wake c m
             3 signal c choosing 1
             who",
            expect![[r#"
                0 lock m: Done
                0 wait c m: Done
                0 wake c m: Parked
                1 lock m: Done
                1 wait c m: Done
                1 wake c m: Parked
                2 lock m: Done
                2 wait c m: Done
                2 wake c m: Parked
                3 signal c choosing 1: Done 2, one of 3 ways
                who: [1]
            "#]],
        );
    }

    #[test]
    fn nobody_waits() {
        check(
            "
             0 signal c
             0 broadcast c
             1 lock m
             1 wait c m
             1 wake c m
             settle",
            expect![[r#"
                0 signal c: Done
                0 broadcast c: Done
                1 lock m: Done
                1 wait c m: Done
                1 wake c m: Parked
                settle: deadlock
            "#]],
        );
    }

    #[test]
    fn all_woken_compete_for_the_mutex() {
        check(
            "
             0 lock m
             0 wait c m
             0 wake c m
             1 lock m
             1 wait c m
             1 wake c m
             2 lock m
             2 broadcast c
             who
             2 unlock m
             who
             1 goes
             who
             1 unlock m
             0 goes
             2 signal c",
            expect![[r#"
                0 lock m: Done
                0 wait c m: Done
                0 wake c m: Parked
                1 lock m: Done
                1 wait c m: Done
                1 wake c m: Parked
                2 lock m: Done
                2 broadcast c: Done 2
                who: []
                2 unlock m: Done
                who: [0, 1]
                1 goes: Done
                who: []
                1 unlock m: Done
                0 goes: Done
                2 signal c: Done
            "#]],
        );
    }

    #[test]
    fn misuse() {
        check(
            "
             0 wait c m
             1 lock m
             1 wait c m
             1 wake c m
             2 lock n
             2 wait c n
             1 goes
             3 destroy c",
            expect![[r#"
                0 wait c m: wait-without-mutex
                1 lock m: Done
                1 wait c m: Done
                1 wake c m: Parked
                2 lock n: Done
                2 wait c n: wait-with-other-mutex
                1 goes: can't, "wake"
                3 destroy c: destroy-awaited
            "#]],
        );
    }

    /// A woken thread needs the mutex, not the condition variable.
    #[test]
    fn destroy_after_the_last_wake() {
        check(
            "
             1 lock m
             1 wait c m
             1 wake c m
             0 lock m
             0 broadcast c
             0 destroy c
             0 unlock m
             1 goes",
            expect![[r#"
                1 lock m: Done
                1 wait c m: Done
                1 wake c m: Parked
                0 lock m: Done
                0 broadcast c: Done 1
                0 destroy c: Done
                0 unlock m: Done
                1 goes: Done
            "#]],
        );
    }

    #[test]
    fn spurious_wake_is_a_choice() {
        check(
            "
             spurious
             1 lock m
             1 wait c m
             1 wake c m
             settle
             who
             0 lock m
             1 times out
             0 signal c
             0 unlock m
             1 goes",
            expect![[r#"
                spurious: allowed
                1 lock m: Done
                1 wait c m: Done
                1 wake c m: Parked
                settle: deadlock
                who: [], timed [1]
                0 lock m: Done
                1 times out: []
                0 signal c: Done
                0 unlock m: Done
                1 goes: Done
            "#]],
        );
    }

    #[test]
    fn a_woken_thread_does_not_wake_spuriously_too() {
        check(
            "
             spurious
             1 lock r
             1 lock r
             1 wait c r
             1 wake c r
             1 is interrupted
             0 signal c
             1 goes
             0 lock r
             1 wake c r
             who
             0 unlock r
             1 goes
             1 unlock r
             0 trylock r
             1 unlock r
             0 trylock r",
            expect![[r#"
                spurious: allowed
                1 lock r: Done
                1 lock r: Done
                1 wait c r: Done
                1 wake c r: Parked
                1 is interrupted: [1]
                0 signal c: Done 2
                1 goes: Interrupted
                0 lock r: Done
                1 wake c r: Queued
                who: []
                0 unlock r: Done
                1 goes: Done
                1 unlock r: Done
                0 trylock r: Busy
                1 unlock r: Done
                0 trylock r: Done
            "#]],
        );
    }
}
