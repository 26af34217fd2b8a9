//! What no source file may have, and what each must.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Files of more than [`LINES_MAX`] lines, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];
const LINES_MAX: usize = 700;

/// Files that have a banned word nevertheless, each with its reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "crates/launch/tests/common/mod.rs",
        concat!("#![al", "low("),
        "each test file uses another part of it, so that an expectation fails in some",
    ),
    ("crates/cli/tests/common/mod.rs", concat!("#![al", "low("), "as above"),
];

/// Words that must not land. In pieces, so that this file does not have them.
const BANNED: &[(&str, &str)] = &[
    (concat!("FIX", "ME"), "mend it or write an issue"),
    (concat!("to", "do!("), "write it"),
    (concat!("unimple", "mented!("), "write it"),
    (concat!("db", "g!("), "take it out"),
    (concat!("#[ign", "ore"), "assert the wrong answer and say that it is wrong"),
    (concat!("#[al", "low("), "use #[expect(…, reason = …)]"),
    (concat!("#![al", "low("), "use #![expect(…, reason = …)]"),
    (concat!("ALGOR", "ITHMS"), "cite the paper: that file is not in the repository"),
];

/// Crates that hold sentences for the user: all others hand on values.
const SPEAKERS: &[&str] = &["report", "cli", "raddle", "tidy"];

/// Files elsewhere that hold sentences nevertheless, each with its reason. Errors of the user, of the machine and of
/// Raddle itself are made where they are noticed, each one line that says what to do.
const ERRORS: &[(&str, &str)] = &[
    ("crates/explore/src/campaign/course.rs", "a bug of the target's"),
    ("crates/explore/src/campaign/searching.rs", "a search that can't go on"),
    ("crates/explore/src/finding/should_panic.rs", "what libtest says, which is read"),
    ("crates/explore/src/regression/file.rs", "a file that can't be read, and its comment"),
    ("crates/explore/src/store/database.rs", "a store that can't be read"),
    ("crates/explore/src/store/file.rs", "a store that can't be read"),
    ("crates/explore/src/store/rows.rs", "a store that can't be read"),
    ("crates/explore/src/store/search.rs", "a store that can't be read"),
    ("crates/explore/src/suppress/tsan.rs", "a file that can't be read"),
    ("crates/explore/src/target.rs", "a bug of the target's"),
    ("crates/launch/src/cc/compiler.rs", "a compiler that can't be used"),
    ("crates/launch/src/elf.rs", "a program that can't be used"),
    ("crates/launch/src/session.rs", "a program that does not come to its main"),
    ("crates/launch/src/session/again.rs", "an execution that is too long"),
    ("crates/plan/src/strategy.rs", "help on what strategies are called, where that is read"),
    ("crates/plan/src/strategy/params.rs", "a strategy that there is not"),
    ("crates/rt/src/base/debug.rs", "a machine without room"),
    ("crates/rt/src/base/real.rs", "a C library that can't be used"),
    ("crates/rt/src/begin/server.rs", "a launcher that does not fit"),
    ("crates/rt/src/schedule/threads.rs", "a bug of the runtime's"),
    ("crates/rust_std/src/panics.rs", "what std says, which is read"),
];

/// What a line has that is said to nobody but us.
const TO_OURSELVES: &[&str] =
    &["#[error(", "expect(", "assert", "panic!", "unreachable!", "bug: ", "reason = "];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tidy is two deep").into()
}

/// All Rust sources, with paths relative to the root.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["crates", "xtask"] {
        collect(&root().join(folder), &mut found);
    }
    assert!(found.len() > 50, "the sources were not found");
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).expect("a source is UTF-8");
            let name = path.strip_prefix(root()).expect("below the root").display().to_string();
            found.push((name, text));
        }
    }
}

