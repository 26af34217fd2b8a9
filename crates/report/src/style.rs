//! How text may look: width, colour, and which characters.

/// What the reader's terminal can show.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// ANSI colours.
    pub color: bool,
    /// Characters beyond ASCII.
    pub unicode: bool,
    /// Columns.
    pub width: usize,
    /// Every step, nothing folded.
    pub full: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { color: false, unicode: true, width: 80, full: false }
    }
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Error,
    Strong,
    Dim,
    Switch,
    Good,
    Warning,
}

impl Style {
    /// The text in its colour. Pad before painting: colours have no width but do have length.
    pub(crate) fn paint(&self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Error => "1;31",
            Ink::Strong => "1",
            Ink::Dim => "2",
            Ink::Switch => "36",
            Ink::Good => "1;32",
            Ink::Warning => "1;33",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    pub(crate) const fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }

    pub(crate) const fn arrow_left(&self) -> &'static str {
        if self.unicode { "←" } else { "<-" }
    }

    pub(crate) const fn arrow_right(&self) -> &'static str {
        if self.unicode { "→" } else { "->" }
    }

    pub(crate) const fn times(&self) -> &'static str {
        if self.unicode { "×" } else { "x" }
    }

    pub(crate) const fn rule(&self) -> &'static str {
        if self.unicode { "──" } else { "--" }
    }

    /// Before a step that makes it fail.
    pub(crate) const fn pointer(&self) -> &'static str {
        if self.unicode { "▸" } else { ">" }
    }

    /// Beside what a thread does while it holds locks: one, or several.
    pub(crate) const fn bar(&self, n_held: usize) -> &'static str {
        match (n_held, self.unicode) {
            (0, _) => " ",
            (1, true) => "│",
            (_, true) => "║",
            (1, false) => "|",
            (_, false) => "#",
        }
    }

    /// The text in at most `width` characters, its end cut if need be.
    pub(crate) fn cut(&self, text: &str, width: usize) -> String {
        if text.chars().count() <= width {
            return text.to_owned();
        }
        let mark = self.ellipsis();
        let keep = width.saturating_sub(mark.chars().count());
        let mut cut: String = text.chars().take(keep).collect();
        cut.truncate(cut.trim_end().len());
        cut.push_str(mark);
        cut.chars().take(width).collect()
    }

    /// The text in exactly `width` characters.
    pub(crate) fn fit(&self, text: &str, width: usize) -> String {
        let mut text = self.cut(text, width);
        let n_chars = text.chars().count();
        text.extend(std::iter::repeat_n(' ', width.saturating_sub(n_chars)));
        text
    }

    /// Words of the program (source, output) as they may be shown: no control characters, and no
    /// characters that the terminal can't show.
    pub(crate) fn tame(&self, text: &str) -> String {
        let mut tame = String::with_capacity(text.len());
        for char in text.chars() {
            match char {
                '\t' => tame.push_str("    "),
                _ if char.is_control() => tame.push('?'),
                _ if !self.unicode && !char.is_ascii() => tame.push('?'),
                _ => tame.push(char),
            }
        }
        tame
    }
}

#[cfg(test)]
mod tests {
    use super::{Ink, Style};

    #[test]
    fn cuts_and_fits() {
        let style = Style::default();
        assert_eq!(style.cut("unlock left", 8), "unlock…");
        assert_eq!(style.cut("lock", 8), "lock");
        assert_eq!(style.fit("lock", 6), "lock  ");
        let ascii = Style { unicode: false, ..style };
        assert_eq!(ascii.cut("unlock left", 8), "unloc...");
        assert_eq!(ascii.cut("unlock left", 2), "..");
    }

    #[test]
    fn paints_only_when_asked() {
        assert_eq!(Style::default().paint(Ink::Error, "e"), "e");
        let style = Style { color: true, ..Style::default() };
        assert_eq!(style.paint(Ink::Error, "e"), "\u{1b}[1;31me\u{1b}[0m");
    }

    #[test]
    fn no_control_character_of_the_program_reaches_the_terminal() {
        let ascii = Style { unicode: false, ..Style::default() };
        assert_eq!(ascii.tame("a\u{1b}[2Jb\té"), "a?[2Jb    ?");
    }
}
