//! Strategies side by side, as a table and as CSV.

use std::fmt::Write as _;

use crate::layout::{
    number::{grouped, short},
    style::Style,
    table,
};

/// One strategy on one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The program.
    pub program: String,
    /// The strategy.
    pub strategy: String,
    /// Campaigns.
    pub n_repeats: u64,
    /// Those that found something.
    pub n_found: u64,
    /// By how many executions half of the campaigns had found something.
    pub median: Reach,
    /// And 95 in a hundred.
    pub p95: Reach,
    /// Executions that failed.
    pub failures: u64,
    /// Executions.
    pub executions: u64,
    /// Scheduling points of an execution, on average.
    pub points: f64,
    /// Of the execution that had most.
    pub points_max: u64,
    /// Executions in a second of one worker.
    pub execs_per_s: f64,
}

/// A number of executions that may not have been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// So many.
    At(u64),
    /// More than so many: nobody went further.
    Beyond(u64),
    /// There is nothing: searches came to their end after so many.
    Never(u64),
}

/// One campaign, for CSV.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The program.
    pub program: String,
    /// The strategy.
    pub strategy: String,
    /// Its seed.
    pub seed: u64,
    /// Executions up to the first failure.
    pub found: Option<u64>,
    /// Executions.
    pub executions: u64,
    /// Those that failed.
    pub failures: u64,
    /// Scheduling points of all of them.
    pub points: u64,
    /// Of the one that had most.
    pub points_max: u64,
    /// How long it took.
    pub elapsed_s: f64,
    /// Was it a search that came to its end?
    pub is_over: bool,
    /// Where in its search the first failure was, if the search says it.
    pub place: Option<String>,
}

impl Row {
    /// Executions that failed, of all.
    pub fn rate(&self) -> f64 {
        self.failures as f64 / self.executions.max(1) as f64
    }
}

/// A line for each strategy on each program.
pub fn table(rows: &[Row], style: &Style) -> String {
    let heading =
        ["program", "strategy", "found", "median", "p95", "failures", "points/exec", "execs/s"];
    let mut last = "";
    let mut lines = Vec::new();
    for row in rows {
        let program = if row.program == last { "" } else { row.program.as_str() };
        last = &row.program;
        lines.push(vec![
            program.to_owned(),
            row.strategy.clone(),
            format!("{} of {}", row.n_found, row.n_repeats),
            reach(row.median),
            reach(row.p95),
            percentage(row),
            format!("{:.1}", row.points),
            grouped(row.execs_per_s.round() as u64),
        ]);
    }
    table::render(&heading, &lines, style)
}

/// One line for each strategy: in how many programs it found something, and how often.
pub fn verdict(rows: &[Row]) -> String {
    let mut strategies: Vec<&str> = Vec::new();
    for row in rows {
        if !strategies.contains(&row.strategy.as_str()) {
            strategies.push(&row.strategy);
        }
    }
    let width = strategies.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for strategy in strategies {
        let own: Vec<&Row> = rows.iter().filter(|it| it.strategy == strategy).collect();
        let n_any = own.iter().filter(|it| it.n_found > 0).count();
        let n_most = own.iter().filter(|it| 2 * it.n_found > it.n_repeats).count();
        let programs = crate::layout::number::count(own.len() as u64, "program");
        let often = match (n_any, n_any - n_most) {
            (0, _) => {
                let _ = writeln!(out, "{strategy:width$}  found no failure in {programs}");
                continue;
            }
            (1, 0) => "in more than half of its campaigns".to_owned(),
            (_, 0) => "in each in more than half of its campaigns".to_owned(),
            (1, 1) => "in half of its campaigns or fewer".to_owned(),
            (_, n_seldom) => format!("in {n_seldom} of them in half of its campaigns or fewer"),
        };
        let _ =
            writeln!(out, "{strategy:width$}  found a failure in {n_any} of {programs}, {often}");
    }
    out
}

