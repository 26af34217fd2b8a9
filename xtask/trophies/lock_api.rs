//! With `send_guard`, the mapped guard of an `Rc` is `Send`: two threads count the same references.
//@ crate: parking_lot = { version = "=0.11.0", features = ["send_guard"] }
//@ crate: lock_api = "=0.4.1"
//@ known: RUSTSEC-2020-0070
//@ kind: race
//@ shows: RcInner.strong
use std::{rc::Rc, thread};

use parking_lot::{Mutex, MutexGuard};

fn main() {
    let ours = Rc::new(1);
    let mutex: &'static Mutex<Rc<u32>> = Box::leak(Box::new(Mutex::new(ours.clone())));
    let guard = MutexGuard::map(mutex.lock(), |it| it);
    let thread = thread::spawn(move || drop(Rc::clone(&guard)));
    drop(ours.clone());
    thread.join().unwrap();
}
