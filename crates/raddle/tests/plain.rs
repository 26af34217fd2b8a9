//! Without Raddle: one call, and nothing else.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    thread,
};

use raddle::{Config, any, check, spec};

#[test]
fn a_closure_is_called_once() {
    let n_calls = AtomicU32::new(0);
    check(|| {
        n_calls.fetch_add(1, Relaxed);
    });
    Config { execs: Some(100), ..Config::default() }.check(|| -> Result<(), String> {
        n_calls.fetch_add(1, Relaxed);
        Ok(())
    });
    assert_eq!(n_calls.load(Relaxed), 2);
    assert!(!raddle::is_on());
}

#[test]
fn failures_are_the_callers() {
    let message = |closure: &dyn Fn()| {
        let payload = catch_unwind(AssertUnwindSafe(closure)).expect_err("it fails");
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string)).expect("text")
    };
    let panics: fn() = || panic!("one");
    assert_eq!(message(&|| check(panics)), "one");
    assert_eq!(message(&|| check(|| Err("two"))), "the closure failed: \"two\"");
    assert_eq!(message(&|| spec::never("both hold it", true)), "never: both hold it");
    let empty = || {
        any(3..3);
    };
    assert_eq!(message(&empty), "`raddle::any` requires a non-empty range");
}

#[test]
fn numbers_are_within_their_range() {
    assert_eq!((any(..), any(4..=4), any(2..9)), (0, 4, 2));
}

#[test]
fn what_happens_eventually_is_waited_for() {
    let done = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| done.store(1, Relaxed));
        spec::eventually("it is done", || done.load(Relaxed) == 1);
        spec::never("it is undone", done.load(Relaxed) == 0);
    });
}
