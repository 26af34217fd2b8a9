//! Which crates, and what is rightly found in them.

/// A crate with its tests.
pub(super) struct Suite {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// Tests in which something is rightly found, and why.
    pub(super) known: &'static [(&'static str, Why)],
    /// Crates that only its benchmarks need.
    pub(super) unused: &'static [&'static str],
    pub(super) bug: Option<Bug>,
}

/// Why something is rightly found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It is wrong.
    True,
    /// It is right only while a sleep is long enough for other threads.
    Clock,
}

/// A bug that is planted in a copy.
pub(super) struct Bug {
    /// The file in which it is planted, what is replaced, and what by.
    pub(super) file: &'static str,
    pub(super) right: &'static str,
    pub(super) wrong: &'static str,
    /// What goes wrong then; and which tests are to find it.
    pub(super) what: &'static str,
    pub(super) tests: &'static str,
}

impl Suite {
    /// A crate in which nothing is known to be wrong.
    const fn new(name: &'static str, version: &'static str) -> Suite {
        Suite { name, version, known: &[], unused: &[], bug: None }
    }
}

pub(super) const SUITES: &[Suite] = &[
    Suite {
        bug: Some(Bug {
            file: "src/imp_std.rs",
            right: "let queue = self.queue.swap(self.new_queue, Ordering::AcqRel);",
            wrong: "let queue = self.queue.load(Ordering::Acquire); \
                    self.queue.store(self.new_queue, Ordering::Release);",
            what: "who joins the waiters between load and store waits for ever",
            tests: "imp::tests",
        }),
        ..Suite::new("once_cell", "1.20.2")
    },
    Suite {
        bug: Some(Bug {
            file: "src/sync/wait_group.rs",
            right: "count = inner.cvar.wait(count).unwrap();",
            wrong: "drop(count); count = inner.cvar.wait(inner.count.lock().unwrap()).unwrap();",
            what: "the last of the group may notify before anybody waits",
            tests: "wait",
        }),
        ..Suite::new("crossbeam-utils", "0.8.20")
    },
    Suite {
        known: &[("once::tests::get_no_wait", Why::Clock)],
        bug: Some(Bug {
            file: "src/mutex/spin.rs",
            right: ".compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()",
            wrong: ".load(Ordering::Acquire) == false && { self.lock.store(true, Ordering::Relaxed); true }",
            what: "two that find the lock free both take it",
            tests: "mutex::spin::",
        }),
        ..Suite::new("spin", "0.12.3")
    },
    Suite::new("parking_lot_core", "0.10.0"),
    Suite::new("bus", "2.4.1"),
    Suite::new("triomphe", "0.1.17"),
    Suite::new("left-right", "0.11.8"),
    Suite::new("thread_local", "1.1.10"),
    Suite {
        // It is taken for granted that no job has come to its end when all have been handed in.
        known: &[("test::test_active_count", Why::Clock), ("test::test_multi_join", Why::True)],
        ..Suite::new("threadpool", "1.8.1")
    },
    Suite { known: &[("tests::join_all", Why::Clock)], ..Suite::new("scoped_threadpool", "0.1.9") },
    Suite::new("crossbeam-deque", "0.8.8"),
    Suite::new("crossbeam-epoch", "0.9.21"),
    Suite::new("crossbeam-queue", "0.3.14"),
    Suite::new("conquer-once", "0.4.0"),
    Suite::new("state", "0.6.0"),
    Suite::new("atomic-counter", "1.0.1"),
    Suite::new("cht", "0.5.0"),
    Suite {
        known: &[("tests::cow_faster_than_rwlock_nosleep", Why::Clock)],
        ..Suite::new("sync_cow", "0.1.2")
    },
    Suite { known: &[("tests::concurrent_init", Why::Clock)], ..Suite::new("once_map", "0.4.24") },
    Suite {
        known: &[
            ("test::events", Why::Clock),
            ("test::get_timeout", Why::Clock),
            ("test::idle_timeout_partial_use", Why::Clock),
            ("test::min_idle", Why::Clock),
            ("test::test_idle_timeout", Why::Clock),
        ],
        ..Suite::new("r2d2", "0.8.10")
    },
    Suite {
        known: &[
            ("test::cancellation", Why::Clock),
            (
                "test::test_jobs_do_not_complete_after_drop_if_behavior_is_discard_using_builder",
                Why::Clock,
            ),
        ],
        ..Suite::new("scheduled-thread-pool", "0.2.8")
    },
    Suite {
        known: &[("condvar::tests::test_parking_lot_issue_129", Why::Clock)],
        ..Suite::new("usync", "0.2.1")
    },
    Suite { unused: &["criterion"], ..Suite::new("rtrb", "0.3.6") },
];
