//! A portfolio of strategies: several share one budget, and what finds new things gets more of it.
//!
//! No strategy is without a program on which it is hopeless: a walk never sees one of two threads stay far
//! behind, priorities hardly ever alternate, what learns from the past learns the wrong thing. Of m
//! strategies that share a budget equally, the best costs at most m times what it would cost alone, on
//! every program.
//!
//! The first executions are the baseline without preemption and a walk, which show what threads do. From then on until
//! execution 32, every other one tries a hypothesis (`directions`): an order of places that no execution has shown, which
//! breaks most programs that can be broken by one or two orders within a few tries.
//!
//! Otherwise each strategy (*arm*) has a share. Half of the executions are shared out evenly, so that with m arms each has at
//! least one in 2m, evenly spread: whatever the program, the portfolio needs at most about 2m times as many executions as
//! the best of its arms. The other half follows what the arms have yielded: new pairs of places and new traces, for
//! each step that it took, later rounds counting more.
//!
//! The rule is that of multiplicative weights (Arora, Hazan, Kale, Theory of Computing 2012) with a fixed share (Herbster,
//! Warmuth, Machine Learning 1998). Where a round begins (`rounds`), each arm has a gain g between 0 and 1, its yield
//! relative to the best one's; its weight w is multiplied by 1 + g/2; weights are made to add up to 1, and of each, one part
//! in 64 is exchanged for that of the beginning, π. All arms run in every round that is long enough, so all gains are
//! known, and nothing has to be guessed as in a bandit that sees only the arm that it has drawn. Bound, over R rounds, for
//! whatever gains, in the half that is not even: for each arm, Σ Σⱼ wⱼ gⱼ ≥ 0.81 Σ g - 0.032 R - 2 ln (1/π). For
//! a round multiplies the arm's weight by at least (63/64) (1 + g/2) / (1 + ½ Σⱼ wⱼ gⱼ), no weight exceeds 1,
//! ln (1 + x) ≤ x, and ln (1 + g/2) ≥ g ln 1.5. A gain is measured in yield, which is not finding bugs: of that only the even
//! half promises anything.
//!
//! Executions are planned many at a time, so there is no "next arm". Cost is counted in steps, not in time, so that
//! the same seed gives the same campaign everywhere.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
    ops::Range,
};

use raddle_model::{
    AbstractSchedule, Depth, Family, Hypothesis, Kept, PickerSpec, PlaceOrder, ReadsFrom, Tried,
    mix,
};
use raddle_trace::Entry;

use crate::{
    directions::Directions,
    fuzzer::Fuzzer,
    rounds::round,
    seeds::entry,
    strategy::{Edges, Recipe},
};

/// One strategy of a portfolio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// As the user would write it.
    pub name: String,
    /// Who picks.
    pub picker: PickerSpec,
    /// Its share before anything is known, relative to the others.
    pub weight: u32,
}

impl Arm {
    /// What shares the executions when nothing else is said, for a campaign of so many.
    ///
    /// The weights began as a guess, and are what `experiments/stride` and `experiments/directed` made of it: with the
    /// probabilities that each arm alone showed there, these shares lose little against the best ones in the mean over
    /// all programs. Two that were here, `rpro` and `delay`, were hardly ever better than all others there, and cost all
    /// others their share.
    pub fn standard(n_executions: u64) -> Vec<Arm> {
        let stride =
            |n_edges| Recipe::Stride(Edges { n_edges, confidence: 9_500, ..Edges::default() });
        let others = [
            (240, Recipe::Picker(PickerSpec::Surw)),
            (190, Recipe::Picker(PickerSpec::Sites)),
            (110, Recipe::Picker(PickerSpec::Pos)),
            (100, Recipe::Picker(PickerSpec::Pct(Depth::Drawn))),
            (90, Recipe::Picker(PickerSpec::Walk)),
            (70, Recipe::Picker(PickerSpec::Urw)),
            (60, stride(1)),
            (40, stride(2)),
            (60, Recipe::Picker(PickerSpec::Sticky { per_mille: 500 })),
        ];
        let arm = |(weight, recipe): (u32, Recipe)| Arm {
            name: recipe.to_string(),
            picker: recipe.picker(n_executions),
            weight,
        };
        iter::once(Arm::directed()).chain(others.map(arm)).chain([Arm::rff()]).collect()
    }

