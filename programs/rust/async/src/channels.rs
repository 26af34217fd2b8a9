//! Messages that are lost, or not seen.

/// A receiver falls behind a sender.
pub mod broadcast_lag {
    use tokio::sync::broadcast::{self, error::RecvError};

    use crate::work;

    async fn run(is_right: bool) {
        let (sender, mut receiver) = broadcast::channel(2);
        let receives = tokio::spawn(async move {
            let mut sum = 0;
            loop {
                match receiver.recv().await {
                    Ok(number) => sum += number,
                    Err(RecvError::Closed) => return sum,
                    Err(RecvError::Lagged(n)) => assert!(is_right, "{n} messages were missed"),
                }
            }
        });
        let sends = tokio::spawn(async move {
            for number in 1..=4 {
                sender.send(number).unwrap();
                work(1).await;
            }
        });
        sends.await.unwrap();
        let sum = receives.await.unwrap();
        assert!(is_right || sum == 10);
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}

/// A value that is watched is replaced before it is looked at.
pub mod watch_skips {
    use tokio::sync::watch;

    use crate::work;

    async fn run(is_right: bool) {
        let (sender, mut receiver) = watch::channel(0);
        let watches = tokio::spawn(async move {
            let mut seen = 0;
            while receiver.changed().await.is_ok() {
                let value = *receiver.borrow_and_update();
                assert!(is_right || value == seen + 1, "{value} after {seen}");
                seen = value;
            }
            seen
        });
        let sends = tokio::spawn(async move {
            for value in 1..=3 {
                sender.send(value).unwrap();
                work(2).await;
            }
        });
        sends.await.unwrap();
        assert_eq!(watches.await.unwrap(), 3);
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}

/// `select!` in a loop: a branch that has received one of two messages is dropped when another one is ready.
pub mod double_select {
    use tokio::sync::mpsc;

    use crate::work;

    async fn pair(receiver: &mut mpsc::Receiver<u32>) -> Option<(u32, u32)> {
        Some((receiver.recv().await?, receiver.recv().await?))
    }

    async fn run(is_right: bool) {
        let (numbers, mut receiver) = mpsc::channel(1);
        let (ticks, mut ticked) = mpsc::channel(4);
        let sends = tokio::spawn(async move {
            for number in 1..=4 {
                numbers.send(number).await.unwrap();
            }
        });
        let ticking = tokio::spawn(async move {
            work(2).await;
            let _ = ticks.send(()).await;
            work(2).await;
        });
        let sums = tokio::spawn(async move {
            let (mut sum, mut n_ticks, mut kept) = (0, 0, None);
            while sum < 10 && n_ticks < 2 {
                if is_right {
                    tokio::select! {
                        number = receiver.recv() => match (number, kept.take()) {
                            (Some(number), None) => kept = Some(number),
                            (Some(number), Some(before)) => sum += before + number,
                            (None, _) => break,
                        },
                        tick = ticked.recv(), if n_ticks == 0 => n_ticks += u32::from(tick.is_some()),
                    }
                } else {
                    tokio::select! {
                        both = pair(&mut receiver) => match both {
                            Some((first, second)) => sum += first + second,
                            None => break,
                        },
                        tick = ticked.recv(), if n_ticks == 0 => n_ticks += u32::from(tick.is_some()),
                    }
                }
            }
            sum
        });
        sends.await.unwrap();
        ticking.await.unwrap();
        assert_eq!(sums.await.unwrap(), 10, "a message is lost");
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}
