//! The part of a `finding` line that an analysis fills: accesses, location, links of a cycle.

use raddle_model::{
    Access, BlockSort, BothOrders, Certainty, Change, Contrast, Evidence, Finding, FreedMemory,
    HeapError, HeapFault, Held, Home, Link, Location, Outcome, Place, ThreadId,
};
use serde::Serialize;

use super::PlaceLine;
use crate::words::{doubt, fault};

/// `"certainty"` and `"why_potential"`.
pub(super) fn certainty(finding: &Finding) -> (&'static str, Option<String>) {
    let word = match &finding.certainty {
        Certainty::Shown if finding.is_timing() => "timing",
        Certainty::Shown => "shown",
        Certainty::Potential(_) => "potential",
    };
    (word, doubt::why(finding))
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct EvidenceLine<'a> {
    memory: String,
    location: Option<LocationLine<'a>>,
    accesses: Vec<AccessLine<'a>>,
    links: Vec<LinkLine<'a>>,
    effect: Option<String>,
    orders: Option<OrdersLine>,
    contrast: Option<ContrastLine<'a>>,
}

/// Memory that was used after it was freed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FreedLine<'a> {
    free: AccessLine<'a>,
    location: Option<LocationLine<'a>>,
}

impl<'a> FreedLine<'a> {
    pub(super) fn new(freed: &'a FreedMemory) -> FreedLine<'a> {
        FreedLine {
            free: AccessLine::new(&freed.free),
            location: LocationLine::new(&freed.location),
        }
    }
}

/// A heap block that is used as it must not be.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct HeapLine<'a> {
    /// An access outside of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<OutsideLine>,
    /// The functions that allocate and free it, if they do not belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    mismatch: Option<[&'static str; 2]>,
    location: Option<LocationLine<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OutsideLine {
    kind: &'static str,
    size: u64,
    offset: i64,
}

impl<'a> HeapLine<'a> {
    pub(super) fn new(error: &'a HeapError) -> HeapLine<'a> {
        let (access, mismatch) = match error.fault {
            HeapFault::Outside { is_write, size, offset } => {
                let kind = if is_write { "write" } else { "read" };
                (Some(OutsideLine { kind, size, offset }), None)
            }
            HeapFault::Mismatch { allocated, freed } => {
                (None, Some([fault::allocator(allocated).0, fault::allocator(freed).1]))
            }
        };
        HeapLine { access, mismatch, location: LocationLine::new(&error.location) }
    }
}

/// A read of the failing execution, and what it sees in one that ends well.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ContrastLine<'a> {
    memory: String,
    read: AccessLine<'a>,
    values: [u64; 2],
    writes: Vec<Option<AccessLine<'a>>>,
}

impl<'a> ContrastLine<'a> {
    fn new(contrast: &'a Contrast) -> ContrastLine<'a> {
        ContrastLine {
            memory: contrast.memory.to_string(),
            read: AccessLine::new(&contrast.read),
            values: contrast.values,
            writes: contrast.writes.iter().map(|it| it.as_ref().map(AccessLine::new)).collect(),
        }
    }
}

impl<'a> EvidenceLine<'a> {
    pub(super) fn new(evidence: &'a Evidence) -> EvidenceLine<'a> {
        EvidenceLine {
            memory: crate::finding::evidence::memory(evidence),
            location: LocationLine::new(&evidence.location),
            accesses: evidence.accesses.iter().map(AccessLine::new).collect(),
            links: evidence.links.iter().map(LinkLine::new).collect(),
            effect: doubt::effect(evidence),
            orders: evidence.orders.as_ref().map(OrdersLine::new),
            contrast: evidence.contrast.as_ref().map(ContrastLine::new),
        }
    }
}

/// Both orders of a race; `change` is `end`, `output`, `value` or `nothing`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OrdersLine {
    #[cfg_attr(test, schemars(with = "super::schema::Change"))]
    change: Change,
    outcomes: Vec<OutcomeLine>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OutcomeLine {
    kind: Option<&'static str>,
    message: Option<String>,
    reads: [Option<u64>; 2],
    next_read: Option<u64>,
}

impl OrdersLine {
    fn new(orders: &BothOrders) -> OrdersLine {
        let outcome = |it: &Outcome| OutcomeLine {
            kind: it.failure.as_ref().map(|it| it.0.word()),
            message: it.failure.as_ref().map(|(kind, it)| fault::message(*kind, it)),
            reads: it.reads,
            next_read: it.next_read.as_ref().map(|it| it.0),
        };
        OrdersLine {
            change: orders.change(),
            outcomes: orders.outcomes.iter().map(outcome).collect(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LocationLine<'a> {
    name: Option<&'a str>,
    shift: u64,
    field_of: Option<&'a str>,
    r#type: Option<&'a str>,
    size: u64,
    home: &'static str,
    #[cfg_attr(test, schemars(with = "Option<u32>"))]
    thread: Option<ThreadId>,
    function: Option<&'a str>,
    declared_at: Option<PlaceLine<'a>>,
    offset: Option<u64>,
    allocated_at: Vec<PlaceLine<'a>>,
}

impl<'a> LocationLine<'a> {
    fn new(location: &'a Location) -> Option<LocationLine<'a>> {
        let text = |it: &'a str| (!it.is_empty()).then_some(it);
        let place = |it: &'a Place| (*it != Place::default()).then(|| PlaceLine::new(it));
        let line = LocationLine {
            name: text(&location.name),
            shift: location.shift,
            field_of: text(&location.field_of),
            r#type: text(&location.type_name),
            size: location.size,
            home: "global",
            thread: None,
            function: None,
            declared_at: None,
            offset: None,
            allocated_at: Vec::new(),
        };
        Some(match &location.home {
            Home::Global { declared_at, function } => {
                LocationLine { function: text(function), declared_at: place(declared_at), ..line }
            }
            Home::Heap { thread, offset, stack, sort, .. } => LocationLine {
                home: if *sort == BlockSort::Heap { "heap" } else { "mapping" },
                thread: Some(*thread),
                offset: Some(*offset),
                allocated_at: stack.iter().map(PlaceLine::new).collect(),
                ..line
            },
            Home::Stack { thread, function, declared_at } => LocationLine {
                home: "stack",
                thread: Some(*thread),
                function: text(function),
                declared_at: place(declared_at),
                ..line
            },
            _ => return None,
        })
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AccessLine<'a> {
    #[cfg_attr(test, schemars(with = "u32"))]
    thread: ThreadId,
    op: &'static str,
    size: u32,
    steps_before: u64,
    at: PlaceLine<'a>,
    stack: Vec<PlaceLine<'a>>,
    holds: Vec<HeldLine<'a>>,
}

impl<'a> AccessLine<'a> {
    fn new(access: &'a Access) -> AccessLine<'a> {
        AccessLine {
            thread: access.thread,
            op: access.kind.verb(),
            size: access.size,
            steps_before: access.step,
            at: PlaceLine::new(&access.place),
            stack: access.stack.iter().map(PlaceLine::new).collect(),
            holds: access.holds.iter().map(HeldLine::new).collect(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HeldLine<'a> {
    lock: String,
    taken_at: PlaceLine<'a>,
    shared: bool,
}

impl<'a> HeldLine<'a> {
    fn new(held: &'a Held) -> HeldLine<'a> {
        HeldLine {
            lock: held.lock.to_string(),
            taken_at: PlaceLine::new(&held.taken_at),
            shared: held.is_shared,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LinkLine<'a> {
    #[cfg_attr(test, schemars(with = "u32"))]
    thread: ThreadId,
    holds: HeldLine<'a>,
    wants: String,
    at: PlaceLine<'a>,
}

impl<'a> LinkLine<'a> {
    fn new(link: &'a Link) -> LinkLine<'a> {
        LinkLine {
            thread: link.thread,
            holds: HeldLine::new(&link.holds),
            wants: link.wants.to_string(),
            at: PlaceLine::new(&link.wants_at),
        }
    }
}
