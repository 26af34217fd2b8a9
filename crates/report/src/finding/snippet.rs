//! Source lines with underlines and numbered labels, as the Rust compiler lays them out.
//!
//! Written here and not taken from `annotate-snippets`: that sorts the lines of a file by number and joins those that
//! are near, as is right for a compiler. A schedule goes back and forth between lines and files, and its labels must
//! stand in the order in which things happened, the same line twice if two threads come there.

use std::{fmt::Write as _, ops::Range};

use raddle_model::{Finding, Place};

use super::{
    diagnosis::{Diagnosis, Span},
    shown::Shown,
};
use crate::{
    layout::style::{self, Ink, Style, width},
    words::place::{self, Sources},
};

/// A label beside its underline has at least this much room, or stands below it.
const LABEL_MIN: usize = 38;

/// Where it shows, the lines that matter, and what is known of their order.
pub(crate) fn render(
    shown: &Shown<'_>,
    diagnosis: &Diagnosis,
    style: &Style,
    sources: &mut Sources<'_>,
) -> String {
    let n_digits = |it: &Span| it.place.line.to_string().len();
    let gutter = diagnosis.spans.iter().map(n_digits).max().unwrap_or(1).max(2);
    let mut out = String::new();
    let mut page = Page { out: &mut out, style, gutter };
    if let Some(primary) = diagnosis.primary() {
        page.location("-->", &located(shown, primary));
        page.rule();
        page.table(&diagnosis.table);
        let mut file = primary.place.file.as_str();
        let mut line = 0;
        for span in &diagnosis.spans {
            if span.place.file != file && !span.place.file.is_empty() {
                page.location(":::", &place::long(&span.place, shown.base));
                (file, line) = (&span.place.file, 0);
            }
            let text = sources(&span.place).unwrap_or_default();
            let is_again = line == span.place.line && line > 0;
            page.span(span, &text, is_again);
            line = span.place.line;
        }
        page.rule();
    }
    if let Some(order) = &diagnosis.order {
        page.note("order", order);
    }
    for note in &diagnosis.notes {
        page.note("note", note);
    }
    for help in &diagnosis.help {
        page.note("help", help);
    }
    if !shown.id.is_empty() {
        let failed = shown.reproduced.filter(|it| it.n < it.of);
        let failed = failed.map(|it| format!(" ({} of {} replays fail)", it.n, it.of));
        let replay = format!("raddle replay {}{}", shown.id, failed.unwrap_or_default());
        page.note("replay", &replay);
    }
    out
}

/// `src/cache.c:54 in copy_out, called from refill (src/cache.c:91)`.
fn located(shown: &Shown<'_>, primary: &Span) -> String {
    let at = place::with_function(&primary.place, shown.base);
    match caller(shown.finding, primary) {
        Some(from) => {
            let function = place::function(&from.function);
            let from_at = place::beside(from, &primary.place);
            format!("{at}, called from {function} ({from_at})")
        }
        None => at,
    }
}

/// The program's own call that led to a span.
fn caller<'a>(finding: &'a Finding, span: &Span) -> Option<&'a Place> {
    let state = finding.threads.iter().find(|it| Some(it.thread) == span.thread)?;
    let of_access = finding.evidence.as_deref().map_or(&[][..], |it| &it.accesses);
    let of_access = of_access.iter().find(|it| it.stack.contains(&span.place));
    let stack = of_access.map_or(&state.stack, |it| &it.stack);
    let idx = stack
        .iter()
        .position(|it| (it.line, &it.file) == (span.place.line, &span.place.file) && it.line > 0)?;
    let is_own = |it: &&Place| !place::is_library(it) && it.line > 0;
    let from = stack[idx + 1..].iter().find(is_own)?;
    (from.function != span.place.function).then_some(from)
}

struct Page<'p> {
    out: &'p mut String,
    style: &'p Style,
    gutter: usize,
}

