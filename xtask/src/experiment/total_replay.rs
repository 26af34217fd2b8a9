//! Total replay: the experiments of seed paper 3, over programs of our own in C and Rust. Each of the dissertation's methods
//! is run to its end, or its budget's: Table 12 (test cases), Table 18 (memory), Figures 69 and 93 (more accesses, more of
//! them that decide), Figure 91 (analysis of traces and generation of test cases), appendices A and B (orders of accesses).

use std::fmt::Write as _;

use raddle_report::layout::number::grouped;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Budget, Case, Cell, Experiment, Lab, Page, Results, branches::n_executed, lab::Told,
    results::key, table,
};

pub(super) const EXPERIMENT: Experiment =
    Experiment { name: "total-replay", cells, pages, overview };

const BUDGET: Budget = Budget { executions: 2_000, seconds: 20 };

/// The dissertation's methods, and ours.
const METHODS: [&str; 5] =
    ["total:reachability", "total:tpair", "total:groups", "total:guidelines", "total"];

/// Total replay makes all accesses points, so `dpor` does.
const DPOR: &str = "dpor";

/// A program with what it is like, the dissertation's figures, and the race to find.
struct Program {
    name: &'static str,
    like: &'static str,
    languages: &'static [(&'static str, &'static str)],
    /// Branches, those that interleaving decides; test cases of TPAIR, and of the dissertation's method.
    published: [&'static str; 4],
    /// Kilobytes of the trace, threads, shared variables.
    published_trace: [&'static str; 3],
    race: &'static str,
}

/// Languages, with flags: as little is optimised as leaves the code as it is written.
const C: (&str, &str) = ("c", "-O0");
const RUST: (&str, &str) = ("rs", "-Copt-level=1");

const PROGRAMS: [Program; 8] = [
    Program {
        name: "pool",
        like: "Commons Pool",
        languages: &[C, RUST],
        published: ["17", "1", "23", "2"],
        published_trace: ["35", "3", "33"],
        race: "factory",
    },
    Program {
        name: "telnet",
        like: "JTelnet",
        languages: &[C, RUST],
        published: ["329", "0", "66", "1"],
        published_trace: ["1,638", "3", "7"],
        race: "last_key",
    },
    Program {
        name: "monitor",
        like: "jNetMap",
        languages: &[C, RUST],
        published: ["31", "1", "infinite", "4"],
        published_trace: ["201", "6", "10"],
        race: "n_found",
    },
    Program {
        name: "crawler",
        like: "JoBo",
        languages: &[C, RUST],
        published: ["121,665", "1", "infinite", "1"],
        published_trace: ["87,500", "4", "4"],
        race: "n_bytes",
    },
    Program {
        name: "service",
        like: "Derby",
        languages: &[C, RUST],
        published: ["14,164", "29", "1,453,539", "58"],
        published_trace: ["72,800", "5", "33"],
        race: "n_closed",
    },
    Program {
        name: "weblech",
        like: "WebLech",
        languages: &[C],
        published: ["–", "–", "–", "–"],
        published_trace: ["–", "–", "–"],
        race: "n_bytes",
    },
    Program {
        name: "spider",
        like: "WebLech, its size",
        languages: &[C],
        published: ["–", "–", "–", "–"],
        published_trace: ["–", "–", "–"],
        race: "n_waited",
    },
    Program {
        name: "webharvest",
        like: "WebHarvest",
        languages: &[C],
        published: ["–", "–", "–", "–"],
        published_trace: ["–", "–", "–"],
        race: "n_cached",
    },
];

/// What `spider.c` is made of.
const SPIDER: [&str; 9] = [
    "address.h",
    "frontier.h",
    "html.h",
    "http.h",
    "mirror.h",
    "rules.h",
    "settings.h",
    "text.h",
    "web.h",
];

/// The source of a case, and what it includes.
fn files(case: &Case) -> Vec<&str> {
    [&case.source].into_iter().chain(&case.files).map(String::as_str).collect()
}

fn source(program: &str) -> String {
    format!("experiments/total-replay/programs/{program}")
}

/// Each program in each language.
fn programs() -> impl Iterator<Item = (Case, &'static Program)> {
    PROGRAMS.iter().flat_map(|program| {
        program.languages.iter().map(move |(language, flags)| {
            let name = format!("{}.{language}", program.name);
            let files = if program.name == "spider" { &SPIDER[..] } else { &[] };
            let files: Vec<String> =
                files.iter().map(|it| source(&format!("spider/{it}"))).collect();
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let case = Case::new(&name, &source(&name)).with_flags(&[flags]).with_files(&files);
            (case, program)
        })
    })
}

/// Three threads with so many accesses each, of which so many of one thread's decide.
fn accesses(n: u32, n_deciding: u32) -> Case {
    let name = format!("accesses {n} {n_deciding}");
    let args = [n.to_string(), n_deciding.to_string()];
    Case::new(&name, &source("accesses.c")).with_flags(&[C.1]).with_args(&[&args[0], &args[1]])
}

/// Figure 69: accesses of each thread.
const GROWING: std::ops::RangeInclusive<u32> = 1..=5;

/// Figure 93: so many of nine operations decide; 3 of 9 are the dissertation's 33.3 %.
const DECIDING: std::ops::RangeInclusive<u32> = 0..=3;

/// Appendices A and B: writes of each thread.
const OPERATIONS: [&[u64]; 7] =
    [&[2, 1], &[2, 2], &[3, 3], &[4, 4], &[1, 1, 1], &[2, 2, 2], &[3, 3, 3]];

fn operations(of: &[u64]) -> Case {
    let args: Vec<String> = of.iter().map(u64::to_string).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let name = format!("operations {}", args.join(" "));
    Case::new(&name, &source("operations.c")).with_flags(&[C.1]).with_args(&args)
}

fn cell(case: &Case, strategy: &'static str, race: &'static str) -> Cell {
    let mut options = vec!["--strategy", strategy, "--detect", "race,lockset,deadlock", "-k"];
    options.extend((strategy == DPOR).then_some(["--points", "all"]).into_iter().flatten());
    let inputs = format!("{:?} {:?} {options:?} {BUDGET:?}", case.flags, case.args);
    let of = case.clone();
    let how = move |lab: &Lab| {
        let told = lab.run(&of, BUDGET, "run", &options)?;
        Ok(Searched::of(&told, race, lab.budget(BUDGET)))
    };
    Cell::new(&key(&[&case.name, strategy]), &[&inputs], &files(case), how)
}

/// Figure 91: the dissertation's JoBo, and what grows in Figures 69 and 93.
fn split_cases() -> Vec<Case> {
    let crawler = Case::new("crawler.c", &source("crawler.c")).with_flags(&[C.1]);
    let growing = GROWING.map(|it| accesses(it, 1));
    let deciding = DECIDING.filter(|it| *it != 1).map(|it| accesses(3, it));
    [crawler].into_iter().chain(growing).chain(deciding).collect()
}

/// The dissertation's own methods.
const PROPOSED: [&str; 2] = ["total:groups", "total:guidelines"];

/// How long a search analyses traces, and how long it generates test cases.
fn split(case: &Case, strategy: &'static str) -> Cell {
    let options = ["--strategy", strategy, "--detect", "race,lockset,deadlock", "-k"];
    let inputs = format!("{:?} {:?} {options:?} {BUDGET:?}", case.flags, case.args);
    let of = case.clone();
    let how = move |lab: &Lab| {
        let told = lab.run(&of, BUDGET, "run", &options)?;
        let figures = &told.summary["search"]["figures"];
        let seconds = |name: &str| figures[name].as_f64().unwrap_or_default() / 1e6;
        Ok(Split {
            seconds_analysis: seconds("analysis_us"),
            seconds_generation: seconds("generation_us"),
        })
    };
    Cell::new(&key(&[&case.name, strategy, "split"]), &[&inputs], &[&case.source], how)
}

/// See [`split`].
#[derive(Debug, Serialize, Deserialize)]
struct Split {
    seconds_analysis: f64,
    seconds_generation: f64,
}

/// How many branches the first execution takes.
fn branches(case: &Case) -> Cell {
    let of = case.clone();
    let how = move |lab: &Lab| {
        let folder = lab.folder()?;
        let budget = Budget { executions: 1, ..BUDGET };
        let command = lab.command(&of, folder.path(), budget, &["run", "--strategy", "walk"])?;
        Ok(Branches { n_executed: n_executed(command, &files(&of))? })
    };
    let inputs = format!("{:?} {:?}", case.flags, case.args);
    Cell::new(&key(&[&case.name, "branches"]), &[&inputs], &files(case), how)
}

/// See [`branches`].
#[derive(Debug, Serialize, Deserialize)]
struct Branches {
    n_executed: u64,
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (case, program) in programs() {
        for strategy in METHODS.into_iter().chain([DPOR]) {
            cells.push(cell(&case, strategy, program.race).quick(case.name == "pool.c"));
        }
    }
    cells.extend(programs().map(|(case, _)| branches(&case)));
    for case in split_cases() {
        cells.extend(PROPOSED.map(|strategy| split(&case, strategy)));
    }
    let deciding = DECIDING.filter(|it| *it != 1).map(|it| accesses(3, it));
    for case in GROWING.map(|it| accesses(it, 1)).chain(deciding) {
        cells.extend(METHODS.map(|strategy| cell(&case, strategy, "factory")));
    }
    for case in OPERATIONS.map(operations) {
        for strategy in [DPOR, "total:reachability", "total"] {
            cells.push(cell(&case, strategy, "shared"));
        }
    }
    cells
}

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let tables = [
        ("table 12", test_cases(results)?),
        ("table 18", memory(results)?),
        ("figure 69", growing(results)?),
        ("figure 91", workload(results)?),
        ("figure 93", deciding(results)?),
        ("appendices", orders(results)?),
    ];
    let mut text = String::from(HEAD);
    for ((_, table), title) in tables.iter().zip(TITLES) {
        let _ = write!(text, "\n## {title}\n\n{table}");
    }
    let section =
        |(name, table): (&str, String)| Page::section("docs/total-replay.md", name, table);
    let whole = Page::whole("experiments/total-replay/RESULTS.md", text);
    Ok([whole].into_iter().chain(tables.map(section)).collect())
}

const TITLES: [&str; 6] = [
    "Table 12: test cases",
    "Table 18: memory",
    "Figure 69: more accesses",
    "Figure 91: workload",
    "Figure 93: more that decides",
    "Appendices A and B: orders of accesses",
];

/// Table 12.
fn test_cases(results: &Results) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for (case, program) in programs() {
        let all: Vec<&str> = METHODS.into_iter().chain([DPOR]).collect();
        let Some(cells) = results.row::<Searched>(&case.name, &all)? else { continue };
        let Some(taken) = results.row::<Branches>(&case.name, &["branches"])? else { continue };
        let total = &cells[4];
        let [branches, decided, tpair, proposed] = program.published;
        let [kilobytes, threads, variables] = program.published_trace;
        // As it is in memory: the events alone.
        let n_bytes = total.number("trace_steps") * size_of::<raddle_model::Event>() as u64;
        let mut row = vec![
            format!("`{}`", case.name),
            program.like.to_owned(),
            total.figure("trace_steps"),
            kilobytes.to_owned(),
            grouped(n_bytes),
            threads.to_owned(),
            total.figure("trace_threads"),
            variables.to_owned(),
            total.figure("trace_shared_variables"),
            branches.to_owned(),
            grouped(taken[0].n_executed),
            decided.to_owned(),
            total.figure("branches_decided"),
            tpair.to_owned(),
            proposed.to_owned(),
        ];
        row.extend(cells.iter().map(Searched::text));
        row.push(match total.number("witnesses") {
            0 => "–".to_owned(),
            n => n.to_string(),
        });
        rows.push(row);
    }
    Ok(table(
        &[
            "program",
            "like",
            "steps",
            "published: trace (KB)",
            "trace (bytes)",
            "published: threads",
            "threads",
            "published: shared variables",
            "shared variables",
            "published: executed branches",
            "executed branches",
            "published: decided by interleaving",
            "decided by interleaving",
            "published: TPAIR",
            "published: proposed",
            "`total:reachability`",
            "`total:tpair`",
            "`total:groups`",
            "`total:guidelines`",
            "`total`",
            "`dpor`",
            "witnesses of `total`",
        ],
        &rows,
    ))
}

