//! What went wrong, in one line.

use std::fmt::Write as _;

use raddle_model::{
    Allocator, Blocked, Expected, Fault, Finding, HeapError, HeapFault, Kind, Location,
    MemoryLimit, Miss, Missed, Misuse, Misused, Moment, NamedObject, Nested, OpKind, Place,
    Standstill, StdWait, ThreadId, signal_name,
};

use crate::layout::number;

/// The line about a finding, after its kind.
pub fn line(finding: &Finding) -> String {
    message(finding.kind, &finding.fault)
}

/// The line about it, after its kind: `SIGSEGV at bank.c:31 in withdraw`.
pub fn message(kind: Kind, failure: &Fault) -> String {
    match failure {
        Fault::Said(said) => said.clone(),
        Fault::History(history) => super::history::line(history),
        Fault::Silent(at) => format!("{}{}", unsaid(kind), at_text(at)),
        Fault::ShouldPanic(expected, said) => {
            let said = said.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
            format!("{said}the test is marked `should_panic` and {}", instead(*expected))
        }
        Fault::Signal { number, at } => format!("{}{}", signal_name(*number), at_text(at)),
        Fault::StackOverflow { thread, recursive, at } => {
            let place = match recursive {
                Some(function) => format!(" (recursive function `{function}`)"),
                None => at_text(at),
            };
            format!("stack overflow in {}{place}", who(*thread))
        }
        Fault::ExitCode(code) => format!("exit code {code}"),
        Fault::OutOfMemory(limit, at) => format!("{}{}", memory(*limit), at_text(at)),
        Fault::Misuse(it) => misused(it),
        Fault::Cycle(all) => {
            let text = |it: &Blocked| format!("T{} waits {}", it.thread.0, held(it));
            all.iter().map(text).collect::<Vec<_>>().join(", ")
        }
        Fault::Forlorn(all) => forlorn(all),
        Fault::Round(threads, n_steps) => round(threads, *n_steps),
        Fault::Accesses { memory, accesses } => self::accesses(memory, accesses),
        Fault::Locks(all) => all.iter().map(nested).collect::<Vec<_>>().join(", "),
    }
}

/// What a program did that ended without a word.
const fn unsaid(kind: Kind) -> &'static str {
    match kind {
        Kind::Assert => "assertion failed",
        Kind::Panic => "panicked",
        Kind::Exception => "terminated",
        Kind::Abort => "aborted",
        _ => "ended",
    }
}

const fn instead(expected: Expected) -> &'static str {
    match expected {
        Expected::Panic => "did not panic",
        Expected::OtherMessage => "panicked with an unexpected message",
    }
}

fn memory(limit: Option<MemoryLimit>) -> String {
    match limit {
        Some(MemoryLimit(bytes)) => format!("more than {} MiB (--memory)", bytes >> 20),
        None => "killed by the kernel".to_owned(),
    }
}

fn who(thread: Option<ThreadId>) -> String {
    thread.map_or_else(|| "a thread".to_owned(), |it| format!("T{}", it.0))
}

/// ` at bank.c:31 in withdraw`, as the end of a sentence; empty if nothing is known.
fn at_text(place: &Place) -> String {
    match (place.text().as_str(), place.function.as_str()) {
        ("", _) => String::new(),
        (at, _) if place.file.is_empty() && !place.function.is_empty() => format!(" in {at}"),
        (at, "") => format!(" at {at}"),
        (at, function) => format!(" at {at} in {function}"),
    }
}

/// ` at bank.c:31`.
fn at_line(place: &Place) -> String {
    match place.text() {
        at if at.is_empty() => at,
        at => format!(" at {at}"),
    }
}

/// `T1 frees memory that was already freed: `node`, which T0 freed at x.c:36`.
fn misused(it: &Misused) -> String {
    if let Some(error) = &it.heap {
        return format!("{} {}", who(it.thread), heap(error, &block_name(error)));
    }
    let mut text = format!("{} {}", who(it.thread), misuse(it.misuse));
    let block = it.block.as_ref().map(|it| format!("`{it}`"));
    let object = block.unwrap_or_else(|| it.object.to_string());
    if !object.is_empty() {
        let _ = write!(text, ": {object}");
    }
    if let Some((thread, kind, at)) = &it.gone {
        let verb = if *kind == OpKind::Destroy { "destroyed" } else { "freed" };
        let _ = write!(text, ", which T{} {verb}{}", thread.0, at_line(at));
    }
    text
}

