//! Total replay on toys: it finds every lockset race that exhaustive search finds, and makes no execution of which
//! its traces say that it is race-equivalent to one that it has made. Of whatever calls there are, it takes every thread
//! everywhere where exhaustive search takes it, or says that it has not.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};
use raddle_model::{Decided, End, OpKind, Scope, SearchProgress, Unreached, mix};
use raddle_plan::search::{LocksetRace, Run, SearchSpec, Start, lockset_races};

use crate::toy::{
    library::{consumers, small},
    program::{
        If,
        Ins::{self, *},
        Program,
        Val::{In, Is},
        Var::{At, Off},
    },
    vm::Toy,
};

/// What a search comes to.
struct Found {
    races: BTreeSet<LocksetRace>,
    /// Where threads came to, each with all that it was told on the way.
    ways: BTreeSet<u64>,
    has_deadlock: bool,
    progress: SearchProgress,
    is_whole: bool,
    /// Executions whose threads all read what they read in an earlier one, at the same places.
    n_repeated: u64,
}

/// Of each step of a thread: where it is, what it is to, and the write that it read, by thread and number.
type Told = Vec<(u32, u64, Option<(u32, usize)>)>;

/// What each thread did, and which write each of its reads read: executions with the same are race-equivalent, and
/// their traces say so. (Not what was written: traces do not know that before somebody has read it.)
fn told(run: &Run) -> Vec<Told> {
    let mut threads: Vec<Told> = Vec::new();
    let mut writes = BTreeMap::new();
    for step in &run.steps {
        let idx = step.thread.idx();
        threads.resize(threads.len().max(idx + 1), Vec::new());
        let name = run.objects.get(step.object.idx()).map_or(0, |it| it.name);
        let define = writes.get(&step.object).copied().filter(|_| step.kind == OpKind::Read);
        threads[idx].push((step.site.0, name, define));
        if step.kind == OpKind::Write {
            writes.insert(step.object, (step.thread.0, threads[idx].len()));
        }
    }
    threads
}

/// Where each thread came to, step by step, with what it was told before: what it reads, and how its calls end.
fn ways(run: &Run) -> BTreeSet<u64> {
    let mut threads: BTreeMap<u32, u64> = BTreeMap::new();
    let mut ways = BTreeSet::new();
    for step in &run.steps {
        let way = threads.entry(step.thread.0).or_insert(u64::from(step.thread.0));
        let is_read = step.kind.is_access() && step.kind != OpKind::Write;
        let told = if is_read { step.value } else { 0 };
        *way = mix(mix(mix(*way, u64::from(step.site.0)), step.result as u64), told);
        ways.insert(*way);
    }
    ways
}

/// What the search has counted.
fn decided(progress: &SearchProgress) -> &Decided {
    let Scope::Decisions(decided) = &progress.scope else { panic!("{:?}", progress.scope) };
    decided
}

fn explore(spec: &str, program: &Program, max: u64) -> Found {
    explore_from(spec, program, max, Start::default())
}

fn explore_from(spec: &str, program: &Program, max: u64, start: Start) -> Found {
    let toy = Toy::new(program.clone());
    let mut search = SearchSpec::parse(spec).expect("a search has this name").start(start);
    let (mut races, mut all) = (BTreeSet::new(), BTreeSet::new());
    let mut has_deadlock = false;
    let (mut seen, mut n_repeated) = (BTreeSet::new(), 0);
    let mut run = Run::default();
    while let Some(task) = search.next(1).pop() {
        toy.run(&task.prefix, task.tail, &mut run);
        races.extend(lockset_races(&run));
        all.extend(ways(&run));
        has_deadlock |= run.end == Some(End::Deadlock);
        n_repeated += u64::from(!seen.insert(told(&run)));
        search.learn(task.number, &run);
        if max < search.progress().n_executions {
            let progress = search.progress();
            let ways = all;
            return Found { races, ways, has_deadlock, progress, is_whole: false, n_repeated };
        }
    }
    assert!(search.is_finished(), "{}: nothing to do, and not finished", program.name);
    let progress = search.progress();
    Found { races, ways: all, has_deadlock, progress, is_whole: true, n_repeated }
}

