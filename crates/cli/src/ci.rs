//! `raddle ci`: `raddle run` with what a build server wants, and what is known already left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use clap::{ArgMatches, parser::ValueSource};
use raddle_explore::Found;

use crate::exit::Failure;

/// The options that stand before those of the profile and of the user, as far as those do not contradict.
pub(crate) fn defaults(matches: &ArgMatches) -> Vec<String> {
    let is_said = |id: &str| {
        let source = matches.value_source(id);
        matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    let mut all = vec!["--strict", "--progress=none", "--message-format=short"];
    if !is_said("until_first") {
        all.push("--keep-going");
    }
    // Who says how many executions says when it ends.
    if !["execs", "time", "budget"].into_iter().any(is_said) {
        all.push("--time=60s");
    }
    all.into_iter().map(str::to_owned).collect()
}

/// Findings that are known and not to be reported again: a file of their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline {
    ids: BTreeSet<String>,
}

impl Baseline {
    /// The ids of a file: the first word of each line that is not empty and no comment.
    pub(crate) fn read(file: Option<&Path>) -> Result<Baseline, Failure> {
        let Some(file) = file else { return Ok(Baseline::default()) };
        let text = fs::read_to_string(file).map_err(|error| {
            Failure::usage(format!(
                "--baseline {}: {error}; `--write-baseline {0}` writes it",
                file.display()
            ))
        })?;
        Ok(Baseline::of(&text))
    }

    fn of(text: &str) -> Baseline {
        let words = text.lines().filter_map(|it| it.split_whitespace().next());
        let ids = words.filter(|it| !it.starts_with('#')).map(str::to_owned);
        Baseline { ids: ids.collect() }
    }

    /// Is a finding known?
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// `note: 2 known findings were found again and are not reported: …`; empty if it is none.
    pub(crate) fn note(&self, seen: &Seen) -> String {
        let known: Vec<&str> =
            seen.0.keys().map(String::as_str).filter(|it| self.knows(it)).collect();
        match known[..] {
            [] => String::new(),
            [id] => format!("note: 1 known finding was found again and is not reported: {id}\n"),
            _ => format!(
                "note: {} known findings were found again and are not reported: {}\n",
                known.len(),
                known.join(", ")
            ),
        }
    }
}

/// All that was found, known or not: ids, and what each is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(BTreeMap<String, String>);

impl Seen {
    /// Adds findings.
    pub(crate) fn add(&mut self, findings: &[Found]) {
        for it in findings {
            let said = raddle_report::words::fault::line(&it.finding).replace('\n', " ");
            self.0.insert(it.id.clone(), said);
        }
    }

    /// Writes a file that `--baseline` reads.
    pub(crate) fn write(&self, file: &Path) -> Result<(), Failure> {
        let text: String = self.0.iter().map(|(id, said)| format!("{id}  # {said}\n")).collect();
        fs::write(file, text).map_err(|error| {
            Failure::usage(format!("--write-baseline {}: {error}", file.display()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Baseline;

    #[test]
    fn a_line_has_an_id_and_perhaps_a_comment() {
        let known = Baseline::of("# known since 2026\n\ndl-5301  # deadlock\n  race-7f3a\n");
        assert!(known.knows("dl-5301") && known.knows("race-7f3a"));
        assert!(!known.knows("#") && !known.knows("dl") && !known.knows("deadlock"));
    }
}
