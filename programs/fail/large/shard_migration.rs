//@ expect: panic
//@ execs: 4000
//@ unnamed: let value = self.shards[from].read().unwrap()[&key]; | *value += n;
//@ unsaid: shards
// Keys live in shards, a directory says where. A migration copies a key, points the directory at the copy and deletes the
// original; who has asked the directory before and writes afterwards writes into the shard that is cleared.
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, RwLock,
        mpsc::{Sender, channel},
    },
    thread,
};

const KEYS: u32 = 6;
const SHARDS: usize = 3;

type Shard = RwLock<BTreeMap<u32, u64>>;

struct Cluster {
    directory: RwLock<Vec<usize>>,
    shards: Vec<Shard>,
    log: Mutex<Vec<String>>,
}

impl Cluster {
    fn new() -> Cluster {
        let home = |key: u32| key as usize % SHARDS;
        let shard = |idx| RwLock::new((0..KEYS).filter(|it| home(*it) == idx).map(|it| (it, 0)).collect());
        Cluster {
            directory: RwLock::new((0..KEYS).map(home).collect()),
            shards: (0..SHARDS).map(shard).collect(),
            log: Mutex::default(),
        }
    }

    fn log(&self, line: &str) {
        self.log.lock().unwrap().push(line.to_owned());
    }

    fn shard_of(&self, key: u32) -> &Shard {
        let idx = self.directory.read().unwrap()[key as usize];
        &self.shards[idx]
    }

    /// Adds to a key, and looks it up anew until its shard has it.
    fn add(&self, key: u32, n: u64) {
        for _ in 0..5 {
            let shard = self.shard_of(key);
            if let Some(value) = shard.write().unwrap().get_mut(&key) {
                *value += n;
                return;
            }
            self.log("moved");
        }
        panic!("key {key} is nowhere");
    }

    fn get(&self, key: u32) -> Option<u64> {
        let shard = self.shard_of(key);
        shard.read().unwrap().get(&key).copied()
    }

    fn migrate(&self, key: u32, to: usize) {
        let from = self.directory.read().unwrap()[key as usize];
        if from == to {
            return;
        }
        let value = self.shards[from].read().unwrap()[&key];
        self.shards[to].write().unwrap().insert(key, value);
        self.directory.write().unwrap()[key as usize] = to;
        self.shards[from].write().unwrap().remove(&key);
        self.log("migrated");
    }
}

fn client(cluster: Arc<Cluster>, keys: &'static [u32], done: Sender<u64>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for key in keys {
            cluster.add(*key, 1);
            cluster.get((*key + 1) % KEYS);
        }
        done.send(keys.len() as u64).unwrap();
    })
}

fn main() {
    let cluster = Arc::new(Cluster::new());
    let (sender, receiver) = channel();
    let mut threads = vec![
        client(Arc::clone(&cluster), &[1, 4, 2, 5], sender.clone()),
        client(Arc::clone(&cluster), &[3, 2, 1], sender),
    ];
    let balancer = Arc::clone(&cluster);
    threads.push(thread::spawn(move || {
        for (key, to) in [(0, 0), (0, 0), (0, 1), (4, 1)] {
            balancer.log("considers");
            balancer.migrate(key, to);
        }
        balancer.migrate(5, 0);
    }));
    for thread in threads {
        thread.join().unwrap();
    }
    let expected: u64 = receiver.iter().sum();
    let total: u64 = (0..KEYS).filter_map(|it| cluster.get(it)).sum();
    assert_eq!(total, expected);
}
