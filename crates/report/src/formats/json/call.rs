//! Operations that could not be controlled, and waits that were not seen.

use serde::Serialize;

use super::PlaceLine;
use crate::campaign::closing::Uncontrolled;

/// Something that could not be controlled, or waited for.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CallLine<'a> {
    what: String,
    /// The function that the program called, if it was one.
    call: Option<&'a str>,
    count: u64,
    place: Option<PlaceLine<'a>>,
    stack: Vec<PlaceLine<'a>>,
}

impl<'a> CallLine<'a> {
    pub(super) fn new(it: &Uncontrolled<'a>) -> CallLine<'a> {
        CallLine {
            what: it.what.clone(),
            call: it.call,
            count: it.count,
            place: it.stack.first().map(PlaceLine::new),
            stack: it.stack.iter().map(PlaceLine::new).collect(),
        }
    }
}
