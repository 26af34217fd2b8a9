//! parking_lot, once_cell, arc-swap, dashmap.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

mod parking_lot_mutex {
    use super::*;
    use parking_lot::{Condvar, Mutex, RwLock};

    #[test]
    fn right() {
        let (count, turn) = (Mutex::new(0), Condvar::new());
        let shared = RwLock::new(1);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    *count.lock() += *shared.read();
                    turn.notify_one();
                });
            }
            let mut count = count.lock();
            while *count < 2 {
                turn.wait(&mut count);
            }
        });
        assert_eq!(*count.lock(), 2);
    }

    #[test]
    fn wrong() {
        let (left, right) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _left = left.lock();
                let _right = right.lock();
            });
            let _right = right.lock();
            let _left = left.lock();
        });
    }
}

mod once_cell_lazy {
    use super::*;
    use once_cell::sync::OnceCell;

    #[test]
    fn right() {
        let cell = OnceCell::new();
        let n_made = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let value = cell.get_or_init(|| {
                        n_made.fetch_add(1, SeqCst);
                        vec![1, 2, 3]
                    });
                    assert_eq!(value.len(), 3);
                });
            }
        });
        assert_eq!(n_made.load(SeqCst), 1);
    }

    #[test]
    fn wrong() {
        let cell = OnceCell::new();
        thread::scope(|scope| {
            for number in 0..2 {
                let cell = &cell;
                scope.spawn(move || {
                    if cell.get().is_none() {
                        cell.set(number).expect("nobody else has set it");
                    }
                });
            }
        });
    }
}

mod arc_swap_config {
    use super::*;
    use arc_swap::ArcSwap;

    #[test]
    fn right() {
        let config = ArcSwap::from_pointee(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    config.rcu(|old| **old + 1);
                });
            }
        });
        assert_eq!(**config.load(), 2);
    }

    #[test]
    fn wrong() {
        let config = ArcSwap::from_pointee(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let old = **config.load();
                    config.store(Arc::new(old + 1));
                });
            }
        });
        assert_eq!(**config.load(), 2);
    }
}

mod dashmap_entries {
    use super::*;
    use dashmap::DashMap;

    #[test]
    fn right() {
        let map = DashMap::new();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| *map.entry("a").or_insert(0) += 1);
            }
        });
        assert_eq!(*map.get("a").unwrap(), 2);
    }

    #[test]
    fn wrong() {
        let map = DashMap::new();
        map.insert("a", 0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let old = *map.get("a").unwrap();
                    map.insert("a", old + 1);
                });
            }
        });
        assert_eq!(*map.get("a").unwrap(), 2);
    }
}
