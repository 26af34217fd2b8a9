//! How likely the least likely order of two events is (Figure 4), and how many pairs of events have two likely orders
//! (Proposition 1), measured on two threads of L events each.

use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use raddle_plan::{Goal, Sum, stride_ratio};
use raddle_report::layout::number::grouped;
use serde::{Deserialize, Serialize};

use super::super::{
    Budget, Case, Cell, Page, Results,
    lab::Lab,
    plot::{Axis, Mark, Plot, svg},
    results::key,
    table,
};

const SOURCE: &str = "experiments/stride/orders/pair.c";

/// Executions of each program.
const BUDGET: Budget = Budget { executions: 10_000, seconds: 120 };

/// Events of each thread, for strategies that learn lengths.
const LENGTHS: [u32; 7] = [8, 16, 32, 64, 128, 256, 512];

const STRATEGIES: [&str; 4] = ["walk", "stride:smax=2", "stride:one", "stride:two"];

/// Figure 4: ratios of the thread's length to its longest stride, in tenths.
const RATIOS: [u32; 9] = [10, 15, 20, 25, 30, 35, 40, 50, 60];

/// Events of the long thread there.
const LONG: u32 = 240;

/// An order is likely enough from this probability on, one in so many.
const ONE_IN: u64 = 100;

/// What executions of the pair came to.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    /// Without the first, which is not preempted.
    n_executions: u64,
    /// In which the first thread's last event came before the second's first.
    n_first_done: u64,
    /// In which the second's last event came before the first's first.
    n_second_done: u64,
    /// Pairs of events, one of each thread, of which both orders were seen in one of `ONE_IN` executions or more.
    n_likely: u64,
    n_pairs: u64,
}

pub(super) fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for length in LENGTHS {
        for strategy in STRATEGIES {
            cells.push(cell(strategy, length, length).quick(length == 8 && strategy == "walk"));
        }
    }
    for ratio in RATIOS {
        cells.push(cell(&by_ratio(ratio), LONG, 1));
    }
    cells
}

fn by_ratio(ratio: u32) -> String {
    format!("stride:ratio={}.{}", ratio / 10, ratio % 10)
}

fn row(first: u32, second: u32) -> String {
    format!("{first} and {second} events")
}

fn cell(strategy: &str, first: u32, second: u32) -> Cell {
    let key = key(&[&row(first, second), strategy]);
    let inputs = format!("{strategy} {first} {second} {BUDGET:?} {ONE_IN}");
    let strategy = strategy.to_owned();
    Cell::new(&key, &[&inputs], &[SOURCE], move |lab| measure(lab, &strategy, first, second))
}

fn measure(lab: &Lab, strategy: &str, first: u32, second: u32) -> anyhow::Result<Orders> {
    let (n_first, n_second) = (first as usize, second as usize);
    let case = Case::new("pair", SOURCE).with_args(&[&first.to_string(), &second.to_string()]);
    let options = ["--keep-going", "--show-output", "--strategy", strategy];
    let told = lab.run(&case, BUDGET, "run", &options)?;
    // For each event of the second thread, how often so many of the first came before it.
    let mut counts = vec![vec![0_u64; n_first + 1]; n_second];
    let mut n_executions = 0_u64;
    for line in &told.outputs {
        if line["execution"] == 0 {
            continue;
        }
        n_executions += 1;
        let text = line["output"].as_str().unwrap_or_default();
        ensure!(text.split_whitespace().count() == n_second, "the program wrote {text}");
        for (counts, before) in counts.iter_mut().zip(text.split_whitespace()) {
            let before: usize = before.parse()?;
            *counts.get_mut(before).context("more events than there are")? += 1;
        }
    }
    let enough = n_executions.div_ceil(ONE_IN).max(1);
    let mut n_likely = 0;
    for counts in &counts {
        // Event i of the first came before this one whenever at least i of them did.
        let mut n_later = 0;
        for at_least in (1..=n_first).rev() {
            n_later += counts[at_least];
            n_likely += u64::from(n_later.min(n_executions - n_later) >= enough);
        }
    }
    let n_of = |event: usize, before: usize| counts.get(event).map_or(0, |it| it[before]);
    Ok(Orders {
        n_executions,
        n_first_done: n_of(0, n_first),
        n_second_done: n_of(n_second - 1, 0),
        n_likely,
        n_pairs: u64::from(first) * u64::from(second),
    })
}