impl Page<'_> {
    fn location(&mut self, arrow: &str, text: &str) {
        let arrow =
            self.style.paint(Ink::Switch, &format!("{:gutter$}{arrow}", "", gutter = self.gutter));
        let text = self.style.tame(text);
        let indent = self.gutter + 4;
        let room = self.style.width.saturating_sub(indent).max(20);
        for (idx, line) in style::wrapped(&text, room).iter().enumerate() {
            let line = self.style.cut(line, room);
            let _ = match idx {
                0 => writeln!(self.out, "{arrow} {line}"),
                _ => writeln!(self.out, "{:indent$}{line}", ""),
            };
        }
    }

    fn rule(&mut self) {
        let bar = self.bar("");
        let _ = writeln!(self.out, "{}", bar.trim_end());
    }

    /// Lines that stand for themselves, and a blank one.
    fn table(&mut self, lines: &[String]) {
        let room = self.style.width.saturating_sub(self.gutter + 3).max(20);
        for line in lines {
            let _ = writeln!(self.out, "{}{}", self.bar(""), self.style.cut(line, room));
        }
        if !lines.is_empty() {
            self.rule();
        }
    }

    /// ` 14 | `, or with a blank number.
    fn bar(&self, number: &str) -> String {
        let text = format!("{number:>gutter$} |", gutter = self.gutter);
        format!("{} ", self.style.paint(Ink::Switch, &text))
    }

    /// The line, its underline and its label; the line is left out if it stands right above.
    fn span(&mut self, span: &Span, text: &str, is_again: bool) {
        let room = self.style.width.saturating_sub(self.gutter + 3).max(20);
        let label = span.label();
        if text.trim().is_empty() {
            let at = match (span.place.line, place::short(&span.place)) {
                (0, at) if !at.is_empty() => format!("{label} ({at})"),
                _ => label,
            };
            let number =
                if span.place.line > 0 { span.place.line.to_string() } else { String::new() };
            return self.label(&number, 0, &at, room, span.is_primary);
        }
        let quote = Quote::of(text, span, room, self.style);
        if !is_again {
            let number = span.place.line.to_string();
            let bar = self.bar(&number);
            let _ = writeln!(self.out, "{bar}{}", quote.text);
        }
        let mark = if span.is_primary { "^" } else { "-" };
        let underline = mark.repeat(quote.width);
        let used = quote.start + quote.width + 1;
        let blank = self.bar("");
        let ink = if span.is_primary { Ink::Error } else { Ink::Switch };
        let painted = self.style.paint(ink, &underline);
        if room < used + LABEL_MIN && room < used + width(&label) {
            let _ = writeln!(self.out, "{blank}{:start$}{painted}", "", start = quote.start);
            let start = quote.start.min(room.saturating_sub(60));
            return self.label("", start, &label, room, span.is_primary);
        }
        for (idx, line) in style::wrapped(&label, room - used).iter().enumerate() {
            let line = self.style.paint(ink, line);
            let _ = match idx {
                0 => {
                    writeln!(self.out, "{blank}{:start$}{painted} {line}", "", start = quote.start)
                }
                _ => writeln!(self.out, "{blank}{:used$}{line}", ""),
            };
        }
    }

    /// A label on lines of its own.
    fn label(&mut self, number: &str, start: usize, label: &str, room: usize, is_primary: bool) {
        let ink = if is_primary { Ink::Error } else { Ink::Switch };
        for (idx, line) in style::wrapped(label, room.saturating_sub(start)).iter().enumerate() {
            let bar = self.bar(if idx == 0 { number } else { "" });
            let _ = writeln!(self.out, "{bar}{:start$}{}", "", self.style.paint(ink, line));
        }
    }

    /// `   = note: …`.
    fn note(&mut self, head: &str, text: &str) {
        let text = self.style.tame(text);
        let indent = self.gutter + 1 + 2 + head.len() + 2;
        let room = self.style.width.saturating_sub(indent).max(20);
        for (idx, line) in style::wrapped(&text, room).iter().enumerate() {
            let _ = match idx {
                0 => {
                    let equals = self.style.paint(Ink::Switch, "=");
                    let head = self.style.paint(Ink::Strong, &format!("{head}:"));
                    writeln!(
                        self.out,
                        "{:gutter$} {equals} {head} {line}",
                        "",
                        gutter = self.gutter
                    )
                }
                _ => writeln!(self.out, "{:indent$}{line}", ""),
            };
        }
    }
}

/// A source line as it is shown, and which columns of it are underlined.
struct Quote {
    text: String,
    start: usize,
    width: usize,
}

impl Quote {
    fn of(raw: &str, span: &Span, room: usize, style: &Style) -> Quote {
        let range = underlined(raw, span.place.column, &span.name);
        let indent = raw.len() - raw.trim_start().len();
        // The indentation is kept, but for what would take the room of labels.
        let lead = style.tame(&raw[..indent]).len().min(4);
        let before = format!("{:lead$}{}", "", style.tame(&raw[indent..range.start.max(indent)]));
        let marked = style.tame(&raw[range.start.max(indent)..range.end.max(indent)]);
        let after = style.tame(&raw[range.end.max(indent)..]);
        let whole = format!("{before}{marked}{after}");
        let (start, marked_width) = (width(&before), width(&marked).max(1));
        if start + marked_width <= room {
            let text = style.cut(whole.trim_end(), room);
            return Quote { text, start, width: marked_width.min(room - start) };
        }
        // What is underlined must be seen: the beginning of the line gives way.
        let dots = format!("    {} ", style.ellipsis());
        let start = width(&dots);
        let text = style.cut(format!("{dots}{marked}{after}").trim_end(), room);
        let width = marked_width.min(width(&text).saturating_sub(start)).max(1);
        Quote { text, start, width }
    }
}

