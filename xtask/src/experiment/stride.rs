//! Seed paper 4's comparison: executions to the first failure by strategy, who misses what (Figure 7), how often things
//! fail (Figures 5 and 6), and how likely the least likely order of two events is (Figure 4, Proposition 1).

mod figures;
mod list;
mod orders;

use std::{collections::BTreeSet, fmt::Write as _};

use anyhow::Context as _;
use raddle_report::layout::number::grouped;

use self::list::{OURS, PAPERS, PROGRAMS, SYSTEMATIC, Subject};
use super::{
    Budget, Campaigns, Case, Cell, Experiment, Page, Results, Search, table, trial::Verdict,
};

pub(super) const EXPERIMENT: Experiment = Experiment { name: "stride", cells, pages, overview };

const BUDGET: Budget = Budget { executions: 10_000, seconds: 60 };

/// Campaigns of each random strategy.
const REPEATS: u32 = 3;

/// Systematic searches are told what is shared by random executions that do not count.
const LEARNING: u64 = 200;

/// Programs for `--quick`.
const QUICK: [&str; 2] = ["account", "near-end"];

/// Columns of the large table.
fn strategies() -> impl Iterator<Item = &'static str> {
    let random = PAPERS.iter().map(|it| it.0).chain(OURS.iter().copied());
    random.chain(SYSTEMATIC.iter().map(|it| it.0))
}

fn case(subject: &Subject) -> Case {
    let wrapper = format!("experiments/stride/programs/{}.c", subject.name);
    let included = format!("programs/fail/{}.c", subject.kernel);
    let files: &[&str] = if subject.kernel.is_empty() { &[] } else { &[&included] };
    Case::new(subject.name, &wrapper).with_files(files)
}

/// All programs.
pub(super) fn cases() -> impl Iterator<Item = Case> {
    PROGRAMS.iter().map(case)
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for subject in PROGRAMS {
        let case = case(subject);
        let is_quick = QUICK.contains(&subject.name);
        for strategy in strategies() {
            let is_systematic = SYSTEMATIC.iter().any(|it| it.0 == strategy);
            let (repeats, learning) = if is_systematic { (1, LEARNING) } else { (REPEATS, 0) };
            let search = Search::new(&case, strategy, BUDGET).repeats(repeats).learning(learning);
            let is_quick = is_quick && ["walk", "stride:two", "idb"].contains(&strategy);
            cells.push(Cell::of(search).quick(is_quick));
        }
        cells.extend(figures::cells(&case, is_quick));
    }
    cells.extend(orders::cells());
    cells
}

/// A program's campaigns with all strategies.
struct Row {
    subject: &'static Subject,
    campaigns: Vec<Campaigns>,
}

fn rows(results: &Results) -> anyhow::Result<Vec<Row>> {
    let strategies: Vec<&str> = strategies().collect();
    let mut rows = Vec::new();
    for subject in PROGRAMS {
        if let Some(campaigns) = results.row(subject.name, &strategies)? {
            rows.push(Row { subject, campaigns });
        }
    }
    Ok(rows)
}

impl Row {
    /// Was anything found by the strategy of this column?
    fn is_found(&self, column: usize) -> bool {
        self.campaigns[column].n_found() > 0
    }

    /// One campaign's figure, or the median of several.
    fn cell(&self, column: usize) -> String {
        let campaigns = &self.campaigns[column];
        match &campaigns.trials[..] {
            [one] if one.verdict == Verdict::Found => one.runs(),
            [one] if one.verdict == Verdict::Nothing => one.runs(),
            [_] => "–".to_owned(),
            _ => campaigns.medians(),
        }
    }
}

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let rows = rows(results)?;
    let mut text = String::from(HEAD);
    let _ = write!(
        text,
        "\nThe median of {REPEATS} campaigns of at most {} executions (or {} s); systematic searches (`ipb`, `idb`, \
         `dfs`) have one campaign, after {LEARNING} random executions that do not count.\n",
        grouped(BUDGET.executions),
        BUDGET.seconds
    );
    text += &medians(&rows);
    text += &missed(&rows);
    text += &statement(&rows)?;
    text += FIGURES;
    text += &orders::tables(results)?;
    let mut pages = vec![Page::whole("experiments/stride/RESULTS.md", text)];
    pages.extend(figures::pages(results)?);
    pages.extend(orders::pages(results)?);
    pages.push(Page::section("docs/strategies.md", "executions", excerpt(&rows)));
    Ok(pages)
}

