//! Seed paper 2's tables: the deadlock of a thread pool (Table 1), applications (Table 2), PCB by bounds
//! (Table 3), HaPSet by threads (Table 4), extracted bugs (Table 5).

use std::fmt::Write as _;

use super::{Case, Cell, Lab, Verdict, table};

/// The searches of a row, and what the paper calls them.
const SEARCHES: &[(&str, &str)] = &[
    ("hapset", "`hapset`"),
    ("hapset:order", "`hapset:order`"),
    ("hapset:paper", "HaPSet"),
    ("dpor:plain", "DPOR"),
    ("dpor", "`dpor`"),
    ("pcb:0", "PCB0"),
    ("pcb:1", "PCB1"),
    ("pcb:2", "PCB2"),
    ("pcb:3", "PCB3"),
    ("pcb:4", "PCB4"),
    ("ipb:2", "`ipb:2`"),
];

const EXTRACTED: &[(&str, &str)] = &[
    ("log_rotation", "atom"),
    ("node_state", "order"),
    ("script_load", "atom"),
    ("seek", "atom"),
    ("timer_update", "atom"),
    ("file_transport", "deadlk"),
    ("thread_create", "order"),
    ("read_write_process", "order"),
    ("input_stream", "deadlk"),
    ("http_connect", "order"),
    ("timer_thread", "deadlk"),
];

fn source(name: &str) -> String {
    format!("experiments/hapset/programs/{name}.c")
}

/// All tables, with what they mean.
pub(super) fn tables(lab: &Lab<'_>) -> anyhow::Result<String> {
    let mut text = String::from(HEAD);
    let mut missed = Vec::new();
    let mut section = |title: &str, cases: &[Case]| -> anyhow::Result<()> {
        let rows = rows(lab, cases, &mut missed)?;
        if !rows.is_empty() {
            let head: Vec<&str> =
                ["program"].into_iter().chain(SEARCHES.iter().map(|it| it.1)).collect();
            let _ = writeln!(text, "\n## {title}\n\n{}", table(&head, &rows));
        }
        Ok(())
    };
    let by_workers = |name: &str, workers: std::ops::RangeInclusive<u32>| -> Vec<Case> {
        let case = |it: u32| {
            let name = format!("{name}, {it} workers");
            let base = name.split(',').next().unwrap_or_default().to_owned();
            Case::new(&name, &source(&base)).with_args(&[&it.to_string()])
        };
        workers.map(case).collect()
    };
    section("Table 1: the thread pool's deadlock", &by_workers("pool", 2..=5))?;
    let applications = [
        Case::new("download, 5 workers (race)", &source("download")).with_args(&["5"]),
        Case::new("compress (order)", &source("compress")).with_args(&["2"]),
        Case::new("compress, fixed (race)", &source("compress"))
            .with_args(&["2"])
            .with_flags(&["-DFIXED"]),
        Case::new("scan (deadlk)", &source("scan")).with_args(&["2"]),
    ];
    section("Tables 2 and 3: applications", &applications)?;
    section("Table 4: the download by workers", &by_workers("download", 2..=10))?;
    let extracted: Vec<Case> = EXTRACTED
        .iter()
        .map(|(name, kind)| Case::new(&format!("{name} ({kind})"), &source(name)))
        .collect();
    section("Table 5: extracted bugs", &extracted)?;
    let _ = writeln!(text, "\n## What pruning by pairs misses\n");
    if missed.is_empty() {
        let _ = writeln!(text, "Nothing: `hapset` found every bug above.");
    }
    for (name, order) in missed {
        let _ = writeln!(text, "- {name}: not found by `hapset`, by `hapset:order` in {order}.");
    }
    Ok(text)
}

fn rows(
    lab: &Lab<'_>,
    cases: &[Case],
    missed: &mut Vec<(String, String)>,
) -> anyhow::Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for case in cases.iter().filter(|it| !lab.is_left_out(it)) {
        let strategies: Vec<&str> = SEARCHES.iter().map(|it| it.0).collect();
        let cells = lab.search(case, &strategies)?;
        if cells[0].verdict != Verdict::Found {
            missed.push((case.name.clone(), cells[1].runs()));
        }
        let figures = cells.iter().map(Cell::runs_and_time);
        rows.push([case.name.clone()].into_iter().chain(figures).collect());
    }
    Ok(rows)
}

const HEAD: &str = "\
# HaPSet: results

Made by `cargo xtask experiment hapset`. Executions to the first failure (and seconds, on whatever machine this
was); `none of n`: the search ended after n executions without a failure; `> n`: given up. HaPSet, DPOR and PCBc are
by the paper's rules (`hapset:paper`, `dpor:plain`, `pcb:c`); the others are ours: `hapset` over DPOR with sleep sets,
`hapset:order`, which leaves nothing out, `dpor` with source sets, `ipb:2` level by level. The programs are our own, of the
kinds that the paper used, so its figures are not these.
";