/// `writes 4 bytes, 0 bytes after `queue` (40 bytes)`: how a block is used that must not be used so.
pub(crate) fn heap(it: &HeapError, name: &str) -> String {
    let whole = number::count(it.location.size, "byte");
    match it.fault {
        HeapFault::Mismatch { allocated, freed } => {
            let (by, with) = (allocator(allocated).0, allocator(freed).1);
            format!("frees {name} with `{with}`, but it was allocated with `{by}`")
        }
        HeapFault::Outside { is_write, size, offset } => {
            let verb = if is_write { "writes" } else { "reads" };
            let accessed = number::count(size, "byte");
            let after = u64::try_from(offset).ok().and_then(|at| at.checked_sub(it.location.size));
            let at = match after {
                Some(after) => format!(", {} after", number::count(after, "byte")),
                None if offset < 0 => {
                    format!(", {} before", number::count(offset.unsigned_abs(), "byte"))
                }
                None => format!(" at offset {offset} of"),
            };
            format!("{verb} {accessed}{at} {name} ({whole})")
        }
    }
}

/// The heap block that a finding is about which is used as it must not be, or was freed.
pub(crate) fn block(finding: &Finding) -> Option<&Location> {
    let error = match &finding.fault {
        Fault::Misuse(it) => it.heap.as_deref(),
        _ => None,
    };
    let freed = finding.freed.as_deref().map(|it| &it.location);
    error.map(|it| &it.location).or(freed)
}

/// The block as a sentence names it.
pub(crate) fn block_name(it: &HeapError) -> String {
    match it.location.name.as_str() {
        "" => "a heap block".to_owned(),
        name => format!("`{name}`"),
    }
}

/// What a family of functions calls its own.
pub(crate) const fn allocator(family: Allocator) -> (&'static str, &'static str) {
    match family {
        Allocator::Malloc => ("malloc", "free"),
        Allocator::New => ("new", "delete"),
        Allocator::NewArray => ("new[]", "delete[]"),
    }
}

/// What the thread did wrong, as the end of a sentence that begins with the thread.
pub(crate) const fn misuse(misuse: Misuse) -> &'static str {
    match misuse {
        Misuse::UnlockUnlocked => "unlocks a mutex that no thread holds",
        Misuse::UnlockNotOwner => "unlocks a mutex that another thread holds",
        Misuse::RwUnlockNotHeld => "unlocks a rwlock that it does not hold",
        Misuse::DestroyHeld => "destroys a lock that is held",
        Misuse::DestroyAwaited => "destroys an object that threads wait on",
        Misuse::WaitWithoutMutex => "waits on a condition variable without holding the mutex",
        Misuse::WaitWithOtherMutex => {
            "waits on a condition variable with a different mutex than its other waiters"
        }
        Misuse::JoinTwice => "joins a thread that was already joined or detached",
        Misuse::JoinSelf => "joins itself",
        Misuse::DetachTwice => "detaches a thread that was already joined or detached",
        Misuse::UseDestroyed => "uses a destroyed object",
        Misuse::InitInUse => "initialises an object that is in use",
        Misuse::UseAfterFree => "uses freed memory",
        Misuse::DoubleFree => "frees memory that was already freed",
        Misuse::SemOverflow => "posts a semaphore beyond its maximum value",
        Misuse::ThreadsLeft => {
            "returns from the checked function while its threads are still running"
        }
        Misuse::FreeInside => "frees a pointer into the middle of a block",
        Misuse::HeapOverflow => "accesses memory beyond the end of a heap block",
        Misuse::HeapUnderflow => "accesses memory before the beginning of a heap block",
        Misuse::BadFree => "frees memory that was not allocated",
        Misuse::MismatchedFree => "frees memory with the wrong function",
        Misuse::LockHeldAtFork => {
            "forks while another thread holds a lock, which the child then waits for forever"
        }
    }
}

/// `for `a` held by T2 (taken at x.c:12)`, after "waits".
fn held(wait: &Blocked) -> String {
    let object = wait.object.name();
    let Some((holder, taken_at)) = &wait.holder else { return format!("for {object}") };
    let taken_at = match taken_at.text() {
        at if at.is_empty() => at,
        at => format!(" (taken at {at})"),
    };
    match (wait.kind == OpKind::Join, *holder == wait.thread) {
        (true, true) => "for itself to finish".to_owned(),
        (true, false) => format!("for T{} to finish", holder.0),
        (false, true) => format!("for {object}, which it already holds{taken_at}"),
        (false, false) => format!("for {object} held by T{}{taken_at}", holder.0),
    }
}

