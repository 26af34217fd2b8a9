//! A rule that suppresses one finding and as little else as can be: its kind, and the function and file or
//! the memory that it is about.

use std::fmt::Write as _;

use raddle_explore::{
    StoredFinding,
    suppress::{Pattern, Rule, Suppressions},
};
use raddle_model::{Finding, Kind, Place, short_function};

use crate::exit::Failure;

/// The rule as it stands in raddle.toml.
pub(super) fn of(
    stored: &StoredFinding,
    reason: &str,
    expires: Option<&str>,
) -> Result<String, Failure> {
    let finding = &stored.finding;
    let matches = |it: &Match| {
        let rules = vec![it.rule(finding.kind)];
        Suppressions { rules }.find(finding).is_some()
    };
    let found = candidates(finding).into_iter().find(matches).ok_or_else(|| {
        Failure::usage(format!(
            "{} has no function, file or variable to match; write a rule into raddle.toml yourself",
            stored.id
        ))
    })?;
    let mut out = format!("[[suppress]] # {}\nkind = \"{}\"\n", stored.id, finding.kind.word());
    let lines = [("function", &found.function), ("file", &found.file), ("object", &found.object)];
    for (key, value) in lines.into_iter().filter(|it| !it.1.is_empty()) {
        let _ = writeln!(out, "{key} = {}", quoted(value));
    }
    let _ = writeln!(out, "reason = {}", quoted(reason.trim()));
    if let Some(expires) = expires {
        let _ = writeln!(out, "expires = {}", quoted(expires));
    }
    Ok(out)
}

/// What a rule may name; empty for nothing.
#[derive(Clone, Default)]
struct Match {
    function: String,
    file: String,
    object: String,
}

impl Match {
    fn rule(&self, kind: Kind) -> Rule {
        let pattern = |text: &str| (!text.is_empty()).then(|| Pattern::whole(text));
        Rule {
            kinds: vec![kind],
            function: pattern(&self.function),
            file: pattern(&self.file),
            object: pattern(&self.object),
            ..Rule::default()
        }
    }
}

/// The narrowest first.
fn candidates(finding: &Finding) -> Vec<Match> {
    let evidence = finding.evidence.as_deref();
    let access = evidence.and_then(|it| it.accesses.last()).map(|it| &it.place);
    let place = access.or(finding.sites.first()).cloned().unwrap_or_default();
    let Place { function, file, .. } = place;
    let function = short_function(&function);
    let file = file.rsplit('/').next().unwrap_or_default().to_owned();
    let object = evidence.map(|it| it.location.name.clone()).unwrap_or_default();
    let whole = Match { function, file, object };
    let without = |change: fn(&mut Match)| {
        let mut it = whole.clone();
        change(&mut it);
        it
    };
    let mut all = vec![
        whole.clone(),
        without(|it| it.object.clear()),
        without(|it| it.file.clear()),
        without(|it| {
            it.object.clear();
            it.file.clear();
        }),
        without(|it| {
            it.function.clear();
            it.object.clear();
        }),
        without(|it| {
            it.function.clear();
            it.file.clear();
        }),
    ];
    all.retain(|it| !(it.function.is_empty() && it.file.is_empty() && it.object.is_empty()));
    all
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            char if char.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn strings_are_those_of_toml() {
        assert_eq!(quoted("a \"b\" \\ é\n"), "\"a \\\"b\\\" \\\\ é\\u000A\"");
    }
}