/// The bytes of a line that an access or a call is: the expression with the data's name that is nearest to the column,
/// or else the word or call at the column, or else the whole statement.
fn underlined(raw: &str, column: u32, name: &str) -> Range<usize> {
    let at = (column as usize).saturating_sub(1).min(raw.len());
    let at = (0..=at).rev().find(|it| raw.is_char_boundary(*it)).unwrap_or(0);
    // `part[2]` as it stands there, or else `part[i]`.
    let element = name.rsplit('.').next().unwrap_or_default();
    if element.contains('[')
        && let Some(start) = raw.find(element)
    {
        return start..start + element.len();
    }
    if let Some(range) = occurrence(raw, at, last_part(name)) {
        return range;
    }
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    // Compilers mean the word that is there, wherever in it they point.
    let at = raw[..at].trim_end_matches(is_word).len();
    if column > 0 && raw[at..].chars().next().is_some_and(is_word) {
        return call(raw, at);
    }
    let start = raw.len() - raw.trim_start().len();
    start..raw.trim_end().len().max(start)
}

/// `magic` of `request.magic`, `forks` of `forks[2]`.
fn last_part(name: &str) -> &str {
    let field = name.rsplit(['.', ':']).next().unwrap_or_default();
    field.split(['[', '#', '+']).next().unwrap_or_default()
}

/// The occurrence of a word that is nearest to `at`, with what it is a part of: `r->magic`.
fn occurrence(raw: &str, at: usize, word: &str) -> Option<Range<usize>> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    if word.is_empty() || !word.chars().all(is_word) {
        return None;
    }
    let whole = raw.match_indices(word).map(|it| it.0).filter(|start| {
        let before = raw[..*start].chars().next_back();
        let after = raw[start + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    });
    let start = whole.min_by_key(|it| it.abs_diff(at))?;
    let mut begin = start;
    loop {
        let head = &raw[..begin];
        let Some(owner) = ["->", ".", "::"].iter().find_map(|it| head.strip_suffix(it)) else {
            break;
        };
        let shorter = owner.trim_end_matches(is_word);
        if shorter.len() == owner.len() {
            break;
        }
        begin = shorter.len();
    }
    let mut end = start + word.len();
    if raw[end..].starts_with('[')
        && let Some(close) = raw[end..].find(']')
    {
        end += close + 1;
    }
    Some(begin..end)
}

/// A word with the call that it begins: `pthread_mutex_lock(&m)`; after `self`, all that follows: `self.shards[0].len()`.
fn call(raw: &str, at: usize) -> Range<usize> {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | ':' | '!');
    let word_end =
        |from: usize| raw[from..].find(|it| !is_part(it)).map_or(raw.len(), |it| from + it);
    let mut end = word_end(at);
    let is_self = &raw[at..end] == "self";
    loop {
        let rest = &raw[end..];
        let next = match rest.chars().next() {
            Some('(') => closed(rest, ['(', ')']),
            Some('[') if is_self => closed(rest, ['[', ']']),
            Some('?') if is_self => Some(1),
            Some('.') if is_self => Some(word_end(end + 1) - end).filter(|it| 1 < *it),
            _ => None,
        };
        let Some(length) = next else { return at..end };
        end += length;
        if !is_self {
            return at..end;
        }
    }
}

/// How long a text in brackets is that begins with one; to the end of the line if they are not closed there.
fn closed(text: &str, [open, close]: [char; 2]) -> Option<usize> {
    let mut depth = 0;
    for (idx, char) in text.char_indices() {
        depth += i32::from(char == open) - i32::from(char == close);
        if depth == 0 {
            return Some(idx + 1);
        }
    }
    Some(text.trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::{last_part, underlined};

    fn check(line: &str, column: u32, name: &str, expected: &str) {
        assert_eq!(&line[underlined(line, column, name)], expected);
    }

    #[test]
    fn what_is_underlined() {
        check("    hits = seen + 1;", 10, "hits", "hits");
        check("    return r->magic == ALIVE;", 20, "request.magic", "r->magic");
        check("    pthread_mutex_lock(&forks[i]);", 5, "", "pthread_mutex_lock(&forks[i])");
        check("    pthread_mutex_lock(&forks[i]);", 5, "forks[2]", "forks[i]");
        check("  assert(n == f(2));", 3, "", "assert(n == f(2))");
        check("  x = y; y = x;", 12, "x", "x");
        check("  assert(part[0] + part[2] == 2);", 10, "part[2]", "part[2]");
        check("  int n = a, s = b;", 0, "", "int n = a, s = b;");
        let line = "    let value = self.shards[from].read().unwrap()[&key];";
        check(line, 17, "map.vals[1]", "self.shards[from].read().unwrap()[&key]");
        check("    self.state = 2;", 5, "", "self.state");
        check("  f(g(1),", 3, "", "f(g(1),");
        check("  名 = 余额;", 9, "余额", "余额");
        check("", 4, "x", "");
    }

    #[test]
    fn the_last_part_of_a_name() {
        assert_eq!(last_part("Queue#2.len"), "len");
        assert_eq!(last_part("slots[3].state"), "state");
        assert_eq!(last_part("forks[2]"), "forks");
        assert_eq!(last_part("ns::count"), "count");
        assert_eq!(last_part(""), "");
    }
}
