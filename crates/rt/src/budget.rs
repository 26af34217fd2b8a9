//! An execution has spent its steps: does it go in circles, or has it only much to do?
//!
//! Who goes in circles comes again and again to the same steps: the same thread at the same place does the same to the
//! same object, with the same value. Who works does not: values count up, objects are new. So the later half of the
//! last steps is compared with the earlier one, and where enough of it is new the budget is extended. No access is
//! left out of these steps (`access::is_due`): it may be the one that shows the work. A loop whose work cannot be seen in
//! its steps (a lock is taken and given back a million times) is still taken for a circle. But not before whoever could go
//! on has been seen to: a thread that waits in circles for another, which some strategies let it do for long, may
//! only have to be passed by.

use raddle_model::{Event, ThreadId, mix};

use crate::control::Control;

/// So many of the last steps are looked at, and no more than this part of the budget.
const STEPS_MAX: u64 = 1 << 14;
const PART_MAX: u64 = 8;
/// One of so many must be new: threads that meet in ever other ways come upon new values by chance. Where they hardly
/// meet they don't.
const NEW_ONE_OF: usize = 64;
const NEW_ONE_OF_SWITCHES: usize = 4;
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
        let last = self.emit.last_events(n_last(self.max_steps) as usize);
        let enabled = (0..self.machine.n_enabled()).map(|it| self.machine.enabled(it));
        let (earlier, later) = last.split_at(last.len() / 2);
        let goes_in_circles = have_all_gone_on(later, enabled) && nothing_is_new(earlier, later);
        if self.max_steps / EXTENDED_MAX >= given || goes_in_circles {
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

/// Is there a step of each of these threads?
fn have_all_gone_on(steps: &[Event], mut threads: impl Iterator<Item = ThreadId>) -> bool {
    let mut seen: Vec<ThreadId> = steps.iter().map(|it| it.thread).collect();
    seen.sort_unstable();
    seen.dedup();
    threads.all(|it| seen.binary_search(&it).is_ok())
}

/// Is what was done last what was done before?
fn nothing_is_new(earlier: &[Event], later: &[Event]) -> bool {
    let mut known: Vec<u64> = earlier.iter().map(what).collect();
    known.sort_unstable();
    let n_new = later.iter().filter(|it| known.binary_search(&what(it)).is_err()).count();
    let n_switches = later.windows(2).filter(|it| it[0].thread != it[1].thread).count();
    n_new <= (later.len() / NEW_ONE_OF).min(n_switches / NEW_ONE_OF_SWITCHES)
}

fn what(step: &Event) -> u64 {
    let who = u64::from(step.thread.0) << 32 | u64::from(step.site.0);
    let to = u64::from(step.object.0) << 8 | step.kind as u64;
    mix(mix(who, to), step.value)
}

#[cfg(test)]
mod tests {
    use raddle_model::{Event, ObjectId, OpKind, ThreadId};

    use super::{have_all_gone_on, nothing_is_new};

    fn goes_in_circles(steps: &[Event]) -> bool {
        let (earlier, later) = steps.split_at(steps.len() / 2);
        nothing_is_new(earlier, later)
    }

    fn steps(step: impl Fn(u64) -> (u32, u64)) -> Vec<Event> {
        let event = |idx| {
            let (object, value) = step(idx);
            let (thread, object) = (ThreadId(idx as u32 % 3), ObjectId(object));
            Event { kind: OpKind::AtomicRmw, thread, object, value, ..Event::default() }
        };
        (0..10_000).map(event).collect()
    }

    /// Of three threads the second takes no step.
    #[test]
    fn whoever_can_go_on_must_have() {
        let steps: Vec<Event> =
            steps(|_| (1, 0)).into_iter().filter(|it| it.thread.0 != 1).collect();
        assert!(!have_all_gone_on(&steps, [0, 1, 2].map(ThreadId).into_iter()));
        assert!(have_all_gone_on(&steps, [2, 0].map(ThreadId).into_iter()));
    }

    #[test]
    fn who_counts_does_not_go_in_circles() {
        assert!(!goes_in_circles(&steps(|idx| (1, idx / 9))));
        assert!(!goes_in_circles(&steps(|idx| (idx as u32, 0))));
    }

    /// Two threads in turns of two thousand steps: one of them has counted, once.
    #[test]
    fn who_hardly_meets_others_does_not_go_in_circles_if_anything_is_new() {
        let steps = |value: fn(u64) -> u64| {
            let thread = |idx| ThreadId(idx as u32 / 2_000 % 2);
            let event = |idx| Event { thread: thread(idx), value: value(idx), ..Event::default() };
            (0..10_000).map(event).collect::<Vec<Event>>()
        };
        assert!(!goes_in_circles(&steps(|idx| u64::from(idx == 7_000))));
        assert!(goes_in_circles(&steps(|_| 0)));
    }

    #[test]
    fn who_does_the_same_in_any_order_does() {
        assert!(goes_in_circles(&steps(|_| (1, 0))));
        assert!(goes_in_circles(&steps(|idx| (1, idx * idx % 7))));
    }
}
