//! Numbers as people read them.

use crate::layout::style::Style;

/// `48.1k`, `9.3k`, `812`, `1.2M`.
pub fn short(number: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];
    if number < 1000 {
        return number.to_string();
    }
    let number = number as f64;
    let (unit, scale) =
        UNITS.into_iter().rev().find(|(_, scale)| number >= *scale * 0.99995).unwrap_or(UNITS[0]);
    let scaled = number / scale;
    if scaled < 99.95 { format!("{scaled:.1}{unit}") } else { format!("{scaled:.0}{unit}") }
}

/// `20,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 finding`, `3 findings`.
pub fn count(number: u64, noun: &str) -> String {
    format!("{} {}", grouped(number), plural(number, noun))
}

/// `finding` of one, `findings` of several.
pub fn plural(number: u64, noun: &str) -> String {
    if number == 1 { noun.to_owned() } else { format!("{noun}s") }
}

/// `60 s`, `0.04 s`, `14.2 s`, `2 m 13 s`, `1 h 02 m`.
pub fn seconds(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..100 if seconds.fract() == 0.0 => format!("{whole} s"),
        _ if seconds < 0.995 => format!("{seconds:.2} s"),
        _ if seconds < 99.95 => format!("{seconds:.1} s"),
        0..3600 => format!("{} m {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} m", whole / 3600, whole / 60 % 60),
    }
}

/// `00:02:13`, for logs; hours are left out below one if `is_short`.
pub fn clock(seconds: f64, is_short: bool) -> String {
    let whole = seconds as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if is_short && hours == 0 {
        format!("{minutes:02}:{seconds:02}")
    } else {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    }
}

/// `100%`, `99.98%`: never rounded up to 100.
pub fn percent(percent: f64) -> String {
    if percent >= 100.0 {
        "100%".to_owned()
    } else {
        let floored = (percent * 100.0).floor() / 100.0;
        format!("{floored}%")
    }
}

/// A value that the program read: small negatives are recognisable, and addresses, of which only the
/// last digits differ, are cut to those.
pub(crate) fn value(value: u64, style: &Style) -> String {
    const SMALL: u64 = 1 << 16;
    if value >= u64::MAX - SMALL {
        return (value as i64).to_string();
    }
    match u32::try_from(value) {
        Ok(low) if u64::from(low) >= u64::from(u32::MAX) - SMALL => (low as i32).to_string(),
        Ok(low) => low.to_string(),
        Err(_) if value < 1 << 48 => format!("0x{}{:03x}", style.ellipsis(), value & 0xfff),
        Err(_) => format!("{value:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_honest() {
        let shorts: Vec<_> = [0, 999, 1000, 1042, 48_123, 99_960, 812_400, 999_960, 1_200_000]
            .into_iter()
            .map(short)
            .collect();
        assert_eq!(shorts, ["0", "999", "1.0k", "1.0k", "48.1k", "100k", "812k", "1.0M", "1.2M"]);
        assert_eq!(grouped(20_000), "20,000");
        assert_eq!(grouped(999), "999");
        assert_eq!(count(1, "finding"), "1 finding");
        assert_eq!(count(2_000, "finding"), "2,000 findings");
        assert_eq!(percent(99.999), "99.99%");
        assert_eq!(percent(100.0), "100%");
        assert_eq!(percent(0.0), "0%");
    }

    #[test]
    fn times() {
        let texts: Vec<_> = [0.0421, 0.999, 14.23, 99.97, 133.0, 3725.0].map(seconds).into();
        assert_eq!(texts, ["0.04 s", "1.0 s", "14.2 s", "1 m 40 s", "2 m 13 s", "1 h 02 m"]);
        assert_eq!(clock(133.9, true), "02:13");
        assert_eq!(clock(133.9, false), "00:02:13");
        assert_eq!(clock(3725.0, true), "01:02:05");
    }

    #[test]
    fn values() {
        let texts: Vec<_> = [0, 10, u64::MAX, 0xffff_ffff, 0x5555_5555_4abc, 1 << 50]
            .map(|it| value(it, &Style::default()))
            .into();
        assert_eq!(texts, ["0", "10", "-1", "-1", "0x…abc", "0x4000000000000"]);
    }
}
