//! The two plots of seed paper 4, as SVG: how often programs fail under one strategy, against how many steps
//! they have; and how that changes under another.
//!
//! Both axes are logarithmic. Programs that never failed stand in a column of their own on the left.

use maud::{Markup, html};

use crate::{
    campaign::compare::{Row, percentage},
    layout::number::short,
    pages::px,
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

    /// The drawing, with grid and captions around `marks`.
    fn draw(&self, caption: &str, marks: &Markup) -> Markup {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let middle = LEFT + NEVER + (right - LEFT - NEVER) / 2.0;
        let turned = format!("translate(12 {:.1}) rotate(-90)", TOP + (bottom - TOP) / 2.0);
        html! {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(caption) {
                @for exponent in self.rate_min..=0 {
                    @let x = px(self.x(10_f64.powi(exponent)));
                    line class="grid" x1=(x) y1=(TOP) x2=(x) y2=(bottom) {}
                    text class="tick" x=(x) y=(bottom + 14.0) text-anchor="middle" {
                        (10_f64.powi(exponent + 2)) "%"
                    }
                }
                @for exponent in self.points_min..=self.points_max {
                    @let y = self.y(10_f64.powi(exponent));
                    line class="grid" x1=(LEFT) y1=(px(y)) x2=(right) y2=(px(y)) {}
                    text class="tick" x=(LEFT - 6.0) y=(px(y + 4.0)) text-anchor="end" {
                        (short(10_u64.pow(exponent.max(0) as u32)))
                    }
                }
                rect class="never" x=(LEFT) y=(TOP) width=(NEVER) height=(px(bottom - TOP)) {}
                text class="tick" x=(LEFT + NEVER / 2.0) y=(bottom + 14.0) text-anchor="middle" { "never" }
                text class="axis" x=(px(middle)) y=(HEIGHT - 8.0) text-anchor="middle" { (caption) }
                text class="axis" transform=(turned) text-anchor="middle" { "scheduling points" }
                (marks)
            }
        }
    }
}

/// How often each program fails under the baseline.
pub(super) fn rates(baseline: &[&Row], axes: &Axes) -> Markup {
    let marks = html! {
        @for row in baseline {
            @let (x, y) = (axes.x(row.rate()), axes.y(row.points_max as f64));
            @let (dx, anchor) = if x > WIDTH - 110.0 { (-6.0, "end") } else { (6.0, "start") };
            circle class="base" cx=(px(x)) cy=(px(y)) r="3.5" { title { (title(row, None)) } }
            text class="name" x=(px(x + dx)) y=(px(y + 3.0)) text-anchor=(anchor) { (row.program) }
        }
    };
    axes.draw(&caption(baseline), &marks)
}

fn caption(baseline: &[&Row]) -> String {
    let name = baseline.first().map_or("", |it| it.strategy.as_str());
    format!("executions that fail under {name}")
}

/// How much more or less often each program fails under another strategy. Programs have the places that they
/// have in the baseline's plot.
pub(super) fn changes(baseline: &[&Row], other: &[&Row], axes: &Axes) -> Markup {
    let marks = html! {
        @for row in other {
            @if let Some(base) = baseline.iter().find(|it| it.program == row.program) {
                (mark(base, row, axes))
            }
        }
    };
    axes.draw(&caption(baseline), &marks)
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

fn mark(base: &Row, row: &Row, axes: &Axes) -> Markup {
    let (x, y) = (axes.x(base.rate()), axes.y(base.points_max as f64));
    // Areas grow with the ratio's logarithm.
    let radius = |ratio: f64| (4.0 + 2.5 * ratio.log2().max(0.0).sqrt()).min(12.0);
    let (class, radius) = match change(base, row) {
        Change::Never => ("none", 3.0),
        Change::Same => ("same", 3.5),
        Change::More(ratio) => ("more", radius(ratio)),
        Change::Less(ratio) => ("less", radius(ratio)),
        Change::Found => ("found", 9.0),
        Change::Lost => ("lost", 0.0),
    };
    let title = title(row, Some(base));
    html! {
        @if class == "lost" {
            path class="lost" d={ "M" (px(x - 5.0)) " " (px(y - 5.0)) "l10 10m0 -10l-10 10" } {
                title { (title) }
            }
        } @else {
            circle class=(class) cx=(px(x)) cy=(px(y)) r=(px(radius)) { title { (title) } }
        }
        @if class == "found" {
            text class="count" x=(px(x)) y=(px(y + 3.5)) text-anchor="middle" { (row.n_found) }
        }
    }
}

fn title(row: &Row, base: Option<&Row>) -> String {
    let rate = |row: &Row| percentage(row);
    match base {
        None => format!("{}: {} of executions fail", row.program, rate(row)),
        Some(base) => format!(
            "{}: {} of executions fail, {} under {}",
            row.program,
            rate(row),
            rate(base),
            base.strategy
        ),
    }
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
