//! Plain std types, as a crate has them: some tests are right, some are not, under some schedule.

use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};

/// Counts, but not at once.
#[derive(Default)]
pub struct Counter(AtomicU32);

impl Counter {
    pub fn add(&self) {
        let seen = self.0.load(SeqCst);
        self.0.store(seen + 1, SeqCst);
    }

    pub fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

/// Two accounts that lock each other.
#[derive(Default)]
pub struct Bank {
    pub left: Mutex<u32>,
    pub right: Mutex<u32>,
}

impl Bank {
    pub fn to_right(&self) {
        let mut left = self.left.lock().unwrap();
        let mut right = self.right.lock().unwrap();
        *left = left.wrapping_sub(1);
        *right = right.wrapping_add(1);
    }

    pub fn to_left(&self) {
        let mut right = self.right.lock().unwrap();
        let mut left = self.left.lock().unwrap();
        *right = right.wrapping_sub(1);
        *left = left.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        thread,
    };

    use super::{Bank, Counter};

    #[test]
    fn counts_alone() {
        let counter = Counter::default();
        counter.add();
        assert_eq!(counter.get(), 1);
    }

    #[test]
    fn counts_together() {
        let counter = Counter::default();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| counter.add());
            }
        });
        assert_eq!(counter.get(), 2, "an update was lost");
    }

    #[test]
    fn locks_in_any_order() {
        let bank = Arc::new(Bank::default());
        let other = Arc::clone(&bank);
        let thread = thread::spawn(move || other.to_left());
        bank.to_right();
        thread.join().unwrap();
    }

    #[test]
    fn locked_counter() {
        let counter = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| *counter.lock().unwrap() += 1);
            }
        });
        assert_eq!(*counter.lock().unwrap(), 2);
    }

    #[test]
    #[should_panic(expected = "as it should")]
    fn panics() {
        let thread = thread::spawn(|| panic!("as it should"));
        std::panic::resume_unwind(thread.join().unwrap_err());
    }

    #[test]
    fn gives_a_result() -> Result<(), String> {
        Ok(())
    }

    #[test]
    #[ignore = "always wrong"]
    fn is_ignored() {
        panic!("always");
    }
}
