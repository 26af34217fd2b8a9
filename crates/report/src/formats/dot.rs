//! Dependency graphs, as Graphviz draws them.

use std::fmt::Write as _;

use raddle_model::{Drawing, DrawnEdge, Shape};

/// What an edge says whose read had the value from before the first write.
pub(crate) const AT_FIRST: &str = "as in the first execution";

/// One graph.
pub fn dot(drawing: &Drawing<String>) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let title = quoted(&drawing.title);
    let mut text = format!("digraph \"{title}\" {{\n");
    for (idx, node) in drawing.nodes.iter().enumerate() {
        let label = match node.parent {
            None => title.clone(),
            Some(_) => quoted(&node.labels.join("\n")),
        };
        let shape = match node.shape {
            Shape::Box => "box",
            Shape::Circle => "ellipse",
        };
        let _ = writeln!(text, "  n{idx} [shape={shape}, label=\"{label}\"];");
        let Some(parent) = node.parent else { continue };
        let label = match &node.edge {
            DrawnEdge::Plain => String::new(),
            DrawnEdge::Define(define) => quoted(define),
            DrawnEdge::First => AT_FIRST.to_owned(),
        };
        let _ = writeln!(text, "  n{parent} -> n{idx} [label=\"{label}\"];");
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::dot;
    use crate::tests::samples::drawing;

    #[test]
    fn as_graphviz_reads_it() {
        expect![[r#"
            digraph "decided at \"a\".c:3" {
              n0 [shape=box, label="decided at \"a\".c:3"];
              n1 [shape=ellipse, label="T2 reads at a.c:3"];
              n0 -> n1 [label=""];
              n2 [shape=box, label=""];
              n1 -> n2 [label="as in the first execution"];
              n3 [shape=box, label="T1 reads at a.c:8\nT1 reads at a.c:7"];
              n1 -> n3 [label="T1 writes at <a>.c:9"];
            }
        "#]]
        .assert_eq(&dot(&drawing()));
    }
}