/// Table 18.
fn memory(results: &Results) -> anyhow::Result<String> {
    let published = |name: &str| match name {
        "pool.c" => ["990, 71,280", "4, 288"],
        "telnet.c" => ["42, 1,680", "1, 40"],
        "monitor.c" => ["infinite", "8, 320"],
        "crawler.c" => ["infinite", "4, 160"],
        _ => ["–", "–"],
    };
    let mut rows = Vec::new();
    let cases = programs().map(|it| it.0).chain(GROWING.map(|it| accesses(it, 1)));
    for case in cases {
        let columns = ["total:reachability", "total:guidelines", "total"];
        let Some(cells) = results.row::<Searched>(&case.name, &columns)? else { continue };
        let [variants, graphs] = published(&case.name);
        let sizes = |it: &Searched, of: &str| {
            format!("{}, {}", it.figure(&format!("{of}_nodes")), it.figure(&format!("{of}_bytes")))
        };
        rows.push(vec![
            format!("`{}`", case.name),
            cells[2].figure("trace_steps"),
            variants.to_owned(),
            sizes(&cells[0], "graph"),
            graphs.to_owned(),
            sizes(&cells[1], "graph"),
            sizes(&cells[2], "known"),
        ]);
    }
    Ok(table(
        &[
            "program",
            "steps",
            "variant graph, published",
            "`total:reachability`",
            "dependency graph, published",
            "`total:guidelines`",
            "model of `total`",
        ],
        &rows,
    ))
}

