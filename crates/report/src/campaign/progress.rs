//! How a running campaign is shown: a block of lines on a terminal, single lines in a log.

use raddle_model::Figures;

use crate::{
    campaign::{sampling, search, status::Status},
    layout::{
        number::{clock, grouped, percent, short},
        style::{Ink, Style, width},
    },
};

/// Findings named in the block.
const FINDINGS_MAX: usize = 4;

/// What does not change while the campaign runs.
#[derive(Clone, Debug, Default)]
pub struct Heading {
    /// Raddle's version.
    pub version: String,
    /// What is explored.
    pub program: String,
    /// Workers.
    pub jobs: usize,
    /// The strategy's name.
    pub strategy: String,
    /// When it ends, in seconds, if time ends it.
    pub time_s: Option<f64>,
    /// When it ends, in executions, if their number ends it.
    pub executions: Option<u64>,
}

/// The block for a terminal, to be drawn over the one before.
pub fn block(heading: &Heading, status: &Status, style: &Style) -> String {
    let mut lines = vec![title(heading, status, style)];
    let steps_per_exec =
        status.figures.steps_total.checked_div(status.figures.executions).unwrap_or(0);
    lines.push(format!(
        " execs {}{} ({}/s)   steps/exec {} avg, {} max   stability {}",
        short(status.figures.executions),
        heading.executions.map(|it| format!(" / {}", short(it))).unwrap_or_default(),
        short(status.figures.execs_per_s().round() as u64),
        short(steps_per_exec),
        short(status.figures.steps_max),
        percent(status.figures.stability),
    ));
    let Figures { elapsed, last_new_trace, distinct_traces, .. } = status.figures;
    let last_new = match distinct_traces {
        0 => String::new(),
        _ => {
            format!(" (last new {}s ago)", short(elapsed.saturating_sub(last_new_trace).as_secs()))
        }
    };
    lines.push(format!(
        " traces {} distinct{last_new}   inconclusive {}",
        short(distinct_traces),
        short(status.figures.n_inconclusive),
    ));
    match &status.search {
        Some(it) => lines.push(search::block_line(it, style)),
        None => lines.extend(sampling::block_lines(&status.figures)),
    }
    lines.push(findings(status, style));
    let mut out = String::new();
    for line in lines {
        out.push_str(&style.cut(line.trim_end(), style.width));
        out.push('\n');
    }
    out
}

fn title(heading: &Heading, status: &Status, style: &Style) -> String {
    let workers = if heading.jobs == 1 { "worker" } else { "workers" };
    let left = format!(
        " raddle {}  {}  {} {workers}   strategy: {}",
        heading.version, heading.program, heading.jobs, heading.strategy
    );
    let now = clock(status.figures.elapsed_s(), true);
    let right = match heading.time_s {
        Some(end) => format!("{now} / {}", clock(end, true)),
        None => now,
    };
    let room = style.width.saturating_sub(width(&right) + 2);
    format!("{}  {right}", style.fit(&left, room))
}

fn findings(status: &Status, style: &Style) -> String {
    if status.findings.is_empty() {
        return " findings 0".to_owned();
    }
    let mut line = format!(" findings {}:", status.findings.len());
    for tally in status.findings.iter().take(FINDINGS_MAX) {
        let times = format!("{}{}", style.times(), short(tally.count));
        line.push_str(&format!("  {} {times} ({})", tally.id, tally.place));
    }
    line
}

/// The line for logs:
/// `[00:02:00] execs=48.1k 812/s traces=9.3k(+0 in 41s) findings=1 stability=100%`.
pub fn line(status: &Status, since: Option<&Since>) -> String {
    let new = since
        .map(|it| {
            let n_new = status.figures.distinct_traces.saturating_sub(it.distinct_traces);
            let seconds = (status.figures.elapsed_s() - it.elapsed_s).round() as u64;
            format!("(+{} in {seconds}s)", short(n_new))
        })
        .unwrap_or_default();
    let inconclusive = match status.figures.n_inconclusive {
        0 => String::new(),
        many => format!(" inconclusive={}", grouped(many)),
    };
    let search = status.search.as_ref().map(search::log_words).unwrap_or_default();
    format!(
        "[{}] execs={} {}/s traces={}{new}{search} findings={} stability={}{inconclusive}\n",
        clock(status.figures.elapsed_s(), false),
        short(status.figures.executions),
        short(status.figures.execs_per_s().round() as u64),
        short(status.figures.distinct_traces),
        status.findings.len(),
        percent(status.figures.stability),
    )
}

