//! Total replay: the five experiments of seed paper 3, over programs of our own in C and Rust.
//!
//! What total replay needs, and what reachability testing and TPAIR would, stands in its figures; `dpor` makes all
//! accesses points, as total replay does, and is given up at the budget.

use std::{fmt::Write as _, process::Command};

use anyhow::{Context as _, ensure};
use raddle_report::layout::number::grouped;
use serde_json::Value;

use super::{Lab, root};

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

/// Both tables.
pub(super) fn tables(lab: &Lab<'_>) -> anyhow::Result<String> {
    let mut cases = String::from(
        "| program | structure of | branches, decided by interleaving | total replay | dissertation | reachability, \
         first step | TPAIR, first step | `dpor`, all points | race found |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut sizes = String::from(
        "| program | dependency graph: nodes, bytes | variant graph: nodes, bytes | pairs checked, reused |\n\
         |---|---|---|---|\n",
    );
    for (name, like, dissertation, race) in PROGRAMS {
        if !name.contains(&lab.settings.only) {
            continue;
        }
        for (language, flags) in LANGUAGES {
            let program = format!("{name}.{language}");
            eprintln!("{program} {flags}");
            let total = search(lab, &program, flags, &["--strategy", "total"])?;
            let dpor =
                search(lab, &program, flags, &["--strategy", "dpor", "--points", "all", "-k"])?;
            let figures = Figures(&total.summary["search"]["figures"]);
            let witnesses = match figures.number("witnesses") {
                0 => String::new(),
                n => format!(" (and {} to show races)", grouped(n)),
            };
            let found = if total.has_race_on(race) { format!("`{race}`") } else { "no".to_owned() };
            let _ = writeln!(
                cases,
                "| `{program}` | {like} | {}, {} | {}{witnesses} | {dissertation} | {} | {} | {} | {found} |",
                figures.text("branches"),
                figures.text("branches_decided"),
                figures.text("test_cases"),
                figures.text("reachability"),
                figures.text("thread_pairs"),
                dpor.executions(),
            );
            let _ = writeln!(
                sizes,
                "| `{program}` | {}, {} | {}, {} | {}, {} |",
                figures.text("graph_nodes"),
                figures.text("graph_bytes"),
                figures.text("variant_nodes"),
                grouped(figures.number("variant_bytes")),
                figures.text("pairs_checked"),
                figures.text("pairs_reused"),
            );
        }
    }
    Ok(format!("{cases}\n{sizes}"))
}

/// Explores a program.
fn search(lab: &Lab<'_>, program: &str, flags: &str, how: &[&str]) -> anyhow::Result<Searched> {
    let output = Command::new(&lab.raddle)
        .arg("run")
        .arg(root().join("experiments/total-replay/programs").join(program))
        .arg(format!("--cflags={flags}"))
        .args(["--progress", "none", "--message-format", "json"])
        .args(["--execs", &lab.settings.executions.to_string()])
        .args(["--time", &format!("{}s", lab.settings.seconds)])
        .arg("--store")
        .arg(lab.folder.path().join("store"))
        .args(how)
        .output()
        .with_context(|| format!("failed to start {}", lab.raddle.display()))?;
    let mut searched = Searched::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let line: Value = serde_json::from_str(line)?;
        match line["type"].as_str() {
            Some("summary") => searched.summary = line,
            Some("finding") => searched.findings.push(line),
            _ => {}
        }
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(searched.summary.is_object(), "raddle run of {program} did not end: {errors}");
    Ok(searched)
}

/// What a search came to, as lines of JSON.
#[derive(Debug, Default)]
struct Searched {
    summary: Value,
    findings: Vec<Value>,
}

impl Searched {
    /// Was a race on the variable shown?
    fn has_race_on(&self, variable: &str) -> bool {
        let is_it = |it: &Value| {
            let memory = it["evidence"]["memory"].as_str().unwrap_or_default().to_lowercase();
            it["kind"] == "race" && it["certainty"] == "shown" && memory.contains(variable)
        };
        self.findings.iter().any(is_it)
    }

    /// Executions of the search; more, if it was given up.
    fn executions(&self) -> String {
        let search = &self.summary["search"];
        let n = grouped(search["executions"].as_u64().unwrap_or_default());
        if search["exhaustive"] == true { n } else { format!("more than {n}") }
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
