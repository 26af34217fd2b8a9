//! Room for what is told of executions in brief.

use raddle_trace::{PendingEntry, SiteEntry};

/// Room for what is told of executions in brief, used again and again.
#[derive(Debug, Default)]
pub(crate) struct BriefRoom {
    pub(crate) sites: Vec<SiteEntry>,
    pub(crate) pending: Vec<PendingEntry>,
}
