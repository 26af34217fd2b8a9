//! tokio's runtime with several threads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
    time::sleep,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn channels_right() {
    let (sender, mut receiver) = mpsc::channel(1);
    let task = tokio::spawn(async move {
        for number in 0..3 {
            sender.send(number).await.unwrap();
        }
    });
    let mut sum = 0;
    while let Some(number) = receiver.recv().await {
        sum += number;
    }
    task.await.unwrap();
    assert_eq!(sum, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn select_and_timers_right() {
    let (sender, receiver) = oneshot::channel::<u32>();
    tokio::spawn(async move {
        sleep(Duration::from_millis(5)).await;
        let _ = sender.send(7);
    });
    let answer = tokio::select! {
        answer = receiver => answer.unwrap(),
        () = sleep(Duration::from_secs(3600)) => 0,
    };
    assert_eq!(answer, 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn echo_right() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 4];
        stream.read_exact(&mut bytes).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"ping").await.unwrap();
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"ping");
    server.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_wrong() {
    let count = Arc::new(AtomicU32::new(0));
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let old = count.load(SeqCst);
                count.store(old + 1, SeqCst);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(count.load(SeqCst), 2);
}
