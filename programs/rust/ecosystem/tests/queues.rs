//! crossbeam, flume, rayon.

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

mod crossbeam_channel {
    use super::*;
    use crossbeam::channel;

    #[test]
    fn right() {
        let (sender, receiver) = channel::bounded(1);
        thread::scope(|scope| {
            scope.spawn(move || (0..3).for_each(|it| sender.send(it).unwrap()));
            assert_eq!(receiver.iter().sum::<i32>(), 3);
        });
    }

    #[test]
    fn wrong() {
        let (sender, receiver) = channel::unbounded();
        thread::scope(|scope| {
            scope.spawn(move || sender.send(1));
            assert_eq!(receiver.try_recv(), Ok(1), "it need not have come yet");
        });
    }
}

mod crossbeam_queue {
    use super::*;
    use crossbeam::queue::ArrayQueue;

    #[test]
    fn right() {
        let queue = ArrayQueue::new(2);
        thread::scope(|scope| {
            scope.spawn(|| queue.push(1).unwrap());
            scope.spawn(|| queue.push(2).unwrap());
        });
        assert_eq!(queue.pop().unwrap() + queue.pop().unwrap(), 3);
    }

    #[test]
    fn wrong() {
        let queue = ArrayQueue::new(1);
        queue.push(1).unwrap();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    if !queue.is_empty() {
                        queue.pop().expect("it was not empty");
                    }
                });
            }
        });
    }
}

mod crossbeam_deque {
    use super::*;
    use crossbeam::deque::{Steal, Worker};

    #[test]
    fn right() {
        let worker = Worker::new_lifo();
        let stealer = worker.stealer();
        (0..3).for_each(|it| worker.push(it));
        let stolen = thread::spawn(move || loop {
            match stealer.steal() {
                Steal::Success(_) => break 1,
                Steal::Empty => break 0,
                Steal::Retry => {}
            }
        });
        let mut n_own = 0;
        while worker.pop().is_some() {
            n_own += 1;
        }
        assert_eq!(n_own + stolen.join().unwrap(), 3);
    }

    /// Between the look and the pop, the last item may be stolen.
    #[test]
    fn wrong() {
        let worker = Worker::new_lifo();
        let stealer = worker.stealer();
        worker.push(1);
        let thief = thread::spawn(move || stealer.steal().is_success());
        if !worker.is_empty() {
            assert_eq!(worker.pop().unwrap(), 1);
        }
        thief.join().unwrap();
    }
}

mod crossbeam_epoch {
    use super::*;
    use crossbeam::epoch::{self, Atomic, Owned};

    #[test]
    fn right() {
        let shared = Atomic::new(1);
        thread::scope(|scope| {
            scope.spawn(|| {
                let guard = epoch::pin();
                let old = shared.swap(Owned::new(2), SeqCst, &guard);
                // SAFETY: nobody can reach it any more.
                unsafe { guard.defer_destroy(old) };
            });
            let guard = epoch::pin();
            // SAFETY: pinned.
            let seen = unsafe { *shared.load(SeqCst, &guard).deref() };
            assert!(seen == 1 || seen == 2);
        });
        // SAFETY: nobody else is left.
        drop(unsafe { shared.into_owned() });
    }

    /// What was read is old when it is replaced: `compare_exchange` would notice.
    #[test]
    fn wrong() {
        let shared = Atomic::new(1);
        let add = || {
            let guard = epoch::pin();
            // SAFETY: pinned.
            let seen = unsafe { *shared.load(SeqCst, &guard).deref() };
            let old = shared.swap(Owned::new(seen + 1), SeqCst, &guard);
            // SAFETY: nobody can reach it any more.
            unsafe { guard.defer_destroy(old) };
        };
        thread::scope(|scope| {
            scope.spawn(add);
            add();
        });
        // SAFETY: nobody else is left.
        let last = unsafe { shared.into_owned() };
        assert_eq!(*last, 3, "an update was lost");
    }
}

mod flume_channel {
    use super::*;

    #[test]
    fn right() {
        let (sender, receiver) = flume::bounded(1);
        thread::scope(|scope| {
            scope.spawn(move || (0..3).for_each(|it| sender.send(it).unwrap()));
            assert_eq!(receiver.iter().sum::<i32>(), 3);
        });
    }

    #[test]
    fn wrong() {
        let (sender, receiver) = flume::bounded::<i32>(0);
        let (back, answers) = flume::bounded::<i32>(0);
        thread::scope(|scope| {
            scope.spawn(move || {
                back.send(1).unwrap();
                receiver.recv().unwrap();
            });
            sender.send(2).unwrap();
            answers.recv().unwrap();
        });
    }
}

mod rayon_join {
    use super::*;

    fn pool() -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap()
    }

    #[test]
    fn right() {
        let count = AtomicU32::new(0);
        pool().install(|| {
            let add = || count.fetch_add(1, SeqCst);
            rayon::join(add, add);
        });
        assert_eq!(count.load(SeqCst), 2);
    }

    #[test]
    fn wrong() {
        let count = AtomicU32::new(0);
        pool().install(|| {
            let add = || {
                let old = count.load(SeqCst);
                count.store(old + 1, SeqCst);
            };
            rayon::join(add, add);
        });
        assert_eq!(count.load(SeqCst), 2);
    }
}
