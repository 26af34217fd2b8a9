//! Times as text: dates, and run ids that sort by time.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::{Duration, SystemTime, UNIX_EPOCH},
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
    let time = UNIX_EPOCH + Duration::from_millis(unix_ms);
    humantime::format_rfc3339_seconds(time).to_string()
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
