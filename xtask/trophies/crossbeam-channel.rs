//! The receiver of an unbounded channel is dropped while two senders send their first messages: the first block of messages is
//! freed twice.
//@ crate: crossbeam-channel = "=0.5.14"
//@ known: RUSTSEC-2025-0024
//@ kind: misuse
use std::thread;

fn main() {
    let (sender, receiver) = crossbeam_channel::unbounded::<u32>();
    let threads = [sender.clone(), sender].map(|it| thread::spawn(move || it.send(1).ok()));
    drop(receiver);
    for thread in threads {
        thread.join().unwrap();
    }
}
