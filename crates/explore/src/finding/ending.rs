//! How an execution ended: kind, fault, threads, bucket. All of a finding but its steps.

use std::collections::BTreeSet;

use raddle_model::{
    Bucket, Certainty, End, Evidence, Fault, FreedMemory, Kind, Misuse, Misused, Place, ThreadId,
    ThreadState, WaitFor, signal_name,
};
use raddle_trace::Trace;

use super::{
    bucket::{self, Grain},
    gone,
    names::Names,
    program::{first_own, reported},
    waits::{self, Wait},
};

/// All of a finding but its steps.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) kind: Kind,
    pub(crate) bucket: Bucket,
    pub(crate) fault: Fault,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) sites: Vec<Place>,
    pub(crate) cycle: Vec<ThreadId>,
    pub(crate) threads: Vec<ThreadState>,
    pub(crate) certainty: Certainty,
    pub(crate) evidence: Option<Box<Evidence>>,
    pub(crate) freed: Option<Box<FreedMemory>>,
}

/// What differs from kind to kind.
struct Verdict {
    kind: Kind,
    fault: Fault,
    sites: Vec<Place>,
    grain: Grain,
    /// What tells findings of one kind apart beside their places.
    detail: String,
    cycle: Vec<ThreadId>,
    /// Who freed memory that was used all the same.
    freed: Option<Box<FreedMemory>>,
}

/// The threads at the end.
struct Scene {
    threads: Vec<ThreadState>,
    waits: Vec<Wait>,
    /// The stack of the thread that ended the execution.
    stack: Vec<Place>,
}

impl Ending {
    /// How the execution ended; `None` if it ended well, or if that is not for the program to answer.
    pub(crate) fn of(trace: &Trace, names: &mut Names<'_>) -> Option<Ending> {
        let end = failure(trace)?;
        let scene = Scene::of(trace, names);
        let verdict = verdict(end, trace, &scene, names);
        Some(Ending {
            kind: verdict.kind,
            bucket: bucket::bucket(verdict.kind, &verdict.sites, verdict.grain, &verdict.detail),
            fault: verdict.fault,
            thread: match verdict.kind {
                Kind::Deadlock | Kind::Livelock => None,
                _ => trace.end_thread,
            },
            sites: verdict.sites,
            cycle: verdict.cycle,
            threads: scene.threads,
            certainty: Certainty::Shown,
            evidence: None,
            freed: verdict.freed,
        })
    }
}

/// What the threads were doing at the end.
pub(super) fn states(trace: &Trace, names: &mut Names<'_>) -> Vec<ThreadState> {
    Scene::of(trace, names).threads
}

/// Where the thread stood that ended it, or was running when it was ended; innermost first.
pub(super) fn end_stack(trace: &Trace, names: &mut Names<'_>) -> Vec<Place> {
    let scene = Scene::of(trace, names);
    match trace.events.last() {
        Some(last) if scene.stack.is_empty() => names.frames(last.site),
        _ => scene.stack,
    }
}

/// The end, if it is one that the program must answer for.
pub(super) fn failure(trace: &Trace) -> Option<End> {
    let is_good =
        |end: &End| matches!(end, End::Exit(0) | End::Bug | End::Spent) || end.is_inconclusive();
    trace.end.map(explain_lost).filter(|end| !is_good(end))
}

/// A process that ended unseen has left its wait status: it exited by a raw system call, or was killed.
fn explain_lost(end: End) -> End {
    match end {
        End::Lost(status) if status & 0x7f == 0 => End::Exit((status >> 8) & 0xff),
        End::Lost(status) => End::Crash(status & 0x7f),
        end => end,
    }
}

fn verdict(end: End, trace: &Trace, scene: &Scene, names: &mut Names<'_>) -> Verdict {
    match end {
        End::Deadlock => deadlock(scene),
        End::Livelock => livelock(trace, scene),
        End::Misuse(misuse) => misused(misuse, trace, scene, names),
        End::Exit(code) => exit(code, trace, scene, names),
        End::Crash(_) if trace.message == STACK_OVERFLOW => overflow(trace, scene),
        End::Crash(number) => {
            let fault = Fault::Signal { number, at: scene.at() };
            by_stack(Kind::Crash, fault, signal_name(number), scene)
        }
        End::Assert => said(Kind::Assert, trace, scene),
        End::Panic => said(Kind::Panic, trace, scene),
        End::NotLinearizable => not_linearizable(trace, scene),
        End::Exception => said(Kind::Exception, trace, scene),
        End::Abort => said(Kind::Abort, trace, scene),
        End::OutOfMemory => out_of_memory(trace, scene),
        End::Lost(_) | End::Hang | End::Bug | End::Spent => {
            unreachable!("bug: {end:?} was dealt with before")
        }
    }
}

/// What the runtime says of a crash at the end of a stack.
const STACK_OVERFLOW: &str = "stack overflow";

