//! Schedules by rank: tuples (c, v, t, l), the likeliest to show a bug first. RankChecker, seed paper 0.
//!
//! At (c, v, t, l), threads are preempted up to c times, before accesses to v variables, at each place in its first l
//! rounds; where a thread can't go on, the next is the first by rank, and rankings are such that any t threads
//! come in every order in one of them ([`covering`]). With c = 0, each ranking is followed twice: where a thread can't go on,
//! and strictly, so that a thread that becomes able or was just created cuts in if it stands higher. A preempted thread becomes the last by rank. All
//! subsets of v variables are gone through, of those that threads were seen to conflict about.
//!
//! Where we depart from it, and what its text leaves open: with v = 0 threads are preempted before
//! what synchronises; with all, there and before accesses to all variables. The preemption is before the
//! access. A thread that yields is left, for the first by rank; that it goes on all the same counts as a preemption of
//! that one. A round is counted for each thread, place and last five calls. Executions are prefixes, made again, so
//! those with fewer preemptions come back in the next tuple; an execution that was made before, step by step, is
//! counted as redundant.
//!
//! What it promises: every order of t threads at the places where threads have to wait, not every schedule with c
//! preemptions. Memory O(c · points · depth), and eight bytes for each execution.

mod covering;
mod paper;
mod stages;

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{
    Divergence, PickerSpec, Ranking, Scope, SearchProgress, SearchSize, ThreadId, mix,
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

pub use self::covering::covering;
pub(crate) use self::paper::RankPaper;
use self::stages::{Next, Stages};
use super::{
    InTurn, Run, Search, SpecError, Step, Task,
    tree::{AHEAD_MAX, Samples, State, is_same, push_choice},
};

/// What is bounded by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuple {
    /// Preemptions.
    pub preemptions: u32,
    /// Variables before whose accesses threads are preempted; `None` for all.
    pub variables: Option<u32>,
    /// ThreadSet that come in every order.
    pub threads: u32,
    /// Rounds of a loop.
    pub rounds: u32,
}

const fn tuple(preemptions: u32, variables: Option<u32>, threads: u32) -> Tuple {
    Tuple { preemptions, variables, threads, rounds: 1 }
}

impl Tuple {
    /// The paper's order, which goes on after its last one; a second round of loops is put in early, for a bug that
    /// needs one is not found by any of the others.
    pub const ORDER: &'static [Tuple] = &[
        tuple(0, Some(0), 2),
        tuple(1, Some(0), 2),
        tuple(1, None, 2),
        tuple(2, Some(0), 2),
        tuple(2, Some(1), 2),
        Tuple { rounds: 2, ..tuple(1, None, 2) },
        tuple(0, Some(0), 3),
        tuple(1, None, 3),
        tuple(2, None, 2),
        tuple(2, Some(1), 3),
        tuple(2, None, 3),
        tuple(3, Some(0), 2),
    ];

    /// The paper's own order, as far as it is printed.
    pub const PAPER: &'static [Tuple] = &[
        tuple(0, Some(0), 2),
        tuple(1, Some(0), 2),
        tuple(1, None, 2),
        tuple(2, Some(0), 2),
        tuple(2, Some(1), 2),
        tuple(0, Some(0), 3),
        tuple(1, None, 3),
        tuple(2, None, 2),
        tuple(2, Some(1), 3),
        tuple(2, None, 3),
        tuple(3, Some(0), 2),
    ];

    /// `2.1.2.1`, `1.all.2.1`; more than 4 threads are not covered.
    pub fn parse(text: &str) -> Option<Tuple> {
        let parts: Vec<&str> = text.split('.').collect();
        let [preemptions, variables, threads, rounds] = parts[..] else { return None };
        let variables = match variables {
            "all" => None,
            number => Some(number.parse().ok()?),
        };
        let tuple = Tuple {
            preemptions: preemptions.parse().ok()?,
            variables,
            threads: threads.parse().ok()?,
            rounds: rounds.parse().ok()?,
        };
        ((2..=4).contains(&tuple.threads) && tuple.rounds > 0).then_some(tuple)
    }

    fn variables_text(&self) -> String {
        self.variables.map_or_else(|| "all".to_owned(), |it| it.to_string())
    }

    /// As [`Tuple::parse`] reads it.
    pub fn text(&self) -> String {
        let Tuple { preemptions, threads, rounds, .. } = self;
        format!("{preemptions}.{}.{threads}.{rounds}", self.variables_text())
    }

    /// As the paper writes it: `(1, all, 2, 1)`.
    fn label(&self) -> String {
        let Tuple { preemptions, threads, rounds, .. } = self;
        format!("({preemptions}, {}, {threads}, {rounds})", self.variables_text())
    }
}

/// An execution that is wanted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Kid {
    /// The step of its parent before which another thread goes on.
    at: usize,
    /// Who does.
    thread: ThreadId,
    ranking: Ranking,
    /// Is the ranking kept at every step, whoever runs?
    #[serde(default)]
    is_strict: bool,
    state: State,
}