fn n_executions(threads: Vec<Vec<Ins>>) -> (u64, usize) {
    let program = Program::new("toy", threads).with_vars(10);
    let total = explore("total", &program, 1_000);
    let all = explore("dfs", &program, 100_000);
    assert!(total.is_whole && all.is_whole);
    assert_eq!(total.races, all.races, "{:?}", total.progress);
    (total.progress.n_executions, total.races.len())
}

/// Experiment 1's structure: thread 0's access races only if thread 1's branch goes the other way, which
/// thread 2 decides (by a race of its own).
#[test]
fn a_pool() {
    let factory = vec![Store(At(0), Is(1))];
    let branch = vec![
        Load(0, At(1)),
        Goto(If::Equal(0, 0), 5),
        Store(At(0), Is(2)),
        Goto(If::Always, 5),
        Store(At(2), Is(1)),
    ];
    let active = vec![Store(At(1), Is(1)), Store(At(3), Is(1))];
    assert_eq!(n_executions(vec![factory, branch, active]), (2, 2));
}

/// Nobody's reads can read anything else.
#[test]
fn nothing_to_decide() {
    let own = |var: usize| {
        vec![Store(At(var), Is(1)), Load(0, At(var)), Goto(If::Equal(0, 0), 4), Store(At(9), Is(1))]
    };
    assert_eq!(n_executions(vec![own(0), own(1)]), (1, 1));
}

/// Figure 56 (a): which lock is taken depends on what another thread wrote.
#[test]
fn a_lock_variable() {
    let by_variable = vec![
        Load(0, At(0)),
        Goto(If::Equal(0, 0), 6),
        Lock(1),
        Store(At(1), Is(1)),
        Unlock(1),
        Goto(If::Always, 9),
        Lock(0),
        Store(At(1), Is(1)),
        Unlock(0),
    ];
    let fixed = vec![Lock(0), Store(At(1), Is(2)), Unlock(0)];
    let decides = vec![Store(At(0), Is(1))];
    let (n, n_races) = n_executions(vec![by_variable, fixed, decides]);
    // The lock variable itself, and what it fails to protect.
    assert_eq!((n, n_races), (2, 2));
}

/// Figure 56 (b): what a reference refers to depends on what another thread wrote.
#[test]
fn a_reference() {
    let by_reference = vec![Load(0, At(0)), Lock(0), Store(Off(1, 0), Is(1)), Unlock(0)];
    let fixed = vec![Lock(1), Store(At(2), Is(2)), Unlock(1)];
    let decides = vec![Store(At(0), Is(1))];
    assert_eq!(n_executions(vec![by_reference, fixed, decides]), (2, 2));
}

/// Two threads write the same variable in different executions only: neither shows that it is shared.
#[test]
fn shared_in_no_execution_alone() {
    let if_set = vec![Load(3, At(1)), Goto(If::Equal(3, 0), 3), Store(At(2), Is(1))];
    let if_not = vec![Load(3, At(1)), Goto(If::Equal(3, 1), 3), Store(At(2), Is(2))];
    let (_, n_races) = n_executions(vec![if_set, vec![Store(At(1), Is(1))], if_not]);
    assert_eq!(n_races, 3);
}

/// What led to a define comes after the read that is to read it: something else has to lead there.
#[test]
fn a_define_that_was_led_to_by_what_comes_later() {
    let locked = vec![Lock(1), Load(0, At(1)), Unlock(1)];
    let branch = vec![
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 3),
        Store(At(0), Is(0)),
        Load(0, At(1)),
        Store(At(0), In(0)),
    ];
    let defines = vec![Load(0, At(0)), Lock(1), Store(At(1), Is(1)), Unlock(1)];
    let (_, n_races) = n_executions(vec![locked, branch, defines]);
    assert_eq!(n_races, 4);
}

