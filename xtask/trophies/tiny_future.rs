//! A future of an `Rc` is `Send`: two threads count the same references.
//@ crate: tiny_future = "=0.3.2"
//@ known: RUSTSEC-2020-0118
//@ kind: race
//@ shows: RcInner.strong
use std::{rc::Rc, thread};

use tiny_future::Future;

fn main() {
    let ours = Rc::new(1);
    let future: Future<Rc<u32>> = Future::new();
    future.set(ours.clone()).ok();
    let thread = thread::spawn(move || drop(future));
    drop(ours.clone());
    thread.join().unwrap();
}
