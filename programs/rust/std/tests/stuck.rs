//! Each test ends in a deadlock, under every schedule or some: reports must call things by their names.

use std::{
    sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, mpsc},
    thread,
};

#[derive(Default)]
struct Queue {
    lock: Mutex<Vec<u32>>,
    table: RwLock<u32>,
    filled: Condvar,
}

#[test]
fn parked() {
    let thread = thread::spawn(|| thread::park());
    thread.join().unwrap();
}

#[test]
fn barrier() {
    let barrier = Arc::new(Barrier::new(3));
    let other = Arc::clone(&barrier);
    let thread = thread::spawn(move || {
        other.wait();
    });
    barrier.wait();
    thread.join().unwrap();
}

#[test]
fn receiver() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let thread = thread::spawn(move || receiver.recv().unwrap());
    thread.join().unwrap();
    drop(sender);
}

#[test]
fn sender() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || (0..2).for_each(|it| sender.send(it).unwrap()));
    thread.join().unwrap();
    drop(receiver);
}

#[test]
fn scope() {
    thread::scope(|scope| {
        scope.spawn(|| thread::park());
    });
}

#[test]
fn once() {
    static ONCE: Once = Once::new();
    thread::spawn(|| ONCE.wait()).join().unwrap();
}

#[test]
fn locks() {
    let queue = Arc::new(Queue::default());
    let other = Arc::clone(&queue);
    let thread = thread::spawn(move || {
        let _table = other.table.write().unwrap();
        other.lock.lock().unwrap().push(1);
    });
    let items = queue.lock.lock().unwrap();
    let table = queue.table.read().unwrap();
    drop((items, table));
    thread.join().unwrap();
}

#[test]
fn condvar() {
    let queue = Arc::new(Queue::default());
    let other = Arc::clone(&queue);
    let thread = thread::spawn(move || {
        let items = other.lock.lock().unwrap();
        drop(other.filled.wait(items).unwrap());
    });
    queue.filled.notify_one();
    thread.join().unwrap();
}