    /// The same for a campaign that is to look at some places: of the half that is not even, nine parts in ten are at first
    /// those of hypotheses, which know about places, so that nearly half of all executions are directed.
    pub fn standard_near(n_executions: u64) -> Vec<Arm> {
        let mut arms = Arm::standard(n_executions);
        let others = arms.iter().filter(|it| it.picker != DIRECTED);
        let weight = 9 * others.map(|it| it.weight).sum::<u32>();
        arms.iter_mut().filter(|it| it.picker == DIRECTED).for_each(|it| it.weight = weight);
        arms
    }

    /// What tries hypotheses.
    pub fn directed() -> Arm {
        Arm { name: "directed".to_owned(), picker: DIRECTED, weight: 700 }
    }

    /// What mutates abstract schedules.
    fn rff() -> Arm {
        Arm {
            name: "rff".to_owned(),
            picker: PickerSpec::Rff { wanted: AbstractSchedule::default() },
            weight: 60,
        }
    }
}

/// What one execution has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Pairs of places that nobody had seen before it.
    pub n_pairs: u32,
    /// Is its trace a new one?
    pub is_new_trace: bool,
    /// Is its failure a new one?
    pub is_new_finding: bool,
    /// Its steps.
    pub n_steps: u64,
    /// Its partial order.
    pub class: u64,
    /// Did it come as its hypothesis asks?
    pub kept: Kept,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Portfolio {
    campaign_seed: u64,
    arms: Vec<Arm>,
    standings: Vec<Standing>,
    /// Where each arm's share ends, of 2³². Invariant: increasing; the last is 2³².
    ends: Vec<u64>,
    /// The round for which shares are settled.
    settled: Range<u64>,
    directions: Directions,
    fuzzer: Fuzzer,
    /// By execution: what it suggests, where the user wants to look and elsewhere. It counts from the next round on.
    suggested: BTreeMap<u64, [Vec<Hypothesis>; 2]>,
    /// What directed executions of that round try, if anything. In the order of executions.
    directed: Vec<(u64, Option<Hypothesis>)>,
}

/// What an arm has yielded, later rounds counting more, and what that has made of its weight.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    reward: u64,
    cost: u64,
    /// Of [`WHOLE`].
    weight: u64,
}

/// What weights add up to.
const WHOLE: u64 = 1 << 32;
/// Of each weight, one part in so many is exchanged for that of the beginning.
const EXCHANGED: u64 = 64;
/// One part in so many of all executions is shared out evenly.
const EVEN: u64 = 2;
/// What starting an execution costs, in steps.
const START_COST: u64 = 1_500;
/// Pairs are worth more than traces, which random noise brings too.
const PAIR_REWARD: u64 = 8 * SCALE;
const TRACE_REWARD: u64 = SCALE;
const FINDING_REWARD: u64 = 64 * SCALE;
/// An execution is not rewarded for more pairs than this: the first ones bring many, whoever runs them.
const PAIRS_COUNTED: u32 = 4;
/// Rewards are whole numbers and still can be divided by costs.
const SCALE: u64 = 1 << 28;

/// The opening is over by then.
const OPENING_END: u64 = 32;

/// The arm that tries hypotheses, before it is known which.
const DIRECTED: PickerSpec =
    PickerSpec::Directed { family: Family::Late, orders: [PlaceOrder::NONE; 2] };
/// Directed executions of a round that have each their own to try.
const DIRECTED_MAX: usize = 1 << 16;