/// One line for each campaign, under a heading (RFC 4180).
pub fn csv(trials: &[Trial]) -> String {
    let mut out = "program,strategy,seed,found,executions_to_first,executions,failures,points,\
                   points_max,seconds,finished,place\n"
        .to_owned();
    for trial in trials {
        let first = trial.found.map(|it| it.to_string()).unwrap_or_default();
        let _ = writeln!(
            out,
            "{},{},{},{},{first},{},{},{},{},{:.3},{},{}",
            field(&trial.program),
            field(&trial.strategy),
            trial.seed,
            u8::from(trial.found.is_some()),
            trial.executions,
            trial.failures,
            trial.points,
            trial.points_max,
            trial.elapsed_s,
            u8::from(trial.is_over),
            field(trial.place.as_deref().unwrap_or_default())
        );
    }
    out
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

pub(crate) fn reach(reach: Reach) -> String {
    match reach {
        Reach::At(executions) => grouped(executions),
        Reach::Beyond(executions) => format!("> {}", short(executions)),
        Reach::Never(executions) => format!("0 of {}", short(executions)),
    }
}

/// `12%`, `0.042%`; if there was no failure, the rate that can be ruled out: 95 % sure, by the rule of three.
pub(crate) fn percentage(row: &Row) -> String {
    let text = |percent: f64| match percent {
        _ if percent >= 9.95 => format!("{percent:.0}%"),
        _ if percent >= 0.995 => format!("{percent:.1}%"),
        _ if percent >= 0.0995 => format!("{percent:.2}%"),
        _ => format!("{percent:.3}%"),
    };
    if row.failures == 0 {
        let upper = (300.0 / row.executions.max(1) as f64).min(100.0);
        return format!("< {}", text(upper));
    }
    text(100.0 * row.rate())
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect;

    use super::*;

    pub(crate) fn rows() -> Vec<Row> {
        let row = |program: &str, strategy: &str, n_found, median, failures, executions| Row {
            program: program.into(),
            strategy: strategy.into(),
            n_repeats: 10,
            n_found,
            median,
            p95: Reach::Beyond(10_000),
            failures,
            executions,
            points: 41.25,
            points_max: 63,
            execs_per_s: 5_123.4,
        };
        vec![
            row("reorder-10", "walk", 0, Reach::Beyond(10_000), 0, 100_000),
            row("reorder-10", "stride:two", 10, Reach::At(86), 10, 1_211),
            row("reorder-10", "portfolio", 9, Reach::At(1_234), 9, 20_900),
            row("account", "walk", 10, Reach::At(3), 10, 31),
            row("account", "stride:two", 10, Reach::At(5), 10, 62),
            row("account", "portfolio", 0, Reach::Beyond(10_000), 0, 100_000),
            row("queue", "walk", 10, Reach::At(30), 10, 310),
            row("queue", "stride:two", 10, Reach::At(5), 10, 62),
            row("queue", "portfolio", 10, Reach::At(29), 10, 312),
        ]
    }

    #[test]
    fn a_table() {
        let style = Style { width: 100, ..Style::default() };
        expect![[r#"
            program     strategy    found     median   p95      failures  points/exec  execs/s
            reorder-10  walk        0 of 10   > 10.0k  > 10.0k  < 0.003%  41.2         5,123
                        stride:two  10 of 10  86       > 10.0k  0.83%     41.2         5,123
                        portfolio   9 of 10   1,234    > 10.0k  0.043%    41.2         5,123
            account     walk        10 of 10  3        > 10.0k  32%       41.2         5,123
                        stride:two  10 of 10  5        > 10.0k  16%       41.2         5,123
                        portfolio   0 of 10   > 10.0k  > 10.0k  < 0.003%  41.2         5,123
            queue       walk        10 of 10  30       > 10.0k  3.2%      41.2         5,123
                        stride:two  10 of 10  5        > 10.0k  16%       41.2         5,123
                        portfolio   10 of 10  29       > 10.0k  3.2%      41.2         5,123
        "#]]
        .assert_eq(&table(&rows(), &style));
        expect![[r#"
            walk        found a failure in 2 of 3 programs, in each in more than half of its campaigns
            stride:two  found a failure in 3 of 3 programs, in each in more than half of its campaigns
            portfolio   found a failure in 2 of 3 programs, in each in more than half of its campaigns
        "#]]
        .assert_eq(&verdict(&rows()));
    }

    #[test]
    fn lines_of_values() {
        let trial = Trial {
            program: "a, \"b\"".into(),
            strategy: "rpro:d=3,r=10".into(),
            seed: 7,
            found: Some(12),
            executions: 12,
            failures: 1,
            points: 480,
            points_max: 44,
            elapsed_s: 0.0123,
            is_over: false,
            place: Some("(1, all, 2, 1)".into()),
        };
        let none = Trial {
            found: None,
            place: None,
            is_over: true,
            program: "queue".into(),
            ..trial.clone()
        };
        expect![[r#"
            program,strategy,seed,found,executions_to_first,executions,failures,points,points_max,seconds,finished,place
            "a, ""b""","rpro:d=3,r=10",7,1,12,12,1,480,44,0.012,0,"(1, all, 2, 1)"
            queue,"rpro:d=3,r=10",7,0,,12,1,480,44,0.012,1,
        "#]].assert_eq(&csv(&[trial, none]));
    }
}
