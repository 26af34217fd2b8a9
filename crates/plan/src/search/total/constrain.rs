//! What reads are to read, as orders for the picker that keeps them inside an execution.
//!
//! A schedule woven beforehand can't foresee what a thread does once it has read something else. The picker
//! ([`PickerSpec::LeastSwitching`]) sees it: it holds a use back until its define is done, then other defines until the use is, and
//! lets go when nobody else can go on. Each constraint is an order of its define and its use, and of each with every
//! other define of the variable: those that came before the define (or stand before the use in its own thread) stay
//! before it, the others come after the use.

use raddle_model::{Before, Side};
use raddle_total::Constraint;

use super::past::Past;

/// Orders of one script: each is looked at before every step.
const ORDERS_MAX: usize = 64;

/// The script of a picker that keeps these constraints, the first ones first.
pub(super) fn script(past: &Past, constraints: &[Constraint]) -> Vec<u32> {
    let mut orders: Vec<Before> = Vec::new();
    let thread = |step: u32| past.history.steps[step as usize].thread;
    for it in constraints {
        let object = past.history.steps[it.use_step as usize].object;
        let writes = past.history.steps.iter().enumerate();
        let writes = writes.filter(|it| it.1.act.is_write() && it.1.object == object);
        let mut wanted: Vec<(u32, u32)> =
            it.define.map(|define| (define, it.use_step)).into_iter().collect();
        for other in writes.map(|it| it.0 as u32).filter(|other| Some(*other) != it.define) {
            wanted.push(match it.define {
                Some(define) if is_earlier(past, other, define, it.use_step) => (other, define),
                _ => (it.use_step, other),
            });
        }
        for (first, second) in wanted {
            let order = Before { first: side(past, first), second: side(past, second) };
            let has_room = orders.len() < ORDERS_MAX;
            if has_room && thread(first) != thread(second) && !orders.contains(&order) {
                orders.push(order);
            }
        }
    }
    Before::script(&orders)
}

/// Does another define stay before the wanted one?
fn is_earlier(past: &Past, other: u32, define: u32, use_step: u32) -> bool {
    let thread = |step: u32| past.history.steps[step as usize].thread;
    if thread(other) == thread(use_step) { other < use_step } else { other < define }
}

fn side(past: &Past, step: u32) -> Side {
    let instance = past.instances[step as usize];
    Side {
        thread: past.history.steps[step as usize].thread,
        key: past.keys[step as usize],
        nth: instance.nth + 1,
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{ObjectId, OpKind, SiteId, ThreadId};

    use super::*;
    use crate::search::{Flows, Run, Step};

    /// Thread 1 reads what thread 2 writes: after its own write and thread 0's, before thread 3's.
    #[test]
    fn other_defines_come_before_or_after() {
        let step = |thread, kind, site| Step {
            thread: ThreadId(thread),
            kind,
            object: ObjectId(1),
            site: SiteId(site),
            ..Step::default()
        };
        let steps = vec![
            step(0, OpKind::Write, 10),
            step(1, OpKind::Write, 11),
            step(1, OpKind::Read, 12),
            step(2, OpKind::Write, 13),
            step(3, OpKind::Write, 14),
        ];
        let past = Past::of(&Run { steps, ..Run::default() }, &Flows::default());
        let script = script(&past, &[Constraint { use_step: 2, define: Some(3) }]);
        let orders = Before::of_script(&script);
        let threads: Vec<[u32; 2]> =
            orders.map(|it| [it.first.thread.0, it.second.thread.0]).collect();
        assert_eq!(threads, [[2, 1], [0, 2], [1, 2], [1, 3]]);
        let first = Before::of_script(&script).next().expect("there is one");
        assert_eq!(first.first.key, Side::key(OpKind::Write, 13));
        assert_eq!((first.first.nth, first.second.nth), (1, 1));
    }
}
