//! `Atom<Rc<…>>` is `Send` and `Sync`: two threads count the same references.
//@ crate: atom = "=0.3.5"
//@ known: RUSTSEC-2020-0044
//@ kind: race
//@ shows: RcInner.strong
use std::{rc::Rc, sync::Arc, thread};

use atom::Atom;

fn main() {
    let ours = Rc::new(1);
    let atom = Arc::new(Atom::new(Box::new(ours.clone())));
    let thread = thread::spawn(move || drop(atom.take()));
    drop(ours.clone());
    thread.join().unwrap();
}
