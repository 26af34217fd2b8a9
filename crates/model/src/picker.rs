//! Who chooses the next thread: which picker, with which parameters.
//!
//! Integers only, so that a plan is the same on every machine and can be compared: probabilities are per
//! mille. `raddle-pick` has the pickers themselves.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{AbstractSchedule, Family, PlaceOrder, ThreadId, mix};

/// Who chooses the next thread.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickerSpec {
    /// The running thread goes on until it can't.
    Nonpreemptive,
    /// Uniform random walk.
    Walk,
    /// The scheduling loop of seed paper 1.
    Rstest {
        /// How likely another round of the loop is, per mille.
        per_mille: u32,
        /// How a thread gives way, and to whom.
        #[cfg_attr(feature = "serde", serde(default))]
        giving: Giving,
    },
    /// Randomized stride.
    Stride(Smax),
    /// Probabilistic concurrency testing.
    Pct(Depth),
    /// As PCT, with its change points close together.
    Rpro {
        /// The number of ordering constraints.
        depth: Depth,
        /// How far from the first change point the others are.
        radius: Amount,
    },
    /// Partial order sampling.
    Pos,
    /// Selectively uniform random walk.
    Surw,
    /// Uniform random walk over whole interleavings.
    Urw,
    /// Round robin, with delays at random steps.
    Delay(Amount),
    /// The running thread goes on with a given probability; else all are equally likely.
    Sticky {
        /// How likely it goes on, per mille.
        per_mille: u32,
    },
    /// Threads by age.
    Order {
        /// The newest first, not the oldest.
        newest_first: bool,
    },
    /// Random priorities of sites.
    Sites,
    /// As the first, but who sleeps is passed over: for planners that reduce by partial orders.
    Awake {
        /// Who, as a bit set of threads.
        asleep: u64,
        /// From which step on: where the prefix ends.
        from: u32,
    },
    /// As the first, with switches at given places: the plan's prefix is a script of
    /// [`Deviation`](crate::Deviation)s.
    Switches,
    /// At random, within given orders: the plan's prefix is a script of [`Before`](crate::Before)s.
    Constrained,
    /// Within given orders too, but as the first: who runs goes on for as long as that keeps them.
    #[cfg_attr(feature = "serde", serde(alias = "calm"))]
    LeastSwitching,
    /// At random, but so that places come in orders that no execution has shown.
    Directed {
        /// Why these.
        family: Family,
        /// Which; those that ask for nothing come last.
        orders: [PlaceOrder; 2],
    },
    /// Partial order sampling that tries to keep an abstract schedule: the plan's prefix is the table of what its
    /// constraints are about, [`crate::ReadsFrom`]s. Without constraints the prefix is one of choices, as for most.
    Rff {
        /// What is wanted and what is to be avoided.
        wanted: AbstractSchedule,
    },
    /// As the first, but where the running thread can't go on, the next is chosen by rank: for the planner that
    /// ranks schedules.
    Ranked {
        /// The order of threads.
        ranking: Ranking,
        /// The last of all, whatever its rank.
        last_of_all: Option<ThreadId>,
        /// Does the first by rank run at every point, instead of whoever runs until it can't?
        #[cfg_attr(feature = "serde", serde(default))]
        is_strict: bool,
    },
}

/// An order of threads, as many as there may be.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranking {
    /// What ranks are hashed with; two values stand for the order of creation and its reverse.
    pub seed: u64,
    /// If there are groups: how far the next row of threads is shifted; as much as there are groups: rows
    /// are groups.
    pub slope: u8,
    /// Groups that threads are put into and that are ordered; 0: each thread is one.
    pub modulus: u8,
}

impl Ranking {
    /// In the order of creation.
    pub const OLDEST: Ranking = Ranking { seed: 0, slope: 0, modulus: 0 };
    /// The reverse.
    pub const NEWEST: Ranking = Ranking { seed: u64::MAX, slope: 0, modulus: 0 };

    /// By hashes.
    pub const fn hashed(seed: u64) -> Ranking {
        Ranking { seed: if seed == u64::MAX { 1 } else { seed | 1 }, slope: 0, modulus: 0 }
    }

    /// Where a thread stands: the smallest is first.
    pub const fn key(self, thread: ThreadId) -> (u64, u32) {
        let (number, modulus) = (thread.0, self.modulus as u32);
        let group = match modulus {
            0 => number,
            _ if self.slope == self.modulus => number / modulus % modulus,
            _ => (self.slope as u32 * (number / modulus) + number % modulus) % modulus,
        } as u64;
        let rank = match self.seed {
            0 => group,
            u64::MAX => !group,
            seed => mix(seed, group),
        };
        (rank, number)
    }
}

