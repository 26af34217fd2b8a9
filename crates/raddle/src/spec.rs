//! What must never be, and what must be some day.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Under Raddle, so many turns of all other threads are as good as for ever.
const TURNS: u32 = 1_000;
/// Without it, this is.
const PATIENCE: Duration = Duration::from_secs(10);

/// Fails if `is_so` holds: it must not, here.
///
/// # Panics
///
/// Then.
#[track_caller]
pub fn never(what: &str, is_so: bool) {
    assert!(!is_so, "never: {what}");
}

/// Lets other threads go on until `is_so` gives back true.
///
/// # Panics
///
/// If it does not, although all others have had their turns.
#[track_caller]
pub fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = (!crate::is_on()).then(Instant::now);
    let mut n_turns = 0;
    while !is_so() {
        n_turns += 1;
        let is_late = start.map_or(n_turns > TURNS, |it| it.elapsed() > PATIENCE);
        assert!(!is_late, "not even in the end: {what}");
        thread::yield_now();
    }
}
