//! Is there an order of the operations that gives their results? (Wing and Gong, 1993; Lowe, 2017: states that were reached
//! with the same operations are looked at once.)

use std::collections::BTreeMap;

use super::{
    ModelOp, Op, Order,
    history::{Call, History},
    value::Value,
};

/// What operations do, one after the other.
pub(super) trait Model {
    /// What one operation leaves for the next.
    type State: Clone + PartialEq;
    /// Before the first operation.
    fn start(&self) -> Self::State;
    /// What a call returns; `None` if it blocks.
    fn apply(&self, state: &mut Self::State, call: &Call) -> Option<Box<dyn Value>>;
}

/// A value with the same operations.
pub(super) struct Stateful<'m, 'a, M> {
    pub(super) new: &'m (dyn Fn() -> M + 'a),
    pub(super) ops: &'m [ModelOp<'a, M>],
}

impl<M: Clone + PartialEq> Model for Stateful<'_, '_, M> {
    type State = M;

    fn start(&self) -> M {
        (self.new)()
    }

    fn apply(&self, state: &mut M, call: &Call) -> Option<Box<dyn Value>> {
        (self.ops[call.op])(state, call.argument)
    }
}

/// The structure itself: it can't be copied, so all calls are made again on a new one.
pub(super) struct Replay<'m, 'a, S> {
    pub(super) new: &'m (dyn Fn() -> S + Sync + 'a),
    pub(super) ops: &'m [Op<'a, S>],
}

impl<S> Model for Replay<'_, '_, S> {
    /// The calls so far.
    type State = Vec<Call>;

    fn start(&self) -> Vec<Call> {
        Vec::new()
    }

    fn apply(&self, calls: &mut Vec<Call>, call: &Call) -> Option<Box<dyn Value>> {
        let state = (self.new)();
        for it in &*calls {
            drop((self.ops[it.op].call)(&state, it.argument));
        }
        calls.push(*call);
        Some((self.ops[call.op].call)(&state, call.argument))
    }
}

/// Why no order explains a history.
#[derive(Debug, Default)]
pub(super) struct Reason {
    /// The longest order that explains all that is in it.
    pub(super) explained: Vec<u32>,
    /// Operations that could come next, and what they would return there.
    pub(super) refused: Vec<(u32, Option<String>)>,
}

/// Is there an order of the operations that gives their results?
pub(super) fn is_explained(history: &History, model: &impl Model, order: Order) -> bool {
    Search::new(history, model, order).find()
}

/// Why there is none.
pub(super) fn reason(history: &History, model: &impl Model, order: Order) -> Reason {
    let mut search = Search::new(history, model, order);
    search.is_told = true;
    search.find();
    search.reason
}

struct Search<'h, M: Model> {
    history: &'h History,
    model: &'h M,
    predecessors: Vec<u64>,
    /// The order so far.
    taken: Vec<u32>,
    /// States that lead nowhere, by the operations that led there.
    known: BTreeMap<u64, Vec<M::State>>,
    is_told: bool,
    reason: Reason,
}

impl<'h, M: Model> Search<'h, M> {
    fn new(history: &'h History, model: &'h M, order: Order) -> Search<'h, M> {
        assert!(history.operations.len() < 64, "a scenario has less than 64 operations");
        Search {
            history,
            model,
            predecessors: history.predecessors(order),
            taken: Vec::with_capacity(history.operations.len()),
            known: BTreeMap::new(),
            is_told: false,
            reason: Reason::default(),
        }
    }

    fn find(&mut self) -> bool {
        self.go_on(0, self.model.start())
    }

    /// Can those that are not yet `done` follow?
    fn go_on(&mut self, done: u64, state: M::State) -> bool {
        let n_operations = self.history.operations.len();
        if self.taken.len() == n_operations {
            return true;
        }
        if self.known.get(&done).is_some_and(|it| it.contains(&state)) {
            return false;
        }
        let is_longest = self.is_told && self.reason.explained.len() <= self.taken.len();
        let mut refused = Vec::new();
        for idx in 0..n_operations {
            let is_next = done & (1 << idx) == 0 && self.predecessors[idx] & !done == 0;
            if !is_next {
                continue;
            }
            let operation = &self.history.operations[idx];
            let mut after = state.clone();
            let result = self.model.apply(&mut after, &operation.call);
            if !result.as_ref().is_some_and(|it| operation.result.is(&**it)) {
                if is_longest {
                    refused.push((idx as u32, result.map(|it| it.text())));
                }
                continue;
            }
            self.taken.push(idx as u32);
            if self.go_on(done | 1 << idx, after) {
                return true;
            }
            self.taken.pop();
        }
        if is_longest && self.reason.explained.len() <= self.taken.len() && !refused.is_empty() {
            self.reason = Reason { explained: self.taken.clone(), refused };
        }
        self.known.entry(done).or_default().push(state);
        false
    }
}
