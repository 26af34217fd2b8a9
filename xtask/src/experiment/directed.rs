//! How far the portfolio is from the one strategy that is best for a program: executions to the first failure, over all
//! programs of `programs/fail` and of the stride experiment.

mod list;

use std::{cmp::Ordering, fmt::Write as _, fs};

use raddle_report::layout::number::grouped;

use self::list::{FAILING, SINGLE};
use super::{
    Budget, Campaigns, Case, Cell, Experiment, Page, Results, Search, root, stride, table,
    trial::Verdict,
};

pub(super) const EXPERIMENT: Experiment = Experiment { name: "directed", cells, pages, overview };

const BUDGET: Budget = Budget { executions: 10_000, seconds: 20 };

/// Campaigns of each strategy on each program.
const REPEATS: u32 = 3;

const PORTFOLIO: &str = "portfolio";

/// Programs for `--quick`.
const QUICK: [&str; 2] = ["condvar/lost_wakeup.c", "stride: account"];

/// Rows of the tables of the worst and of the best.
const SHOWN: usize = 15;

/// Ratios are counted up to each of these.
const RATIOS: [f64; 4] = [0.5, 1.0, 2.0, 5.0];

fn strategies() -> impl Iterator<Item = &'static str> {
    [PORTFOLIO].into_iter().chain(SINGLE.iter().copied())
}

/// A program, and more options of `raddle compare`.
struct Subject {
    case: Case,
    options: Vec<String>,
}

fn subjects() -> Vec<Subject> {
    let failing = FAILING.iter().map(|name| failing(name));
    let stride = stride::cases().map(|case| {
        let name = format!("stride: {}", case.name);
        Subject { case: Case { name, ..case }, options: Vec::new() }
    });
    failing.chain(stride).collect()
}

/// With what its first lines say.
fn failing(name: &str) -> Subject {
    let source = format!("programs/fail/{name}");
    let text = fs::read_to_string(root().join(&source)).unwrap_or_default();
    let words = |key: &str| -> Vec<String> {
        let start = format!("//@ {key}:");
        let line = text.lines().find_map(|it| it.strip_prefix(&start)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect()
    };
    let model = words("memory-model");
    let options =
        if model.is_empty() { model } else { [&["--memory-model".into()], &model[..]].concat() };
    let case = Case { flags: words("flags"), args: words("args"), ..Case::new(name, &source) };
    Subject { case, options }
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for subject in subjects() {
        let is_quick = QUICK.contains(&subject.case.name.as_str());
        let options: Vec<&str> = subject.options.iter().map(String::as_str).collect();
        for strategy in strategies() {
            let search =
                Search::new(&subject.case, strategy, BUDGET).repeats(REPEATS).options(&options);
            cells.push(Cell::of(search).quick(is_quick));
        }
    }
    cells
}

/// A program's campaigns with all strategies.
struct Row {
    name: String,
    campaigns: Vec<Campaigns>,
}

fn rows(results: &Results) -> anyhow::Result<Vec<Row>> {
    let strategies: Vec<&str> = strategies().collect();
    let mut rows = Vec::new();
    for Subject { case, .. } in subjects() {
        if let Some(campaigns) = results.row(&case.name, &strategies)? {
            rows.push(Row { name: case.name, campaigns });
        }
    }
    Ok(rows)
}

impl Row {
    /// Executions in the median; the budget, if that campaign found nothing.
    fn median(&self, column: usize) -> u64 {
        self.campaigns[column].median().unwrap_or(BUDGET.executions)
    }

    /// The single strategy with the smallest median; the first of several.
    fn best(&self) -> usize {
        (1..self.campaigns.len()).min_by_key(|it| self.median(*it)).unwrap_or(1)
    }

    /// Median of the portfolio over that of the best. Nothing, if neither found anything.
    fn ratio(&self) -> Option<f64> {
        let is_found = [0, self.best()].iter().any(|it| self.campaigns[*it].median().is_some());
        is_found.then(|| self.median(0) as f64 / self.median(self.best()) as f64)
    }

    /// `14 (2/3), 90`: median and worst.
    fn cell(&self, column: usize) -> String {
        let campaigns = &self.campaigns[column];
        let firsts = campaigns.trials.iter().filter(|it| it.verdict == Verdict::Found);
        let worst = firsts.map(|it| it.n_executions).max();
        match (campaigns.median(), worst) {
            (Some(median), Some(worst)) if median < worst => {
                format!("{}, {}", campaigns.medians(), grouped(worst))
            }
            _ => campaigns.medians(),
        }
    }

    /// The portfolio's cell, that of the best, which that is, and the ratio.
    fn compared(&self) -> Vec<String> {
        let best = self.best();
        let ratio = self.ratio().map_or("–".to_owned(), |it| format!("{it:.1}"));
        let name = strategies().nth(best).unwrap_or_default();
        let name = if self.ratio().is_some() { format!("`{name}`") } else { "–".to_owned() };
        vec![self.name.clone(), self.cell(0), self.cell(best), name, ratio]
    }
}

/// Rows by their ratios, the largest first.
fn ranked(rows: &[Row]) -> Vec<&Row> {
    let mut ranked: Vec<&Row> = rows.iter().filter(|it| it.ratio().is_some()).collect();
    let by_ratio = |one: &&Row, other: &&Row| {
        other.ratio().partial_cmp(&one.ratio()).unwrap_or(Ordering::Equal)
    };
    ranked.sort_by(by_ratio);
    ranked
}

const COMPARED: [&str; 5] = ["program", "`portfolio`", "best single", "which", "ratio"];

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let rows = rows(results)?;
    let ranked = ranked(&rows);
    let mut text = String::from(HEAD);
    let _ = write!(
        text,
        "\nThe median of {REPEATS} campaigns of at most {} executions (or {} s), and after a comma the worst of those that found a \
         failure, if it is another. In parentheses, how many campaigns found a failure, if not all; a dash: none.\n",
        grouped(BUDGET.executions),
        BUDGET.seconds
    );
    text += "\n## The portfolio against the best single strategy\n\n";
    text += &summary(&ranked);
    let worst: Vec<Vec<String>> = ranked.iter().take(SHOWN).map(|it| it.compared()).collect();
    let _ = write!(text, "\nThe largest ratios:\n\n{}", table(&COMPARED, &worst));
    let best: Vec<Vec<String>> = ranked.iter().rev().take(SHOWN).map(|it| it.compared()).collect();
    let _ = write!(text, "\nThe smallest ratios:\n\n{}", table(&COMPARED, &best));
    text += &all(&rows);
    let section =
        format!("{}\nThe largest ratios:\n\n{}", summary(&ranked), table(&COMPARED, &worst));
    Ok(vec![
        Page::whole("experiments/directed/RESULTS.md", text),
        Page::section("docs/strategies.md", "ratios", section),
    ])
}

