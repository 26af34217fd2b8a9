//! Counting semaphores.

use raddle_model::OpResult;

/// The greatest value of a semaphore (`SEM_VALUE_MAX`).
const COUNT_MAX: u32 = i32::MAX as u32;

/// A counting semaphore.
#[derive(Clone, Debug)]
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
