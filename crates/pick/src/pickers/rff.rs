//! Reads-from fuzzing: partial order sampling that tries to keep an abstract schedule (Wolff, Shi, Duck, Mathur,
//! Roychoudhury, ASPLOS 2024).
//!
//! A constraint names two places in the code, a read and a write of the same object, and is about any of their steps.
//! *Wanted*: once a thread is about to read there, it is passed over and whoever is about to write there comes first; once
//! that is done, the read comes first and other writes of the object are passed over, until it is read. *To be avoided*:
//! once the write is done, reads there are passed over and other writes of the object come first, until there was one.
//! Within these three bands, the highest priority of partial order sampling runs.
//!
//! The order of critical sections counts as reads-from, too: who takes a lock reads what the section before wrote. Both are
//! named by where the lock is taken, for that is where a thread can be passed over.
//!
//! Where we depart: a write of nobody is the value that was there at first, and the object is that of the first read which
//! is about to be done at the place; a thread that was passed over for so many choices in a row ends all constraints, for
//! others may spin until it goes on; fair spells (`fair`). Bound: that of partial order sampling without constraints.

use raddle_model::{AbstractSchedule, ObjectId, Op, ReadsFrom, Side, ThreadId};

use crate::{
    dice::Dice,
    draws::Draws,
    origin::Origin,
    pickers::pos::{Guide, Sampling},
    view::{Threads, View},
};

/// Choices in a row with somebody passed over, after which nobody is any more.
const PATIENCE: u32 = 3_000;

/// See the module.
pub type Rff = Sampling<Wishes>;

/// The constraints of an execution.
#[derive(Clone, Debug)]
pub struct Wishes {
    goals: Vec<Goal>,
    /// By thread: what its op is.
    ops: Vec<Near>,
    /// Choices in a row with somebody passed over.
    n_passed_over: u32,
}

/// A constraint, and how far it is kept.
#[derive(Clone, Copy, Debug)]
struct Goal {
    pair: ReadsFrom,
    is_wanted: bool,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has happened yet, or something has come between.
    Open,
    /// The last write of this object was that of the constraint.
    Written(ObjectId),
    /// It is kept, or can't be any more.
    Over,
}

/// A thread's op, as far as it matters to constraints.
#[derive(Clone, Copy, Debug, Default)]
struct Near {
    object: ObjectId,
    writes: bool,
    /// Of which constraints it is the read: a bit each.
    reads_of: u8,
    /// Of which constraints it is the write.
    writes_of: u8,
}

/// Who comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Band {
    PassedOver,
    Neutral,
    First,
}

impl Near {
    /// Does it leave another value behind?
    const fn of(op: &Op) -> Near {
        let kind = op.kind;
        let writes = kind.is_access() && kind.is_write() || kind.takes_lock();
        Near { object: op.object, writes, reads_of: 0, writes_of: 0 }
    }

    const fn reads(&self, idx: usize) -> bool {
        self.reads_of >> idx & 1 == 1
    }

    const fn writes_it(&self, idx: usize) -> bool {
        self.writes_of >> idx & 1 == 1
    }
}

impl Rff {
    pub(crate) fn new(origin: &Origin<'_>, wanted: AbstractSchedule, table: &[u32]) -> Rff {
        let goal = |it: raddle_model::Wish| {
            let pair = ReadsFrom::of_script(table, usize::from(it.idx))?;
            Some(Goal { pair, is_wanted: it.is_wanted, stage: Stage::Open })
        };
        let guide = Wishes {
            goals: wanted.constraints().filter_map(goal).collect(),
            ops: Vec::with_capacity(64),
            n_passed_over: 0,
        };
        Rff::guided(Dice::new(origin.seed, origin.may_time_out), guide)
    }
}

impl Wishes {
    #[inline]
    fn near<T: Threads>(&self, thread: ThreadId, threads: &T) -> Near {
        let op = threads.op(thread);
        let mut near = Near::of(op);
        if self.goals.is_empty() || !(op.kind.is_access() || op.kind.takes_lock()) {
            return near;
        }
        let key = Side::key(op.kind, threads.site(op.site));
        for (idx, goal) in self.goals.iter().enumerate() {
            near.reads_of |= u8::from(goal.pair.read == key) << idx;
            near.writes_of |= u8::from(goal.pair.write == key) << idx;
        }
        near
    }

    /// Is anybody about to read there, other than this one?
    fn is_awaited(&self, idx: usize, thread: ThreadId) -> bool {
        let others = self.ops.iter().enumerate().filter(|it| it.0 != thread.idx());
        others.map(|it| it.1).any(|it| it.reads(idx))
    }

