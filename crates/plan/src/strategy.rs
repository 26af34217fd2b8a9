//! Strategies as the user writes them: `pct:d=3`, `stride:two,c=0.99`, `surw`.
//!
//! A name, then parameters after a colon, separated by commas: `key=value`, or a bare word.

mod params;

use std::fmt;

use raddle_model::{Amount, Counting, Depth, Family, Giving, PickerSpec, Smax};

use self::params::Params;
pub use self::params::StrategyError;
use crate::{
    ratio::{Goal, Sum, stride_ratio},
    search::{SearchSpec, SpecError},
};

/// How to find bugs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One picker for all executions.
    Picker(Recipe),
    /// Several that share the executions.
    Portfolio,
    /// Hypotheses about what would break the program, all or those of one family.
    Directed(Option<Family>),
    /// Reads-from fuzzing.
    Rff,
    /// A systematic search.
    Search(SearchSpec),
}

/// A picker, as far as it is known before it is known how many executions there will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// The picker itself.
    Picker(PickerSpec),
    /// Strides long enough to cover so many of the least likely edges in one execution.
    Stride(Edges),
    /// PCT as deep as its guarantee goes.
    Pct {
        /// How sure it is to be, in ten-thousandths.
        confidence: u32,
    },
    /// RPRO as deep as its guarantee goes.
    Rpro {
        /// How sure it is to be, in ten-thousandths.
        confidence: u32,
        /// How far from the first change point the others are.
        radius: Amount,
    },
}

/// How long strides are to be, by the edges that they are to cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    /// How many.
    pub n_edges: u32,
    /// How sure it is to be, in ten-thousandths.
    pub confidence: u32,
    /// What makes a thread's length.
    pub counting: Counting,
    /// How likely an edge is.
    pub sum: Sum,
    /// Are lengths measured once, in the first executions?
    pub is_measured: bool,
}

impl Default for Edges {
    fn default() -> Edges {
        Edges {
            n_edges: 2,
            confidence: CONFIDENCE,
            counting: Counting::All,
            sum: Sum::Ours,
            is_measured: false,
        }
    }
}

