//! What an execution's operations returned, and when they ran.

use super::{Op, Order, search::Reason, value::Value};
use crate::runtime::{Span, Told, ToldOperation};

/// A call: which operation, with which arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) op: usize,
    pub(super) argument: u32,
}

impl Call {
    /// The call of this number, of all operations with all their arguments.
    pub(super) fn of_number(number: u32, counts: &[u32]) -> Call {
        let mut argument = number;
        for (op, count) in counts.iter().enumerate() {
            if argument < *count {
                return Call { op, argument };
            }
            argument -= count;
        }
        unreachable!("bug: call {number} of {counts:?}")
    }
}

/// Before, while, or after there are several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Before,
    During,
    After,
}

/// An operation that was called.
pub(super) struct Operation {
    pub(super) call: Call,
    pub(super) result: Box<dyn Value>,
    pub(super) span: Span,
    pub(super) part: Part,
    /// Which of the scenario's threads.
    pub(super) column: u32,
}

/// All that were called, each thread's in order.
pub(super) struct History {
    pub(super) operations: Vec<Operation>,
}

impl History {
    /// For each operation, those that must come before it: a bit set of their numbers.
    pub(super) fn predecessors(&self, order: Order) -> Vec<u64> {
        let n = self.operations.len();
        let before = |idx: usize| {
            let first = (0..n).filter(|it| self.is_before(*it, idx, order));
            first.fold(0, |set, it| set | 1 << it)
        };
        (0..n).map(before).collect()
    }

    fn is_before(&self, first: usize, second: usize, order: Order) -> bool {
        let (one, other) = (&self.operations[first], &self.operations[second]);
        if one.part != other.part {
            return one.part < other.part;
        }
        let is_same_thread = one.column == other.column;
        match order {
            // Each thread's operations are in their order.
            Order::Linearizable | Order::Sequential if is_same_thread => first < second,
            Order::Linearizable => ends_before(&one.span, &other.span),
            Order::Sequential => false,
            Order::Quiescent if one.part != Part::During => first < second,
            Order::Quiescent => {
                let is_quiet = |at: u64| {
                    self.operations.iter().all(|it| at <= it.span.invoked || it.span.returned <= at)
                };
                ends_before(&one.span, &other.span)
                    && (one.span.returned..=other.span.invoked).any(is_quiet)
            }
        }
    }

    /// The history as texts.
    pub(super) fn told<S>(&self, ops: &[Op<'_, S>], reason: Reason, order: Order) -> Told {
        let of = |it: &Operation| ToldOperation {
            span: it.span,
            call: ops[it.call.op].texts[it.call.argument as usize].clone(),
            result: Some(it.result.text()),
        };
        Told {
            order: order as u32,
            operations: self.operations.iter().map(of).collect(),
            explained: reason.explained,
            refused: reason.refused,
        }
    }
}

/// Has an operation returned before another one, of another thread, made its first step?
fn ends_before(one: &Span, other: &Span) -> bool {
    // If neither took a step, nobody knows which was first.
    let is_at_once = one.invoked == other.returned && one.returned == other.invoked;
    one.returned <= other.invoked && !is_at_once
}

#[cfg(test)]
mod tests {
    use super::{History, Operation, Order, Part};
    use crate::{linear::history::Call, runtime::Span};

    fn operation(column: u32, invoked: u64, returned: u64) -> Operation {
        Operation {
            call: Call { op: 0, argument: 0 },
            result: Box::new(()),
            span: Span { invoked, returned, thread: column },
            part: Part::During,
            column,
        }
    }

    #[test]
    fn which_operations_come_first() {
        let spans = [(1, 0, 4), (1, 4, 6), (2, 2, 3), (2, 8, 8), (3, 8, 8)];
        let operations = spans.map(|(column, from, to)| operation(column, from, to)).into();
        let history = History { operations };
        assert_eq!(history.predecessors(Order::Linearizable), [0, 0b101, 0, 0b111, 0b111]);
        assert_eq!(history.predecessors(Order::Sequential), [0, 0b1, 0, 0b100, 0]);
        assert_eq!(history.predecessors(Order::Quiescent), [0, 0b101, 0, 0b111, 0b111]);
    }

    #[test]
    fn a_running_operation_is_no_quiet_moment() {
        let spans = [(1, 0, 9), (2, 1, 2), (2, 3, 4)];
        let operations = spans.map(|(column, from, to)| operation(column, from, to)).into();
        let history = History { operations };
        assert_eq!(history.predecessors(Order::Quiescent), [0, 0, 0]);
        assert_eq!(history.predecessors(Order::Linearizable), [0, 0, 0b10]);
    }
}
