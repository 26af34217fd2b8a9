//! Seed paper 2's tables: the deadlock of a thread manager (Table 1), applications (Tables 2 and 3), HaPSet by threads
//! (Table 4), extracted bugs (Table 5); and a lost wake-up that pruning by pairs misses.

use std::fmt::Write as _;

use super::{
    Budget, Campaigns, Case, Cell, Experiment, Page, Results, Search, table, trial::Verdict,
};

pub(super) const EXPERIMENT: Experiment = Experiment { name: "hapset", cells, pages, overview };

/// Time ends a search, as in the paper, whose limit is 600 s.
const BUDGET: Budget = Budget { executions: 100_000_000, seconds: 60 };

/// What the program shares is found out beforehand; the paper knows it from the program's text.
const LEARNING: u64 = 200;

/// The paper's columns, and the searches beside them: the first by the paper's rules, the others by ours.
const COLUMNS: &[(&str, &[&str])] = &[
    ("HaPSet", &["hapset:paper", "hapset", "hapset:order"]),
    ("DPOR", &["dpor:plain", "dpor"]),
    ("PCB0", &["pcb:0"]),
    ("PCB1", &["pcb:1"]),
    ("PCB2", &["pcb:2"]),
    ("PCB3", &["pcb:3"]),
    ("PCB4", &["pcb:4"]),
];

/// A table, with how many of the columns it has.
struct Section {
    title: &'static str,
    n_columns: usize,
    rows: Vec<Row>,
}

