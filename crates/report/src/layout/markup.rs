//! Text of the program's, in HTML and in XML.

/// Text that stands in an element or in an attribute. What neither language allows, however it is written, is
/// replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(char),
            '\0'..='\x1f' | '\x7f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_of_the_program_is_markup() {
        assert_eq!(
            escape("</a> & \"b\" 'c'\r\n"),
            "&lt;/a&gt; &amp; &quot;b&quot; &#39;c&#39;\r\n"
        );
        assert_eq!(escape("\x1b[0m\0\u{ffff}"), "\u{fffd}[0m\u{fffd}\u{fffd}");
    }
}
