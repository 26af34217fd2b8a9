//! A curve that grows with executions, as SVG: executions on a logarithmic scale, from 1.

use maud::{Markup, html};

use super::px;
use crate::layout::number::{count, short};

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 38.0;
/// Room for a finding's name.
const LABEL_MIN: f64 = 62.0;

/// The plot of points (executions, number); `hits` are executions that found something.
pub(super) fn plot(points: &[(u64, u64)], hits: &[(u64, &str)], caption: &str) -> Markup {
    let last = points.iter().map(|it| it.0).max().unwrap_or(1).max(2);
    let most = points.iter().map(|it| it.1).max().unwrap_or(1).max(1);
    let decades = (last as f64).log10();
    let x = |executions: u64| {
        LEFT + (executions.max(1) as f64).log10() / decades * (WIDTH - LEFT - RIGHT)
    };
    let step = nice_step(most);
    let top = most.div_ceil(step) * step;
    let y = |number: u64| HEIGHT - BOTTOM - number as f64 / top as f64 * (HEIGHT - TOP - BOTTOM);
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let decade = |it: &u64| it.checked_mul(10).filter(|it| *it <= last);
    let letter = |idx| if idx == 0 { 'M' } else { 'L' };
    let point =
        |(idx, it): (usize, &(u64, u64))| format!("{}{:.1} {:.1}", letter(idx), x(it.0), y(it.1));
    let path: String = points.iter().enumerate().map(point).collect();
    let first = points.first().map_or(1, |it| it.0);
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img"
            aria-label={ (caption) " after up to " (count(last, "execution")) } {
            @for decade in std::iter::successors(Some(1), decade) {
                @let at = px(x(decade));
                line class="grid" x1=(at) x2=(at) y1=(TOP) y2=(bottom) {}
                text class="tick" x=(at) y=(bottom + 14.0) text-anchor="middle" { (short(decade)) }
            }
            @for number in (0..=top).step_by(step as usize) {
                @let at = y(number);
                line class="grid" x1=(LEFT) x2=(right) y1=(px(at)) y2=(px(at)) {}
                text class="tick" x=(LEFT - 6.0) y=(px(at + 3.5)) text-anchor="end" { (short(number)) }
            }
            text class="axis" x=(px(LEFT + (right - LEFT) / 2.0)) y=(HEIGHT - 6.0) text-anchor="middle" {
                "executions"
            }
            path class="under" d={ (path) "L" (px(x(last))) " " (bottom) "L" (px(x(first))) " " (bottom) "Z" } {}
            path class="curve" d=(path) {}
            // Executions count from 0: after the first there has been one.
            @for (at, id) in labelled(hits.iter().map(|it| (x(it.0 + 1), it.1))) {
                @let (dx, anchor) = if at > WIDTH - 90.0 { (-4.0, "end") } else { (4.0, "start") };
                line class="hit" x1=(px(at)) x2=(px(at)) y1=(TOP) y2=(bottom) {}
                text class="hitname" x=(px(at + dx)) y=(TOP - 5.0) text-anchor=(anchor) { (id) }
            }
        }
    }
}

/// Names that would lie on each other are in the list of findings, and empty here.
fn labelled<'a>(hits: impl Iterator<Item = (f64, &'a str)>) -> Vec<(f64, &'a str)> {
    let mut last = f64::NEG_INFINITY;
    let mut named = Vec::new();
    for (at, id) in hits {
        let has_room = at - last >= LABEL_MIN;
        last = if has_room { at } else { last };
        named.push((at, if has_room { id } else { "" }));
    }
    named
}

/// A step of 1, 2 or 5 times a power of ten, so that there are about five.
fn nice_step(most: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            if most.div_ceil(factor * power) <= 5 {
                return factor * power;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::{nice_step, plot};

    #[test]
    fn steps_are_round() {
        let steps: Vec<u64> = [1, 5, 6, 60, 499, 12_345].into_iter().map(nice_step).collect();
        assert_eq!(steps, [1, 1, 2, 20, 100, 5_000]);
    }

    #[test]
    fn a_curve_has_its_ends_and_its_hits() {
        let text = plot(&[(1, 1), (10, 4), (100, 5)], &[(9, "dl-<1>")], "traces").into_string();
        assert!(text.contains("d=\"M46.0 165.2L246.0 54.8L446.0 18.0\""), "{text}");
        assert!(text.contains("x1=\"246.0\" x2=\"246.0\" y1=\"18\" y2=\"202\""), "{text}");
        assert!(text.contains(">dl-&lt;1&gt;</text>"));
        assert_eq!(plot(&[(1, 0)], &[], "traces").into_string().matches("NaN").count(), 0);
    }
}
