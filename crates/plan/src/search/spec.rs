//! Searches by name: `dfs`, `ipb` and `idb` with an optional last level (`ipb:2`), `dpor` and `hapset` with their
//! variants.

use std::fmt;

use raddle_model::MemoryModel;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    HapSets, Search,
    dfs::Dfs,
    dpor::{
        self, Classic, Forest, Guide, Ordered, Pruned, PrunedBounded, Published, Reduced, Rule,
        Source,
    },
    levels::{Bounded, Delays, Preemptions},
    rank::{Rank, RankPaper, Tuple},
    total::{Published as ThesisSearch, Thesis, Total},
    tree::{Policy, Tree},
};

/// Which search, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchSpec {
    /// All schedules.
    Dfs,
    /// By the number of preemptions, up to a last level.
    Ipb(Option<u32>),
    /// By the number of delays, up to a last level.
    Idb(Option<u32>),
    /// One schedule of each class.
    Dpor(Dpor),
    /// Backtrack sets of those that can go on with at most so many preemptions, as in seed paper 2.
    Pcb(u32),
    /// One execution for each way that reads can decide branches and references, as long as no more steps are kept.
    Total(Option<usize>),
    /// As published in seed paper 3.
    Thesis(Thesis),
    /// Guided by which orders of two statements were covered.
    Hapset(Hapset),
    /// By tuples (c, v, t, l), one after the other.
    Rank(Vec<Tuple>),
    /// The same as published; who writes it has the paper's tuples.
    RankPaper(Vec<Tuple>),
}

/// How classes are told apart before they are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dpor {
    /// Flanagan and Godefroid's, with sleep sets.
    Classic,
    /// Theirs as seed paper 2 has it, without.
    Plain,
    /// Source sets.
    Source,
    /// Wakeup trees.
    Optimal,
    /// Of all schedules with at most so many preemptions.
    Preemptions(u32),
}

/// What is done with orders that were covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hapset {
    /// They are left out of `dpor:classic`.
    Classic,
    /// They are left out of `ipb`, up to a last level.
    Ipb(Option<u32>),
    /// They come later.
    Order,
    /// As published: left out of `dpor:plain`.
    Paper,
    /// As published: left out of `pcb`.
    Pcb(u32),
}

/// Preemptions of `pcb` if nothing is said: most bugs that are known need no more.
const PCB_DEFAULT: u32 = 2;

/// With what a search starts.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// May waits end by themselves although others can go on?
    pub may_time_out: bool,
    /// What atomics may read.
    pub memory: MemoryModel,
    /// Does a non-zero exit code count as a good end?
    pub exit_is_fine: bool,
    /// Orders of two statements that were covered before.
    pub covered: HapSets,
}

/// Why a name is none of a search, or a saved search can't go on.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// No search is called so.
    #[error(
        "unknown search `{0}`; available: dfs, ipb, idb, pcb, dpor, hapset, rank and total, with their parameters"
    )]
    Unknown(String),
    /// Its tuples are the paper's.
    #[error(
        "`rank:paper` has a fixed list of tuples; to choose tuples, use `rank:C.V.T.L` without `paper`"
    )]
    PaperTuples,
    /// What was saved is not of this search, or not of this build.
    #[error("the saved search is incompatible with this version of Raddle ({0}); start it again")]
    Saved(#[from] serde_json::Error),
}

/// As the user would write it: reads back as the same.
impl fmt::Display for SearchSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchSpec::Dfs => f.write_str("dfs"),
            SearchSpec::Ipb(None) => f.write_str("ipb"),
            SearchSpec::Ipb(Some(max)) => write!(f, "ipb:{max}"),
            SearchSpec::Idb(None) => f.write_str("idb"),
            SearchSpec::Idb(Some(max)) => write!(f, "idb:{max}"),
            SearchSpec::Dpor(Dpor::Source) => f.write_str("dpor"),
            SearchSpec::Pcb(max) => write!(f, "pcb:{max}"),
            SearchSpec::Dpor(Dpor::Classic) => f.write_str("dpor:classic"),
            SearchSpec::Dpor(Dpor::Plain) => f.write_str("dpor:plain"),
            SearchSpec::Dpor(Dpor::Optimal) => f.write_str("dpor:optimal"),
            SearchSpec::Dpor(Dpor::Preemptions(max)) => write!(f, "dpor:preemptions={max}"),
            SearchSpec::Total(None) => f.write_str("total"),
            SearchSpec::Total(Some(max)) => write!(f, "total:steps={max}"),
            SearchSpec::Thesis(thesis) => write!(f, "total:{}", thesis.name()),
            SearchSpec::Hapset(Hapset::Classic) => f.write_str("hapset"),
            SearchSpec::Hapset(Hapset::Ipb(None)) => f.write_str("hapset:ipb"),
            SearchSpec::Hapset(Hapset::Ipb(Some(max))) => write!(f, "hapset:ipb={max}"),
            SearchSpec::Hapset(Hapset::Order) => f.write_str("hapset:order"),
            SearchSpec::Hapset(Hapset::Paper) => f.write_str("hapset:paper"),
            SearchSpec::Hapset(Hapset::Pcb(max)) => write!(f, "hapset:pcb={max}"),
            SearchSpec::RankPaper(_) => f.write_str("rank:paper"),
            SearchSpec::Rank(tuples) if tuples == Tuple::ORDER => f.write_str("rank"),
            SearchSpec::Rank(tuples) => {
                let texts: Vec<String> = tuples.iter().map(Tuple::text).collect();
                write!(f, "rank:{}", texts.join("+"))
            }
        }
    }
}