/// The longest stride.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smax {
    /// The same for every thread.
    Fixed(u32),
    /// In proportion to the thread's length, as far as that is known.
    Ratio {
        /// Length over longest stride, per mille.
        per_mille: u32,
        /// Which length.
        counting: Counting,
    },
    /// The same, by the longest that a thread was in the first executions, which have strides of one: seed paper 4's way
    /// to find out.
    Measured {
        /// Length over longest stride, per mille.
        per_mille: u32,
        /// Which length.
        counting: Counting,
    },
}

/// Which of a thread's events make its length.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// All since there has been a second thread (see `raddle_plan::Lengths`).
    #[default]
    All,
    /// Those that happened while another thread could go on: what seed paper 4 counts.
    Contended,
}

/// How many ordering constraints a bug is taken to have: its depth.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// So many.
    Fixed(u32),
    /// Drawn for each execution.
    Drawn,
    /// The deepest whose guarantee is at least one in so many executions: seed paper 4's rule.
    Guaranteed(u64),
}

/// A number, or one that is drawn for each execution.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many.
    Fixed(u32),
    /// Drawn for each execution.
    Drawn,
}

/// How the scheduling loop of seed paper 1 gives way.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Giving {
    /// How likely it sleeps, per mille; else it yields.
    pub sleeps: u32,
    /// Is the scheduler below it a list of those who are ready, new threads at its head, as in the paper's example? Else a
    /// round robin in the order of creation.
    pub has_ready_list: bool,
    /// At most once before each operation: what the paper shows to be too little.
    pub is_once: bool,
}

impl Giving {
    /// Sleeps half of the time.
    pub const DEFAULT: Giving = Giving { sleeps: 500, has_ready_list: false, is_once: false };

    const fn to_number(self) -> u64 {
        self.sleeps as u64 | (self.has_ready_list as u64) << 32 | (self.is_once as u64) << 33
    }

    const fn from_number(number: u64) -> Giving {
        let (has_ready_list, is_once) = (number >> 32 & 1 == 1, number >> 33 & 1 == 1);
        Giving { sleeps: number as u32, has_ready_list, is_once }
    }
}

impl Default for Giving {
    fn default() -> Giving {
        Giving::DEFAULT
    }
}

impl PickerSpec {
    /// Is the plan's prefix a table of what constraints are about?
    pub const fn has_table(self) -> bool {
        matches!(self, PickerSpec::Rff { wanted } if !wanted.is_empty())
    }

    /// The picker of a plan that repeats an execution: its choices are followed first, and nothing is constrained.
    pub const fn after_choices(self) -> PickerSpec {
        match self {
            PickerSpec::Rff { .. } => PickerSpec::Rff { wanted: AbstractSchedule::NONE },
            picker => picker,
        }
    }

    /// A number for the picker, and its parameters, for the shared segment.
    pub const fn to_numbers(self) -> (u32, [u64; 2]) {
        match self {
            PickerSpec::Nonpreemptive => (0, [0, 0]),
            PickerSpec::Walk => (1, [0, 0]),
            PickerSpec::Rstest { per_mille, giving } => (2, [per_mille as u64, giving.to_number()]),
            PickerSpec::Stride(Smax::Fixed(smax)) => (3, [smax as u64, 0]),
            PickerSpec::Stride(Smax::Ratio { per_mille, counting }) => {
                (4, [per_mille as u64, counting as u64])
            }
            PickerSpec::Stride(Smax::Measured { per_mille, counting }) => {
                (23, [per_mille as u64, counting as u64])
            }
            PickerSpec::Pct(depth) => (5, [depth.to_number(), 0]),
            PickerSpec::Rpro { depth, radius } => (6, [depth.to_number(), radius.to_number()]),
            PickerSpec::Pos => (7, [0, 0]),
            PickerSpec::Surw => (8, [0, 0]),
            PickerSpec::Urw => (9, [0, 0]),
            PickerSpec::Delay(n_delays) => (10, [n_delays.to_number(), 0]),
            PickerSpec::Sticky { per_mille } => (11, [per_mille as u64, 0]),
            PickerSpec::Order { newest_first } => (12, [newest_first as u64, 0]),
            PickerSpec::Sites => (13, [0, 0]),
            PickerSpec::Awake { asleep, from } => (14, [asleep, from as u64]),
            PickerSpec::Switches => (20, [0, 0]),
            PickerSpec::Constrained => (21, [0, 0]),
            PickerSpec::LeastSwitching => (22, [0, 0]),
            PickerSpec::Rff { wanted } => (16, wanted.to_numbers()),
            PickerSpec::Directed { family, orders: [first, second] } => {
                (DIRECTED + family as u32, [first.to_number(), second.to_number()])
            }
            PickerSpec::Ranked {
                ranking: Ranking { seed, slope, modulus },
                last_of_all,
                is_strict,
            } => {
                let strict = (is_strict as u64) << 63;
                let last = match last_of_all {
                    Some(thread) => thread.0 as u64 + 1,
                    None => 0,
                };
                (15, [seed, strict | last << 16 | (slope as u64) << 8 | modulus as u64])
            }
        }
    }

