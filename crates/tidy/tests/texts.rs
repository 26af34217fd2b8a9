//! What no source file may have, and what each must.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Files of more than [`LINES_MAX`] lines, each with its reason.
const LONG_FILES: &[(&str, &str)] =
    &[("crates/trace/src/layout.rs", "one table of bytes, until the header has parts")];
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
