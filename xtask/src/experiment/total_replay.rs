//! Total replay: the five experiments of seed paper 3, over programs of our own in C and Rust.
//!
//! What total replay needs, and what reachability testing and TPAIR would, stands in its figures; `dpor` makes all
//! accesses points, as total replay does, and is given up at the budget.

use std::fmt::Write as _;

use raddle_report::layout::number::grouped;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Budget, Case, Cell, Experiment, Page, Results, lab::Told, results::key, table};

pub(super) const EXPERIMENT: Experiment =
    Experiment { name: "total-replay", cells, pages, overview };

const BUDGET: Budget = Budget { executions: 2_000, seconds: 60 };

/// Searches: what cells call them, and their options.
const SEARCHES: [(&str, &[&str]); 2] = [
    ("total", &["--strategy", "total"]),
    ("dpor", &["--strategy", "dpor", "--points", "all", "-k"]),
];

/// A program, what it is like, the dissertation's test cases of how many, and the race to find.
const PROGRAMS: [(&str, &str, &str, &str); 5] = [
    ("pool", "Commons Pool", "2 of 147 (or 216)", "factory"),
    ("telnet", "JTelnet", "1 of 66 (TPAIR)", "last_key"),
    ("monitor", "jNetMap", "4 of infinitely many", "n_found"),
    ("crawler", "JoBo", "1 or 2 of infinitely many", "n_bytes"),
    ("service", "Derby", "58 of 1,453,539 (TPAIR)", "n_closed"),
];

/// Languages, with flags: as little is optimised as leaves the code as it is written.
const LANGUAGES: [(&str, &str); 2] = [("c", "-O0"), ("rs", "-Copt-level=1")];

/// Each program in each language.
fn programs() -> impl Iterator<Item = (Case, (&'static str, &'static str, &'static str))> {
    PROGRAMS.into_iter().flat_map(|(name, like, dissertation, race)| {
        LANGUAGES.into_iter().map(move |(language, flags)| {
            let program = format!("{name}.{language}");
            let source = format!("experiments/total-replay/programs/{program}");
            (Case::new(&program, &source).with_flags(&[flags]), (like, dissertation, race))
        })
    })
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (case, (_, _, race)) in programs() {
        for (label, options) in SEARCHES {
            let (key, of) = (key(&[&case.name, label]), case.clone());
            let inputs = format!("{:?} {options:?} {BUDGET:?}", case.flags);
            let how = move |lab: &super::Lab| {
                Ok(Searched::of(&lab.run(&of, BUDGET, "run", options)?, race))
            };
            let cell = Cell::new(&key, &[&inputs], &[&case.source], how);
            cells.push(cell.quick(case.name == "pool.c"));
        }
    }
    cells
}

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let (mut cases, mut sizes) = (Vec::new(), Vec::new());
    for (case, (like, dissertation, race)) in programs() {
        let Some(searched) = results.row::<Searched>(&case.name, &["total", "dpor"])? else {
            continue;
        };
        let (total, dpor) = (&searched[0], &searched[1]);
        let figures = Figures(&total.figures);
        let witnesses = match figures.number("witnesses") {
            0 => String::new(),
            n => format!(" (and {} to show races)", grouped(n)),
        };
        let program = format!("`{}`", case.name);
        cases.push(vec![
            program.clone(),
            like.to_owned(),
            format!("{}, {}", figures.text("branches"), figures.text("branches_decided")),
            figures.text("test_cases") + &witnesses,
            dissertation.to_owned(),
            figures.text("reachability"),
            figures.text("thread_pairs"),
            dpor.executions(),
            if total.has_race { format!("`{race}`") } else { "no".to_owned() },
        ]);
        sizes.push(vec![
            program,
            format!("{}, {}", figures.text("graph_nodes"), figures.text("graph_bytes")),
            format!(
                "{}, {}",
                figures.text("variant_nodes"),
                grouped(figures.number("variant_bytes"))
            ),
            format!("{}, {}", figures.text("pairs_checked"), figures.text("pairs_reused")),
        ]);
    }
    let mut text = table(
        &[
            "program",
            "structure of",
            "branches, decided by interleaving",
            "total replay",
            "dissertation",
            "reachability, first step",
            "TPAIR, first step",
            "`dpor`, all points",
            "race found",
        ],
        &cases,
    );
    let head = [
        "program",
        "dependency graph: nodes, bytes",
        "variant graph: nodes, bytes",
        "pairs checked, reused",
    ];
    let _ = write!(text, "\n{}", table(&head, &sizes));
    Ok(vec![Page::whole("experiments/total-replay/RESULTS.md", text)])
}

fn overview(results: &Results) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for (case, (_, dissertation, _)) in programs() {
        let Some(total) = results.get::<Searched>(&[&case.name, "total"])? else { continue };
        let test_cases = Figures(&total.figures).text("test_cases");
        rows.push(vec![case.name, dissertation.to_owned(), test_cases]);
    }
    let table = table(&["program", "published", "`total`"], &rows);
    Ok(format!("## Total replay ([total-replay](total-replay/README.md))\n\n{table}"))
}

/// What a search came to.
#[derive(Debug, Serialize, Deserialize)]
struct Searched {
    n_executions: u64,
    is_exhaustive: bool,
    /// Was the race to find shown?
    has_race: bool,
    figures: Value,
}

impl Searched {
    fn of(told: &Told, race: &str) -> Searched {
        let is_it = |it: &Value| {
            let memory = it["evidence"]["memory"].as_str().unwrap_or_default().to_lowercase();
            it["kind"] == "race" && it["certainty"] == "shown" && memory.contains(race)
        };
        let search = &told.summary["search"];
        Searched {
            n_executions: search["executions"].as_u64().unwrap_or_default(),
            is_exhaustive: search["exhaustive"] == true,
            has_race: told.findings.iter().any(is_it),
            figures: search["figures"].clone(),
        }
    }

    /// Executions of the search; more, if it was given up.
    fn executions(&self) -> String {
        let n = grouped(self.n_executions);
        if self.is_exhaustive { n } else { format!("more than {n}") }
    }
}

/// The figures of total replay.
struct Figures<'a>(&'a Value);

impl Figures<'_> {
    fn number(&self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or_default()
    }

    fn text(&self, name: &str) -> String {
        let more = if self.number(&format!("{name}_cut")) > 0 { "more than " } else { "" };
        more.to_owned() + &grouped(self.number(name))
    }
}
