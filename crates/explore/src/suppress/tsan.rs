//! Suppression files of TSan, read as they are: a kind, a colon and a pattern on each line, `#` before
//! comments.
//!
//! A pattern is looked for in the functions, files and modules of all stacks of a finding, those that
//! created its threads and allocated its memory too, and in the name of the variable. `thread` and
//! `signal` are about what Raddle does not report: such lines are taken and mean nothing.

use raddle_model::Kind;

use super::{Pattern, Rule};

/// What a line may begin with.
const KINDS: [&str; 7] =
    ["race", "race_top", "deadlock", "mutex", "called_from_lib", "thread", "signal"];

/// What is wrong with a file. Line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: expected {expected}, found {found}")]
pub struct TsanError {
    /// As the user named it.
    pub file: String,
    /// Where.
    pub line: usize,
    /// Where in the line, in characters.
    pub column: usize,
    /// What could have stood there.
    pub expected: String,
    /// What does.
    pub found: String,
}

/// The rules of a file.
pub fn parse(file: &str, text: &str) -> Result<Vec<Rule>, TsanError> {
    let mut rules = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let column = line.chars().take_while(|it| it.is_whitespace()).count() + 1;
        let wrong = |column: usize, expected: &str, found: &str| TsanError {
            file: file.to_owned(),
            line: idx + 1,
            column,
            expected: expected.to_owned(),
            found: found.to_owned(),
        };
        let Some((kind, pattern)) = trimmed.split_once(':') else {
            let end = column + trimmed.chars().count();
            return Err(wrong(end, "`:` and a pattern after the kind", "the end of the line"));
        };
        if !KINDS.contains(&kind) {
            let kinds = format!("a kind ({})", KINDS.join(", "));
            return Err(wrong(column, &kinds, &format!("`{kind}`")));
        }
        if pattern.trim().is_empty() {
            let end = column + kind.chars().count() + 1;
            return Err(wrong(end, "a pattern after the colon", "the end of the line"));
        }
        let origin = format!("{file}:{}", idx + 1);
        rules.extend(rule(kind, pattern.trim(), origin, trimmed));
    }
    Ok(rules)
}

/// The rule of a line; none for what Raddle does not report.
fn rule(kind: &str, pattern: &str, origin: String, line: &str) -> Option<Rule> {
    let pattern = Some(Pattern::part(pattern));
    let rule = Rule { origin, text: line.to_owned(), ..Rule::default() };
    Some(match kind {
        "race" => Rule { kinds: vec![Kind::Race], anything: pattern, ..rule },
        "race_top" => Rule { kinds: vec![Kind::Race], anything: pattern, only_top: true, ..rule },
        "called_from_lib" => Rule { kinds: vec![Kind::Race], module: pattern, ..rule },
        "deadlock" => Rule { kinds: vec![Kind::Deadlock], anything: pattern, ..rule },
        "mutex" => Rule { kinds: vec![Kind::Misuse], anything: pattern, ..rule },
        _ => return None,
    })
}