/// Figure 69.
fn growing(results: &Results) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for n in GROWING {
        let case = accesses(n, 1);
        let Some(cells) = results.row::<Searched>(&case.name, &METHODS)? else { continue };
        let texts = cells.iter().map(Searched::text);
        rows.push([(3 * n).to_string()].into_iter().chain(texts).collect());
    }
    Ok(table(&heads(&["accesses"]), &rows))
}

/// Figure 91.
fn workload(results: &Results) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for case in split_cases() {
        let mut row = vec![format!("`{}`", case.name)];
        let published = if case.name == "crawler.c" { ["88.1", "0.2"] } else { ["–", "–"] };
        row.extend(published.map(str::to_owned));
        for strategy in PROPOSED {
            let split: Option<Split> = results.get(&[&case.name, strategy, "split"])?;
            let Some(Split { seconds_analysis, seconds_generation }) = split else { continue };
            row.extend([seconds_analysis, seconds_generation].map(|it| format!("{it:.3}")));
        }
        if row.len() == 7 {
            rows.push(row);
        }
    }
    Ok(table(
        &[
            "program",
            "published (JoBo): trace analysis (s)",
            "published: test case generation (s)",
            "`total:groups`: analysis (s)",
            "generation (s)",
            "`total:guidelines`: analysis (s)",
            "generation (s)",
        ],
        &rows,
    ))
}

