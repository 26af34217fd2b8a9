//! What functions of std do that order threads, by their names.

/// What std is doing around an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Takes a mutex.
    Lock,
    /// Tries to.
    TryLock,
    /// The slow path of a lock: asleep, then it has it.
    LockAsleep,
    /// Releases it.
    Unlock,
    /// Takes a reader-writer lock for reading.
    Read,
    /// Tries to.
    TryRead,
    /// The slow path of that.
    ReadAsleep,
    /// Takes it for writing.
    Write,
    /// Tries to.
    TryWrite,
    /// The slow path of that.
    WriteAsleep,
    /// Releases it.
    RwUnlock,
    /// Waits at a condition variable.
    Wait,
    /// Notifies one thread there.
    Notify,
    /// Notifies all threads there.
    NotifyAll,
    /// Runs a once block, or waits for it.
    Once,
    /// Waits at a barrier.
    Barrier,
    /// Parks.
    Park,
    /// Receives from a channel.
    Receive,
    /// Sends to a channel that may be full.
    Send,
    /// At the end of a scope, for its threads.
    Scope,
}

impl Doing {
    /// Does the thread wait for its own parker?
    pub const fn is_parked(self) -> bool {
        matches!(self, Doing::Park | Doing::Receive | Doing::Send | Doing::Scope)
    }
}

/// What a function of std does, by its name: `<std::sys::sync::mutex::futex::Mutex>::lock`.
pub fn recognise(function: &str) -> Option<Doing> {
    let (_, path) = function.split_once("std::sys::sync::")?;
    let (module, rest) = path.split_once("::")?;
    let method = rest.rsplit("::").find(|it| !it.starts_with('{') && !it.starts_with('<'))?;
    Some(match (module, method) {
        ("mutex", "lock") => Doing::Lock,
        ("mutex", "try_lock") => Doing::TryLock,
        ("mutex", "lock_contended") => Doing::LockAsleep,
        ("mutex", "unlock") => Doing::Unlock,
        ("rwlock", "read") => Doing::Read,
        ("rwlock", "try_read") => Doing::TryRead,
        ("rwlock", "read_contended") => Doing::ReadAsleep,
        ("rwlock", "write") => Doing::Write,
        ("rwlock", "try_write") => Doing::TryWrite,
        ("rwlock", "write_contended") => Doing::WriteAsleep,
        ("rwlock", "read_unlock" | "write_unlock") => Doing::RwUnlock,
        ("condvar", "wait" | "wait_timeout" | "wait_optional_timeout") => Doing::Wait,
        ("condvar", "notify_one") => Doing::Notify,
        ("condvar", "notify_all") => Doing::NotifyAll,
        ("once", _) => Doing::Once,
        _ => return None,
    })
}

/// What the function of std does that the program called.
pub fn called(function: &str) -> Option<Doing> {
    if !function.contains("std::") {
        return None;
    }
    let plain = plain(function);
    let path: Vec<&str> = plain.split("::").collect();
    Some(match path[..] {
        ["std", "sync", .., "Barrier", "wait"] => Doing::Barrier,
        ["std", "thread", .., "park" | "park_timeout" | "park_timeout_ms"] => Doing::Park,
        ["std", "sync", .., "Once", "wait" | "wait_force"] => Doing::Once,
        ["std", "sync", .., "Condvar", "notify_one"] => Doing::Notify,
        ["std", "sync", .., "Condvar", "notify_all"] => Doing::NotifyAll,
        ["std", "thread", .., "scope"] => Doing::Scope,
        _ => return None,
    })
}

