//! A receiver that was polled is dropped while the sender sends: `Receiver::drop` swaps `UNPARKING` for `DISCONNECTED`, takes
//! the sender's state for its own, and frees the channel that the sender is about to read.
//@ crate: oneshot = "=0.1.13"
//@ kind: misuse
//@ shows: Channel.
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Waker},
    thread,
};

fn main() {
    let (sender, mut receiver) = oneshot::channel::<u32>();
    let _ = Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop()));
    let thread = thread::spawn(move || sender.send(1).ok());
    drop(receiver);
    thread.join().unwrap();
}
