//! A small shop: stock behind `Arc<Mutex<…>>`, a job queue with a condition variable, a generic cache, accounts. Each has
//! a bug, which a test shows.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    sync::{
        Arc, Condvar, Mutex, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What there is, by article.
#[derive(Clone, Default)]
pub struct Stock(Arc<Mutex<HashMap<&'static str, u32>>>);

impl Stock {
    pub fn add(&self, article: &'static str, n: u32) {
        *self.0.lock().unwrap().entry(article).or_default() += n;
    }

    pub fn count(&self, article: &str) -> u32 {
        self.0.lock().unwrap().get(article).copied().unwrap_or(0)
    }

    /// Takes `n` of an article, if so many are there. Bug: the lock is released between the check and the change.
    pub fn take(&self, article: &'static str, n: u32) -> bool {
        if self.count(article) < n {
            return false;
        }
        let mut stock = self.0.lock().unwrap();
        let left = stock.get_mut(article).unwrap();
        *left = left.checked_sub(n).expect("more was taken than there is");
        true
    }
}

/// Jobs for workers.
pub struct Jobs<T> {
    queue: Mutex<VecDeque<T>>,
    changed: Condvar,
    closed: Mutex<bool>,
}

impl<T> Default for Jobs<T> {
    fn default() -> Self {
        Jobs { queue: Mutex::default(), changed: Condvar::new(), closed: Mutex::new(false) }
    }
}

impl<T> Jobs<T> {
    pub fn push(&self, job: T) {
        self.queue.lock().unwrap().push_back(job);
        self.changed.notify_one();
    }

    /// Bug: `closed` has another lock than the one that waiters hold.
    pub fn close(&self) {
        *self.closed.lock().unwrap() = true;
        self.changed.notify_all();
    }

    /// The next job; `None` when there will be none.
    pub fn next(&self) -> Option<T> {
        let mut queue = self.queue.lock().unwrap();
        loop {
            if let Some(job) = queue.pop_front() {
                return Some(job);
            }
            if *self.closed.lock().unwrap() {
                return None;
            }
            queue = self.changed.wait(queue).unwrap();
        }
    }
}

/// Computes each value once.
pub struct Cache<K, V> {
    values: RwLock<HashMap<K, Arc<V>>>,
    pub n_computed: AtomicUsize,
}

impl<K: Eq + Hash + Clone, V> Cache<K, V> {
    pub fn new() -> Self {
        Cache { values: RwLock::default(), n_computed: AtomicUsize::new(0) }
    }

    /// Bug: two threads may both miss it.
    pub fn get(&self, key: &K, compute: impl FnOnce(&K) -> V) -> Arc<V> {
        if let Some(value) = self.values.read().unwrap().get(key) {
            return Arc::clone(value);
        }
        let value = Arc::new(compute(key));
        self.n_computed.fetch_add(1, Ordering::Relaxed);
        self.values.write().unwrap().insert(key.clone(), Arc::clone(&value));
        value
    }
}

/// An account.
pub struct Account(pub Mutex<i64>);

/// Bug: locks in the order of its arguments.
pub fn transfer(from: &Account, to: &Account, amount: i64) {
    let mut from = from.0.lock().unwrap();
    let mut to = to.0.lock().unwrap();
    *from -= amount;
    *to += amount;
}
