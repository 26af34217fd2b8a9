//! What random executions have covered, what each strategy has yielded, and how much is left to be seen.

use std::fmt::Write as _;

use serde::Serialize;

use crate::{
    Status, Style,
    number::{count, grouped, short},
    style::Ink,
};

/// Fewer executions say nothing about the strategies.
const YIELDS_FROM: u64 = 100;
/// Strategies named in the block.
const ARMS_MAX: usize = 6;

/// How random executions stand.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SamplingStatus {
    /// Pairs of places whose steps conflicted, in whatever order.
    pub site_pairs: u64,
    /// Those of them that were met in both orders.
    pub both_ways: u64,
    /// Pairs of locks of which one was taken while the other was held.
    pub lock_pairs: u64,
    /// Each strategy's share in it.
    pub arms: Vec<Arm>,
    /// The chance that one more execution meets a new pair: the best guess.
    pub new_pair_chance: f64,
    /// It is hardly more than this: 95 % sure.
    pub new_pair_chance_max: f64,
    /// The chance that one more execution has a new trace.
    pub new_trace_chance: f64,
    /// Did the campaign end because there was hardly anything new to be seen?
    pub saturated: bool,
}

/// What one strategy has yielded.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Arm {
    /// Its name.
    pub strategy: String,
    /// Its executions.
    pub executions: u64,
    /// Pairs of places and of locks that nobody had met before.
    pub new_pairs: u64,
    /// Traces that nobody had seen before.
    pub new_traces: u64,
    /// Findings that it was the first to find.
    pub findings: u64,
}

/// The lines of the block: ` pairs 63, both ways 57   locks 4`, and each strategy's new traces of executions.
pub(crate) fn block_lines(sampling: &SamplingStatus) -> Vec<String> {
    let mut lines = vec![format!(
        " pairs of places {}, both ways {}   pairs of locks {}   chance of a new pair {}",
        short(sampling.site_pairs),
        short(sampling.both_ways),
        short(sampling.lock_pairs),
        chance(sampling.new_pair_chance_max, true)
    )];
    if sampling.arms.len() > 2 {
        let mut line = " new traces:".to_owned();
        for arm in most_used(sampling).into_iter().take(ARMS_MAX) {
            let (new, all) = (short(arm.new_traces), short(arm.executions));
            let _ = write!(line, "  {} {new}/{all}", arm.strategy);
        }
        lines.push(line);
    }
    lines
}

/// What random executions come to, after the line about executions.
pub fn closing(status: &Status, sampling: &SamplingStatus, style: &Style) -> String {
    let mut out = String::new();
    if sampling.saturated {
        let words = style.paint(Ink::Good, "saturated");
        let _ = writeln!(out, "{words}: hardly anything new was left to be seen");
    }
    if sampling.arms.len() > 2 && status.executions >= YIELDS_FROM {
        let _ = write!(out, "{}", yields(sampling, style));
    }
    let _ = writeln!(
        out,
        "  {} of places, {} in both orders; {} of locks",
        count(sampling.site_pairs, "pair"),
        grouped(sampling.both_ways),
        count(sampling.lock_pairs, "pair")
    );
    if status.executions > 1 {
        let _ = writeln!(
            out,
            "  the chance that one more execution like these shows a new pair is {} (at most {}), a new \
             trace {}",
            chance(sampling.new_pair_chance, false),
            chance(sampling.new_pair_chance_max, false),
            chance(sampling.new_trace_chance, false)
        );
    }
    out
}

