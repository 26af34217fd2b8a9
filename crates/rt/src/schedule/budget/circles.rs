//! Do the last steps of an execution show anything new?

use raddle_model::{Event, ThreadId, mix};

/// One of so many must be new: threads that meet in ever other ways come upon new values by chance. Where they hardly
/// meet they don't.
const NEW_ONE_OF: usize = 64;
const NEW_ONE_OF_SWITCHES: usize = 4;

/// Is there a step of each of these threads?
pub(super) fn have_all_gone_on(
    steps: &[Event],
    mut threads: impl Iterator<Item = ThreadId>,
) -> bool {
    let mut seen: Vec<ThreadId> = steps.iter().map(|it| it.thread).collect();
    seen.sort_unstable();
    seen.dedup();
    threads.all(|it| seen.binary_search(&it).is_ok())
}

/// Is what was done last what was done before?
pub(super) fn nothing_is_new(earlier: &[Event], later: &[Event]) -> bool {
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
