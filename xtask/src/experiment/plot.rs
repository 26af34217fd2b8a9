//! Plots of results as SVG: panels with two axes, points and lines.

use std::fmt::Write as _;

use raddle_report::layout::number::grouped;

/// One panel.
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) marks: Vec<Mark>,
}

/// A logarithmic axis, or a linear one.
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) is_log: bool,
    /// Where a number stands, and which.
    pub(crate) ticks: Vec<(f64, String)>,
}

pub(crate) enum Mark {
    Point {
        x: f64,
        y: f64,
        radius: f64,
        colour: &'static str,
        label: String,
    },
    Line {
        points: Vec<(f64, f64)>,
        colour: &'static str,
        is_dashed: bool,
    },
    /// Words in the lower left corner, one below the other.
    Note {
        text: String,
        colour: &'static str,
    },
}

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 320.0;
/// Room for an axis and its numbers.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 48.0;

impl Axis {
    /// From a power of ten to another.
    pub(crate) fn log(label: &str, from: i32, to: i32) -> Axis {
        let tick = |power: i32| (10_f64.powi(power), power_of_ten(power));
        Axis {
            label: label.to_owned(),
            from: 10_f64.powi(from),
            to: 10_f64.powi(to),
            is_log: true,
            ticks: (from..=to).map(tick).collect(),
        }
    }

    pub(crate) fn linear(label: &str, to: u32, step: u32) -> Axis {
        let ticks = (0..=to / step).map(|it| (f64::from(it * step), (it * step).to_string()));
        Axis {
            label: label.to_owned(),
            from: 0.0,
            to: f64::from(to),
            is_log: false,
            ticks: ticks.collect(),
        }
    }

    /// Where on the axis, from 0 to 1; what is beyond stands at its end.
    fn place(&self, value: f64) -> f64 {
        let place = if self.is_log {
            (value.max(self.from) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        place.clamp(0.0, 1.0)
    }
}

/// `0.01`, `1`, `1,000`.
fn power_of_ten(power: i32) -> String {
    match power {
        ..0 => format!("{:.*}", power.unsigned_abs() as usize, 10_f64.powi(power)),
        _ => grouped(10_u64.pow(power.unsigned_abs())),
    }
}

/// Panels side by side, in rows.
pub(crate) fn svg(plots: &[Plot], n_columns: usize) -> String {
    let (columns, rows) = (n_columns.min(plots.len()), plots.len().div_ceil(n_columns));
    let (width, height) = (columns as f64 * WIDTH, rows as f64 * HEIGHT);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (idx, plot) in plots.iter().enumerate() {
        let (x, y) = ((idx % n_columns) as f64 * WIDTH, (idx / n_columns) as f64 * HEIGHT);
        let _ = writeln!(text, "<g transform=\"translate({x:.0} {y:.0})\">");
        plot.draw(&mut text);
        text += "</g>\n";
    }
    text += "</svg>\n";
    text
}

impl Plot {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        (LEFT + self.x.place(x) * width, HEIGHT - BOTTOM - self.y.place(y) * height)
    }

    fn draw(&self, text: &mut String) {
        let words = |text: &mut String, x: f64, y: f64, more: &str, what: &str| {
            let what = what.replace('&', "&amp;").replace('<', "&lt;");
            let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\"{more}>{what}</text>");
        };
        let (left, bottom) = (LEFT, HEIGHT - BOTTOM);
        let (right, top) = (WIDTH - RIGHT, TOP);
        let middle = f64::midpoint(left, right);
        words(text, middle, 18.0, " text-anchor=\"middle\" font-size=\"13\"", &self.title);
        words(text, middle, HEIGHT - 12.0, " text-anchor=\"middle\"", &self.x.label);
        let centre = f64::midpoint(top, bottom);
        let turned = format!(" text-anchor=\"middle\" transform=\"rotate(-90 14 {centre:.1})\"");
        words(text, 14.0, centre, &turned, &self.y.label);
        let _ = writeln!(
            text,
            "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>"
        );
        for (value, label) in &self.x.ticks {
            let (x, _) = self.at(*value, self.y.from);
            let _ = writeln!(text, "<path d=\"M{x:.1} {bottom}v4\" stroke=\"black\"/>");
            words(text, x, bottom + 16.0, " text-anchor=\"middle\"", label);
        }
        for (value, label) in &self.y.ticks {
            let (_, y) = self.at(self.x.from, *value);
            let _ = writeln!(text, "<path d=\"M{left} {y:.1}h-4\" stroke=\"black\"/>");
            words(text, left - 7.0, y + 4.0, " text-anchor=\"end\"", label);
        }
        let is_note = |it: &&Mark| matches!(it, Mark::Note { .. });
        let n_all_notes = self.marks.iter().filter(is_note).count() as u32;
        let mut n_notes = 0;
        for mark in &self.marks {
            match mark {
                Mark::Line { points, colour, is_dashed } => {
                    let points = points.iter().map(|(x, y)| self.at(*x, *y));
                    let points: Vec<String> =
                        points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                    let dash = if *is_dashed { " stroke-dasharray=\"5 4\"" } else { "" };
                    let _ = writeln!(
                        text,
                        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dash}/>",
                        points.join(" ")
                    );
                }
                Mark::Point { x, y, radius, colour, label } => {
                    let (x, y) = self.at(*x, *y);
                    let _ = writeln!(
                        text,
                        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\" \
                         fill-opacity=\"0.6\"><title>{label}</title></circle>"
                    );
                }
                Mark::Note { text: note, colour } => {
                    n_notes += 1;
                    let y = bottom - 8.0 - 14.0 * f64::from(n_all_notes - n_notes);
                    words(text, left + 8.0, y, &format!(" fill=\"{colour}\""), note);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Mark, Plot, svg};

    #[test]
    fn values_stand_where_they_belong() {
        let log = Axis::log("n", 0, 4);
        assert!((log.place(100.0) - 0.5).abs() < 1e-9);
        assert!(log.place(0.0).abs() < 1e-9);
        assert!((Axis::linear("n", 8, 2).place(6.0) - 0.75).abs() < 1e-9);
        let labels: Vec<String> = Axis::log("n", -2, 4).ticks.into_iter().map(|it| it.1).collect();
        assert_eq!(labels, ["0.01", "0.1", "1", "10", "100", "1,000", "10,000"]);
    }

    #[test]
    fn a_point_is_drawn() {
        let mark =
            Mark::Point { x: 4.0, y: 10.0, radius: 3.0, colour: "red", label: "it".to_owned() };
        let (x, y) = (Axis::linear("x", 8, 4), Axis::log("y", 0, 2));
        let plot = Plot { title: "a < b".to_owned(), x, y, marks: vec![mark] };
        let text = svg(&[plot], 1);
        assert!(text.contains("<circle cx=\"235.0\" cy=\"151.0\" r=\"3.0\""), "{text}");
        assert!(text.contains("a &lt; b"), "{text}");
    }
}
