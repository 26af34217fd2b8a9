//! Reads-from fuzzing: a corpus of abstract schedules, mutated (Wolff, Shi, Duck, Mathur, Roychoudhury, ASPLOS 2024).
//!
//! An abstract schedule is a set of constraints: this read is to take its value from that write, or is not to; by places in
//! the code, so that one says as much for a hundred threads as for two. Each execution tries one (`raddle_pick`'s `Rff`).
//! One that covers a pair of places that nobody had seen joins the corpus, from which the next ones are made: a constraint
//! is added, exchanged, reversed or taken away. How many are made of a member follows from how often its partial
//! order was seen and how often it was chosen: members on beaten paths wait, others get twice as many each time (AFLFast).
//!
//! Where we depart: what is new are pairs of places in conflict, in either order, not sets of reads-from pairs; the path is
//! the partial order; both are counted anyway. Constraints are drawn among the pairs that the looked-at executions could
//! have shown, wanted ones as often as ones to be avoided. A schedule has at most eight. What was learned counts
//! from the next round on, as everywhere.
//!
//! Bound: one member has no constraints, so partial order sampling's, times that member's share.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use raddle_model::{AbstractSchedule, PickerSpec, ReadsFrom, Rng, Wish, mix};
use raddle_trace::Entry;

use crate::{News, rounds::round, seeds::entry};

/// Members of the corpus.
const CORPUS_MAX: usize = 1 << 14;
/// No member gets more executions than two to the power of this at a time.
const LEVEL_MAX: u32 = 6;
/// Executions of a round that have each their own to try.
const TRIES_MAX: usize = 1 << 16;

/// See the module.
#[derive(Clone, Debug)]
pub struct Fuzzer {
    campaign_seed: u64,
    rng: Rng,
    /// What constraints can be about; the table of plans.
    pairs: Vec<ReadsFrom>,
    known: BTreeSet<ReadsFrom>,
    corpus: Vec<Member>,
    members: BTreeSet<AbstractSchedule>,
    /// How often each partial order was seen.
    paths: BTreeMap<u64, u64>,
    n_seen: u64,
    /// Which member is next, and how many executions of its turn are left.
    turn: (usize, u64),
    /// By execution: what could have been read there. It counts from the next round on.
    suggested: BTreeMap<u64, Vec<ReadsFrom>>,
    /// The round for which executions are planned.
    settled: Range<u64>,
    /// What its own executions of the round try. In the order of executions.
    tries: Vec<(u64, AbstractSchedule)>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    schedule: AbstractSchedule,
    path: u64,
    /// How often it was chosen.
    n_chosen: u32,
}

impl Fuzzer {
    /// Knows nothing but the empty schedule.
    pub fn new(campaign_seed: u64) -> Fuzzer {
        let schedule = AbstractSchedule::default();
        Fuzzer {
            campaign_seed,
            rng: Rng::new(mix(campaign_seed, 0x0f_f0)),
            pairs: Vec::new(),
            known: BTreeSet::new(),
            corpus: vec![Member { schedule, path: 0, n_chosen: 0 }],
            members: BTreeSet::from([schedule]),
            paths: BTreeMap::new(),
            n_seen: 0,
            turn: (0, 0),
            suggested: BTreeMap::new(),
            settled: 0..0,
            tries: Vec::new(),
        }
    }

    /// What executions are to do. They are of one round, and all before that round have been learned from.
    pub fn block(&mut self, first: u64, count: u32) -> Vec<Entry> {
        self.settle(round(first), |_| true);
        (first..first + u64::from(count)).map(|it| self.entry(it)).collect()
    }

    /// What their constraints are about: the script of their plan.
    pub fn script(&self) -> Vec<u32> {
        ReadsFrom::script(&self.pairs)
    }

    /// Takes in what could have been read in an execution. Whatever the order of calls, it counts from the next
    /// round on, in the order of executions.
    pub fn take_in(&mut self, execution: u64, pairs: Vec<ReadsFrom>) {
        self.suggested.insert(execution, pairs);
    }

