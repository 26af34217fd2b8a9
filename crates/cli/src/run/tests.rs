//! What `raddle run` says and how it exits, with a target that needs no runtime.

use std::sync::atomic::AtomicBool;

use clap::Parser as _;
use expect_test::expect;
use raddle_explore::{
    Block, BlockResult, Execution, Session, StoredTarget, Target, TargetError, Until,
};
use raddle_model::{
    End, Escape, Event, ObjectId, OpKind, SiteId, Standstill, ThreadId, Uncontrolled,
};
use raddle_trace::{Summary, Trace};

use super::explore;
use crate::{
    args::{Arguments, RunArgs, Verb},
    exit::{Exit, Failure},
    terminal::{Collected, Terminal},
};

/// A target all of whose executions end alike.
#[derive(Clone, Copy, Debug)]
struct Fake {
    end: End,
    n_threads: u32,
    is_controlled: bool,
}

impl Target for Fake {
    fn open_until(&self, _until: &Until) -> Result<Box<dyn Session + Send>, TargetError> {
        Ok(Box::new(*self))
    }
}

impl Session for Fake {
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        let is_good = self.end == End::Exit(0);
        let n_run = if is_good { block.entries.len() } else { 1 };
        let trace = self.trace();
        let is_watched = !is_good || block.entries.len() == 1;
        let output = "hello\n".to_owned();
        let uncontrolled = Uncontrolled { what: Escape::WaitInput, count: 1, stack: Vec::new() };
        Ok(BlockResult {
            summaries: vec![trace.summary; n_run],
            last: is_watched.then_some(Execution { trace, output }),
            uncontrolled: if self.is_controlled { Vec::new() } else { vec![uncontrolled] },
            ..BlockResult::default()
        })
    }
}

impl Fake {
    fn trace(&self) -> Trace {
        let event = |thread, kind| Event { kind, thread: ThreadId(thread), ..Event::default() };
        let (end_kind, end_detail) = self.end.to_numbers();
        Trace {
            events: vec![event(0, OpKind::Yield), event(self.n_threads - 1, OpKind::Yield)],
            options: Vec::new(),
            n_dropped: 0,
            sites: Vec::new(),
            objects: Vec::new(),
            threads: Vec::new(),
            modules: Vec::new().into(),
            stacks: Vec::new(),
            notes: Vec::new(),
            races: Vec::new(),
            end: Some(self.end),
            end_thread: Some(ThreadId(self.n_threads - 1)),
            end_site: SiteId(0),
            end_object: ObjectId::NONE,
            freed: None,
            heap_fault: None,
            history: None,
            message: "x == 1".into(),
            standstill: Standstill::default(),
            memory_limit: None,
            summary: Summary {
                n_steps: 2,
                n_switches: 1,
                n_threads: self.n_threads,
                end_kind: end_kind.into(),
                end_detail,
                n_uncontrolled: u32::from(!self.is_controlled),
                ..Summary::default()
            },
        }
    }
}

const GOOD: Fake = Fake { end: End::Exit(0), n_threads: 2, is_controlled: true };

fn run_args(more: &[&str]) -> RunArgs {
    let words = ["raddle", "run", "fake.c", "-j", "1"].iter().chain(more);
    let arguments = Arguments::try_parse_from(words).expect("well-formed");
    match arguments.verb {
        Verb::Run(args) => *args,
        verb => panic!("not a run: {verb:?}"),
    }
}

fn run_fake(fake: Fake, more: &[&str]) -> (Result<Exit, Failure>, Collected) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store");
    let store = store.to_string_lossy();
    let more: Vec<&str> = [&["--store", &store], more].concat();
    let mut terminal = Terminal::silent();
    let program = StoredTarget { program: "/nowhere/fake".into(), ..StoredTarget::default() };
    let stop = AtomicBool::new(false);
    let exit = explore(&run_args(&more), &program, None, &fake, &stop, &mut terminal);
    (exit, terminal.take())
}

#[test]
fn exit_codes() {
    let wild = Fake { is_controlled: false, ..GOOD };
    let failing = Fake { end: End::Assert, ..GOOD };
    let alone = Fake { n_threads: 1, ..failing };
    let spent = Fake { end: End::Spent, ..GOOD };
    let failing_exit = Fake { end: End::Exit(3), ..GOOD };
    for (fake, more, exit) in [
        (GOOD, "--strict", Exit::Clean),
        (wild, "--seed=0", Exit::Clean),
        (wild, "--strict", Exit::Inconclusive),
        (failing, "--strict", Exit::Findings),
        (alone, "--strict", Exit::Baseline),
        (spent, "--seed=0", Exit::Inconclusive),
        (failing_exit, "--seed=0", Exit::Findings),
        (failing_exit, "--exit-ok", Exit::Clean),
    ] {
        let (result, told) = run_fake(fake, &["--execs", "10", more]);
        assert_eq!(result.ok(), Some(exit), "{fake:?} {more}: {told:?}");
    }
}

