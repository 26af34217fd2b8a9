//! Every deadlock that can be made to happen, as the analysis says, does happen: its steps are made, one after the
//! other, on locks that do nothing but exclude, and then each thread of the cycle waits for the next one.

use std::collections::BTreeMap;

use raddle_model::{Event, ObjectId, Op, OpKind, OpResult, Rng, SiteId, ThreadId};

use crate::{PotentialDeadlock, deadlocks, toy::of_events};

const N_THREADS: u32 = 4;
const LOCKS: [u32; 4] = [1, 2, 3, 4];
const VARIABLES: [u32; 2] = [5, 6];
const THREADS: u32 = 8;
const N_OBJECTS: usize = (THREADS + N_THREADS) as usize;

/// What a thread does, in order.
type Program = Vec<(OpKind, u32)>;

/// Sections of one to three locks, one in the other, with accesses in between.
fn program(rng: &mut Rng) -> Program {
    let mut ops = Vec::new();
    for _ in 0..=rng.below(2) {
        let mut open: Vec<u32> = Vec::new();
        for _ in 0..=rng.below(3) {
            let lock = LOCKS[rng.below(4) as usize];
            if !open.contains(&lock) {
                open.push(lock);
                ops.push((OpKind::Lock, lock));
            }
            let variable = VARIABLES[rng.below(2) as usize];
            match rng.below(6) {
                0 => ops.push((OpKind::Read, variable)),
                1 => ops.push((OpKind::Write, variable)),
                _ => {}
            }
        }
        ops.extend(open.iter().rev().map(|lock| (OpKind::Unlock, *lock)));
    }
    ops
}

/// Locks, and how far each thread has come.
#[derive(Default)]
struct World {
    owners: BTreeMap<u32, u32>,
    done: [usize; N_THREADS as usize],
}

impl World {
    /// The next op of a thread, if it has one.
    fn next(&self, programs: &[Program], thread: u32) -> Option<(OpKind, u32)> {
        programs[thread as usize].get(self.done[thread as usize]).copied()
    }

    /// Makes the next step of a thread: was it possible?
    fn step(&mut self, programs: &[Program], thread: u32) -> bool {
        let Some((kind, object)) = self.next(programs, thread) else { return false };
        match kind {
            OpKind::Lock if self.owners.contains_key(&object) => return false,
            OpKind::Lock => _ = self.owners.insert(object, thread),
            OpKind::Unlock => _ = self.owners.remove(&object),
            _ => {}
        }
        self.done[thread as usize] += 1;
        true
    }
}

/// A schedule in which all threads come to their ends; `None` if they do not.
fn schedule(programs: &[Program], rng: &mut Rng) -> Option<Vec<u32>> {
    let n_steps: usize = programs.iter().map(Vec::len).sum();
    let (mut world, mut steps) = (World::default(), Vec::new());
    for _ in 0..1_000 {
        let thread = 1 + rng.below(N_THREADS - 1);
        // Some go on for a while.
        for _ in 0..=rng.below(4) {
            if world.step(programs, thread) {
                steps.push(thread);
            }
        }
    }
    (steps.len() == n_steps).then_some(steps)
}

/// The events of a schedule, after the threads were created; a place in the code for each op of each thread.
fn events(programs: &[Program], schedule: &[u32]) -> Vec<Event> {
    let event = |thread: u32, kind, object, site, value| {
        let op = Op::on(kind, ObjectId(object), SiteId(site)).bytes(0, 4);
        Event::of(ThreadId(thread), &op, OpResult::Done, value, None)
    };
    let spawn = |child| event(0, OpKind::Spawn, THREADS + child, 0, u64::from(child));
    let mut events: Vec<Event> = (1..N_THREADS).map(spawn).collect();
    let mut world = World::default();
    for thread in schedule {
        let site = 100 * thread + world.done[*thread as usize] as u32;
        let (kind, object) = world.next(programs, *thread).expect("bug: the schedule was made so");
        world.step(programs, *thread);
        events.push(event(*thread, kind, object, site, 0));
    }
    events
}

/// Does the plan deadlock?
fn happens(found: &PotentialDeadlock, programs: &[Program], events: &[Event]) -> bool {
    let Some(steps) = &found.steps else { return true };
    let mut world = World::default();
    for step in steps {
        let event = &events[*step];
        if event.kind != OpKind::Spawn && !world.step(programs, event.thread.0) {
            return false;
        }
    }
    let links = &found.cycle.links;
    links.iter().zip(links.iter().cycle().skip(1)).all(|(link, holder)| {
        let wants = world.next(programs, link.thread.0);
        wants == Some((OpKind::Lock, link.wants.0))
            && world.owners.get(&link.wants.0) == Some(&holder.thread.0)
    })
}

#[test]
fn what_can_happen_does() {
    let (mut n_good, mut n_confirmed, mut n_left) = (0, 0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let programs: Vec<Program> =
            (0..N_THREADS).map(|it| if it == 0 { Vec::new() } else { program(&mut rng) }).collect();
        let Some(schedule) = schedule(&programs, &mut rng) else { continue };
        n_good += 1;
        let events = events(&programs, &schedule);
        let trace = of_events(events.clone(), N_OBJECTS);
        for found in deadlocks(&trace) {
            assert!(happens(&found, &programs, &events), "seed {seed}: {found:?}\n{programs:?}");
            match found.steps {
                Some(_) => n_confirmed += 1,
                None => n_left += 1,
            }
        }
    }
    // The law says something only if there is something to say it of.
    assert!(n_good > 2_000, "{n_good} executions ended well");
    assert!(n_confirmed > 500, "{n_confirmed} deadlocks, {n_left} that no steps lead to");
}