/// A thread reads one define and then another one, which came first before.
#[test]
fn one_define_after_the_other() {
    let first = vec![
        Lock(1),
        Store(At(1), Is(0)),
        Unlock(1),
        Lock(1),
        Load(0, At(0)),
        Store(Off(2, 0), Is(1)),
        Unlock(1),
    ];
    let reads =
        vec![Load(3, At(1)), Goto(If::Equal(3, 0), 4), Load(0, At(1)), Store(Off(2, 0), Is(1))];
    let second = vec![Lock(1), Store(At(1), Is(1)), Unlock(1)];
    let (_, n_races) = n_executions(vec![first, reads, second]);
    assert_eq!(n_races, 5);
}

/// A thread writes before it reads what another one writes, under a lock that both need.
#[test]
fn a_define_after_the_own_one() {
    let copies = vec![Lock(0), Load(0, At(0)), Store(At(1), In(0)), Unlock(0)];
    let writes = vec![Store(At(0), Is(1))];
    let reads = vec![
        Lock(0),
        Store(At(1), Is(0)),
        Unlock(0),
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 6),
        Load(0, At(0)),
    ];
    n_executions(vec![copies, writes, reads]);
}

/// What must come before a read, because its thread has read something else before, writes the same variable.
#[test]
fn a_define_after_what_must_come_before() {
    let defines = vec![Load(0, At(1)), Store(Off(2, 0), Is(1)), Store(At(0), Is(1))];
    let before = vec![Lock(0), Store(At(0), Is(0)), Unlock(0), Store(At(1), Is(0))];
    let reads = vec![
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 3),
        Load(0, At(0)),
        Load(3, At(0)),
        Goto(If::Equal(3, 0), 6),
        Load(0, At(0)),
    ];
    n_executions(vec![defines, before, reads]);
}

/// What can't be after one define can be after another of the same value.
#[test]
fn infeasible_in_one_execution_only() {
    let writes = vec![Lock(0), Store(At(1), Is(1)), Unlock(0), Load(0, At(0)), Store(At(1), In(0))];
    let reads = vec![
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 3),
        Store(At(1), Is(0)),
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 6),
        Load(0, At(1)),
    ];
    let (_, n_races) = n_executions(vec![writes, reads, vec![Load(0, At(0))]]);
    assert_eq!(n_races, 8);
}

/// Two manners that are seen apart can come together only if a third thread reads what it did, and the first thread does
/// more than its manner.
#[test]
fn manners_seen_apart_with_all_that_led_to_them() {
    let third = vec![Load(3, At(0)), Goto(If::Equal(3, 0), 3), Store(At(1), Is(0))];
    let first = vec![
        Load(0, At(1)),
        Store(Off(2, 0), Is(1)),
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 6),
        Load(0, At(1)),
        Store(At(0), In(0)),
    ];
    let second = vec![
        Lock(0),
        Store(At(1), Is(1)),
        Unlock(0),
        Load(3, At(0)),
        Goto(If::Equal(3, 0), 7),
        Load(0, At(1)),
        Store(Off(2, 0), Is(1)),
    ];
    n_executions(vec![third, first, second]);
}

/// The same, where the define that one of them reads has another value in the other's execution.
#[test]
fn manners_seen_apart_with_the_values_that_they_read() {
    let first = vec![Load(3, At(0)), Goto(If::Equal(3, 0), 4), Load(0, At(1)), Store(At(0), In(0))];
    let copies = vec![Load(0, At(0)), Store(At(1), In(0))];
    let second = vec![
        Store(At(0), Is(1)),
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 5),
        Load(0, At(0)),
        Store(Off(2, 0), Is(1)),
    ];
    n_executions(vec![first, copies, second]);
}