impl SearchSpec {
    /// The search of this name.
    pub fn parse(text: &str) -> Result<SearchSpec, SpecError> {
        let unknown = || SpecError::Unknown(text.to_owned());
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let level = || rest.map(|it| it.parse().map_err(|_| unknown())).transpose();
        match name {
            "dfs" if rest.is_none() => Ok(SearchSpec::Dfs),
            "total" => match rest.map(|it| it.strip_prefix("steps=").ok_or(it)) {
                None => Ok(SearchSpec::Total(None)),
                Some(Ok(max)) => Ok(SearchSpec::Total(Some(max.parse().map_err(|_| unknown())?))),
                Some(Err(name)) => Thesis::parse(name).map(SearchSpec::Thesis).ok_or_else(unknown),
            },
            "ipb" => Ok(SearchSpec::Ipb(level()?)),
            "idb" => Ok(SearchSpec::Idb(level()?)),
            "pcb" => Ok(SearchSpec::Pcb(level()?.unwrap_or(PCB_DEFAULT))),
            "dpor" => Ok(SearchSpec::Dpor(match rest {
                None => Dpor::Source,
                Some("classic") => Dpor::Classic,
                Some("plain") => Dpor::Plain,
                Some("optimal") => Dpor::Optimal,
                Some(rest) => {
                    let max = rest.strip_prefix("preemptions=").ok_or_else(unknown)?;
                    Dpor::Preemptions(max.parse().map_err(|_| unknown())?)
                }
            })),
            "rank" if rest == Some("paper") => Ok(SearchSpec::RankPaper(Tuple::PAPER.to_vec())),
            "rank" if rest.is_some_and(is_paper_with_tuples) => Err(SpecError::PaperTuples),
            "rank" => Ok(SearchSpec::Rank(match rest {
                None => Tuple::ORDER.to_vec(),
                Some(rest) => {
                    let tuples = rest.split('+').map(Tuple::parse);
                    tuples.collect::<Option<Vec<Tuple>>>().ok_or_else(unknown)?
                }
            })),
            "hapset" => Ok(SearchSpec::Hapset(match rest {
                None => Hapset::Classic,
                Some("order") => Hapset::Order,
                Some("paper") => Hapset::Paper,
                Some("ipb") => Hapset::Ipb(None),
                Some(rest) => {
                    let (bound, max) = rest.split_once('=').ok_or_else(unknown)?;
                    let max = max.parse().map_err(|_| unknown())?;
                    match bound {
                        "ipb" => Hapset::Ipb(Some(max)),
                        "pcb" => Hapset::Pcb(max),
                        _ => return Err(unknown()),
                    }
                }
            })),
            _ => Err(unknown()),
        }
    }

    /// Is it a form of total replay? It has to see every access.
    pub const fn is_total(&self) -> bool {
        matches!(self, SearchSpec::Total(_) | SearchSpec::Thesis(_))
    }

    /// Does it explore what may be read, where that is a choice of the schedule?
    pub const fn knows_weak_memory(&self) -> bool {
        matches!(
            self,
            SearchSpec::Dfs
                | SearchSpec::Ipb(_)
                | SearchSpec::Idb(_)
                | SearchSpec::Dpor(
                    Dpor::Source | Dpor::Classic | Dpor::Optimal | Dpor::Preemptions(_)
                )
        )
    }

    /// Those that do, as the user writes them.
    pub const WITH_WEAK_MEMORY: &'static str = "`dfs`, `ipb`, `idb`, `dpor`";

