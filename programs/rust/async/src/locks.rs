//! Locks that are held while their task waits.

/// A mutex is held while a message is awaited whose sender needs the mutex.
pub mod across_await {
    use std::sync::Arc;

    use tokio::sync::{mpsc, Mutex};

    async fn run(is_right: bool) {
        let total = Arc::new(Mutex::new(0));
        let (sender, mut receiver) = mpsc::channel(1);
        let (read, written) = (Arc::clone(&total), Arc::clone(&total));
        let sends = tokio::spawn(async move {
            let now = *read.lock().await;
            sender.send(now + 1).await.unwrap();
        });
        let adds = tokio::spawn(async move {
            if is_right {
                let number = receiver.recv().await.unwrap();
                *written.lock().await += number;
            } else {
                let mut total = written.lock().await;
                *total += receiver.recv().await.unwrap();
            }
        });
        sends.await.unwrap();
        adds.await.unwrap();
        assert_eq!(*total.lock().await, 1);
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}

/// Two mutexes are taken in both orders.
pub mod two_mutexes {
    use std::sync::Arc;

    use tokio::sync::Mutex;

    use crate::work;

    async fn run(is_right: bool) {
        let accounts = Arc::new([Mutex::new(10), Mutex::new(10)]);
        let move_between = |from: usize, to: usize, rounds: u32| {
            let accounts = Arc::clone(&accounts);
            async move {
                work(rounds).await;
                let (first, second) = if is_right { (0, 1) } else { (from, to) };
                let mut first = accounts[first].lock().await;
                work(1).await;
                let mut second = accounts[second].lock().await;
                (*first, *second) = (*first - 1, *second + 1);
            }
        };
        let one = tokio::spawn(move_between(0, 1, 0));
        let other = tokio::spawn(move_between(1, 0, 3));
        one.await.unwrap();
        other.await.unwrap();
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}

/// A permit is given back by hand, and not at all if the task is aborted before.
pub mod semaphore_leak {
    use std::sync::Arc;

    use tokio::sync::Semaphore;

    use crate::work;

    async fn run(is_right: bool) {
        let permits = Arc::new(Semaphore::new(1));
        let its = Arc::clone(&permits);
        let worker = tokio::spawn(async move {
            let permit = its.acquire().await.unwrap();
            if is_right {
                work(1).await;
                drop(permit);
            } else {
                permit.forget();
                work(1).await;
                its.add_permits(1);
            }
        });
        let stop = worker.abort_handle();
        let stops = tokio::spawn(async move {
            work(3).await;
            stop.abort();
        });
        let _ = worker.await;
        stops.await.unwrap();
        let _permit = permits.acquire().await.unwrap();
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}
