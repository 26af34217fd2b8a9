//! Executions that begin from a live copy are the same, to the last event and to the last byte printed, as
//! those that begin at `main`.

mod common;

use std::{path::Path, sync::atomic::AtomicBool};

use common::{folder, write};

use raddle_explore::{
    Campaign, Method, Options, Outcome, SearchOptions,
    target::{Block, BlockResult, Session, Target},
};
use raddle_launch::{
    CompileRequest, CompilerChoice, Native, NativeOptions, Symbols, Toolchain, compile,
};
use raddle_model::{Conditions, PickerSpec, Plan, Record, Rng};
use raddle_plan::search::SearchSpec;
use raddle_trace::{Entry, Trace};

const MEGABYTE: u64 = 1 << 20;

fn native(source: &str, checkpoints: u64) -> Box<dyn Session + Send> {
    target(source, checkpoints).open().expect("the program starts")
}

fn target(source: &str, checkpoints: u64) -> Native {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let toolchain = Toolchain::open(CompilerChoice::Gcc).expect("a compiler");
    let request = CompileRequest { inputs: vec![programs.join(source)], flags: Vec::new() };
    let program = compile(&toolchain, &request).expect("the program compiles").program;
    let mut options = NativeOptions::new(program, Vec::new(), toolchain.runtime);
    options.checkpoints = checkpoints;
    options.checkpoint_gap = Some(1);
    Native::new(options)
}

fn run(session: &mut dyn Session, plan: &Plan) -> BlockResult {
    let picker = u32::from(plan.picker == PickerSpec::Walk);
    let entry = Entry { seed: plan.seed, picker, ..Entry::default() };
    let (plan, common) = (plan.clone(), plan.prefix.len() as u32);
    let block = Block { plan, entries: vec![entry], exit_is_fine: false, common };
    session.run(&block).expect("an execution")
}

/// All choices of an execution, as a prefix has them.
fn choices(trace: &Trace) -> Vec<u32> {
    let of_event = trace.events.iter().map(|it| (it.thread.0, it.choice()));
    of_event.flat_map(|(thread, choice)| [Some(thread), choice].into_iter().flatten()).collect()
}

/// Everything that anybody could see of an execution.
fn sight(result: &BlockResult) -> String {
    let last = result.last.as_ref().expect("blocks of one are looked at");
    let trace = &last.trace;
    let events: Vec<_> = trace.events.iter().map(|it| format!("{it:?}")).collect();
    format!(
        "{}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{}",
        events.join("\n"),
        trace.options,
        trace.end,
        trace.message,
        trace.summary,
        trace.objects,
        trace.sites,
        result.shared_found,
        result.covered,
        result.races,
        last.output,
    )
}

/// Steps made and steps spared by executions with prefixes of all lengths of some schedules.
fn compare(source: &str, budget: u64) -> (u64, u64) {
    let (mut plain, mut copied) = (native(source, 0), native(source, budget));
    let mut plan = Plan::new(PickerSpec::Walk, 0);
    plan.record = Record { races: true, options: true, ..Record::NONE };
    plan.shared = run(&mut *plain, &plan).shared_found;
    let (mut n_steps, mut n_spared) = (0, 0);
    let mut rng = Rng::new(1);
    for seed in 0..6 {
        let whole = run(&mut *plain, &Plan { picker: PickerSpec::Walk, seed, ..plan.clone() });
        let choices = choices(&whole.last.expect("blocks of one are looked at").trace);
        for _ in 0..20 {
            let n_choices = 1 + rng.below(choices.len() as u32) as usize;
            let prefix = choices[..n_choices].to_vec();
            let plan = Plan { prefix, picker: PickerSpec::Nonpreemptive, seed: 0, ..plan.clone() };
            let expected = run(&mut *plain, &plan);
            let found = run(&mut *copied, &plan);
            let (found_sight, expected_sight) = (sight(&found), sight(&expected));
            let lines = found_sight.lines().zip(expected_sight.lines());
            for (found, expected) in lines {
                assert_eq!(found, expected, "{source}, {plan:?}");
            }
            assert!(found_sight == expected_sight, "{source}, {plan:?}: one says more");
            assert_eq!(expected.n_steps_spared, 0);
            n_steps += found.summaries[0].n_steps;
            n_spared += found.n_steps_spared;
        }
    }
    (n_steps, n_spared)
}

