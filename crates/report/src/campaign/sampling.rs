//! What random executions have covered, what each strategy has yielded, and how much is left to be seen.

use std::fmt::Write as _;

use raddle_model::{ArmYield, Around, Figures};

use crate::layout::{
    number::{count, grouped, plural, short},
    style::{Ink, Style},
};

/// Fewer executions say nothing about the strategies.
const YIELDS_FROM: u64 = 100;
/// Strategies named in the block.
const ARMS_MAX: usize = 6;

/// The lines of the block: ` pairs 63, both ways 57   locks 4`, and each strategy's new traces of executions.
pub(crate) fn block_lines(figures: &Figures) -> Vec<String> {
    let mut lines = vec![format!(
        " location pairs {}, in both orders {}   lock pairs {}   chance of a new pair {}",
        short(figures.coverage.site_pairs),
        short(figures.coverage.both_ways),
        short(figures.coverage.lock_pairs),
        chance(figures.unseen_pairs.upper, true)
    )];
    if figures.arms.len() > 2 {
        let mut line = " new traces:".to_owned();
        for arm in most_used(figures).into_iter().take(ARMS_MAX) {
            let (new, all) = (short(arm.new_traces), short(arm.executions));
            let _ = write!(line, "  {} {new}/{all}", arm.strategy);
        }
        lines.push(line);
    }
    lines
}

/// What random executions come to, after the line about executions.
pub fn closing(figures: &Figures, style: &Style) -> String {
    let mut out = String::new();
    if figures.is_saturated {
        let words = style.paint(Ink::Good, "saturated");
        let _ = writeln!(out, "{words}: further executions are unlikely to cover anything new");
    }
    if figures.arms.len() > 2 && figures.executions >= YIELDS_FROM {
        let _ = write!(out, "{}", yields(figures, style));
    }
    let _ = writeln!(
        out,
        "  covered {} of code locations ({} in both orders) and {} of locks",
        count(figures.coverage.site_pairs, "pair"),
        grouped(figures.coverage.both_ways),
        count(figures.coverage.lock_pairs, "pair")
    );
    for line in hypotheses(figures).into_iter().chain(refuted(figures)) {
        let _ = writeln!(out, "{line}");
    }
    if let Some(around) = &figures.around {
        let _ = writeln!(out, "{}", near(around, style));
    }
    if figures.executions > 1 {
        let _ = writeln!(
            out,
            "  estimated chance that one more execution covers a new pair: {} (at most {}), a new trace: {}",
            chance(figures.unseen_pairs.chance, false),
            chance(figures.unseen_pairs.upper, false),
            chance(figures.unseen_traces.chance, false)
        );
    }
    out
}

/// A line for each strategy that had more than a try, those with most executions first.
fn yields(figures: &Figures, style: &Style) -> String {
    let mut arms = most_used(figures);
    let n_all: u64 = arms.iter().map(|it| it.executions).sum();
    arms.retain(|it| it.findings > 0 || 100 * it.executions >= n_all);
    let width = |of: fn(&ArmYield) -> String| arms.iter().map(|it| of(it).len()).max().unwrap_or(0);
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
            "  {:name_width$}  {:>all_width$} {}, {:>new_width$} {}, {}{findings}",
            arm.strategy,
            grouped(arm.executions),
            plural(arm.executions, "execution"),
            grouped(arm.new_traces),
            plural(arm.new_traces, "new trace"),
            count(arm.new_pairs, "new pair")
        );
    }
    out
}

/// What was tried of what executions have suggested.
fn hypotheses(figures: &Figures) -> Option<String> {
    let (mut n_tried, mut n_known) = (0, 0);
    let mut parts = Vec::new();
    for it in &figures.hypotheses {
        n_tried += it.tried;
        n_known += it.known;
        parts.push(format!("{} {}/{}", it.family, grouped(it.tried), grouped(it.known)));
    }
    let all = grouped(n_known);
    (n_known > 0).then(|| {
        format!("  tried {} of {all} suggested orderings: {}", grouped(n_tried), parts.join(", "))
    })
}

