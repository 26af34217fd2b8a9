//! A receiver is closed and read while the sender sends: both take the value.
//@ crate: tokio = { version = "=1.13.0", features = ["sync"] }
//@ known: RUSTSEC-2021-0124
//@ kind: race
use std::thread;

use tokio::sync::oneshot;

fn main() {
    let (sender, mut receiver) = oneshot::channel::<Box<u32>>();
    let thread = thread::spawn(move || sender.send(Box::new(1)).ok());
    receiver.close();
    let _ = receiver.try_recv();
    thread.join().unwrap();
}
