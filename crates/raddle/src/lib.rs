//! Explores the schedules of a closure with Raddle.
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
//! The closure uses the types of std, or of any crate. Under `cargo raddle test` it is called repeatedly in one process,
//! each time under another schedule, which takes microseconds; code after the call does not run. A panic, deadlock, race
//! or crash ends the search, and is stored, replayed and explained like any other finding. Without Raddle, as in `cargo
//! test`, the closure is called once.
//!
//! Every call must start from the same state: the closure must join the threads that it creates, and must not change
//! statics or captured values in a way that affects the next call. Raddle calls it twice to check that. If the two calls
//! differ, or if a test calls [`check`] twice, whole tests are executed instead, which is slower but otherwise equivalent.
//!
//! This crate links no library: it looks up the runtime when one of its functions is first called.

pub mod linear;
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

pub use linear::linear;

/// Explores a closure, within the budget of the command line.
pub fn check<R: Outcome>(closure: impl Fn() -> R) {
    Config::default().check(closure);
}

/// The budget and strategy for exploring a closure. The command line overrides them.
///
/// ```
/// raddle::Config { execs: Some(500), strategy: Some("pct:d=3"), ..Default::default() }.check(|| {});
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config<'a> {
    /// Maximum number of executions.
    pub execs: Option<u64>,
    /// Time limit.
    pub time: Option<Duration>,
    /// Strategy, as for `--strategy`.
    pub strategy: Option<&'a str>,
    /// Random seed.
    pub seed: Option<u64>,
    /// Id of a finding: only its schedule is executed.
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

/// Replays the schedule of the finding with this id.
///
/// Use it for permanent regression tests; `raddle replay` does the same from the command line.
pub fn replay<R: Outcome>(id: &str, closure: impl Fn() -> R) {
    Config { replay: Some(id), ..Config::default() }.check(closure);
}

/// Returns a number that the schedule chooses: every number in the range is explored. Without Raddle, it is the first one.
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
    assert!(n_choices > 0, "`raddle::any` requires a non-empty range");
    first + runtime::any(u32::try_from(n_choices).unwrap_or(u32::MAX))
}

/// Returns whether Raddle is exploring the program.
pub fn is_on() -> bool {
    runtime::is_on()
}

/// What a closure may return: `()`, or a `Result` whose `Err` is a failure.
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