/// Of what there is little left to hope for, and how much else there is.
fn refuted(figures: &Figures) -> Option<String> {
    let all = &figures.hypotheses;
    let n_refuted: u64 = all.iter().map(|it| it.refuted).sum();
    let n_known: u64 = all.iter().map(|it| it.known).sum();
    let parts = all.iter().filter(|it| it.refuted > 0);
    let parts: Vec<String> =
        parts.map(|it| format!("{} {}", it.family, grouped(it.refuted))).collect();
    (n_refuted > 0).then(|| {
        format!(
            "  refuted {} of them (impossible in each try, or several tries without a new failure): {}; {} left",
            grouped(n_refuted),
            parts.join(", "),
            grouped(n_known - n_refuted)
        )
    })
}

/// What was tried where the user wanted to look.
fn near(around: &Around, style: &Style) -> String {
    let Around { sites, distance, known, tried } = *around;
    if sites == 0 {
        let words = style.paint(Ink::Warning, "no operation that other threads can observe");
        return format!("  at the requested lines: {words}; the whole program was searched");
    }
    let within = match distance {
        0 => String::new(),
        lines => format!(" (within {lines} lines)"),
    };
    format!("  of these, at the requested lines{within}: {} of {}", grouped(tried), grouped(known))
}

fn most_used(figures: &Figures) -> Vec<&ArmYield> {
    let mut arms: Vec<&ArmYield> = figures.arms.iter().collect();
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

    use raddle_model::{ArmYield, Coverage, Estimate, Family, Figures, Tried};

    use super::{block_lines, closing};
    use crate::layout::style::Style;

    fn figures() -> Figures {
        let arm = |strategy: &str, executions, new_traces, new_pairs, findings| ArmYield {
            strategy: strategy.into(),
            executions,
            new_pairs,
            new_traces,
            findings,
        };
        Figures {
            executions: 20_000,
            coverage: Coverage { site_pairs: 63, both_ways: 57, lock_pairs: 1 },
            arms: vec![
                arm("nonpreemptive", 1, 1, 4, 0),
                arm("walk", 1_900, 312, 40, 0),
                arm("surw", 12_345, 6_000, 76, 2),
                arm("pct:d=drawn", 5_754, 0, 0, 0),
            ],
            unseen_pairs: Estimate { chance: 0.0002, upper: 0.0011 },
            unseen_traces: Estimate { chance: 0.3141, upper: 0.4 },
            ..Figures::default()
        }
    }

    #[test]
    fn in_the_block() {
        let text = format!("block\n{}", block_lines(&figures()).join("\n"));
        expect![[r#"
            block
             location pairs 63, in both orders 57   lock pairs 1   chance of a new pair 0.11%
             new traces:  surw 6.0k/12.3k  pct:d=drawn 0/5.8k  walk 312/1.9k  nonpreemptive 1/1"#]]
        .assert_eq(&text);
        let one = Figures { arms: figures().arms[..2].to_vec(), ..figures() };
        assert_eq!(block_lines(&one).len(), 1);
    }

    #[test]
    fn at_the_end() {
        let text = format!("end\n{}", closing(&figures(), &Style::default()));
        expect![[r#"
            end
              surw         12,345 executions, 6,000 new traces, 76 new pairs, 2 findings
              pct:d=drawn   5,754 executions,     0 new traces, 0 new pairs
              walk          1,900 executions,   312 new traces, 40 new pairs
              covered 63 pairs of code locations (57 in both orders) and 1 pair of locks
              estimated chance that one more execution covers a new pair: 0.020 % (at most 0.11 %), a new trace: 31 %
        "#]].assert_eq(&text);
        let one = Figures {
            arms: figures().arms[..2].to_vec(),
            is_saturated: true,
            unseen_pairs: Estimate { chance: 0.0, upper: 0.0011 },
            hypotheses: vec![
                Tried { family: Family::Late, known: 11, tried: 11, refuted: 3 },
                Tried { family: Family::Torn, known: 2_000, tried: 31, refuted: 0 },
            ],
            ..figures()
        };
        expect![[r#"
            saturated: further executions are unlikely to cover anything new
              covered 63 pairs of code locations (57 in both orders) and 1 pair of locks
              tried 42 of 2,011 suggested orderings: late 11/11, torn 31/2,000
              refuted 3 of them (impossible in each try, or several tries without a new failure): late 3; 2,008 left
              estimated chance that one more execution covers a new pair: 0 % (at most 0.11 %), a new trace: 31 %
        "#]].assert_eq(&closing(&one, &Style::default()));
    }
}
