//! The dissertation's figures, with the results that it prints, corrected as docs/total-replay.md says.
//!
//! Histories are written as its traces are: `T1:3 write n <- x y` is line 3 of thread 1, which writes `n` from
//! the last `x` and `y` that it read. A step is called by its line, as in the dissertation; where a line has
//! several steps, by the variable too.

mod graphs;
mod machinery;
mod manners;
mod reach;
mod uses;
mod variants;

use std::collections::BTreeMap;

use raddle_model::{ThreadId, hash_bytes};

use crate::{Act, DefineSets, Flow, History, Locks, MustOrder, Step, UseDefine};

/// A history, with all that is worked out of it, and the names of its objects.
pub(super) struct Figure {
    pub(super) history: History,
    pub(super) order: MustOrder,
    pub(super) locks: Locks,
    pub(super) names: BTreeMap<u64, String>,
}

impl Figure {
    pub(super) fn new(text: &str) -> Figure {
        let mut history = History::default();
        let mut names = BTreeMap::new();
        for line in text.lines().map(str::trim).filter(|it| !it.is_empty()) {
            read_line(line, &mut history, &mut names);
        }
        let order = MustOrder::of(&history);
        let locks = Locks::of(&history);
        Figure { history, order, locks, names }
    }

    pub(super) fn sets(&self) -> DefineSets<'_> {
        DefineSets::new(&self.history, &self.order, &self.locks)
    }

    /// As `(x, 3, 1)`; `-` is the first value.
    pub(super) fn show(&self, it: UseDefine) -> String {
        let step = &self.history.steps[it.use_step as usize];
        let define = it.define.map(|it| self.history.steps[it as usize].place.to_string());
        format!("({}, {}, {})", self.names[&step.object], step.place, define.unwrap_or("-".into()))
    }

    pub(super) fn show_all(&self, all: &[UseDefine]) -> String {
        let shown: Vec<String> = all.iter().map(|it| self.show(*it)).collect();
        shown.join(" ")
    }

    /// The step of this line, and this variable if the line has several.
    pub(super) fn step(&self, place: u64, act: Act, variable: &str) -> u32 {
        let is_it = |it: &Step| {
            it.place == place
                && std::mem::discriminant(&it.act) == std::mem::discriminant(&act)
                && (variable.is_empty() || it.object == name(variable))
        };
        self.history.steps.iter().position(is_it).expect("there is such a step") as u32
    }

    pub(super) fn branch(&self, place: u64) -> u32 {
        self.step(place, Act::Branch(0), "")
    }
}

pub(super) fn name(text: &str) -> u64 {
    hash_bytes(text.as_bytes()) | 1
}

fn read_line(line: &str, history: &mut History, names: &mut BTreeMap<u64, String>) {
    let (what, from) = line.split_once("<-").unwrap_or((line, ""));
    let words: Vec<&str> = what.split_whitespace().collect();
    let (thread, place) = words[0].split_once(':').expect("T1:3");
    let thread = ThreadId(thread[1..].parse().expect("T1"));
    let place = place.parse().expect("a line");
    let number = |idx: usize| words[idx].parse::<u64>().expect("a number");
    let act = match words[1] {
        "read" => Act::Read,
        "write" => Act::Write,
        "lock" => Act::Lock,
        "unlock" => Act::Unlock,
        "wait" => Act::Wait,
        "wake" => Act::Wake,
        "notify" => Act::Notify,
        "spawn" => Act::Spawn(ThreadId(number(2) as u32)),
        "join" => Act::Join(ThreadId(number(2) as u32)),
        "if" => Act::Branch(u64::from(words[2] == "true")),
        other => panic!("no act is called {other}"),
    };
    let has_object = !matches!(act, Act::Spawn(_) | Act::Join(_) | Act::Branch(_));
    let mut object = |word: Option<&&str>| {
        let Some(word) = word.filter(|_| has_object) else { return 0 };
        names.insert(name(word), (*word).to_owned());
        name(word)
    };
    let (object, other) = (object(words.get(2)), object(words.get(3)));
    let last_read = |variable: &str| {
        let is_it =
            |it: &Step| it.thread == thread && it.act.is_read() && it.object == name(variable);
        history.steps.iter().rposition(is_it).expect("it was read before") as u32
    };
    let mut reads: Vec<u32> = from.split_whitespace().map(last_read).collect();
    reads.sort_unstable();
    let flow = if reads.is_empty() { Flow::Nothing } else { Flow::Reads(reads) };
    history.push(Step { thread, act, object, other, place, ..Step::default() }, flow);
}

/// Figure 24 (and 41), with the trace of §3.6.
pub(super) const FIGURE_24: &str = "
    T1:1 read x
    T2:10 write x
    T1:1 read y
    T1:1 write n <- x y
    T1:2 read n
    T1:2 if true <- n
    T2:11 write y
    T1:7 read y
    T2:12 read x";

/// Figure 33, one execution of Figure 32's program.
pub(super) const FIGURE_33: &str = "
    T1:1 write x
    T1:2 write y
    T1:3 read x
    T1:3 read y
    T1:3 write n <- x y
    T1:4 read n
    T1:4 if true <- n
    T2:20 write x
    T2:23 write ref2
    T2:25 read x
    T2:27 read ref2
    T2:27 write credit <- ref2
    T3:30 read ref1
    T3:30 write ref2 <- ref1";