/// `T2 and T3 wait for a signal on condition variable `c` that nobody will send`.
fn forlorn(waits: &[Blocked]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for wait in waits {
        let (text, thread) = (unended(wait), format!("T{}", wait.thread.0));
        match groups.iter_mut().find(|(it, _)| *it == text) {
            Some((_, threads)) => threads.push(thread),
            None => groups.push((text, vec![thread])),
        }
    }
    let texts = groups.iter().map(|(text, threads)| match &threads[..] {
        [thread] => format!("{thread} waits {text}"),
        [most @ .., last] => format!("{} and {last} wait {text}", most.join(", ")),
        [] => String::new(),
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// Why nobody will end a wait that is no part of a cycle.
fn unended(wait: &Blocked) -> String {
    let text = awaited(wait);
    match &wait.missed {
        Some(it) => {
            let (who, verb) = (it.thread.0, it.kind.verb());
            format!("{text}: T{who}'s {verb}{} {}", at_text(&it.at), missed(it, wait.thread))
        }
        None => text,
    }
}

fn awaited(wait: &Blocked) -> String {
    let (long, short) = (&wait.object, wait.object.name());
    if let Some(std_wait) = wait.std_wait {
        return awaited_in_std(std_wait).to_owned();
    }
    match wait.kind {
        OpKind::CondWait | OpKind::CondWake if wait.holder.is_none() => {
            format!("for a signal on {long} that no thread will send")
        }
        OpKind::SemWait => format!("for a post of {long} that no thread will make"),
        OpKind::BarrierArrive | OpKind::BarrierLeave => {
            format!("at {long} for threads that will not arrive")
        }
        OpKind::FutexWait | OpKind::FutexWake => {
            format!("for a wake-up on {short} that no thread will send")
        }
        OpKind::SigWait => "for a signal that no thread will send".to_owned(),
        kind if kind.is_io() => format!("for {long}, which no thread will make ready"),
        _ if wait.holder.is_none() => format!("for {short}, which no thread will release"),
        _ => format!("{}, which has finished", held(wait)),
    }
}

const fn awaited_in_std(wait: StdWait) -> &'static str {
    match wait {
        StdWait::Unpark => "to be unparked, which no thread will do",
        StdWait::Message => "for a message in a channel that no thread will send",
        StdWait::Room => "for room in a channel that no thread will make",
        StdWait::Once => "for a once block that no thread will finish",
    }
}

/// Of waits that nobody will end, the one that the first sentence speaks of.
pub(crate) fn told_wait(finding: &Finding) -> Option<&Blocked> {
    let Fault::Forlorn(all) = &finding.fault else { return None };
    // Who waits for the end of another thread is a victim, as long as there is somebody else.
    let mut waiting = all.iter().filter(|it| it.kind != OpKind::Join);
    let first = waiting.clone().next();
    waiting.find(|it| it.missed.is_some()).or(first).or(all.first())
}

/// Where a thread waits at the end, if that is known.
pub(crate) fn waits_at<'a>(finding: &'a Finding, wait: &Blocked) -> Option<&'a Place> {
    let state = finding.threads.iter().find(|it| it.thread == wait.thread)?;
    state.waits_for.as_ref().map(|it| &it.at).filter(|it| it.line > 0)
}

/// What became of a notification that a thread would need, after who sent it and where: `woke T2`.
pub(crate) fn missed(it: &Missed, waiter: ThreadId) -> String {
    match (it.why, it.kind) {
        (Miss::TooEarly, _) => "came before any thread waited".to_owned(),
        (Miss::TooLate, _) => "came after the wait had timed out".to_owned(),
        (Miss::Another(thread), OpKind::SemPost) => format!("was taken by T{}", thread.0),
        (Miss::Another(thread), _) if thread == waiter => {
            format!("woke T{}, which waits again", thread.0)
        }
        (Miss::Another(thread), _) => format!("woke T{}", thread.0),
    }
}

