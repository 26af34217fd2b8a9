// Experiment 4 in Rust: see crawler.c. Sleeping takes no time under Raddle: who sleeps longer comes later.
use std::{ptr, sync::Mutex, thread, time::Duration};

static N_WAITS: Mutex<u32> = Mutex::new(0);
static LOCK: Mutex<()> = Mutex::new(());
static mut CONNECTION: *const i32 = ptr::null();
static mut N_BYTES: u32 = 0;
static SOCKET: i32 = 7;

// A function of its own, as in the original: inlined, the test before the loop would be another place than the one
// in it.
#[inline(never)]
fn is_connected() -> bool {
    unsafe { !CONNECTION.is_null() }
}

fn waiter() {
    loop {
        if is_connected() {
            unsafe { N_BYTES += 1 };
            return;
        }
        *N_WAITS.lock().unwrap() += 1;
        thread::sleep(Duration::from_millis(1));
    }
}

fn opener() {
    thread::sleep(Duration::from_micros(2500));
    unsafe { CONNECTION = &SOCKET };
}

fn meter() {
    let _locked = LOCK.lock().unwrap();
    unsafe { N_BYTES += 10 };
}

fn main() {
    let threads = [waiter, opener, meter].map(|role| thread::spawn(role));
    for it in threads {
        it.join().unwrap();
    }
}