/// The line before, to say what is new.
#[derive(Clone, Copy, Debug)]
pub struct Since {
    /// When.
    pub elapsed_s: f64,
    /// How many classes of traces there were.
    pub distinct_traces: u64,
}

/// When lines are due: 1, 2, 5, 10, 20, 50… seconds after the start. The one that follows `after`.
pub fn next_due_s(after: f64) -> f64 {
    let mut decade = 1.0;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if factor * decade > after {
                return factor * decade;
            }
        }
        decade *= 10.0;
    }
}

/// What to write to a terminal to draw a block over one of `n_lines` lines.
pub fn redraw(n_lines: usize, block: &str, style: &Style) -> String {
    let block = if style.color { paint_first_line(block, style) } else { block.to_owned() };
    let lines = block.lines().map(|line| format!("\x1b[2K{line}\n")).collect::<String>();
    if n_lines == 0 { lines } else { format!("\x1b[{n_lines}A{lines}\x1b[J") }
}

/// What to write to a terminal to remove a block of `n_lines` lines.
pub fn erase(n_lines: usize) -> String {
    if n_lines == 0 { String::new() } else { format!("\x1b[{n_lines}A\x1b[J") }
}

fn paint_first_line(block: &str, style: &Style) -> String {
    match block.split_once('\n') {
        Some((first, rest)) => format!("{}\n{rest}", style.paint(Ink::Strong, first)),
        None => block.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::*;
    use crate::campaign::status::Tally;

    fn status() -> Status {
        Status {
            figures: Figures {
                executions: 108_412,
                elapsed: Duration::from_millis(133_400),
                distinct_traces: 9_312,
                last_new_trace: Duration::from_millis(92_200),
                steps_total: 108_412 * 143,
                steps_max: 1_900,
                stability: 100.0,
                n_inconclusive: 2,
                ..Figures::default()
            },
            findings: vec![
                Tally {
                    id: "assert-7f3a".into(),
                    count: 31,
                    place: "queue.c:88".into(),
                    is_timing: false,
                    is_race: false,
                },
                Tally {
                    id: "dl-02c1".into(),
                    count: 3,
                    place: "pool.c:140 ⇄ pool.c:171".into(),
                    is_timing: false,
                    is_race: false,
                },
            ],
            search: None,
        }
    }

    #[test]
    fn a_block_fits_its_terminal() {
        let heading = Heading {
            version: "0.1.0".into(),
            program: "queue_test".into(),
            jobs: 8,
            strategy: "walk".into(),
            time_s: Some(600.0),
            executions: None,
        };
        let text = block(&heading, &status(), &Style::default());
        expect![[r#"
            | raddle 0.1.0  queue_test  8 workers   strategy: walk              02:13 / 10:00
            | execs 108k (813/s)   steps/exec 143 avg, 1.9k max   stability 100%
            | traces 9.3k distinct (last new 41s ago)   inconclusive 2
            | location pairs 0, in both orders 0   lock pairs 0   chance of a new pair 0%
            | findings 2:  assert-7f3a ×31 (queue.c:88)  dl-02c1 ×3 (pool.c:140 ⇄ pool.c:171)
        "#]]
        .assert_eq(&text.lines().map(|it| format!("|{it}\n")).collect::<String>());
        assert!(text.lines().all(|it| width(it) <= 80));
        let narrow = block(&heading, &Status::default(), &Style { width: 40, ..Style::default() });
        assert!(narrow.lines().all(|it| width(it) <= 40), "{narrow}");
    }

    #[test]
    fn a_line_for_logs() {
        let since = Since { elapsed_s: 92.0, distinct_traces: 9_312 };
        expect![[r#"
            [00:02:13] execs=108k 813/s traces=9.3k(+0 in 41s) findings=2 stability=100% inconclusive=2
        "#]]
        .assert_eq(&line(&status(), Some(&since)));
        expect![[r#"
            [00:00:00] execs=0 0/s traces=0 findings=0 stability=100%
        "#]]
        .assert_eq(&line(
            &Status {
                figures: Figures { stability: 100.0, ..Figures::default() },
                ..Status::default()
            },
            None,
        ));
    }

    #[test]
    fn lines_are_log_spaced() {
        let mut dues = vec![0.0];
        for idx in 0..8 {
            dues.push(next_due_s(dues[idx]));
        }
        assert_eq!(dues[1..], [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(next_due_s(7.3), 10.0);
    }
}