    /// The reverse of [`PickerSpec::to_numbers`]; `None` for numbers that no picker has.
    pub const fn from_numbers(number: u32, [first, second]: [u64; 2]) -> Option<PickerSpec> {
        let per_mille = first as u32;
        Some(match number {
            0 => PickerSpec::Nonpreemptive,
            1 => PickerSpec::Walk,
            2 => PickerSpec::Rstest { per_mille, giving: Giving::from_number(second) },
            3 => PickerSpec::Stride(Smax::Fixed(first as u32)),
            4 | 23 => {
                let counting = if second == 0 { Counting::All } else { Counting::Contended };
                PickerSpec::Stride(match number {
                    4 => Smax::Ratio { per_mille, counting },
                    _ => Smax::Measured { per_mille, counting },
                })
            }
            5 => PickerSpec::Pct(Depth::from_number(first)),
            6 => PickerSpec::Rpro {
                depth: Depth::from_number(first),
                radius: Amount::from_number(second),
            },
            7 => PickerSpec::Pos,
            8 => PickerSpec::Surw,
            9 => PickerSpec::Urw,
            10 => PickerSpec::Delay(Amount::from_number(first)),
            11 => PickerSpec::Sticky { per_mille },
            12 => PickerSpec::Order { newest_first: first != 0 },
            13 => PickerSpec::Sites,
            14 => PickerSpec::Awake { asleep: first, from: second as u32 },
            16 => PickerSpec::Rff { wanted: AbstractSchedule::from_numbers([first, second]) },
            20 => PickerSpec::Switches,
            21 => PickerSpec::Constrained,
            22 => PickerSpec::LeastSwitching,
            15 => PickerSpec::Ranked {
                ranking: Ranking { seed: first, slope: (second >> 8) as u8, modulus: second as u8 },
                last_of_all: match (second >> 16) as u32 {
                    0 => None,
                    number => Some(ThreadId(number - 1)),
                },
                is_strict: second >> 63 == 1,
            },
            _ => {
                let Some(family) = Family::from_number(number.wrapping_sub(DIRECTED)) else {
                    return None;
                };
                let orders = [PlaceOrder::from_number(first), PlaceOrder::from_number(second)];
                PickerSpec::Directed { family, orders }
            }
        })
    }
}

/// The number of the first family's directed picker.
const DIRECTED: u32 = 24;

impl Depth {
    /// Guarantees have the upper half of the numbers.
    const GUARANTEED: u64 = 1 << 63;

    const fn to_number(self) -> u64 {
        match self {
            Depth::Fixed(depth) => depth as u64,
            Depth::Drawn => u64::MAX >> 1,
            Depth::Guaranteed(one_in) => one_in | Depth::GUARANTEED,
        }
    }

    const fn from_number(number: u64) -> Depth {
        if number & Depth::GUARANTEED != 0 {
            return Depth::Guaranteed(number & !Depth::GUARANTEED);
        }
        if number == u64::MAX >> 1 { Depth::Drawn } else { Depth::Fixed(number as u32) }
    }
}

impl Amount {
    const fn to_number(self) -> u64 {
        match self {
            Amount::Fixed(number) => number as u64,
            Amount::Drawn => u64::MAX,
        }
    }

    const fn from_number(number: u64) -> Amount {
        if number == u64::MAX { Amount::Drawn } else { Amount::Fixed(number as u32) }
    }
}

