//! Findings that were kept: each is run once before a campaign begins, and told apart as reproduced, gone or
//! diverged.

use raddle_explore::{
    Ids, Outcome, Sameness, StoredTarget, Symbols, Target, TargetError, Until, Verdict,
    campaign::Found,
    regression::{self, Regression},
    store::{RunEnd, hash_program},
};
use raddle_model::Reproduced;
use raddle_report::{
    campaign::closing::{self, NewEnd, Replayed},
    formats::json,
    layout::number,
    words::fault,
};

use crate::{
    args::{Format, RunArgs},
    exit::Failure,
    observe::{Watcher, status},
    prepare,
    terminal::Terminal,
};

/// A regression that was run, and what came of it.
pub(crate) struct Ran {
    id: String,
    replayed: Replayed,
    /// Was the program built anew since it was kept?
    is_rebuilt: bool,
    /// What it shows, if that is what it was kept for.
    pub(crate) found: Option<Found>,
}

/// Runs the regressions of a program, and tells each as it comes.
pub(crate) fn run_all(
    args: &RunArgs,
    program: &StoredTarget,
    target: &dyn Target,
    until: &Until,
    symbols: &mut dyn Symbols,
    tell: &mut dyn FnMut(&Ran),
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::new();
    if args.resume.is_some() {
        return Ok(outcome);
    }
    let all = regression::load(&args.regressions, &folder_of(program))?;
    let hash = hash_program(&program.program).unwrap_or_default();
    for regression in all.iter().filter(|it| it.args == arguments(program)) {
        let is_rebuilt = regression.program_hash != hash;
        let same = if is_rebuilt { Sameness::Functions } else { Sameness::Bucket };
        let mut run = || -> Result<Verdict, TargetError> {
            let mut session = target.open_until(until)?;
            let (finding, exit_is_fine) = (&regression.finding, regression.exit_is_fine);
            raddle_explore::replay(session.as_mut(), finding, symbols, exit_is_fine, same)
        };
        let verdict = match run() {
            Err(TargetError::Stopped) if until.is_over() => break,
            verdict => verdict?,
        };
        outcome.figures.executions += 1;
        let ran = Ran::new(regression, verdict, is_rebuilt);
        tell(&ran);
        outcome.findings.extend(ran.found);
    }
    Ok(outcome)
}

impl Ran {
    fn new(regression: &Regression, verdict: Verdict, is_rebuilt: bool) -> Ran {
        let (replayed, finding) = match verdict {
            Verdict::Reproduced { exact, finding } => {
                (Replayed::Reproduced { is_exact: exact }, Some(finding))
            }
            Verdict::Diverged { at_step, expected, found, same_bucket, finding } => {
                let end = match &finding {
                    Some(_) if same_bucket => NewEnd::Same,
                    Some(other) => NewEnd::Other(fault::line(other)),
                    None => NewEnd::Good,
                };
                let replayed = Replayed::Diverged {
                    step: at_step + 1,
                    expected: fault::moment(&expected),
                    found: fault::moment(&found),
                    end,
                };
                (replayed, finding.filter(|_| same_bucket))
            }
            Verdict::Gone => (Replayed::Gone, None),
        };
        let found = finding.map(|it| Found {
            finding: *it,
            original: None,
            explanation: None,
            id: regression.id.clone(),
            count: 1,
            first: 0,
            reproduced: Reproduced { n: 1, of: 1 },
        });
        Ran { id: regression.id.clone(), replayed, is_rebuilt, found }
    }

    /// Says whether it reproduces, is gone or diverged.
    pub(crate) fn tell(&self, format: Format, terminal: &mut Terminal) {
        match format {
            Format::Json => {
                terminal.out(&json::regression(&self.id, &self.replayed, self.is_rebuilt));
            }
            Format::Human | Format::Short => {
                let line = closing::regression(&self.id, &self.replayed, &terminal.error_style);
                terminal.note(&line);
            }
        }
    }
}

/// Runs the regressions of a program, tells and keeps what they show.
pub(crate) fn run_first(
    args: &RunArgs,
    program: &StoredTarget,
    target: &dyn Target,
    until: &Until,
    symbols: &mut dyn Symbols,
    watcher: &mut Watcher<'_>,
) -> Result<Vec<Found>, Failure> {
    let format = args.common.message_format;
    let is_built_now = !program.sources.is_empty() || program.cargo.is_some();
    let mut is_told = is_built_now;
    let outcome = run_all(args, program, target, until, symbols, &mut |ran| {
        if !is_told {
            is_told = true;
            prepare::warn_if_old(program, &program.program, watcher.terminal);
        }
        ran.tell(format, watcher.terminal);
        if let Some(found) = &ran.found {
            watcher.record.add_found(found, watcher.terminal);
            watcher.tell(found);
        }
    })?;
    if !is_enough(args, &outcome.findings) {
        return Ok(outcome.findings);
    }
    watcher.record.finish(RunEnd::of(&outcome), watcher.terminal);
    if format == Format::Json {
        let status = status(&outcome, None, true, &watcher.terminal.out_style);
        let closing = json::Closing { seed: args.seed(), ..json::Closing::default() };
        watcher.terminal.out(&json::summary(&status, &closing));
    } else {
        watcher.terminal.out(&format!(
            "replayed {}: {} reproduced; nothing else was explored (use -k to continue)\n",
            number::count(outcome.figures.executions, "regression test"),
            number::grouped(outcome.findings.len() as u64)
        ));
    }
    Ok(outcome.findings)
}

/// Is nothing more wanted, for a regression was found and the first finding is enough?
pub(crate) fn is_enough(args: &RunArgs, found: &[Found]) -> bool {
    !found.is_empty() && !args.keep_going
}

/// Gives what regressions showed the ids that they were kept under, so that a campaign that finds it counts it and
/// does not tell it again.
pub(crate) fn take_ids(found: &[Found], ids: &mut Ids) {
    for found in found {
        ids.take(&found.id, found.finding.bucket);
    }
}

/// Adds to a campaign's outcome what only regressions have shown.
pub(crate) fn add_to(outcome: &mut Outcome, found: Vec<Found>) {
    for found in found.into_iter().rev() {
        if outcome.findings.iter().all(|it| it.id != found.id) {
            outcome.findings.insert(0, found);
        }
    }
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
