//! A history that no order explains, as the message of a panic: what is said without Raddle.

use std::fmt::Write as _;

use crate::runtime::Told;

pub(super) fn text(told: &Told) -> String {
    let mut text =
        "not linearizable: no order of these operations gives these results\n".to_owned();
    let mut all: Vec<_> = told.operations.iter().collect();
    all.sort_by_key(|it| it.span.invoked);
    for it in all {
        let result = it.result.as_deref().unwrap_or("blocked");
        let thread = match it.span.thread {
            0 => "before, after".to_owned(),
            number => format!("thread {number}"),
        };
        let _ = writeln!(
            text,
            "  {thread:<13} {} = {result}    (called at {}, returned at {})",
            it.call, it.span.invoked, it.span.returned
        );
    }
    text
}
