//! Findings that were kept: each is run once before a campaign begins, and told apart as reproduced, gone or
//! diverged.

use raddle_explore::{
    Outcome, Reproduced, Sameness, StoredTarget, Symbols, Target, Verdict,
    campaign::Found,
    regression::{self, Regression},
    store::hash_program,
};
use raddle_report::{
    closing::{self, NewEnd, Replayed},
    json, number,
};

use crate::{
    args::{Format, RunArgs},
    exit::Failure,
    observe::{Watcher, status},
};

/// What came of running them.
pub(crate) struct First {
    /// How many reproduced.
    pub(crate) n_reproduced: u64,
    /// Is nothing more wanted, for one has and the first finding is enough?
    pub(crate) is_enough: bool,
}

/// Runs the regressions of a program.
pub(crate) fn run_first(
    args: &RunArgs,
    program: &StoredTarget,
    target: &dyn Target,
    symbols: &mut dyn Symbols,
    watcher: &mut Watcher<'_>,
) -> Result<First, Failure> {
    let mut first = First { n_reproduced: 0, is_enough: false };
    if args.resume.is_some() {
        return Ok(first);
    }
    let all = regression::load(&args.regressions, &folder_of(program))?;
    let hash = hash_program(&program.program).unwrap_or_default();
    let mut outcome = Outcome { stability: 100.0, ..Outcome::default() };
    for regression in all.iter().filter(|it| it.args == arguments(program)) {
        let is_rebuilt = regression.program_hash != hash;
        let same = if is_rebuilt { Sameness::Functions } else { Sameness::Bucket };
        let mut session = target.open()?;
        let exit_is_fine = regression.exit_is_fine;
        let finding = &regression.finding;
        let verdict =
            raddle_explore::replay(session.as_mut(), finding, symbols, exit_is_fine, same)?;
        outcome.executions += 1;
        tell(args, regression, verdict, is_rebuilt, watcher, &mut outcome);
    }
    first.n_reproduced = outcome.findings.len() as u64;
    first.is_enough = first.n_reproduced > 0 && !args.keep_going;
    if first.is_enough {
        watcher.record.finish(&outcome, watcher.terminal);
        if args.common.message_format == Format::Json {
            let status = status(&outcome, None, true, &watcher.terminal.out_style);
            let closing = json::Closing { seed: args.seed, ..json::Closing::default() };
            watcher.terminal.out(&json::summary(&status, &closing));
        } else {
            let n_reproduced = number::count(first.n_reproduced, "regression");
            watcher.terminal.out(&format!(
                "ran {} first: {n_reproduced} reproduced; nothing else was explored (-k goes on)\n",
                number::count(outcome.executions, "regression")
            ));
        }
    }
    Ok(first)
}

/// Tells and keeps what became of one.
fn tell(
    args: &RunArgs,
    regression: &Regression,
    verdict: Verdict,
    is_rebuilt: bool,
    watcher: &mut Watcher<'_>,
    outcome: &mut Outcome,
) {
    let (replayed, finding) = match verdict {
        Verdict::Reproduced { exact, finding } => {
            (Replayed::Reproduced { is_exact: exact }, Some(finding))
        }
        Verdict::Diverged { at_step, expected, found, same_bucket, finding } => {
            let end = match &finding {
                Some(_) if same_bucket => NewEnd::Same,
                Some(other) => NewEnd::Other(other.message.clone()),
                None => NewEnd::Good,
            };
            let step = at_step + 1;
            let replayed = Replayed::Diverged { step, expected, found, end };
            (replayed, finding.filter(|_| same_bucket))
        }
        Verdict::Gone => (Replayed::Gone, None),
    };
    let id = &regression.id;
    match args.common.message_format {
        Format::Json => watcher.terminal.out(&json::regression(id, &replayed, is_rebuilt)),
        Format::Human => {
            let line = closing::regression(id, &replayed, &watcher.terminal.error_style);
            watcher.terminal.note(&line);
        }
    }
    let Some(finding) = finding else { return };
    let reproduced = Reproduced { n: 1, m: 1 };
    let found = Found {
        finding: *finding,
        original: None,
        explanation: None,
        id: id.clone(),
        count: 1,
        first: 0,
        reproduced,
    };
    watcher.record.add_found(&found, watcher.terminal);
    watcher.tell(&found);
    outcome.findings.push(found);
}

/// Where a program's regressions are: its name, without the ending of a source.
pub(crate) fn folder_of(target: &StoredTarget) -> String {
    let name = match target.sources.first() {
        Some(source) => source.file_stem(),
        None => target.program.file_name(),
    };
    let name = name.unwrap_or_default().to_string_lossy().into_owned();
    // Cargo adds a hash to the names of test programs, which changes with versions and flags.
    match name.rsplit_once('-') {
        Some((bare, hash)) if hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => {
            bare.to_owned()
        }
        _ => name,
    }
}

fn arguments(target: &StoredTarget) -> Vec<String> {
    target.args.iter().map(|it| it.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use raddle_explore::StoredTarget;

    use super::folder_of;

    #[test]
    fn programs_have_folders() {
        let of_program = |program: &str| {
            folder_of(&StoredTarget { program: program.into(), ..StoredTarget::default() })
        };
        assert_eq!(of_program("/tmp/bank"), "bank");
        assert_eq!(of_program("target/debug/deps/queue-0123456789abcdef"), "queue");
        assert_eq!(of_program("my-tool"), "my-tool");
        let sources = vec!["src/bank.c".into(), "src/main.c".into()];
        assert_eq!(folder_of(&StoredTarget { sources, ..StoredTarget::default() }), "bank");
    }
}