/// `T1, T2 repeat the same 14 steps forever`.
fn round(threads: &[ThreadId], n_steps: u64) -> String {
    let names: Vec<String> = threads.iter().map(|it| format!("T{}", it.0)).collect();
    let (steps, verb) = match (n_steps, threads.len()) {
        (0, _) => return "the same state repeats forever".to_owned(),
        (1, _) => ("the same step".to_owned(), "repeats"),
        (_, 1) => (format!("the same {n_steps} steps"), "repeats"),
        _ => (format!("the same {n_steps} steps"), "repeat"),
    };
    format!("{} {verb} {steps} forever", crate::words::act::listed(&names))
}

/// ``x`: T1 writes at a.c:3, T2 reads at a.c:9`.
fn accesses(memory: &[NamedObject], accesses: &[(ThreadId, OpKind, Place)]) -> String {
    let memory: Vec<String> = memory.iter().map(NamedObject::to_string).collect();
    let text = |(thread, kind, place): &(ThreadId, OpKind, Place)| {
        let at = match place.text() {
            at if at.is_empty() => "an unknown location".to_owned(),
            at => at,
        };
        format!("T{} {} at {at}", thread.0, verb(*kind))
    };
    let accesses: Vec<String> = accesses.iter().map(text).collect();
    format!("{}: {}", memory.join(" and "), accesses.join(", "))
}

/// What an access does, after its thread.
const fn verb(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => "reads",
        OpKind::ReadWrite => "updates",
        OpKind::AtomicLoad => "loads",
        OpKind::AtomicStore | OpKind::AtomicRmw | OpKind::AtomicCas => "stores",
        OpKind::Free => "frees",
        OpKind::Write => "writes",
        OpKind::Lock | OpKind::WriteLock | OpKind::ReadLock => "locks",
        OpKind::Unlock | OpKind::RwUnlock => "unlocks",
        OpKind::Finish => "ends",
        _ => "goes on",
    }
}

/// `T1 takes mutex `b` at x.c:5 while it holds mutex `a``.
fn nested(it: &Nested) -> String {
    format!("T{} takes {}{} while it holds {}", it.thread.0, it.wants, at_line(&it.at), it.holds)
}

/// A step, or the end: `T1 lock mutex `a` at x.c:12`.
pub fn moment(moment: &Moment) -> String {
    match moment {
        Moment::Step { thread, kind, object, place } => {
            let object = if object.is_none() { String::new() } else { format!(" {object}") };
            format!("T{} {}{object}{}", thread.0, kind.word(), at_line(place))
        }
        Moment::End(Some((kind, failure))) => format!("the end: {}", message(*kind, failure)),
        Moment::End(None) => "the end of the execution".to_owned(),
    }
}

/// Why an execution says nothing: `blocked for 10 s in `futex` (libgomp.so.1)`.
pub fn standstill(it: &Standstill) -> String {
    let in_file = |file: &Option<String>| match file {
        Some(file) => format!(" ({file})"),
        None => String::new(),
    };
    match it {
        Standstill::NoStep => "made no step for too long".to_owned(),
        Standstill::Computed(seconds, file) => {
            format!("computed for {seconds} s without a step{}", in_file(file))
        }
        Standstill::Blocked { call, seconds, file } => {
            let seconds = seconds.map(|it| format!(" for {it} s")).unwrap_or_default();
            let call = match call {
                Some(call) => format!("`{call}`"),
                None => "uninstrumented code".to_owned(),
            };
            format!("blocked{seconds} in {call}{}", in_file(file))
        }
        Standstill::OtherProcess => {
            "waits in shared memory for another process, which is not controlled".to_owned()
        }
        Standstill::Outside(seconds) => {
            format!("blocked for {seconds} s: no input came from outside")
        }
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::Place;

    use super::at_text;

    #[test]
    fn places_at_the_end_of_a_sentence() {
        let place = |function: &str, file: &str, line| Place {
            function: function.into(),
            file: file.into(),
            line,
            module: "a".into(),
            ..Place::default()
        };
        assert_eq!(at_text(&place("f", "/src/a.c", 3)), " at a.c:3 in f");
        assert_eq!(at_text(&place("", "/src/a.c", 3)), " at a.c:3");
        assert_eq!(at_text(&place("f", "", 0)), " in f");
        assert_eq!(at_text(&place("", "", 0)), " at a");
        assert_eq!(at_text(&Place::default()), "");
    }
}
