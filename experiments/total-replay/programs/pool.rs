// Experiment 1 in Rust: see pool.c.
use std::{sync::Mutex, thread};

struct State {
    n_active: i32,
    n_idle: i32,
    made: i32,
    pool: [i32; 4],
    n_served: i32,
}

static STATE: Mutex<State> =
    Mutex::new(State { n_active: 0, n_idle: 3, made: 0, pool: [0; 4], n_served: 0 });
static mut FACTORY: i32 = 1;

fn returner() {
    let mut state = STATE.lock().unwrap();
    state.n_active += 1;
    state.pool[0] = state.n_idle;
    state.n_served += 1;
}

fn borrower() {
    let mut state = STATE.lock().unwrap();
    state.n_served += 1;
    state.pool[2] = state.pool[0] + state.pool[1];
    if state.n_active > 0 {
        state.made = unsafe { FACTORY };
    }
    drop(state);
    STATE.lock().unwrap().n_idle += 1;
}

fn reaper() {
    let mut state = STATE.lock().unwrap();
    state.n_served += 1;
    state.pool[1] = 0;
    state.n_idle = 2;
    drop(state);
    unsafe { FACTORY = 2 };
}

fn main() {
    let threads = [borrower, reaper, returner].map(|role| thread::spawn(role));
    for it in threads {
        it.join().unwrap();
    }
    println!("made {}", STATE.lock().unwrap().made);
}
