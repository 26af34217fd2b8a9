//! `raddle replay`: the plan of a finding, run again in a fresh process, and compared.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use raddle_explore::{
    Block, BlockResult, Sameness, Session, StoredFinding, Target, TargetError, Verdict,
    store::hash_program,
};
use raddle_launch::{Native, Symbols};
use raddle_model::{Carrier, Finding};
use raddle_report::{
    campaign::closing::{self, NewEnd, Replayed},
    finding::text,
    formats::json,
    words::fault,
};

use crate::{
    args::{Format, ReplayArgs},
    exit::{Exit, Failure},
    native::{self, Launch},
    prepare::prepare_again,
    signals, stored,
    terminal::{Terminal, here},
};

/// Replays a finding.
pub(crate) fn replay(args: &ReplayArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let mut stored = stored::find(&args.common, &args.id)?;
    if let Some(original) = stored.original.take().filter(|_| args.original) {
        stored.finding = *original;
        stored.explanation = None;
    }
    let base = here();
    let stop = signals::catch();
    let carrier = args.carrier.map_or(stored.info.carrier, Into::into);
    let now = open(&stored, carrier, terminal)?;
    let mut replays = Vec::new();
    let mut last = None;
    let mut symbols = Symbols::new();
    for time in 1..=args.times {
        let Once { replayed, output, finding } = match once(&now, &stored, &mut symbols) {
            Ok(once) => once,
            Err(TargetError::Stopped) => break,
            Err(error) => return Err(error.into()),
        };
        if args.show_output {
            terminal.out(&output_text(args.common.message_format, time, &output, terminal));
        }
        if args.common.message_format == Format::Json {
            terminal.out(&json::replay(&stored.id, time, &replayed, now.is_rebuilt));
        }
        replays.push(replayed);
        last = finding.or(last);
        if stop.exit().is_some() {
            break;
        }
    }
    if let Some(finding) = last {
        // Found just now, in the sources that there are now.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        stored.found_ms = now.as_millis() as u64;
        stored.finding = finding;
    }
    close(args, &stored, &replays, &base, terminal);
    let is_reproduced = replays.iter().all(Replayed::is_reproduced);
    let exit = if is_reproduced { Exit::Findings } else { Exit::NotReproduced };
    Ok(stop.exit().unwrap_or(exit))
}

/// The finding's program as it is now.
pub(crate) struct Now {
    pub(crate) target: Native,
    /// Where it is.
    pub(crate) program: PathBuf,
    /// Was it built anew since the finding?
    pub(crate) is_rebuilt: bool,
}

/// The finding's program as a target, as it was run then.
pub(crate) fn open(
    stored: &StoredFinding,
    carrier: Carrier,
    terminal: &mut Terminal,
) -> Result<Now, Failure> {
    let then = &stored.info.target;
    // Sources and what the program opens are relative to where it was found.
    if then.cwd.is_dir() {
        let moved = std::env::set_current_dir(&then.cwd);
        moved.map_err(|error| Failure::usage(format!("{}: {error}", then.cwd.display())))?;
    }
    let program = prepare_again(then, terminal)?;
    let is_rebuilt = hash_program(&program).is_ok_and(|it| it != stored.info.program_hash);
    if is_rebuilt {
        terminal.warning("the program was rebuilt since this was found; steps may differ");
    }
    let launch = Launch {
        program: program.clone(),
        target: then,
        carrier,
        is_fresh: true,
        checkpoints: 0,
        events: None,
        stop: Arc::clone(signals::catch().flag()),
    };
    Ok(Now { target: native::open(launch)?, program, is_rebuilt })
}

/// One replay.
struct Once {
    replayed: Replayed,
    /// What the program wrote.
    output: String,
    /// The finding as it is now, if it is there.
    finding: Option<Finding>,
}

fn once(now: &Now, stored: &StoredFinding, symbols: &mut Symbols) -> Result<Once, TargetError> {
    let mut session = Listening { session: now.target.open()?, output: String::new() };
    let exit_is_fine = stored.info.exit_is_fine;
    let same = if now.is_rebuilt { Sameness::Functions } else { Sameness::Bucket };
    let finding = &stored.finding;
    let verdict = raddle_explore::replay(&mut session, finding, symbols, exit_is_fine, same)?;
    let (replayed, finding) = match verdict {
        Verdict::Reproduced { exact, finding } => {
            (Replayed::Reproduced { is_exact: exact }, Some(*finding))
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
            (replayed, finding.filter(|_| same_bucket).map(|it| *it))
        }
        Verdict::Gone => (Replayed::Gone, None),
    };
    Ok(Once { replayed, output: session.output, finding })
}

/// A session that keeps what the program wrote.
struct Listening {
    session: Box<dyn Session + Send>,
    output: String,
}

impl Session for Listening {
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        let result = self.session.run(block)?;
        if let Some(last) = &result.last {
            self.output.clone_from(&last.output);
        }
        Ok(result)
    }
}

fn output_text(format: Format, time: u64, output: &str, terminal: &Terminal) -> String {
    match format {
        Format::Json => json::output(time, output),
        Format::Human | Format::Short => text::execution(time, output, &terminal.out_style),
    }
}

/// The finding, if it showed again, and the verdict.
fn close(
    args: &ReplayArgs,
    stored: &StoredFinding,
    replays: &[Replayed],
    base: &str,
    terminal: &mut Terminal,
) {
    if args.common.message_format == Format::Json || replays.is_empty() {
        return;
    }
    let style = terminal.out_style;
    if replays.iter().any(Replayed::is_reproduced) {
        terminal.out(&stored::text(stored, args.common.message_format, base, &style));
        if args.common.message_format == Format::Human {
            terminal.out("\n");
        }
    }
    terminal.out(&closing::replayed(&stored.id, replays, &style));
}