/// How deep it was when the stack was full is chance, but not which function calls itself.
fn overflow(trace: &Trace, scene: &Scene) -> Verdict {
    let recursive = recursive(&scene.stack);
    let fault = Fault::StackOverflow {
        thread: trace.end_thread,
        recursive: recursive.map(|it| it.function.clone()),
        at: scene.at(),
    };
    let verdict = by_stack(Kind::Crash, fault, STACK_OVERFLOW.into(), scene);
    let Some(recursive) = recursive else { return verdict };
    let sites = vec![Place { line: 0, column: 0, ..recursive.clone() }];
    Verdict { sites, grain: Grain::Function, ..verdict }
}

/// The function that is on a stack most often, if any is there more than twice; the innermost of several.
fn recursive(stack: &[Place]) -> Option<&Place> {
    let n_of = |place: &Place| stack.iter().filter(|it| it.function == place.function).count();
    let named = stack.iter().filter(|it| !it.function.is_empty());
    named.rev().max_by_key(|it| n_of(it)).filter(|it| n_of(it) > 2)
}

/// A finding of one thread, told apart by its stack.
fn by_stack(kind: Kind, fault: Fault, detail: String, scene: &Scene) -> Verdict {
    Verdict {
        kind,
        fault,
        sites: bucket::own_frames(&scene.stack),
        grain: Grain::Line,
        detail,
        cycle: Vec::new(),
        freed: None,
    }
}

/// A finding of which the program says what it is, or nothing.
fn said(kind: Kind, trace: &Trace, scene: &Scene) -> Verdict {
    // A panic's message may have several lines: one for each side of an `assert_eq!`.
    let lines: Vec<&str> = trace.message.lines().map(str::trim).collect();
    let said = lines.join(", ");
    let detail = bucket::without_numbers(&said);
    let fault = match said.as_str() {
        "" => Fault::Silent(scene.at()),
        _ => Fault::Said(said),
    };
    by_stack(kind, fault, detail, scene)
}

/// Whichever scenario shows it: one structure that is checked is one finding.
fn not_linearizable(trace: &Trace, scene: &Scene) -> Verdict {
    let history = trace.history.clone().unwrap_or_default();
    let fault = Fault::History(Box::new(history));
    by_stack(Kind::Linearizability, fault, String::new(), scene)
}

/// Where it stood when the limit was reached is chance, but hardly in which functions.
fn out_of_memory(trace: &Trace, scene: &Scene) -> Verdict {
    let fault = Fault::OutOfMemory(trace.memory_limit, scene.at());
    Verdict { grain: Grain::Function, ..by_stack(Kind::OutOfMemory, fault, String::new(), scene) }
}

fn exit(code: i32, trace: &Trace, scene: &Scene, names: &mut Names<'_>) -> Verdict {
    let is_main = trace.end_thread.is_none_or(|it| it == ThreadId(0));
    let detail = format!("{code} {}", if is_main { "main" } else { "other" });
    let verdict = by_stack(Kind::Exit, Fault::ExitCode(code), detail, scene);
    if !verdict.sites.is_empty() {
        return verdict;
    }
    // `main` came to its end, nobody knows where: it is known by its name and file.
    let main = trace.threads.first().and_then(|it| names.start_place(it)).map(|it| Place {
        line: 0,
        column: 0,
        offset: 0,
        ..it
    });
    Verdict { sites: main.into_iter().collect(), grain: Grain::Function, ..verdict }
}

fn misused(misuse: Misuse, trace: &Trace, scene: &Scene, names: &mut Names<'_>) -> Verdict {
    let freed = gone::freed(trace, names);
    let fault = Fault::Misuse(Box::new(Misused {
        thread: trace.end_thread,
        misuse,
        object: names.object(trace.end_object),
        block: gone::whole_block(trace, names),
        gone: gone::gone(trace, misuse, freed.as_deref(), names),
        holder: holder(misuse, trace, names),
        heap: gone::heap_error(trace, names),
    }));
    Verdict { freed, ..by_stack(Kind::Misuse, fault, misuse.word().into(), scene) }
}

/// Another thread that holds the lock which the last one misused: no step says so if it took it before there were others.
fn holder(misuse: Misuse, trace: &Trace, names: &mut Names<'_>) -> Option<(ThreadId, Place)> {
    let is_about_holder = matches!(misuse, Misuse::UnlockNotOwner | Misuse::DestroyHeld);
    let last = trace.end_thread.filter(|_| is_about_holder)?;
    let held = &trace.threads.get(last.idx())?.holders;
    let (holder, site) = *held.iter().find(|it| it.0 != last)?;
    Some((holder, names.place(site)))
}

