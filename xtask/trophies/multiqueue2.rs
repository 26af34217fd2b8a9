//! The queue for futures can be sent to another thread whatever it has: two threads count the same references.
//@ crate: multiqueue2 = "=0.1.6"
//@ known: RUSTSEC-2020-0106
//@ kind: race
//@ shows: RcInner.strong
use std::{rc::Rc, thread};

fn main() {
    let ours = Rc::new(1);
    let (sender, receiver) = multiqueue2::mpmc_fut_queue(2);
    sender.try_send(ours.clone()).ok().unwrap();
    let thread = thread::spawn(move || drop(receiver.try_recv()));
    drop(ours.clone());
    thread.join().unwrap();
}