#[test]
fn copies_are_the_same() {
    for source in [
        "fail/mutex/dining_philosophers.c",
        "fail/condvar/if_for_while.c",
        "fail/atomic/aba_stack.c",
        "pass/condvar/timedwait_monotonic.c",
        "pass/mutex/trylock.c",
        "fail/barrier/handmade_reuse.c",
        "fail/cpp/future_deadlock.cpp",
    ] {
        let (n_steps, n_spared) = compare(source, 64 * MEGABYTE);
        assert!(n_steps / 4 < n_spared, "{source}: {n_spared} of {n_steps} spared");
    }
}

/// Copies come and go all the time.
#[test]
fn with_room_for_one_or_two() {
    let (_, n_spared) = compare("fail/mutex/dining_philosophers.c", MEGABYTE / 2);
    assert!(0 < n_spared);
}

/// Descriptors would be shared with the copy: none is made, and nothing else changes.
#[test]
fn programs_with_open_descriptors_are_not_copied() {
    let (_, n_spared) = compare("fail/fd/eventfd_merged.c", 64 * MEGABYTE);
    assert_eq!(n_spared, 0);
}

/// Total replay.
fn total(target: &Native) -> Outcome {
    let spec = SearchSpec::parse("total").expect("a search has this name");
    let options = Options {
        method: Method::Search(Box::new(SearchOptions::new(spec))),
        executions: Some(40),
        conditions: Conditions::DEFAULT.at_every_access(),
        confirmations: 0,
        keep_going: true,
        ..Options::default()
    };
    Campaign::new(target, options)
        .run(&mut Symbols::new(), &mut (), &AtomicBool::new(false))
        .expect("a campaign")
}

/// Steps made by total replay, and steps spared; what comes of it is the same without copies.
#[track_caller]
fn total_begins_from_copies(plain: &Native, copied: &Native) -> (u64, u64) {
    let (plain, copied) = (total(plain), total(copied));
    let essence = |it: &Outcome| {
        let buckets: Vec<_> = it.findings.iter().map(|it| it.finding.bucket).collect();
        let scope = it.search.as_ref().map(|it| it.progress.scope.clone());
        (it.figures.executions, it.figures.steps_total, buckets, scope)
    };
    assert_eq!(essence(&plain), essence(&copied));
    assert_eq!(plain.steps_spared, 0);
    (copied.figures.steps_total, copied.steps_spared)
}

/// The dissertation's largest experiment: schedules leave the first execution where the read's critical section begins.
#[test]
fn total_replay_begins_from_copies() {
    let service = "../experiments/total-replay/programs/service.c";
    let targets = [0, 64 * MEGABYTE].map(|it| target(service, it));
    let (n_steps, n_spared) = total_begins_from_copies(&targets[0], &targets[1]);
    assert!(n_steps / 10 < n_spared, "{n_spared} of {n_steps}");
}

/// A program whose threads have much to do before anything is decided: it is done once.
#[test]
fn what_comes_before_all_decisions_is_done_once() {
    let folder = folder();
    let source = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        static int done, flags[6], n, late;\n\
        #define LOCKED(what) pthread_mutex_lock(&m); what; pthread_mutex_unlock(&m)\n\
        static void *work(void *arg) {\n\
        for (int i = 0; i < 400; i++) { LOCKED(done++); }\n\
        for (int i = 0; i < 6; i++) { LOCKED(if (flags[i]) n++); }\n\
        if (n > 5) late++;\nreturn arg; }\n\
        static void *set(void *arg) { for (int i = 0; i < 6; i++) { LOCKED(flags[i] = 1); } late = 1; return arg; }\n\
        int main(void) { pthread_t t[2]; pthread_create(t, 0, work, 0); pthread_create(t + 1, 0, set, 0);\n\
        pthread_join(t[0], 0); return pthread_join(t[1], 0); }\n";
    write(folder.path(), "long.c", source);
    let path = folder.path().join("long.c");
    let path = path.to_str().expect("it is text");
    let targets = [0, 64 * MEGABYTE].map(|it| target(path, it));
    let (n_steps, n_spared) = total_begins_from_copies(&targets[0], &targets[1]);
    assert!(n_steps / 8 < n_spared, "{n_spared} of {n_steps}");
}