/// Of two threads of that many events, the part of the pairs of which both orders have at least the probability, under
/// random walk: event j of the second comes before event i of the first if at least j of i + j - 1 coins fall for it.
fn expected(length: u32, probability: f64) -> f64 {
    let n = length as usize;
    let mut n_likely = 0_u64;
    for i in 1..=n {
        for j in 1..=n {
            let tosses = (i + j - 1) as f64;
            // The normal approximation, as in the paper; exact enough for its purpose.
            let deviation = (j as f64 - 0.5 - tosses / 2.0) / (tosses.sqrt() / 2.0);
            let second_first = 1.0 - normal(deviation);
            n_likely += u64::from(second_first.min(1.0 - second_first) >= probability);
        }
    }
    n_likely as f64 / (n * n) as f64
}

/// The distribution function of the standard normal distribution (Abramowitz and Stegun 26.2.17).
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let factors = [0.319_381_53, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = factors.iter().rev().fold(0.0, |sum, it| (sum + it) * t);
    let tail = sum * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if x >= 0.0 { 1.0 - tail } else { tail }
}

/// What `stride:one` and `stride:two` promise for the least likely order.
fn promised(strategy: &str) -> Option<f64> {
    let goal = Goal { confidence: 9_500, n_executions: BUDGET.executions };
    let n_edges = match strategy {
        "stride:one" => 1,
        "stride:two" => 2,
        _ => return None,
    };
    Some(Sum::Ours.edge_probability(f64::from(stride_ratio(goal, n_edges, Sum::Ours)) / 1000.0))
}

pub(super) fn tables(results: &Results) -> anyhow::Result<String> {
    let mut text = format!(
        "\n## Figure 4: the least likely order\n\nTwo threads; all {LONG} events of one come before the first of the other. P(r) is \
         what `stride` is built on, the paper's sum is twice that, for it takes the long thread to be running when the edge \
         begins; strides are whole numbers, so the order is a little more likely than P(r) says.\n\n"
    );
    let mut rows = Vec::new();
    for ratio in RATIOS {
        let strategy = by_ratio(ratio);
        let Some(orders) = results.get::<Orders>(&[&row(LONG, 1), &strategy])? else { continue };
        let r = f64::from(ratio) / 10.0;
        rows.push(vec![
            format!("{r:.1}"),
            format!("{:.5}", Sum::Paper.edge_probability(r)),
            format!("{:.5}", Sum::Ours.edge_probability(r)),
            format!("{:.5}", orders.n_first_done as f64 / orders.n_executions as f64),
            format!("{} of {}", grouped(orders.n_first_done), grouped(orders.n_executions)),
        ]);
    }
    let head = ["L / smax", "the paper's sum", "P(r)", "measured", "executions"];
    let _ = writeln!(text, "{}\n![Figure 4](figure-4.svg)", table(&head, &rows));
    let _ = write!(
        text,
        "\n## Proposition 1: pairs whose two orders are both likely\n\nTwo threads of L events each. In brackets, of all pairs of \
         events, one of each thread, those of which both orders were seen in at least one of {ONE_IN} executions; before, how often \
         the least likely order was seen, in 100 executions: all of one thread before the other, the rarer of the two. Random walk's \
         part falls with the square root of L (the last column is what the paper's formula gives); that of a stride whose length is \
         learned does not.\n\n"
    );
    let mut rows = Vec::new();
    for length in LENGTHS {
        let Some(cells) = results.row::<Orders>(&row(length, length), &STRATEGIES)? else {
            continue;
        };
        let mut line = vec![length.to_string()];
        line.extend(cells.iter().map(|it| {
            let least = it.n_first_done.min(it.n_second_done) as f64 / it.n_executions as f64;
            format!("{:.2} ({:.1} %)", 100.0 * least, 100.0 * it.likely())
        }));
        line.push(format!("({:.1} %)", 100.0 * expected(length, 1.0 / ONE_IN as f64)));
        rows.push(line);
    }
    let mut promise = vec!["**promised**".to_owned()];
    promise.extend(
        STRATEGIES
            .iter()
            .map(|it| promised(it).map_or(String::new(), |it| format!("{:.2}", 100.0 * it))),
    );
    promise.push(String::new());
    rows.push(promise);
    let strategies: Vec<String> = STRATEGIES.iter().map(|it| format!("`{it}`")).collect();
    let mut head = vec!["L"];
    head.extend(strategies.iter().map(String::as_str));
    head.push("random walk, by the formula");
    let _ = writeln!(text, "{}\n![Proposition 1](proposition-1.svg)", table(&head, &rows));
    Ok(text)
}

