//! Strategies as the user writes them: `pct:d=3`, `stride:two,c=0.99`, `surw`.
//!
//! A name, then parameters after a colon, separated by commas: `key=value`, or a bare word.

mod params;

use std::fmt;

use raddle_model::{Amount, Counting, Depth, PickerSpec, Smax};

use self::params::Params;
pub use self::params::StrategyError;
use crate::{
    ratio::{Goal, stride_ratio},
    search::SearchSpec,
};

/// How to find bugs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One picker for all executions.
    Picker(Recipe),
    /// Several that share the executions.
    Portfolio,
    /// A systematic search.
    Search(SearchSpec),
}

/// A picker, as far as it is known before it is known how many executions there will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// The picker itself.
    Picker(PickerSpec),
    /// Strides long enough to cover so many of the least likely edges in one execution.
    Stride {
        /// How many.
        n_edges: u32,
        /// How sure it is to be, in ten-thousandths.
        confidence: u32,
        /// What makes a thread's length.
        counting: Counting,
    },
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

/// A strategy's name, how it is written, and what it is: one line each, for messages and help.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, with their ranges; empty if it has none.
    pub params: &'static str,
    /// What it is.
    pub what: &'static str,
}

/// All strategies.
pub const FORMS: &[Form] = &[
    form("portfolio", "", "all of the good ones share the executions, by what they yield"),
    form("walk", "", "each thread that can go on is as likely as any other"),
    form("nonpreemptive", "", "the running thread goes on until it can't"),
    form(
        "rstest",
        "p=0.01..0.95",
        "round robin, each thread giving way again and again with probability p",
    ),
    form(
        "stride",
        "one | two | smax=1..20000, c=0.5..0.9999, count=all|contended",
        "a thread runs for a random stretch, long enough for one or two of the least likely edges",
    ),
    form("pct", "d=1..64|drawn|paper, c=0.5..0.9999", "priorities that change at d-1 random steps"),
    form(
        "rpro",
        "d=1..64|drawn|paper, r=1..100000|drawn, c=0.5..0.9999",
        "as pct, with all changes within r steps",
    ),
    form("pos", "", "a random priority for each operation, drawn anew where operations conflict"),
    form(
        "surw",
        "",
        "uniform over the orders of the accesses to one shared object, drawn each time",
    ),
    form("urw", "", "uniform over the interleavings of all events"),
    form("delay", "n=1..64|drawn", "round robin, with n delays at random steps"),
    form("sticky", "p=0..0.999", "the running thread goes on with probability p"),
    form(
        "order",
        "oldest | newest",
        "threads by age: the oldest that can go on does, or the newest",
    ),
    form("sites", "", "random priorities of places in the code, the same for all threads"),
    form("dfs", "", "systematic: every schedule, depth first"),
    form(
        "ipb",
        "LEVEL",
        "systematic: schedules with no preemption, with one, with two, up to LEVEL",
    ),
    form(
        "idb",
        "LEVEL",
        "systematic: schedules with no delay of round robin, one, two, up to LEVEL",
    ),
    form(
        "dpor",
        "optimal | classic | preemptions=0..",
        "systematic: one of all schedules that differ in the order of independent steps only",
    ),
    form(
        "hapset",
        "order | ipb | ipb=0..",
        "systematic: only orders of two places that were not covered; with order, these first",
    ),
    form(
        "rank",
        "C.V.T.L+C.V.T.L+…",
        "systematic: by preemptions C, variables V (or all), threads T in every order, loop rounds L",
    ),
    form(
        "total",
        "",
        "systematic: one of all schedules that decide branches, references and locks alike, for races",
    ),
];

/// Those that are searches.
const SEARCHES: &[&str] = &["dfs", "ipb", "idb", "dpor", "hapset", "rank", "total"];

const fn form(name: &'static str, params: &'static str, what: &'static str) -> Form {
    Form { name, params, what }
}

