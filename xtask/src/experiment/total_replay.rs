//! Total replay: the five experiments of seed paper 3, over programs of our own in C and Rust.
//!
//! What total replay needs, and what reachability testing and TPAIR would, stands in its closing line; `dpor` makes all
//! accesses points, as total replay does, and is given up at the budget.

use std::{fmt::Write as _, process::Command};

use anyhow::Context as _;

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
            let said = search(lab, &program, flags, &["--strategy", "total"])?;
            let figures = Figures::of(&said);
            let dpor =
                search(lab, &program, flags, &["--strategy", "dpor", "--points", "all", "-k"])?;
            let witnesses = match figures.after("witnesses") {
                none if none.is_empty() => String::new(),
                n => format!(" (and {n} to show races)"),
            };
            let is_found =
                said.lines().any(|it| it.starts_with("error[") && it.to_lowercase().contains(race));
            let _ = writeln!(
                cases,
                "| `{program}` | {like} | {}, {} | {}{witnesses} | {dissertation} | {} | {} | {} | {} |",
                figures.after("branches"),
                figures.after("decided by interleaving"),
                figures.after("· executions"),
                figures.after("reachability testing would need"),
                figures.after("thread pairs"),
                dpor_executions(&dpor),
                if is_found { format!("`{race}`") } else { "no".to_owned() },
            );
            let _ = writeln!(
                sizes,
                "| `{program}` | {}, {} | {}, {} | {}, {} |",
                figures.after("graph nodes"),
                figures.bracketed(1),
                figures.after(" for"),
                figures.bracketed(2),
                figures.after("pairs checked"),
                figures.after("reused"),
            );
        }
    }
    Ok(format!("{cases}\n{sizes}"))
}

/// What `raddle run` says.
fn search(lab: &Lab<'_>, program: &str, flags: &str, how: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(&lab.raddle)
        .arg("run")
        .arg(root().join("experiments/total-replay/programs").join(program))
        .arg(format!("--cflags={flags}"))
        .args(["--progress", "none", "--execs", &lab.settings.executions.to_string()])
        .args(["--time", &format!("{}s", lab.settings.seconds)])
        .arg("--store")
        .arg(lab.folder.path().join("store"))
        .args(how)
        .output()
        .with_context(|| format!("failed to start {}", lab.raddle.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr))
}

/// The executions of another search: more, if it was given up.
fn dpor_executions(said: &str) -> String {
    let line = said.lines().find(|it| it.starts_with("search dpor")).unwrap_or_default();
    let figures = Figures { line: line.to_owned() };
    let n = figures.after("search dpor:");
    let is_over = line.contains("all schedules were explored");
    if is_over { n } else { format!("more than {n}") }
}

/// The closing line of a search.
struct Figures {
    line: String,
}

impl Figures {
    fn of(said: &str) -> Figures {
        let line = said.lines().find(|it| it.starts_with("search total")).unwrap_or_default();
        Figures { line: line.to_owned() }
    }

    /// The figure behind these words; empty if they are not there.
    fn after(&self, words: &str) -> String {
        let Some((_, rest)) = self.line.split_once(&format!("{words} ")) else {
            return String::new();
        };
        let (more, rest) = match rest.strip_prefix("more than ") {
            Some(rest) => ("more than ", rest),
            None => ("", rest),
        };
        let digits: String =
            rest.chars().take_while(|it| it.is_ascii_digit() || *it == ',').collect();
        more.to_owned() + digits.trim_end_matches(',')
    }

    /// The number in brackets behind the graph's nodes: how many there are, then those of the other graph.
    fn bracketed(&self, nth: usize) -> String {
        let rest = self.line.split_once("graph nodes").map_or("", |it| it.1);
        let inside = rest.split('(').nth(nth).unwrap_or_default();
        inside.chars().take_while(|it| it.is_ascii_digit() || *it == ',').collect()
    }
}
