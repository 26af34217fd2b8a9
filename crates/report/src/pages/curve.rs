//! A curve that grows with executions, as SVG: executions on a logarithmic scale, from 1.

use std::fmt::Write as _;

use crate::layout::markup::escape;
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
pub(super) fn plot(points: &[(u64, u64)], hits: &[(u64, &str)], caption: &str) -> String {
    let last = points.iter().map(|it| it.0).max().unwrap_or(1).max(2);
    let most = points.iter().map(|it| it.1).max().unwrap_or(1).max(1);
    let decades = (last as f64).log10();
    let x = |executions: u64| {
        LEFT + (executions.max(1) as f64).log10() / decades * (WIDTH - LEFT - RIGHT)
    };
    let step = nice_step(most);
    let top = most.div_ceil(step) * step;
    let y = |number: u64| HEIGHT - BOTTOM - number as f64 / top as f64 * (HEIGHT - TOP - BOTTOM);
    let label = format!("{caption} after up to {}", count(last, "execution"));
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        escape(&label)
    );
    grid(&mut out, last, step, top, &x, &y);
    curve(&mut out, points, last, &x, &y);
    let mut labelled = f64::NEG_INFINITY;
    for (execution, id) in hits {
        // Executions count from 0: after the first there has been one.
        let at = x(execution + 1);
        // Names that would lie on each other are in the list of findings.
        let has_room = at - labelled >= LABEL_MIN;
        let id = if has_room { id } else { "" };
        labelled = if has_room { at } else { labelled };
        let (dx, anchor) = if at > WIDTH - 90.0 { (-4.0, "end") } else { (4.0, "start") };
        let _ = writeln!(
            out,
            "<line class=\"hit\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{}\"/>\
             <text class=\"hitname\" x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            HEIGHT - BOTTOM,
            at + dx,
            TOP - 5.0,
            escape(id)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn grid(
    out: &mut String,
    last: u64,
    step: u64,
    top: u64,
    x: &impl Fn(u64) -> f64,
    y: &impl Fn(u64) -> f64,
) {
    let bottom = HEIGHT - BOTTOM;
    let mut decade = 1_u64;
    while decade <= last {
        let at = x(decade);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 14.0,
            short(decade)
        );
        decade = decade.saturating_mul(10);
    }
    for number in (0..=top).step_by(step as usize) {
        let at = y(number);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 3.5,
            short(number)
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">executions</text>",
        LEFT + (WIDTH - LEFT - RIGHT) / 2.0,
        HEIGHT - 6.0
    );
}

fn curve(
    out: &mut String,
    points: &[(u64, u64)],
    last: u64,
    x: &impl Fn(u64) -> f64,
    y: &impl Fn(u64) -> f64,
) {
    let mut path = String::new();
    for (executions, number) in points {
        let letter = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{:.1} {:.1}", x(*executions), y(*number));
    }
    let first = points.first().map_or(1, |it| it.0);
    let bottom = HEIGHT - BOTTOM;
    let _ = writeln!(
        out,
        "<path class=\"under\" d=\"{path}L{:.1} {bottom}L{:.1} {bottom}Z\"/><path class=\"curve\" \
         d=\"{path}\"/>",
        x(last),
        x(first)
    );
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
        let text = plot(&[(1, 1), (10, 4), (100, 5)], &[(9, "dl-<1>")], "traces");
        assert!(text.contains("d=\"M46.0 165.2L246.0 54.8L446.0 18.0\""), "{text}");
        assert!(text.contains("x1=\"246.0\" x2=\"246.0\" y1=\"18\" y2=\"202\""), "{text}");
        assert!(text.contains(">dl-&lt;1&gt;</text>"));
        assert_eq!(plot(&[(1, 0)], &[], "traces").matches("NaN").count(), 0);
    }
}
