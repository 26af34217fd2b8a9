//! Waits with a time limit, of std: each may time out in some schedule, and is woken in others.

use std::{
    sync::{Condvar, Mutex, mpsc},
    thread,
    time::Duration,
};

const A_WHILE: Duration = Duration::from_millis(50);

/// Whoever receives must be ready for either.
#[test]
fn a_message_may_come_too_late() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || drop(sender.send(7)));
    if let Ok(number) = receiver.recv_timeout(A_WHILE) {
        assert_eq!(number, 7);
    }
    thread.join().unwrap();
}

#[test]
fn a_condition_is_looked_at_again() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        let (is_ready, limit) =
            changed.wait_timeout_while(ready.lock().unwrap(), A_WHILE, |it| !*it).unwrap();
        assert!(*is_ready || limit.timed_out());
    });
}

/// The sender takes a lock first, so the message may be late: taken for the end of all messages.
#[test]
fn late_is_taken_for_never() {
    let lock = Mutex::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            *lock.lock().unwrap() += 1;
            sender.send(7).unwrap();
        });
        *lock.lock().unwrap() += 1;
        assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Ok(7));
    });
}

/// A wait that times out is taken for one that was notified.
#[test]
fn a_timeout_is_not_looked_at() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        let is_ready = ready.lock().unwrap();
        if !*is_ready {
            let (is_ready, _) =
                changed.wait_timeout(is_ready, Duration::from_millis(1)).unwrap();
            assert!(*is_ready);
        }
    });
}
