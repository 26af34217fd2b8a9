//! What std has for threads, used as it should be: nothing may be found, no race either.

use std::{
    cell::RefCell,
    collections::HashMap,
    sync::{
        Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

#[test]
fn channels() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || (0..3).for_each(|it| sender.send(vec![it]).unwrap()));
    assert_eq!(receiver.iter().map(|it| it[0]).sum::<i32>(), 3);
    thread.join().unwrap();
}

#[test]
fn once() {
    static TABLE: LazyLock<HashMap<u32, u32>> = LazyLock::new(|| HashMap::from([(1, 2)]));
    static CELL: OnceLock<Vec<u32>> = OnceLock::new();
    static ONCE: Once = Once::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                assert_eq!(TABLE[&1], 2);
                assert_eq!(CELL.get_or_init(|| vec![1, 2]).len(), 2);
                ONCE.call_once(|| ());
            });
        }
    });
}

#[test]
fn waiting() {
    let (full, changed) = (Mutex::new(Vec::new()), Condvar::new());
    let (start, shared) = (Barrier::new(2), RwLock::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            *shared.write().unwrap() += 1;
            full.lock().unwrap().push(1);
            changed.notify_all();
        });
        start.wait();
        assert!(*shared.read().unwrap() <= 1);
        let full = changed.wait_while(full.lock().unwrap(), |it| it.is_empty()).unwrap();
        assert_eq!(full.len(), 1);
    });
}

#[test]
fn parking_and_time() {
    thread_local!(static LEFT: RefCell<Option<Goodbye>> = const { RefCell::new(None) });
    struct Goodbye(Arc<AtomicBool>);
    impl Drop for Goodbye {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }
    let is_left = Arc::new(AtomicBool::new(false));
    let goodbye = Goodbye(Arc::clone(&is_left));
    let begun = Instant::now();
    let thread = thread::spawn(move || {
        LEFT.with(|it| *it.borrow_mut() = Some(goodbye));
        thread::park();
        thread::sleep(Duration::from_secs(3600));
    });
    thread.thread().unpark();
    thread.join().unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(3600), "time is virtual, but it passes");
    assert!(is_left.load(Ordering::Acquire));
}
