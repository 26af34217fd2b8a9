// Experiment 5 in Rust: see service.c.
use std::{sync::Mutex, thread};

const N_FLAGS: usize = 29;

struct State {
    flags: [u32; N_FLAGS],
    counts: [u32; N_FLAGS],
    n_sessions: u32,
}

static STATE: Mutex<State> =
    Mutex::new(State { flags: [0; N_FLAGS], counts: [0; N_FLAGS], n_sessions: 0 });
static CLOSING: Mutex<()> = Mutex::new(());
static mut N_CLOSED: u32 = 0;

// A request of each kind is served at a place of its own.
macro_rules! serve {
    ($($kind:literal)*) => {
        $({
            let mut state = STATE.lock().unwrap();
            if state.flags[$kind] != 0 {
                state.counts[$kind] += 1;
            }
        })*
    };
}

fn first() {
    serve!(0 1 2 3 4 5 6 7 8 9);
}

fn second() {
    serve!(10 11 12 13 14 15 16 17 18 19);
}

fn third() {
    serve!(20 21 22 23 24 25 26 27);
    let is_closing = STATE.lock().unwrap().flags[28];
    if is_closing != 0 {
        unsafe { N_CLOSED += 1 };
    }
}

fn server() {
    for kind in 0..N_FLAGS {
        let mut state = STATE.lock().unwrap();
        state.flags[kind] = 1;
        state.n_sessions += 1;
    }
}

fn shutdown() {
    let n_sessions = STATE.lock().unwrap().n_sessions;
    let _locked = CLOSING.lock().unwrap();
    unsafe { N_CLOSED += n_sessions };
}

fn main() {
    let threads = [first, second, third, server, shutdown].map(|role| thread::spawn(role));
    for it in threads {
        it.join().unwrap();
    }
}