/// The executions that follow from one: each preempts once more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Frame {
    /// What the execution did.
    steps: Vec<Step>,
    kids: Vec<Kid>,
}

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rank {
    stages: Stages,
    /// The execution that a frame follows from has as many preemptions as there are frames before it.
    frames: Vec<Frame>,
    /// Schedules, hashed.
    seen: BTreeSet<u64>,
    #[serde(skip)]
    results: BTreeMap<u64, Run>,
    /// Tasks handed out that do not count yet.
    #[serde(skip)]
    n_out: usize,
    next_number: u64,
    n_executions: u64,
    n_redundant: u64,
    n_diverged: u64,
    divergence: Option<Divergence>,
    /// Executions of the tuple under way, and by preemptions how many follow from one.
    #[serde(default)]
    n_of_tuple: u64,
    #[serde(default)]
    followers: Vec<Samples>,
}

impl Rank {
    pub(crate) fn new(tuples: Vec<Tuple>) -> Rank {
        let mut rank = Rank {
            stages: Stages::new(tuples),
            frames: Vec::new(),
            seen: BTreeSet::new(),
            results: BTreeMap::new(),
            n_out: 0,
            next_number: 0,
            n_executions: 0,
            n_redundant: 0,
            n_diverged: 0,
            divergence: None,
            n_of_tuple: 0,
            followers: Vec::new(),
        };
        rank.begin_subset();
        rank
    }

    /// As [`Search::save`] left it: nothing is handed out.
    pub(crate) fn restore(saved: &RawValue) -> Result<Rank, SpecError> {
        let mut rank: Rank = serde_json::from_str(saved.get())?;
        let kids = rank.frames.iter_mut().flat_map(|it| &mut it.kids);
        for kid in kids.filter(|it| it.state != State::Taken) {
            kid.state = State::Waiting;
        }
        Ok(rank)
    }

    fn begin_subset(&mut self) {
        let family = self.stages.family();
        let kids = self.manners().iter().flat_map(|is_strict| {
            family.iter().map(|ranking| Kid {
                at: 0,
                thread: ThreadId(0),
                ranking: *ranking,
                is_strict: *is_strict,
                state: State::Waiting,
            })
        });
        self.frames = vec![Frame { steps: Vec::new(), kids: kids.collect() }];
    }