#[test]
fn a_finding_is_told_once() {
    let failing = Fake { end: End::Assert, ..GOOD };
    let (_, told) = run_fake(failing, &["--execs", "10", "--keep-going"]);
    assert_eq!(told.out.matches("error[assert-").count(), 1, "{}", told.out);
    assert!(told.out.contains("= replay: raddle replay assert-"), "{}", told.out);
    assert!(told.out.contains("SUMMARY: raddle: assert"), "{}", told.out);
    assert!(told.out.trim_end().ends_with("1 finding"), "{}", told.out);
    expect![[r#"
        exploring fake: 10 executions, 1 worker, seed 0
    "#]]
    .assert_eq(&told.error);
}

#[test]
fn a_clean_run_in_words() {
    let (_, told) = run_fake(Fake { n_threads: 1, ..GOOD }, &[]);
    assert!(told.out.starts_with("explored "), "{}", told.out);
    assert!(told.out.ends_with(", no finding\n"), "{}", told.out);
    expect![[r#"
        exploring fake: 20,000 executions or 60 s (--execs, --time), 1 worker, seed 0
        warning: the program never creates a second thread: nothing to explore
    "#]]
    .assert_eq(&told.error);
}

#[test]
fn json_lines_only() {
    let failing = Fake { end: End::Assert, ..GOOD };
    let args = ["--execs", "10", "--message-format", "json", "--show-output", "--until-first"];
    let (_, told) = run_fake(failing, &args);
    let types: Vec<String> = told
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .map(|value| value["type"].as_str().expect("a type").to_owned())
        .collect();
    assert_eq!(types, ["output", "finding", "summary"]);
    assert_eq!(told.error, "");
}

#[test]
fn a_store_that_cannot_be_written_is_a_warning() {
    let failing = Fake { end: End::Assert, ..GOOD };
    let (result, told) = run_fake(failing, &["--execs", "10", "--store", "/dev/null/store"]);
    assert_eq!(result.ok(), Some(Exit::Findings));
    assert!(told.error.contains("warning: this run is not stored"), "{}", told.error);
}

#[test]
fn a_block_is_drawn_and_taken_away() {
    let (_, told) = run_fake(GOOD, &["--time", "300ms", "--progress", "bar"]);
    assert!(told.error.contains("\x1b[2K raddle "), "{:?}", told.error);
    // Where the machine is so loaded that little was executed, the block has a line less.
    let is_taken_away =
        ["\x1b[6A\x1b[J", "\x1b[5A\x1b[J"].iter().any(|it| told.error.ends_with(it));
    assert!(is_taken_away, "{:?}", told.error);
    assert!(!told.out.contains('\x1b'), "{:?}", told.out);
}

/// A seed of 0 is a seed: what the program asks for stands back.
#[test]
fn a_seed_on_the_command_line_counts() {
    let asked = raddle_launch::Asked { seed: Some(7), ..raddle_launch::Asked::default() };
    for (more, seed) in [(&[][..], 7), (&["--seed", "0"], 0), (&["--seed", "3"], 3)] {
        let args = crate::asked::with_asked(&run_args(more), &asked).expect("nothing is wrong");
        assert_eq!(args.seed(), seed, "{more:?}");
    }
    assert_eq!(run_args(&[]).seed(), 0);
}

/// A search that knows nothing of weak memory is refused, whoever asks for it.
#[test]
fn a_search_that_the_program_asks_for_must_know_the_memory_model() {
    for (strategy, is_known) in [("hapset", false), ("ipb", true), ("dpor", true), ("walk", true)] {
        let strategy = Some(strategy.to_owned());
        let asked = raddle_launch::Asked { strategy, ..raddle_launch::Asked::default() };
        let weakly = crate::asked::with_asked(&run_args(&["--memory-model", "c11"]), &asked);
        assert_eq!(weakly.is_ok(), is_known, "{asked:?}");
        assert!(crate::asked::with_asked(&run_args(&[]), &asked).is_ok());
    }
}