    /// Is anybody else about to read this object there? That is what it is about if it is about what was there at first.
    fn is_first_read(&self, idx: usize, object: ObjectId) -> bool {
        self.ops.iter().any(|it| it.reads(idx) && it.object == object)
    }

    fn band(&self, thread: ThreadId) -> Band {
        let near = self.ops[thread.idx()];
        let mut band = Band::Neutral;
        for (idx, goal) in self.goals.iter().enumerate() {
            let (reads, writes_it) = (near.reads(idx), near.writes_it(idx));
            let now = match (goal.stage, goal.is_wanted) {
                (Stage::Over, _) => Band::Neutral,
                (Stage::Open, _) if goal.pair.write == 0 => {
                    let is_other = !reads && near.writes && self.is_first_read(idx, near.object);
                    match (reads, is_other) {
                        (true, _) if goal.is_wanted => Band::First,
                        (_, true) if goal.is_wanted => Band::PassedOver,
                        (true, _) => Band::PassedOver,
                        (_, true) => Band::First,
                        _ => Band::Neutral,
                    }
                }
                (Stage::Open, true) if writes_it && self.is_awaited(idx, thread) => Band::First,
                (Stage::Open, true) if reads => Band::PassedOver,
                (Stage::Written(object), true) if object == near.object => match reads {
                    true => Band::First,
                    false if near.writes => Band::PassedOver,
                    false => Band::Neutral,
                },
                (Stage::Written(object), false) if object == near.object => match reads {
                    true => Band::PassedOver,
                    false if near.writes && !writes_it => Band::First,
                    false => Band::Neutral,
                },
                _ => Band::Neutral,
            };
            band = match (band, now) {
                (Band::Neutral, _) => now,
                (_, Band::First) => Band::First,
                _ => band,
            };
        }
        band
    }

    fn follow(&mut self, thread: ThreadId) {
        let near = self.ops[thread.idx()];
        for idx in 0..self.goals.len() {
            let (reads, writes_it) = (near.reads(idx), near.writes_it(idx));
            let is_first_read = self.is_first_read(idx, near.object);
            let goal = &mut self.goals[idx];
            let is_initial = goal.pair.write == 0;
            goal.stage = match goal.stage {
                Stage::Open if is_initial && (reads || near.writes && is_first_read) => Stage::Over,
                Stage::Written(object) if reads && goal.is_wanted && object == near.object => {
                    Stage::Over
                }
                Stage::Over => Stage::Over,
                _ if writes_it => Stage::Written(near.object),
                Stage::Written(object) if near.writes && object == near.object => Stage::Open,
                stage => stage,
            };
        }
    }
}

impl Guide for Wishes {
    #[inline]
    fn learn<T: Threads>(&mut self, thread: ThreadId, threads: &T) {
        let near = self.near(thread, threads);
        match self.ops.get_mut(thread.idx()) {
            Some(it) => *it = near,
            None => self.ops.push(near),
        }
    }

    #[inline]
    fn perform(&mut self, thread: ThreadId) {
        if !self.goals.is_empty() {
            self.follow(thread);
        }
    }

