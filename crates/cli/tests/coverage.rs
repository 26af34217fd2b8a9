//! What executions tell of the pairs that they covered.

use std::{collections::BTreeSet, fs, sync::atomic::AtomicBool};

use raddle_explore::{
    Block, BlockResult, Campaign, Method, Options, Session, Target, coverage::Covered,
};
use raddle_launch::{
    CompileRequest, CompilerChoice, Native, NativeOptions, Symbols, Toolchain, compile,
};
use raddle_model::{Carrier, PickerSpec, Plan};
use raddle_plan::Arm;
use raddle_trace::{Entry, Pair};
use tempfile::TempDir;

/// Two threads take two locks in two orders, one after the other so that they never deadlock; and each
/// writes a variable without any lock.
const PROGRAM: &str = "
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static volatile int x;
static void *one(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}
static void *two(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}
static void *three(void *arg) { x = 3; return arg; }
static void *four(void *arg) { x = 4; return arg; }
static void run(void *(*body)(void *)) {
    pthread_t t;
    pthread_create(&t, NULL, body, NULL);
    pthread_join(t, NULL);
}
int main(void) {
    pthread_t s, t;
    run(one);
    run(two);
    pthread_create(&s, NULL, three, NULL);
    pthread_create(&t, NULL, four, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
";

fn native(folder: &TempDir, carrier: Carrier) -> Native {
    let source = folder.path().join("pairs.c");
    fs::write(&source, PROGRAM).expect("written");
    let toolchain = Toolchain::open(CompilerChoice::Environment).expect("a compiler");
    let request = CompileRequest { inputs: vec![source], flags: Vec::new() };
    let program = compile(&toolchain, &request).expect("it compiles").program;
    let options = NativeOptions::new(program, Vec::new(), toolchain.runtime);
    Native::new(NativeOptions { carrier, ..options })
}

fn open(folder: &TempDir, carrier: Carrier) -> Box<dyn Session + Send> {
    native(folder, carrier).open().expect("it starts")
}

/// A random walk.
fn entry(seed: u64) -> Entry {
    Entry { seed, picker: 1, ..Entry::default() }
}

fn run(session: &mut dyn Session, n: u64) -> BlockResult {
    let entries = (0..n).map(entry).collect();
    let plan = Plan::new(PickerSpec::Walk, 0);
    session.run(&Block { plan, entries, exit_is_fine: false, common: 0 }).expect("it runs")
}

/// Each of 64 executions has one order of the two writes: the chance to miss one of them is 2⁻⁶³.
#[test]
fn both_orders_of_locks_and_of_writes() {
    let folder = TempDir::with_prefix("raddle-cli-").expect("a temporary folder");
    let result = run(&mut *open(&folder, Carrier::Fibers), 64);
    assert_eq!(result.summaries.len(), 64);
    let pairs: BTreeSet<Pair> = result.covered.iter().map(|it| it.pair).collect();
    assert!(pairs.iter().all(|it| pairs.contains(&it.reverse()) || !it.is_of_locks()));
    // The first thread's two takers and the second's are pairs too, in the one order that they have.
    let counts = |locks: bool| {
        let of_kind = pairs.iter().filter(|it| it.is_of_locks() == locks);
        let (both, one): (Vec<&Pair>, Vec<&Pair>) =
            of_kind.partition(|it| pairs.contains(&it.reverse()));
        (both.len(), one.len())
    };
    assert_eq!(counts(true), (2, 0));
    assert_eq!(counts(false), (2, 2));
    let in_all: Vec<&Covered> = result.covered.iter().filter(|it| it.n_executions == 64).collect();
    assert_eq!(in_all.len(), 4);
    assert!(in_all.iter().all(|it| it.first == 0));
    let halves: u32 = result.covered.iter().map(|it| it.n_executions % 64).sum();
    assert_eq!(halves, 64);
}

#[test]
fn pairs_are_the_same_every_time_and_on_both_carriers() {
    let folder = TempDir::with_prefix("raddle-cli-").expect("a temporary folder");
    let once = run(&mut *open(&folder, Carrier::Fibers), 16).covered;
    assert_eq!(run(&mut *open(&folder, Carrier::Fibers), 16).covered, once);
    assert_eq!(run(&mut *open(&folder, Carrier::Threads), 16).covered, once);
    let mut session = open(&folder, Carrier::Fibers);
    let parts: BTreeSet<Pair> = (0..16)
        .flat_map(|seed| {
            let plan = Plan::new(PickerSpec::Walk, seed);
            let entries = vec![entry(seed)];
            let block = Block { plan, entries, exit_is_fine: false, common: 0 };
            session.run(&block).expect("it runs").covered
        })
        .map(|it| it.pair)
        .collect();
    assert_eq!(parts, once.iter().map(|it| it.pair).collect());
}

/// What strategies yield decides who runs later, and what they learn from traces how they run: none of it may
/// depend on how many workers there are.
#[test]
fn a_portfolio_is_the_same_whatever_the_workers() {
    let folder = TempDir::with_prefix("raddle-cli-").expect("a temporary folder");
    let target = native(&folder, Carrier::Fibers);
    let run_with = |jobs| {
        let options = Options {
            executions: Some(1_500),
            jobs,
            keep_going: true,
            method: Method::Portfolio(Arm::standard(1_500)),
            ..Options::default()
        };
        let mut campaign = Campaign::new(&target, options);
        let stop = AtomicBool::new(false);
        let outcome = campaign.run(&mut Symbols::new(), &mut (), &stop).expect("it runs");
        (
            outcome.figures.arms,
            outcome.figures.coverage,
            outcome.figures.distinct_traces,
            outcome.figures.steps_total,
        )
    };
    let one = run_with(1);
    assert!(one.0.len() > 10, "{one:?}");
    assert_eq!(run_with(2), one);
    assert_eq!(run_with(3), one);
}
