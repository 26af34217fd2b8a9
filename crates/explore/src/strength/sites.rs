//! The atomic ops and fences in a program's own source, as its executions show them.

use std::collections::BTreeMap;

use raddle_model::{Event, Flags, MemoryOrder, OpKind, OpResult, OrderAt, Place, Reordered, mix};
use raddle_trace::Trace;

use crate::{
    finding::{Names, is_system_file},
    target::Symbols,
};

/// What was seen of the places, by module and offset.
#[derive(Debug, Default)]
pub(super) struct Sites {
    found: BTreeMap<(u64, u64), Option<Seen>>,
}

#[derive(Debug)]
struct Seen {
    place: Place,
    kind: OpKind,
    /// `None`: there were several.
    variable: Option<String>,
    order: MemoryOrder,
    /// Was the order seen of one that did not fail? That of a failing compare-exchange is another.
    is_sure: bool,
}

impl Sites {
    /// Takes in what an execution did with the orders of the source.
    pub(super) fn take_in(&mut self, trace: &Trace, symbols: &mut dyn Symbols) {
        let mut names = Names::new(trace, symbols);
        for event in trace.events.iter().filter(|it| is_atomic(it)) {
            let Some(key) = key(trace, event) else { continue };
            let seen = self.found.entry(key).or_insert_with(|| Seen::new(event, &mut names));
            if let Some(seen) = seen {
                seen.meet(event, &mut names);
            }
        }
    }

    /// All of them, in the order of the source, each with its own order.
    pub(super) fn all(&self) -> Vec<Reordered> {
        let of = |((module, offset), seen): (&(u64, u64), &Option<Seen>)| {
            let seen = seen.as_ref()?;
            Some(Reordered {
                at: OrderAt { module: *module, offset: *offset, order: seen.order },
                place: seen.place.clone(),
                kind: seen.kind,
                variable: seen.variable.clone().unwrap_or_default(),
                from: seen.order,
            })
        };
        let mut all: Vec<Reordered> = self.found.iter().filter_map(of).collect();
        let key = |it: &Reordered| (it.place.file.clone(), it.place.line, it.place.column, it.at);
        all.sort_by_key(key);
        all
    }
}

impl Seen {
    /// `None` if it is not in the program's own source.
    fn new(event: &Event, names: &mut Names<'_>) -> Option<Seen> {
        let frames = names.frames(event.site);
        let own = frames.iter().position(|it| !is_system_file(&it.file))?;
        // What a lock or a reference count of the library does is its own business.
        if !frames[..own].iter().all(|it| it.function.contains("atomic")) {
            return None;
        }
        let object = names.object(event.object);
        Some(Seen {
            place: frames[own].clone(),
            kind: event.kind,
            variable: Some(object.own_name().unwrap_or_default()),
            order: event.order(),
            is_sure: false,
        })
    }

    fn meet(&mut self, event: &Event, names: &mut Names<'_>) {
        let is_failed = event.kind == OpKind::AtomicCas && event.result != OpResult::Done;
        if !is_failed && !self.is_sure {
            (self.order, self.is_sure) = (event.order(), true);
        }
        let name = names.object(event.object).own_name().unwrap_or_default();
        if self.variable.as_ref().is_some_and(|it| *it != name) {
            self.variable = None;
        }
    }
}

fn is_atomic(event: &Event) -> bool {
    let is_kind = !MemoryOrder::of_kind(event.kind).is_empty();
    is_kind && !event.flags.has(Flags::UNHOOKED)
}

/// What plans know an op's place by: its module, and its offset, with those of the calls on the way there through the code
/// of the program's language's library. The runtime makes the same of the op.
fn key(trace: &Trace, event: &Event) -> Option<(u64, u64)> {
    let site = trace.sites.get(event.site.0 as usize)?;
    let module = trace.modules.get(site.module? as usize)?;
    let (mut way, mut via) = (site.offset, site.via);
    while let Some(call) = via {
        let call = trace.sites.get(call.0 as usize)?;
        way = mix(way, call.offset);
        via = call.via;
    }
    Some((OrderAt::module(&module.path), way))
}
