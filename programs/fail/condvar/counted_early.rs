//@ expect: panic
//@ execs: 1000
//@ cause: *sum += own;
//@ says: SUM T0
// A worker announces that it has finished before its result is in the sum. The wait is in a loop, whose first look at the
// condition is compiled apart from the others.
use std::{
    sync::{Condvar, Mutex},
    thread,
};

static FINISHED: Mutex<usize> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();
static SUM: Mutex<u64> = Mutex::new(0);

fn work(own: u64) {
    *FINISHED.lock().unwrap() += 1;
    CHANGED.notify_all();
    let mut sum = SUM.lock().unwrap();
    *sum += own;
}

fn wait(n_workers: usize) -> u64 {
    let mut finished = FINISHED.lock().unwrap();
    while *finished < n_workers {
        finished = CHANGED.wait(finished).unwrap();
    }
    drop(finished);
    *SUM.lock().unwrap()
}

fn main() {
    let workers = [1, 2].map(|own| thread::spawn(move || work(own)));
    assert_eq!(wait(2), 3, "a result is missing");
    for worker in workers {
        worker.join().unwrap();
    }
}
