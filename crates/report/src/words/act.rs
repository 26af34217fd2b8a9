//! What a thread does, after its name, as a part of a sentence: "reads `hits` = 0", "releases `lock`".

use raddle_model::{Content, Finding, Home, NamedObject, ObjectId, OpKind, ThreadId};

use crate::{
    layout::{number, style::Style},
    words::place,
};

/// "reads `hits` = 0"; without an object, what can be said without one.
pub(crate) fn act(
    kind: OpKind,
    object: Option<&NamedObject>,
    value: Option<u64>,
    style: &Style,
) -> String {
    let name = object.map(name).filter(|it| !it.is_empty());
    let name = name.unwrap_or_else(|| "memory".to_owned());
    let value = value.filter(|_| is_telling(object)).map(|it| shown(it, object, style));
    let verb = verb(kind);
    match (kind, value) {
        (OpKind::Read | OpKind::AtomicLoad, Some(value)) => format!("reads {name} = {value}"),
        (OpKind::Write | OpKind::AtomicStore | OpKind::ReadWrite, Some(value)) => {
            format!("sets {name} to {value}")
        }
        (OpKind::AtomicRmw | OpKind::AtomicCas, Some(value)) => {
            format!("{verb} {name}, which was {value}")
        }
        // A block is freed as a whole.
        (OpKind::Free, _) => {
            format!("frees {}", whole(&name))
        }
        (OpKind::Start | OpKind::Finish | OpKind::Yield | OpKind::Exit | OpKind::Handle, _) => {
            verb.to_owned()
        }
        _ if object.is_none_or(NamedObject::is_none) && !kind.is_access() => verb.to_owned(),
        _ => format!("{verb} {name}"),
    }
}

/// What a block is called whose part has a name: "`conn`" for "`conn.busy`".
pub(crate) fn whole(name: &str) -> String {
    match name.split_once(['.', '[']) {
        Some((block, _)) if name.starts_with('`') => format!("{block}`"),
        _ => name.to_owned(),
    }
}

/// "updates `live` from 1 to 0", of what reads and writes in one step; `None` for all else. `origin` says who wrote what
/// was there.
pub(crate) fn change(
    kind: OpKind,
    object: Option<&NamedObject>,
    old: Option<u64>,
    left: Option<u64>,
    has_failed: bool,
    origin: &str,
    style: &Style,
) -> Option<String> {
    let name = object.map(name).filter(|it| !it.is_empty());
    let name = name.unwrap_or_else(|| "memory".to_owned());
    let old_value = shown(old.filter(|_| is_telling(object))?, object, style);
    let new = left.map(|it| shown(it, object, style));
    Some(match (kind, new) {
        (OpKind::AtomicCas, _) if has_failed => {
            format!("fails to compare-exchange {name}, which is {old_value}{origin}")
        }
        (OpKind::AtomicCas | OpKind::AtomicRmw, Some(new)) => {
            format!("updates {name} from {old_value}{origin} to {new}")
        }
        (OpKind::AtomicCas | OpKind::AtomicRmw, None) => {
            format!("updates {name}, which was {old_value}{origin}")
        }
        _ => return None,
    })
}

/// What an object is called in a sentence: "`left`", or where it was allocated.
pub(crate) fn name(object: &NamedObject) -> String {
    let Home::Heap { nth, stack, .. } = &object.location.home else { return object.name() };
    let at = stack.iter().find(|it| !place::is_library(it)).map(place::short);
    match at.filter(|it| !it.is_empty() && object.location.name.is_empty()) {
        Some(at) if object.class.is_variable() => format!("block {nth} allocated at {at}"),
        Some(at) => format!("{} in block {nth} allocated at {at}", object.class.word()),
        None => object.name(),
    }
}

/// The value of an object, if it is known.
pub(crate) fn value(finding: &Finding, object: ObjectId, value: Option<u64>) -> Option<String> {
    let object = finding.objects.get(object.idx());
    value.filter(|_| is_telling(object)).map(|it| shown(it, object, &Style::default()))
}

/// Do the values of an object say something to the program's author? Those inside of a library's container do not.
pub(crate) fn is_telling(object: Option<&NamedObject>) -> bool {
    object.is_none_or(|it| it.location.content != Content::Inside)
}

/// The type of what has held an address, whatever it is.
const POINTER: &str = "*";

/// Is a value an address?
pub(crate) const fn is_address(value: u64) -> bool {
    1 << 32 <= value && value < 1 << 48
}

/// An object that has held an address: its 0 is `NULL`.
pub(crate) fn pointer(object: &NamedObject) -> NamedObject {
    let mut object = object.clone();
    object.location.type_name = POINTER.to_owned();
    object
}