/// The large table.
fn medians(rows: &[Row]) -> String {
    let strategies: Vec<String> = strategies().map(|it| format!("`{it}`")).collect();
    let mut head = vec!["program", "in the paper"];
    head.extend(strategies.iter().map(String::as_str));
    let mut lines = Vec::new();
    for row in rows {
        let mut line = vec![row.subject.name.to_owned(), row.subject.paper.to_owned()];
        line.extend((0..row.campaigns.len()).map(|it| row.cell(it)));
        lines.push(line);
    }
    let count = |title: &str, is_it: &dyn Fn(&Campaigns) -> bool| {
        let n = |column: usize| rows.iter().filter(|row| is_it(&row.campaigns[column])).count();
        let figures = (0..strategies.len()).map(|it| n(it).to_string());
        [format!("**{title}**"), String::new()].into_iter().chain(figures).collect::<Vec<_>>()
    };
    lines.push(count("found at all", &|it| it.n_found() > 0));
    lines.push(count("found each time", &|it| it.n_found() == it.trials.len()));
    format!("\n## Executions to the first failure\n\n{}", table(&head, &lines))
}

/// Figure 7.
fn missed(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    for (column, strategy) in strategies().enumerate() {
        let missed: Vec<&str> =
            rows.iter().filter(|it| !it.is_found(column)).map(|it| it.subject.name).collect();
        let paper = PAPERS.iter().chain(SYSTEMATIC).find(|it| it.0 == strategy);
        lines.push((missed, strategy, paper.map_or("", |it| it.1)));
    }
    lines.sort_by_key(|it| it.0.len());
    let lines = lines.into_iter().map(|(missed, strategy, paper)| {
        vec![format!("`{strategy}`"), paper.to_owned(), missed.len().to_string(), missed.join(", ")]
    });
    let head = ["strategy", "in the paper", "missed", "which"];
    format!(
        "\n## Figure 7: bugs missed, of {}\n\nFound by no campaign.\n\n{}",
        rows.len(),
        table(&head, &lines.collect::<Vec<_>>())
    )
}

/// Delay bounding and random walk.
fn statement(rows: &[Row]) -> anyhow::Result<String> {
    let found = |strategy: &str| -> anyhow::Result<BTreeSet<&str>> {
        let column = strategies().position(|it| it == strategy).context("no such column")?;
        Ok(rows.iter().filter(|it| it.is_found(column)).map(|it| it.subject.name).collect())
    };
    let (walk, delay) = (found("walk")?, found("idb")?);
    let list =
        |these: Vec<&str>| if these.is_empty() { "nothing".to_owned() } else { these.join(", ") };
    let (only_walk, only_delay): (Vec<&str>, Vec<&str>) =
        (walk.difference(&delay).copied().collect(), delay.difference(&walk).copied().collect());
    let verdict = if only_delay.is_empty() {
        "As in the paper, delay bounding finds nothing that random walk misses."
    } else {
        "Unlike in the paper, delay bounding finds failures that random walk misses. A bug that needs one thread to be late as a \
         whole is one delay away from round robin, regardless of the thread's length, and random walk rarely delays a long thread \
         that much."
    };
    Ok(format!(
        "\n## Delay bounding against random walk\n\nThe paper: random walk finds the set that iterative delay bounding finds, \
         and one bug more. Here both find {} of {}; only `walk` finds {}; only `idb` finds {}. {verdict}\n",
        walk.intersection(&delay).count(),
        rows.len(),
        list(only_walk),
        list(only_delay)
    ))
}