/// As the user would write it.
impl fmt::Display for PickerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PickerSpec::Nonpreemptive => f.write_str("nonpreemptive"),
            PickerSpec::Walk => f.write_str("walk"),
            PickerSpec::Rstest { per_mille, giving } => {
                write!(f, "rstest:p={}", per_mille as f64 / 1e3)?;
                if giving.sleeps != Giving::DEFAULT.sleeps {
                    write!(f, ",sleep={}", giving.sleeps as f64 / 1e3)?;
                }
                f.write_str(if giving.has_ready_list { ",base=ready" } else { "" })?;
                f.write_str(if giving.is_once { ",loop=no" } else { "" })
            }
            PickerSpec::Stride(Smax::Fixed(smax)) => write!(f, "stride:smax={smax}"),
            PickerSpec::Stride(
                smax @ (Smax::Ratio { per_mille, counting }
                | Smax::Measured { per_mille, counting }),
            ) => {
                write!(f, "stride:ratio={}", per_mille as f64 / 1e3)?;
                f.write_str(if counting == Counting::All { "" } else { ",count=contended" })?;
                f.write_str(if matches!(smax, Smax::Measured { .. }) { ",profile=max" } else { "" })
            }
            PickerSpec::Pct(depth) => write!(f, "pct:d={depth}"),
            PickerSpec::Rpro { depth, radius } => write!(f, "rpro:d={depth},r={radius}"),
            PickerSpec::Pos => f.write_str("pos"),
            PickerSpec::Surw => f.write_str("surw"),
            PickerSpec::Urw => f.write_str("urw"),
            PickerSpec::Delay(n_delays) => write!(f, "delay:n={n_delays}"),
            PickerSpec::Sticky { per_mille } => write!(f, "sticky:p={}", per_mille as f64 / 1e3),
            PickerSpec::Order { newest_first: true } => f.write_str("order:newest"),
            PickerSpec::Order { newest_first: false } => f.write_str("order:oldest"),
            PickerSpec::Sites => f.write_str("sites"),
            PickerSpec::Awake { asleep, .. } => write!(f, "awake:{asleep:x}"),
            PickerSpec::Switches => f.write_str("switches"),
            PickerSpec::Constrained => f.write_str("constrained"),
            PickerSpec::LeastSwitching => f.write_str("least-switching"),
            PickerSpec::Rff { .. } => f.write_str("rff"),
            PickerSpec::Directed { family, .. } => write!(f, "directed:{family}"),
            PickerSpec::Ranked { ranking, .. } => write!(f, "ranked:{:x}", ranking.seed),
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Depth::Fixed(depth) => write!(f, "{depth}"),
            Depth::Drawn => f.write_str("drawn"),
            Depth::Guaranteed(one_in) => write!(f, "paper({one_in})"),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Fixed(number) => write!(f, "{number}"),
            Amount::Drawn => f.write_str("drawn"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        AbstractSchedule, Amount, Counting, Depth, Family, Giving, PickerSpec, PlaceOrder, Ranking,
        Smax, ThreadId,
    };
    use crate::Wish;

    #[test]
    fn numbers_come_back() {
        let ratio = |counting| PickerSpec::Stride(Smax::Ratio { per_mille: 2_900, counting });
        let pickers = [
            PickerSpec::Nonpreemptive,
            PickerSpec::Walk,
            PickerSpec::Rstest { per_mille: 200, giving: Giving::DEFAULT },
            PickerSpec::Rstest {
                per_mille: 500,
                giving: Giving { sleeps: 1_000, has_ready_list: true, is_once: true },
            },
            PickerSpec::Stride(Smax::Fixed(5)),
            ratio(Counting::All),
            ratio(Counting::Contended),
            PickerSpec::Stride(Smax::Measured { per_mille: 3_450, counting: Counting::Contended }),
            PickerSpec::Pct(Depth::Fixed(3)),
            PickerSpec::Pct(Depth::Drawn),
            PickerSpec::Pct(Depth::Guaranteed(3_338)),
            PickerSpec::Rpro { depth: Depth::Fixed(u32::MAX), radius: Amount::Fixed(50) },
            PickerSpec::Rpro { depth: Depth::Guaranteed(u64::MAX >> 1), radius: Amount::Drawn },
            PickerSpec::Pos,
            PickerSpec::Surw,
            PickerSpec::Urw,
            PickerSpec::Delay(Amount::Fixed(4)),
            PickerSpec::Delay(Amount::Drawn),
            PickerSpec::Sticky { per_mille: 900 },
            PickerSpec::Order { newest_first: false },
            PickerSpec::Order { newest_first: true },
            PickerSpec::Sites,
            PickerSpec::Awake { asleep: 5 << 60, from: 17 },
            PickerSpec::Switches,
            PickerSpec::Constrained,
            PickerSpec::LeastSwitching,
            PickerSpec::Directed {
                family: Family::Torn,
                orders: [
                    PlaceOrder { first: 7, second: u32::MAX },
                    PlaceOrder { first: 0, second: 9 },
                ],
            },
            PickerSpec::Rff { wanted: AbstractSchedule::new([Wish { idx: 7, is_wanted: false }]) },
            PickerSpec::Ranked { ranking: Ranking::NEWEST, last_of_all: None, is_strict: true },
            PickerSpec::Ranked {
                ranking: Ranking { slope: 11, modulus: 13, ..Ranking::hashed(77) },
                last_of_all: Some(ThreadId(0)),
                is_strict: false,
            },
        ];
        for picker in pickers {
            let (number, params) = picker.to_numbers();
            assert_eq!(PickerSpec::from_numbers(number, params), Some(picker));
        }
        assert_eq!(PickerSpec::from_numbers(99, [0, 0]), None);
    }
}
