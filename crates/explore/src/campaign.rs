//! Many executions of one target.
//!
//! The same seed and number of executions give the same findings with the same first executions,
//! however many workers run them: executions are numbered, what one does depends on its number and on
//! what is settled before its epoch ([`raddle_plan::Sharing`]), and results count in the order of
//! numbers (see `course`).

mod account;
mod batch;
mod course;
mod crew;
mod curve;
mod gap;
mod journal;
mod learning;
mod ledger;
mod options;
mod outcome;
mod pace;
mod queue;
mod sampling;
#[cfg(test)]
mod search_tests;
mod searching;
mod source;
mod tally;
#[cfg(test)]
mod tests;
mod thinking;

use std::{fmt, sync::atomic::AtomicBool, thread};

use raddle_plan::{Arm, Directions, Fuzzer, Portfolio, Seeds};

pub use self::{
    account::{Account, Earlier, FoundCount, Uses},
    journal::{Counted, Journal, Saved, Standing},
    options::{Method, Options, SearchOptions},
    outcome::{
        CampaignEvent, CoveredOrders, CutAt, Found, Observer, Outcome, Searched, Suppressed,
    },
    thinking::unless_over,
};
use self::{
    course::Course,
    crew::Crew,
    ledger::{Ledger, Parties},
    sampling::{Planning, Sampling},
    searching::Searching,
    thinking::Wanted,
};
use crate::{
    finding::Ids,
    target::{Symbols, Target, TargetError},
};

/// Many executions of one target.
pub struct Campaign<'a> {
    target: &'a dyn Target,
    options: Options,
    ids: Ids,
    journal: Option<&'a mut dyn Journal>,
}

impl<'a> Campaign<'a> {
    /// A campaign that has not begun.
    pub fn new(target: &'a dyn Target, options: Options) -> Campaign<'a> {
        Campaign { target, options, ids: Ids::new(), journal: None }
    }

    /// Keeps a search in a journal, so that it can go on later.
    pub fn with_journal(mut self, journal: &'a mut dyn Journal) -> Campaign<'a> {
        self.journal = Some(journal);
        self
    }

    /// Names findings so that their ids differ from those of the other findings of a store.
    pub fn with_ids(mut self, ids: Ids) -> Campaign<'a> {
        self.ids = ids;
        self
    }

    /// Runs it to its end: that of the budget, the first finding, or `stop` becoming true.
    ///
    /// The observer is called on this thread. What it was told stands, even if an error follows.
    pub fn run(
        &mut self,
        symbols: &mut dyn Symbols,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Outcome, TargetError> {
        let Campaign { target, options, ids, journal } = self;
        let target = *target;
        let ledger = Ledger::new(Parties { target, options, symbols, observer, stop, ids });
        let n_workers = options.jobs.max(1);
        thread::scope(|scope| {
            let crew = Crew::start(scope, target, n_workers, ledger.until());
            let how = match &options.method {
                Method::Search(how) => how,
                Method::Picker { picker, .. } => {
                    let planning =
                        Planning::One(Seeds { campaign_seed: options.seed, picker: *picker });
                    return Course::new(options, Sampling::new(options, planning), ledger)
                        .run(crew);
                }
                Method::Rff => {
                    let planning = Planning::Fuzzed(Box::new(Fuzzer::new(options.seed)));
                    return Course::new(options, Sampling::new(options, planning), ledger)
                        .run(crew);
                }
                Method::Portfolio(_) | Method::Directed(_) => {
                    let (arms, directions) = match &options.method {
                        Method::Portfolio(arms) => (arms.clone(), Directions::default()),
                        Method::Directed(only) => (vec![Arm::directed()], Directions::only(*only)),
                        _ => unreachable!("bug: matched above"),
                    };
                    let portfolio = Portfolio::new(options.seed, arms, directions);
                    let planning = Planning::Several(Box::new(portfolio));
                    return Course::new(options, Sampling::new(options, planning), ledger)
                        .run(crew);
                }
            };
            let journal = journal.as_mut().map(|it| &mut **it as &mut dyn Journal);
            let wanted = Wanted { deadline: options.deadline, stop };
            let source = Searching::new(options, how, journal, wanted)?;
            Course::new(options, source, ledger).run(crew)
        })
    }
}

impl fmt::Debug for Campaign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Campaign").field("options", &self.options).finish_non_exhaustive()
    }
}