    /// How rankings are followed. Strictly only without preemptions, where it costs little.
    fn manners(&self) -> &'static [bool] {
        match self.stages.tuple() {
            Some(tuple) if tuple.preemptions == 0 => &[false, true],
            _ => &[false],
        }
    }

    /// The next subset of variables, the next tuple, or the end.
    fn go_on(&mut self) {
        match self.stages.go_on() {
            Next::End => return,
            Next::Tuple => {
                self.n_of_tuple = 0;
                self.followers.clear();
            }
            Next::Subset => {}
        }
        self.begin_subset();
    }

    /// The kid that counts next: its frame, and its number there.
    fn first_open(&self) -> Option<(usize, usize)> {
        self.opens().next()
    }

    /// Kids that do not count yet, in the order in which they will.
    fn opens(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.frames.len()).rev().flat_map(|frame| {
            let kids = self.frames[frame].kids.iter().enumerate();
            kids.filter(|(_, it)| it.state != State::Taken).map(move |(kid, _)| (frame, kid))
        })
    }

    fn task(&mut self, frame: usize, kid: usize) -> Task {
        let number = self.next_number;
        self.next_number += 1;
        self.n_out += 1;
        self.frames[frame].kids[kid].state = State::Out(number);
        let Frame { steps, kids } = &self.frames[frame];
        let Kid { at, thread, ranking, is_strict, .. } = kids[kid];
        let mut prefix = Vec::with_capacity(at + 1);
        for step in &steps[..at] {
            push_choice(&mut prefix, step.thread, (step.n_choices > 1).then_some(step.choice));
        }
        let last_of_all = steps.get(at).map(|it| it.thread);
        if last_of_all.is_some() {
            push_choice(&mut prefix, thread, None);
        }
        Task { number, prefix, tail: PickerSpec::Ranked { ranking, last_of_all, is_strict } }
    }

    fn count(&mut self, run: &Run) {
        let (frame, kid) = self.first_open().expect("bug: it was nobody's turn");
        self.frames.truncate(frame + 1);
        self.frames[frame].kids[kid].state = State::Taken;
        self.n_executions += 1;
        self.n_of_tuple += 1;
        self.n_out = self.n_out.saturating_sub(1);
        let Kid { at, thread, .. } = self.frames[frame].kids[kid];
        let expected = &self.frames[frame].steps;
        let differs = (0..at).find(|idx| !is_same(&expected[*idx], run.steps.get(*idx)));
        let is_followed = frame == 0 || run.steps.get(at).is_some_and(|it| it.thread == thread);
        match differs.or((!is_followed).then_some(at)) {
            Some(step) => self.note_divergence(&expected[step].clone(), step, run),
            None => self.grow(frame, at, run),
        }
        while self.frames.len() > 1 && self.is_done() {
            self.frames.pop();
        }
        if self.frames.len() == 1 && self.is_done() {
            self.frames.clear();
            self.go_on();
        }
    }

    /// Has the last frame no kid that is still to count?
    fn is_done(&self) -> bool {
        let is_taken = |it: &Kid| it.state == State::Taken;
        self.frames.last().is_some_and(|it| it.kids.iter().all(is_taken))
    }

    fn note_divergence(&mut self, expected: &Step, step: usize, run: &Run) {
        self.n_diverged += 1;
        self.divergence.get_or_insert(Divergence {
            step: step as u64,
            thread: expected.thread,
            expected: expected.kind,
            seen: run.steps.get(step).map(|it| (it.thread, it.kind)),
        });
    }

    /// Learns from an execution with so many preemptions, the last of them before the step `at`.
    fn grow(&mut self, n_preemptions: usize, at: usize, run: &Run) {
        let schedule = run
            .steps
            .iter()
            .fold(0, |hash, it| mix(hash, u64::from(it.thread.0) << 32 | u64::from(it.choice)));
        self.n_redundant += u64::from(!self.seen.insert(schedule));
        self.stages.learn(run);
        let Some(tuple) = self.stages.tuple().copied() else { return };
        if (n_preemptions as u32) < tuple.preemptions {
            let kids = self.kids(at, run);
            self.followers
                .resize_with(self.followers.len().max(n_preemptions + 1), Samples::default);
            self.followers[n_preemptions].add(kids.len() as f64);
            self.frames.push(Frame { steps: run.steps.clone(), kids });
        }
    }

    /// The executions that preempt a thread from a step on.
    fn kids(&self, at: usize, run: &Run) -> Vec<Kid> {
        let mut kids = Vec::new();
        for point in self.stages.points(at, run) {
            kids.extend(self.stages.family().iter().map(|ranking| {
                let (at, thread) = point.first_by(ranking);
                Kid { at, thread, ranking: *ranking, is_strict: false, state: State::Waiting }
            }));
        }
        kids
    }

    /// Executions of the tuple under way: one for each order, each followed by as many as others were at its
    /// number of preemptions (Knuth's product, of means), for each subset of variables.
    fn estimate(&self) -> Option<SearchSize> {
        let tuple = self.stages.tuple()?;
        let known = tuple.preemptions.min(self.followers.len() as u32) as usize;
        if known < tuple.preemptions as usize {
            return None;
        }
        let each = self.followers[..known].iter().rev().fold(1.0, |sum, it| 1.0 + it.mean() * sum);
        let n_roots = self.stages.family().len() * self.manners().len();
        let total = n_roots as f64 * each * self.stages.n_subsets();
        let total = total.max(self.n_of_tuple as f64 + 1.0);
        let relative = |it: &Samples| it.variance() / it.mean().powi(2).max(1.0);
        let spread = total * self.followers.iter().map(relative).sum::<f64>().sqrt();
        Some(SearchSize { total, spread, done: self.n_of_tuple as f64 / total, least: None })
    }
}

impl InTurn for Rank {
    fn waiting(&mut self) -> &mut BTreeMap<u64, Run> {
        &mut self.results
    }

    fn take_in(&mut self, run: &Run) {
        self.count(run);
    }
}

impl Search for Rank {
    fn next(&mut self, n_max: usize) -> Vec<Task> {
        let waiting = |it: &(usize, usize)| self.frames[it.0].kids[it.1].state == State::Waiting;
        // Whatever is asked for: the one whose turn it is must never wait for room.
        let room = (n_max * AHEAD_MAX)
            .saturating_sub(self.n_out)
            .clamp(usize::from(self.turn().is_none()).min(n_max), n_max);
        let wanted: Vec<(usize, usize)> = self.opens().filter(waiting).take(room).collect();
        wanted.into_iter().map(|(frame, kid)| self.task(frame, kid)).collect()
    }

    fn turn(&self) -> Option<u64> {
        let (frame, kid) = self.first_open()?;
        match self.frames[frame].kids[kid].state {
            State::Out(number) => Some(number),
            _ => None,
        }
    }

    fn label(&self, _number: u64) -> Option<String> {
        self.stages.tuple().map(Tuple::label)
    }

    fn learn(&mut self, number: u64, run: &Run) -> Vec<u64> {
        self.learn_in_turn(number, run)
    }

    fn is_finished(&self) -> bool {
        self.stages.tuple().is_none()
    }

    fn progress(&self) -> SearchProgress {
        let is_finished = self.is_finished();
        SearchProgress {
            n_executions: self.n_executions,
            n_redundant: self.n_redundant,
            n_diverged: self.n_diverged,
            divergence: self.divergence.clone(),
            stage: self.stages.tuple().map(Tuple::label),
            estimate: self.estimate(),
            is_finished,
            is_cut: true,
            scope: Scope::Tuples(self.stages.done().map(Tuple::label)),
            ..SearchProgress::default()
        }
    }

    fn save(&self) -> Box<RawValue> {
        to_raw_value(self).expect("bug: a search is plain data")
    }
}
