//! `HConsed<Cell<…>>` is `Send` and `Sync`: two threads change the same cell.
//@ crate: hashconsing = "=1.0.1"
//@ known: RUSTSEC-2020-0107
//@ kind: race
use std::{cell::Cell, hash::{Hash, Hasher}, thread};

use hashconsing::{HConsed, HConsign, HashConsign};

#[derive(Clone, PartialEq, Eq)]
struct Node(Cell<u32>);

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.get().hash(state);
    }
}

fn main() {
    let mut factory: HConsign<Node> = HConsign::empty();
    let ours: HConsed<Node> = factory.mk(Node(Cell::new(1)));
    let theirs = ours.clone();
    let thread = thread::spawn(move || theirs.0.set(2));
    ours.0.set(3);
    thread.join().unwrap();
}
