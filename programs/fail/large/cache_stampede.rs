//@ expect: panic
//@ execs: 4000
//@ cause: state.insert(key, Entry::Ready(value)); | state.remove(&key);
//@ says: Cache.state T1 T3
// A cache whose entries are computed once: who finds an entry pending waits for it. An invalidation in between takes the
// entry away, the next reader computes it anew, and the first computation puts its old value over the new one.
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
};

#[derive(Default)]
struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(31).wrapping_add(u64::from(*byte));
        }
    }
}

#[derive(Clone, Copy)]
enum Entry {
    Pending,
    Ready(u64),
}

type Map = HashMap<u32, Entry, BuildHasherDefault<Plain>>;

struct Cache {
    state: Mutex<Map>,
    computed: Condvar,
    sources: Vec<AtomicU64>,
    statistics: Mutex<[u32; 3]>,
}

impl Cache {
    fn count(&self, what: usize) {
        self.statistics.lock().unwrap()[what] += 1;
    }

    fn compute(&self, key: u32) -> u64 {
        let versions = self.sources.iter().map(|it| it.load(SeqCst)).collect::<Vec<_>>();
        versions[key as usize % versions.len()] * 100 + u64::from(key)
    }

    fn get(&self, key: u32) -> u64 {
        let mut state = self.state.lock().unwrap();
        loop {
            match state.get(&key) {
                Some(Entry::Ready(value)) => return *value,
                Some(Entry::Pending) => state = self.computed.wait(state).unwrap(),
                None => break,
            }
        }
        state.insert(key, Entry::Pending);
        drop(state);
        self.count(0);
        let value = self.compute(key);
        self.count(1);
        self.finish(key, value);
        value
    }

    fn finish(&self, key: u32, value: u64) {
        let mut state = self.state.lock().unwrap();
        state.insert(key, Entry::Ready(value));
        self.computed.notify_all();
    }

    fn change(&self, key: u32) {
        let idx = key as usize % self.sources.len();
        self.sources[idx].fetch_add(1, SeqCst);
        let mut state = self.state.lock().unwrap();
        state.remove(&key);
        self.computed.notify_all();
        drop(state);
        self.count(2);
    }
}

fn main() {
    let cache = Arc::new(Cache {
        state: Mutex::default(),
        computed: Condvar::new(),
        sources: (0..3).map(|_| AtomicU64::new(1)).collect(),
        statistics: Mutex::default(),
    });
    let spawn = |keys: &'static [u32], is_editor: bool| {
        let cache = Arc::clone(&cache);
        thread::spawn(move || {
            for key in keys {
                if is_editor {
                    cache.count(2);
                    cache.change(*key);
                } else {
                    cache.get(*key);
                }
            }
        })
    };
    let threads = [spawn(&[4, 0, 5, 1], false), spawn(&[3, 6, 2, 1], false), spawn(&[7, 8, 1], true)];
    for thread in threads {
        thread.join().unwrap();
    }
    // What is cached is what would be computed.
    assert_eq!(cache.get(1), cache.compute(1));
}