impl Orders {
    fn likely(&self) -> f64 {
        self.n_likely as f64 / self.n_pairs as f64
    }
}

pub(super) fn pages(results: &Results) -> anyhow::Result<Vec<Page>> {
    const COLOURS: [&str; 4] = ["#cf222e", "#bf8700", "#1a7f37", "#0969da"];
    let curve = |sum: Sum| {
        let point = |it: u32| (f64::from(it) / 10.0, sum.edge_probability(f64::from(it) / 10.0));
        (5..=70).map(point).collect::<Vec<_>>()
    };
    let line = |points, colour, is_dashed| Mark::Line { points, colour, is_dashed };
    let note = |text: &str, colour| Mark::Note { text: text.to_owned(), colour };
    let mut marks = vec![
        line(curve(Sum::Ours), "#0969da", false),
        line(curve(Sum::Paper), "#bf8700", true),
        note("P(r)", "#0969da"),
        note("the paper's sum", "#bf8700"),
        note("measured", "#1a7f37"),
    ];
    for ratio in RATIOS {
        let Some(orders) = results.get::<Orders>(&[&row(LONG, 1), &by_ratio(ratio)])? else {
            continue;
        };
        let rate = orders.n_first_done as f64 / orders.n_executions as f64;
        let label = format!("{} of {}", orders.n_first_done, orders.n_executions);
        let x = f64::from(ratio) / 10.0;
        marks.push(Mark::Point { x, y: rate, radius: 4.0, colour: "#1a7f37", label });
    }
    let figure = Plot {
        title: "the least likely order".to_owned(),
        x: Axis::linear("L / smax", 7, 1),
        y: Axis::log("probability", -4, 0),
        marks,
    };
    let mut marks = Vec::new();
    for (strategy, colour) in STRATEGIES.into_iter().zip(COLOURS) {
        let mut points = Vec::new();
        for length in LENGTHS {
            if let Some(it) = results.get::<Orders>(&[&row(length, length), strategy])? {
                points.push((f64::from(length), it.likely()));
            }
        }
        marks.push(line(points, colour, false));
        marks.push(note(strategy, colour));
    }
    let formula = LENGTHS.map(|it| (f64::from(it), expected(it, 1.0 / ONE_IN as f64)));
    marks.push(line(formula.to_vec(), "#888888", true));
    marks.push(note("random walk, by the formula", "#888888"));
    let proposition = Plot {
        title: "pairs of which both orders are likely".to_owned(),
        x: Axis::log("events of each thread", 0, 3),
        y: Axis::log("part of all pairs", -2, 0),
        marks,
    };
    Ok(vec![
        Page::whole("experiments/stride/figure-4.svg", svg(&[figure], 1)),
        Page::whole("experiments/stride/proposition-1.svg", svg(&[proposition], 1)),
    ])
}

#[cfg(test)]
mod tests {
    use super::{expected, normal};

    #[test]
    fn the_normal_distribution() {
        for (x, expected) in
            [(0.0, 0.5), (1.0, 0.841_344_7), (-2.0, 0.022_750_1), (3.0, 0.998_650_1)]
        {
            assert!((normal(x) - expected).abs() < 1e-6, "{x}");
        }
    }

    /// Four times the events, half of the part.
    #[test]
    fn the_part_falls_with_the_square_root() {
        let ratio = expected(256, 0.01) / expected(1024, 0.01);
        assert!((1.9..2.1).contains(&ratio), "{ratio}");
    }
}
