//! What the program itself asks for (`raddle::Config`, `raddle_check_with`), where the command line says nothing.

use raddle_launch::Asked;
use raddle_plan::Strategy;

use crate::{args::RunArgs, exit::Failure, search::check_memory_model};

/// The arguments, with what the program asks for in place of what was left to us.
pub(crate) fn with_asked(args: &RunArgs, asked: &Asked) -> Result<RunArgs, Failure> {
    let mut args = args.clone();
    if args.is_default_budget() && (asked.execs.is_some() || asked.time.is_some()) {
        (args.execs, args.time) = (asked.execs, asked.time);
    }
    args.seed = args.seed.or(asked.seed);
    // The portfolio is what there is when nothing is said.
    if let (true, Some(strategy)) = (is_default(&args.strategy), &asked.strategy) {
        args.strategy = Strategy::parse(strategy).map_err(|error| {
            Failure::usage(format!("the program sets an invalid strategy: {error}"))
        })?;
    }
    check_memory_model(&args.conditions, &args.strategy)?;
    Ok(args)
}

fn is_default(strategy: &Strategy) -> bool {
    Strategy::parse("portfolio").is_ok_and(|it| it == *strategy)
}
