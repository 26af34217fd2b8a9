//! `TreeFocus` of a vector of `Rc`s is `Send`: two threads count the same references.
//@ crate: im = "=15.0.0"
//@ known: RUSTSEC-2020-0096
//@ kind: race
use std::{rc::Rc, thread};

use im::vector::{Focus, Vector};

fn main() {
    let ours = Rc::new(1);
    let vector: Vector<Rc<u32>> = (0..200).map(|_| ours.clone()).collect();
    let vector: &'static Vector<Rc<u32>> = Box::leak(Box::new(vector));
    let Focus::Full(tree) = vector.focus() else { unreachable!("it is a tree") };
    let thread = thread::spawn(move || {
        let mut focus = Focus::Full(tree);
        drop(focus.get(100).cloned());
    });
    drop(ours.clone());
    thread.join().unwrap();
}