/// The same, where a write of the one thread has to come between two reads of the other, and what it reads at the end
/// has to be older than both.
#[test]
fn manners_seen_apart_with_a_write_between_two_reads() {
    let writes = vec![
        Load(3, At(0)),
        Goto(If::Equal(3, 0), 3),
        Store(At(0), Is(0)),
        Load(0, At(1)),
        Store(Off(2, 0), Is(1)),
    ];
    let reads = vec![
        Load(0, At(0)),
        Store(At(1), In(0)),
        Lock(0),
        Load(3, At(0)),
        Goto(If::Equal(3, 0), 7),
        Load(0, At(0)),
        Store(Off(2, 0), Is(1)),
        Unlock(0),
    ];
    n_executions(vec![writes, reads, vec![Store(At(0), Is(1))]]);
}

/// A read and a write of another thread that no execution had together before the one that brings manners together: the
/// schedule has to foresee what is read there.
#[test]
fn a_read_and_a_write_that_never_met() {
    let first = vec![Load(3, At(0)), Goto(If::Equal(3, 0), 4), Load(0, At(1)), Store(At(0), In(0))];
    let second = vec![
        Store(At(0), Is(1)),
        Load(3, At(0)),
        Goto(If::Equal(3, 0), 5),
        Load(0, At(0)),
        Store(Off(2, 0), Is(1)),
    ];
    let program = Program::new("toy", vec![first, second]).with_vars(4);
    let total = explore("total", &program, 100);
    assert!(total.is_whole);
    assert_eq!(decided(&total.progress).n_astray, 0, "{:?}", total.progress);
}

/// Does it take threads everywhere where exhaustive search takes them?
fn check_ways(program: &Program) -> Found {
    let start = || Start { may_time_out: true, ..Start::default() };
    let total = explore_from("total", program, 2_000, start());
    let all = explore_from("dfs", program, 100_000, start());
    assert!(total.is_whole && all.is_whole, "{}", program.name);
    let n_missing = all.ways.difference(&total.ways).count();
    let progress = &total.progress;
    let is_whole = progress.unreached.is_empty();
    assert_eq!((n_missing, is_whole), (0, true), "{}: {progress:?}", program.name);
    assert_eq!(total.has_deadlock, all.has_deadlock, "{}: {progress:?}", program.name);
    total
}

/// See [`consumers`].
#[test]
fn a_wait_without_a_second_look() {
    for call in [Signal(0), Broadcast(0)] {
        check_ways(&consumers(call));
    }
}

/// What flows into a write is not known when it is first seen, so it gets another name: what was asked for by the first one
/// has been read all the same.
#[test]
fn a_value_that_was_asked_for_by_another_name() {
    let adds = vec![Lock(0), Load(3, At(1)), Goto(If::Equal(3, 0), 4), Add(1, At(0), 1), Unlock(0)];
    let writes =
        vec![Load(0, At(0)), Store(At(1), Is(1)), Load(0, At(1)), Plus(0, 1), Store(At(0), In(0))];
    check_ways(&Program::new("named twice", vec![adds, writes]));
}

/// Waits that run out of time only when nobody can go on do so in executions that show a race, too.
#[test]
fn a_race_is_shown_in_time() {
    let waits =
        vec![Lock(0), TimedWait(3, 0, 0), Unlock(0), FutexWait(3, At(0), 0), Add(1, At(0), 1)];
    let adds = vec![Lock(0), Load(3, At(0)), Unlock(0), Lock(1), Add(1, At(0), 1), Unlock(1)];
    let program = Program::new("in time", vec![waits, adds]);
    let start = || Start { may_time_out: false, ..Start::default() };
    let [all, total] = ["dfs", "total"].map(|it| explore_from(it, &program, 1_000, start()));
    assert!(all.is_whole && total.is_whole);
    assert!(!all.has_deadlock && !total.has_deadlock, "{:?}", total.progress);
}

