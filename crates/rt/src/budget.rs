//! An execution has spent its steps: does it go in circles, or has it only much to do?
//!
//! Who goes in circles comes again and again to the same steps: the same thread at the same place does the same to the
//! same object, with the same value. Who works does not: values count up, objects are new. So the later half of the
//! last steps is compared with the earlier one, and where enough of it is new the budget is extended. No access is
//! left out of these steps (`access::is_due`): it may be the one that shows the work. A loop whose work cannot be seen in
//! its steps (a lock is taken and given back a million times) is still taken for a circle.

use raddle_model::{Event, mix};

use crate::control::Control;

/// So many of the last steps are looked at, and no more than this part of the budget.
const STEPS_MAX: u64 = 1 << 14;
const PART_MAX: u64 = 8;
/// One of so many must be new.
const NEW_ONE_OF: usize = 64;
/// The budget is extended to so many times what was given.
const EXTENDED_MAX: u64 = 16;

impl Control {
    /// Is a step among those that will tell who goes in circles?
    pub(crate) fn is_among_last(&self) -> bool {
        self.emit.n_steps + n_last(self.max_steps) >= self.max_steps
    }

    /// Is there no reason to go on, although the steps are spent?
    #[cold]
    pub(crate) fn is_spent(&mut self) -> bool {
        // SAFETY: the header is mapped for as long as the process lives.
        let given = unsafe { (*self.header).max_steps };
        if self.max_steps / EXTENDED_MAX >= given
            || goes_in_circles(&self.emit.last_events(n_last(self.max_steps) as usize))
        {
            return true;
        }
        self.max_steps += given;
        false
    }
}

const fn n_last(budget: u64) -> u64 {
    let part = budget / PART_MAX;
    if part < STEPS_MAX { part } else { STEPS_MAX }
}

/// Is what was done last what was done before?
fn goes_in_circles(steps: &[Event]) -> bool {
    let (earlier, later) = steps.split_at(steps.len() / 2);
    let mut known: Vec<u64> = earlier.iter().map(what).collect();
    known.sort_unstable();
    let n_new = later.iter().filter(|it| known.binary_search(&what(it)).is_err()).count();
    n_new <= later.len() / NEW_ONE_OF
}

fn what(step: &Event) -> u64 {
    let who = u64::from(step.thread.0) << 32 | u64::from(step.site.0);
    let to = u64::from(step.object.0) << 8 | step.kind as u64;
    mix(mix(who, to), step.value)
}

#[cfg(test)]
mod tests {
    use raddle_model::{Event, ObjectId, OpKind, ThreadId};

    use super::goes_in_circles;

    fn steps(step: impl Fn(u64) -> (u32, u64)) -> Vec<Event> {
        let event = |idx| {
            let (object, value) = step(idx);
            let (thread, object) = (ThreadId(idx as u32 % 3), ObjectId(object));
            Event { kind: OpKind::AtomicRmw, thread, object, value, ..Event::default() }
        };
        (0..10_000).map(event).collect()
    }

    #[test]
    fn who_counts_does_not_go_in_circles() {
        assert!(!goes_in_circles(&steps(|idx| (1, idx / 9))));
        assert!(!goes_in_circles(&steps(|idx| (idx as u32, 0))));
    }

    #[test]
    fn who_does_the_same_in_any_order_does() {
        assert!(goes_in_circles(&steps(|_| (1, 0))));
        assert!(goes_in_circles(&steps(|idx| (1, idx * idx % 7))));
    }
}
