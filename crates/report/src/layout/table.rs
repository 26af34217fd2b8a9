//! Rows in columns.

use std::borrow::Cow;

use crate::layout::style::{Ink, Style, width};

/// Rows under a heading, each column as wide as it must be; the last is cut at the style's width.
pub fn render(heading: &[&str], rows: &[Vec<String>], style: &Style) -> String {
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|it| tame(it, style)).collect()).collect();
    let heading: Vec<Cow<'_, str>> = heading.iter().map(|it| Cow::Borrowed(*it)).collect();
    let mut widths = vec![0; heading.len()];
    for row in rows.iter().chain([&heading]) {
        for (column, cell) in widths.iter_mut().zip(row) {
            *column = width(cell).max(*column);
        }
    }
    let mut line = String::new();
    write(&mut line, &heading, &widths, style);
    let mut out = style.paint(Ink::Strong, &line) + "\n";
    for row in &rows {
        write(&mut out, row, &widths, style);
        out.push('\n');
    }
    out
}

fn write(out: &mut String, row: &[Cow<'_, str>], widths: &[usize], style: &Style) {
    let mut used = 0;
    for (idx, (cell, column)) in row.iter().zip(widths).enumerate() {
        if idx + 1 == widths.len() {
            out.push_str(&style.cut(cell, style.width.saturating_sub(used).max(12)));
        } else {
            out.push_str(cell);
            out.extend(std::iter::repeat_n(' ', column - width(cell) + 2));
            used += column + 2;
        }
    }
    out.truncate(out.trim_end_matches(' ').len());
}

/// Most cells are plain, and there may be very many.
fn tame<'a>(cell: &'a str, style: &Style) -> Cow<'a, str> {
    match cell.bytes().all(|it| matches!(it, b' '..=b'~')) {
        true => cell.into(),
        false => style.tame(cell).into(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{render, width};
    use crate::layout::style::Style;

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
