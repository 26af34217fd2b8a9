//! A reference to a key outlives the lock of its part of the map: another thread removes the entry.
//@ crate: dashmap = "=5.0.0"
//@ known: RUSTSEC-2022-0002
//@ kind: misuse
use std::{sync::Arc, thread};

use dashmap::DashMap;

fn main() {
    let map = Arc::new(DashMap::new());
    map.insert(1, String::from("one"));
    let theirs = map.clone();
    let thread = thread::spawn(move || drop(theirs.remove(&1)));
    let text: Option<&String> = map.iter().next().map(|it| it.pair().1);
    assert!(text.is_none_or(|it| it.len() == 3 && it.starts_with('o')));
    thread.join().unwrap();
}
