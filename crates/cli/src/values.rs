//! Values of options: times, sizes, budgets, strategies.

use std::time::Duration;

use raddle_plan::{FORMS, Strategy};

use crate::spelling;

/// When a campaign ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    Executions(u64),
    Time(Duration),
}

/// `500ms`, `10s`, `2m`, `1h30m`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 6] =
        [("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];
    let wrong = || "expected a duration, e.g. `500ms`, `10s`, `2m` or `1h`".to_owned();
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let (number, tail) = number(rest).ok_or_else(wrong)?;
        let tail = tail.trim_start();
        let n_letters = tail.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(n_letters);
        let is_bare = unit.is_empty() && rest == text.trim() && tail.is_empty();
        let scale = match UNITS.iter().find(|it| it.0 == unit) {
            Some((_, scale)) => *scale,
            None if is_bare => 1.0,
            None => return Err(wrong()),
        };
        seconds += number * scale;
        rest = tail.trim_start();
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) => {
            Err("expected a duration of more than zero, e.g. `500ms` or `10s`".to_owned())
        }
        time => time.map_err(|_| wrong()),
    }
}

/// `512M`, `2G`, `64KiB`; a bare number is bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size, e.g. `512M` or `2G`".to_owned();
    let (number, unit) = number(text.trim()).ok_or_else(wrong)?;
    let unit = unit.trim_start().to_ascii_uppercase();
    let shift = match unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit) {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let bytes = number * f64::from(1_u32 << (shift / 2)) * f64::from(1_u32 << (shift - shift / 2));
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

/// A size, or `off`: 0.
pub(crate) fn size_or_off(text: &str) -> Result<u64, String> {
    if text.trim() == "off" {
        return Ok(0);
    }
    size(text).map_err(|_| "expected a size, e.g. `256M` or `1G`, or `off`".to_owned())
}

/// A number of executions, or a time with its unit.
pub(crate) fn budget(text: &str) -> Result<Budget, String> {
    match count(text) {
        Ok(executions) => Ok(Budget::Executions(executions)),
        Err(_) => duration(text).map(Budget::Time).map_err(|_| {
            "expected a number of executions or a duration, e.g. `20k` or `60s`".to_owned()
        }),
    }
}

/// `20000`, `20,000`, `20_000`, `20k`, `1M`; at least one.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of 1 or more, e.g. `20000` or `20k`".to_owned();
    let bare: String = text.trim().chars().filter(|it| !matches!(it, ',' | '_')).collect();
    let (digits, scale) = match bare.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match bare.strip_suffix('M') {
            Some(digits) => (digits, 1_000_000),
            None => (bare.as_str(), 1),
        },
    };
    let number = digits.parse::<u64>().ok().and_then(|it| it.checked_mul(scale));
    number.filter(|it| *it > 0).ok_or_else(wrong)
}

/// The same, or none.
pub(crate) fn count_or_none(text: &str) -> Result<u64, String> {
    if text.trim() == "0" { Ok(0) } else { count(text) }
}

/// `0.001`, `0.1%`: more than 0, less than 1.
pub(crate) fn chance(text: &str) -> Result<f64, String> {
    let wrong = || "expected a probability between 0 and 1, e.g. `0.001` or `0.1%`".to_owned();
    let (digits, scale) = match text.trim().strip_suffix('%') {
        Some(digits) => (digits, 0.01),
        None => (text.trim(), 1.0),
    };
    let chance = digits.trim_end().parse::<f64>().map_err(|_| wrong())? * scale;
    if 0.0 < chance && chance < 1.0 { Ok(chance) } else { Err(wrong()) }
}

/// Decimal or `0x…`.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "expected a number, e.g. `42` or `0x2a`".to_owned())
}

/// The number at the start of a text, and what follows.
fn number(text: &str) -> Option<(f64, &str)> {
    let is_digit = |it: char| it.is_ascii_digit() || it == '.';
    let end = text.find(|it| !is_digit(it)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// Flags as a shell would split them: spaces, quotes, backslashes.
pub(crate) fn words(text: &str) -> Result<Vec<String>, String> {
    shell_words::split(text).map_err(|_| format!("unclosed quote in `{text}`"))
}

/// A strategy, or one that is near to what was written.
pub(crate) fn strategy(text: &str) -> Result<Strategy, String> {
    let name = text.split(':').next().unwrap_or_default().trim();
    let is_known = FORMS.iter().any(|it| it.name == name);
    match spelling::nearest(name, FORMS.iter().map(|it| it.name)).filter(|_| !is_known) {
        Some(near) => Err(format!("unknown strategy `{name}`; did you mean `{near}`?")),
        None => Strategy::parse(text).map_err(|it| it.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times() {
        let ms = |text| duration(text).map(|it| it.as_millis());
        assert_eq!(ms("500ms"), Ok(500));
        assert_eq!(ms("10s"), Ok(10_000));
        assert_eq!(ms("2m"), Ok(120_000));
        assert_eq!(ms("1h30m"), Ok(5_400_000));
        assert_eq!(ms("1.5 s"), Ok(1_500));
        assert_eq!(ms("7"), Ok(7_000));
        for wrong in ["", "s", "5 parsecs", "-1s", "1h2", "NaN", "0", "0s", "0ms", "0h0m"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_and_counts() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("1.5k"), Ok(1536));
        assert_eq!(size("100"), Ok(100));
        assert!(size("x").is_err());
        assert!(size("0").is_err());
        assert_eq!(count("20,000"), Ok(20_000));
        assert_eq!(count("20k"), Ok(20_000));
        assert!(count("0").is_err());
        assert!(count("-3").is_err());
        assert_eq!(seed("0x10"), Ok(16));
        assert_eq!(chance("0.25"), Ok(0.25));
        assert_eq!(chance("25 %"), Ok(0.25));
        assert!(["0", "1", "-0.1", "100%", "x", "NaN", ""].iter().all(|it| chance(it).is_err()));
        assert_eq!(budget("500"), Ok(Budget::Executions(500)));
        assert_eq!(budget("5s"), Ok(Budget::Time(Duration::from_secs(5))));
        assert!(budget("much").is_err() && budget("0").is_err() && budget("0s").is_err());
    }

    #[test]
    fn flags_split_as_in_a_shell() {
        let words = |text| words(text).expect("well-formed");
        assert_eq!(words("-O2  -DN=3"), ["-O2", "-DN=3"]);
        assert_eq!(words(r#"-DS='a b' -DT="c d" -I\ x ''"#), ["-DS=a b", "-DT=c d", "-I x", ""]);
        assert_eq!(words(r#"-DS="\"a\n\"""#), [r#"-DS="a\n""#]);
        assert!(super::words("'open").is_err());
    }
}
