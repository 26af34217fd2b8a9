//! What the first lines of a program in `xtask/trophies` say: which crate in which version, and what must be found.
//!
//!     //! What goes wrong, in a sentence or two.
//!     //@ crate: spin = "=0.5.0"          a dependency, as in Cargo.toml; of several, the last one has the bug
//!     //@ known: RUSTSEC-2019-0013        where it was reported; without it, Raddle found it
//!     //@ kind: race                      the kind of the finding
//!     //@ shows: Channel.waker            part of its first line; may be repeated
//!     //@ at: src/once.rs                 part of the path of one of its places
//!     //@ options: --memory-model c11     options of `raddle cargo run`

use std::{fmt::Write as _, fs, path::Path};

use anyhow::{Context, ensure};

/// One program.
#[derive(Debug, Default)]
pub(super) struct Card {
    /// The file's, without its extension.
    pub(super) name: String,
    pub(super) program: String,
    /// What goes wrong.
    pub(super) what: String,
    crates: Vec<String>,
    known: Option<String>,
    pub(super) kind: String,
    pub(super) shows: Vec<String>,
    at: Option<String>,
    pub(super) options: Vec<String>,
}

impl Card {
    /// The manifest of a crate with this program.
    pub(super) fn manifest(&self) -> String {
        let name = &self.name;
        // Yanked versions can only be locked, not required.
        let dependencies = self.crates.join("\n").replace("\"=", "\"");
        format!(
            "[package]\nname = \"trophy-{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
             [dependencies]\n{dependencies}\n"
        )
    }

    /// Does one of these files lie where the bug is?
    pub(super) fn is_at<'a>(&self, mut files: impl Iterator<Item = &'a str>) -> bool {
        self.at.as_ref().is_none_or(|at| files.any(|it| it.contains(at.as_str())))
    }

    /// Its row on the page.
    pub(super) fn row(&self, n_executions: u64) -> String {
        let (name, version) = self.package();
        let known = match &self.known {
            Some(id) if id.starts_with("RUSTSEC") => {
                format!("[{id}](https://rustsec.org/advisories/{id}.html)")
            }
            Some(other) => other.clone(),
            None => "found by Raddle".to_owned(),
        };
        let Self { name: file, kind, what, .. } = self;
        format!(
            "| [{name} {version}](../xtask/trophies/{file}.rs) | {known} | {what} | {kind} | {n_executions} |\n"
        )
    }

    /// The crate, and its version.
    fn package(&self) -> (&str, &str) {
        self.versions().last().expect("checked by `read`")
    }

    /// All crates that are named, with their versions, in the order in which they are locked.
    pub(super) fn versions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.crates.iter().filter_map(|it| {
            let (name, rest) = it.split_once('=')?;
            let (_, version) = rest.split_once("\"=")?;
            Some((name.trim(), version.split('"').next()?))
        })
    }
}

/// All programs of a folder, by name.
pub(super) fn read_all(folder: &Path) -> anyhow::Result<Vec<Card>> {
    let mut cards = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        cards.push(read(name, text).with_context(|| format!("in {}", path.display()))?);
    }
    cards.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cards)
}

fn read(name: String, program: String) -> anyhow::Result<Card> {
    let mut card = Card { name, ..Card::default() };
    for line in program.lines() {
        if let Some(text) = line.strip_prefix("//! ") {
            let _ = write!(card.what, "{}{text}", if card.what.is_empty() { "" } else { " " });
        }
        let Some(line) = line.strip_prefix("//@ ") else { continue };
        let (key, value) = line.split_once(": ").with_context(|| format!("no value: {line}"))?;
        let value = value.to_owned();
        match key {
            "crate" => card.crates.push(value),
            "known" => card.known = Some(value),
            "kind" => card.kind = value,
            "shows" => card.shows.push(value),
            "at" => card.at = Some(value),
            "options" => card.options = value.split_whitespace().map(str::to_owned).collect(),
            _ => anyhow::bail!("unknown key `{key}`"),
        }
    }
    let is_exact = |it: &String| it.split_once('=').is_some_and(|it| it.1.contains("\"="));
    ensure!(!card.crates.is_empty() && card.crates.iter().all(is_exact), "no exact version");
    ensure!(!card.kind.is_empty() && !card.what.is_empty(), "`kind` or the first line is missing");
    card.program = program;
    Ok(card)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trophy_has_its_row() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = fs::read_to_string(root.join("docs/trophies.md")).expect("the page");
        let cards = read_all(&root.join("xtask/trophies")).expect("programs are right");
        assert!(cards.len() >= 15, "{} trophies", cards.len());
        for card in cards {
            // All but the number of executions, which only a run can tell.
            let row = card.row(0);
            let row = row.strip_suffix("0 |\n").expect("the number is last");
            assert!(page.contains(row), "docs/trophies.md has no row {row}");
        }
        for (name, _) in super::super::RECIPES {
            assert!(page.contains(&format!("--only {name}")), "docs/trophies.md lacks {name}");
        }
    }
}
