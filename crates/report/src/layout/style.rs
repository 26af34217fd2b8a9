//! How text may look: width, colour, and which characters.

use std::borrow::Cow;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

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
pub enum Ink {
    /// What is wrong.
    Error,
    /// Headings.
    Strong,
    /// What is there to look up.
    Dim,
    /// Where another thread goes on.
    Switch,
    /// What is as it should be.
    Good,
    /// What may be wrong.
    Warning,
}

impl Style {
    /// The text in its colour. Pad before painting: colours have no width but do have length.
    pub fn paint(&self, ink: Ink, text: &str) -> String {
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

    /// The text in at most `room` columns, its end cut if need be.
    pub(crate) fn cut(&self, text: &str, room: usize) -> String {
        if width(text) <= room {
            return text.to_owned();
        }
        let mark = beginning(self.ellipsis(), room);
        format!("{}{mark}", beginning(text, room - width(mark)).trim_end())
    }

    /// The text in exactly `room` columns.
    pub(crate) fn fit(&self, text: &str, room: usize) -> String {
        let mut text = self.cut(text, room);
        text.extend(std::iter::repeat_n(' ', room.saturating_sub(width(&text))));
        text
    }

    /// Words of the program (source, output) as they may be shown: no control characters, none that turn the direction of
    /// what follows (source that reads otherwise than it is), and none that the terminal can't show.
    pub(crate) fn tame(&self, text: &str) -> String {
        let mut tame = String::with_capacity(text.len());
        for char in text.chars() {
            match char {
                '\t' => tame.push_str("    "),
                _ if char.is_control() => tame.push('?'),
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => tame.push('?'),
                _ if !self.unicode && !char.is_ascii() => tame.push('?'),
                _ => tame.push(char),
            }
        }
        tame
    }
}

/// Columns that a text takes on a terminal: two for a Chinese character, none for an accent.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// The words of a text, on lines of at most `room` columns, but for words that are longer.
pub(crate) fn wrapped(text: &str, room: usize) -> Vec<Cow<'_, str>> {
    let options = Options::new(room)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options)
}

/// As much of a text as fits into `room` columns.
fn beginning(text: &str, room: usize) -> &str {
    let ends = text.char_indices().map(|(start, char)| start + char.len_utf8());
    let mut used = 0;
    let fitting = ends.zip(text.chars()).take_while(|(_, char)| {
        used += char.width().unwrap_or(0);
        used <= room
    });
    &text[..fitting.last().map_or(0, |it| it.0)]
}

#[cfg(test)]
mod tests {
    use super::{Ink, Style, width, wrapped};

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

    /// Source that turns its own direction would read otherwise than it is compiled.
    #[test]
    fn directions_are_not_turned() {
        let style = Style::default();
        assert_eq!(style.tame("is_admin\u{202e} // \u{2066}no"), "is_admin? // ?no");
    }

    /// An accent stays with its letter, and of a wide character there is no half.
    #[test]
    fn columns_are_those_of_the_terminal() {
        let style = Style::default();
        assert_eq!(style.fit("lock 账户", 11), "lock 账户  ");
        assert_eq!(style.cut("lock 账户余额", 10), "lock 账户…");
        assert_eq!(style.fit("lock 账户余额", 9), "lock 账… ");
        assert_eq!(style.fit("cafe\u{301}", 5), "cafe\u{301} ");
        assert_eq!(style.cut("cafe\u{301}s and", 5), "cafe\u{301}…");
        for room in 0..12 {
            assert_eq!(width(&style.fit("a账户余额 locked", room)), room);
        }
    }

    #[test]
    fn sentences_are_wrapped() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrapped("longer than that", 4), ["longer", "than", "that"]);
        assert_eq!(wrapped("a well-known 账户 账户", 10), ["a", "well-known", "账户 账户"]);
        assert_eq!(wrapped("", 4), [""]);
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