fn deadlock(scene: &Scene) -> Verdict {
    let waits = &scene.waits;
    let Some(cycle) = waits::cycle(waits) else {
        let roots = waits::roots(waits);
        return Verdict {
            kind: Kind::Deadlock,
            fault: Fault::Forlorn(roots.iter().map(|it| it.blocked(0)).collect()),
            sites: bucket::set(roots.iter().map(|it| it.at.clone()).collect()),
            grain: Grain::Line,
            detail: "forlorn".into(),
            cycle: Vec::new(),
            freed: None,
        };
    };
    // The lock that each link's thread waits for was taken by the next link's thread.
    let taken = cycle.iter().map(|it| &waits[it.wait_idx].holders[it.holder_idx].1);
    let waited = cycle.iter().cycle().skip(1).map(|it| &waits[it.wait_idx].at);
    let pairs = taken.cloned().zip(waited.cloned()).collect();
    Verdict {
        kind: Kind::Deadlock,
        fault: Fault::Cycle(
            cycle.iter().map(|it| waits[it.wait_idx].blocked(it.holder_idx)).collect(),
        ),
        // A thread that is joined was taken nowhere.
        sites: bucket::smallest_rotation(pairs)
            .into_iter()
            .filter(|it| *it != Place::default())
            .collect(),
        grain: Grain::Line,
        detail: "cycle".into(),
        cycle: cycle.iter().map(|it| waits[it.wait_idx].thread).collect(),
        freed: None,
    }
}

/// Where the threads stood when the steps ran out is chance, but hardly in which functions.
fn livelock(trace: &Trace, scene: &Scene) -> Verdict {
    let sites = scene.unfinished().map(|it| first_own(&it.stack));
    let sites = sites.map(|it| Place { line: 0, column: 0, ..it });
    Verdict {
        kind: Kind::Livelock,
        fault: round(trace),
        sites: bucket::set(sites.collect()),
        grain: Grain::Function,
        detail: String::new(),
        cycle: Vec::new(),
        freed: None,
    }
}

/// Who goes round in circles: the runtime says after how many steps the state was the same again.
fn round(trace: &Trace) -> Fault {
    let n_steps: usize = trace.message.parse().unwrap_or(0);
    let last = &trace.events[trace.events.len().saturating_sub(n_steps)..];
    let threads: BTreeSet<ThreadId> = last.iter().map(|it| it.thread).collect();
    Fault::Round(threads.into_iter().collect(), n_steps as u64)
}

impl Scene {
    fn of(trace: &Trace, names: &mut Names<'_>) -> Scene {
        let mut scene = Scene { threads: Vec::new(), waits: Vec::new(), stack: Vec::new() };
        for number in 0..trace.threads.len() as u32 {
            scene.add(trace, ThreadId(number), names);
        }
        if scene.stack.is_empty() {
            scene.stack = names.frames(trace.end_site);
        }
        scene
    }

    fn add(&mut self, trace: &Trace, thread: ThreadId, names: &mut Names<'_>) {
        let described = &trace.threads[thread.idx()];
        let stack = stack(trace, thread, names);
        let wait = Wait::of(trace, thread, &stack, names);
        if trace.end_thread == Some(thread) {
            self.stack.clone_from(&stack);
        }
        self.threads.push(ThreadState {
            thread,
            name: described.name.clone(),
            parent: described.parent,
            created_at: names.creation_place(described),
            creation: names.stack(described.creation),
            function: names.start_function(described),
            is_finished: described.is_finished,
            pending: (described.is_described && !described.is_finished)
                .then(|| names.std_sync().pending(described.pending.kind, described.pending.site)),
            waits_for: wait.as_ref().map(|wait| WaitFor {
                object: wait.named.clone(),
                object_id: wait.object,
                at: wait.at.clone(),
                holders: if wait.is_join() { Vec::new() } else { wait.holders.clone() },
                missed: wait.missed.clone(),
            }),
            stack,
        });
        self.waits.extend(wait);
    }

    /// Where the thread stood that ended the execution.
    fn at(&self) -> Place {
        reported(&first_own(&self.stack))
    }

    fn unfinished(&self) -> impl Iterator<Item = &ThreadState> {
        self.threads.iter().filter(|it| !it.is_finished)
    }
}

/// A thread's stack: the site where it is, then the calls that led there.
fn stack(trace: &Trace, thread: ThreadId, names: &mut Names<'_>) -> Vec<Place> {
    let described = &trace.threads[thread.idx()];
    // Who comes to the end of `main` is nowhere: what it did last is where it happened to be chosen.
    let is_exit = matches!(trace.end.map(explain_lost), Some(End::Exit(_)));
    let is_end = trace.end_thread == Some(thread) && (is_exit || trace.end_site.0 != 0);
    let top = if is_end { trace.end_site } else { described.pending.site };
    let mut stack = names.frames(top);
    // The runtime may or may not have put the top among the calls.
    let is_repeated = described.frames.first() == Some(&top);
    for site in described.frames.iter().skip(usize::from(is_repeated)) {
        stack.extend(names.frames(*site));
    }
    // What called `main` and the threads' first functions is ours, not the program's.
    stack.retain(|it| !it.module.starts_with("libraddle_rt"));
    stack
}