/// A strategy: its name, how it is written, what it is, and how its parameters are read. This is the only list of
/// strategies; messages and help are made of it.
#[derive(Clone, Copy)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, with their ranges; empty if it has none.
    pub params: &'static str,
    /// What it is.
    pub what: &'static str,
    read: fn(&mut Params<'_>) -> Result<Strategy, StrategyError>,
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All strategies.
pub const FORMS: &[Form] = &[
    Form {
        name: "portfolio",
        params: "",
        what: "several random strategies share the executions; those that cover more get more of them",
        read: |_| Ok(Strategy::Portfolio),
    },
    Form {
        name: "directed",
        params: "cycle | late | torn | across | order | twice | object",
        what: "orders of code locations that no execution has shown, likeliest to matter first",
        read: directed,
    },
    Form {
        name: "rff",
        params: "",
        what: "reads-from fuzzing: which read takes its value from which write, mutated where that showed something new",
        read: |_| Ok(Strategy::Rff),
    },
    Form {
        name: "walk",
        params: "",
        what: "every enabled thread is equally likely",
        read: |_| picker(PickerSpec::Walk),
    },
    Form {
        name: "nonpreemptive",
        params: "",
        what: "the running thread continues until it blocks or finishes",
        read: |_| picker(PickerSpec::Nonpreemptive),
    },
    Form {
        name: "rstest",
        params: "p=0.01..0.95, sleep=0..1, base=creation|ready, loop=yes|no",
        what: "round robin in which each thread yields repeatedly, with probability p",
        read: |params| {
            let per_mille = params.per_mille("p", 10..=950)?.unwrap_or(200);
            let sleeps = params.per_mille("sleep", 0..=1_000)?.unwrap_or(Giving::DEFAULT.sleeps);
            let has_ready_list = params.one_of("base", &["creation", "ready"])? == Some(1);
            let is_once = params.one_of("loop", &["yes", "no"])? == Some(1);
            let giving = Giving { sleeps, has_ready_list, is_once };
            picker(PickerSpec::Rstest { per_mille, giving })
        },
    },
    Form {
        name: "stride",
        params: "one | two | ratio=0.1..16 | smax=1..20000, c=0.5..0.9999, sum=ours|paper, count=all|contended, \
                 profile=recent|max",
        what: "each thread runs for a random number of steps, long enough for one or two of the least likely edges",
        read: stride,
    },
    Form {
        name: "pct",
        params: "d=1..64|drawn|paper, c=0.5..0.9999",
        what: "random thread priorities that change at d-1 random steps",
        read: pct,
    },
    Form {
        name: "rpro",
        params: "d=1..64|drawn|paper, r=1..100000|drawn, c=0.5..0.9999",
        what: "like pct, with all priority changes within r steps",
        read: rpro,
    },
    Form {
        name: "pos",
        params: "",
        what: "a random priority for each operation, redrawn when operations conflict",
        read: |_| picker(PickerSpec::Pos),
    },
    Form {
        name: "surw",
        params: "",
        what: "uniform over the orders of the accesses to one shared object, drawn for each execution",
        read: |_| picker(PickerSpec::Surw),
    },
    Form {
        name: "urw",
        params: "",
        what: "uniform over the interleavings of all events",
        read: |_| picker(PickerSpec::Urw),
    },
    Form {
        name: "delay",
        params: "n=1..64|drawn",
        what: "round robin with n delays at random steps",
        read: |params| {
            let n_delays = params.amount("n", 1..=POINTS_MAX)?.unwrap_or(Amount::Drawn);
            picker(PickerSpec::Delay(n_delays))
        },
    },
    Form {
        name: "sticky",
        params: "p=0..0.999",
        what: "the running thread continues with probability p",
        read: |params| {
            let per_mille = params.per_mille("p", 0..=999)?.unwrap_or(900);
            picker(PickerSpec::Sticky { per_mille })
        },
    },
    Form {
        name: "order",
        params: "oldest | newest",
        what: "by age: the oldest enabled thread runs, or the newest",
        read: order,
    },
    Form {
        name: "sites",
        params: "",
        what: "random priorities of code locations, the same for all threads",
        read: |_| picker(PickerSpec::Sites),
    },
    Form { name: "dfs", params: "", what: "systematic: every schedule, depth first", read: search },
    Form {
        name: "ipb",
        params: "N",
        what: "systematic: schedules with 0, 1, 2, … preemptions, up to N",
        read: search,
    },
    Form {
        name: "idb",
        params: "N",
        what: "systematic: schedules with 0, 1, 2, … delays of round robin, up to N",
        read: search,
    },
    Form {
        name: "pcb",
        params: "N",
        what: "systematic, as published: backtrack sets of the threads that can run within N preemptions",
        read: search,
    },
    Form {
        name: "dpor",
        params: "optimal | classic | plain | preemptions=0..",
        what: "systematic: partial order reduction; skips schedules that differ only in the order of independent steps",
        read: search,
    },
    Form {
        name: "hapset",
        params: "order | ipb | ipb=0.. | paper | pcb=0..",
        what: "systematic: only orders of two code locations that are not covered yet; with `order`, these first",
        read: search,
    },
    Form {
        name: "rank",
        params: "paper | C.V.T.L+C.V.T.L+… (C=0.., V=0..|all, T=2..4, L=1..)",
        what: "systematic: ranked by preemptions C, variables V (or all), threads T in every order, loop iterations L",
        read: search,
    },
    Form {
        name: "total",
        params: "steps=1.. | reachability | tpair | groups | guidelines",
        what: "systematic: total replay; one schedule per outcome of branches, references and locks",
        read: search,
    },
];

/// How sure a guarantee is to be, in ten-thousandths, if nothing is said: seed paper 4's figures.
const CONFIDENCE: u32 = 9_500;
/// Deepest changes, most delays.
const POINTS_MAX: u32 = 64;
const SMAX_MAX: u32 = 20_000;
/// Per mille: beyond, the sum loses its digits.
const RATIO_MAX: u32 = 16_000;
const RADIUS_MAX: u32 = 100_000;

impl Strategy {
    /// Reads several, separated by commas. Where parameters have commas themselves, what follows one and is
    /// no strategy's name belongs to the strategy before it.
    pub fn parse_list(text: &str) -> Result<Vec<Strategy>, StrategyError> {
        let mut texts: Vec<String> = Vec::new();
        for part in text.split(',') {
            let name = part.split(':').next().unwrap_or_default().trim();
            let is_name = FORMS.iter().any(|it| it.name == name);
            match texts.last_mut() {
                Some(before) if !is_name && before.contains(':') => {
                    before.push(',');
                    before.push_str(part);
                }
                _ => texts.push(part.to_owned()),
            }
        }
        texts.iter().map(|it| Strategy::parse(it)).collect()
    }

    /// Reads a strategy. The error says what may be written instead.
    pub fn parse(text: &str) -> Result<Strategy, StrategyError> {
        let mut params = Params::of(text)?;
        let strategy = (params.form().read)(&mut params)?;
        params.finish()?;
        Ok(strategy)
    }
}

fn picker(picker: PickerSpec) -> Result<Strategy, StrategyError> {
    Ok(Strategy::Picker(Recipe::Picker(picker)))
}

/// Searches read their parameters themselves.
fn search(params: &mut Params<'_>) -> Result<Strategy, StrategyError> {
    let spec = SearchSpec::parse(params.take_all()).map_err(|error| match error {
        SpecError::Unknown(_) => params.invalid(),
        error => params.wrong(&error.to_string()),
    })?;
    Ok(Strategy::Search(spec))
}

fn stride(params: &mut Params<'_>) -> Result<Strategy, StrategyError> {
    let (one, two) = (params.word("one"), params.word("two"));
    let smax = params.number("smax", 1..=SMAX_MAX)?;
    let ratio = params.decimal("ratio", 1_000, 100..=RATIO_MAX)?;
    let confidence = params.confidence()?;
    let counting = params.one_of("count", &["all", "contended"])?;
    let sum = params.one_of("sum", &["ours", "paper"])?;
    let profile = params.one_of("profile", &["recent", "max"])?;
    let given = [one, two, smax.is_some(), ratio.is_some()];
    if given.into_iter().filter(|it| *it).count() > 1 {
        return Err(params.wrong("`one`, `two`, `ratio` and `smax` are mutually exclusive"));
    }
    let of_edges = confidence.is_some() || sum.is_some();
    let edges = Edges {
        n_edges: if one { 1 } else { 2 },
        confidence: confidence.unwrap_or(CONFIDENCE),
        counting: if counting == Some(1) { Counting::Contended } else { Counting::All },
        sum: if sum == Some(1) { Sum::Paper } else { Sum::Ours },
        is_measured: profile == Some(1),
    };
    match (smax, ratio) {
        (Some(_), _) if of_edges || counting.is_some() || profile.is_some() => {
            let what = "`smax` cannot be combined with `c`, `sum`, `count` or `profile`";
            Err(params.wrong(what))
        }
        (Some(smax), _) => picker(PickerSpec::Stride(Smax::Fixed(smax))),
        (None, Some(_)) if of_edges => {
            Err(params.wrong("`ratio` cannot be combined with `c` or `sum`"))
        }
        (None, Some(ratio)) => picker(edges.with_ratio(ratio)),
        (None, None) => Ok(Strategy::Picker(Recipe::Stride(edges))),
    }
}

/// A depth, or `None` for the deepest that is guaranteed with the confidence.
fn depth(params: &mut Params<'_>, default: Depth) -> Result<(Option<Depth>, u32), StrategyError> {
    let confidence = params.confidence()?;
    if params.is("d", "paper") {
        return Ok((None, confidence.unwrap_or(CONFIDENCE)));
    }
    if confidence.is_some() {
        return Err(params.wrong("`c` requires `d=paper`"));
    }
    let depth = match params.amount("d", 1..=POINTS_MAX)? {
        None => default,
        Some(Amount::Drawn) => Depth::Drawn,
        Some(Amount::Fixed(depth)) => Depth::Fixed(depth),
    };
    Ok((Some(depth), CONFIDENCE))
}

fn pct(params: &mut Params<'_>) -> Result<Strategy, StrategyError> {
    Ok(Strategy::Picker(match depth(params, Depth::Drawn)? {
        (Some(depth), _) => Recipe::Picker(PickerSpec::Pct(depth)),
        (None, confidence) => Recipe::Pct { confidence },
    }))
}

fn rpro(params: &mut Params<'_>) -> Result<Strategy, StrategyError> {
    let radius = params.amount("r", 1..=RADIUS_MAX)?.unwrap_or(Amount::Fixed(50));
    Ok(Strategy::Picker(match depth(params, Depth::Fixed(3))? {
        (Some(depth), _) => Recipe::Picker(PickerSpec::Rpro { depth, radius }),
        (None, confidence) => Recipe::Rpro { confidence, radius },
    }))
}

fn directed(params: &mut Params<'_>) -> Result<Strategy, StrategyError> {
    let mut given = Family::ALL.into_iter().filter(|it| params.word(it.name()));
    let only = given.next();
    if given.next().is_some() {
        return Err(params.wrong("the families are mutually exclusive; without one, all are tried"));
    }
    Ok(Strategy::Directed(only))
}

fn order(params: &mut Params<'_>) -> Result<Strategy, StrategyError> {
    let (oldest, newest_first) = (params.word("oldest"), params.word("newest"));
    if oldest && newest_first {
        return Err(params.wrong("`oldest` and `newest` are mutually exclusive"));
    }
    picker(PickerSpec::Order { newest_first })
}

impl Edges {
    /// The picker with this ratio of lengths to longest strides, per mille.
    fn with_ratio(self, per_mille: u32) -> PickerSpec {
        let counting = self.counting;
        PickerSpec::Stride(match self.is_measured {
            true => Smax::Measured { per_mille, counting },
            false => Smax::Ratio { per_mille, counting },
        })
    }
}

impl Recipe {
    /// The picker, for a campaign of so many executions.
    pub fn picker(self, n_executions: u64) -> PickerSpec {
        match self {
            Recipe::Picker(picker) => picker,
            Recipe::Stride(edges) => {
                let goal = Goal { confidence: edges.confidence, n_executions };
                edges.with_ratio(stride_ratio(goal, edges.n_edges, edges.sum))
            }
            Recipe::Pct { confidence } => {
                let one_in = Goal { confidence, n_executions }.one_in();
                PickerSpec::Pct(Depth::Guaranteed(one_in))
            }
            Recipe::Rpro { confidence, radius } => {
                let one_in = Goal { confidence, n_executions }.one_in();
                PickerSpec::Rpro { depth: Depth::Guaranteed(one_in), radius }
            }
        }
    }
}

/// As the user would write it: reads back as the same.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategy::Picker(recipe) => write!(f, "{recipe}"),
            Strategy::Portfolio => f.write_str("portfolio"),
            Strategy::Rff => f.write_str("rff"),
            Strategy::Directed(None) => f.write_str("directed"),
            Strategy::Directed(Some(family)) => write!(f, "directed:{family}"),
            Strategy::Search(spec) => write!(f, "{spec}"),
        }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Recipe::Picker(picker) => write!(f, "{picker}"),
            Recipe::Stride(Edges { n_edges, confidence, counting, sum, is_measured }) => {
                f.write_str(if n_edges == 1 { "stride:one" } else { "stride:two" })?;
                write_confidence(confidence, f)?;
                f.write_str(if sum == Sum::Ours { "" } else { ",sum=paper" })?;
                f.write_str(if counting == Counting::All { "" } else { ",count=contended" })?;
                f.write_str(if is_measured { ",profile=max" } else { "" })
            }
            Recipe::Pct { confidence } => {
                f.write_str("pct:d=paper")?;
                write_confidence(confidence, f)
            }
            Recipe::Rpro { confidence, radius } => {
                write!(f, "rpro:d=paper,r={radius}")?;
                write_confidence(confidence, f)
            }
        }
    }
}

fn write_confidence(confidence: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if confidence == CONFIDENCE {
        return Ok(());
    }
    write!(f, ",c={}", f64::from(confidence) / 1e4)
}
