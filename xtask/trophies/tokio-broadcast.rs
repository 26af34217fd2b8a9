//! Two receivers clone the value at the same time, which need not be `Sync`.
//@ crate: tokio = { version = "=1.44.1", features = ["sync"] }
//@ known: RUSTSEC-2025-0023
//@ kind: race
use std::{cell::Cell, thread};

use tokio::sync::broadcast;

struct Counted(Cell<u32>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 1);
        Self(Cell::new(0))
    }
}

fn main() {
    let (sender, first) = broadcast::channel(2);
    let receivers = [first, sender.subscribe()];
    sender.send(Counted(Cell::new(0))).ok().unwrap();
    let threads = receivers.map(|mut it| thread::spawn(move || it.blocking_recv().is_ok()));
    for thread in threads {
        thread.join().unwrap();
    }
}