/// Figure 93.
fn deciding(results: &Results) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for n in DECIDING {
        let case = accesses(3, n);
        let Some(cells) = results.row::<Searched>(&case.name, &METHODS)? else { continue };
        let texts = cells.iter().map(|it| format!("{}; {:.1} s", it.text(), it.seconds));
        let share = format!("{:.1} %", f64::from(n) * 100.0 / 9.0);
        rows.push([share].into_iter().chain(texts).collect());
    }
    Ok(table(&heads(&["p"]), &rows))
}

fn heads(first: &[&'static str]) -> Vec<&'static str> {
    let methods = [
        "`total:reachability`",
        "`total:tpair`",
        "`total:groups`",
        "`total:guidelines`",
        "`total`",
    ];
    first.iter().copied().chain(methods).collect()
}

/// Appendices A and B.
fn orders(results: &Results) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for of in OPERATIONS {
        let columns = [DPOR, "total:reachability", "total"];
        let Some(cells) = results.row::<Searched>(&operations(of).name, &columns)? else {
            continue;
        };
        let (n, m): (u64, _) = (of.iter().sum(), of.len() as f64);
        let formula = of.iter().fold(factorial(n), |all, it| all / factorial(*it));
        let is_even = of.iter().all(|it| *it == of[0]);
        let approximation = m.powf(m / 2.0 + n as f64)
            / (2.0 * std::f64::consts::PI * n as f64).sqrt().powf(m - 1.0);
        let mut row = vec![
            of.iter().map(u64::to_string).collect::<Vec<_>>().join(" + "),
            grouped(formula),
            if is_even { format!("{approximation:.1}") } else { "–".to_owned() },
        ];
        row.extend(cells.iter().map(Searched::executions));
        rows.push(row);
    }
    Ok(table(&["writes", "(7-1)", "(7-5)", "`dpor`", "`total:reachability`", "`total`"], &rows))
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

fn overview(results: &Results) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for (case, program) in programs() {
        let columns = ["total:groups", "total:guidelines", "total"];
        let Some(cells) = results.row::<Searched>(&case.name, &columns)? else { continue };
        let mut row = vec![format!("`{}` ({})", case.name, program.like)];
        row.push(program.published[3].to_owned());
        row.extend(cells.iter().map(Searched::text));
        rows.push(row);
    }
    let head = ["program", "published", "`total:groups`", "`total:guidelines`", "`total`"];
    Ok(format!("{OVERVIEW}\n{}", table(&head, &rows)))
}

/// What a search came to.
#[derive(Debug, Serialize, Deserialize)]
struct Searched {
    verdict: Ended,
    n_executions: u64,
    /// Was the race to find shown, or only told by locks?
    race: Race,
    figures: Value,
    seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ended {
    Finished,
    GivenUp,
    TimedOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Race {
    Shown,
    Possible,
    Missed,
}

impl Searched {
    fn of(told: &Told, race: &str, budget: Budget) -> Searched {
        let is_it = |it: &&Value| {
            let memory = it["evidence"]["memory"].as_str().unwrap_or_default();
            it["kind"] == "race" && memory.to_lowercase().contains(race)
        };
        let races: Vec<&Value> = told.findings.iter().filter(is_it).collect();
        let search = &told.summary["search"];
        let n_executions = search["executions"].as_u64().unwrap_or_default();
        let n_all = told.summary["executions"].as_u64().unwrap_or_default();
        Searched {
            verdict: match search["finished"] == true {
                true => Ended::Finished,
                false if n_all < budget.executions => Ended::TimedOut,
                false => Ended::GivenUp,
            },
            n_executions,
            race: match () {
                () if races.iter().any(|it| it["certainty"] == "shown") => Race::Shown,
                () if !races.is_empty() => Race::Possible,
                () => Race::Missed,
            },
            figures: search["figures"].clone(),
            seconds: told.summary["elapsed_s"].as_f64().unwrap_or_default(),
        }
    }

    fn number(&self, name: &str) -> u64 {
        self.figures[name].as_u64().unwrap_or_default()
    }

    fn figure(&self, name: &str) -> String {
        let more = if self.number(&format!("{name}_cut")) > 0 { "more than " } else { "" };
        more.to_owned() + &grouped(self.number(name))
    }

    /// Test cases; more, if it was given up.
    fn executions(&self) -> String {
        let n = match self.number("test_cases") {
            0 => self.n_executions,
            n => n,
        };
        match self.verdict {
            Ended::Finished => grouped(n),
            Ended::GivenUp | Ended::TimedOut => format!("> {}", grouped(n)),
        }
    }

    /// With what came of it, if that is not a race.
    fn text(&self) -> String {
        match self.race {
            Race::Shown => self.executions(),
            Race::Possible => self.executions() + " (possible)",
            Race::Missed => self.executions() + " (no race)",
        }
    }
}

const HEAD: &str = "\
# Total replay: results

Made by `cargo xtask experiment total-replay`, with 2,000 executions or 20 s per cell. Numbers are executed test cases, including
the first; `> n`: the budget was spent. *possible*: the race was reported from the locks of one execution, but not shown; *no
race*: it was not reported at all. *more than*: the count was cut off. If a search ran out of time, its number depends on the
machine.
";

const OVERVIEW: &str = "\
## Total replay ([total-replay](total-replay/README.md))

Executed test cases, including the first; `> n`: the budget was spent. `total` uses a model of everything that threads are known
to do, while the dissertation's methods derive test cases from one trace at a time, so it needs fewer test cases and misses less;
`total:groups` and `total:guidelines` are the published methods.
";
