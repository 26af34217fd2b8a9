//! `RcuCell<…>` is `Sync` for every content: two threads count the same references.
//@ crate: rcu_cell = "=0.1.8"
//@ known: RUSTSEC-2020-0131
//@ kind: race
//@ shows: RcInner.strong
use std::{rc::Rc, sync::Arc, thread};

use rcu_cell::RcuCell;

fn main() {
    let ours = Rc::new(1);
    let cell = Arc::new(RcuCell::new(Some(ours.clone())));
    let thread = thread::spawn(move || drop(cell.read().map(|it| Rc::clone(&it))));
    drop(ours.clone());
    thread.join().unwrap();
}
