//! Figures 5 and 6: how often each program fails, by strategy.

use super::{
    super::{
        Budget, Case, Cell, Page, Results, Search,
        lab::Lab,
        plot::{Axis, Mark, Plot, svg},
        results::key,
        trial::Rate,
    },
    list::{PAPERS, PROGRAMS},
};

/// Executions that all count, whatever fails: few, and if hardly any of them does, many.
const BUDGETS: [Budget; 2] =
    [Budget { executions: 200, seconds: 60 }, Budget { executions: 5_000, seconds: 60 }];

/// So many failures are enough for a rate.
const ENOUGH: u64 = 10;

/// The name of a cell.
fn column(strategy: &str) -> String {
    format!("rate of {strategy}")
}

pub(super) fn cells(case: &Case, is_quick: bool) -> Vec<Cell> {
    let cell = |strategy: &str| {
        let [few, many] = BUDGETS.map(|it| Search::new(case, strategy, it));
        let key = key(&[&case.name, &column(strategy)]);
        let inputs = format!("{strategy} {BUDGETS:?} {ENOUGH}");
        let files: Vec<&str> =
            case.files.iter().chain([&case.source]).map(String::as_str).collect();
        let how = move |lab: &Lab| {
            let rate = lab.rate(&few)?;
            if rate.n_failures < ENOUGH { lab.rate(&many) } else { Ok(rate) }
        };
        let is_quick = is_quick && strategy == "walk";
        Cell::new(&key, &[&inputs], &files, how).quick(is_quick)
    };
    PAPERS.iter().map(|it| cell(it.0)).collect()
}

pub(super) fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    let mut panels = Vec::new();
    for (strategy, title) in PAPERS {
        let mut marks = Vec::new();
        for subject in PROGRAMS {
            let walk = results.get::<Rate>(&[subject.name, &column("walk")])?;
            let rate = results.get::<Rate>(&[subject.name, &column(strategy)])?;
            if let (Some(walk), Some(rate)) = (walk, rate) {
                marks.push(mark(subject.name, &walk, &rate, *strategy == "walk"));
            }
        }
        let notes: &[(&str, &str)] = if *strategy == "walk" { &[] } else { &NOTES };
        let note = |it: &(&str, &'static str)| Mark::Note { text: it.0.to_owned(), colour: it.1 };
        marks.extend(notes.iter().map(note));
        panels.push(Plot {
            title: (*title).to_owned(),
            x: Axis::log("failure rate under random walk (at the left end: none)", -4, 0),
            y: Axis::log("events of the longest execution", 0, 4),
            marks,
        });
    }
    let changes = panels.split_off(1);
    Ok(vec![
        Page::whole("experiments/stride/figure-5.svg", svg(&panels, 1)),
        Page::whole("experiments/stride/figure-6.svg", svg(&changes, 2)),
    ])
}

const NOTES: [(&str, &str); 4] = [
    ("newly found", "#1a7f37"),
    ("more often", "#0969da"),
    ("less often", "#bf8700"),
    ("no longer found", "#cf222e"),
];

/// A program where random walk has it, as large as its rate has changed.
fn mark(name: &str, walk: &Rate, rate: &Rate, is_walk: bool) -> Mark {
    let (x, y) = (walk.rate(), walk.n_points_max as f64);
    let label = format!("{name}: {} of {}", rate.n_failures, rate.n_executions);
    let (kind, radius) = match (walk.n_failures, rate.n_failures) {
        _ if is_walk => (1, 4.0),
        (0, 0) => return Mark::Point { x, y, radius: 2.0, colour: "#888888", label },
        (0, _) => (0, 8.0),
        (_, 0) => (3, 8.0),
        _ => {
            let change = (rate.rate() / walk.rate()).log10();
            (if change >= 0.0 { 1 } else { 2 }, 2.0 + 4.0 * change.abs().min(2.0))
        }
    };
    Mark::Point { x, y, radius, colour: NOTES[kind].1, label }
}