/// How sure a guarantee is to be, in ten-thousandths, if nothing is said: seed paper 4's figures.
const CONFIDENCE: u32 = 9_500;
/// Deepest changes, most delays.
const POINTS_MAX: u32 = 64;
const SMAX_MAX: u32 = 20_000;
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
        if SEARCHES.contains(&params.name()) {
            let spec =
                SearchSpec::parse(text.trim()).map_err(|it| params.wrong(&it.to_string()))?;
            return Ok(Strategy::Search(spec));
        }
        let recipe = match params.name() {
            "portfolio" => return params.finish().map(|()| Strategy::Portfolio),
            "walk" => Recipe::Picker(PickerSpec::Walk),
            "nonpreemptive" => Recipe::Picker(PickerSpec::Nonpreemptive),
            "rstest" => {
                let per_mille = params.per_mille("p", 10..=950)?.unwrap_or(200);
                Recipe::Picker(PickerSpec::Rstest { per_mille })
            }
            "stride" => stride(&mut params)?,
            "pct" => pct(&mut params)?,
            "rpro" => rpro(&mut params)?,
            "pos" => Recipe::Picker(PickerSpec::Pos),
            "surw" => Recipe::Picker(PickerSpec::Surw),
            "urw" => Recipe::Picker(PickerSpec::Urw),
            "delay" => {
                let n_delays = params.amount("n", 1..=POINTS_MAX)?.unwrap_or(Amount::Drawn);
                Recipe::Picker(PickerSpec::Delay(n_delays))
            }
            "sticky" => {
                let per_mille = params.per_mille("p", 0..=999)?.unwrap_or(900);
                Recipe::Picker(PickerSpec::Sticky { per_mille })
            }
            "order" => order(&mut params)?,
            "sites" => Recipe::Picker(PickerSpec::Sites),
            name => panic!("bug: strategy {name} has a form and no meaning"),
        };
        params.finish()?;
        Ok(Strategy::Picker(recipe))
    }
}

fn stride(params: &mut Params<'_>) -> Result<Recipe, StrategyError> {
    let (one, two) = (params.word("one"), params.word("two"));
    let smax = params.number("smax", 1..=SMAX_MAX)?;
    let confidence = params.confidence()?;
    let counting = params.one_of("count", &["all", "contended"])?;
    if usize::from(one) + usize::from(two) + usize::from(smax.is_some()) > 1 {
        return Err(params.wrong("`one`, `two` and `smax` exclude each other"));
    }
    if let Some(smax) = smax {
        if confidence.is_some() || counting.is_some() {
            return Err(params.wrong("a given smax needs no `c` and no `count`"));
        }
        return Ok(Recipe::Picker(PickerSpec::Stride(Smax::Fixed(smax))));
    }
    Ok(Recipe::Stride {
        n_edges: if one { 1 } else { 2 },
        confidence: confidence.unwrap_or(CONFIDENCE),
        counting: if counting == Some(1) { Counting::Contended } else { Counting::All },
    })
}

/// A depth, or `None` for the deepest that is guaranteed with the confidence.
fn depth(params: &mut Params<'_>, default: Depth) -> Result<(Option<Depth>, u32), StrategyError> {
    let confidence = params.confidence()?;
    if params.is("d", "paper") {
        return Ok((None, confidence.unwrap_or(CONFIDENCE)));
    }
    if confidence.is_some() {
        return Err(params.wrong("`c` goes with `d=paper` only"));
    }
    let depth = match params.amount("d", 1..=POINTS_MAX)? {
        None => default,
        Some(Amount::Drawn) => Depth::Drawn,
        Some(Amount::Fixed(depth)) => Depth::Fixed(depth),
    };
    Ok((Some(depth), CONFIDENCE))
}

fn pct(params: &mut Params<'_>) -> Result<Recipe, StrategyError> {
    Ok(match depth(params, Depth::Drawn)? {
        (Some(depth), _) => Recipe::Picker(PickerSpec::Pct(depth)),
        (None, confidence) => Recipe::Pct { confidence },
    })
}

fn rpro(params: &mut Params<'_>) -> Result<Recipe, StrategyError> {
    let radius = params.amount("r", 1..=RADIUS_MAX)?.unwrap_or(Amount::Fixed(50));
    Ok(match depth(params, Depth::Fixed(3))? {
        (Some(depth), _) => Recipe::Picker(PickerSpec::Rpro { depth, radius }),
        (None, confidence) => Recipe::Rpro { confidence, radius },
    })
}

fn order(params: &mut Params<'_>) -> Result<Recipe, StrategyError> {
    let (oldest, newest_first) = (params.word("oldest"), params.word("newest"));
    if oldest && newest_first {
        return Err(params.wrong("`oldest` and `newest` exclude each other"));
    }
    Ok(Recipe::Picker(PickerSpec::Order { newest_first }))
}

impl Recipe {
    /// The picker, for a campaign of so many executions.
    pub fn picker(self, n_executions: u64) -> PickerSpec {
        match self {
            Recipe::Picker(picker) => picker,
            Recipe::Stride { n_edges, confidence, counting } => {
                let per_mille = stride_ratio(Goal { confidence, n_executions }, n_edges);
                PickerSpec::Stride(Smax::Ratio { per_mille, counting })
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
            Strategy::Search(spec) => write!(f, "{spec}"),
        }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Recipe::Picker(picker) => write!(f, "{picker}"),
            Recipe::Stride { n_edges, confidence, counting } => {
                f.write_str(if n_edges == 1 { "stride:one" } else { "stride:two" })?;
                write_confidence(confidence, f)?;
                f.write_str(if counting == Counting::All { "" } else { ",count=contended" })
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
