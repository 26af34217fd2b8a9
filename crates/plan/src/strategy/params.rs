//! The parameters of a strategy, as they were written.

use std::{fmt, ops::RangeInclusive};

use raddle_model::Amount;

use super::{FORMS, Form};

/// Why a text is no strategy, and what may be written instead. Several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyError {
    what: String,
    forms: Vec<String>,
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.forms.iter().try_for_each(|it| write!(f, "\n  {it}"))
    }
}

impl std::error::Error for StrategyError {}

/// A strategy's name, and the parameters that have not been looked at yet.
pub(super) struct Params<'a> {
    form: &'static Form,
    text: &'a str,
    items: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> Params<'a> {
    /// Takes a text apart. The name is one of [`FORMS`].
    pub(super) fn of(text: &'a str) -> Result<Params<'a>, StrategyError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let Some(form) = FORMS.iter().find(|it| it.name == name.trim()) else {
            let what = format!("unknown strategy `{}`; available:", name.trim());
            return Err(StrategyError { what, forms: FORMS.iter().map(line).collect() });
        };
        let items = rest.split(',').map(str::trim).filter(|it| !it.is_empty());
        let split = |it: &'a str| match it.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (it, None),
        };
        Ok(Params { form, text: text.trim(), items: items.map(split).collect() })
    }

    pub(super) fn form(&self) -> &'static Form {
        self.form
    }

    /// The whole text, name and all: nothing is left then.
    pub(super) fn take_all(&mut self) -> &'a str {
        self.items.clear();
        self.text
    }

    /// Was this word written?
    pub(super) fn word(&mut self, word: &str) -> bool {
        let found = self.items.iter().position(|it| *it == (word, None));
        found.map(|idx| self.items.remove(idx)).is_some()
    }

    /// Was exactly this written?
    pub(super) fn is(&mut self, key: &str, value: &str) -> bool {
        let found = self.items.iter().position(|it| *it == (key, Some(value)));
        found.map(|idx| self.items.remove(idx)).is_some()
    }

    fn take(&mut self, key: &str) -> Option<&'a str> {
        let idx = self.items.iter().position(|it| it.0 == key && it.1.is_some())?;
        self.items.remove(idx).1
    }

    /// A whole number.
    pub(super) fn number(
        &mut self,
        key: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, StrategyError> {
        let Some(text) = self.take(key) else { return Ok(None) };
        let number = text.parse::<u32>().ok().filter(|it| range.contains(it));
        let wrong = || {
            let (start, end) = (range.start(), range.end());
            self.wrong(&format!(
                "invalid value `{text}` for `{key}`; expected a number from {start} to {end}"
            ))
        };
        number.map(Some).ok_or_else(wrong)
    }

    /// A whole number, or `drawn`.
    pub(super) fn amount(
        &mut self,
        key: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<Amount>, StrategyError> {
        if self.is(key, "drawn") {
            return Ok(Some(Amount::Drawn));
        }
        Ok(self.number(key, range)?.map(Amount::Fixed))
    }

    /// A probability, as so many per mille.
    pub(super) fn per_mille(
        &mut self,
        key: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, StrategyError> {
        self.decimal(key, 1_000, range)
    }

    /// A confidence, in ten-thousandths.
    pub(super) fn confidence(&mut self) -> Result<Option<u32>, StrategyError> {
        self.decimal("c", 10_000, 5_000..=9_999)
    }

    /// A number with a point, times a scale.
    pub(super) fn decimal(
        &mut self,
        key: &str,
        scale: u32,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, StrategyError> {
        let Some(text) = self.take(key) else { return Ok(None) };
        let scale = f64::from(scale);
        let number = text.parse::<f64>().ok().filter(|it| (0.0..=1e3).contains(it));
        let number = number.map(|it| (it * scale).round() as u32);
        let wrong = || {
            let [start, end] = [range.start(), range.end()].map(|it| f64::from(*it) / scale);
            self.wrong(&format!(
                "invalid value `{text}` for `{key}`; expected a number from {start} to {end}"
            ))
        };
        number.filter(|it| range.contains(it)).map(Some).ok_or_else(wrong)
    }

    /// The index of one of some words.
    pub(super) fn one_of(
        &mut self,
        key: &str,
        words: &[&str],
    ) -> Result<Option<usize>, StrategyError> {
        let Some(text) = self.take(key) else { return Ok(None) };
        let idx = words.iter().position(|it| *it == text);
        let wrong = || {
            let words = words.join("` or `");
            self.wrong(&format!("invalid value `{text}` for `{key}`; expected `{words}`"))
        };
        idx.map(Some).ok_or_else(wrong)
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), StrategyError> {
        let Some((key, value)) = self.items.first() else { return Ok(()) };
        let text = value.map_or_else(|| (*key).to_owned(), |value| format!("{key}={value}"));
        Err(self.unexpected(&text))
    }

    /// The parameter of a search, which is one text, is not one that it takes.
    pub(super) fn invalid(&self) -> StrategyError {
        let text = self.text.split_once(':').map_or("", |it| it.1.trim());
        let (name, params) = (self.form.name, self.form.params);
        let key = text.split_once('=').map(|it| format!("{}=", it.0.trim()));
        let expected = match params {
            "" => return self.unexpected(text),
            "N" => "a number",
            _ if key.is_some_and(|it| params.contains(&it)) => "a number after `=`",
            _ => params,
        };
        self.wrong(&format!("invalid parameter `{text}` for `{name}`; expected {expected}"))
    }

    fn unexpected(&self, text: &str) -> StrategyError {
        self.wrong(&match (self.form.name, self.form.params) {
            (name, "") => format!("`{name}` takes no parameters, found `{text}`"),
            (name, _) => format!("unexpected parameter `{text}` for `{name}`"),
        })
    }

    /// What is wrong with the parameters, and how they are written.
    pub(super) fn wrong(&self, what: &str) -> StrategyError {
        StrategyError { what: what.to_owned(), forms: vec![line(self.form)] }
    }
}

fn line(form: &Form) -> String {
    let params = if form.params.is_empty() { "" } else { ":" };
    format!("{}{params}{}  ({})", form.name, form.params, form.what)
}

#[cfg(test)]
mod tests {
    use crate::strategy::{FORMS, Strategy};

    fn error(text: &str) -> String {
        Strategy::parse(text).map_or_else(|it| it.to_string(), |it| panic!("{it} is fine"))
    }

    #[test]
    fn every_form_is_a_strategy() {
        for form in FORMS {
            assert!(Strategy::parse(form.name).is_ok(), "{}", form.name);
        }
    }

    /// The user's page has a line for each.
    #[test]
    fn every_form_is_explained() {
        let page = include_str!("../../../../docs/strategies.md");
        for form in FORMS {
            let is_there = [format!("`{}`", form.name), format!("`{}:", form.name)]
                .iter()
                .any(|it| page.contains(it));
            assert!(is_there, "docs/strategies.md has no `{}`", form.name);
        }
    }

    /// What is written back means the same.
    #[test]
    fn texts_come_back() {
        for text in [
            "walk",
            "nonpreemptive",
            "rstest:p=0.25",
            "rstest:p=0.5,sleep=1,base=ready",
            "rstest:p=0.5,sleep=0,base=ready,loop=no",
            "stride:smax=5",
            "stride:one",
            "stride:two,c=0.99,count=contended",
            "stride:ratio=2.9",
            "stride:ratio=6.13,count=contended,profile=max",
            "stride:two,sum=paper,profile=max",
            "stride:one,c=0.99,sum=paper,count=contended,profile=max",
            "pct:d=3",
            "pct:d=drawn",
            "pct:d=paper",
            "pct:d=paper,c=0.9",
            "rpro:d=3,r=50",
            "rpro:d=drawn,r=drawn",
            "rpro:d=paper,r=10",
            "pos",
            "surw",
            "urw",
            "delay:n=2",
            "delay:n=drawn",
            "sticky:p=0.9",
        ] {
            let strategy = Strategy::parse(text).expect("a strategy");
            assert_eq!(strategy.to_string(), text);
        }
    }

    #[test]
    fn defaults() {
        for (text, meant) in [
            ("stride", "stride:two"),
            ("stride:count=all", "stride:two"),
            ("pct", "pct:d=drawn"),
            ("rpro", "rpro:d=3,r=50"),
            ("rstest", "rstest:p=0.2,sleep=0.5,base=creation,loop=yes"),
            ("delay", "delay:n=drawn"),
            ("sticky", "sticky:p=0.9"),
            (" pct : d = 3 ", "pct:d=3"),
        ] {
            assert_eq!(Strategy::parse(text), Strategy::parse(meant), "{text}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names() {
        let text = error("chess");
        assert!(text.starts_with("unknown strategy `chess`; available:\n"), "{text}");
        assert_eq!(text.lines().count(), 1 + FORMS.len());
        for form in FORMS {
            assert!(text.contains(&format!("\n  {}", form.name)), "{}", form.name);
        }
    }

    #[test]
    fn a_wrong_parameter_is_answered_with_the_right_ones() {
        for (text, what) in [
            ("pct:d=0", "invalid value `0` for `d`; expected a number from 1 to 64"),
            ("pct:d=many", "invalid value `many` for `d`; expected a number from 1 to 64"),
            ("pct:depth=3", "unexpected parameter `depth=3` for `pct`"),
            ("pct:d=3,c=0.9", "`c` requires `d=paper`"),
            ("pct:d=3,d=4", "unexpected parameter `d=4` for `pct`"),
            ("rpro:r=0", "invalid value `0` for `r`; expected a number from 1 to 100000"),
            ("stride:one,two", "`one`, `two`, `ratio` and `smax` are mutually exclusive"),
            ("stride:ratio=2.9,smax=3", "`one`, `two`, `ratio` and `smax` are mutually exclusive"),
            (
                "stride:smax=3,c=0.9",
                "`smax` cannot be combined with `c`, `sum`, `count` or `profile`",
            ),
            ("stride:ratio=2.9,sum=paper", "`ratio` cannot be combined with `c` or `sum`"),
            ("stride:ratio=20", "invalid value `20` for `ratio`; expected a number from 0.1 to 16"),
            ("stride:sum=half", "invalid value `half` for `sum`; expected `ours` or `paper`"),
            (
                "stride:profile=first",
                "invalid value `first` for `profile`; expected `recent` or `max`",
            ),
            ("stride:c=1", "invalid value `1` for `c`; expected a number from 0.5 to 0.9999"),
            (
                "stride:count=some",
                "invalid value `some` for `count`; expected `all` or `contended`",
            ),
            ("sticky:p=1", "invalid value `1` for `p`; expected a number from 0 to 0.999"),
            ("rstest:p=nan", "invalid value `nan` for `p`; expected a number from 0.01 to 0.95"),
            ("rstest:base=heap", "invalid value `heap` for `base`; expected `creation` or `ready`"),
            ("walk:fast", "`walk` takes no parameters, found `fast`"),
            ("dfs:fast", "`dfs` takes no parameters, found `fast`"),
            ("pcb:x", "invalid parameter `x` for `pcb`; expected a number"),
            ("ipb:-1", "invalid parameter `-1` for `ipb`; expected a number"),
            (
                "dpor:fast",
                "invalid parameter `fast` for `dpor`; expected optimal | classic | plain | preemptions=0..",
            ),
            (
                "dpor:preemptions=x",
                "invalid parameter `preemptions=x` for `dpor`; expected a number after `=`",
            ),
            (
                "rank:paper+2.1.2.1",
                "`rank:paper` has a fixed list of tuples; to choose tuples, use `rank:C.V.T.L` without `paper`",
            ),
        ] {
            let error = error(text);
            let (first, form) = error.split_once('\n').expect("two lines");
            assert_eq!(first, what, "{text}");
            let name = text.split(':').next().expect("a name");
            assert!(form.starts_with(&format!("  {name}")), "{form}");
        }
    }
}