/// What the outermost function of std does that has hooks: a thread may park for other reasons than its own.
pub fn outermost<'a>(functions: impl Iterator<Item = &'a str>) -> Option<Doing> {
    let is_parked = |it: &str| it.contains("thread_parking") || it.contains("std::thread::");
    let functions: Vec<&str> = functions.collect();
    if !functions.iter().any(|it| is_parked(it) || it.contains("mpmc::context")) {
        return None;
    }
    functions.iter().rev().find_map(|it| {
        let plain = plain(it);
        let method = plain.rsplit("::").next()?;
        let is_channel =
            ["std::sync::mpsc::", "std::sync::mpmc::"].iter().any(|it| plain.starts_with(it));
        match method {
            "recv" | "recv_timeout" | "recv_deadline" if is_channel => Some(Doing::Receive),
            "send" | "send_timeout" | "send_deadline" if is_channel => Some(Doing::Send),
            "scope" if plain.starts_with("std::thread::scoped::") => Some(Doing::Scope),
            "park" | "park_timeout" if plain.starts_with("std::") => Some(Doing::Park),
            _ => None,
        }
    })
}

/// The collection whose function it is, which allocates what it holds.
pub fn collection(function: &str) -> Option<&'static str> {
    const COLLECTIONS: [(&str, &str); 7] = [
        ("hashbrown::set::", "HashSet"),
        ("hashbrown::", "HashMap"),
        ("alloc::collections::btree::", "BTreeMap"),
        ("alloc::collections::vec_deque::", "VecDeque"),
        ("alloc::collections::binary_heap::", "BinaryHeap"),
        ("alloc::string::String", "String"),
        ("alloc::vec::Vec", "Vec"),
    ];
    let plain = plain(function);
    COLLECTIONS.iter().find(|it| plain.starts_with(it.0)).map(|it| it.1)
}

/// Does a function of Rust's library do with its own data what the program did not write: count references, start and join
/// threads, note that a lock is poisoned?
pub fn is_housekeeping(function: &str) -> bool {
    const ROOMS: [&str; 8] = [
        "alloc::sync::",
        "std::io::stdio::",
        "std::panicking::",
        "std::rt::",
        "std::sync::poison::",
        "std::sys::",
        "std::thread::",
        "test::",
    ];
    let plain = plain(function);
    ROOMS.iter().any(|it| plain.starts_with(it))
}

/// The name of a function without its types and their brackets: `std::sync::barrier::Barrier::wait`.
fn plain(function: &str) -> String {
    let mut depth = 0_i32;
    let mut plain = String::new();
    // A path that begins with `<` is a method's: `<std::sync::once::Once>::wait`.
    for letter in function.trim_start_matches('<').chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = (depth - 1).max(0),
            letter if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    // What is left of `scope::<F, T>`.
    plain.trim_end_matches("::").to_owned()
}

/// How a function of the prebuilt std orders threads without a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrapped {
    /// After a function that may have ordered threads unseen.
    After,
    /// Before a wait at a condition variable, which comes first in memory and in the arguments, and after it.
    AroundWait,
    /// Before its notification.
    BeforeNotify,
    /// Before a thread of a scope counts as finished.
    BeforeScopeEnd,
}

