//! How likely a finding is in one execution, by strategy: so many executions of each, with all that is known
//! to be shared, and how many of them show it. What is shown often is known sooner: executions that fail take
//! much longer than others.

use std::collections::BTreeSet;

use raddle_model::{Depth, Kind, Likelihood, PickerSpec, Plan, Record, Share, mix};
use raddle_plan::entry;
use raddle_trace::{Entry, SeenRace};

use super::trials::Trials;
use crate::target::{Block, BlockResult, TargetError};

/// Executions of each strategy.
const N_EXECUTIONS: u64 = 200;
/// But not more that show it.
const N_SHOWN_MAX: u64 = 30;
/// Nor more steps than this, of each.
const N_STEPS: u64 = 1_000_000;
/// And not fewer executions than this.
const N_EXECUTIONS_MIN: u64 = 20;
/// Executions of one block.
const N_BLOCK: usize = 64;
/// Makes seeds that no campaign begins with.
const SALT: u64 = 0x006c_696b_656c_7921;

/// How often strategies show the finding: the one that found it first, then those of different kinds.
pub(super) fn likelihood(
    trials: &mut Trials<'_>,
    base: &Plan,
    n_steps: u64,
) -> Result<Vec<Likelihood>, TargetError> {
    let own = (trials.finding.strategy.clone(), trials.finding.plan.picker);
    let others = [
        PickerSpec::Walk,
        PickerSpec::Pos,
        PickerSpec::Pct(Depth::Fixed(3)),
        PickerSpec::Surw,
        PickerSpec::Sites,
    ];
    let others = others.into_iter().map(|it| (it.to_string(), it));
    let mut strategies = vec![own];
    strategies.extend(others);
    strategies.retain(|it| !matches!(it.1, PickerSpec::Nonpreemptive | PickerSpec::Awake { .. }));
    let mut all: Vec<Likelihood> = Vec::new();
    let n_executions = (N_STEPS / n_steps.max(1)).clamp(N_EXECUTIONS_MIN, N_EXECUTIONS);
    for (strategy, picker) in strategies {
        let is_known = all.iter().any(|it| it.strategy == strategy);
        if is_known || strategy.is_empty() || trials.is_late() {
            continue;
        }
        let share = sample(trials, base, picker, n_executions)?;
        all.push(Likelihood { strategy, share });
    }
    Ok(all)
}

fn sample(
    trials: &mut Trials<'_>,
    base: &Plan,
    picker: PickerSpec,
    n_executions: u64,
) -> Result<Share, TargetError> {
    let record = Record { options: false, ..base.record };
    let profile = trials.finding.plan.profile.clone();
    let mut plan = Plan { picker, prefix: Vec::new(), record, profile, ..base.clone() };
    let seeds = (0..n_executions).map(|it| mix(SALT, it));
    let entries: Vec<Entry> = seeds.map(|seed| entry(picker, seed)).collect();
    let mut share = Share::default();
    let mut left = &entries[..];
    while !left.is_empty() && share.n < N_SHOWN_MAX {
        let now = left[..left.len().min(N_BLOCK)].to_vec();
        plan.seed = now[0].seed;
        let (n_run, n_shown) = trials.run_block(&plan, now)?;
        share.of += n_run as u64;
        share.n += n_shown;
        // A block ends with its first failure; one that ran nothing would never end.
        left = &left[n_run.clamp(1, left.len())..];
    }
    Ok(share)
}

impl Trials<'_> {
    /// Runs executions up to the first that has to be looked at: how many ran, and how many of them show the
    /// finding.
    fn run_block(&mut self, plan: &Plan, entries: Vec<Entry>) -> Result<(usize, u64), TargetError> {
        let exit_is_fine = self.exit_is_fine;
        let result =
            self.session.run(&Block { plan: plan.clone(), entries, exit_is_fine, common: 0 })?;
        let n_run = result.summaries.len();
        if self.finding.kind == Kind::Race {
            return Ok((n_run, self.n_racing(&result)));
        }
        let shown = result.last.is_some_and(|it| self.shows(&it));
        Ok((n_run, u64::from(shown)))
    }

    /// How many executions of a block show the race: most of them are not looked at, but all tell their races by
    /// the places in the code.
    fn n_racing(&self, result: &BlockResult) -> u64 {
        let is_it = |it: &(u32, &SeenRace)| self.race_keys.contains(&it.1.key);
        let racing = result.races.iter().filter(is_it).map(|it| it.0);
        racing.collect::<BTreeSet<u32>>().len() as u64
    }
}
