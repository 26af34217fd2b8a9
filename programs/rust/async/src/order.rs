//! Tasks that rely on who comes first.

/// A task uses what another one prepares.
pub mod two_tasks {
    use std::sync::{Arc, OnceLock};

    use tokio::sync::Notify;

    pub async fn wrong() {
        let config = Arc::new(OnceLock::new());
        let prepared = Arc::clone(&config);
        let prepare = tokio::spawn(async move {
            prepared.set(7).unwrap();
        });
        let serve = tokio::spawn(async move {
            assert_eq!(config.get(), Some(&7), "not prepared");
        });
        prepare.await.unwrap();
        serve.await.unwrap();
    }

    pub async fn right() {
        let config = Arc::new(OnceLock::new());
        let is_ready = Arc::new(Notify::new());
        let (prepared, done) = (Arc::clone(&config), Arc::clone(&is_ready));
        let prepare = tokio::spawn(async move {
            prepared.set(7).unwrap();
            done.notify_one();
        });
        let serve = tokio::spawn(async move {
            is_ready.notified().await;
            assert_eq!(config.get(), Some(&7), "not prepared");
        });
        prepare.await.unwrap();
        serve.await.unwrap();
    }
}

/// A notification for those who wait comes before the other one waits.
pub mod lost_wakeup {
    use std::sync::{
        atomic::{AtomicBool, Ordering::SeqCst},
        Arc,
    };

    use tokio::sync::Notify;

    use crate::work;

    #[derive(Default)]
    struct Door {
        is_open: AtomicBool,
        opened: Notify,
    }

    impl Door {
        fn open(&self) {
            self.is_open.store(true, SeqCst);
            self.opened.notify_waiters();
        }

        async fn pass_wrongly(&self) {
            if !self.is_open.load(SeqCst) {
                work(1).await;
                self.opened.notified().await;
            }
        }

        async fn pass(&self) {
            let opened = self.opened.notified();
            tokio::pin!(opened);
            opened.as_mut().enable();
            if !self.is_open.load(SeqCst) {
                work(1).await;
                opened.await;
            }
        }
    }

    pub async fn wrong() {
        let door = Arc::new(Door::default());
        let other = Arc::clone(&door);
        let opens = tokio::spawn(async move { other.open() });
        let passes = tokio::spawn(async move { door.pass_wrongly().await });
        opens.await.unwrap();
        passes.await.unwrap();
    }

    pub async fn right() {
        let door = Arc::new(Door::default());
        let other = Arc::clone(&door);
        let opens = tokio::spawn(async move { other.open() });
        let passes = tokio::spawn(async move { door.pass().await });
        opens.await.unwrap();
        passes.await.unwrap();
    }
}

/// Two tasks find a cache empty, and both fill it.
pub mod check_then_act {
    use std::{
        collections::HashMap,
        sync::{
            atomic::{AtomicU32, Ordering::SeqCst},
            Arc,
        },
    };

    use tokio::sync::Mutex;

    use crate::work;

    #[derive(Default)]
    struct Cache {
        values: Mutex<HashMap<u32, u32>>,
        n_loads: AtomicU32,
    }

    impl Cache {
        async fn load(&self, key: u32) -> u32 {
            self.n_loads.fetch_add(1, SeqCst);
            work(1).await;
            key * 2
        }

        async fn get_wrongly(&self, key: u32) -> u32 {
            if let Some(value) = self.values.lock().await.get(&key) {
                return *value;
            }
            let value = self.load(key).await;
            self.values.lock().await.insert(key, value);
            value
        }

        async fn get(&self, key: u32) -> u32 {
            let mut values = self.values.lock().await;
            if let Some(value) = values.get(&key) {
                return *value;
            }
            let value = self.load(key).await;
            values.insert(key, value);
            value
        }
    }

    async fn run(is_right: bool) {
        let cache = Arc::new(Cache::default());
        let other = Arc::clone(&cache);
        let get = move |cache: Arc<Cache>| async move {
            if is_right {
                cache.get(4).await
            } else {
                cache.get_wrongly(4).await
            }
        };
        let first = tokio::spawn(get(Arc::clone(&cache)));
        let second = tokio::spawn(async move {
            work(3).await;
            get(other).await
        });
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (8, 8));
        assert_eq!(cache.n_loads.load(SeqCst), 1, "loaded twice");
    }

    pub async fn wrong() {
        run(false).await;
    }

    pub async fn right() {
        run(true).await;
    }
}
