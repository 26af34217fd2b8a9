//@ expect: deadlock
//@ execs: 2000
//@ cause: if *paused { | *paused = true;
//@ undetected: all accesses are under the right locks
//@ says: RESUMED ARRIVED T1 T2
// Each side waits for the other. What was announced of `ARRIVED` has been taken: that nobody sends `RESUMED` is the bug.
use std::{
    sync::{Condvar, Mutex},
    thread,
};

static ITEMS: Mutex<u32> = Mutex::new(0);
static ARRIVED: Condvar = Condvar::new();
static PAUSED: Mutex<bool> = Mutex::new(false);
static RESUMED: Condvar = Condvar::new();

fn produce() {
    for is_last in [false, true] {
        *ITEMS.lock().unwrap() += 1;
        ARRIVED.notify_one();
        if is_last {
            break;
        }
        let mut paused = PAUSED.lock().unwrap();
        *paused = true;
        while *paused {
            paused = RESUMED.wait(paused).unwrap();
        }
    }
}

fn consume() {
    for _ in 0..2 {
        let mut items = ITEMS.lock().unwrap();
        while *items == 0 {
            items = ARRIVED.wait(items).unwrap();
        }
        *items -= 1;
        drop(items);
        let mut paused = PAUSED.lock().unwrap();
        if *paused {
            *paused = false;
            RESUMED.notify_one();
        }
    }
}

fn main() {
    let threads = [thread::spawn(produce), thread::spawn(consume)];
    for it in threads {
        it.join().unwrap();
    }
}
