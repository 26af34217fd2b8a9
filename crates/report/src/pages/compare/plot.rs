//! The two plots of seed paper 4, as SVG: how often programs fail under one strategy, against how many steps
//! they have; and how that changes under another.
//!
//! Both axes are logarithmic. Programs that never failed stand in a column of their own on the left.

use std::fmt::Write as _;

use crate::{
    campaign::compare::{Row, percentage},
    layout::{markup::escape, number::short},
};

/// A strategy's programs against the baseline's.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// The baseline never saw it fail.
    Found,
    /// Only the baseline saw it fail.
    Lost,
    /// It fails so much more often.
    More(f64),
    /// So much less often.
    Less(f64),
    /// About as often.
    Same,
    /// Neither saw it fail.
    Never,
}

/// Rates that differ by less are the same: a handful of campaigns can't tell.
const SAME: f64 = 2.0;

/// Where things are, in pixels.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const NEVER: f64 = 44.0;
const BOTTOM: f64 = 44.0;
const TOP: f64 = 14.0;
const RIGHT: f64 = 14.0;

/// The axes of all plots of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    /// The lowest decade of rates, as an exponent.
    rate_min: i32,
    /// The decades of steps.
    points_min: i32,
    points_max: i32,
}

impl Axes {
    /// Axes on which all rows have their place.
    pub(super) fn of(rows: &[Row]) -> Axes {
        let rates = rows.iter().map(Row::rate).filter(|it| *it > 0.0);
        let rate_min = rates.map(|it| it.log10().floor() as i32).min().unwrap_or(-1).min(-1);
        let points = || rows.iter().map(|it| it.points_max.max(1) as f64);
        let points_min = points().map(|it| it.log10().floor() as i32).min().unwrap_or(0);
        let points_max = points().map(|it| it.log10().ceil() as i32).max().unwrap_or(1);
        Axes { rate_min, points_min, points_max: points_max.max(points_min + 1) }
    }

    fn x(&self, rate: f64) -> f64 {
        if rate <= 0.0 {
            return LEFT + NEVER / 2.0;
        }
        let share = 1.0 - rate.log10() / f64::from(self.rate_min);
        LEFT + NEVER + share.clamp(0.0, 1.0) * (WIDTH - LEFT - NEVER - RIGHT)
    }

    fn y(&self, points: f64) -> f64 {
        let decades = f64::from(self.points_max - self.points_min);
        let share = (points.max(1.0).log10() - f64::from(self.points_min)) / decades;
        HEIGHT - BOTTOM - share.clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }

    /// Grid and captions.
    fn draw(&self, caption: &str) -> String {
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
            escape(caption)
        );
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for exponent in self.rate_min..=0 {
            let x = self.x(10_f64.powi(exponent));
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"
            );
            let percent = 10_f64.powi(exponent + 2);
            let _ = writeln!(
                out,
                "<text class=\"tick\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{percent}%</text>",
                bottom + 14.0
            );
        }
        for exponent in self.points_min..=self.points_max {
            let y = self.y(10_f64.powi(exponent));
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>"
            );
            let points = short(10_u64.pow(exponent.max(0) as u32));
            let _ = writeln!(
                out,
                "<text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{points}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        let middle = LEFT + NEVER + (right - LEFT - NEVER) / 2.0;
        let _ = writeln!(
            out,
            "<rect class=\"never\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{NEVER}\" height=\"{:.1}\"/>",
            bottom - TOP
        );
        let _ = writeln!(
            out,
            "<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">never</text>",
            LEFT + NEVER / 2.0,
            bottom + 14.0
        );
        let _ = writeln!(
            out,
            "<text class=\"axis\" x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 8.0,
            escape(caption)
        );
        let _ = writeln!(
            out,
            "<text class=\"axis\" transform=\"translate(12 {:.1}) rotate(-90)\" text-anchor=\"middle\">scheduling points</text>",
            TOP + (bottom - TOP) / 2.0
        );
        out
    }
}

/// How often each program fails under the baseline.
pub(super) fn rates(baseline: &[&Row], axes: &Axes) -> String {
    let name = baseline.first().map_or("", |it| it.strategy.as_str());
    let mut out = axes.draw(&format!("executions that fail under {name}"));
    for row in baseline {
        let (x, y) = (axes.x(row.rate()), axes.y(row.points_max as f64));
        let title = title(row, None);
        let _ = writeln!(
            out,
            "<circle class=\"base\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\">{title}</circle>"
        );
        let is_right = x > WIDTH - 110.0;
        let (dx, anchor) = if is_right { (-6.0, "end") } else { (6.0, "start") };
        let _ = writeln!(
            out,
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x + dx,
            y + 3.0,
            escape(&row.program)
        );
    }
    out.push_str("</svg>\n");
    out
}

