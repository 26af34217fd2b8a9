//! Time that nobody waits for.

use std::time::Duration;

use tokio::time::{sleep, timeout, Instant};

async fn ten_minutes() {
    let begun = Instant::now();
    let naps = tokio::spawn(async {
        for _ in 0..60 {
            sleep(Duration::from_secs(5)).await;
        }
    });
    for _ in 0..60 {
        sleep(Duration::from_secs(10)).await;
    }
    naps.await.unwrap();
    let passed = begun.elapsed();
    assert!(Duration::from_secs(600) <= passed, "{passed:?}");
}

#[tokio::test]
async fn sleeps_right() {
    ten_minutes().await;
}

#[tokio::test(start_paused = true)]
async fn paused_sleeps_right() {
    ten_minutes().await;
}

/// While time is paused it goes on only when all tasks wait: what is ready comes before any timer.
#[tokio::test(start_paused = true)]
async fn paused_timeouts_right() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let answers = tokio::spawn(async move {
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        sender.send(7).unwrap();
    });
    let answer = timeout(Duration::from_millis(1), receiver).await;
    assert_eq!(answer.expect("no timeout").unwrap(), 7);
    answers.await.unwrap();
}
