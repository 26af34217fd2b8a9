//! What a Rust program can say to Raddle: above all, that a closure is to be explored.
//!
//! ```
//! use std::{sync::{Arc, Mutex}, thread};
//!
//! // In a #[test]:
//! raddle::check(|| {
//!     let count = Arc::new(Mutex::new(0));
//!     let other = Arc::clone(&count);
//!     let thread = thread::spawn(move || *other.lock().unwrap() += 1);
//!     *count.lock().unwrap() += 1;
//!     thread.join().unwrap();
//!     assert_eq!(*count.lock().unwrap(), 2);
//! });
//! ```
//!
//! The types are std's own, or any crate's. Under `cargo raddle test` the closure is called again and again in
//! one process, each time under another schedule, which takes microseconds; what follows the call is not
//! reached. A panic, deadlock, race or crash ends the search, and is kept, replayed and explained like any other
//! finding. Without Raddle, as in `cargo test`, the closure is called once, and that is all.
//!
//! The closure begins its work anew at each call: it must join the threads that it creates, and must not
//! leave behind what changes the next call (values in statics or in what it captures). Raddle calls it twice to
//! find out; if it does not do the same, or if a test calls [`check`] twice, whole tests are executed instead,
//! which is slower and otherwise the same.
//!
//! Nothing is linked: the runtime is looked for when a function here is first called.

#[expect(unsafe_code, reason = "calls the runtime, if there is one")]
mod runtime;
pub mod spec;

use std::{
    any::Any,
    fmt::Debug,
    ops::{Bound, RangeBounds},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::Duration,
};

/// Explores a closure, as far as the command line says.
pub fn check<R: Outcome>(closure: impl Fn() -> R) {
    Config::default().check(closure);
}

/// How far a closure is to be explored. What the command line says about the same things wins.
///
/// ```
/// raddle::Config { execs: Some(500), strategy: Some("pct:d=3"), ..Default::default() }.check(|| {});
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config<'a> {
    /// Executions, at most.
    pub execs: Option<u64>,
    /// How long, at most.
    pub time: Option<Duration>,
    /// A strategy, as after `--strategy`.
    pub strategy: Option<&'a str>,
    /// What all random choices come from.
    pub seed: Option<u64>,
    /// The id of a finding: its schedule is executed again, and no other.
    pub replay: Option<&'a str>,
}

impl Config<'_> {
    /// Explores a closure.
    pub fn check<R: Outcome>(&self, closure: impl Fn() -> R) {
        if *self != Config::default() {
            runtime::ask(self);
        }
        let mut failure: Option<Box<dyn Any + Send>> = None;
        // A panic must not cross the runtime: it goes on from here.
        runtime::check(&mut || {
            let result = catch_unwind(AssertUnwindSafe(|| closure().settle()));
            result.map_err(|it| failure = Some(it)).is_ok()
        });
        if let Some(failure) = failure {
            resume_unwind(failure);
        }
    }
}

/// Executes the schedule of a finding again: `id` is what Raddle called it.
///
/// For a test that is to stay; `raddle replay` does the same without one.
pub fn replay<R: Outcome>(id: &str, closure: impl Fn() -> R) {
    Config { replay: Some(id), ..Config::default() }.check(closure);
}

/// A number that the schedule chooses: each of the range is explored. Without Raddle, the first.
///
/// # Panics
///
/// If the range is empty, or not within `u32`.
pub fn any(range: impl RangeBounds<u32>) -> u32 {
    let first = match range.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before + 1,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => u64::from(*last) + 1,
        Bound::Excluded(end) => u64::from(*end),
        Bound::Unbounded => u64::from(u32::MAX) + 1,
    };
    let n_choices = end.saturating_sub(u64::from(first));
    assert!(n_choices > 0, "`raddle::any` needs a range that is not empty");
    first + runtime::any(u32::try_from(n_choices).unwrap_or(u32::MAX))
}

/// Is the program explored by Raddle now?
pub fn is_on() -> bool {
    runtime::is_on()
}

/// What a closure may give back: nothing, or a `Result`, of which an error is a failure.
pub trait Outcome {
    /// Panics if it is a failure.
    fn settle(self);
}

impl Outcome for () {
    fn settle(self) {}
}

impl<E: Debug> Outcome for Result<(), E> {
    #[track_caller]
    fn settle(self) {
        if let Err(error) = self {
            panic!("the closure failed: {error:?}");
        }
    }
}
