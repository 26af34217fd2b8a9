//! Traces written by hand, for tests.
//!
//! A line is a thread and what it does: `0 spawn 1`, `1 lock m`, `1 write x`, `1 store f rel`. An access may
//! say its bytes: `1 write x 2+1` is one byte at offset 2 (four bytes at 0 if nothing is said). Steps are
//! numbered as the lines are, and so are sites: line `n` is site `n + 1`.

use std::collections::BTreeMap;

use raddle_model::{
    End, Event, Flags, MemoryOrder, ObjectId, Op, OpKind, OpResult, SiteId, Standstill, ThreadId,
};
use raddle_trace::{Object, ObjectClass, Region, Site, Summary, Thread, Trace};

/// Reads a trace.
pub(crate) fn trace(text: &str) -> Trace {
    let mut objects = BTreeMap::new();
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
    let events: Vec<Event> =
        lines.enumerate().map(|(idx, line)| event(line, idx as u32 + 1, &mut objects)).collect();
    of_events(events, objects.len() + 1)
}

/// A trace of these events.
pub(crate) fn of_events(events: Vec<Event>, n_objects: usize) -> Trace {
    let n_threads = events.iter().map(|it| it.thread.idx() + 1).max().unwrap_or(1);
    let thread = Thread {
        parent: None,
        created_at: SiteId(0),
        creation: 0,
        start: raddle_trace::Site::default(),
        is_described: true,
        name: String::new(),
        is_finished: false,
        n_events: 0,
        is_blocked: false,
        pending: Op::default(),
        holders: Vec::new(),
        frames: Vec::new(),
    };
    Trace {
        summary: Summary { n_steps: events.len() as u64, ..Summary::default() },
        sites: vec![Site::default(); events.len() + 1],
        objects: vec![
            Object { class: ObjectClass::Variable, region: Region::Unknown, name: 0 };
            n_objects
        ],
        threads: vec![thread; n_threads],
        events,
        options: Vec::new(),
        n_dropped: 0,
        modules: [].into(),
        stacks: vec![Vec::new()],
        notes: Vec::new(),
        races: Vec::new(),
        end: Some(End::Exit(0)),
        end_thread: None,
        end_site: SiteId(0),
        end_object: ObjectId::NONE,
        freed: None,
        heap_fault: None,
        history: None,
        message: String::new(),
        standstill: Standstill::default(),
        memory_limit: None,
    }
}

fn event(line: &str, site: u32, objects: &mut BTreeMap<String, ObjectId>) -> Event {
    let words: Vec<&str> = line.split_whitespace().collect();
    let thread = ThreadId(words[0].parse().expect("a line begins with a thread"));
    let kind = kind(words[1]);
    let mut object = |name: &str| {
        let next = ObjectId(objects.len() as u32 + 1);
        *objects.entry(name.to_owned()).or_insert(next)
    };
    let mut op = Op::on(kind, ObjectId::NONE, SiteId(site));
    let mut value = 0;
    let mut result = OpResult::Done;
    if kind.is_access() {
        op = op.bytes(0, 4);
    }
    let mut rest = words[2..].iter().copied();
    match kind {
        OpKind::Spawn | OpKind::Join => {
            let target = rest.next().expect("which thread");
            op.object = object(&format!("T{target}"));
            if kind == OpKind::Spawn {
                value = target.parse().expect("a thread's number");
            }
        }
        OpKind::Fence | OpKind::Finish | OpKind::Start => {}
        _ => op.object = object(rest.next().expect("on what")),
    }
    for word in rest {
        match word {
            "rlx" => op.order = MemoryOrder::Relaxed,
            "acq" => op.order = MemoryOrder::Acquire,
            "rel" => op.order = MemoryOrder::Release,
            "acqrel" => op.order = MemoryOrder::AcqRel,
            "sc" => op.order = MemoryOrder::SeqCst,
            "busy" => result = OpResult::Busy,
            "late" => result = OpResult::TimedOut,
            "last" => result = OpResult::Chosen,
            "volatile" => op.flags = Flags::VOLATILE,
            "wakes" => value = 1,
            _ if word.contains('+') => {
                let (offset, size) = word.split_once('+').expect("just seen");
                let (offset, size) = (offset.parse(), size.parse());
                op = op.bytes(offset.expect("an offset"), size.expect("a size"));
            }
            with => op.other = object(with),
        }
    }
    Event::of(thread, &op, result, value, None)
}

fn kind(word: &str) -> OpKind {
    let named = OpKind::ALL.iter().find(|it| it.verb() == word);
    *named.unwrap_or_else(|| panic!("no op is called {word}"))
}
