//! Phrases that no user may meet: docs/voice.md has the rules, and what to write instead.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A phrase, and what to write instead. Compared in lower case.
const PHRASES: &[(&str, &str)] = &[
    ("found are", "Raddle reports …"),
    ("for ever", "forever"),
    ("gives back", "returns, or releases"),
    ("give back", "return, or release"),
    ("given back", "returned, or released"),
    ("is told", "is reported"),
    ("are told", "are reported"),
    ("be told", "be reported"),
    ("races told", "race detection on"),
    ("whatever order", "in every schedule tried"),
    ("in whatever", "in any"),
    ("is no time", "expected a duration"),
    ("is no size", "expected a size"),
    ("is no count", "expected a number"),
    ("that is no id", "invalid finding id"),
    ("there is no such", "unknown …; available: …"),
    ("; there are", "; available: …"),
    ("failed to find", "no … in …"),
    ("failed to take", "invalid …"),
    ("none of this raddle", "incompatible version"),
    ("no schedule is to blame", "the schedule is not the cause"),
    ("shows what there is", "shows all …"),
    ("says where to", "choose another file with …"),
    ("waits in circles", "deadlock cycle, or polls"),
    ("no few orders", "no small set of orderings"),
    ("go on with:", "resume with:"),
    ("built anew", "rebuilt"),
    ("begun anew", "restarted, or discarded"),
    ("hardly anything new", "further executions are unlikely to cover anything new"),
    ("came to its end", "finished"),
    ("come to its end", "finish"),
    ("who can go on", "enabled threads"),
    ("a lock in common", "a common lock"),
    ("nobody", "no thread"),
    ("whoever", "the thread that …"),
    ("anew", "again"),
];

/// Pages for users. Contributors' pages may show what not to write.
const PAGES: &[&str] = &["README.md", "CHANGELOG.md", "docs", "experiments"];
const NOT_FOR_USERS: &[&str] = &["docs/voice.md"];

/// Crates whose strings and `--help` users read.
const SPEAKERS: &[&str] = &["cli", "report", "explore", "launch", "plan", "raddle"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tidy is two deep").into()
}

fn files(path: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder can be listed").flatten() {
            files(&entry.path(), extension, found);
        }
    } else if path.extension().is_some_and(|it| it == extension) {
        found.push(path.to_owned());
    }
}

/// The texts of a source that users meet: what is quoted, and options' help. Tests are left out.
fn texts(source: &str, is_help: bool) -> Vec<(usize, String)> {
    let own = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut texts = Vec::new();
    for (line, number) in own.lines().zip(1..) {
        let bare = line.trim_start();
        if bare.starts_with("//") {
            let help = bare.strip_prefix("/// ").filter(|_| is_help);
            texts.extend(help.map(|it| (number, it.to_owned())));
        } else if !["expect(", "assert", "panic!", "reason = "].iter().any(|it| line.contains(it)) {
            let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
            // A string of several lines has no quotation mark on some of them.
            let is_inside = !line.contains('"') && line.ends_with('\\');
            let text = if is_inside { bare.to_owned() } else { quoted.join(" ") };
            texts.push((number, text));
        }
    }
    texts
}

fn phrases(text: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let text = text.to_lowercase();
    PHRASES.iter().filter(move |(phrase, _)| has(&text, phrase))
}

/// Is the phrase there, as whole words?
fn has(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let starts = phrase.starts_with(|it: char| !it.is_alphabetic());
        (starts || !before.is_some_and(char::is_alphanumeric))
            && !after.is_some_and(char::is_alphanumeric)
    })
}

#[test]
fn users_meet_plain_english() {
    let root = root();
    let mut errors = Vec::new();
    let mut check = |path: &Path, number: usize, text: &str| {
        let name = path.strip_prefix(&root).expect("below the root").display().to_string();
        // A program has this name.
        for (phrase, instead) in phrases(&text.replace("whoever_is_first", "")) {
            errors.push(format!("{name}:{number}: `{phrase}`: {instead}"));
        }
    };
    let mut pages = Vec::new();
    PAGES.iter().for_each(|it| files(&root.join(it), "md", &mut pages));
    pages.retain(|it| !NOT_FOR_USERS.iter().any(|of| it.ends_with(of)));
    assert!(pages.len() > 15, "the pages were not found");
    for path in &pages {
        let text = fs::read_to_string(path).expect("a page is UTF-8");
        text.lines().zip(1..).for_each(|(line, number)| check(path, number, line));
    }
    for speaker in SPEAKERS {
        let mut sources = Vec::new();
        files(&root.join("crates").join(speaker).join("src"), "rs", &mut sources);
        sources.retain(|it| !it.iter().any(|part| part.to_string_lossy().contains("tests")));
        assert!(!sources.is_empty(), "{speaker} has no sources");
        for path in &sources {
            let source = fs::read_to_string(path).expect("a source is UTF-8");
            let is_help = path.iter().any(|it| it == "args" || it == "args.rs");
            let texts = texts(&source, is_help || *speaker == "raddle");
            texts.iter().for_each(|(number, text)| check(path, *number, text));
        }
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

#[test]
fn phrases_are_recognised() {
    let found = |text: &str| phrases(text).map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(found("Races are told at once"), ["are told"]);
    assert_eq!(found("`x` is no time: write 500ms"), ["is no time"]);
    assert_eq!(found("unknown strategy `x`; there are 22"), ["; there are"]);
    assert!(found("blocked forever; software told").is_empty());
    let source =
        "//! is told\n/// for ever\nlet it = \"for ever\"; // is told\nassert!(x, \"is told\");\n";
    let lines = |is_help| {
        let texts = texts(source, is_help);
        texts.into_iter().filter(|it| phrases(&it.1).count() > 0).map(|it| it.0).collect::<Vec<_>>()
    };
    assert_eq!(lines(false), [3]);
    assert_eq!(lines(true), [2, 3]);
}
