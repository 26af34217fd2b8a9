//! How campaigns went.

use anyhow::Context as _;
use raddle_report::layout::number::grouped;
use serde::{Deserialize, Serialize};

use super::lab::Budget;

/// Campaigns of one strategy on one program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Campaigns {
    pub(crate) trials: Vec<Trial>,
}

/// One campaign, up to its first failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trial {
    pub(crate) verdict: Verdict,
    /// Up to and with the failing one; all of them, if nothing failed.
    pub(crate) n_executions: u64,
    /// Scheduling points of all executions.
    pub(crate) n_points: u64,
    pub(crate) seconds: f64,
    /// Where in the search it was found.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) place: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Found,
    /// The search ended, and nothing had failed.
    Nothing,
    /// The budget's executions were used up.
    GivenUp,
    /// Its time was.
    TimedOut,
}

/// How often something failed in a campaign that went on after the first failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rate {
    pub(crate) n_failures: u64,
    pub(crate) n_executions: u64,
    /// Scheduling points of the longest execution.
    pub(crate) n_points_max: u64,
    pub(crate) seconds: f64,
}

impl Rate {
    /// A line of `raddle compare --csv`.
    pub(super) fn parse(line: &str) -> anyhow::Result<Rate> {
        let parsed = || -> Option<Rate> {
            let fields = fields(line);
            let [_, _, _, _, _, executions, failures, _, points_max, seconds, ..] = &fields[..]
            else {
                return None;
            };
            Some(Rate {
                n_failures: failures.parse().ok()?,
                n_executions: executions.parse().ok()?,
                n_points_max: points_max.parse().ok()?,
                seconds: seconds.parse().ok()?,
            })
        };
        parsed().with_context(|| format!("no line of raddle compare: {line}"))
    }

    pub(crate) fn rate(&self) -> f64 {
        self.n_failures as f64 / self.n_executions.max(1) as f64
    }
}

impl Trial {
    /// A line of `raddle compare --csv`.
    pub(super) fn parse(line: &str, budget: Budget) -> anyhow::Result<Trial> {
        let parsed = || -> Option<Trial> {
            let fields = fields(line);
            let [_, _, _, found, first, executions, _, points, _, seconds, finished, place] =
                &fields[..]
            else {
                return None;
            };
            let executions = executions.parse().ok()?;
            let verdict = match (found.as_str(), finished.as_str()) {
                ("1", _) => Verdict::Found,
                (_, "1") => Verdict::Nothing,
                _ if executions < budget.executions => Verdict::TimedOut,
                _ => Verdict::GivenUp,
            };
            let is_found = verdict == Verdict::Found;
            Some(Trial {
                verdict,
                n_executions: if is_found { first.parse().ok()? } else { executions },
                n_points: points.parse().ok()?,
                seconds: seconds.parse().ok()?,
                place: place.clone(),
            })
        };
        parsed().with_context(|| format!("no line of raddle compare: {line}"))
    }

    /// `14`, `none of 512`, `> 2,000`, `> 60 s`.
    pub(crate) fn runs(&self) -> String {
        let n_executions = grouped(self.n_executions);
        match self.verdict {
            Verdict::Found => n_executions,
            Verdict::Nothing => format!("none of {n_executions}"),
            Verdict::GivenUp => format!("> {n_executions}"),
            Verdict::TimedOut => format!("> {:.0} s", self.seconds),
        }
    }

    /// `14 (0.2 s)`.
    pub(crate) fn runs_and_time(&self) -> String {
        match self.verdict {
            Verdict::TimedOut => {
                format!("{} ({} executions)", self.runs(), grouped(self.n_executions))
            }
            _ => format!("{} ({:.1} s)", self.runs(), self.seconds),
        }
    }
}

impl Campaigns {
    /// The only one, or the first.
    pub(crate) fn one(&self) -> anyhow::Result<&Trial> {
        self.trials.first().context("a cell without a campaign")
    }

    pub(crate) fn n_found(&self) -> usize {
        self.trials.iter().filter(|it| it.verdict == Verdict::Found).count()
    }

    /// Executions to the first failure in the median (the upper one); nothing, if that campaign found none.
    pub(crate) fn median(&self) -> Option<u64> {
        let is_found = |it: &&Trial| it.verdict == Verdict::Found;
        let mut firsts: Vec<u64> =
            self.trials.iter().filter(is_found).map(|it| it.n_executions).collect();
        firsts.sort_unstable();
        firsts.get(self.trials.len() / 2).copied()
    }

    /// `14`, `14 (2/3)`, `(1/3)`, `–`.
    pub(crate) fn medians(&self) -> String {
        let (n_found, n_all) = (self.n_found(), self.trials.len());
        let found = if n_found == n_all { String::new() } else { format!("({n_found}/{n_all})") };
        match self.median() {
            _ if n_found == 0 => "–".to_owned(),
            Some(median) if found.is_empty() => grouped(median),
            Some(median) => format!("{} {found}", grouped(median)),
            None => found,
        }
    }

    /// Scheduling points of an execution, on average over all campaigns.
    pub(crate) fn points(&self) -> f64 {
        let n_executions: u64 = self.trials.iter().map(|it| it.n_executions).sum();
        let n_points: u64 = self.trials.iter().map(|it| it.n_points).sum();
        n_points as f64 / n_executions.max(1) as f64
    }
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for it in line.chars() {
        match it {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("there is one").push(it),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::{Campaigns, Rate, Trial, Verdict};
    use crate::experiment::lab::Budget;

    const BUDGET: Budget = Budget { executions: 100, seconds: 60 };

    fn trial(found: u8, first: &str, executions: u64, finished: u8) -> Trial {
        let line = format!(
            "p,\"rpro:d=3,r=10\",1,{found},{first},{executions},0,50,9,1.5,{finished},\"(1, all, 2, 1)\""
        );
        Trial::parse(&line, BUDGET).expect("a line")
    }

    #[test]
    fn lines_are_read() {
        assert_eq!(trial(1, "7", 8, 0).runs(), "7");
        assert_eq!(trial(1, "7", 8, 0).place, "(1, all, 2, 1)");
        assert_eq!(trial(0, "", 12, 1).runs(), "none of 12");
        assert_eq!(trial(0, "", 101, 0).runs(), "> 101");
        assert_eq!(trial(0, "", 99, 0).verdict, Verdict::TimedOut);
        assert!(Trial::parse("nonsense", BUDGET).is_err());
        let rate = Rate::parse("p,walk,1,1,7,200,5,900,9,1.5,0,").expect("a line");
        assert_eq!((rate.n_failures, rate.n_points_max), (5, 9));
        assert!((rate.rate() - 0.025).abs() < 1e-9);
    }

    #[test]
    fn medians_count_what_found_nothing() {
        let of = |firsts: &[u64]| {
            let found = firsts.iter().map(|it| match it {
                0 => trial(0, "", 101, 0),
                _ => trial(1, &it.to_string(), *it, 0),
            });
            Campaigns { trials: found.collect() }.medians()
        };
        assert_eq!(of(&[9, 3, 5]), "5");
        assert_eq!(of(&[9, 0, 5]), "9 (2/3)");
        assert_eq!(of(&[0, 0, 5]), "(1/3)");
        assert_eq!(of(&[0, 0, 0]), "–");
    }
}