#[track_caller]
fn assert_none(errors: &[String]) {
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

#[test]
fn no_banned_words() {
    let mut errors = Vec::new();
    for (name, text) in sources() {
        let is_excepted =
            |word: &str| EXCEPTIONS.iter().any(|(file, it, _)| *file == name && *it == word);
        for (idx, line) in text.lines().enumerate() {
            let found = BANNED.iter().filter(|(word, _)| line.contains(word) && !is_excepted(word));
            for (word, instead) in found {
                errors.push(format!("{name}:{}: `{word}`: {instead}", idx + 1));
            }
        }
    }
    assert_none(&errors);
}

/// Text is a rendering: what is found, how sure it is and how far it went are values, and `report` has the words.
#[test]
fn sentences_are_in_their_room() {
    let mut errors = Vec::new();
    for (name, text) in sources() {
        let mut parts = name.split('/');
        let (top, room, kind) = (parts.next(), parts.next(), parts.next());
        let is_silent = top == Some("crates")
            && kind == Some("src")
            && room.is_some_and(|it| !SPEAKERS.contains(&it));
        let is_test = ["test", "fake", "toy", "script.rs"].iter().any(|it| name.contains(it));
        if !is_silent || is_test {
            continue;
        }
        let found: Vec<usize> = sentences(&text).collect();
        let is_known = ERRORS.iter().any(|(it, _)| *it == name);
        match (found.as_slice(), is_known) {
            ([], true) => errors.push(format!("{name}: no sentence any more; strike it off")),
            ([line, ..], false) => {
                errors.push(format!("{name}:{line}: a sentence: give a value to `report`"));
            }
            _ => {}
        }
    }
    assert_none(&errors);
}

/// Lines before the tests that have four words in a row in quotes.
fn sentences(text: &str) -> impl Iterator<Item = usize> {
    let own = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut is_error = false;
    let lines = own.lines().zip(1..).filter(move |(line, _)| {
        // An error's attribute may have several lines.
        is_error |= line.trim() == "#[error(";
        if is_error {
            is_error = line.trim() != ")]";
            return false;
        }
        let is_code = !line.trim_start().starts_with("//");
        is_code && !TO_OURSELVES.iter().any(|it| line.contains(it)) && has_sentence(line)
    });
    lines.map(|(_, number)| number)
}

/// Are there four words in a row between quotation marks?
fn has_sentence(line: &str) -> bool {
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| matches!(it, 'a'..='z' | '\''));
    let quoted = line.split('"').skip(1).step_by(2);
    quoted.into_iter().any(|text| {
        let words: Vec<&str> = text.split(' ').collect();
        words.windows(4).any(|it| it.iter().all(|it| is_word(it)))
    })
}

#[test]
fn a_sentence_is_recognised() {
    assert!(has_sentence(r#"    format!("all schedules with {n} were not explored yet")"#));
    assert!(!has_sentence(r#"    "mov rax, [rdi + 8]","#));
    assert!(!has_sentence(r#"    let four = words("a b"); // in all there are"#));
}

#[test]
fn every_module_says_what_it_is_for() {
    let mut errors = Vec::new();
    for (name, text) in sources() {
        if !text.starts_with("//! ") {
            errors.push(format!("{name}: begins without `//!`"));
        }
    }
    assert_none(&errors);
}

#[test]
fn files_are_rooms_not_halls() {
    let mut errors = Vec::new();
    for (name, text) in sources() {
        let n_lines = text.lines().count();
        let is_known = LONG_FILES.iter().any(|(it, _)| *it == name);
        match (n_lines > LINES_MAX, is_known) {
            (true, false) => errors.push(format!("{name}: {n_lines} lines")),
            (false, true) => errors.push(format!("{name}: not long any more; strike it off")),
            _ => {}
        }
    }
    assert_none(&errors);
}

#[test]
fn licences_are_there() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let text = fs::read_to_string(root().join(name)).unwrap_or_default();
        assert!(text.lines().count() > 15, "{name} is missing or cut short");
    }
}
