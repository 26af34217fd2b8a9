// Experiment 3 in Rust: see monitor.c. Sleeping takes no time under Raddle: who sleeps longer comes later.
use std::{process, sync::Mutex, thread, time::Duration};

static N_ROUNDS: Mutex<u32> = Mutex::new(0);
static mut PING_INTERVAL: i32 = -1;
static mut N_FOUND: i32 = 0;
static mut CONFIGURED: i32 = 0;

fn monitor() {
    loop {
        if unsafe { PING_INTERVAL } <= 0 {
            *N_ROUNDS.lock().unwrap() += 1;
        } else {
            unsafe { N_FOUND += 1 };
        }
        unsafe { PING_INTERVAL = -1 };
        thread::sleep(Duration::from_millis(1));
    }
}

fn interface() {
    unsafe {
        PING_INTERVAL = 5;
        CONFIGURED = PING_INTERVAL;
    }
}

fn reader() {
    thread::sleep(Duration::from_micros(1500));
    unsafe { N_FOUND += 1 };
}

fn main() {
    thread::spawn(monitor);
    let threads = [interface, reader].map(|role| thread::spawn(role));
    for it in threads {
        it.join().unwrap();
    }
    thread::sleep(Duration::from_millis(5));
    process::exit(0);
}
