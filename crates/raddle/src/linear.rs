//! Data structures: do several threads' operations look as if they had been called one after the other?
//!
//! ```
//! use std::{collections::VecDeque, sync::Mutex};
//!
//! // In a #[test]:
//! raddle::linear(|| Mutex::new(VecDeque::new()))
//!     .op("push", 1..=2, |queue, x| queue.lock().unwrap().push_back(x))
//!     .op("pop", (), |queue, ()| queue.lock().unwrap().pop_front())
//!     .check();
//! ```
//!
//! Under `cargo raddle test`, each execution draws a scenario (which thread calls which operations with which arguments)
//! with [`any`](crate::any), runs it under a schedule, and then searches for an order of the operations that gives the
//! same results: [linearizability](https://cs.brown.edu/~mph/HerlihyW90/p463-herlihy.pdf). If there is none, that is a
//! finding: Raddle makes the scenario small, then its schedule, and prints a table of both.
//!
//! What the results should be, the structure itself says: each order is tried on a new one, by one thread. If one thread
//! alone can get wrong results, give a [model](Linear::model): a simple value with the same operations.
//!
//! Without Raddle, `check` runs one scenario with real threads.

mod arguments;
mod history;
mod plain;
mod scenario;
mod search;
mod value;

use std::{
    fmt::{self, Debug, Formatter},
    panic::resume_unwind,
    thread::{self, ScopedJoinHandle},
};

pub use self::{arguments::Arguments, value::Value};
use self::{
    history::{Call, History, Part},
    scenario::{Scenario, Shape},
    search::{Model, Replay, Stateful},
};
use crate::{Config, runtime};

/// Begins a linearizability test of the values that `new` makes. See the [module](self).
pub fn linear<'a, S: Sync + 'a>(new: impl Fn() -> S + Sync + 'a) -> Linear<'a, S> {
    Linear {
        new: Box::new(new),
        model: Itself,
        ops: Vec::new(),
        shape: Shape::default(),
        order: Order::Linearizable,
        config: Config::default(),
    }
}

/// A linearizability test: what is tested, its operations, and which scenarios are tried.
pub struct Linear<'a, S, M = Itself> {
    new: Box<dyn Fn() -> S + Sync + 'a>,
    model: M,
    ops: Vec<Op<'a, S>>,
    shape: Shape,
    order: Order,
    config: Config<'a>,
}

/// The structure is its own model: each order of the operations is tried on a new one.
#[derive(Clone, Copy, Debug)]
pub struct Itself;

/// A value with the same operations is the model.
pub struct By<'a, M> {
    new: Box<dyn Fn() -> M + 'a>,
    ops: Vec<ModelOp<'a, M>>,
}

/// An operation on a model; `None` if it blocks.
type ModelOp<'a, M> = Box<dyn Fn(&mut M, u32) -> Option<Box<dyn Value>> + 'a>;

/// A call with the arguments of this number.
type CallOf<'a, S> = dyn Fn(&S, u32) -> Box<dyn Value> + Sync + 'a;

/// An operation with its arguments.
struct Op<'a, S> {
    name: &'a str,
    n_arguments: u32,
    /// Calls it with the arguments of this number.
    call: Box<CallOf<'a, S>>,
    /// `push(1)`, by number.
    texts: Vec<String>,
}

/// Which orders of the operations may explain their results. The numbers are those of `raddle.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Linearizable = 0,
    Sequential = 1,
    Quiescent = 2,
}

impl<S, M> Debug for Linear<'_, S, M> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ops: Vec<&str> = self.ops.iter().map(|it| it.name).collect();
        f.debug_struct("Linear").field("ops", &ops).finish_non_exhaustive()
    }
}

impl<M> Debug for By<'_, M> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("By").finish_non_exhaustive()
    }
}

impl<'a, S: Sync + 'a> Linear<'a, S> {
    /// Adds an operation: its name, its arguments ([`Arguments`]: `()`, a range, an array, or a pair of those), and a call.
    #[must_use]
    pub fn op<A: Arguments + Sync + 'a, R: Value>(
        mut self,
        name: &'a str,
        arguments: A,
        call: impl Fn(&S, A::Item) -> R + Sync + 'a,
    ) -> Self {
        self.add(name, arguments, call);
        self
    }

    /// Compares with a model from now on: a value that one thread changes. Operations come after this.
    ///
    /// # Panics
    ///
    /// If there are operations already.
    #[must_use]
    pub fn model<M: Clone + PartialEq + 'a>(
        self,
        new: impl Fn() -> M + 'a,
    ) -> Linear<'a, S, By<'a, M>> {
        assert!(self.ops.is_empty(), "`model` must come before the first `op`");
        let Linear { new: of, ops, shape, order, config, model: Itself } = self;
        let model = By { new: Box::new(new), ops: Vec::new() };
        Linear { new: of, model, ops, shape, order, config }
    }

    /// Explores scenarios and schedules, within the budget of the command line.
    pub fn check(self) {
        let replay = Replay { new: &*self.new, ops: &self.ops };
        self.explore(&replay);
    }
}