impl Portfolio {
    /// A portfolio of these arms.
    pub fn new(campaign_seed: u64, arms: Vec<Arm>, directions: Directions) -> Portfolio {
        assert!(!arms.is_empty(), "bug: a portfolio of nothing");
        let standings = priors(&arms).map(|weight| Standing { weight, ..Standing::default() });
        let standings = standings.collect();
        let mut portfolio = Portfolio {
            campaign_seed,
            arms,
            standings,
            ends: Vec::new(),
            settled: 0..0,
            directions,
            fuzzer: Fuzzer::new(campaign_seed),
            suggested: BTreeMap::new(),
            directed: Vec::new(),
        };
        portfolio.share_out();
        portfolio
    }

    /// The arms.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    /// What executions are to do. They are of one round, and all before that round have been learned from.
    pub fn block(&mut self, first: u64, count: u32) -> Vec<Entry> {
        self.settle(round(first));
        (first..first + u64::from(count)).map(|it| self.entry(it)).collect()
    }

    /// Learns from an execution of the round that was last asked for.
    pub fn learn(&mut self, execution: u64, news: &News) {
        if let Ok(idx) = self.directed.binary_search_by_key(&execution, |it| it.0)
            && let Some(it) = self.directed[idx].1
        {
            self.directions.count(it, news.kept, news.is_new_finding);
        }
        if is_rff(self.spec_of(execution)) {
            self.fuzzer.learn(execution, news);
        }
        let Some(arm) = self.arm_of(execution) else { return };
        let standing = &mut self.standings[arm];
        standing.reward += u64::from(news.n_pairs.min(PAIRS_COUNTED)) * PAIR_REWARD
            + u64::from(news.is_new_trace) * TRACE_REWARD
            + u64::from(news.is_new_finding) * FINDING_REWARD;
        standing.cost += START_COST + news.n_steps;
    }

    /// The arms' shares in the round that was last asked for, of 10,000.
    pub fn shares(&self) -> Vec<u64> {
        let mut start = 0;
        let share = |end: &u64| {
            let share = ((end - start) * 10_000) >> 32;
            start = *end;
            share
        };
        self.ends.iter().map(share).collect()
    }

    /// Shares stay as they are until the next round.
    fn settle(&mut self, round: Range<u64>) {
        if self.settled == round {
            return;
        }
        self.hear_suggested(round.start);
        self.weigh();
        self.share_out();
        for standing in &mut self.standings {
            standing.reward -= standing.reward / 4;
            standing.cost -= standing.cost / 4;
        }
        self.direct(&round);
        if self.fuzzes() {
            let own: BTreeSet<u64> = self.own_of(&round, is_rff).collect();
            self.fuzzer.settle(round.clone(), |it| own.contains(&it));
        }
        self.settled = round;
    }

    /// Hears what the executions before a round suggest.
    fn hear_suggested(&mut self, start: u64) {
        let later = self.suggested.split_off(&start);
        for [near, others] in std::mem::replace(&mut self.suggested, later).into_values() {
            self.directions.learn(&near, &others);
        }
    }

    /// Gives each directed execution of a round something to try.
    fn direct(&mut self, round: &Range<u64>) {
        self.directed.clear();
        if self.directions.is_empty() {
            return;
        }
        let own: Vec<u64> = self.own_of(round, |it| it == DIRECTED).take(DIRECTED_MAX).collect();
        for execution in own {
            self.directed.push((execution, self.directions.next_try()));
        }
    }

    /// The executions of a round that are an arm's.
    fn own_of(
        &self,
        round: &Range<u64>,
        is_it: impl Fn(PickerSpec) -> bool,
    ) -> impl Iterator<Item = u64> {
        round.clone().filter(move |it| is_it(self.spec_of(*it)))
    }

    /// Is there an arm of abstract schedules?
    pub fn fuzzes(&self) -> bool {
        self.arms.iter().any(|it| is_rff(it.picker))
    }

