//! Operations that could not be controlled, and waits that were not seen.

use serde::Serialize;

use super::PlaceLine;
use crate::closing::Uncontrolled;

/// Something that could not be controlled, or waited for.
#[derive(Serialize)]
pub(super) struct CallLine<'a> {
    what: &'a str,
    /// The function that the program called, if it was one.
    call: Option<&'a str>,
    count: u64,
    place: Option<PlaceLine<'a>>,
    stack: Vec<PlaceLine<'a>>,
}

impl<'a> CallLine<'a> {
    pub(super) fn new(it: &Uncontrolled<'a>) -> CallLine<'a> {
        let (call, _) = it.what.split_once(':').unwrap_or(("", ""));
        let is_name = |it: &&str| !it.is_empty() && !it.contains(' ');
        CallLine {
            what: it.what,
            call: Some(call).filter(is_name),
            count: it.count,
            place: it.stack.first().map(PlaceLine::new),
            stack: it.stack.iter().map(PlaceLine::new).collect(),
        }
    }
}
