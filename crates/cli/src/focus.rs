//! `--around` and `--since`: where a campaign is to look first.

use std::path::Path;

use raddle_explore::{Focus, Method, Spot};
use raddle_launch::changed_since;
use raddle_plan::{Recipe, Strategy};

use crate::{
    args::{Around, RunArgs},
    exit::Failure,
    search, stored,
};

/// The lines that are asked for.
pub(crate) fn focus(args: &RunArgs) -> Result<Focus, Failure> {
    check(args)?;
    let mut focus = Focus::default();
    for place in &args.around {
        match place {
            Around::Lines(spot) => focus.spots.push(spot.clone()),
            Around::Finding(id) => {
                let stored = stored::find(&args.common, id)?;
                let found = Focus::of(&stored.finding);
                if found.is_empty() {
                    return Err(Failure::usage(format!(
                        "--around {id}: the finding has no source lines; rebuild the program with -g"
                    )));
                }
                focus.spots.extend(found.spots);
            }
        }
    }
    if let Some(revision) = &args.since {
        let changed = changed_since(revision, Path::new("."))
            .map_err(|error| Failure::usage(format!("--since {revision}: {error}")))?;
        if changed.is_empty() {
            return Err(Failure::usage(format!(
                "--since {revision}: no tracked file has changed since then"
            )));
        }
        focus.spots.extend(changed.into_iter().map(|it| Spot {
            file: it.file.to_string_lossy().into_owned(),
            first: it.first,
            last: it.last,
        }));
    }
    Ok(focus)
}

/// Only strategies that know about places can look near some.
fn check(args: &RunArgs) -> Result<(), Failure> {
    let option = match (args.around.is_empty(), &args.since) {
        (false, _) => "--around",
        (true, Some(_)) => "--since",
        (true, None) => return Ok(()),
    };
    let is_able = match &args.strategy {
        Strategy::Portfolio | Strategy::Directed(_) => true,
        Strategy::Picker(recipe) => {
            matches!(recipe, Recipe::Picker(raddle_model::PickerSpec::Surw))
        }
        Strategy::Rff | Strategy::Search(_) => false,
    };
    if is_able {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{option} requires the strategy `portfolio`, `directed` or `surw`, but the strategy is `{}`",
        args.strategy
    )))
}

/// The strategy as it is asked for; in a portfolio, what knows about places has more of the executions.
pub(crate) fn method(args: &RunArgs, focus: &Focus) -> Result<Method, Failure> {
    Ok(match search::method(args, 0, None)? {
        Method::Portfolio(_) if !focus.is_empty() => Method::portfolio_near(args.n_planned()),
        method => method,
    })
}