/// A compare-exchange that fails is not one that succeeds: manners that end with the one do not meet those of the other.
#[test]
fn manners_that_end_with_a_compare_exchange() {
    let branches = vec![
        Load(3, At(0)),
        Goto(If::Equal(3, 0), 3),
        Add(1, At(1), 1),
        Load(3, At(0)),
        Goto(If::Equal(3, 0), 8),
        Load(0, At(0)),
        Plus(0, 1),
        Store(At(1), In(0)),
        Store(At(1), Is(1)),
    ];
    let exchanges = vec![Cas(2, At(1), Is(0), Is(1)), Store(At(0), Is(1))];
    let found = check_ways(&Program::new("exchange", vec![branches, exchanges]));
    assert_eq!(found.n_repeated, decided(&found.progress).n_witnesses);
    // Nothing comes after it.
    let exchanges = vec![Cas(2, At(1), Is(0), Is(1))];
    let branches = vec![
        Lock(0),
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 6),
        Load(0, At(0)),
        Plus(0, 1),
        Store(At(1), In(0)),
        Unlock(0),
        Lock(0),
        Store(At(1), Is(1)),
        Unlock(0),
    ];
    check_ways(&Program::new("exchange", vec![exchanges, branches]));
}

/// Is it known what every call comes to in another schedule, as far as real programs tell?
fn is_foreseen(program: &Program) -> bool {
    let is_reader = |it: &Ins| matches!(it, ReadLock(_) | TryReadLock(..));
    let n_read = |it: &Vec<Ins>| it.iter().filter(|it| is_reader(it)).count();
    let is_unforeseen = |it: &Ins| {
        matches!(it, FutexWait(..) | FutexWake(..) | Spin(..) | Once(..) | TryReadLock(..))
    };
    !program.is_spurious
        && !program.has_ends
        && program.threads.iter().all(|it| n_read(it) < 2)
        && !program.threads.iter().flatten().any(is_unforeseen)
}

fn is_timed(ins: &Ins) -> bool {
    matches!(ins, TimedWait(..) | TimedLock(..))
}

/// Two waits time out at once, and who was first to be woken meets the other at the lock.
#[test]
fn waits_that_time_out_at_the_same_time() {
    let waits = vec![Lock(0), TimedWait(3, 0, 0), Unlock(0)];
    let tries = [waits.clone(), vec![TryLock(3, 0), Goto(If::Equal(3, 0), 6), Unlock(0)]].concat();
    let start = Start { may_time_out: false, ..Start::default() };
    let found = explore_from("total", &Program::new("ties", vec![waits, tries]), 100, start);
    assert!(found.is_whole);
    assert_eq!(found.progress.unreached, [Unreached::Ties]);
}

/// Everything that is small enough to be enumerated, but for what is not foreseen, and what is done before there are
/// two threads: it is no step of real programs.
#[test]
fn programs_of_the_library() {
    for program in small() {
        if is_foreseen(&program) && program.name != "bluetooth" {
            check_ways(&program);
        }
    }
}

/// Room for so few steps that it ends early: what is left is told, and it has not finished.
#[test]
fn no_memory_for_more() {
    let reads = |var: usize| vec![Load(3, At(var)), Goto(If::Equal(3, 0), 3), Store(At(9), Is(1))];
    let threads = vec![reads(0), reads(1), vec![Store(At(0), Is(1)), Store(At(1), Is(1))]];
    let program = Program::new("toy", threads).with_vars(10);
    let found = explore("total:steps=6", &program, 100);
    assert_eq!(found.progress.n_executions, 2);
    assert!(!found.progress.is_finished);
    let Decided { n_waiting, is_full, .. } = decided(&found.progress);
    assert_eq!((*n_waiting, *is_full), (1, true));
    assert!(explore("total:steps=100", &program, 100).progress.is_finished);
    assert!(SearchSpec::parse("total:step=6").is_err());
}

