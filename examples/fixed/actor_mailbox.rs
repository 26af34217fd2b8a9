//! An actor that is scheduled when its mailbox is not empty. After it has marked itself idle, it looks once more.
use std::{
    collections::VecDeque,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    thread,
};

#[derive(Default)]
struct Actor {
    mailbox: Mutex<VecDeque<u32>>,
    is_scheduled: AtomicBool,
    total: AtomicU32,
}

impl Actor {
    /// Puts a message into the mailbox, and runs the actor if nobody does.
    fn send(&self, message: u32) {
        self.mailbox.lock().unwrap().push_back(message);
        self.schedule();
    }

    fn schedule(&self) {
        if !self.is_scheduled.swap(true, SeqCst) {
            self.run();
        }
    }

    fn run(&self) {
        while let Some(message) = self.next() {
            self.total.fetch_add(message, SeqCst);
        }
        self.is_scheduled.store(false, SeqCst);
        if !self.mailbox.lock().unwrap().is_empty() {
            self.schedule();
        }
    }

    fn next(&self) -> Option<u32> {
        self.mailbox.lock().unwrap().pop_front()
    }
}

fn main() {
    let actor = Actor::default();
    thread::scope(|scope| {
        scope.spawn(|| actor.send(1));
        scope.spawn(|| actor.send(2));
    });
    assert_eq!(actor.total.load(SeqCst), 3, "a message was not handled");
}