impl<'a, S: Sync + 'a, M: Clone + PartialEq + 'a> Linear<'a, S, By<'a, M>> {
    /// Adds an operation: its name, its arguments ([`Arguments`]), the call, and the same call on the model.
    #[must_use]
    pub fn op<A: Arguments + Clone + Sync + 'a, R: Value>(
        mut self,
        name: &'a str,
        arguments: A,
        call: impl Fn(&S, A::Item) -> R + Sync + 'a,
        model: impl Fn(&mut M, A::Item) -> R + 'a,
    ) -> Self {
        let of_model = arguments.clone();
        self.model
            .ops
            .push(Box::new(move |state, n| Some(Box::new(model(state, of_model.item(n))))));
        self.add(name, arguments, call);
        self
    }

    /// Explores scenarios and schedules, within the budget of the command line.
    pub fn check(self) {
        let model = Stateful { new: &*self.model.new, ops: &self.model.ops };
        self.explore(&model);
    }
}

impl<'a, S: Sync + 'a, M> Linear<'a, S, M> {
    /// How many threads call operations: 2 if it is not said.
    #[must_use]
    pub fn threads(mut self, n_threads: usize) -> Self {
        self.shape.n_threads = n_threads.max(1);
        self
    }

    /// How many operations each thread calls, at most: 3 if it is not said.
    #[must_use]
    pub fn operations(mut self, n_operations: usize) -> Self {
        self.shape.n_each = n_operations.max(1);
        self
    }

    /// How many operations are called before the threads start, at most: 2 if it is not said.
    #[must_use]
    pub fn before(mut self, n_operations: usize) -> Self {
        self.shape.n_before = n_operations;
        self
    }

    /// How many operations are called after the threads have ended, at most: 2 if it is not said.
    #[must_use]
    pub fn after(mut self, n_operations: usize) -> Self {
        self.shape.n_after = n_operations;
        self
    }

    /// Requires only that an order exists which keeps that of each thread.
    #[must_use]
    pub const fn sequentially_consistent(mut self) -> Self {
        self.order = Order::Sequential;
        self
    }

    /// Requires only that operations keep their order if there was a moment between them when none was running.
    #[must_use]
    pub const fn quiescently_consistent(mut self) -> Self {
        self.order = Order::Quiescent;
        self
    }

    /// Budget and strategy, which the command line overrides.
    #[must_use]
    pub const fn config(mut self, config: Config<'a>) -> Self {
        self.config = config;
        self
    }

    fn add<A: Arguments + Sync + 'a, R: Value>(
        &mut self,
        name: &'a str,
        arguments: A,
        call: impl Fn(&S, A::Item) -> R + Sync + 'a,
    ) {
        let n_arguments = arguments.count();
        assert!(n_arguments > 0, "`{name}` has no arguments to choose from");
        // Texts are made of a failing history only, from the same numbers.
        let texts: Vec<String> =
            (0..n_arguments).map(|n| value::call_text(name, &arguments.item(n))).collect();
        self.ops.push(Op {
            name,
            n_arguments,
            call: Box::new(move |state, n| Box::new(call(state, arguments.item(n)))),
            texts,
        });
    }

    fn explore(&self, model: &impl Model) {
        assert!(!self.ops.is_empty(), "a linearizability test needs an operation");
        let counts: Vec<u32> = self.ops.iter().map(|it| it.n_arguments).collect();
        let hooks = runtime::Hooks::find();
        let wrong = self.alone(model, &counts);
        self.config.check(|| {
            if let Some(wrong) = &wrong {
                self.report(wrong, model, hooks.as_ref());
            }
            let scenario = Scenario::draw(&self.shape, &counts, hooks.is_some());
            let history = self.run(&scenario, hooks.as_ref());
            if !search::is_explained(&history, model, self.order) {
                self.report(&history, model, hooks.as_ref());
            }
        });
    }

    /// Short sequences of calls by one thread: one that disagrees with the model already, if there is one.
    fn alone(&self, model: &impl Model, counts: &[u32]) -> Option<History> {
        scenario::short(counts).into_iter().find_map(|calls| {
            let history = self.run(&Scenario::of_one(calls), None);
            (!search::is_explained(&history, model, self.order)).then_some(history)
        })
    }

    /// Runs a scenario.
    fn run(&self, scenario: &Scenario, hooks: Option<&runtime::Hooks>) -> History {
        let state = (self.new)();
        let (state, ops) = (&state, &self.ops);
        let call = move |call: &Call, part, column| {
            let begun = runtime::begin(hooks);
            let result = (ops[call.op].call)(state, call.argument);
            history::Operation {
                call: *call,
                result,
                span: runtime::end(hooks, begun, column),
                part,
                column,
            }
        };
        let mut all: Vec<_> = scenario.before.iter().map(|it| call(it, Part::Before, 0)).collect();
        if !scenario.threads.is_empty() {
            thread::scope(|scope| {
                let call = &call;
                let of_thread = |(column, calls): (u32, &'_ Vec<Call>)| {
                    let calls = calls.clone();
                    scope.spawn(move || {
                        calls.iter().map(|it| call(it, Part::During, column)).collect::<Vec<_>>()
                    })
                };
                let threads: Vec<ScopedJoinHandle<'_, _>> =
                    (1..).zip(&scenario.threads).map(of_thread).collect();
                for thread in threads {
                    all.extend(thread.join().unwrap_or_else(|it| resume_unwind(it)));
                }
            });
        }
        all.extend(scenario.after.iter().map(|it| call(it, Part::After, 0)));
        History { operations: all }
    }

    /// Says that no order explains a history: a finding, or a panic without Raddle.
    fn report(&self, history: &History, model: &impl Model, hooks: Option<&runtime::Hooks>) {
        let told = history.told(&self.ops, search::reason(history, model, self.order), self.order);
        match hooks {
            Some(hooks) => runtime::not_linearizable(hooks, &told),
            None => panic!("{}", plain::text(&told)),
        }
    }
}
