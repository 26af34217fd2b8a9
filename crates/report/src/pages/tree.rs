//! A dependency graph as SVG: its tree from left to right, a box or a circle for each node, on each arrow the write
//! that is read.
//!
//! Letters have the same width, so that the size of a text is known without a browser. Leaves stand below each other in
//! the order of the tree, and whoever has children stands in their middle.

use maud::{Markup, html};
use raddle_model::{Drawing, DrawnEdge, DrawnNode, Shape};

use super::px;
use crate::{formats::AT_FIRST, layout::style::width};

/// Of a letter, at the font size that the style sheet has.
const LETTER: f64 = 6.7;
const LINE: f64 = 15.0;
const PAD: f64 = 7.0;
/// From a node to the next below it.
const GAP: f64 = 14.0;
/// Of an arrow without its label.
const ARROW: f64 = 30.0;

/// A node, with its middle at `y`.
#[derive(Clone, Copy, Debug, Default)]
struct Spot {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// The drawing.
pub(super) fn svg(drawing: &Drawing<String>) -> Markup {
    let spots = layout(drawing);
    let far = |of: fn(&Spot) -> f64| spots.iter().map(of).fold(0.0, f64::max) + 1.0;
    let (width, height) = (far(|it| it.x + it.width), far(|it| it.y + it.height / 2.0));
    html! {
        svg class="tree" width=(format!("{width:.0}")) height=(format!("{height:.0}"))
            viewBox={ "0 0 " (px(width)) " " (px(height)) } role="img" aria-label=(drawing.title) {
            @for (node, spot) in drawing.nodes.iter().zip(&spots) {
                @if let Some(parent) = node.parent.and_then(|it| spots.get(it)) {
                    (arrow(parent, spot, edge_text(node)))
                }
                (shape(node, spot, &lines(drawing, node)))
            }
        }
    }
}

/// What a node says; the root, what is decided.
fn lines<'a>(drawing: &'a Drawing<String>, node: &'a DrawnNode<String>) -> Vec<&'a str> {
    match node.parent {
        None => vec![&drawing.title],
        Some(_) => node.labels.iter().map(String::as_str).collect(),
    }
}

fn edge_text(node: &DrawnNode<String>) -> &str {
    match &node.edge {
        DrawnEdge::Plain => "",
        DrawnEdge::Define(define) => define,
        DrawnEdge::First => AT_FIRST,
    }
}

fn text_width(text: &str) -> f64 {
    width(text) as f64 * LETTER
}

fn layout(drawing: &Drawing<String>) -> Vec<Spot> {
    let nodes = &drawing.nodes;
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut depths = vec![0; nodes.len()];
    for (idx, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            children[parent].push(idx);
            depths[idx] = depths[parent] + 1;
        }
    }
    let mut spots: Vec<Spot> = nodes.iter().map(|it| size(&lines(drawing, it), it.shape)).collect();
    // A column is as wide as its widest node, with the widest label of an arrow that leads to it.
    let n_columns = depths.iter().max().map_or(0, |it| it + 1);
    let (mut widths, mut arrows) = (vec![0.0_f64; n_columns], vec![0.0_f64; n_columns]);
    for (idx, node) in nodes.iter().enumerate() {
        let depth = depths[idx];
        widths[depth] = widths[depth].max(spots[idx].width);
        let label = text_width(edge_text(node));
        arrows[depth] = arrows[depth].max(if depth > 0 { label + ARROW } else { 0.0 });
    }
    for (spot, depth) in spots.iter_mut().zip(&depths) {
        let before = (0..*depth).map(|it| widths[it] + arrows[it]).sum::<f64>();
        spot.x = before + arrows[*depth] + 1.0;
    }
    // The first arrow has its label above it.
    let mut bottom = LINE / 2.0;
    if !nodes.is_empty() {
        stand(0, &children, &mut spots, &mut bottom);
    }
    spots
}

