//! Conditions that must never hold, and conditions that must eventually hold.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Under Raddle, this many turns of all other threads count as never.
const TURNS: u32 = 1_000;
/// Without Raddle, this time counts as never.
const PATIENCE: Duration = Duration::from_secs(10);

/// Fails if `is_so` holds.
///
/// # Panics
///
/// If `is_so` is true.
#[track_caller]
pub fn never(what: &str, is_so: bool) {
    assert!(!is_so, "never: {what}");
}

/// Lets other threads run until `is_so` returns true.
///
/// # Panics
///
/// If it never does, although all other threads have run.
#[track_caller]
pub fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = (!crate::is_on()).then(Instant::now);
    let mut n_turns = 0;
    while !is_so() {
        n_turns += 1;
        let is_late = start.map_or(n_turns > TURNS, |it| it.elapsed() > PATIENCE);
        assert!(!is_late, "eventually: {what}: never happened");
        thread::yield_now();
    }
}