    /// Learns from an execution of the round that was last asked for.
    pub fn learn(&mut self, execution: u64, news: &News) {
        *self.paths.entry(news.class).or_default() += 1;
        self.n_seen += 1;
        let Some(schedule) = self.tried(execution) else { return };
        let is_new = news.n_pairs > 0 || news.is_new_finding;
        if is_new && self.corpus.len() < CORPUS_MAX && self.members.insert(schedule) {
            self.corpus.push(Member { schedule, path: news.class, n_chosen: 0 });
        }
    }

    /// Schedules that led to something new, the empty one included, and pairs that constraints can be about.
    pub fn size(&self) -> (u64, u64) {
        (self.corpus.len() as u64, self.pairs.len() as u64)
    }

    /// Plans those executions of a round that are its own. All before that round have been learned from.
    pub(crate) fn settle(&mut self, round: Range<u64>, is_own: impl Fn(u64) -> bool) {
        if self.settled == round {
            return;
        }
        let later = self.suggested.split_off(&round.start);
        for pairs in std::mem::replace(&mut self.suggested, later).into_values() {
            for it in pairs {
                if self.pairs.len() < ReadsFrom::COUNT_MAX && self.known.insert(it) {
                    self.pairs.push(it);
                }
            }
        }
        self.tries.clear();
        for execution in round.clone().filter(|it| is_own(*it)).take(TRIES_MAX) {
            let next = self.next_try();
            self.tries.push((execution, next));
        }
        self.settled = round;
    }

    /// What an execution tries; nothing if it is of another round, not its own, or the baseline.
    pub(crate) fn tried(&self, execution: u64) -> Option<AbstractSchedule> {
        if !self.settled.contains(&execution) || execution == 0 {
            return None;
        }
        let idx = match self.tries.binary_search_by_key(&execution, |it| it.0) {
            Ok(idx) => idx,
            // Of a round with more than are kept: one of those.
            Err(TRIES_MAX) => (execution % TRIES_MAX as u64) as usize,
            Err(_) => return None,
        };
        Some(self.tries[idx].1)
    }

    fn entry(&self, execution: u64) -> Entry {
        let seed = mix(mix(self.campaign_seed, 0x5eed), execution);
        let picker = match self.tried(execution) {
            Some(wanted) => PickerSpec::Rff { wanted },
            None => PickerSpec::Nonpreemptive,
        };
        entry(picker, seed)
    }

    /// The member whose turn it is, mutated.
    fn next_try(&mut self) -> AbstractSchedule {
        if self.pairs.is_empty() {
            return AbstractSchedule::default();
        }
        while self.turn.1 == 0 {
            let idx = (self.turn.0 + 1) % self.corpus.len();
            self.turn = (idx, self.energy(idx));
        }
        self.turn.1 -= 1;
        let parent = self.corpus[self.turn.0].schedule;
        self.mutated(parent)
    }

    /// How many executions a member gets in its turn. The first gets one at least, so that there is an end.
    fn energy(&mut self, idx: usize) -> u64 {
        let mean = self.n_seen / (self.paths.len() as u64).max(1);
        let member = &mut self.corpus[idx];
        let n_times = self.paths.get(&member.path).copied().unwrap_or(0);
        if n_times > mean.max(1) && idx > 0 {
            return 0;
        }
        let energy = (1 << member.n_chosen.min(LEVEL_MAX)) / mean.max(1);
        member.n_chosen += 1;
        energy.max(1)
    }

    fn mutated(&mut self, parent: AbstractSchedule) -> AbstractSchedule {
        let mut all: Vec<Wish> = parent.constraints().collect();
        let n_all = all.len() as u32;
        let way = if n_all == 0 { 0 } else { self.rng.below(4) };
        let fresh = self.constraint();
        match way {
            0 if (n_all as usize) < AbstractSchedule::COUNT_MAX => all.push(fresh),
            0 | 1 => {
                let idx = self.rng.below(n_all) as usize;
                all[idx] = fresh;
            }
            2 => {
                let idx = self.rng.below(n_all) as usize;
                all[idx].is_wanted = !all[idx].is_wanted;
            }
            _ => {
                all.remove(self.rng.below(n_all) as usize);
            }
        }
        AbstractSchedule::new(all)
    }

