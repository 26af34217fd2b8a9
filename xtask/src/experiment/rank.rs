//! Seed paper 0's Table 1: schedules explored up to the first bug, and the tuple at which it was found.

use std::{fmt::Write as _, fs, process::Command};

use anyhow::ensure;
use raddle_report::layout::number::grouped;
use serde::{Deserialize, Serialize};

use super::{
    Budget, Campaigns, Case, Cell, Experiment, Page, Results, Search,
    lab::Lab,
    results::key,
    root, table,
    trial::{Trial, Verdict},
};

pub(super) const EXPERIMENT: Experiment = Experiment { name: "rank", cells, pages, overview };

/// A row of the paper's table.
struct Published {
    name: &'static str,
    n_lines: u64,
    n_threads: u64,
    /// All of them, and those that are shared.
    variables: [u64; 2],
    schedules: &'static str,
    tuple: &'static str,
}

/// A program of ours after one of the paper's: its file, and what makes it as large.
type Program = (Published, &'static str, &'static [&'static str]);

const fn published(
    name: &'static str,
    [n_lines, n_threads, total, shared]: [u64; 4],
    schedules: &'static str,
    tuple: &'static str,
) -> Published {
    Published { name, n_lines, n_threads, variables: [total, shared], schedules, tuple }
}

const ONE: &str = "(1, all, 2, 1)";
const NONE: &str = "(0, 0, 2, 1)";
const TWO: &str = "(2, 1, 2, 1)";

#[rustfmt::skip]
const PROGRAMS: &[Program] = &[
    (published("MergeSort", [376, 100, 30, 6], "651", ONE), "fail/papers/merge_sort", &["-DN=200", "-DTHREADS=99"]),
    (published("ProducerConsumer", [279, 7, 61, 9], "1", NONE), "fail/papers/producer_consumer", &["-DEACH=3", "-DITEMS=3"]),
    (published("LinkedList", [420, 3, 60, 4], "23", ONE), "fail/papers/linked_list", &["-DN=10"]),
    (published("BubbleSort", [365, 9, 54, 2], "1", NONE), "fail/papers/bubble_sort", &["-DN=9"]),
    (published("BubbleSort2", [129, 101, 15, 3], "2", NONE), "fail/papers/bubble_sort2", &["-DN=101"]),
    (published("Piper", [210, 5, 33, 6], "425", TWO), "fail/papers/piper", &["-DPASSENGERS=3"]),
    (published("AllocationVector", [288, 3, 24, 2], "113", TWO), "fail/papers/allocation_vector", &["-DN=10"]),
    (published("BufWriter", [259, 5, 27, 7], "12", NONE), "fail/papers/buffered_writer", &["-DWRITERS=3", "-DEACH=3"]),
    (published("PingPong", [276, 18, 25, 2], "234", ONE), "fail/papers/ping_pong", &["-DPLAYERS=17"]),
    (published("Manager", [190, 6, 25, 5], "33", ONE), "fail/papers/manager", &["-DWORKERS=5", "-DPIECES=4"]),
    (published("MergeSortBug", [258, 29, 21, 6], "89", ONE), "fail/papers/merge_sort_bug", &["-DN=31"]),
    (published("Account", [169, 3, 26, 4], "19", ONE), "fail/papers/account_transfer", &[]),
    (published("AirLineTickets", [99, 11, 18, 2], "2", NONE), "fail/papers/airline_tickets", &["-DSEATS=8"]),
    (published("HashSet", [7086, 200, 125, 16], "813", ONE), "fail/papers/hash_set", &["-DTHREADS=199"]),
    (published("TreeSet", [7532, 200, 144, 20], "813", ONE), "fail/papers/tree_set", &["-DTHREADS=199"]),
    (published("Cache4j", [3897, 12, 338, 18], "none", "up to (2, all, 2, 1)"), "pass/papers/cache", &["-DUSERS=10"]),
];

const SEARCHES: &[&str] = &["rank:paper", "rank", "ipb"];

const BUDGET: Budget = Budget { executions: 20_000, seconds: 120 };

/// For preemption bounding on programs of a hundred threads and more, where it gets nowhere.
const LARGE: Budget = Budget { executions: 2_000, seconds: 600 };

/// What the program shares is found out beforehand; the paper knows it from the program's text.
const LEARNING: u64 = 200;

/// Counts threads.
const COUNT: &str = "experiments/rank/count.h";

fn case((published, file, flags): &Program) -> Case {
    Case::new(published.name, &format!("programs/{file}.c")).with_flags(flags)
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for program in PROGRAMS {
        let case = case(program);
        let is_quick = ["Account", "Piper", "Manager"].contains(&case.name.as_str());
        for strategy in SEARCHES {
            let is_large = *strategy == "ipb" && program.0.n_threads >= 100;
            let budget = if is_large { LARGE } else { BUDGET };
            let search = Search::new(&case, strategy, budget).learning(LEARNING);
            cells.push(Cell::of(search).quick(is_quick && *strategy != "ipb"));
        }
        let (key, of) = (key(&[&case.name, "size"]), case.clone());
        let flags = case.flags.join(" ");
        let files = [case.source.as_str(), COUNT];
        let cell = Cell::new(&key, &[&flags], &files, move |lab| Size::of(lab, &of));
        cells.push(cell.quick(is_quick));
    }
    cells
}

/// How large a program is.
#[derive(Debug, Serialize, Deserialize)]
struct Size {
    /// Lines that are not empty, nor a comment alone.
    n_lines: u64,
    /// With the main thread, in an execution without preemption.
    n_threads: u64,
    /// Variables of static storage.
    n_variables: u64,
}

impl Size {
    fn of(lab: &Lab, case: &Case) -> anyhow::Result<Size> {
        let text = fs::read_to_string(root().join(&case.source))?;
        let is_code = |it: &&str| !it.trim().is_empty() && !it.trim_start().starts_with("//");
        let n_lines = text.lines().filter(is_code).count() as u64;
        let mut counted = case.clone();
        let header = root().join(COUNT).canonicalize()?;
        counted.flags.push(format!("-include {}", header.display()));
        let options = ["--strategy", "nonpreemptive", "--show-output", "--detect", "none"];
        let told = lab.run(&counted, Budget { executions: 1, seconds: 60 }, "run", &options)?;
        let output = told.outputs.first().and_then(|it| it["output"].as_str()).unwrap_or_default();
        let n_created = output.lines().filter(|it| *it == "thread").count() as u64;
        ensure!(n_created > 0, "no threads in {output}");
        let folder = lab.folder()?;
        let program = lab.native(case, folder.path())?;
        let symbols = Command::new("nm").arg(program).output()?;
        let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
        let n_variables = symbols.lines().filter(|it| is_variable(it)).count() as u64;
        Ok(Size { n_lines, n_threads: n_created + 1, n_variables })
    }
}

/// Is it a line of `nm` on a variable of the program's own?
fn is_variable(line: &str) -> bool {
    let mut words = line.split_whitespace().rev();
    let (name, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_compilers =
        name.starts_with('_') || name.starts_with("completed.") || name == "data_start";
    ["b", "B", "d", "D"].contains(&kind) && !is_compilers && !name.contains('@')
}

/// The tuple of a failure. What fails in the execution without preemption that comes before every search has none.
fn tuple(trial: &Trial) -> String {
    match trial.verdict {
        Verdict::Found if trial.place.is_empty() => "before the first".to_owned(),
        _ => trial.place.clone(),
    }
}

fn rows(results: &Results, is_whole: bool) -> anyhow::Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for (published, ..) in PROGRAMS {
        let name = published.name;
        let columns = if is_whole { SEARCHES } else { &SEARCHES[..2] };
        let Some(cells) = results.row::<Campaigns>(name, columns)? else { continue };
        let Some(size) = results.get::<Size>(&[name, "size"])? else { continue };
        let mut row = vec![name.to_owned()];
        if is_whole {
            let [total, shared] = published.variables;
            row.push(format!("{}, {}", grouped(published.n_lines), size.n_lines));
            row.push(format!("{}, {}", published.n_threads, size.n_threads));
            row.push(format!("{total} ({shared} shared), {}", size.n_variables));
        }
        row.extend([published.schedules.to_owned(), published.tuple.to_owned()]);
        for (cell, strategy) in cells.iter().zip(columns) {
            let trial = cell.one()?;
            row.push(trial.runs());
            if strategy.starts_with("rank") {
                row.push(tuple(trial));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// In how many rows the search finds the bug with the published tuple, and with as many schedules within a factor.
fn agreement(results: &Results, search: &str) -> anyhow::Result<String> {
    let (mut n_tuples, mut n_counts, mut n_rows) = (0, 0, 0);
    for (published, ..) in PROGRAMS {
        let Some(cell) = results.get::<Campaigns>(&[published.name, search])? else { continue };
        let trial = cell.one()?;
        n_rows += 1;
        let is_none = published.schedules == "none";
        let is_before = trial.verdict == Verdict::Found && trial.place.is_empty();
        let is_same = if is_none {
            trial.verdict != Verdict::Found
        } else {
            trial.place == published.tuple || (is_before && published.tuple == NONE)
        };
        n_tuples += u32::from(is_same);
        let count: Option<u64> = published.schedules.parse().ok();
        let is_near = count.is_some_and(|it| {
            trial.verdict == Verdict::Found
                && trial.n_executions.max(it) <= 3 * trial.n_executions.min(it)
        });
        n_counts += u32::from(is_near);
    }
    Ok(format!(
        "`{search}` agrees with the paper in the tuple in {n_tuples} of {n_rows} rows, and in the number of schedules, within a \
         factor of 3, in {n_counts}."
    ))
}

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let head = [
        "program",
        "lines: theirs, ours",
        "threads",
        "variables",
        "published",
        "at",
        "`rank:paper`",
        "at",
        "`rank`",
        "at",
        "`ipb`",
    ];
    let mut text = String::from(HEAD);
    let _ = write!(text, "\n{}\n", table(&head, &rows(results, true)?));
    for search in &SEARCHES[..2] {
        let _ = writeln!(text, "{}", agreement(results, search)?);
    }
    text += TAIL;
    Ok(vec![Page::whole("experiments/rank/RESULTS.md", text)])
}

fn overview(results: &Results) -> anyhow::Result<String> {
    let head = ["program", "published", "at", "`rank:paper`", "at", "`rank`", "at"];
    Ok(format!("{OVERVIEW}\n{}", table(&head, &rows(results, false)?)))
}

const HEAD: &str = "\
# RankChecker: results

Made by `cargo xtask experiment rank`. Schedules up to the first failure, and the tuple at which it was found:
c preemptions, v tracked variables, orders of t threads, l iterations. First the paper's results for the programs that ours are
modelled on, then ours by the paper's rules, by Raddle's own, and by preemption bounding without ranking. Lines, threads and
variables: the paper's, and ours (variables of static storage, without heap and stacks). `before the first`: the execution
without preemption that precedes every search fails. `> n`: stopped after n.
";

const TAIL: &str = "
The programs were written to match the published tuples: equal tuples show that the search works as published, not that the
programs are the same. BufWriter's published row contradicts the paper's own text, by which (0, 0, 2, 1) has two schedules.
";

const OVERVIEW: &str = "\
## RankChecker ([rank](rank/RESULTS.md))

Schedules up to the first failure, and the tuple (c, v, t, l) at which it was found. By the paper's rules, a thread of higher
priority preempts when it becomes enabled, so a new thread may run as soon as it is created. In `rank`, the running thread
continues until it blocks; this needs a preemption there, or misses the failure if the loop bound allows none.
";

#[cfg(test)]
mod tests {
    use super::is_variable;

    #[test]
    fn variables_are_told_apart() {
        assert!(is_variable("0000000000004040 b n_left"));
        assert!(is_variable("0000000000004010 d lock"));
        assert!(!is_variable("0000000000001189 t work"));
        assert!(!is_variable("0000000000004038 b completed.0"));
        assert!(!is_variable("0000000000004000 D __data_start"));
        assert!(!is_variable("0000000000004020 B stdout@GLIBC_2.2.5"));
    }
}
