//! `[[suppress]]`: what is not to be told, why, and until when.

use std::time::{Duration, SystemTime};

use raddle_explore::suppress::{Pattern, Rule};
use raddle_model::Kind;
use toml::de::DeValue;

use super::document::{Document, Item, Node};

/// The rules of a file.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    /// One line for each that has expired.
    pub(super) warnings: Vec<String>,
}

/// Reads the rules that are in force on a day.
pub(super) fn read(document: &Document<'_>, now: SystemTime) -> Result<Rules, String> {
    let mut rules = Rules::default();
    for item in document.items() {
        match item.key {
            "suppress" => {
                for node in item.node.nodes()? {
                    add(&mut rules, document, node, now)?;
                }
            }
            "profile" | "run" => {}
            key => {
                let what =
                    format!("expected `[[suppress]]`, `[profile.NAME]` or `[run]`, found `{key}`");
                return Err(document.wrong(item.at, &what));
            }
        }
    }
    Ok(rules)
}

fn add(
    rules: &mut Rules,
    document: &Document<'_>,
    node: Node<'_>,
    now: SystemTime,
) -> Result<(), String> {
    let mut rule = Rule { origin: document.line_of(node.at()), ..Rule::default() };
    let (mut said, mut expires) = (Vec::new(), None);
    for Item { key, at, node } in node.items()? {
        match key {
            "kind" => {
                let kind = kind(node, document)?;
                said.insert(0, kind.word().to_owned());
                rule.kinds = vec![kind];
            }
            "function" => rule.function = Some(pattern(node, "function", &mut said)?),
            "file" => rule.file = Some(pattern(node, "file", &mut said)?),
            "object" => rule.object = Some(pattern(node, "object", &mut said)?),
            "reason" => rule.reason = text(node)?.to_owned(),
            "expires" => expires = Some(date(node)?),
            key => {
                let keys = "`kind`, `function`, `file`, `object`, `reason` or `expires`";
                return Err(document.wrong(at, &format!("expected {keys}, found `{key}`")));
            }
        }
    }
    if rule.function.is_none() && rule.file.is_none() && rule.object.is_none() {
        let what = "expected `function`, `file` or `object` in this [[suppress]]; without one of them it \
                    would suppress everything";
        return Err(document.wrong(node.at(), what));
    }
    if rule.reason.is_empty() {
        let what = "expected `reason = \"…\"` in this [[suppress]]";
        return Err(document.wrong(node.at(), what));
    }
    rule.text = said.join(", ");
    match expires {
        Some((end, date)) if end <= now => rules.warnings.push(format!(
            "{}: this suppression expired on {date} and is ignored: {}",
            rule.origin, rule.text
        )),
        _ => rules.rules.push(rule),
    }
    Ok(())
}

fn kind(node: Node<'_>, document: &Document<'_>) -> Result<Kind, String> {
    let word = node.string()?;
    Kind::ALL.iter().copied().find(|it| it.word() == word).ok_or_else(|| {
        let words: Vec<&str> = Kind::ALL.iter().map(|it| it.word()).collect();
        document
            .wrong(node.at(), &format!("expected a kind ({}), found `{word}`", words.join(", ")))
    })
}

fn pattern(node: Node<'_>, key: &str, said: &mut Vec<String>) -> Result<Pattern, String> {
    let text = text(node)?;
    said.push(format!("{key} {text}"));
    Ok(Pattern::whole(text))
}

fn text(node: Node<'_>) -> Result<&str, String> {
    match node.string()?.trim() {
        "" => Err(node.expected("some text")),
        text => Ok(text),
    }
}

/// `2026-12-31`, with or without quotes: when that day is over in UTC, and as it is written.
fn date(node: Node<'_>) -> Result<(SystemTime, String), String> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let text = match node.value() {
        DeValue::Datetime(datetime) => datetime.to_string(),
        DeValue::String(text) => text.to_string(),
        _ => String::new(),
    };
    match humantime::parse_rfc3339(&format!("{text}T00:00:00Z")) {
        Ok(begin) => Ok((begin + DAY, text)),
        Err(_) => Err(node.expected("a date like 2026-12-31")),
    }
}
