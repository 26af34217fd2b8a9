//! Times as text: dates, and run ids that sort by time.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::{SystemTime, UNIX_EPOCH},
};

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since_1970.as_millis() as u64
}

/// A time-ordered name that no other run has: a UUID of version 7 (RFC 9562).
pub(super) fn run_id(unix_ms: u64) -> String {
    let random = RandomState::new().build_hasher().finish();
    let more_random = RandomState::new().build_hasher().finish();
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        (unix_ms >> 16) & 0xffff_ffff,
        unix_ms & 0xffff,
        random & 0xfff,
        0x8000 | (random >> 12) & 0x3fff,
        more_random & 0xffff_ffff_ffff,
    )
}

/// The time that a run's id was made at.
pub(super) fn of_run_id(id: &str) -> Option<u64> {
    let digits: String = id.chars().filter(|it| *it != '-').take(12).collect();
    u64::from_str_radix(&digits, 16).ok()
}

/// `2026-01-31T12:34:56Z`.
pub(super) fn date(unix_ms: u64) -> String {
    let seconds = unix_ms / 1_000;
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a day since 1970 (Howard Hinnant's `civil_from_days`, years from March).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{date, run_id};

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_827_696_000), "2000-02-29T12:34:56Z");
        assert_eq!(date(1_767_225_599_999), "2025-12-31T23:59:59Z");
        assert_eq!(date(4_107_542_400_000), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn run_ids_sort_by_time() {
        let (early, late) = (run_id(1_767_225_599_999), run_id(1_767_225_600_000));
        assert!(early < late);
        assert_eq!(early.len(), 36);
        assert_eq!(super::of_run_id(&early), Some(1_767_225_599_999));
        assert_eq!(&early[14..15], "7");
        assert_ne!(run_id(7), run_id(7));
    }
}