    /// What the constraints of abstract schedules are about: the script of their plans.
    pub fn script(&self) -> Vec<u32> {
        self.fuzzer.script()
    }

    /// Takes in what could have been read in an execution; it counts from the next round on.
    pub fn take_in_pairs(&mut self, execution: u64, pairs: Vec<ReadsFrom>) {
        self.fuzzer.take_in(execution, pairs);
    }

    /// Takes in what an execution suggests: where the user wants to look, and elsewhere. Whatever the order of calls,
    /// it counts from the next round on, in the order of executions.
    pub fn take_in(&mut self, execution: u64, near: Vec<Hypothesis>, others: Vec<Hypothesis>) {
        self.suggested.insert(execution, [near, others]);
    }

    /// Hypotheses where the user wants to look, and how many of them were tried.
    pub fn near(&self) -> (u64, u64) {
        self.directions.near()
    }

    /// Hypotheses so far, and how many of them were tried.
    pub fn tried(&self) -> Vec<Tried> {
        self.directions.tried()
    }

    /// What each arm has yielded, in relation to the best one: parts of [`WHOLE`].
    fn gains(&self) -> Vec<u64> {
        let best = self.standings.iter().map(Standing::rate).max().unwrap_or(0).max(1);
        let gain = |it: &Standing| u128::from(it.rate()) * u128::from(WHOLE) / u128::from(best);
        self.standings.iter().map(|it| gain(it) as u64).collect()
    }

    /// Multiplies each arm's weight by what it has gained.
    fn weigh(&mut self) {
        let gains = self.gains();
        for (standing, gain) in self.standings.iter_mut().zip(gains) {
            // Both are at most 2³².
            standing.weight += ((standing.weight * gain.min(WHOLE - 1)) >> 32) / 2;
        }
        let total = self.standings.iter().map(|it| it.weight).sum::<u64>().max(1);
        for (standing, prior) in self.standings.iter_mut().zip(priors(&self.arms)) {
            let weight = u128::from(standing.weight) * u128::from(WHOLE) / u128::from(total);
            let weight = weight as u64;
            standing.weight = weight - weight / EXCHANGED + prior / EXCHANGED;
        }
    }

    fn share_out(&mut self) {
        // Who has nothing to try has no share.
        let is_idle = |it: &Arm| it.picker == DIRECTED && self.directions.is_empty();
        let weigh = |(arm, it): (&Arm, &Standing)| if is_idle(arm) { 0 } else { it.weight.max(1) };
        let weights: Vec<u64> = self.arms.iter().zip(&self.standings).map(weigh).collect();
        let total: u64 = weights.iter().sum::<u64>().max(1);
        let n_arms = weights.iter().filter(|it| **it > 0).count() as u64;
        let even = WHOLE / EVEN / n_arms.max(1);
        let rest = u128::from(WHOLE - even * n_arms);
        let mut end = 0;
        self.ends = weights
            .iter()
            .map(|weight| {
                let even = if *weight > 0 { even } else { 0 };
                end += even + (rest * u128::from(*weight) / u128::from(total)) as u64;
                end
            })
            .collect();
        // What was lost in rounding is the last one's.
        if let Some(last) = self.ends.last_mut() {
            *last = 1 << 32;
        }
    }

    fn entry(&self, execution: u64) -> Entry {
        let seed = mix(mix(self.campaign_seed, 0x5eed), execution);
        let picker = match self.spec_of(execution) {
            DIRECTED => self.directed_at(execution),
            PickerSpec::Rff { .. } => {
                let wanted = self.fuzzer.tried(execution).unwrap_or_default();
                PickerSpec::Rff { wanted }
            }
            picker => picker,
        };
        entry(picker, seed)
    }

