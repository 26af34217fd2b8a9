//! Laws over random programs and random schedules, the same every time but in `cargo xtask soak`.

use std::collections::BTreeMap;

use proptest::{
    prelude::{ProptestConfig, any, prop_assert_eq, prop_assert_ne, proptest},
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use raddle_model::{Event, OpResult};
use raddle_pick::{AnyPicker, Chooser, Nonpreemptive, Walk};

use crate::{
    posix::Posix,
    programs::program,
    toy::{Ended, Program, Run, run},
};

const MAX_STEPS: usize = 300;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn walk(seed: u64) -> AnyPicker<'static> {
    AnyPicker::Walk(Walk::new(seed, seed.is_multiple_of(2)))
}

fn follow(program: &Program, prefix: &[u32]) -> Run {
    let tail = AnyPicker::Nonpreemptive(Nonpreemptive::new());
    run(program, Chooser::new(prefix, tail), MAX_STEPS, &mut ())
}

fn choices_in(trace: &[Event]) -> Vec<u32> {
    let choices = trace.iter().map(|it| [Some(it.thread.0), it.choice()]);
    choices.flatten().flatten().collect()
}

proptest! {
    #![proptest_config(config(512))]

    /// Who can go on, how ops end, whom they wake, deadlock, time: all as POSIX says.
    #[test]
    fn every_run_is_legal(program in program(), seed in any::<u64>()) {
        let tails = [walk(seed), walk(seed.wrapping_add(1)), AnyPicker::Nonpreemptive(Nonpreemptive::new())];
        for tail in tails {
            let chooser = Chooser::new(&[], tail);
            let it = run(&program, chooser, MAX_STEPS, &mut Posix::default());
            prop_assert_ne!(it.ended, Ended::StepLimit);
        }
    }

    /// The trace alone is enough to replay: a thread for each event, and its data choice.
    #[test]
    fn replay_gives_the_same_trace(program in program(), seed in any::<u64>()) {
        let first = run(&program, Chooser::new(&[], walk(seed)), MAX_STEPS, &mut ());
        let choices = choices_in(&first.trace);
        let again = follow(&program, &choices);
        prop_assert_eq!(choices, first.choices);
        prop_assert_eq!(again.trace, first.trace);
        prop_assert_eq!(again.ended, first.ended);
        prop_assert_eq!(again.diverged_at, None);
    }

    #[test]
    fn a_prefix_gives_the_beginning(program in program(), seed in any::<u64>(), share in 0..100_usize) {
        let first = run(&program, Chooser::new(&[], walk(seed)), MAX_STEPS, &mut ());
        let prefix = &first.choices[..first.choices.len() * share / 100];
        let again = follow(&program, prefix);
        prop_assert_eq!(&again.choices[..prefix.len()], prefix);
        prop_assert_eq!(again.diverged_at, None);
    }
}

/// The programs are worth something: all endings are common, and every kind of result is seen.
#[test]
fn programs_get_everywhere() {
    let mut runner = TestRunner::new(config(1));
    let programs = program();
    let mut endings: BTreeMap<Ended, u32> = BTreeMap::new();
    let mut results = [0_u32; 16];
    for seed in 0..300 {
        let program = programs.new_tree(&mut runner).expect("a program").current();
        let it = run(&program, Chooser::new(&[], walk(seed)), MAX_STEPS, &mut ());
        *endings.entry(it.ended).or_default() += 1;
        it.trace.iter().for_each(|it| results[it.result as usize] += 1);
    }
    for ended in [Ended::Finished, Ended::Deadlock, Ended::Misuse] {
        assert!(endings.get(&ended).is_some_and(|it| *it >= 30), "{endings:?}");
    }
    for result in [
        OpResult::Done,
        OpResult::Busy,
        OpResult::TimedOut,
        OpResult::WouldDeadlock,
        OpResult::NotOwner,
        OpResult::Chosen,
        OpResult::Misused,
    ] {
        assert!(results[result as usize] >= 5, "{result:?} {results:?}");
    }
}
