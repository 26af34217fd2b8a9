//! Seed paper 0's Table 1: schedules explored up to the first bug, and the tuple at which it was found.

use std::fmt::Write as _;

use super::{Budget, Campaigns, Case, Cell, Experiment, Page, Results, Search, table};

pub(super) const EXPERIMENT: Experiment = Experiment { name: "rank", cells, pages, overview };

/// The programs, with what the paper says of those after which they were made: schedules, tuple.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("merge_sort", "651", "(1, all, 2, 1)"),
    ("producer_consumer", "1", "(0, 0, 2, 1)"),
    ("linked_list", "23", "(1, all, 2, 1)"),
    ("bubble_sort", "1", "(0, 0, 2, 1)"),
    ("piper", "425", "(2, 1, 2, 1)"),
    ("allocation_vector", "113", "(2, 1, 2, 1)"),
    ("buffered_writer", "12", "(0, 0, 2, 1)"),
    ("ping_pong", "234", "(1, all, 2, 1)"),
    ("manager", "33", "(1, all, 2, 1)"),
    ("account", "19", "(1, all, 2, 1)"),
    ("airline_tickets", "2", "(0, 0, 2, 1)"),
];

const SEARCHES: &[&str] = &["rank:paper", "rank", "ipb"];

const BUDGET: Budget = Budget { executions: 2_000, seconds: 60 };

/// What the program shares is found out beforehand; the paper knows it from the program's text.
const LEARNING: u64 = 200;

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (name, ..) in PROGRAMS {
        let case = Case::new(name, &format!("programs/fail/papers/{name}.c"));
        for strategy in SEARCHES {
            let search = Search::new(&case, strategy, BUDGET).learning(LEARNING);
            cells.push(Cell::of(search).quick(["account", "piper"].contains(name)));
        }
    }
    cells
}

fn rows(results: &Results) -> anyhow::Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for (name, schedules, tuple) in PROGRAMS {
        let Some(cells) = results.row::<Campaigns>(name, SEARCHES)? else { continue };
        let mut row = vec![(*name).to_owned(), (*schedules).to_owned(), (*tuple).to_owned()];
        for (cell, strategy) in cells.iter().zip(SEARCHES) {
            let trial = cell.one()?;
            row.push(trial.runs());
            if strategy.starts_with("rank") {
                row.push(trial.place.clone());
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

const COLUMNS: [&str; 8] =
    ["program", "published", "at", "`rank:paper`", "at", "`rank`", "at", "`ipb`"];

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let mut text = String::from(HEAD);
    let _ = write!(text, "\n{}", table(&COLUMNS, &rows(results)?));
    Ok(vec![Page::whole("experiments/rank/RESULTS.md", text)])
}

fn overview(results: &Results) -> anyhow::Result<String> {
    Ok(format!("{OVERVIEW}\n{}", table(&COLUMNS, &rows(results)?)))
}

const HEAD: &str = "\
# RankChecker: results

Made by `cargo xtask experiment rank`. Schedules up to the first failure, and the tuple at which it was found:
c preemptions, v tracked variables, orders of t threads, l iterations. First what the paper says of the ConTest programs
after which ours were made, then ours by the paper's rules, by our own, and by preemption bounding without ranking.
The programs are in `programs/fail/papers`; they are small, so the counts are smaller than the paper's.
";

const OVERVIEW: &str = "\
## RankChecker ([rank](rank/README.md))

Schedules up to the first failure, and the tuple at which it was found.
";