/// A line for each strategy that had more than a try, those with most executions first.
fn yields(sampling: &SamplingStatus, style: &Style) -> String {
    let mut arms = most_used(sampling);
    let n_all: u64 = arms.iter().map(|it| it.executions).sum();
    arms.retain(|it| it.findings > 0 || 100 * it.executions >= n_all);
    let width = |of: fn(&Arm) -> String| arms.iter().map(|it| of(it).len()).max().unwrap_or(0);
    let name_width = width(|it| it.strategy.clone());
    let (all_width, new_width) =
        (width(|it| grouped(it.executions)), width(|it| grouped(it.new_traces)));
    let mut out = String::new();
    for arm in &arms {
        let findings = match arm.findings {
            0 => String::new(),
            many => format!(", {}", style.paint(Ink::Error, &count(many, "finding"))),
        };
        let _ = writeln!(
            out,
            "  {:name_width$}  {:>all_width$} executions, {:>new_width$} new traces, {} new pairs{findings}",
            arm.strategy,
            grouped(arm.executions),
            grouped(arm.new_traces),
            grouped(arm.new_pairs)
        );
    }
    out
}

fn most_used(sampling: &SamplingStatus) -> Vec<&Arm> {
    let mut arms: Vec<&Arm> = sampling.arms.iter().collect();
    arms.sort_by_key(|it| std::cmp::Reverse(it.executions));
    arms
}

/// `31%`, `0.04%`, `0`.
pub(crate) fn chance(chance: f64, is_short: bool) -> String {
    let percent = 100.0 * chance;
    let space = if is_short { "" } else { " " };
    match percent {
        _ if percent <= 0.0 => format!("0{space}%"),
        _ if percent >= 9.95 => format!("{percent:.0}{space}%"),
        _ if percent >= 0.95 => format!("{percent:.1}{space}%"),
        _ if percent >= 0.095 => format!("{percent:.2}{space}%"),
        _ => format!("{percent:.3}{space}%"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{Arm, SamplingStatus, block_lines, closing};
    use crate::{Status, Style};

    fn sampling() -> SamplingStatus {
        let arm = |strategy: &str, executions, new_traces, new_pairs, findings| Arm {
            strategy: strategy.into(),
            executions,
            new_pairs,
            new_traces,
            findings,
        };
        SamplingStatus {
            site_pairs: 63,
            both_ways: 57,
            lock_pairs: 1,
            arms: vec![
                arm("nonpreemptive", 1, 1, 4, 0),
                arm("walk", 1_900, 312, 40, 0),
                arm("surw", 12_345, 6_000, 76, 2),
                arm("pct:d=drawn", 5_754, 0, 0, 0),
            ],
            new_pair_chance: 0.0002,
            new_pair_chance_max: 0.0011,
            new_trace_chance: 0.3141,
            saturated: false,
        }
    }

    #[test]
    fn in_the_block() {
        let text = format!("block\n{}", block_lines(&sampling()).join("\n"));
        expect![[r#"
            block
             pairs of places 63, both ways 57   pairs of locks 1   chance of a new pair 0.11%
             new traces:  surw 6.0k/12.3k  pct:d=drawn 0/5.8k  walk 312/1.9k  nonpreemptive 1/1"#]]
        .assert_eq(&text);
        let one = SamplingStatus { arms: sampling().arms[..2].to_vec(), ..sampling() };
        assert_eq!(block_lines(&one).len(), 1);
    }

    #[test]
    fn at_the_end() {
        let status = Status { executions: 20_000, ..Status::default() };
        let text = format!("end\n{}", closing(&status, &sampling(), &Style::default()));
        expect![[r#"
            end
              surw         12,345 executions, 6,000 new traces, 76 new pairs, 2 findings
              pct:d=drawn   5,754 executions,     0 new traces, 0 new pairs
              walk          1,900 executions,   312 new traces, 40 new pairs
              63 pairs of places, 57 in both orders; 1 pair of locks
              the chance that one more execution like these shows a new pair is 0.020 % (at most 0.11 %), a new trace 31 %
        "#]].assert_eq(&text);
        let one = SamplingStatus {
            arms: sampling().arms[..2].to_vec(),
            saturated: true,
            new_pair_chance: 0.0,
            ..sampling()
        };
        expect![[r#"
            saturated: hardly anything new was left to be seen
              63 pairs of places, 57 in both orders; 1 pair of locks
              the chance that one more execution like these shows a new pair is 0 % (at most 0.11 %), a new trace 31 %
        "#]].assert_eq(&closing(&status, &one, &Style::default()));
    }
}