    /// What an execution is to try; without anything to try, it is like one of partial order sampling.
    fn directed_at(&self, execution: u64) -> PickerSpec {
        let n = self.directed.partition_point(|it| it.0 < execution);
        let hypothesis = match self.directed.get(n) {
            Some((_, it)) => *it,
            // Of a round with more than are kept: one of those.
            None if !self.directed.is_empty() => {
                self.directed
                    [(mix(self.campaign_seed, execution) % self.directed.len() as u64) as usize]
                    .1
            }
            None => None,
        };
        match hypothesis {
            Some(Hypothesis { family, orders }) => PickerSpec::Directed { family, orders },
            None => PickerSpec::Pos,
        }
    }

    fn spec_of(&self, execution: u64) -> PickerSpec {
        let of_arm = || self.arm_of(execution).map(|it| self.arms[it].picker);
        self.opening(execution).or_else(of_arm).expect("bug: an execution of nobody's")
    }

    /// What the first executions do, as far as they are nobody's: one in two, after the first two, if there is anything to
    /// try.
    fn opening(&self, execution: u64) -> Option<PickerSpec> {
        Some(match execution {
            0 => PickerSpec::Nonpreemptive,
            1 => PickerSpec::Walk,
            2..OPENING_END if execution % 2 == 1 && !self.directions.is_empty() => DIRECTED,
            _ => return None,
        })
    }

    /// Whose execution it is; nobody's in the opening. Multiples of the golden ratio come by everybody's
    /// share as regularly as can be, so that a small share is not a matter of luck.
    fn arm_of(&self, execution: u64) -> Option<usize> {
        if self.opening(execution).is_some() {
            return None;
        }
        let offset = mix(self.campaign_seed, 0xa4) >> 32;
        let point = execution.wrapping_mul(0x9e37_79b9).wrapping_add(offset) & 0xffff_ffff;
        Some(self.ends.partition_point(|end| *end <= point))
    }
}

/// Does it try abstract schedules?
const fn is_rff(picker: PickerSpec) -> bool {
    matches!(picker, PickerSpec::Rff { .. })
}

/// What the arms' weights are at first, of [`WHOLE`].
fn priors(arms: &[Arm]) -> impl Iterator<Item = u64> {
    let total = arms.iter().map(|it| u64::from(it.weight)).sum::<u64>().max(1);
    arms.iter().map(move |it| u64::from(it.weight) * WHOLE / total)
}

