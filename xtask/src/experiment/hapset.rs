//! Seed paper 2's tables: the deadlock of a thread pool (Table 1), applications (Table 2), PCB by bounds
//! (Table 3), HaPSet by threads (Table 4), extracted bugs (Table 5).

use std::fmt::Write as _;

use super::{
    Budget, Campaigns, Case, Cell, Experiment, Page, Results, Search, table, trial::Verdict,
};

pub(super) const EXPERIMENT: Experiment = Experiment { name: "hapset", cells, pages, overview };

const BUDGET: Budget = Budget { executions: 2_000, seconds: 60 };

/// What the program shares is found out beforehand; the paper knows it from the program's text.
const LEARNING: u64 = 200;

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

/// Tables with their programs.
fn sections() -> Vec<(&'static str, Vec<Case>)> {
    let by_workers = |program: &str, workers: std::ops::RangeInclusive<u32>| -> Vec<Case> {
        let case = |it: u32| {
            let name = format!("{program}, {it} workers");
            Case::new(&name, &source(program)).with_args(&[&it.to_string()])
        };
        workers.map(case).collect()
    };
    let applications = vec![
        Case::new("download, 5 workers (race)", &source("download")).with_args(&["5"]),
        Case::new("compress (order)", &source("compress")).with_args(&["2"]),
        Case::new("compress, fixed (race)", &source("compress"))
            .with_args(&["2"])
            .with_flags(&["-DFIXED"]),
        Case::new("scan (deadlk)", &source("scan")).with_args(&["2"]),
    ];
    let extracted = EXTRACTED
        .iter()
        .map(|(name, kind)| Case::new(&format!("{name} ({kind})"), &source(name)))
        .collect();
    vec![
        ("Table 1: the thread pool's deadlock", by_workers("pool", 2..=5)),
        ("Tables 2 and 3: applications", applications),
        ("Table 4: the download by workers", by_workers("download", 2..=10)),
        ("Table 5: extracted bugs", extracted),
    ]
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for case in sections().into_iter().flat_map(|it| it.1) {
        let case = case.with_files(&["experiments/hapset/programs/noise.h"]);
        for (strategy, _) in SEARCHES {
            let is_quick = case.name == "pool, 2 workers";
            let search = Search::new(&case, strategy, BUDGET).learning(LEARNING);
            cells.push(Cell::of(search).quick(is_quick));
        }
    }
    cells
}

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let strategies: Vec<&str> = SEARCHES.iter().map(|it| it.0).collect();
    let head: Vec<&str> = ["program"].into_iter().chain(SEARCHES.iter().map(|it| it.1)).collect();
    let mut text = String::from(HEAD);
    let mut missed = Vec::new();
    for (title, cases) in sections() {
        let mut rows = Vec::new();
        for case in cases {
            let Some(cells) = results.row::<Campaigns>(&case.name, &strategies)? else { continue };
            if cells[0].one()?.verdict != Verdict::Found {
                missed.push((case.name.clone(), cells[1].one()?.runs()));
            }
            let mut row = vec![case.name];
            for cell in &cells {
                row.push(cell.one()?.runs_and_time());
            }
            rows.push(row);
        }
        if !rows.is_empty() {
            let _ = writeln!(text, "\n## {title}\n\n{}", table(&head, &rows));
        }
    }
    let _ = writeln!(text, "\n## What pruning by pairs misses\n");
    if missed.is_empty() {
        let _ = writeln!(text, "Nothing: `hapset` found every bug above.");
    }
    for (name, order) in missed {
        let _ = writeln!(text, "- {name}: not found by `hapset`, by `hapset:order` in {order}.");
    }
    Ok(vec![Page::whole("experiments/hapset/RESULTS.md", text)])
}

fn overview(results: &Results) -> anyhow::Result<String> {
    let searches = ["hapset:paper", "hapset", "dpor:plain"];
    let mut rows = Vec::new();
    for case in sections().into_iter().flat_map(|it| it.1) {
        let Some(cells) = results.row::<Campaigns>(&case.name, &searches)? else { continue };
        let mut row = vec![case.name];
        for cell in &cells {
            row.push(cell.one()?.runs());
        }
        rows.push(row);
    }
    let head = ["program", "`hapset:paper`", "`hapset`", "`dpor:plain`"];
    Ok(format!("## HaPSet ([hapset](hapset/README.md))\n\n{}", table(&head, &rows)))
}

const HEAD: &str = "\
# HaPSet: results

Made by `cargo xtask experiment hapset`. Executions to the first failure (and seconds, on whatever machine this
was); `none of n`: the search ended after n executions without a failure; `> n`: given up. HaPSet, DPOR and PCBc are
by the paper's rules (`hapset:paper`, `dpor:plain`, `pcb:c`); the others are ours: `hapset` over DPOR with sleep sets,
`hapset:order`, which leaves nothing out, `dpor` with source sets, `ipb:2` level by level. The programs are our own, of the
kinds that the paper used, so its figures are not these.
";
