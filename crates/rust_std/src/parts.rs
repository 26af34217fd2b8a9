//! What of a Rust program is its language's runtime: the parts of std that make threads, locks and panics.
//!
//! They are to a Rust program what the threads library is to one in C, but they are compiled into it, some of them
//! with hooks. What they do is in the trace, as steps: a thread created, a lock taken. What they decide for themselves
//! (is a name given, who drops a handle last, has anybody panicked) is no decision of the program's, so branches in
//! them do not count, and what they read is not among the reads that an unknown branch may depend on; what flows
//! through them is followed all the same.
//!
//! Names are all we have, so only functions count into which no closure of the program's can be inlined: whatever
//! the program gives std to run is called by `__rust_begin_short_backtrace`, which is not among them.

/// What a function is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Locks, as the system's functions are in C: nothing flows out of it, neither as a result nor through pointers.
    Sync,
    /// Threads and panics.
    Threads,
}

/// Functions of [`Part::Sync`] begin so.
const SYNC: [&str; 5] = [
    "<std::sys::sync::",
    "<std::sync::poison::condvar::Condvar>::notify",
    "std::panicking::panic_count::",
    "std::thread::functions::sleep",
    "std::thread::functions::yield_now",
];

/// Functions of [`Part::Threads`] begin so.
const THREADS: [&str; 18] = [
    "std::thread::",
    "<std::thread::",
    "std::rt::",
    "<std::rt::",
    "std::sys::thread::",
    "<std::sys::thread::",
    "std::sys::stdio::",
    "<std::sys::stdio::",
    "std::panicking::catch_unwind::do_call::<core::panic::unwind_safe::AssertUnwindSafe<std::thread::",
    "std::panicking::catch_unwind::do_call::<core::panic::unwind_safe::AssertUnwindSafe<<std::thread::",
    "std::panicking::catch_unwind::do_catch::",
    "<std::sync::poison::",
    "core::ptr::drop_in_place::<std::sync::poison::",
    "core::ptr::drop_in_place::<std::thread::",
    "core::ptr::drop_in_place::<alloc::boxed::Box<std::thread::",
    "core::ptr::drop_in_place::<alloc::boxed::Box<dyn core::any::Any",
    "<alloc::sync::Arc<std::thread::",
    "alloc::sync::Arc<std::thread::",
];

/// Functions that run what a scope is given begin so.
const SCOPES: [&str; 2] = [
    "std::thread::scoped::scope",
    "std::panicking::catch_unwind::do_call::<core::panic::unwind_safe::AssertUnwindSafe<std::thread::scoped::scope",
];

/// Crates of the prebuilt std whose functions count.
const CRATES: [&str; 4] = ["std", "core", "alloc", "__rustc"];

/// What a function is part of; `None`: of the program. `has_hooks`: does it announce what it does? What the
/// prebuilt std does without is seen by nobody.
pub fn part(name: &str, has_hooks: bool) -> Option<Part> {
    let begins = |with: &&str| name.starts_with(*with);
    // A wait gives back whether it has timed out, a try whether it had the lock: steps say that.
    if !has_hooks && SYNC.iter().any(begins) {
        return Some(Part::Sync);
    }
    // `wait_while` and its like run what they are given; so does a scope, as part of its own code.
    let runs_given = name.starts_with("<std::sync::") && name.contains("{closure")
        || has_hooks && SCOPES.iter().any(begins);
    if !runs_given && THREADS.iter().any(begins) {
        return Some(Part::Threads);
    }
    // The first path in a name: of `<&[u8] as alloc::…>`, the trait's.
    let path = &name[..name.find("::")?];
    let of = path.rsplit(|it: char| !it.is_alphanumeric() && it != '_').next();
    let is_std = of.is_some_and(|it| CRATES.contains(&it));
    (!has_hooks && is_std).then_some(Part::Threads)
}

/// Is it one of the panics that say that a number is too large?
pub fn is_overflow(name: &str) -> bool {
    name.starts_with("core::panicking::panic_const::")
}
