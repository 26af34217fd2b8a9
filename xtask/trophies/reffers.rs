//! `ARefss` of an `Rc` is `Send`: two threads count the same references.
//@ crate: reffers = "=0.6.0"
//@ known: RUSTSEC-2020-0094
//@ kind: race
//@ shows: RcInner.strong
use std::{rc::Rc, thread};

use reffers::ARefss;

fn main() {
    let ours = Rc::new(1);
    let theirs: &'static Rc<u32> = Box::leak(Box::new(ours.clone()));
    let theirs = ARefss::new(Box::new(0)).map(|_| theirs);
    let thread = thread::spawn(move || drop(Rc::clone(&theirs)));
    drop(ours.clone());
    thread.join().unwrap();
}
