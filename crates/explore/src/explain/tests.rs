//! Toys that fail when a thread reads certain values.

use std::time::Duration;

use proptest::prelude::*;
use raddle_model::{Finding, MinimisingEnd, OpKind, PickerSpec, Plan};

use super::{Budget, Explained, explain};
use crate::{
    fake::{Shuttle, ToySymbols},
    finding::finding,
    target::{Block, BlockResult, Session, TargetError},
};

const READ: OpKind = OpKind::Read;
const WRITE: OpKind = OpKind::Write;

/// A toy that fails as the execution with this seed went, and the finding of that execution.
fn fails_as(mut shuttle: Shuttle, seed: u64) -> Option<(Shuttle, Finding)> {
    let plan = Plan::new(PickerSpec::Walk, seed);
    shuttle.fails_on = shuttle.execute(&plan).1;
    let (trace, _) = shuttle.execute(&plan);
    let found = finding(&trace, &plan, 7, "", &mut ToySymbols)?;
    Some((shuttle, found))
}

fn explained(shuttle: &Shuttle, finding: &Finding) -> Explained {
    let mut session = shuttle.clone();
    explain(&mut session, &mut ToySymbols, finding, false, Budget::default()).expect("it runs")
}

/// The first thread reads twice, the other writes many times: that the reads differ takes one preemption.
#[test]
fn one_preemption_is_enough() {
    let mut writer = vec![(WRITE, 1); 20];
    writer[4] = (WRITE, 0);
    let shuttle = Shuttle {
        threads: vec![vec![(READ, 0), (READ, 0)], writer, vec![(READ, 1); 9]],
        fails_on: Vec::new(),
    };
    let (shuttle, finding) = (0..1_000)
        .filter_map(|seed| fails_as(shuttle.clone(), seed))
        .find(|(it, _)| it.fails_on[0] == 0 && it.fails_on[1] != 0)
        .expect("some schedule does it");
    let Explained { finding: small, explanation, .. } = explained(&shuttle, &finding);
    let minimising = explanation.minimising;
    assert_eq!(minimising.ending, MinimisingEnd::Done);
    assert!(minimising.before.n_preemptions > 3, "{minimising:?}");
    assert_eq!(minimising.after.n_preemptions, 1, "{minimising:?}");
    assert!(minimising.n_replays <= 60, "{minimising:?}");
    assert_eq!(small.bucket, finding.bucket);
    assert_eq!((small.execution, &small.strategy), (finding.execution, &finding.strategy));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A minimised schedule still fails in the same bucket, with no more preemptions, and its plan alone
    /// leads there.
    #[test]
    fn what_is_small_still_fails(
        threads in prop::collection::vec(
            prop::collection::vec((prop_oneof![Just(READ), Just(WRITE)], 0_u32..3), 1..7), 2..5),
        seed in 0_u64..1_000,
    ) {
        let Some((shuttle, finding)) = fails_as(Shuttle { threads, fails_on: Vec::new() }, seed) else {
            return Ok(());
        };
        let Explained { finding: small, explanation, .. } = explained(&shuttle, &finding);
        let minimising = explanation.minimising;
        prop_assert_eq!(minimising.ending, MinimisingEnd::Done);
        prop_assert_eq!(small.bucket, finding.bucket);
        prop_assert!(minimising.after <= minimising.before);
        let (trace, read) = shuttle.execute(&small.plan);
        prop_assert_eq!(&read, &shuttle.fails_on);
        prop_assert_eq!(trace.summary.digest, small.trace_digest);
        let again = explained(&shuttle, &finding);
        prop_assert_eq!(again.finding, small);
        prop_assert_eq!(again.explanation, explanation);
    }
}

/// Executions that take their time.
struct Slow(Shuttle, Duration);

impl Session for Slow {
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        std::thread::sleep(self.1);
        self.0.run(block)
    }
}

/// A clock that strikes when the schedule is small already, and its reason is looked for, is told too.
#[test]
fn the_clock_is_told_whenever_it_strikes() {
    let shuttle =
        Shuttle { threads: vec![vec![(READ, 0)], vec![(WRITE, 0)]], fails_on: Vec::new() };
    let (shuttle, finding) = (0..100)
        .filter_map(|seed| fails_as(shuttle.clone(), seed))
        .find(|(it, _)| it.fails_on[0] != 0)
        .expect("some schedule does it");
    let quick = explained(&shuttle, &finding).explanation.minimising;
    assert_eq!(quick.ending, MinimisingEnd::Done);
    // Time for what makes it small twice over, but not for the hundreds of executions after that.
    let each = Duration::from_millis(2);
    let time = each * 2 * (quick.n_replays as u32 + 8);
    let budget = Budget { time, ..Budget::default() };
    let mut session = Slow(shuttle, each);
    let late = explain(&mut session, &mut ToySymbols, &finding, false, budget).expect("it runs");
    assert_eq!(late.explanation.minimising.ending, MinimisingEnd::Time);
}
