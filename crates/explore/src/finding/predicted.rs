//! What an execution that ended well says could go wrong, as findings.
//!
//! They are potential until an execution shows them; `campaign` tries that. A cycle of locks has the bucket
//! of the deadlock that it would be, and two accesses that of the race. Violations of atomicity have happened;
//! it is a guess that they matter, and they stay potential for that.

use raddle_analysis::{
    AtomicityViolation, HeldLock, Intent, Interruption, Inversion, LockLink, PotentialDeadlock,
    Race, Side, Unlocked, Usage,
};
use raddle_model::{
    Access, Certainty, Contrast, Detect, Doubt, Evidence, Fault, Finding, Held, Intention, Kind,
    Link, LockUsage, Nested, ObjectId, Place,
};
use raddle_trace::Trace;

use super::{
    Shown, bucket,
    bucket::Grain,
    ending::{Ending, states},
    is_failure,
    library::is_librarys,
    names::Names,
    program::{is_own, reported},
    race::fault,
};
use crate::target::Symbols;

/// What could go wrong, by the numbers of a trace.
#[derive(Clone, Debug)]
pub(crate) enum Prediction {
    /// Threads could each hold what another wants.
    Deadlock(PotentialDeadlock),
    /// Two accesses have no lock in common.
    Race(Unlocked),
    /// Another thread's access came in the midst of what was meant to be one.
    Atomicity(AtomicityViolation, Intent),
    /// A thread of a failing execution was interrupted.
    Interruption(Interruption),
    /// Two accesses of a failing execution came in this order.
    Order(Inversion),
}

/// What a trace says could go wrong.
pub(crate) fn predictions(trace: &Trace, detect: Detect) -> Vec<Prediction> {
    let mut all = Vec::new();
    if detect.deadlocks {
        all.extend(raddle_analysis::deadlocks(trace).into_iter().map(Prediction::Deadlock));
    }
    if detect.locksets {
        all.extend(raddle_analysis::locksets(trace).into_iter().map(Prediction::Race));
    }
    if detect.atomicity && is_failure(trace, false) {
        let found = raddle_analysis::interruptions(trace).into_iter();
        all.extend(found.map(Prediction::Interruption));
        all.extend(raddle_analysis::inversions(trace).into_iter().map(Prediction::Order));
    } else if detect.atomicity {
        let found = raddle_analysis::violations(trace).into_iter();
        all.extend(found.map(|(it, intent)| Prediction::Atomicity(it, intent)));
    }
    all
}

impl Prediction {
    /// Steps after which each thread stands at its part, if the analysis knows any.
    pub(crate) fn steps(&self) -> Option<&[usize]> {
        match self {
            Prediction::Deadlock(it) => it.steps.as_deref(),
            Prediction::Race(it) => it.steps.as_deref(),
            Prediction::Atomicity(..) | Prediction::Interruption(_) | Prediction::Order(_) => None,
        }
    }
}

/// A prediction as a finding; `why` it is not more than that.
pub(crate) fn predicted(
    shown: Shown<'_>,
    prediction: &Prediction,
    why: Doubt,
    symbols: &mut dyn Symbols,
) -> Option<Finding> {
    let trace = shown.trace;
    shown.finding(symbols, |names| match prediction {
        Prediction::Deadlock(it) => Some(deadlock(trace, it, why, names)),
        Prediction::Race(it) => unlocked(trace, it, why, names),
        Prediction::Atomicity(it, intent) => {
            let why = Doubt::MeantAsOne(Some(intention(*intent, names)));
            violation(trace, it, why, names).filter(is_in_one_function)
        }
        Prediction::Interruption(it) => violation(trace, &it.violation, why, names),
        Prediction::Order(it) => {
            let sides = [&it.first, &it.second];
            unmeant(trace, (it.object, None), &sides, why, names)
        }
    })
}

/// What a failing execution reads otherwise than one that ends well.
pub(crate) fn contrast(
    failing: &Trace,
    passing: &Trace,
    symbols: &mut dyn Symbols,
) -> Option<Contrast> {
    let found = raddle_analysis::contrast(failing, passing)?;
    let mut names = Names::new(failing, symbols);
    let memory = names.object(found.object);
    let read = access(&found.read, &mut names);
    let seen = found.writes[0].as_ref().map(|it| access(it, &mut names));
    let mut names = Names::new(passing, symbols);
    let instead = found.writes[1].as_ref().map(|it| access(it, &mut names));
    Some(Contrast { memory, read, values: found.values, writes: [seen, instead] })
}

/// The same prediction, from an execution of its plan.
pub(crate) fn predicted_again(
    shown: Shown<'_>,
    old: &Finding,
    symbols: &mut dyn Symbols,
) -> Vec<Finding> {
    let detect = Detect {
        deadlocks: old.kind == Kind::Deadlock,
        locksets: old.kind == Kind::Race,
        atomicity: old.kind == Kind::Atomicity,
        races: false,
    };
    let mut all = predictions(shown.trace, detect);
    // Perhaps a search took it for a race, by its own rules.
    let sides = old
        .evidence
        .iter()
        .flat_map(|it| &it.accesses)
        .filter_map(|it| (it.step as usize).checked_sub(1));
    if let (Kind::Race, Ok(pair)) = (old.kind, <[usize; 2]>::try_from(sides.collect::<Vec<_>>())) {
        let found = raddle_analysis::unlocked(shown.trace, &[pair]);
        all.extend(found.into_iter().map(Prediction::Race));
    }
    let new = all.iter().filter_map(|it| predicted(shown, it, Doubt::Untried, symbols));
    new.map(|it| Finding { certainty: old.certainty.clone(), ..it }).collect()
}

