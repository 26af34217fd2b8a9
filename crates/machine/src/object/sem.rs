//! Counting semaphores.

use raddle_model::OpResult;

/// The greatest value of a semaphore (`SEM_VALUE_MAX`).
const COUNT_MAX: u32 = i32::MAX as u32;

/// A counting semaphore.
#[derive(Clone, Debug, Hash)]
pub struct Sem {
    pub(crate) count: u32,
}

impl Sem {
    pub(crate) fn take(&mut self) -> OpResult {
        if self.count == 0 {
            return OpResult::Busy;
        }
        self.count -= 1;
        OpResult::Done
    }

    pub(crate) fn post(&mut self) -> OpResult {
        if self.count == COUNT_MAX {
            return OpResult::Overflow;
        }
        self.count += 1;
        OpResult::Done
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::script::check;

    #[test]
    fn counts() {
        check(
            "
             0 sem_wait s
             0 sem_trywait s
             1 sem_wait s
             2 sem_wait s
             who
             0 sem_post s
             who
             2 goes
             1 goes
             0 sem_post s
             0 sem_post s
             1 goes
             0 sem_trywait s",
            expect![[r#"
                0 sem_wait s: Done
                0 sem_trywait s: Busy
                1 sem_wait s: Queued
                2 sem_wait s: Queued
                who: []
                0 sem_post s: Done 1
                who: [1, 2]
                2 goes: Done
                1 goes: can't, "sem_wait"
                0 sem_post s: Done 1
                0 sem_post s: Done 2
                1 goes: Done 1
                0 sem_trywait s: Done
            "#]],
        );
    }

    #[test]
    fn overflow() {
        check(
            "
             0 sem_post full",
            expect![[r#"
                0 sem_post full: Overflow 2147483647
            "#]],
        );
    }

    #[test]
    fn destroy_with_waiters() {
        check(
            "
             0 sem_wait s
             1 sem_wait s
             0 destroy s
             0 sem_post s
             1 goes
             0 destroy s",
            expect![[r#"
                0 sem_wait s: Done
                1 sem_wait s: Queued
                0 destroy s: destroy-awaited
                0 sem_post s: Done 1
                1 goes: Done
                0 destroy s: Done
            "#]],
        );
    }
}