/// How much more or less often each program fails under another strategy. Programs have the places that they
/// have in the baseline's plot.
pub(super) fn changes(baseline: &[&Row], other: &[&Row], axes: &Axes) -> String {
    let name = baseline.first().map_or("", |it| it.strategy.as_str());
    let mut out = axes.draw(&format!("executions that fail under {name}"));
    for row in other {
        let Some(base) = baseline.iter().find(|it| it.program == row.program) else { continue };
        let (x, y) = (axes.x(base.rate()), axes.y(base.points_max as f64));
        let title = title(row, Some(base));
        out.push_str(&mark(change(base, row), row, x, y, &title));
    }
    out.push_str("</svg>\n");
    out
}

fn change(base: &Row, row: &Row) -> Change {
    let (before, after) = (base.rate(), row.rate());
    match (before > 0.0, after > 0.0) {
        (false, false) => Change::Never,
        (false, true) => Change::Found,
        (true, false) => Change::Lost,
        (true, true) if after >= before * SAME => Change::More(after / before),
        (true, true) if before >= after * SAME => Change::Less(before / after),
        (true, true) => Change::Same,
    }
}

fn mark(change: Change, row: &Row, x: f64, y: f64, title: &str) -> String {
    // Areas grow with the ratio's logarithm.
    let radius = |ratio: f64| (4.0 + 2.5 * ratio.log2().max(0.0).sqrt()).min(12.0);
    match change {
        Change::Never => {
            format!("<circle class=\"none\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\">{title}</circle>\n")
        }
        Change::Same => format!(
            "<circle class=\"same\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\">{title}</circle>\n"
        ),
        Change::More(ratio) => format!(
            "<circle class=\"more\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\">{title}</circle>\n",
            radius(ratio)
        ),
        Change::Less(ratio) => format!(
            "<circle class=\"less\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\">{title}</circle>\n",
            radius(ratio)
        ),
        Change::Found => format!(
            "<circle class=\"found\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\">{title}</circle>\
             <text class=\"count\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            y + 3.5,
            row.n_found
        ),
        Change::Lost => format!(
            "<path class=\"lost\" d=\"M{:.1} {:.1}l10 10m0 -10l-10 10\">{title}</path>\n",
            x - 5.0,
            y - 5.0
        ),
    }
}

fn title(row: &Row, base: Option<&Row>) -> String {
    let rate = |row: &Row| percentage(row);
    let text = match base {
        None => format!("{}: {} of executions fail", row.program, rate(row)),
        Some(base) => format!(
            "{}: {} of executions fail, {} under {}",
            row.program,
            rate(row),
            rate(base),
            base.strategy
        ),
    };
    format!("<title>{}</title>", escape(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::compare::tests::rows;

    /// `reorder-10` never fails under walk, `account` in 32 % of executions, `queue` in 3.2 %.
    #[test]
    fn changes_against_a_walk() {
        let rows = rows();
        let against = |program: usize, strategy: usize| {
            change(&rows[3 * program], &rows[3 * program + strategy])
        };
        assert_eq!(against(0, 1), Change::Found);
        assert_eq!(against(1, 1), Change::Less((10.0 / 31.0) / (10.0 / 62.0)));
        assert_eq!(against(1, 2), Change::Lost);
        assert_eq!(against(2, 1), Change::More((10.0 / 62.0) / (10.0 / 310.0)));
        assert_eq!(against(2, 2), Change::Same);
        assert_eq!(change(&rows[0], &rows[5]), Change::Never);
    }

    /// From 0.01 % (the lowest rate is 9 in 20,900) to 100 %, from 10 to 100 steps.
    #[test]
    fn everything_has_its_place() {
        let axes = Axes::of(&rows());
        assert_eq!((axes.rate_min, axes.points_min, axes.points_max), (-4, 1, 2));
        assert_eq!(axes.x(1.0), WIDTH - RIGHT);
        assert_eq!(axes.x(1e-4), LEFT + NEVER);
        assert!(axes.x(0.0) < LEFT + NEVER);
        assert_eq!(axes.y(10.0), HEIGHT - BOTTOM);
        assert_eq!(axes.y(100.0), TOP);
        assert!(axes.x(0.1) > axes.x(0.01));
    }
}
