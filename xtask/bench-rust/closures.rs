//! The closures that are explored, the same for all: only where `sync` and `thread` come from differs.

use std::collections::VecDeque;

use crate::model::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

/// By name.
pub fn closure(name: &str) -> fn() {
    match name {
        "fetch_add" => fetch_add,
        "mutex" => mutex,
        "buffer" => buffer,
        "threads" => threads,
        "lost_update" => lost_update,
        _ => panic!("no closure is called {name}"),
    }
}

/// Two threads, 100 `fetch_add` each.
fn fetch_add() {
    let count = Arc::new(AtomicUsize::new(0));
    let spawn = |count: Arc<AtomicUsize>| {
        thread::spawn(move || {
            for _ in 0..100 {
                count.fetch_add(1, SeqCst);
            }
        })
    };
    let threads = [spawn(count.clone()), spawn(count.clone())];
    threads.map(|it| it.join().unwrap());
    assert_eq!(count.load(SeqCst), 200);
}

/// Four threads, 50 increments under a mutex each.
fn mutex() {
    let count = Arc::new(Mutex::new(0));
    let spawn = |count: Arc<Mutex<i32>>| {
        thread::spawn(move || {
            for _ in 0..50 {
                *count.lock().unwrap() += 1;
            }
        })
    };
    let threads = [(); 4].map(|()| spawn(count.clone()));
    threads.map(|it| it.join().unwrap());
    assert_eq!(*count.lock().unwrap(), 200);
}

const ROOM: usize = 2;
const ITEMS: usize = 10;

struct Buffer {
    items: Mutex<VecDeque<usize>>,
    has_room: Condvar,
    has_items: Condvar,
}

/// A bounded buffer: two producers, two consumers, ten items each.
fn buffer() {
    let buffer = Arc::new(Buffer {
        items: Mutex::new(VecDeque::with_capacity(ROOM)),
        has_room: Condvar::new(),
        has_items: Condvar::new(),
    });
    let produce = |buffer: Arc<Buffer>| {
        thread::spawn(move || {
            for item in 0..ITEMS {
                let mut items = buffer.items.lock().unwrap();
                while items.len() == ROOM {
                    items = buffer.has_room.wait(items).unwrap();
                }
                items.push_back(item);
                drop(items);
                buffer.has_items.notify_one();
            }
        })
    };
    let consume = |buffer: Arc<Buffer>| {
        thread::spawn(move || {
            for _ in 0..ITEMS {
                let mut items = buffer.items.lock().unwrap();
                while items.is_empty() {
                    items = buffer.has_items.wait(items).unwrap();
                }
                items.pop_front();
                drop(items);
                buffer.has_room.notify_one();
            }
        })
    };
    let threads = [
        produce(buffer.clone()),
        produce(buffer.clone()),
        consume(buffer.clone()),
        consume(buffer.clone()),
    ];
    threads.map(|it| it.join().unwrap());
}

/// Twenty threads with one op each.
fn threads() {
    let count = Arc::new(AtomicUsize::new(0));
    let spawn = |count: Arc<AtomicUsize>| {
        thread::spawn(move || {
            count.fetch_add(1, SeqCst);
        })
    };
    let threads = [(); 20].map(|()| spawn(count.clone()));
    threads.map(|it| it.join().unwrap());
    assert_eq!(count.load(SeqCst), 20);
}

/// Two threads add one, by a load and a store. That one is lost is what happens, not a failure.
fn lost_update() {
    let count = Arc::new(AtomicUsize::new(0));
    let spawn = |count: Arc<AtomicUsize>| {
        thread::spawn(move || {
            let seen = count.load(SeqCst);
            count.store(seen + 1, SeqCst);
        })
    };
    let threads = [spawn(count.clone()), spawn(count.clone())];
    threads.map(|it| it.join().unwrap());
    assert!(count.load(SeqCst) > 0);
}