/// A value, as its type would have it: a null pointer is not 0.
pub(crate) fn shown(value: u64, object: Option<&NamedObject>, style: &Style) -> String {
    let location = object.map(|it| &it.location);
    let is_whole = location.is_some_and(|it| !it.name.contains(['.', '[']));
    let is_pointer = location.is_some_and(|it| {
        it.content == Content::Pointer
            || it.type_name == POINTER
            || is_whole && it.type_name.ends_with('*')
    });
    let name = location.and_then(|it| enumerator(&it.content, value));
    match (name, value) {
        (Some(name), _) => name.to_owned(),
        (None, 0) if is_pointer => "NULL".to_owned(),
        (None, value) => number::value(value, style),
    }
}

/// What an enumeration calls a value; its own size is not known, so a negative one may have lost its upper bits.
fn enumerator(content: &Content, value: u64) -> Option<&str> {
    let Content::Enumeration(all) = content else { return None };
    let is_it = |it: &i64| *it as u64 == value || *it < 0 && *it as u32 as u64 == value;
    all.0.iter().find(|it| is_it(&it.0)).map(|it| it.1.as_str())
}

/// What an op does, after its thread and before its object.
pub(crate) const fn verb(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Start => "starts",
        OpKind::Finish => "finishes",
        OpKind::Spawn => "creates",
        OpKind::Join | OpKind::TryJoin => "joins",
        OpKind::Detach => "detaches",
        OpKind::Read | OpKind::AtomicLoad => "reads",
        OpKind::Write | OpKind::AtomicStore => "writes",
        OpKind::ReadWrite | OpKind::AtomicRmw => "updates",
        OpKind::AtomicCas => "compare-exchanges",
        OpKind::Fence => "executes a fence",
        OpKind::Lock => "locks",
        OpKind::TryLock => "tries to lock",
        OpKind::Unlock | OpKind::RwUnlock => "releases",
        OpKind::ReadLock => "read-locks",
        OpKind::TryReadLock => "tries to read-lock",
        OpKind::WriteLock => "write-locks",
        OpKind::TryWriteLock => "tries to write-lock",
        OpKind::CondWait | OpKind::FutexWait => "waits on",
        OpKind::CondWake | OpKind::FutexWake => "returns from its wait on",
        OpKind::Signal => "signals",
        OpKind::Broadcast => "broadcasts",
        OpKind::SemWait => "waits for",
        OpKind::SemTryWait => "tries to take",
        OpKind::SemPost => "posts",
        OpKind::BarrierArrive => "arrives at",
        OpKind::BarrierLeave => "leaves",
        OpKind::FutexNotify => "wakes waiters on",
        OpKind::OnceEnter => "enters",
        OpKind::OnceDone => "leaves",
        OpKind::Yield => "yields",
        OpKind::Free => "frees",
        OpKind::Destroy => "destroys",
        OpKind::Exit => "exits",
        OpKind::Kill => "sends a signal to",
        OpKind::Cancel => "cancels",
        OpKind::Handle => "is interrupted",
        OpKind::Sleep => "sleeps",
        OpKind::SigWait => "waits for a signal",
        OpKind::IoRead => "reads from",
        OpKind::IoWrite => "writes to",
        OpKind::Poll => "polls",
        OpKind::Accept => "accepts a connection on",
        OpKind::Connect => "connects",
        OpKind::Close => "closes",
        OpKind::Fork => "forks",
        OpKind::Init => "initialises",
        OpKind::OnceAbort => "leaves by an exception",
        OpKind::Io | OpKind::Any | OpKind::Call | OpKind::Query => "uses",
    }
}

/// The same as a noun: "read".
pub(crate) const fn noun(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read | OpKind::AtomicLoad => "read",
        OpKind::Write | OpKind::AtomicStore => "write",
        OpKind::ReadWrite | OpKind::AtomicRmw => "update",
        OpKind::AtomicCas => "compare-exchange",
        OpKind::Unlock | OpKind::RwUnlock => "release",
        OpKind::ReadLock => "read-lock",
        OpKind::WriteLock => "write-lock",
        OpKind::TryLock | OpKind::TryReadLock | OpKind::TryWriteLock | OpKind::SemTryWait => {
            "attempt"
        }
        OpKind::Finish => "end",
        OpKind::CondWake | OpKind::FutexWake => "wake-up",
        OpKind::SemPost => "post",
        OpKind::SemWait => "wait",
        OpKind::IoRead => "read",
        OpKind::IoWrite => "write",
        OpKind::FutexNotify => "wake-up call",
        kind => kind.verb(),
    }
}

/// `T1`.
pub(crate) fn short(thread: ThreadId) -> String {
    format!("T{}", thread.0)
}

/// "a", "a and b", "a, b and c".
pub(crate) fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_block_is_freed_as_a_whole() {
        assert_eq!(super::whole("`conn.busy`"), "`conn`");
        assert_eq!(super::whole("`node#2[0].next`"), "`node#2`");
        assert_eq!(super::whole("`node`"), "`node`");
        assert_eq!(super::whole("block 1 allocated at x.c:3"), "block 1 allocated at x.c:3");
    }
}