    /// The search, at its beginning.
    pub fn start(&self, start: Start) -> Box<dyn Search + Send> {
        let Start { may_time_out, memory, exit_is_fine, covered } = start;
        let guide = Guide::new(covered, exit_is_fine);
        match *self {
            SearchSpec::Dfs => Box::new(Tree::new(Dfs { may_time_out })),
            SearchSpec::Ipb(max) => {
                Box::new(Tree::new(Bounded::new(Preemptions, may_time_out, max)))
            }
            SearchSpec::Idb(max) => Box::new(Tree::new(Bounded::new(Delays, may_time_out, max))),
            SearchSpec::Pcb(max) => reduced(Published::new(None, Some(max)), may_time_out),
            SearchSpec::Dpor(Dpor::Classic) => {
                Box::new(Tree::new(Reduced::new(Classic, may_time_out)).on(memory))
            }
            SearchSpec::Dpor(Dpor::Plain) => reduced(Published::default(), may_time_out),
            SearchSpec::Dpor(Dpor::Source) => {
                Box::new(Tree::new(Reduced::new(Source, may_time_out)).on(memory))
            }
            SearchSpec::Dpor(Dpor::Optimal) => Box::new(Forest::new(may_time_out, memory)),
            SearchSpec::Dpor(Dpor::Preemptions(max)) => {
                Box::new(Tree::new(Reduced::new(dpor::Bounded::new(max), may_time_out)).on(memory))
            }
            SearchSpec::Total(steps_max) => Box::new(Total::new(steps_max, may_time_out)),
            SearchSpec::Thesis(thesis) => Box::new(ThesisSearch::new(thesis, may_time_out)),
            SearchSpec::Hapset(Hapset::Classic) => reduced(Pruned::new(guide), may_time_out),
            SearchSpec::Hapset(Hapset::Ipb(max)) => {
                reduced(PrunedBounded::new(guide, max), may_time_out)
            }
            SearchSpec::Hapset(Hapset::Order) => reduced(Ordered::new(guide), may_time_out),
            SearchSpec::Hapset(Hapset::Paper) => {
                reduced(Published::new(Some(guide), None), may_time_out)
            }
            SearchSpec::Hapset(Hapset::Pcb(max)) => {
                reduced(Published::new(Some(guide), Some(max)), may_time_out)
            }
            SearchSpec::Rank(ref tuples) => Box::new(Rank::new(tuples.clone())),
            SearchSpec::RankPaper(ref tuples) => Box::new(RankPaper::new(tuples.clone())),
        }
    }

    /// The search, where [`Search::save`] left it.
    pub fn restore(&self, saved: &RawValue) -> Result<Box<dyn Search + Send>, SpecError> {
        match self {
            SearchSpec::Dfs => restore::<Dfs>(saved),
            SearchSpec::Ipb(_) => restore::<Bounded<Preemptions>>(saved),
            SearchSpec::Idb(_) => restore::<Bounded<Delays>>(saved),
            SearchSpec::Pcb(_)
            | SearchSpec::Dpor(Dpor::Plain)
            | SearchSpec::Hapset(Hapset::Paper | Hapset::Pcb(_)) => {
                restore::<Reduced<Published>>(saved)
            }
            SearchSpec::Dpor(Dpor::Classic) => restore::<Reduced<Classic>>(saved),
            SearchSpec::Dpor(Dpor::Source) => restore::<Reduced<Source>>(saved),
            SearchSpec::Dpor(Dpor::Optimal) => Ok(Box::new(Forest::restore(saved)?)),
            SearchSpec::Dpor(Dpor::Preemptions(_)) => restore::<Reduced<dpor::Bounded>>(saved),
            SearchSpec::Total(steps_max) => Ok(Box::new(Total::restore(saved, *steps_max)?)),
            SearchSpec::Thesis(thesis) => Ok(Box::new(ThesisSearch::restore(*thesis, saved)?)),
            SearchSpec::Hapset(Hapset::Classic) => restore::<Reduced<Pruned>>(saved),
            SearchSpec::Hapset(Hapset::Ipb(_)) => restore::<Reduced<PrunedBounded>>(saved),
            SearchSpec::Hapset(Hapset::Order) => restore::<Reduced<Ordered>>(saved),
            SearchSpec::Rank(_) => Ok(Box::new(Rank::restore(saved)?)),
            SearchSpec::RankPaper(_) => Ok(Box::new(RankPaper::restore(saved)?)),
        }
    }
}

/// Are tuples asked for beside the paper's, however that is written?
fn is_paper_with_tuples(rest: &str) -> bool {
    let mut words = rest.split(|it: char| !it.is_alphanumeric());
    words.any(|it| it == "paper") && rest.contains(|it: char| it.is_ascii_digit())
}

fn reduced<R: Rule + Send + 'static>(rule: R, may_time_out: bool) -> Box<dyn Search + Send> {
    Box::new(Tree::new(Reduced::new(rule, may_time_out)))
}

fn restore<P: Policy + Send + 'static>(
    saved: &RawValue,
) -> Result<Box<dyn Search + Send>, SpecError>
where
    P::Node: Send,
    P::Child: Send,
    Tree<P>: DeserializeOwned,
{
    let tree: Tree<P> = serde_json::from_str(saved.get())?;
    Ok(Box::new(tree.restored()))
}
