//! `[[suppress]]`: what is not to be told, why, and until when.

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
pub(super) fn read(document: &Document<'_>, today: i64) -> Result<Rules, String> {
    let mut rules = Rules::default();
    for item in document.items() {
        match item.key {
            "suppress" => {
                for node in item.node.nodes()? {
                    add(&mut rules, document, node, today)?;
                }
            }
            "profile" => {}
            key => {
                let what = format!("expected `[[suppress]]` or `[profile.NAME]`, found `{key}`");
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
    today: i64,
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
        let what = "expected `function`, `file` or `object` in this [[suppress]]: without one it would \
                    hide everything";
        return Err(document.wrong(node.at(), what));
    }
    if rule.reason.is_empty() {
        let what = "expected `reason = \"…\"` in this [[suppress]]: why is it not to be told?";
        return Err(document.wrong(node.at(), what));
    }
    rule.text = said.join(", ");
    match expires {
        Some(date) if date.days < today => rules.warnings.push(format!(
            "{}: this rule expired on {} and suppresses nothing any more: {}",
            rule.origin, date.text, rule.text
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

/// A day.
struct Date {
    /// Since 1970.
    days: i64,
    text: String,
}

/// `2026-12-31`, with or without quotes.
fn date(node: Node<'_>) -> Result<Date, String> {
    let text = match node.value() {
        DeValue::Datetime(datetime) => datetime.to_string(),
        DeValue::String(text) => text.to_string(),
        _ => String::new(),
    };
    let numbers: Option<Vec<i64>> = text.split('-').map(|it| it.parse().ok()).collect();
    match numbers.as_deref() {
        Some([year, month @ 1..=12, day @ 1..=31]) if text.len() == "2026-12-31".len() => {
            Ok(Date { days: days_since_1970(*year, *month, *day), text })
        }
        _ => Err(node.expected("a date like 2026-12-31")),
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. Years are counted from March, so that the
/// leap day is the last of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    const DAYS_TO_1970: i64 = 719_468;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - DAYS_TO_1970
}

#[cfg(test)]
mod tests {
    use super::days_since_1970;

    #[test]
    fn days() {
        assert_eq!(days_since_1970(1970, 1, 1), 0);
        assert_eq!(days_since_1970(1969, 12, 31), -1);
        assert_eq!(days_since_1970(2000, 2, 29), 11_016);
        assert_eq!(days_since_1970(2000, 3, 1), 11_017);
        assert_eq!(days_since_1970(2026, 1, 1), 20_454);
    }
}