fn piece() -> impl Strategy<Value = Vec<Ins>> {
    let plain = prop_oneof![
        (0_usize..2).prop_map(|var| vec![Load(0, At(var))]),
        (0_usize..2, 0_i64..2).prop_map(|(var, value)| vec![Store(At(var), Is(value))]),
        (0_usize..2).prop_map(|var| vec![Load(0, At(var)), Store(At(1 - var), In(0))]),
        // A reference, to one of two variables.
        (0_usize..2).prop_map(|var| vec![Load(0, At(var)), Store(Off(2, 0), Is(1))]),
    ];
    let branch = (0_usize..2, plain.clone()).prop_map(|(var, then)| {
        let end = 2 + then.len();
        let mut all = vec![Load(3, At(var)), Goto(If::Equal(3, 0), end)];
        all.extend(then);
        all
    });
    let inner = prop_oneof![3 => plain.clone(), 1 => branch.clone()];
    let locked = (0_usize..2, inner).prop_map(|(lock, inner)| {
        let mut all = vec![Lock(lock)];
        all.extend(inner.into_iter().map(|it| moved(it, 1)));
        all.push(Unlock(lock));
        all
    });
    prop_oneof![2 => plain, 3 => branch, 3 => locked]
}

fn moved(ins: Ins, by: usize) -> Ins {
    match ins {
        Goto(when, target) => Goto(when, target + by),
        other => other,
    }
}

pub(crate) fn program() -> impl Strategy<Value = Program> {
    let thread = vec(piece(), 1..=2).prop_map(|pieces| {
        let mut all: Vec<Ins> = Vec::new();
        for piece in pieces {
            let start = all.len();
            all.extend(piece.into_iter().map(|it| moved(it, start)));
        }
        all
    });
    vec(thread, 2..=3).prop_map(|threads| Program {
        n_vars: 4,
        n_mutexes: 2,
        ..Program::new("generated", threads)
    })
}

proptest! {
    // A long campaign, of 1,500 cases: `PROPTEST_CASES=6000 cargo test -p raddle-plan --test search total_finds`.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    /// Whatever calls there are: it says what it has left out.
    #[test]
    fn total_takes_threads_everywhere(program in crate::generated::program(), may_time_out: bool) {
        let start = || Start { may_time_out, ..Start::default() };
        let all = explore_from("dfs", &program, 1_000, start());
        prop_assume!(all.is_whole);
        let total = explore_from("total", &program, 2_000, start());
        prop_assert!(total.is_whole);
        let SearchProgress { scope, unreached, .. } = &total.progress;
        // Traces know no deadlines: when one wait has timed out, another's may have passed, too.
        let n_timed = program.threads.iter().flatten().filter(|it| is_timed(it)).count();
        if is_foreseen(&program) && n_timed < 2 {
            // One execution for each situation is enough for it, not for everything: it says so, and of nothing else.
            let is_reduction = |it: &Unreached| *it == Unreached::Combinations;
            prop_assert!(unreached.iter().all(is_reduction), "{:?}\n{:?}", unreached, scope);
        }
        let n_missing = all.ways.difference(&total.ways).count();
        prop_assert!(!unreached.is_empty() || n_missing == 0, "{} missing: {:?}", n_missing, scope);
        let has_deadlock = total.has_deadlock || !unreached.is_empty();
        prop_assert!(has_deadlock || !all.has_deadlock, "a deadlock: {:?}", scope);
        prop_assert!(all.has_deadlock || !total.has_deadlock, "no deadlock: {:?}", scope);
    }

    #[test]
    fn total_finds_every_race(program in program()) {
        let all = explore("dfs", &program, 2_000);
        prop_assume!(all.is_whole);
        let total = explore("total", &program, 2_000);
        prop_assert!(total.is_whole);
        let missing: Vec<_> = all.races.difference(&total.races).collect();
        prop_assert!(missing.is_empty(), "{:?}\n{:?}", missing, total.progress);
        // And one to show each race at most.
        let n_most = all.progress.n_executions + all.races.len() as u64;
        prop_assert!(total.progress.n_executions <= n_most);
        // An execution that repeats another was made to show a race.
        let decided = decided(&total.progress);
        prop_assert!(total.n_repeated <= decided.n_witnesses, "{}: {:?}", total.n_repeated, decided);
        prop_assert_eq!(decided.n_astray, 0, "{:?}", decided);
    }
}