    fn choose<T: Threads>(&mut self, view: &View<'_, T>, draws: &Draws) -> ThreadId {
        let threads = view.threads;
        if self.goals.is_empty() {
            return draws.highest(threads);
        }
        let mut best = (Band::PassedOver, 0);
        let mut is_anybody_passed_over = false;
        for idx in 0..threads.n_enabled() {
            let thread = threads.enabled(idx);
            let band = self.band(thread);
            is_anybody_passed_over |= band == Band::PassedOver;
            best = best.max((band, draws.of(thread)));
        }
        self.n_passed_over = if is_anybody_passed_over { self.n_passed_over + 1 } else { 0 };
        if PATIENCE < self.n_passed_over {
            self.goals.clear();
        }
        Draws::thread_of(best.1)
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{
        AbstractSchedule, ObjectId, Op, OpKind, PickerSpec, ProfileView, ReadsFrom, Side, SiteId,
        ThreadId, Wish,
    };

    use super::Rff;
    use crate::{fake::Fake, origin::Origin, view::Picker};

    const LOAD: OpKind = OpKind::AtomicLoad;
    const STORE: OpKind = OpKind::AtomicStore;

    /// The order of steps (thread, site): each thread does what is listed, on one object.
    fn run(
        threads: &[&[(OpKind, u32)]],
        seed: u64,
        table: &[ReadsFrom],
        constraints: &[Wish],
    ) -> Vec<(u32, u32)> {
        let wanted = AbstractSchedule::new(constraints.iter().copied());
        let picker = PickerSpec::Rff { wanted };
        let origin = Origin { picker, seed, may_time_out: false, profile: ProfileView::default() };
        let mut picker = Rff::new(&origin, wanted, &ReadsFrom::script(table));
        let mut n_done = vec![0_usize; threads.len()];
        let (mut done, mut last) = (Vec::new(), 0);
        loop {
            let left = |it: &u32| n_done[*it as usize] < threads[*it as usize].len();
            let enabled: Vec<u32> = (0..threads.len() as u32).filter(left).collect();
            if enabled.is_empty() {
                return done;
            }
            let mut fake = Fake::new(threads.len() as u32, &enabled, &[]);
            let op = |(thread, n): (usize, &usize)| match threads[thread].get(*n) {
                Some((kind, site)) => Op::on(*kind, ObjectId(1), SiteId(*site)),
                None => Op::default(),
            };
            fake.ops = n_done.iter().enumerate().map(op).collect();
            let ThreadId(next) = picker.pick(&fake.view(done.len() as u64, last));
            done.push((next, threads[next as usize][n_done[next as usize]].1));
            n_done[next as usize] += 1;
            last = next;
        }
    }

    fn pair(write: u64, read: u64) -> ReadsFrom {
        let key = |kind, site| if site == 0 { 0 } else { Side::key(kind, site) };
        ReadsFrom { write: key(STORE, write), read: key(LOAD, read) }
    }

    /// The last write before the first read at a site; 0 if there is none.
    fn source(done: &[(u32, u32)], read: u32) -> u32 {
        let at = done.iter().position(|it| it.1 == read).expect("every step is made");
        done[..at].iter().rfind(|it| it.1 < 10).map_or(0, |it| it.1)
    }

    const WANTED: Wish = Wish { idx: 0, is_wanted: true };
    const AVOIDED: Wish = Wish { idx: 0, is_wanted: false };

    /// Twenty write the same; one writes something else, and that is what is read: reorder-n with n = 21.
    #[test]
    fn who_is_read_from_is_waited_for() {
        let writer: &[(OpKind, u32)] = &[(STORE, 1), (STORE, 2)];
        let mut threads = vec![writer; 20];
        threads.push(&[(STORE, 3)]);
        threads.push(&[(LOAD, 10)]);
        for seed in 0..200 {
            for write in [1, 2, 3] {
                let done = run(&threads, seed, &[pair(write, 10)], &[WANTED]);
                assert_eq!(source(&done, 10), write as u32, "{done:?}");
            }
        }
    }

    #[test]
    fn who_is_not_to_be_read_from_is_not() {
        let threads: [&[(OpKind, u32)]; 3] =
            [&[(STORE, 1), (STORE, 2)], &[(LOAD, 10)], &[(STORE, 3)]];
        for write in [1, 2, 3] {
            let met = (0..300).filter(|seed| {
                source(&run(&threads, *seed, &[pair(write, 10)], &[AVOIDED]), 10) == write as u32
            });
            // The last write of all has nothing after it.
            let n_met = met.count();
            assert!(if write == 1 { n_met == 0 } else { n_met < 150 }, "{write}: {n_met}");
        }
    }

    #[test]
    fn what_was_there_at_first() {
        let threads: [&[(OpKind, u32)]; 2] = [&[(STORE, 1), (STORE, 2)], &[(LOAD, 10)]];
        for seed in 0..200 {
            assert_eq!(source(&run(&threads, seed, &[pair(0, 10)], &[WANTED]), 10), 0);
            assert_ne!(source(&run(&threads, seed, &[pair(0, 10)], &[AVOIDED]), 10), 0);
        }
    }

    /// Two wishes at once; one that can't be; none: every thread ends.
    #[test]
    fn wishes_stop_nobody() {
        let threads: [&[(OpKind, u32)]; 3] =
            [&[(STORE, 1), (LOAD, 11)], &[(STORE, 2), (LOAD, 10)], &[(STORE, 3)]];
        let table = [pair(1, 10), pair(2, 11), pair(77, 10), pair(1, 10)];
        let wanted = |idx| Wish { idx, is_wanted: true };
        let avoided = |idx| Wish { idx, is_wanted: false };
        for seed in 0..200 {
            for constraints in [
                vec![wanted(0), wanted(1)],
                vec![wanted(2)],
                vec![wanted(0), avoided(3)],
                vec![avoided(0), avoided(1), wanted(9)],
                vec![],
            ] {
                assert_eq!(run(&threads, seed, &table, &constraints).len(), 5);
            }
        }
    }
}
