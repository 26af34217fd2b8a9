//! Seed paper 0's Table 1: schedules explored up to the first bug, and the tuple at which it was found.

use std::fmt::Write as _;

use anyhow::bail;

use super::{Case, Lab, table};

/// The programs, with what the paper says of those after which they were made: threads, schedules, tuple.
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

/// The table.
pub(super) fn tables(lab: &Lab<'_>) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for (name, schedules, tuple) in PROGRAMS {
        let case = Case::new(name, &format!("programs/fail/papers/{name}.c"));
        if lab.is_left_out(&case) {
            continue;
        }
        let [paper, ranked, bounded] = &lab.search(&case, &["rank:paper", "rank", "ipb"])?[..]
        else {
            bail!("raddle compare left something out");
        };
        rows.push(vec![
            (*name).to_owned(),
            (*schedules).to_owned(),
            (*tuple).to_owned(),
            paper.runs(),
            paper.place.clone(),
            ranked.runs(),
            ranked.place.clone(),
            bounded.runs(),
        ]);
    }
    let mut text = String::from(HEAD);
    let head = ["program", "published", "at", "`rank:paper`", "at", "`rank`", "at", "`ipb`"];
    let _ = write!(text, "\n{}", table(&head, &rows));
    Ok(text)
}

const HEAD: &str = "\
# RankChecker: results

Made by `cargo xtask experiment rank`. Schedules up to the first failure, and the tuple at which it was found:
c preemptions, v tracked variables, orders of t threads, l iterations. First what the paper says of the ConTest programs
after which ours were made, then ours by the paper's rules, by our own, and by preemption bounding without ranking.
The programs are in `programs/fail/papers`; they are small, so the counts are smaller than the paper's.
";
