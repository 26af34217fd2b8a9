//! A `Bunch` of `Cell`s is `Sync`: two threads change one of them.
//@ crate: bunch = "=0.1.0"
//@ known: RUSTSEC-2020-0130
//@ kind: race
use std::{cell::Cell, sync::Arc, thread};

use bunch::Bunch;

fn main() {
    let all = Arc::new(Bunch::new());
    all.push(Cell::new(1));
    let theirs = all.clone();
    let thread = thread::spawn(move || theirs.get(0).set(2));
    all.get(0).set(3);
    thread.join().unwrap();
}
