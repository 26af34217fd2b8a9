//! A race that an execution showed, as a finding.
//!
//! The execution may have ended well: a race is a finding of its own. The trace is that of an execution in
//! which the memory was watched (see `raddle_model::Watch`), so that both sides have their stacks and locks.

use raddle_model::{
    Access, Bucket, Certainty, Doubt, Evidence, Fault, Finding, Held, Kind, NamedObject, Place,
    Plan,
};
use raddle_trace::{Module, SeenRace, SeenSide, Trace};

use super::{
    Shown, bucket,
    bucket::Grain,
    ending::{Ending, states},
    library::is_librarys,
    names::Names,
    program::{first_own, is_own, is_system_path, reported, runs_tasks},
};
use crate::target::Symbols;

/// The races of an execution, as findings: those in memory that was watched, or all if none was.
pub fn races(
    trace: &Trace,
    plan: &Plan,
    execution: u64,
    output: &str,
    symbols: &mut dyn Symbols,
) -> Vec<Finding> {
    watched(trace, plan)
        .filter_map(|it| race(trace, it, plan, execution, output, symbols))
        .collect()
}

/// The races of an execution in memory that was watched, or all if none was.
pub(crate) fn watched<'a>(trace: &'a Trace, plan: &Plan) -> impl Iterator<Item = &'a SeenRace> {
    let watch = plan.record.watch;
    trace.races.iter().filter(move |it| watch.is_none_or(|watch| watch == it.watch))
}

/// The bucket of what [`race()`] would find, for less work.
pub(crate) fn race_bucket(
    trace: &Trace,
    seen: &SeenRace,
    symbols: &mut dyn Symbols,
) -> Option<Bucket> {
    let names = &mut Names::new(trace, symbols);
    let accesses: Vec<Access> = seen.sides.iter().map(|it| access(it, names)).collect();
    let places = accesses.iter().map(|it| it.place.clone()).collect();
    (!is_librarys(&accesses)).then(|| bucket_of(places).0)
}

/// A race of an execution, as a finding.
pub fn race(
    trace: &Trace,
    seen: &SeenRace,
    plan: &Plan,
    execution: u64,
    output: &str,
    symbols: &mut dyn Symbols,
) -> Option<Finding> {
    Shown { trace, plan, execution, output }.finding(symbols, |names| ending(trace, seen, names))
}

/// What there is to say about a race; nothing about the library's own.
fn ending(trace: &Trace, seen: &SeenRace, names: &mut Names<'_>) -> Option<Ending> {
    let accesses: Vec<Access> = seen.sides.iter().map(|it| access(it, names)).collect();
    if is_librarys(&accesses) {
        return None;
    }
    let memory = vec![names.memory(seen.object_id, seen.object)];
    let last = &seen.sides[1];
    let location = names.location(seen.object, last.shift.into(), last.size.into());
    let (bucket, sites) = bucket_of(accesses.iter().map(|it| it.place.clone()).collect());
    Some(Ending {
        kind: Kind::Race,
        bucket,
        fault: fault(&memory, &accesses),
        thread: None,
        sites,
        cycle: Vec::new(),
        threads: states(trace, names),
        certainty: certainty(trace, names),
        freed: None,
        evidence: Some(Box::new(Evidence {
            memory,
            memory_id: seen.object_id,
            location,
            accesses,
            ..Evidence::default()
        })),
    })
}

fn bucket_of(places: Vec<Place>) -> (Bucket, Vec<Place>) {
    let sites = bucket::set(places);
    (bucket::bucket(Kind::Race, &sites, Grain::Line, ""), sites)
}

/// The bucket of a race whose memory was not watched, where both sides are plainly at lines of the program's own;
/// `None` where it takes more than their sites to tell.
pub(crate) fn plain_bucket(
    seen: &SeenRace,
    modules: &[Module],
    symbols: &mut dyn Symbols,
) -> Option<Bucket> {
    let mut places = Vec::new();
    for side in &seen.sides {
        let module = modules.get(side.site.module? as usize)?;
        let frames = symbols.places(&module.path, side.site.offset.saturating_sub(1));
        let [place] = frames.as_slice() else { return None };
        if !is_own(place) || place.line == 0 {
            return None;
        }
        places.push(place.clone());
    }
    Some(bucket_of(places).0)
}

/// A race happened, unless code without hooks has ordered the two.
fn certainty(trace: &Trace, names: &mut Names<'_>) -> Certainty {
    // Its locks may be released by plain stores, which nobody sees.
    if let Some(library) = trace.modules.iter().find(|it| runs_tasks(&it.path)) {
        let name = library.path.rsplit('/').next().unwrap_or(&library.path);
        return Certainty::Potential(Box::new(Doubt::Library(name.to_owned())));
    }
    let own = trace.modules.iter().filter(|it| !is_system_path(&it.path));
    let unseen = own
        .filter(|it| !it.is_announced)
        .filter_map(|it| names.symbols.unseen_atomic(&it.path))
        .next();
    match unseen {
        Some(place) => Certainty::Potential(Box::new(Doubt::Unhooked(place))),
        None => Certainty::Shown,
    }
}

fn access(side: &SeenSide, names: &mut Names<'_>) -> Access {
    let stack = stack(side, names);
    let holds = side.held.iter().map(|(lock, site, is_shared)| Held {
        lock: names.object(*lock),
        lock_id: *lock,
        taken_at: names.place(*site),
        is_shared: *is_shared,
    });
    Access {
        thread: side.thread,
        kind: side.kind,
        size: u32::from(side.size),
        step: side.step,
        place: first_own(&stack),
        holds: holds.collect(),
        stack,
    }
}

/// Where the access is, then the calls that led there.
fn stack(side: &SeenSide, names: &mut Names<'_>) -> Vec<Place> {
    let mut stack = names.frames_at(side.site);
    for site in &side.frames {
        stack.extend(names.frames(*site));
    }
    // What called `main` and the threads' first functions is ours, not the program's.
    stack.retain(|it| !it.module.starts_with("libraddle_rt"));
    stack
}

/// The fault that accesses to memory are.
pub(super) fn fault(memory: &[NamedObject], accesses: &[Access]) -> Fault {
    Fault::Accesses {
        memory: memory.to_vec(),
        accesses: accesses.iter().map(|it| (it.thread, it.kind, reported(&it.place))).collect(),
    }
}
