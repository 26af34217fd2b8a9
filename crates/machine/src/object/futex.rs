//! Futex words. A wait compares and queues in one step (the runtime compares, since the value is the
//! program's memory); a wake takes the given number of waiters whose bits match, the first of them by
//! choice, the others in the order in which they came. `FUTEX_REQUEUE` moves the rest elsewhere.
//!
//! The waiters of all futexes stand here by object; see [`crate::Machine::futex_waiters`].
