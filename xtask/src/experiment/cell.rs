//! What is measured.

use std::fs;

use anyhow::Context as _;
use raddle_model::mix;
use serde::Serialize;
use serde_json::Value;

use super::{
    lab::{Budget, Lab},
    results::key,
    root,
};

/// One measurement.
pub(crate) struct Cell {
    /// Its name in `results.json`.
    pub(crate) key: String,
    /// A hash of all that it is made of, but for Raddle.
    pub(crate) inputs: String,
    /// It is part of `--quick`.
    pub(crate) is_quick: bool,
    how: How,
}

/// How something is measured.
type How = Box<dyn Fn(&Lab) -> anyhow::Result<Value> + Send + Sync>;

impl Cell {
    /// Any measurement: `inputs` are texts that it depends on (flags, limits), `files` such files, from the root.
    pub(crate) fn new<T: Serialize>(
        key: &str,
        inputs: &[&str],
        files: &[&str],
        how: impl Fn(&Lab) -> anyhow::Result<T> + Send + Sync + 'static,
    ) -> Cell {
        let texts = inputs.iter().map(|it| (*it).as_bytes().to_vec());
        // A file that is not there has no hash that was written.
        let files = files.iter().map(|it| fs::read(root().join(it)).unwrap_or_default());
        let files = files.map(|it| without_comments(&it));
        let hash = texts.chain(files).fold(0, |hash, bytes| mix(hash_of(hash, &bytes), 1));
        let how = move |lab: &Lab| Ok(serde_json::to_value(how(lab)?)?);
        Cell {
            key: key.to_owned(),
            inputs: format!("{hash:016x}"),
            is_quick: false,
            how: Box::new(how),
        }
    }

    /// Campaigns.
    pub(crate) fn of(search: Search) -> Cell {
        let (case, strategy) = (&search.case, &search.strategy);
        let key = key(&[&case.name, &search.label]);
        let inputs = format!(
            "{:?} {:?} {strategy} {:?} {} {} {:?}",
            case.flags, case.args, search.budget, search.repeats, search.learning, search.options
        );
        let files: Vec<String> = case.files.iter().chain([&case.source]).cloned().collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        Cell::new(&key, &[&inputs], &files, move |lab| lab.campaigns(&search))
    }

    pub(crate) fn quick(self, is_quick: bool) -> Cell {
        Cell { is_quick, ..self }
    }

    pub(super) fn measure(&self, lab: &Lab) -> anyhow::Result<Value> {
        (self.how)(lab).with_context(|| format!("failed to measure `{}`", self.key))
    }
}

/// Comments, with what tests expect of a program, change nothing that is measured.
fn without_comments(text: &[u8]) -> Vec<u8> {
    text.split_inclusive(|it| *it == b'\n')
        .filter(|it| !it.starts_with(b"//"))
        .flatten()
        .copied()
        .collect()
}

fn hash_of(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(mix(hash, bytes.len() as u64), |hash, it| mix(hash, u64::from(*it)))
}

/// A program with its flags and arguments.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// What tables call it.
    pub(crate) name: String,
    /// Its source, from the root of the repository.
    pub(crate) source: String,
    /// What the source includes.
    pub(crate) files: Vec<String>,
    pub(crate) flags: Vec<String>,
    pub(crate) args: Vec<String>,
}

impl Case {
    pub(crate) fn new(name: &str, source: &str) -> Case {
        let (name, source) = (name.to_owned(), source.to_owned());
        Case { name, source, files: Vec::new(), flags: Vec::new(), args: Vec::new() }
    }

    pub(crate) fn with_args(self, args: &[&str]) -> Case {
        Case { args: args.iter().map(|it| (*it).to_owned()).collect(), ..self }
    }

    pub(crate) fn with_flags(self, flags: &[&str]) -> Case {
        Case { flags: flags.iter().map(|it| (*it).to_owned()).collect(), ..self }
    }

    pub(crate) fn with_files(self, files: &[&str]) -> Case {
        Case { files: files.iter().map(|it| (*it).to_owned()).collect(), ..self }
    }
}

/// Campaigns of one strategy on one program, each up to its first failure.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) case: Case,
    /// As `--strategy` takes it.
    pub(crate) strategy: String,
    /// What the key calls it: the strategy, if nothing else is said.
    pub(crate) label: String,
    pub(crate) budget: Budget,
    /// Campaigns, each with a seed of its own.
    pub(crate) repeats: u32,
    /// Random executions beforehand that find out what is shared: the papers know it from the program's text. Without
    /// any, each campaign finds out for itself.
    pub(crate) learning: u64,
    /// More options of `raddle compare`.
    pub(crate) options: Vec<String>,
}

impl Search {
    pub(crate) fn new(case: &Case, strategy: &str, budget: Budget) -> Search {
        Search {
            case: case.clone(),
            strategy: strategy.to_owned(),
            label: strategy.to_owned(),
            budget,
            repeats: 1,
            learning: 0,
            options: Vec::new(),
        }
    }

    pub(crate) fn repeats(self, repeats: u32) -> Search {
        Search { repeats, ..self }
    }

    pub(crate) fn learning(self, learning: u64) -> Search {
        Search { learning, ..self }
    }

    pub(crate) fn label(self, label: &str) -> Search {
        Search { label: label.to_owned(), ..self }
    }

    pub(crate) fn options(self, options: &[&str]) -> Search {
        Search { options: options.iter().map(|it| (*it).to_owned()).collect(), ..self }
    }
}