/// Gives a node and all below it their places, from the top down. The depth is that of a graph of at most some hundred
/// nodes.
fn stand(idx: usize, children: &[Vec<usize>], spots: &mut [Spot], bottom: &mut f64) {
    let top = *bottom;
    for child in &children[idx] {
        stand(*child, children, spots, bottom);
    }
    let height = spots[idx].height;
    let middle = match (children[idx].first(), children[idx].last()) {
        (Some(first), Some(last)) => f64::midpoint(spots[*first].y, spots[*last].y),
        _ => top + height / 2.0,
    };
    spots[idx].y = middle.max(top + height / 2.0);
    *bottom = bottom.max(spots[idx].y + height / 2.0 + GAP);
}

fn size(lines: &[&str], shape: Shape) -> Spot {
    let longest = lines.iter().map(|it| text_width(it)).fold(0.0, f64::max);
    // An ellipse has less room in its corners.
    let pad = if shape == Shape::Circle { 2.4 * PAD } else { PAD };
    let height = (lines.len() as f64 * LINE).max(LINE / 2.0) + PAD;
    let width = if lines.is_empty() { LINE } else { longest + 2.0 * pad };
    let height = if shape == Shape::Circle { height + PAD } else { height };
    Spot { width, height, ..Spot::default() }
}

fn arrow(from: &Spot, to: &Spot, label: &str) -> Markup {
    let (x1, x2) = (from.x + from.width, to.x);
    // It bends within the first part, so that its label lies on a straight one.
    let bend = x1 + ARROW - 8.0;
    let middle = f64::midpoint(x1, bend);
    let (y1, y2, end) = (from.y, to.y, x2 - 5.0);
    let way = format!(
        "M{x1:.1} {y1:.1}C{middle:.1} {y1:.1} {middle:.1} {y2:.1} {bend:.1} {y2:.1}H{end:.1}"
    );
    html! {
        path class="to" d=(way) {}
        path class="tip" d={ "M" (px(x2)) " " (px(y2)) "l-6 -3.5v7Z" } {}
        @if !label.is_empty() {
            text class="by" x=(px(bend + 1.0)) y=(px(y2 - 4.0)) { (label) }
        }
    }
}

fn shape(node: &DrawnNode<String>, spot: &Spot, lines: &[&str]) -> Markup {
    let Spot { x, y, width, height } = *spot;
    let (middle, top) = (px(x + width / 2.0), px(y - height / 2.0));
    let first = y - (lines.len() as f64 - 1.0) * LINE / 2.0 + 4.0;
    html! {
        @match node.shape {
            Shape::Box => rect x=(px(x)) y=(top) width=(px(width)) height=(px(height)) rx="3" {},
            Shape::Circle => {
                ellipse cx=(middle) cy=(px(y)) rx=(px(width / 2.0)) ry=(px(height / 2.0)) {}
            }
        }
        @for (idx, line) in lines.iter().enumerate() {
            text x=(middle) y=(px(first + idx as f64 * LINE)) text-anchor="middle" { (line) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{layout, svg};
    use crate::tests::samples::drawing;

    /// No two nodes lie on each other, and all lie within the picture.
    #[test]
    fn nodes_have_room() {
        let spots = layout(&drawing());
        for (idx, a) in spots.iter().enumerate() {
            assert!(a.x >= 0.0 && a.y - a.height / 2.0 >= 0.0, "{a:?}");
            for b in &spots[..idx] {
                let apart_x = a.x >= b.x + b.width || b.x >= a.x + a.width;
                let apart_y = (a.y - b.y).abs() >= (a.height + b.height) / 2.0;
                assert!(apart_x || apart_y, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn all_is_said() {
        let text = svg(&drawing()).into_string();
        assert_eq!(text.matches("<rect").count(), 3, "{text}");
        assert_eq!(text.matches("<ellipse").count(), 1);
        assert_eq!(text.matches("class=\"to\"").count(), 3);
        assert!(
            text.contains(">as in the first execution</text>")
                && text.contains("T1 writes at &lt;a&gt;.c:9")
        );
        assert!(!text.contains("NaN"));
    }
}
