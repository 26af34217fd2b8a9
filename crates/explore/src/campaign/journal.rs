//! A search on its way, so that it can go on after its process is gone.
//!
//! Where it stands is written down now and then, and every execution that counts since: who reads both
//! knows all but the executions that were still running.

use std::{borrow::Cow, collections::BTreeMap};

use raddle_model::SearchEffort;
use raddle_plan::search::{Run, Search, SearchSpec, SpecError, Task};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::account::{Account, Earlier, Uses};

/// Where a search stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Executions entered so far, also before the search.
    pub n_executions: u64,
    /// What it took beside.
    pub effort: SearchEffort,
    /// What is known to be shared.
    pub shared: Vec<u64>,
    /// Where the statements are that it has learned about, by name.
    #[serde(default)]
    pub places: BTreeMap<u64, (String, u64)>,
    /// What its executions made use of that is explored only in part.
    #[serde(default)]
    pub uses: Uses,
    /// The search itself, as it saves itself.
    pub search: Box<RawValue>,
}

/// An execution that counts.
#[derive(Clone, Debug)]
pub struct Counted<'a> {
    /// Which task it was.
    pub prefix: Cow<'a, [u32]>,
    /// What it did; `None` if it was too long.
    pub run: Option<Cow<'a, Run>>,
    /// What it found to be shared.
    pub shared_found: Cow<'a, [u64]>,
}

impl Counted<'_> {
    /// The same, for as long as it is wanted.
    pub fn into_owned(self) -> Counted<'static> {
        Counted {
            prefix: self.prefix.into_owned().into(),
            run: self.run.map(|it| Cow::Owned(it.into_owned())),
            shared_found: self.shared_found.into_owned().into(),
        }
    }
}

/// A search that is to go on.
#[derive(Clone, Debug, Default)]
pub struct Saved {
    /// Where it stood.
    pub standing: Standing,
    /// What has been executed since, in order.
    pub counted: Vec<Counted<'static>>,
    /// What it has come to.
    pub earlier: Earlier,
}

impl Saved {
    /// Had the search begun, or was it still being learned what is shared?
    pub fn has_begun(&self) -> bool {
        self.standing.search.get() != "null"
    }
}

/// Keeps a search. Nothing that a campaign does depends on it.
pub trait Journal {
    /// Writes down where the search stands; what was written before is not needed any more.
    fn stand(&mut self, standing: &Standing);

    /// An execution counts: it is written down with the next [`flush`](Journal::flush), before which its finding is kept.
    fn add(&mut self, counted: &Counted<'_>);

    /// Writes down what was added.
    fn flush(&mut self);

    /// Writes down what the search has come to, before the execution that changed it counts.
    fn account(&mut self, account: &Account);

    /// Has so much been written since that it is time to say again where the search stands?
    fn is_long(&self) -> bool;
}

/// A search that has been brought up to date, and the tasks that it has handed out meanwhile.
pub(super) struct Resumed {
    pub(super) search: Box<dyn Search + Send>,
    pub(super) tasks: Vec<Task>,
}

/// Tasks asked for at a time.
const TASKS: usize = 64;

/// Lets a saved search learn what it had learned. What does not fit (a line that was cut short, say) is
/// left out with all after it: those executions are made again.
pub(super) fn resume(spec: &SearchSpec, saved: &mut Saved) -> Result<Resumed, SpecError> {
    let mut search = spec.restore(&saved.standing.search)?;
    let mut tasks = Vec::new();
    for counted in &saved.counted {
        let Some(task) = find(&mut *search, &mut tasks, &counted.prefix) else { break };
        let n_before = search.progress().n_executions;
        match &counted.run {
            Some(run) => {
                saved.standing.uses.look(run);
                search.learn(task.number, run)
            }
            None => search.learn(task.number, &Run::default()),
        };
        saved.standing.n_executions += search.progress().n_executions - n_before;
        saved.standing.effort.n_too_long += u64::from(counted.run.is_none());
    }
    Ok(Resumed { search, tasks })
}

/// The task with this prefix, of those handed out and those that can be.
fn find(search: &mut dyn Search, tasks: &mut Vec<Task>, prefix: &[u32]) -> Option<Task> {
    loop {
        if let Some(idx) = tasks.iter().position(|it| it.prefix == prefix) {
            return Some(tasks.remove(idx));
        }
        let more = search.next(TASKS);
        if more.is_empty() {
            return None;
        }
        tasks.extend(more);
    }
}