/// Does a function of the prebuilt std order threads without a hook?
pub fn wrapped(function: &str) -> Option<Wrapped> {
    let path: Vec<&str> = function.split("::").map(|it| it.trim_matches(['<', '>'])).collect();
    match path[..] {
        ["std", "thread", .., "park" | "park_timeout" | "park_timeout_ms"] => Some(Wrapped::After),
        ["std", "sync", .., "Barrier", "wait"] => Some(Wrapped::After),
        ["std", "sync", .., "Once", "wait" | "wait_force"] => Some(Wrapped::After),
        // After a try that failed for another reason than that it is taken.
        ["std", "sys", "sync", .., "lock_contended" | "read_contended" | "write_contended"] => {
            Some(Wrapped::After)
        }
        ["std", "sys", "sync", .., "Condvar", "wait" | "wait_timeout"] => Some(Wrapped::AroundWait),
        ["std", "sync", .., "Condvar", "notify_one" | "notify_all"] => Some(Wrapped::BeforeNotify),
        ["std", "thread", .., "ScopeData", "decrement_num_running_threads"] => {
            Some(Wrapped::BeforeScopeEnd)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_allocates_for_a_collection() {
        for (name, whose) in [
            (
                "<hashbrown::raw::RawTable<(&str, u32)>>::reserve_rehash::<one::hash>",
                Some("HashMap"),
            ),
            ("<alloc::vec::Vec<u32>>::push", Some("Vec")),
            ("<alloc::boxed::Box<u32>>::new", None),
        ] {
            assert_eq!(collection(name), whose, "{name}");
        }
    }

    #[test]
    fn what_the_program_did_not_write() {
        for (name, is_it) in [
            ("<alloc::sync::Arc<u32> as core::clone::Clone>::clone", true),
            ("std::thread::scoped::scope::<one::body::{closure#0}, ()>", true),
            ("<std::sync::poison::Flag>::get", true),
            ("<core::sync::atomic::Atomic<u32>>::fetch_add", false),
            ("<alloc::vec::Vec<u32>>::push", false),
            ("<std::collections::hash::map::HashMap<u32, u32>>::insert", false),
        ] {
            assert_eq!(is_housekeeping(name), is_it, "{name}");
        }
    }

    #[test]
    fn functions_of_std_are_recognised() {
        for (name, doing) in [
            ("<std::sys::sync::mutex::futex::Mutex>::lock", Some(Doing::Lock)),
            ("std::sys::sync::mutex::futex::Mutex::lock_contended", Some(Doing::LockAsleep)),
            ("<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout", Some(Doing::Wait)),
            ("<std::sys::sync::once::futex::Once>::call", Some(Doing::Once)),
            ("<std::sys::sync::rwlock::futex::RwLock>::write_contended", Some(Doing::WriteAsleep)),
            ("<std::sync::poison::mutex::Mutex<u32>>::lock", None),
            ("mine::sync::mutex::lock", None),
        ] {
            assert_eq!(recognise(name), doing, "{name}");
        }
    }

    #[test]
    fn what_the_program_called_is_recognised() {
        for (name, doing) in [
            ("<std::sync::barrier::Barrier>::wait", Some(Doing::Barrier)),
            ("std::thread::functions::park", Some(Doing::Park)),
            ("std::thread::park_timeout", Some(Doing::Park)),
            ("<std::sync::poison::once::Once>::wait", Some(Doing::Once)),
            ("<mine::Barrier>::wait", None),
            ("", None),
        ] {
            assert_eq!(called(name), doing, "{name}");
        }
    }

    #[test]
    fn a_thread_is_parked_for_what_it_called() {
        let park = "<std::sys::sync::thread_parking::futex::Parker>::park";
        let of = |outer: &str| outermost([park, outer, "mine::f"].into_iter());
        assert_eq!(of("<std::sync::mpmc::list::Channel<u32>>::recv"), Some(Doing::Receive));
        assert_eq!(of("<std::sync::mpsc::SyncSender<u32>>::send"), Some(Doing::Send));
        assert_eq!(
            of("std::thread::scoped::scope::<mine::f::{closure#0}, ()>"),
            Some(Doing::Scope)
        );
        assert_eq!(of("mine::send"), Some(Doing::Park));
        assert_eq!(outermost(["mine::send", "mine::f"].into_iter()), None);
    }

    #[test]
    fn the_functions_of_std_that_order_threads() {
        let after = Some(Wrapped::After);
        for (name, expected) in [
            ("std::thread::functions::park", after),
            ("std::thread::park_timeout", after),
            ("<std::thread::thread::Thread>::park", after),
            ("<std::sync::barrier::Barrier>::wait", after),
            ("<std::sync::once::Once>::wait", after),
            ("<std::sys::sync::rwlock::futex::RwLock>::read_contended", after),
            ("<std::sync::barrier::Barrier as core::fmt::Debug>::fmt", None),
            ("<std::sys::sync::condvar::futex::Condvar>::wait", Some(Wrapped::AroundWait)),
            ("<std::thread::thread::Thread>::unpark", None),
            ("<std::sync::poison::condvar::Condvar>::notify_all", Some(Wrapped::BeforeNotify)),
            ("<std::sync::poison::condvar::Condvar>::wait::<u32>", None),
            (
                "<std::thread::scoped::ScopeData>::decrement_num_running_threads",
                Some(Wrapped::BeforeScopeEnd),
            ),
        ] {
            assert_eq!(wrapped(name), expected, "{name}");
        }
    }
}
