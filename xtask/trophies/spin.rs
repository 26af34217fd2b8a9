//! The lock is released by a relaxed store, which orders nothing: the next holder need not see what was written.
//@ crate: spin = "=0.5.0"
//@ known: RUSTSEC-2019-0013
//@ kind: race
use std::{sync::Arc, thread};

fn main() {
    let sum = Arc::new(spin::RwLock::new(0));
    let threads = [sum.clone(), sum].map(|it| thread::spawn(move || *it.write() += 1));
    for thread in threads {
        thread.join().unwrap();
    }
}
