//! Executions that did not come to an end of their own: what they did, and where. No findings.

use raddle_model::{Place, Standstill};
use raddle_trace::Trace;

use super::{ending::end_stack, names::Names};
use crate::target::Symbols;

/// Executions that say nothing about the program, for one reason at one place.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Inconclusive {
    /// What they did.
    pub why: Standstill,
    /// How many.
    pub count: u64,
    /// Where the first of them was, innermost first.
    pub stack: Vec<Place>,
}

impl Inconclusive {
    /// Of an execution, if it is one.
    pub(crate) fn of(trace: &Trace, symbols: &mut dyn Symbols) -> Option<Inconclusive> {
        trace.end.filter(|it| it.is_inconclusive())?;
        let stack = end_stack(trace, &mut Names::new(trace, symbols));
        Some(Inconclusive { why: trace.standstill.clone(), count: 1, stack })
    }

    /// Is it the same reason, at the same place? How long it took is not part of it.
    pub(crate) fn is_like(&self, other: &Inconclusive) -> bool {
        self.stack.first() == other.stack.first() && self.why.is_like(&other.why)
    }
}