impl Standing {
    /// Reward for each step.
    fn rate(&self) -> u64 {
        self.reward.checked_div(self.cost).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use raddle_model::{Family, Hypothesis, PickerSpec, PlaceOrder, Rng, Tried};

    use super::{Arm, News, OPENING_END, Portfolio, SCALE, WHOLE};
    use crate::directions::Directions;
    use crate::{rounds::round, seeds::picker};

    fn portfolio() -> Portfolio {
        Portfolio::new(7, Arm::standard(10_000), Directions::default())
    }

    /// Runs all executions up to `end`, each bringing what `news` says of its picker. Who ran, in order.
    fn run(
        portfolio: &mut Portfolio,
        end: u64,
        news: impl Fn(PickerSpec) -> News,
    ) -> Vec<PickerSpec> {
        let mut pickers = Vec::new();
        while (pickers.len() as u64) < end {
            let round = round(pickers.len() as u64);
            let entries = portfolio.block(round.start, (round.end - round.start) as u32);
            for (execution, entry) in round.zip(&entries) {
                portfolio.learn(execution, &news(picker(entry)));
                pickers.push(picker(entry));
            }
        }
        pickers
    }

    fn nothing(_: PickerSpec) -> News {
        News { n_steps: 100, ..News::default() }
    }

    #[test]
    fn begins_with_the_baseline_and_a_walk() {
        let pickers = run(&mut portfolio(), OPENING_END, nothing);
        assert_eq!(pickers[..2], [PickerSpec::Nonpreemptive, PickerSpec::Walk]);
        assert!((2..1_000).all(|it| portfolio().opening(it).is_none()));
        // There is nothing to try.
        assert!(!pickers.iter().any(|it| matches!(it, PickerSpec::Directed { .. })));
    }

    fn hypothesis(family: Family, second: u32) -> Hypothesis {
        Hypothesis { family, orders: [PlaceOrder { first: 0, second }, PlaceOrder::NONE] }
    }

    /// What is known after the baseline is tried from then on, each in its turn, and whatever the blocks.
    #[test]
    fn hypotheses_are_tried_in_turn() {
        let all: Vec<Hypothesis> = (1..=40).map(|it| hypothesis(Family::Late, it)).collect();
        let tries = |block: u64| {
            let mut portfolio = portfolio();
            let mut tries = Vec::new();
            let mut next = 0;
            while next < 2_048 {
                let end = round(next).end.min(next.saturating_add(block));
                for entry in portfolio.block(next, (end - next) as u32) {
                    if let PickerSpec::Directed { orders: [order, _], .. } = picker(&entry) {
                        tries.push(order.second);
                    }
                }
                for execution in next..end {
                    portfolio.learn(execution, &nothing(PickerSpec::Walk));
                }
                if next == 0 {
                    portfolio.take_in(0, Vec::new(), all.clone());
                }
                next = end;
            }
            let tried = Tried { family: Family::Late, known: 40, tried: 40, refuted: 0 };
            assert_eq!(portfolio.tried(), [tried]);
            tries
        };
        let turns = tries(u64::MAX);
        assert_eq!(turns, tries(3));
        assert_eq!(turns[..80], [(1..=40).collect::<Vec<u32>>(), (1..=40).collect()].concat());
        // 15 of the opening, and a quarter of the rest: 4.5 % evenly and 700 / 1,720 of the other half. Half of those 500 are
        // free, since by then everything has been tried several times.
        assert!((240..=265).contains(&turns.len()), "{}", turns.len());
    }

    /// Without hypotheses, ten arms have 5,000 evenly, and weights of 1,020 in all share the rest. SURW: 500 +
    /// 240 / 1,020 × 5,000 = 1,676; RFF: 500 + 60 / 1,020 × 5,000 = 794.
    #[test]
    fn without_yield_the_weights_say() {
        let mut portfolio = portfolio();
        run(&mut portfolio, 1_024, nothing);
        let shares = portfolio.shares();
        assert!(shares[1].abs_diff(1_676) <= 1, "{shares:?}");
        assert!(shares[10].abs_diff(794) <= 1, "{shares:?}");
        assert!(shares.iter().sum::<u64>().abs_diff(10_000) <= shares.len() as u64);
    }

    /// Only the walk finds something: its part of the other half goes to where w = 63/64 × 1.5 w / (1 + 0.5 w) + π / 64,
    /// with π = 90 / 1,720: 0.953 of all weights. Nobody has less than the even share.
    #[test]
    fn yield_shifts_shares_and_nobody_is_left_out() {
        let mut portfolio = portfolio();
        let pickers = run(&mut portfolio, 4_096, |picker| News {
            n_pairs: u32::from(picker == PickerSpec::Walk),
            ..nothing(picker)
        });
        let shares = portfolio.shares();
        // The idle arm's weight, 0.019, counts for the others: 0.954 / 0.981 × 5,000 + 500.
        assert!(shares[5].abs_diff(5_362) <= 30, "{shares:?}");
        assert!(shares[0] == 0 && shares[1..].iter().all(|it| *it >= 499), "{shares:?}");
        // The golden ratio's points are spread as evenly as can be: in the last quarter of 1,024, nobody's
        // count is off by more than a handful.
        for (arm, share) in portfolio.arms().iter().zip(shares) {
            let last = pickers[4_096 - 512..].iter();
            let count = last.filter(|it| **it == arm.picker).count() as u64;
            assert!(count.abs_diff(share * 512 / 10_000) <= 5, "{}: {count} of {share}", arm.name);
        }
    }

    /// The bound on top of this file, for gains that change at random, and for ones that favour one arm after the other.
    #[test]
    fn gains_are_bounded_from_below() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let mut portfolio = portfolio();
            let (mut all, mut each) = (0.0, vec![0.0; portfolio.arms.len()]);
            let n_rounds = 200;
            for round in 0..n_rounds {
                let best = (round / 40 + seed as usize) % portfolio.arms.len();
                for (idx, standing) in portfolio.standings.iter_mut().enumerate() {
                    let reward = if idx == best { 90 } else { u64::from(rng.below(60)) };
                    (standing.reward, standing.cost) = (reward * SCALE, 100);
                }
                let whole = WHOLE as f64;
                for (idx, gain) in portfolio.gains().into_iter().enumerate() {
                    let gain = gain as f64 / whole;
                    each[idx] += gain;
                    all += portfolio.standings[idx].weight as f64 / whole * gain;
                }
                portfolio.weigh();
            }
            let total: u32 = portfolio.arms.iter().map(|it| it.weight).sum();
            for (arm, gains) in portfolio.arms.iter().zip(each) {
                let prior = f64::from(arm.weight) / f64::from(total);
                let least = 0.81 * gains - 0.032 * n_rounds as f64 + 2.0 * prior.ln();
                assert!(all >= least, "{}: {all} {least}", arm.name);
            }
        }
    }

    /// Each arm's part of the even half comes at regular intervals, whatever the others yield.
    #[test]
    fn nobody_waits_for_long() {
        let mut portfolio = portfolio();
        let pickers = run(&mut portfolio, 8_192, |picker| News {
            n_pairs: u32::from(picker == PickerSpec::Surw),
            ..nothing(picker)
        });
        // Ten arms: 100 executions have 5 of each, in the mean.
        for (arm, window) in portfolio.arms().iter().flat_map(|arm| {
            pickers[OPENING_END as usize..].chunks_exact(100).map(move |it| (arm, it))
        }) {
            let count = window.iter().filter(|it| **it == arm.picker).count();
            let is_idle = arm.picker == super::DIRECTED;
            assert!(is_idle || count >= 3, "{}: {count}", arm.name);
        }
    }

    /// What was once good and brings nothing any more goes back to its weight's share.
    #[test]
    fn the_past_fades() {
        let mut portfolio = portfolio();
        let start = 1_024;
        run(&mut portfolio, start, |picker| News {
            is_new_trace: picker == PickerSpec::Pos,
            ..nothing(picker)
        });
        let before = portfolio.shares()[3];
        let mut next = start;
        while next < 65_536 {
            let round = round(next);
            portfolio.block(round.start, 1);
            for execution in round.clone() {
                let is_new_trace = portfolio.arm_of(execution) == Some(5);
                portfolio.learn(execution, &News { is_new_trace, n_steps: 100, ..News::default() });
            }
            next = round.end;
        }
        assert!(portfolio.shares()[3] < before / 2, "{before} {:?}", portfolio.shares());
    }

    #[test]
    fn blocks_and_seeds() {
        let (mut whole, mut parts) = (portfolio(), portfolio());
        run(&mut whole, 32, nothing);
        run(&mut parts, 32, nothing);
        let round = round(33);
        let all = whole.block(round.start, (round.end - round.start) as u32);
        let mut pieces = parts.block(33, 2);
        pieces.extend(parts.block(35, (round.end - 35) as u32));
        assert_eq!(all, pieces);
        let seeds: BTreeSet<u64> = all.iter().map(|it| it.seed).collect();
        assert_eq!(seeds.len(), all.len());
    }

    #[test]
    fn arms_have_names_of_their_own() {
        let arms = Arm::standard(10_000);
        let names: BTreeSet<&str> = arms.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), arms.len());
        assert_eq!(arms.iter().map(|it| it.weight).sum::<u32>(), 1_720);
    }
}
