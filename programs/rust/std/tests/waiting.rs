//! Threads that wait for others in loops of their own making: whoever does nothing new gives way, in every schedule.

use std::{
    sync::{Arc, Mutex, RwLock, atomic::{AtomicUsize, Ordering}, mpsc},
    thread,
    time::Duration,
};

#[test]
fn a_mutex_is_polled() {
    let ready = Mutex::new(false);
    thread::scope(|scope| {
        scope.spawn(|| *ready.lock().unwrap() = true);
        while !*ready.lock().unwrap() {}
    });
}

#[test]
fn a_mutex_is_tried_for() {
    let ready = Mutex::new(false);
    thread::scope(|scope| {
        scope.spawn(|| *ready.lock().unwrap() = true);
        while !ready.try_lock().is_ok_and(|it| *it) {}
    });
}

#[test]
fn a_rwlock_is_polled() {
    let ready = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *ready.write().unwrap() += 1);
        while *ready.read().unwrap() == 0 {}
    });
}

#[test]
fn a_channel_is_polled() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(7).unwrap());
    let received = loop {
        if let Ok(it) = receiver.try_recv() {
            break it;
        }
    };
    assert_eq!(received, 7);
    thread.join().unwrap();
}

#[test]
fn a_reference_count_is_polled() {
    let shared = Arc::new(());
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || drop(other));
    while Arc::strong_count(&shared) > 1 {}
    thread.join().unwrap();
}

#[test]
fn no_time_is_parked_for() {
    let ready = Mutex::new(false);
    thread::scope(|scope| {
        scope.spawn(|| *ready.lock().unwrap() = true);
        while !*ready.lock().unwrap() {
            thread::park_timeout(Duration::ZERO);
        }
    });
}

#[test]
fn rounds_are_counted() {
    let (ready, n_rounds) = (Mutex::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| *ready.lock().unwrap() = true);
        while !*ready.lock().unwrap() {
            n_rounds.fetch_add(1, Ordering::Relaxed);
        }
    });
}
