//! `raddle regress`: is a finding gone after a change of the program?
//!
//! Its schedule is run again, and then so many executions are explored by the strategy that showed it most
//! often: how likely it is that they would have shown it is how sure it is that it is gone. Lines may have
//! moved since: findings are compared by kind, functions and files.

use raddle_explore::{
    Campaign, Found, Method, Options, Outcome, Sameness, StoredFinding, Target as _, Verdict,
    is_same, replay as run_again,
};
use raddle_launch::Symbols;
use raddle_model::{Likelihood, Share};
use raddle_plan::Strategy;
use raddle_report::{formats::json, layout::number, words::likelihood};

use crate::{
    args::{Format, RegressArgs},
    exit::{Exit, Failure},
    replay, signals, stored,
    terminal::Terminal,
};

/// Looks for a finding in the program as it is now.
pub(crate) fn regress(args: &RegressArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let stored = stored::find(&args.common, &args.id)?;
    let stop = signals::catch();
    let now = replay::open(&stored, stored.info.carrier, terminal)?;
    let mut symbols = Symbols::new();
    let same = if now.is_rebuilt { Sameness::Functions } else { Sameness::Bucket };
    let mut session = now.target.open()?;
    let finding = &stored.finding;
    let exit_is_fine = stored.info.exit_is_fine;
    let verdict = run_again(session.as_mut(), finding, &mut symbols, exit_is_fine, same)?;
    drop(session);
    let (strategy, was) = most_likely(&stored);
    let options = options(args, &stored, &strategy);
    let outcome = Campaign::new(&now.target, options).run(&mut symbols, &mut (), stop.flag())?;
    let is_it = |it: &&Found| is_same(&it.finding, finding, same);
    let n_shown = outcome.findings.iter().filter(is_it).map(|it| it.count).sum();
    let result = Regressed { strategy, was, n_shown, verdict, outcome };
    terminal.out(&result.text(&stored.id, args.common.message_format));
    let exit = if result.is_there() { Exit::Findings } else { Exit::Clean };
    Ok(stop.exit().unwrap_or(exit))
}

/// The strategy that showed it most often, and how often that was.
fn most_likely(stored: &StoredFinding) -> (String, Share) {
    let all = stored.explanation.as_ref().map_or(&[][..], |it| &it.likelihood);
    let chance = |it: &&Likelihood| it.share.n * 1_000_000 / it.share.of.max(1);
    match all.iter().filter(|it| it.share.n > 0).max_by_key(chance) {
        Some(best) => (best.strategy.clone(), best.share),
        // It was found once, in so many executions.
        None => ("portfolio".to_owned(), Share { n: 1, of: stored.finding.execution + 1 }),
    }
}

fn options(args: &RegressArgs, stored: &StoredFinding, strategy: &str) -> Options {
    let plan = &stored.finding.plan;
    let strategy = Strategy::parse(strategy).ok().filter(|it| matches!(it, Strategy::Picker(_)));
    let method = Method::new(&strategy.unwrap_or(Strategy::Portfolio), args.execs);
    Options {
        seed: stored.info.seed,
        executions: Some(args.execs),
        time: Some(args.time),
        jobs: args.n_jobs(),
        keep_going: true,
        exit_is_fine: stored.info.exit_is_fine,
        method,
        conditions: plan.conditions,
        confirmations: 0,
        ..Options::default()
    }
}

/// What it came to.
struct Regressed {
    strategy: String,
    was: Share,
    n_shown: u64,
    verdict: Verdict,
    outcome: Outcome,
}

impl Regressed {
    fn is_there(&self) -> bool {
        let is_back = match &self.verdict {
            Verdict::Reproduced { .. } => true,
            Verdict::Diverged { same_bucket, .. } => *same_bucket,
            Verdict::Gone => false,
        };
        is_back || self.n_shown > 0
    }

    fn text(&self, id: &str, format: Format) -> String {
        let (word, schedule) = match &self.verdict {
            Verdict::Reproduced { .. } => ("reproduces", "its schedule still fails".to_owned()),
            Verdict::Diverged { same_bucket: true, at_step, .. } => (
                "reproduces",
                format!("its schedule diverges at step {} and still fails", at_step + 1),
            ),
            Verdict::Diverged { at_step, .. } => {
                ("diverged", format!("its schedule can't be followed after step {at_step}"))
            }
            Verdict::Gone => ("gone", "its schedule no longer fails".to_owned()),
        };
        let n_now = self.outcome.figures.executions;
        let gone = likelihood::gone(self.was, n_now);
        if format == Format::Json {
            return json::regress(&json::Regressed {
                id,
                schedule: word,
                strategy: &self.strategy,
                shown: self.n_shown,
                executions: n_now,
                was: json::Ratio { n: self.was.n, of: self.was.of },
                gone: (!self.is_there()).then_some(gone),
            });
        }
        let was = likelihood::one_in(self.was);
        let (n_shown, n_now) = (number::grouped(self.n_shown), number::grouped(n_now));
        let verdict = match self.is_there() {
            true => "still present".to_owned(),
            false => format!("fixed with {} confidence", likelihood::certainty(gone)),
        };
        format!(
            "{id}: {schedule}\n{id}: fails in {n_shown} of {n_now} executions under {} (before: {was}): \
             {verdict}\n",
            self.strategy
        )
    }
}
