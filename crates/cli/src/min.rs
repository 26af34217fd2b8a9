//! `raddle min`: a finding's schedule made small, and why it fails; kept with the finding.

use std::{path::Path, sync::Arc, time::Instant};

use raddle_explore::{
    Budget, Explained, Options, Store, Target as _, Until, explain,
    store::RunInfo,
    strength::{Lab, too_weak},
};
use raddle_launch::Symbols;
use raddle_model::{Certainty, Conditions, Detect, Finding, MinimisingEnd, Weakness};

use crate::{
    args::{MinArgs, n_jobs},
    exit::{Exit, Failure},
    native::{self, Launch},
    replay::{self, Now},
    search, signals, stored,
    terminal::{Terminal, here},
};

/// Makes a finding's schedule small, beginning with the one that was found first.
pub(crate) fn min(args: &MinArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let mut stored = stored::find(&args.common, &args.id)?;
    let file = stored::file(&args.id).map(std::path::absolute).transpose();
    let file = file.map_err(|error| Failure::usage(format!("{}: {error}", args.id)))?;
    let store = std::path::absolute(&args.common.store).unwrap_or(args.common.store.clone());
    let base = here();
    let stop = signals::catch();
    let begun = Instant::now();
    let now = replay::open(&stored, stored.info.carrier, terminal)?;
    let until = Until::at(Some(begun + args.time));
    let mut session = now.target.open_until(&until)?;
    let mut symbols = Symbols::new();
    let first = stored.original.as_deref().unwrap_or(&stored.finding).clone();
    let budget = Budget { n_replays: args.replays, time: args.time, ..Budget::default() };
    let exit_is_fine = stored.info.exit_is_fine;
    let Explained { finding, original, explanation } =
        explain(session.as_mut(), &mut symbols, &first, exit_is_fine, budget)?;
    if explanation.minimising.ending == MinimisingEnd::NotReproduced {
        let line = match now.is_rebuilt {
            true => "the program was rebuilt, and the schedule no longer reproduces the finding",
            false => "the schedule did not reproduce the finding",
        };
        let line = format!("{line}; `raddle replay {}` shows where it diverges", stored.id);
        return Err(Failure { exit: Exit::NotReproduced, words: String::new(), line });
    }
    stored.original = (finding.plan != original.plan).then(|| Box::new(original));
    let mut explanation = explanation;
    drop(session);
    explanation.weakness = weakness(args, &finding, &now, (&stored.info, begun), &mut symbols)?;
    stored.finding = finding;
    stored.explanation = Some(Box::new(explanation));
    match &file {
        Some(file) => Store::write_file(Path::new(file), &stored)?,
        None => stored::store(&store).write(&stored)?,
    }
    terminal.out(&stored::text(&stored, args.common.message_format, &base, &terminal.out_style));
    Ok(stop.exit().unwrap_or(Exit::Clean))
}

/// Which memory orders are too weak, where memory is weak and the finding was seen to happen.
fn weakness(
    args: &MinArgs,
    finding: &Finding,
    now: &Now,
    (info, begun): (&RunInfo, Instant),
    symbols: &mut Symbols,
) -> Result<Option<Weakness>, Failure> {
    let Conditions { memory_model, .. } = finding.plan.conditions;
    if memory_model.is_sc() || finding.certainty != Certainty::Shown {
        return Ok(None);
    }
    let stop = signals::catch();
    let options = Options {
        deadline: Some(begun + args.time),
        jobs: n_jobs(None),
        exit_is_fine: info.exit_is_fine,
        conditions: finding.plan.conditions,
        detect: Detect { races: finding.plan.record.races, ..Detect::NONE },
        ..Options::default()
    };
    // Many executions: each in a process of its own would take long.
    let target = native::open(Launch {
        program: now.program.clone(),
        target: &info.target,
        carrier: info.carrier,
        is_fresh: false,
        checkpoints: 0,
        events: Some(search::EVENTS),
        stop: Arc::clone(stop.flag()),
    })?;
    let mut lab = Lab::new(&target, symbols, options, stop.flag())?;
    Ok(Some(too_weak(&mut lab, finding, args.order_execs)?))
}