/// How many programs have which ratio.
fn summary(ranked: &[&Row]) -> String {
    let ratios: Vec<f64> = ranked.iter().filter_map(|it| it.ratio()).collect();
    let median = ratios.get(ratios.len() / 2).map_or("–".to_owned(), |it| format!("{it:.1}"));
    let n_up_to = |most: &f64| ratios.iter().filter(|it| **it <= *most).count();
    let counts = RATIOS.iter().map(|it| format!("at most {it} for {}", n_up_to(it)));
    format!(
        "{STALE}\n\nExecutions to the first failure in the median, of the portfolio over those of the best of {} strategies alone, over {} \
         programs: {median} in the median; {}.\n",
        SINGLE.len(),
        ratios.len(),
        counts.collect::<Vec<_>>().join(", ")
    )
}

/// Each program, each strategy.
fn all(rows: &[Row]) -> String {
    let names: Vec<String> = strategies().map(|it| format!("`{it}`")).collect();
    let mut head = vec!["program"];
    head.extend(names.iter().map(String::as_str));
    head.push("ratio");
    let mut lines = Vec::new();
    for row in rows {
        let mut line = vec![row.name.clone()];
        line.extend((0..names.len()).map(|it| row.cell(it)));
        line.push(row.ratio().map_or("–".to_owned(), |it| format!("{it:.1}")));
        lines.push(line);
    }
    let count = |title: &str, is_it: &dyn Fn(&Row, usize) -> bool| {
        let n = |column: usize| rows.iter().filter(|row| is_it(row, column)).count();
        let mut line = vec![format!("**{title}**")];
        line.extend((0..names.len()).map(|it| n(it).to_string()));
        line.push(String::new());
        line
    };
    lines.push(count("found each time", &|row, it| {
        row.campaigns[it].n_found() == row.campaigns[it].trials.len()
    }));
    lines.push(count("median at most 10", &|row, it| row.median(it) <= 10));
    lines.push(count("best, or as good", &|row, it| {
        row.campaigns[it].median().is_some() && row.median(it) <= row.median(row.best())
    }));
    format!("\n## All programs\n\n{}", table(&head, &lines))
}

fn overview(results: &Results) -> anyhow::Result<String> {
    let rows = rows(results)?;
    let ranked = ranked(&rows);
    let worst: Vec<Vec<String>> = ranked.iter().take(SHOWN).map(|it| it.compared()).collect();
    Ok(format!("{OVERVIEW}\n{}\n{}", summary(&ranked), table(&COMPARED, &worst)))
}

/// What has changed since the results were measured; to be taken away when all have been measured again.
const STALE: &str = "\
Measured with an earlier version: before half of the portfolio's executions were shared out evenly, `rff` joined it and `rpro` and
`delay` left it, and before `directed` had the family `object`.";

const HEAD: &str = "\
# The portfolio against single strategies: results

Made by `cargo xtask experiment directed`. Executions to the first failure, over the programs of `programs/fail` and of the stride
experiment.
";

const OVERVIEW: &str = "\
## The portfolio against single strategies ([directed](directed/README.md))

No paper: which strategy is best for a program is known only afterwards, so the portfolio shares the executions among many.
";
