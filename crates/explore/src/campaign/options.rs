//! What a campaign is to do.

use std::time::{Duration, Instant};

use raddle_model::{Conditions, Detect, Family, OrderAt, PickerSpec, Plan, flows::Flows};
use raddle_plan::{
    Arm, Strategy,
    search::{HapSets, SearchSpec},
};

use super::journal::Saved;
use crate::{explain::Budget, focus::Focus, suppress::Suppressions};

/// What a campaign is to do, and when to stop.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the seeds of all executions are made from.
    pub seed: u64,
    /// Stop after so many executions.
    pub executions: Option<u64>,
    /// Stop exploring after this time. What is found then depends on the machine's speed.
    pub time: Option<Duration>,
    /// When all must be over: exploring, confirming, explaining.
    pub deadline: Option<Instant>,
    /// Workers. Nothing but the speed depends on it.
    pub jobs: usize,
    /// Go on after the first finding?
    pub keep_going: bool,
    /// End at the first finding even if it is the baseline's, which may show in every schedule?
    pub until_first: bool,
    /// Does a non-zero exit code count as a good end?
    pub exit_is_fine: bool,
    /// Threads that the program has although it does one thing at a time: 1, or 2 if a test harness runs
    /// each test in a thread of its own and waits for it.
    pub n_alone: u32,
    /// How schedules are chosen.
    pub method: Method,
    /// Stop when the chance that one more execution shows a new pair of places is less than this.
    pub saturation: Option<f64>,
    /// What the program may do in each execution.
    pub conditions: Conditions,
    /// Memory orders in place of those in the source, as [`Plan::orders`].
    pub orders: Vec<OrderAt>,
    /// Names of variables that earlier campaigns have found to be exposed.
    pub exposed: Vec<u64>,
    /// Blocks of one execution, and the observer sees each of them.
    pub verbose: bool,
    /// How often each new finding is run again to see whether it comes back.
    pub confirmations: u32,
    /// What making each new finding's schedule small and explaining it may cost; `None` to leave it.
    pub explain: Option<Budget>,
    /// What to look for beside executions that fail.
    pub detect: Detect,
    /// What is not to be told.
    pub suppressions: Suppressions,
    /// Where random strategies are to look first.
    pub focus: Focus,
}

/// How the schedules of a campaign are chosen. The first is always the baseline.
#[derive(Clone, Debug)]
pub enum Method {
    /// One picker for all executions.
    Picker {
        /// Which.
        picker: PickerSpec,
        /// What the user calls it.
        name: String,
    },
    /// Several share the executions.
    Portfolio(Vec<Arm>),
    /// Hypotheses, all or those of a family.
    Directed(Option<Family>),
    /// Reads-from fuzzing.
    Rff,
    /// A systematic search.
    Search(Box<SearchOptions>),
}

impl Method {
    /// That of a strategy, for about so many executions.
    pub fn new(strategy: &Strategy, n_planned: u64) -> Method {
        match strategy {
            Strategy::Picker(recipe) => {
                Method::Picker { picker: recipe.picker(n_planned), name: strategy.to_string() }
            }
            Strategy::Portfolio => Method::Portfolio(Arm::standard(n_planned)),
            Strategy::Directed(only) => Method::Directed(*only),
            Strategy::Rff => Method::Rff,
            Strategy::Search(spec) => Method::Search(Box::new(SearchOptions::new(spec.clone()))),
        }
    }

    /// A portfolio for a campaign that is to look at some places.
    pub fn portfolio_near(n_planned: u64) -> Method {
        Method::Portfolio(Arm::standard_near(n_planned))
    }

    /// The search, if it is one.
    pub fn search(&self) -> Option<&SearchOptions> {
        match self {
            Method::Search(search) => Some(search),
            _ => None,
        }
    }

    /// The search, if it is one.
    pub fn search_mut(&mut self) -> Option<&mut SearchOptions> {
        match self {
            Method::Search(search) => Some(search),
            _ => None,
        }
    }
}

/// How to search systematically.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Which search.
    pub spec: SearchSpec,
    /// What the user calls it.
    pub name: String,
    /// Random walks before it, which find out what the program shares.
    pub n_learning: u64,
    /// What flows where in the program, for who asks.
    pub flows: Flows,
    /// Orders of two statements that were covered before, for searches that ask.
    pub covered: HapSets,
    /// From where to go on, if not from the beginning.
    pub saved: Option<Saved>,
    /// Executions are made ahead of their turn. Is nothing reported of those whose turn had not come when time was over?
    /// For whoever counts executions up to a failure.
    pub is_in_turn: bool,
}

impl SearchOptions {
    /// Random executions before a search, when nothing is said.
    pub const N_LEARNING: u64 = 8;

    /// A search from its beginning.
    pub fn new(spec: SearchSpec) -> SearchOptions {
        let name = spec.to_string();
        let n_learning = SearchOptions::N_LEARNING;
        let (covered, flows) = (HapSets::default(), Flows::default());
        SearchOptions { spec, name, n_learning, covered, flows, saved: None, is_in_turn: false }
    }
}

impl Options {
    /// What the user calls the strategy of an execution with this plan.
    pub(super) fn strategy_of(&self, plan: &Plan, execution: u64) -> String {
        match &self.method {
            Method::Search(search) if execution >= search.n_learning => search.name.clone(),
            _ => self.name_of(plan.picker),
        }
    }

    /// What the user calls a picker: the arm's name, if it is one.
    pub(super) fn name_of(&self, picker: PickerSpec) -> String {
        let arms = match &self.method {
            Method::Portfolio(arms) => arms.as_slice(),
            Method::Picker { picker: it, name } if *it == picker => return name.clone(),
            _ => &[],
        };
        let arm = arms.iter().find(|it| it.picker == picker);
        arm.map_or_else(|| picker.to_string(), |it| it.name.clone())
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 0,
            executions: None,
            time: None,
            deadline: None,
            jobs: 1,
            keep_going: false,
            until_first: false,
            exit_is_fine: false,
            n_alone: 1,
            method: Method::Picker { picker: PickerSpec::Walk, name: PickerSpec::Walk.to_string() },
            saturation: None,
            conditions: Conditions::DEFAULT,
            orders: Vec::new(),
            exposed: Vec::new(),
            verbose: false,
            confirmations: 1,
            explain: None,
            detect: Detect::NONE,
            suppressions: Suppressions::default(),
            focus: Focus::default(),
        }
    }
}
