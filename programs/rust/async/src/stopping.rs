//! Tasks that are stopped, and time that is over.

/// A future that has taken something is cancelled before it has put it where it belongs.
pub mod cancelled {
    use std::sync::{Arc, Mutex};

    use tokio::sync::oneshot;

    use crate::work;

    #[derive(Default)]
    struct Jobs {
        waiting: Vec<u32>,
        done: Vec<u32>,
    }

    async fn take_one(jobs: &Mutex<Jobs>) {
        let job = jobs.lock().unwrap().waiting.pop();
        work(1).await;
        jobs.lock().unwrap().done.extend(job);
    }

    async fn keep_one(jobs: &Mutex<Jobs>) {
        work(1).await;
        let mut jobs = jobs.lock().unwrap();
        let job = jobs.waiting.pop();
        jobs.done.extend(job);
    }

    async fn run(is_right: bool) {
        let jobs = Arc::new(Mutex::new(Jobs { waiting: vec![1, 2], done: Vec::new() }));
        let (stop, stopped) = oneshot::channel();
        let its = Arc::clone(&jobs);
        let worker = tokio::spawn(async move {
            let one = async {
                if is_right {
                    keep_one(&its).await;
                } else {
                    take_one(&its).await;
                }
            };
            tokio::select! {
                () = one => {}
                _ = stopped => {}
            }
        });
        let stops = tokio::spawn(async move {
            work(3).await;
            let _ = stop.send(());
        });
        worker.await.unwrap();
        stops.await.unwrap();
        let jobs = jobs.lock().unwrap();
        assert_eq!(jobs.waiting.len() + jobs.done.len(), 2, "a job is lost");
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}

/// What is done in time, and what was given up, are both done.
pub mod timeout {
    use std::{
        sync::{Arc, Mutex},
        time::Duration,
    };

    use tokio::{
        sync::oneshot,
        time::{sleep, timeout},
    };

    #[derive(Default)]
    struct State {
        is_committed: bool,
        is_rolled_back: bool,
    }

    async fn run(is_right: bool) {
        let state = Arc::new(Mutex::new(State::default()));
        let (done, is_done) = oneshot::channel();
        let (its, others) = (Arc::clone(&state), Arc::clone(&state));
        let commits = tokio::spawn(async move {
            sleep(Duration::from_millis(10)).await;
            let mut state = its.lock().unwrap();
            if !is_right || !state.is_rolled_back {
                state.is_committed = true;
            }
            let _ = done.send(());
        });
        let waits = tokio::spawn(async move {
            if timeout(Duration::from_millis(10), is_done).await.is_err() {
                let mut state = others.lock().unwrap();
                if !is_right || !state.is_committed {
                    state.is_rolled_back = true;
                }
            }
        });
        commits.await.unwrap();
        waits.await.unwrap();
        let state = state.lock().unwrap();
        assert!(state.is_committed != state.is_rolled_back, "both or none");
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}

/// A service is told to stop while requests are in its queue.
pub mod shutdown {
    use tokio::sync::{mpsc, oneshot};

    async fn run(is_right: bool) {
        let (requests, mut queue) = mpsc::channel(4);
        let (stop, mut stopped) = oneshot::channel::<()>();
        let service = tokio::spawn(async move {
            let mut n_served = 0;
            loop {
                tokio::select! {
                    request = queue.recv() => match request {
                        Some(()) => n_served += 1,
                        None => return n_served,
                    },
                    _ = &mut stopped, if !is_right => return n_served,
                }
            }
        });
        let client = tokio::spawn(async move {
            for _ in 0..3 {
                let _ = requests.send(()).await;
            }
        });
        client.await.unwrap();
        let _ = stop.send(());
        assert_eq!(service.await.unwrap(), 3, "a request was not served");
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}
