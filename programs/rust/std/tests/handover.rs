//! Plain data that one thread hands to another through each thing that std has for it. Most of std is compiled
//! without hooks: what it orders must be known all the same, so that none of these is taken for a race.

use std::{
    cell::UnsafeCell,
    sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc},
    thread,
    time::Duration,
};

/// Nothing but an order between threads protects it.
struct Plain(UnsafeCell<u64>);

unsafe impl Sync for Plain {}

impl Plain {
    const fn new() -> Plain {
        Plain(UnsafeCell::new(0))
    }

    fn add(&self) {
        unsafe { *self.0.get() += 1 }
    }

    fn get(&self) -> u64 {
        unsafe { *self.0.get() }
    }
}

/// The token may be there before `park` is called: then nobody sleeps.
#[test]
fn park() {
    let data = Plain::new();
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            thread::park();
            data.add();
        });
        data.add();
        thread.thread().unpark();
    });
    assert_eq!(data.get(), 2);
}

#[test]
fn park_timeout() {
    let data = Plain::new();
    let is_told = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            while !is_told.load(std::sync::atomic::Ordering::Relaxed) {
                thread::park_timeout(Duration::from_secs(1));
            }
        });
        is_told.store(true, std::sync::atomic::Ordering::Relaxed);
        data.add();
        thread.thread().unpark();
    });
    assert_eq!(data.get(), 1);
}

/// The last one to come does not sleep.
#[test]
fn barrier() {
    let (left, right) = (Plain::new(), Plain::new());
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            left.add();
            barrier.wait();
            right.add();
        });
        barrier.wait();
        left.add();
    });
    assert_eq!(left.get() + right.get(), 3);
}

/// The end of the scope is all that orders them.
#[test]
fn scope() {
    let data = [const { Plain::new() }; 2];
    thread::scope(|scope| {
        for it in &data {
            scope.spawn(|| it.add());
        }
    });
    assert_eq!(data[0].get() + data[1].get(), 2);
}

/// std counts threads that have finished; who finds that there are none left need not wait. The next round has its data
/// where the last one had it.
#[test]
fn scope_after_scope() {
    for _ in 0..2 {
        let data = std::sync::atomic::AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| data.load(std::sync::atomic::Ordering::Relaxed));
        });
    }
}

#[test]
fn join() {
    static DATA: Plain = Plain::new();
    let thread = thread::spawn(|| DATA.add());
    thread.join().unwrap();
    assert_eq!(DATA.get(), 1);
}

/// Waiting gives the lock back, and takes it again, in code without hooks.
#[test]
fn condvar() {
    let data = Plain::new();
    let (is_full, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut is_full = is_full.lock().unwrap();
            data.add();
            *is_full = true;
            changed.notify_one();
        });
        let mut guard = is_full.lock().unwrap();
        data.add();
        while !*guard {
            guard = changed.wait(guard).unwrap();
        }
        data.add();
    });
    assert_eq!(data.get(), 3);
}

/// Waits that come back in vain: the lock is given back and taken again within `wait`, mostly without a system call.
#[test]
fn condvar_again_and_again() {
    let (data, items) = (Plain::new(), Mutex::new(0));
    let (has_room, has_items) = (Condvar::new(), Condvar::new());
    let pass = |is_mine: fn(u32) -> bool, change: i32, mine: &Condvar, others: &Condvar| {
        for _ in 0..4 {
            let mut n_items = items.lock().unwrap();
            while !is_mine(*n_items) {
                data.add();
                n_items = mine.wait(n_items).unwrap();
                data.add();
            }
            *n_items = n_items.wrapping_add_signed(change);
            drop(n_items);
            others.notify_one();
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| pass(|it| it < 1, 1, &has_room, &has_items));
            scope.spawn(|| pass(|it| it > 0, -1, &has_items, &has_room));
        }
    });
    assert_eq!(data.get() % 2, 0);
}

#[test]
fn mutex() {
    let data = Plain::new();
    let lock = Mutex::new(());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let _guard = lock.lock().unwrap();
                data.add();
            });
        }
    });
    assert_eq!(data.get(), 3);
}

#[test]
fn rwlock() {
    let data = Plain::new();
    let lock = RwLock::new(());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _guard = lock.write().unwrap();
                data.add();
            });
            scope.spawn(|| {
                let _guard = lock.read().unwrap();
                assert!(data.get() <= 2);
            });
        }
    });
}

#[test]
fn once() {
    let data = Plain::new();
    let (once, cell) = (Once::new(), OnceLock::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                once.call_once(|| data.add());
                assert_eq!(data.get(), 1);
                assert_eq!(**cell.get_or_init(|| Box::new(7)), 7);
            });
        }
    });
}

#[test]
fn once_wait() {
    let data = Plain::new();
    let once = Once::new();
    thread::scope(|scope| {
        scope.spawn(|| once.call_once(|| data.add()));
        once.wait();
        assert_eq!(data.get(), 1);
    });
}

#[test]
fn channels() {
    for bound in 0..2 {
        let data = Plain::new();
        let (sender, receiver) = mpsc::sync_channel(bound);
        thread::scope(|scope| {
            scope.spawn(|| {
                data.add();
                sender.send(()).unwrap();
            });
            receiver.recv().unwrap();
            data.add();
        });
        assert_eq!(data.get(), 2);
    }
    let data = Plain::new();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let (data, other) = (&data, sender.clone());
        scope.spawn(move || {
            data.add();
            other.send(()).unwrap();
        });
        receiver.recv().unwrap();
        data.add();
    });
}

/// Destructors of thread-locals run before the thread is joined.
#[test]
fn thread_locals() {
    struct AtEnd(&'static Plain);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    thread_local!(static LOCAL: AtEnd = const { AtEnd(&DATA) });
    static DATA: Plain = Plain::new();
    let threads = [(); 1].map(|()| thread::spawn(|| LOCAL.with(|it| it.0.add())));
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(DATA.get(), 2);
}