/// A program, with what the paper says by column: runs, seconds.
struct Row {
    case: Case,
    published: Vec<(&'static str, String)>,
}

fn source(name: &str) -> String {
    format!("experiments/hapset/programs/{name}.c")
}

/// `14 (27.8 s)`: found after so many runs.
fn found(column: &'static str, runs: u32, seconds: f64) -> (&'static str, String) {
    (column, format!("{runs} ({seconds} s)"))
}

/// The paper's limit came first.
fn timed_out(column: &'static str, runs: u32) -> (&'static str, String) {
    (column, format!("> 600 s ({runs} executions)"))
}

fn workers(program: &str, n: u32, published: Vec<(&'static str, String)>) -> Row {
    let name = format!("{program}, {n} workers");
    let case = Case::new(&name, &source(program)).with_args(&[&n.to_string()]);
    Row { case, published }
}

fn sections() -> Vec<Section> {
    let manager = vec![
        workers("manager", 2, {
            let pcb0 = ("PCB0", "none of 512 (247.2 s)".to_owned());
            let pcb = [pcb0, found("PCB1", 26, 29.2), found("PCB2", 215, 146.9)];
            let first = [found("HaPSet", 14, 27.8), found("DPOR", 23, 18.6)];
            first.into_iter().chain(pcb).chain([timed_out("PCB3", 871)]).collect()
        }),
        workers("manager", 3, {
            let pcb = [timed_out("PCB0", 1301), found("PCB1", 399, 229.7), timed_out("PCB2", 876)];
            let first = [found("HaPSet", 18, 27.5), timed_out("DPOR", 733)];
            first.into_iter().chain(pcb).chain([timed_out("PCB3", 742)]).collect()
        }),
        workers("manager", 4, {
            let late = [("DPOR", 665), ("PCB0", 1111), ("PCB1", 980), ("PCB2", 677), ("PCB3", 639)];
            let late = late.into_iter().map(|it| timed_out(it.0, it.1));
            [found("HaPSet", 22, 33.7)].into_iter().chain(late).collect()
        }),
        workers("manager", 5, {
            let late = [("DPOR", 572), ("PCB0", 899), ("PCB1", 670), ("PCB2", 582), ("PCB3", 573)];
            let late = late.into_iter().map(|it| timed_out(it.0, it.1));
            [found("HaPSet", 25, 38.1)].into_iter().chain(late).collect()
        }),
    ];
    let by_workers =
        [(3, 3.1), (7, 10.0), (12, 21.4), (14, 36.9), (16, 54.2), (18, 80.9), (20, 116.4)];
    let by_workers = by_workers.into_iter().chain([(22, 159.9), (24, 256.9)]).zip(2..);
    let by_workers = by_workers
        .map(|((runs, seconds), n)| workers("download", n, vec![found("HaPSet", runs, seconds)]));
    vec![
        Section { title: "Table 1: the thread manager's deadlock", n_columns: 7, rows: manager },
        Section { title: "Tables 2 and 3: applications", n_columns: 7, rows: applications() },
        Section {
            title: "Table 4: the download by workers",
            n_columns: 1,
            rows: by_workers.collect(),
        },
        Section { title: "Table 5: extracted bugs", n_columns: 7, rows: extracted() },
        Section {
            title: "Beyond the paper: a wake-up that is lost at the end of a loop",
            n_columns: 7,
            rows: (2..=5).map(|it| workers("pool", it, Vec::new())).collect(),
        },
    ]
}

fn applications() -> Vec<Row> {
    let row = |name: &str, program: &str, n: &str, flags: &[&str], published| {
        let case = Case::new(name, &source(program)).with_args(&[n]).with_flags(flags);
        Row { case, published }
    };
    let aget = vec![
        found("HaPSet", 14, 36.9),
        found("DPOR", 96, 173.0),
        timed_out("PCB0", 286),
        found("PCB1", 12, 24.9),
        found("PCB2", 94, 172.0),
        found("PCB3", 151, 277.0),
        found("PCB4", 95, 174.0),
    ];
    let pbzip2 = ["HaPSet", "DPOR", "PCB2"].map(|it| found(it, 2, 0.5)).to_vec();
    let pbzip2_fixed =
        vec![found("HaPSet", 8, 2.6), timed_out("DPOR", 608), timed_out("PCB2", 631)];
    let pfscan = vec![found("HaPSet", 28, 2.8), timed_out("DPOR", 1541), timed_out("PCB2", 2867)];
    vec![
        row("download (aget, race)", "download", "5", &[], aget),
        row("compress (pbzip2, order)", "compress", "4", &[], pbzip2),
        row("compress, fixed (pbz2-f, race)", "compress", "4", &["-DFIXED"], pbzip2_fixed),
        row("scan (pfscan, deadlk)", "scan", "2", &[], pfscan),
    ]
}

fn extracted() -> Vec<Row> {
    /// Runs and seconds of HaPSet, DPOR and PCB2.
    type Published = [(u32, f64); 3];
    const ROWS: [(&str, &str, Published); 11] = [
        ("log_rotation", "MysqlLog, atom", [(5, 0.3), (22, 1.2), (12, 0.7)]),
        ("node_state", "NodeState, order", [(5, 0.3), (22, 1.5), (12, 0.8)]),
        ("script_load", "Loadscript, atom", [(5, 1.0), (79, 6.0), (27, 2.1)]),
        ("seek", "SeekToItem, atom", [(3, 0.2), (127, 9.8), (22, 1.6)]),
        ("timer_update", "UpdateTimer, atom", [(3, 0.2), (128, 11.2), (10, 1.0)]),
        ("file_transport", "FileTransport, deadlk", [(5, 0.2), (22, 1.2), (12, 0.9)]),
        ("thread_create", "CreateThread, order", [(5, 0.2), (22, 1.1), (12, 0.6)]),
        ("read_write_process", "ReadWriteProc, order", [(5, 1.9), (175, 12.0), (20, 2.8)]),
        ("input_stream", "OpenInputStr, deadlk", [(5, 0.3), (1409, 107.7), (42, 3.1)]),
        ("http_connect", "HttpConnect, order", [(5, 3.3), (37, 28.5), (16, 12.0)]),
        ("timer_thread", "TimerThread, deadlk", [(3, 0.2), (101, 7.3), (18, 1.2)]),
    ];
    let row = |(program, like, [hapset, dpor, pcb2]): (&str, &str, Published)| Row {
        case: Case::new(&format!("{program} ({like})"), &source(program)),
        published: vec![
            found("HaPSet", hapset.0, hapset.1),
            found("DPOR", dpor.0, dpor.1),
            found("PCB2", pcb2.0, pcb2.1),
        ],
    };
    ROWS.into_iter().map(row).collect()
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for section in sections() {
        for row in section.rows {
            let case = row.case.with_files(&["experiments/hapset/programs/noise.h"]);
            for strategy in COLUMNS[..section.n_columns].iter().flat_map(|it| it.1) {
                let is_quick = case.name.starts_with("log_rotation");
                let search = Search::new(&case, strategy, BUDGET).learning(LEARNING);
                cells.push(Cell::of(search).quick(is_quick));
            }
        }
    }
    cells
}

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let mut text = String::from(HEAD);
    let mut missed = Vec::new();
    for section in sections() {
        let columns = &COLUMNS[..section.n_columns];
        let is_published =
            |it: &str| section.rows.iter().flat_map(|row| &row.published).any(|of| of.0 == it);
        let mut head = vec!["program".to_owned()];
        for (name, searches) in columns {
            head.extend(is_published(name).then(|| format!("{name}, published")));
            head.extend(searches.iter().map(|it| format!("`{it}`")));
        }
        let mut rows = Vec::new();
        for row in &section.rows {
            let name = &row.case.name;
            let mut figures = vec![name.clone()];
            let mut is_whole = true;
            for (column, searches) in columns {
                if is_published(column) {
                    let published = row.published.iter().find(|it| it.0 == *column);
                    figures.push(published.map_or("–".to_owned(), |it| it.1.clone()));
                }
                let cells = results.row::<Campaigns>(name, searches)?;
                is_whole &= cells.is_some();
                for (cell, search) in cells.iter().flatten().zip(*searches) {
                    let trial = cell.one()?;
                    figures.push(trial.runs_and_time());
                    if column == &"HaPSet" && trial.verdict != Verdict::Found {
                        missed.push(format!("- {name}: `{search}` does not find it."));
                    }
                }
            }
            if is_whole {
                rows.push(figures);
            }
        }
        if !rows.is_empty() {
            let head: Vec<&str> = head.iter().map(String::as_str).collect();
            let _ = write!(text, "\n## {}\n\n{}", section.title, table(&head, &rows));
        }
    }
    let _ = writeln!(text, "\n## What pruning by pairs misses\n");
    if missed.is_empty() {
        let _ = writeln!(text, "Nothing above.");
    }
    for line in missed {
        let _ = writeln!(text, "{line}");
    }
    Ok(vec![Page::whole("experiments/hapset/RESULTS.md", text)])
}

fn overview(results: &Results) -> anyhow::Result<String> {
    let searches = ["hapset:paper", "hapset"];
    let mut rows = Vec::new();
    for row in sections().into_iter().flat_map(|it| it.rows) {
        let name = row.case.name;
        let Some(cells) = results.row::<Campaigns>(&name, &searches)? else { continue };
        let published = row.published.into_iter().find(|it| it.0 == "HaPSet");
        let mut figures = vec![name, published.map_or("–".to_owned(), |it| it.1)];
        for cell in &cells {
            figures.push(cell.one()?.runs_and_time());
        }
        rows.push(figures);
    }
    let head = ["program", "published", "`hapset:paper`", "`hapset`"];
    Ok(format!("{OVERVIEW}\n{}", table(&head, &rows)))
}

const HEAD: &str = "\
# HaPSet: results

Made by `cargo xtask experiment hapset`. Executions to the first failure, and seconds; `none of n`: the search ended after n
executions without a failure; `> 60 s (n executions)`: stopped after that time. *Published* are the paper's results for the
program in parentheses. `hapset:paper`, `dpor:plain` and `pcb:c` follow the paper's rules; the others are Raddle's: `hapset` over
DPOR with sleep sets, `hapset:order`, which leaves nothing out, `dpor` with source sets. The programs are our own, of the
kinds that the paper used. Executions are the same on every machine; seconds are not.
";

const OVERVIEW: &str = "\
## HaPSet ([hapset](hapset/README.md))

Executions to the first failure. In `hapset`, an access of the same thread hides earlier ones, as in the paper's Figure 1 but not
in its Algorithm 1 (`hapset:paper`); it also reorders blocked threads and has sleep sets. Both prune by pairs of statements, so
both can miss a bug that no new pair indicates: `pool` shows it.
";