/// A few rows and columns, for the page on strategies.
fn excerpt(rows: &[Row]) -> String {
    let wanted =
        ["reorder-10", "reorder-100", "twostage-20", "twostage-100", "long-order", "near-end"];
    let shown =
        ["walk", "stride:one", "stride:two", "pct:d=drawn", "pos", "surw", "directed", "portfolio"];
    let columns: Vec<usize> =
        shown.iter().filter_map(|of| strategies().position(|it| it == *of)).collect();
    let mut lines = Vec::new();
    for row in rows.iter().filter(|it| wanted.contains(&it.subject.name)) {
        let figures = columns.iter().map(|it| row.cell(*it));
        lines.push([row.subject.name.to_owned()].into_iter().chain(figures).collect());
    }
    let shown: Vec<String> = shown.iter().map(|it| format!("`{it}`")).collect();
    let head: Vec<&str> = ["program"].into_iter().chain(shown.iter().map(String::as_str)).collect();
    format!(
        "Executions to the first failure for some of them, the median of {REPEATS} campaigns (in parentheses, how many \
         campaigns found it, if not all; a dash: none in {}):\n\n{}",
        grouped(BUDGET.executions),
        table(&head, &lines)
    )
}

/// Columns of the overview: what the paper compares first, then ours.
const OVERVIEWED: [&str; 6] = [
    "walk",
    "stride:one,sum=paper,count=contended,profile=max",
    "stride:two,sum=paper,count=contended,profile=max",
    "stride:one",
    "stride:two",
    "portfolio",
];

fn overview(results: &Results) -> anyhow::Result<String> {
    let rows = rows(results)?;
    let columns: Vec<usize> =
        OVERVIEWED.iter().filter_map(|of| strategies().position(|it| it == *of)).collect();
    let mut lines = Vec::new();
    for row in rows.iter().filter(|it| !it.subject.paper.is_empty()) {
        let mut line = vec![row.subject.name.to_owned(), row.subject.paper.to_owned()];
        line.extend(columns.iter().map(|it| row.cell(*it)));
        lines.push(line);
    }
    let mut line = vec![format!("**missed, of all {}**", rows.len()), String::new()];
    let n_missed = |column: &usize| rows.iter().filter(|it| !it.is_found(*column)).count();
    line.extend(columns.iter().map(|it| n_missed(it).to_string()));
    lines.push(line);
    let head = [
        "program",
        "published",
        "random walk",
        "the paper's stride, one edge",
        "two edges",
        "`stride:one`",
        "`stride:two`",
        "`portfolio`",
    ];
    Ok(format!("{OVERVIEW}\n{}", table(&head, &lines)))
}

const HEAD: &str = "\
# Randomized stride: results

Made by `cargo xtask experiment stride`. Executions to the first failure. A number in parentheses is the number of campaigns that
found a failure, if not all; a dash means none; `none of n`: the search ended after n executions without a failure. The second
column names the paper's program of the same kind and quotes the paper's text about it; the digits of its figures are not in our
copy.
";

const FIGURES: &str = "\
\n## Figures 5 and 6

Failure rate of each program under random walk against the largest number of events of an execution; then the same points for
other strategies, larger if the rate has changed more.

![Figure 5](figure-5.svg)

![Figure 6](figure-6.svg)
";

const OVERVIEW: &str = "\
## Randomized stride ([stride](stride/RESULTS.md))

Executions to the first failure, for the programs that the paper has, too; the digits of its figures are not in our copy, so its
text is quoted. Its rules count a thread's events only while another thread is enabled, which makes a long thread's strides too
short; `stride:one` and `stride:two` count all events.
";
