//! The delay that a failure needs, in words.

use raddle_model::{Finding, OpKind};

use crate::words::place;

/// Nanoseconds in a microsecond.
const MICROSECOND: u64 = 1_000;

/// `this schedule holds up every thread that could run for 1.5 s, until T2's wait at q.c:31 times out`; `None` if the
/// schedule has no delay. Of several the longest.
pub(crate) fn note(finding: &Finding) -> Option<String> {
    if finding.delay_us == 0 {
        return None;
    }
    let time = match finding.delay_us {
        u32::MAX => "more than an hour".to_owned(),
        us => length(u64::from(us) * MICROSECOND),
    };
    let held_up = format!("this schedule delays every runnable thread for {time}");
    let until = finding.delays().max_by_key(|(_, step)| step.delay_ns()).map(|(_, step)| {
        let at = finding.places.get(step.place as usize).map(place::short).unwrap_or_default();
        let at = if at.is_empty() { at } else { format!(" at {at}") };
        let thread = step.thread.0;
        match step.kind {
            OpKind::Sleep => format!(", until T{thread}'s sleep{at} ends"),
            _ => format!(", until T{thread}'s wait{at} times out"),
        }
    });
    let held_up = held_up + &until.unwrap_or_default();
    Some(if finding.is_timing() {
        format!("timing assumption: {held_up}; no failing schedule without such a delay was found")
    } else {
        held_up
    })
}

/// `1.5 s`, `20 ms`, `300 µs`.
fn length(nanoseconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    // A wait of a millisecond is cut short by a few steps less.
    let fits = |(unit, _): &(u64, &str)| *unit <= nanoseconds + nanoseconds / 200;
    let (unit, name) = UNITS.into_iter().find(fits).unwrap_or(UNITS[2]);
    // Two digits after the point at most, and none that say nothing.
    let number = format!("{:.2}", nanoseconds as f64 / unit as f64);
    format!("{} {name}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn lengths() {
        let lengths = [999, 300_000, 999_400, 1_499_999_800, 59_999_999_000].map(length);
        assert_eq!(lengths, ["1 us", "300 us", "1 ms", "1.5 s", "60 s"]);
    }
}
