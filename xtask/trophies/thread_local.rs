//! One thread goes through the values of all threads while others add theirs: the iterator loads the pointer to new room with
//! a relaxed load, so nothing orders its reads after the writes there.
//@ crate: thread_local = "=1.1.3"
//@ known: RUSTSEC-2022-0006
//@ kind: race
use std::{sync::Arc, thread};

use thread_local::ThreadLocal;

fn main() {
    let values = Arc::new(ThreadLocal::new());
    values.get_or(|| 1);
    let threads = [values.clone(), values.clone()].map(|it| thread::spawn(move || *it.get_or(|| 1)));
    let _sum: u32 = values.iter().sum();
    for thread in threads {
        thread.join().unwrap();
    }
}