fn deadlock(trace: &Trace, found: &PotentialDeadlock, why: Doubt, names: &mut Names<'_>) -> Ending {
    let links: Vec<Link> = found.cycle.links.iter().map(|it| link(it, names)).collect();
    let pairs = links.iter().map(|it| (it.holds.taken_at.clone(), it.wants_at.clone()));
    let sites: Vec<Place> = bucket::smallest_rotation(pairs.collect());
    Ending {
        kind: Kind::Deadlock,
        bucket: bucket::bucket(Kind::Deadlock, &sites, Grain::Line, "cycle"),
        fault: Fault::Locks(links.iter().map(nested).collect()),
        thread: None,
        sites,
        cycle: Vec::new(),
        threads: states(trace, names),
        certainty: Certainty::Potential(Box::new(why)),
        freed: None,
        evidence: Some(Box::new(Evidence { links, ..Evidence::default() })),
    }
}

fn link(link: &LockLink, names: &mut Names<'_>) -> Link {
    Link {
        thread: link.thread,
        holds: held(&link.holds, names),
        wants: names.object(link.wants),
        wants_id: link.wants,
        wants_at: names.place(link.site),
        steps: [link.held_step, link.step],
    }
}

fn nested(link: &Link) -> Nested {
    Nested {
        thread: link.thread,
        wants: link.wants.clone(),
        at: reported(&link.wants_at),
        holds: link.holds.lock.clone(),
    }
}

fn held(lock: &HeldLock, names: &mut Names<'_>) -> Held {
    Held {
        lock: names.object(lock.lock),
        lock_id: lock.lock,
        taken_at: names.place(lock.site),
        is_shared: lock.is_shared,
    }
}

fn unlocked(trace: &Trace, found: &Unlocked, why: Doubt, names: &mut Names<'_>) -> Option<Ending> {
    let Race { object, first, second } = &found.race;
    let accesses: Vec<Access> = [first, second].map(|it| access(it, names)).into();
    if is_librarys(&accesses) {
        return None;
    }
    let memory = vec![names.object(*object)];
    let described = *trace.objects.get(object.idx())?;
    let location = names.location(described, second.offset.into(), second.size.into());
    let sites = bucket::set(accesses.iter().map(|it| it.place.clone()).collect());
    let why = Doubt::Unlocked(Box::new(why), usage(&found.usage, names));
    Some(Ending {
        kind: Kind::Race,
        bucket: bucket::bucket(Kind::Race, &sites, Grain::Line, ""),
        fault: fault(&memory, &accesses),
        thread: None,
        sites,
        cycle: Vec::new(),
        threads: states(trace, names),
        certainty: Certainty::Potential(Box::new(why)),
        freed: None,
        evidence: Some(Box::new(Evidence {
            memory,
            memory_id: *object,
            location,
            accesses,
            ..Evidence::default()
        })),
    })
}

fn violation(
    trace: &Trace,
    found: &AtomicityViolation,
    why: Doubt,
    names: &mut Names<'_>,
) -> Option<Ending> {
    let sides: Vec<&Side> = found.sides().collect();
    unmeant(trace, (found.object, found.other), &sides, why, names)
}

/// Accesses that the program did not mean to come like this.
fn unmeant(
    trace: &Trace,
    (object, other): (ObjectId, Option<ObjectId>),
    sides: &[&Side],
    why: Doubt,
    names: &mut Names<'_>,
) -> Option<Ending> {
    let accesses: Vec<Access> = sides.iter().map(|it| access(it, names)).collect();
    let mut memory = vec![names.object(object)];
    memory.extend(other.map(|it| names.object(it)));
    let described = *trace.objects.get(object.idx())?;
    let (offset, size) = (sides[1].offset.into(), sides[1].size.into());
    let location = names.location(described, offset, size);
    let sites: Vec<Place> = accesses.iter().map(|it| it.place.clone()).collect();
    Some(Ending {
        kind: Kind::Atomicity,
        bucket: bucket::bucket(Kind::Atomicity, &sites, Grain::Line, ""),
        fault: fault(&memory, &accesses),
        thread: None,
        sites,
        cycle: Vec::new(),
        threads: states(trace, names),
        certainty: Certainty::Potential(Box::new(why)),
        freed: None,
        evidence: Some(Box::new(Evidence {
            memory,
            memory_id: object,
            location,
            accesses,
            ..Evidence::default()
        })),
    })
}

/// What two functions do was hardly meant to be one, nor what comes around in a loop.
fn is_in_one_function(ending: &Ending) -> bool {
    let [first, .., last] = ending.sites.as_slice() else { return false };
    is_own(first)
        && first.function == last.function
        && first.file == last.file
        && first.line < last.line
}

/// Why it is taken for one.
fn intention(intent: Intent, names: &mut Names<'_>) -> Intention {
    match intent {
        Intent::Stale(lock) => Intention::Stale(names.object(lock)),
        Intent::Checked(lock) => Intention::Checked(names.object(lock)),
        Intent::Update => Intention::Update,
        Intent::Together(lock, other) => {
            Intention::Together(Box::new([lock, other].map(|it| names.object(it))))
        }
    }
}

fn access(side: &Side, names: &mut Names<'_>) -> Access {
    Access {
        thread: side.thread,
        kind: side.kind,
        size: side.size,
        // Steps done when it was: itself among them.
        step: side.step + 1,
        place: names.place(side.site),
        stack: names.frames(side.site),
        holds: side.holds.iter().map(|it| held(it, names)).collect(),
    }
}

fn usage(usage: &Usage, names: &mut Names<'_>) -> LockUsage {
    let usual = usage.usual.map(|(lock, count)| (names.object(lock), count));
    LockUsage { n_accesses: usage.n_accesses, usual }
}
