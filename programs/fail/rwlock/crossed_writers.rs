//@ expect: deadlock
//@ execs: 200
//@ cause: self.accounts.write() | self.audit.write()
//@ says: accounts audit T1 T2
// Who writes to two locks takes them in different orders. A writer sleeps at a word of its own, not at the one that says who
// has the lock.
use std::{
    sync::{Arc, RwLock},
    thread,
};

struct Bank {
    accounts: RwLock<[i64; 2]>,
    audit: RwLock<Vec<i64>>,
}

impl Bank {
    fn transfer(&self, amount: i64) {
        let mut accounts = self.accounts.write().unwrap();
        accounts[0] -= amount;
        accounts[1] += amount;
        self.audit.write().unwrap().push(amount);
    }

    fn settle(&self) {
        let mut audit = self.audit.write().unwrap();
        let total: i64 = audit.drain(..).sum();
        self.accounts.write().unwrap()[0] += total;
    }
}

fn main() {
    let bank = Arc::new(Bank { accounts: RwLock::new([100, 0]), audit: RwLock::default() });
    let other = Arc::clone(&bank);
    let clerk = thread::spawn(move || other.transfer(10));
    let other = Arc::clone(&bank);
    let auditor = thread::spawn(move || other.settle());
    clerk.join().unwrap();
    auditor.join().unwrap();
    assert_eq!(bank.accounts.read().unwrap()[1], 10);
}
