//! Rows in columns.

use crate::{
    Style,
    style::{Ink, width},
};

/// Rows under a heading, each column as wide as it must be; the last is cut at the style's width.
pub fn render(heading: &[&str], rows: &[Vec<String>], style: &Style) -> String {
    let n_columns = heading.len();
    let widths: Vec<usize> = (0..n_columns)
        .map(|idx| {
            let cells = rows.iter().filter_map(|row| row.get(idx)).map(|it| width(&style.tame(it)));
            cells.chain([width(heading[idx])]).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[&str]| {
        let mut line = String::new();
        for (idx, cell) in cells.iter().enumerate() {
            let cell = style.tame(cell);
            if idx + 1 == n_columns {
                let room = style.width.saturating_sub(width(&line));
                line.push_str(&style.cut(&cell, room.max(12)));
            } else {
                line.push_str(&style.fit(&cell, widths[idx]));
                line.push_str("  ");
            }
        }
        line.trim_end().to_owned()
    };
    let mut out = style.paint(Ink::Strong, &line(heading)) + "\n";
    for row in rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        out.push_str(&line(&cells));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{render, width};
    use crate::Style;

    #[test]
    fn columns_are_aligned_and_the_last_is_cut() {
        let rows = [["dl-02c1", "T1 and T2 wait for each other"], ["assert-7f3a", "x == 1"]]
            .map(|row| row.map(str::to_owned).to_vec());
        let style = Style { width: 32, ..Style::default() };
        expect![[r#"
            id           what
            dl-02c1      T1 and T2 wait for…
            assert-7f3a  x == 1
        "#]]
        .assert_eq(&render(&["id", "what"], &rows, &style));
    }

    #[test]
    fn wide_characters_and_accents_do_not_move_columns() {
        let rows = [["账户.c", "left"], ["cafe\u{301}.c", "right"], ["a\tb.c", "both"]]
            .map(|row| row.map(str::to_owned).to_vec());
        let text = render(&["program", "lock"], &rows, &Style::default());
        let columns = text.lines().map(|it| it.rsplit_once(' ').map(|it| width(it.0)));
        assert_eq!(columns.collect::<Vec<_>>(), [Some(9); 4], "{text}");
    }
}
