//! The source files that a page quotes: whole if they are of bearable length, else what surrounds the lines
//! that steps are at.

use std::collections::BTreeMap;

use raddle_model::Place;
use serde::Serialize;

use crate::words::place;

/// What is known of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Its text.
    Text(String),
    /// It was changed since: its lines would be the wrong ones.
    Changed,
    /// It is not at hand.
    Missing,
}

/// Gives the text of a file, by the path that the compiler knew it by.
pub type Files<'a> = dyn FnMut(&str) -> Source + 'a;

/// Files of more lines are quoted in part.
const LINES_MAX: usize = 2_000;
/// Lines around one that matters, in files that are quoted in part.
const AROUND: u32 = 60;
/// Characters of a line; the rest of a longer one is cut.
const LINE_MAX: usize = 400;
/// Characters of all files together: after that, files are quoted in part, then not at all.
const TEXT_MAX: usize = 2_000_000;

/// The files of a page, by number.
#[derive(Debug, Default)]
pub(super) struct Quotes {
    numbers: BTreeMap<String, usize>,
    /// The lines that are spoken of, for each file.
    lines: Vec<Vec<u32>>,
}

/// A file, for the script.
#[derive(Debug, Serialize)]
pub(super) struct Quote {
    /// As it is shown.
    name: String,
    /// Why there is no text; empty if there is.
    why: &'static str,
    /// Stretches of lines: the number of the first, and all of them.
    parts: Vec<(u32, Vec<String>)>,
}

impl Quotes {
    /// The number of a place's file, from 0; `None` where there is nothing to quote.
    pub(super) fn number(&mut self, place: &Place) -> Option<usize> {
        if place.file.is_empty() || place.line == 0 {
            return None;
        }
        let n_files = self.lines.len();
        let number = *self.numbers.entry(place.file.clone()).or_insert(n_files);
        if number == n_files {
            self.lines.push(Vec::new());
        }
        self.lines[number].push(place.line);
        Some(number)
    }

    /// Reads and quotes them all.
    pub(super) fn read(mut self, base: &str, files: &mut Files<'_>) -> Vec<Quote> {
        let mut paths: Vec<(&String, &usize)> = self.numbers.iter().collect();
        paths.sort_by_key(|it| it.1);
        let mut room = TEXT_MAX;
        let mut quotes = Vec::new();
        for (path, number) in paths {
            let at = Place { file: path.clone(), ..Place::default() };
            let lines = std::mem::take(&mut self.lines[*number]);
            let name = place::long(&at, base);
            let quote = match files(path) {
                Source::Text(text) => quote(name, &text, lines, &mut room),
                Source::Changed => {
                    let why = "has changed since this was found and is not shown";
                    Quote { name, why, parts: Vec::new() }
                }
                Source::Missing => {
                    let why = "was not found and is not shown";
                    Quote { name, why, parts: Vec::new() }
                }
            };
            quotes.push(quote);
        }
        quotes
    }
}

fn quote(name: String, text: &str, mut wanted: Vec<u32>, room: &mut usize) -> Quote {
    let lines: Vec<&str> = text.lines().collect();
    let is_whole = lines.len() <= LINES_MAX && text.len() <= *room;
    wanted.sort_unstable();
    wanted.dedup();
    let stretches = if is_whole {
        vec![(1, lines.len() as u32)]
    } else {
        stretches(&wanted, lines.len() as u32)
    };
    let mut parts = Vec::new();
    for (first, last) in stretches {
        let part = &lines[first as usize - 1..last as usize];
        let part: Vec<String> = part.iter().map(|it| it.chars().take(LINE_MAX).collect()).collect();
        let n_bytes: usize = part.iter().map(String::len).sum();
        if n_bytes > *room {
            let why = if parts.is_empty() { "is too long to show" } else { "" };
            return Quote { name, why, parts };
        }
        *room -= n_bytes;
        parts.push((first, part));
    }
    Quote { name, why: "", parts }
}

/// First and last lines of what surrounds the wanted ones; none overlap.
fn stretches(wanted: &[u32], n_lines: u32) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for line in wanted.iter().filter(|it| **it <= n_lines) {
        let (first, last) = (line.saturating_sub(AROUND).max(1), (line + AROUND).min(n_lines));
        match all.last_mut() {
            Some(before) if before.1 + 1 >= first => before.1 = last,
            _ => all.push((first, last)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{quote, stretches};

    #[test]
    fn long_files_are_quoted_in_part() {
        assert_eq!(stretches(&[3, 100, 500], 520), [(1, 160), (440, 520)]);
        assert_eq!(stretches(&[7], 3), []);
        let text = "x\n".repeat(5_000);
        let quoted = quote("a.c".into(), &text, vec![4_000, 10], &mut 1_000_000);
        let ends: Vec<(u32, usize)> = quoted.parts.iter().map(|it| (it.0, it.1.len())).collect();
        assert_eq!(ends, [(1, 70), (3_940, 121)]);
    }

    #[test]
    fn there_is_an_end_to_room() {
        let long = format!("{}\n", "é".repeat(5_000));
        let quoted = quote("a.c".into(), &long, vec![1], &mut 100_000);
        assert_eq!(quoted.parts[0].1[0].chars().count(), 400);
        let quoted = quote("a.c".into(), &long, vec![1], &mut 100);
        assert_eq!((quoted.parts.len(), quoted.why), (0, "is too long to show"));
    }
}