    fn constraint(&mut self) -> Wish {
        let idx = self.rng.below(self.pairs.len() as u32) as u16;
        Wish { idx, is_wanted: self.rng.below(2) == 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use raddle_model::{AbstractSchedule, PickerSpec, ReadsFrom};

    use super::Fuzzer;
    use crate::{News, rounds::round, seeds::picker};

    fn pairs(n: u32) -> Vec<ReadsFrom> {
        (1..=n).map(|it| ReadsFrom { write: it, read: 100 }).collect()
    }

    /// What the executions up to `end` try, in blocks of at most so many; `news` says what one brings.
    fn run(
        fuzzer: &mut Fuzzer,
        end: u64,
        n_block: u64,
        news: impl Fn(AbstractSchedule) -> News,
    ) -> Vec<AbstractSchedule> {
        let mut tries = Vec::new();
        let mut next = 0;
        while next < end {
            let stop = round(next).end.min(next + n_block);
            let entries = fuzzer.block(next, (stop - next) as u32);
            for (execution, entry) in (next..stop).zip(entries) {
                let wanted = match picker(&entry) {
                    PickerSpec::Rff { wanted } => wanted,
                    _ => AbstractSchedule::default(),
                };
                fuzzer.learn(execution, &news(wanted));
                tries.push(wanted);
            }
            if next == 0 {
                fuzzer.take_in(0, pairs(20));
            }
            next = stop;
        }
        tries.truncate(end as usize);
        tries
    }

    fn nothing(_: AbstractSchedule) -> News {
        News::default()
    }

    /// Whatever the blocks: the same. Without anything new, one constraint at a time, all of them, either way.
    #[test]
    fn one_constraint_at_a_time_until_something_is_new() {
        let tries = run(&mut Fuzzer::new(7), 1_000, u64::MAX >> 1, nothing);
        assert_eq!(run(&mut Fuzzer::new(7), 1_000, 3, nothing), tries);
        assert_ne!(run(&mut Fuzzer::new(8), 1_000, 3, nothing), tries);
        assert!(tries[1..].iter().all(|it| it.constraints().count() == 1));
        assert_eq!(tries.iter().collect::<BTreeSet<_>>().len(), 41);
    }

    /// What is new only with three constraints in a row is come to, each step being new.
    #[test]
    fn what_is_new_is_built_on() {
        let n_kept = |it: &AbstractSchedule| {
            (0..3)
                .take_while(|idx| it.constraints().any(|it| it.is_wanted && it.idx == *idx))
                .count()
        };
        let news = |it: AbstractSchedule| News {
            n_pairs: n_kept(&it) as u32,
            class: n_kept(&it) as u64,
            ..News::default()
        };
        let tries = run(&mut Fuzzer::new(7), 20_000, 100, news);
        let first = tries.iter().position(|it| n_kept(it) == 3);
        // Drawn at once, all three are one in (40 / 3)³ of those with three.
        assert!(first.is_some_and(|it| it < 4_000), "{first:?}");
    }

    /// Nothing to constrain: partial order sampling.
    #[test]
    fn a_program_that_shares_nothing() {
        let mut fuzzer = Fuzzer::new(7);
        let entries = fuzzer.block(0, 1);
        assert_eq!(picker(&entries[0]), PickerSpec::Nonpreemptive);
        let wanted = AbstractSchedule::default();
        assert!(fuzzer.block(5, 3).iter().all(|it| picker(it) == PickerSpec::Rff { wanted }));
        assert_eq!(fuzzer.size(), (1, 0));
        assert_eq!(fuzzer.script(), Vec::<u32>::new());
    }
}
