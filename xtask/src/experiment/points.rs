//! Scheduling points: what is visible, and what is not (seed paper 1's claim that visible operations are enough).

use std::fmt::Write as _;

use raddle_report::layout::number::grouped;

use super::{Budget, Campaigns, Case, Cell, Experiment, Page, Results, Search, table};

pub(super) const EXPERIMENT: Experiment = Experiment { name: "points", cells, pages, overview };

/// Programs whose data is behind locks, each with a bug; `unlocked` has a count without a lock besides.
const PROGRAMS: [&str; 6] = ["cache", "journal", "ledger", "pool", "table", "unlocked"];

const STRATEGIES: [&str; 3] = ["walk", "pos", "portfolio"];

const POINTS: [&str; 3] = ["sync", "visible", "all"];

const BUDGET: Budget = Budget { executions: 2_000, seconds: 60 };

const REPEATS: u32 = 10;

fn label(strategy: &str, points: &str) -> String {
    format!("{strategy}, {points}")
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for name in PROGRAMS {
        let case = Case::new(name, &format!("experiments/points/programs/{name}.c"));
        for strategy in STRATEGIES {
            for points in POINTS {
                let search = Search::new(&case, strategy, BUDGET)
                    .repeats(REPEATS)
                    .label(&label(strategy, points))
                    .options(&["--points", points]);
                let is_quick = name == "unlocked" && strategy == "walk";
                cells.push(Cell::of(search).quick(is_quick));
            }
        }
    }
    cells
}

/// Programs and strategies with their campaigns under each kind of points.
fn measured(
    results: &Results,
) -> anyhow::Result<Vec<(&'static str, &'static str, Vec<Campaigns>)>> {
    let mut measured = Vec::new();
    for name in PROGRAMS {
        for strategy in STRATEGIES {
            let labels = POINTS.map(|it| label(strategy, it));
            if let Some(cells) = results.row(name, &labels.each_ref().map(String::as_str))? {
                measured.push((name, strategy, cells));
            }
        }
    }
    Ok(measured)
}

/// `14`, `14 (2/3)`, `–`; and points of an execution.
fn figures(cell: &Campaigns) -> [String; 2] {
    [cell.medians(), format!("{:.1}", cell.points())]
}

fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let measured = measured(results)?;
    let mut rows = Vec::new();
    for (name, strategy, cells) in &measured {
        let mut row = vec![format!("{name}, `{strategy}`")];
        row.extend(cells.iter().flat_map(figures));
        row.push(format!("{:.1} ×", cells[2].points() / cells[1].points()));
        rows.push(row);
    }
    let head =
        ["program", "`sync`", "points", "`visible`", "points", "`all`", "points", "fewer points"];
    let mut text = format!(
        "{HEAD}\nThe median of {REPEATS} campaigns of at most {} executions each.\n",
        grouped(BUDGET.executions)
    );
    let _ = write!(text, "\n{}\n## What each kind of points finds\n\n", table(&head, &rows));
    for (idx, points) in POINTS.iter().enumerate() {
        let found =
            |it: &&(&str, &str, Vec<Campaigns>)| it.2[idx].n_found() == it.2[idx].trials.len();
        let missed: Vec<String> = measured
            .iter()
            .filter(|it| !found(it))
            .map(|(name, strategy, _)| format!("{name} by `{strategy}`"))
            .collect();
        let n_found = measured.iter().filter(found).count();
        let _ =
            write!(text, "- `{points}`: {n_found} of {} rows in every campaign", measured.len());
        let missed =
            if missed.is_empty() { String::new() } else { format!("; not {}", missed.join(", ")) };
        let _ = writeln!(text, "{missed}.");
    }
    Ok(vec![Page::whole("experiments/points/RESULTS.md", text)])
}

fn overview(results: &Results) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for name in PROGRAMS {
        let labels = POINTS.map(|it| label("walk", it));
        let Some(cells) = results.row::<Campaigns>(name, &labels.each_ref().map(String::as_str))?
        else {
            continue;
        };
        rows.push([name.to_owned()].into_iter().chain(cells.iter().flat_map(figures)).collect());
    }
    let head = ["program", "`sync`", "points", "`visible`", "points", "`all`", "points"];
    Ok(format!("{OVERVIEW}\n{}", table(&head, &rows)))
}

const HEAD: &str = "\
# Scheduling points: results

Made by `cargo xtask experiment points`. Executions to the first failure (in parentheses, how many campaigns found one, if not
all; a dash: none), and the average number of scheduling points per execution: at synchronisation only (`sync`), at visible
operations (`visible`, the default), and at every access to shared memory (`all`).
";

const OVERVIEW: &str = "\
## Scheduling points ([points](points/RESULTS.md))

Executions to the first failure under `walk`, and scheduling points per execution. The paper has no such table: it argues that
visible operations are sufficient, and these programs show what that saves.
";
