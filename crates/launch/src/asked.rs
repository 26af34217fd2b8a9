//! How far a program wants to be explored: `raddle::Config`, `raddle_check_with`.
//!
//! It says so while it runs, so it is run once to be asked; only programs that have the runtime's function for it
//! among their names are.

use std::time::Duration;

use raddle_explore::target::{Block, Session, TargetError, Until};
use raddle_model::{PickerSpec, Plan};
use raddle_trace::Ask;

use crate::{Native, session::NativeSession};

/// What a program asks for; see the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Executions, at most.
    pub execs: Option<u64>,
    /// How long, at most.
    pub time: Option<Duration>,
    /// What all random choices are made from.
    pub seed: Option<u64>,
    /// A strategy, as the command line has it.
    pub strategy: Option<String>,
    /// A finding whose schedule is to be executed again.
    pub replay: Option<String>,
}

/// The name that programs know the runtime's function by.
const NAME: &[u8] = b"__raddle_ask";

impl Native {
    /// What the program asks for, if it does; nothing, if it takes too long to say so.
    pub fn asked(&self, until: &Until) -> Result<Asked, TargetError> {
        let program = std::fs::read(&self.options().program).unwrap_or_default();
        if !program.windows(NAME.len()).any(|it| it == NAME) {
            return Ok(Asked::default());
        }
        let ask = || -> Result<Ask, TargetError> {
            let mut session = NativeSession::open(self.options(), until)?;
            let plan = Plan::new(PickerSpec::Nonpreemptive, 0);
            session.run(&Block::one(plan, true))?;
            Ok(session.ask())
        };
        match ask() {
            Err(TargetError::Stopped) if until.is_over() => Ok(Asked::default()),
            asked => Ok(Asked::of(&asked?)),
        }
    }
}

impl Asked {
    fn of(ask: &Ask) -> Asked {
        let number = |it: u64| Some(it).filter(|it| *it > 0);
        let text = |it: &[u8]| {
            let end = it.iter().position(|byte| *byte == 0).unwrap_or(it.len());
            Some(String::from_utf8_lossy(&it[..end]).into_owned()).filter(|it| !it.is_empty())
        };
        Asked {
            execs: number(ask.execs),
            time: number(ask.time_ms).map(Duration::from_millis),
            seed: (ask.has_seed == 1).then_some(ask.seed),
            strategy: text(&ask.strategy),
            replay: text(&ask.replay),
        }
    }
}
