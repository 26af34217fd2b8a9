//! A one-shot event for async code, and an executor that parks its thread. The event looks again after it has stored
//! the waker, so that a set in between is not lost.
use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

#[derive(Default)]
struct Event {
    is_set: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Event {
    fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
        if let Some(waker) = self.waker.lock().unwrap().take() {
            waker.wake();
        }
    }

    async fn wait(&self) {
        std::future::poll_fn(|context| {
            if self.is_set.load(Ordering::SeqCst) {
                return Poll::Ready(());
            }
            *self.waker.lock().unwrap() = Some(context.waker().clone());
            match self.is_set.load(Ordering::SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on(future: impl Future<Output = ()>) {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    while future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
        thread::park();
    }
}

fn main() {
    let event = Arc::new(Event::default());
    let setter = thread::spawn({
        let event = Arc::clone(&event);
        move || event.set()
    });
    block_on(event.wait());
    setter.join().unwrap();
}
