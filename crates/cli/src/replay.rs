//! `raddle replay`: the plan of a finding, run again in a fresh process, and compared.

use std::time::Duration;

use raddle_explore::{
    Block, BlockResult, Session, StoredFinding, Target, TargetError, Verdict, store::hash_program,
};
use raddle_launch::{Native, Symbols};
use raddle_report::{
    closing::{self, Replayed},
    json, text,
};

use crate::{
    args::{Format, ReplayArgs},
    exit::{Exit, Failure},
    native::{self, Launch},
    prepare::prepare_again,
    run::here,
    signals, stored,
    terminal::Terminal,
};

/// Replays a finding.
pub(crate) fn replay(args: &ReplayArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let stored = stored::find(&args.common, &args.id)?;
    let base = here();
    let target = open(args, &stored, terminal)?;
    let stop = signals::catch();
    let mut replays = Vec::new();
    for time in 1..=args.times {
        if let Some(exit) = stop.exit() {
            close(args, &stored, &replays, &base, terminal);
            return Ok(exit);
        }
        let (replayed, output) = once(&target, &stored)?;
        if args.show_output {
            terminal.out(&output_text(args.common.message_format, time, &output, terminal));
        }
        if args.common.message_format == Format::Json {
            terminal.out(&json::replay(&stored.id, time, &replayed));
        }
        replays.push(replayed);
    }
    close(args, &stored, &replays, &base, terminal);
    let is_reproduced = replays.iter().all(Replayed::is_reproduced);
    Ok(if is_reproduced { Exit::Findings } else { Exit::NotReproduced })
}

/// The finding's program as a target, as it was run then.
fn open(
    args: &ReplayArgs,
    stored: &StoredFinding,
    terminal: &mut Terminal,
) -> Result<Native, Failure> {
    let then = &stored.info.target;
    // Sources and what the program opens are relative to where it was found.
    if then.cwd.is_dir() {
        let moved = std::env::set_current_dir(&then.cwd);
        moved.map_err(|error| Failure::usage(format!("{}: {error}", then.cwd.display())))?;
    }
    let program = prepare_again(then, terminal)?;
    if hash_program(&program).is_ok_and(|it| it != stored.info.program_hash) {
        let line = "the program has changed since this was found; steps may differ";
        terminal.warning(line);
    }
    let launch = Launch {
        program,
        args: then.args.clone(),
        carrier: args.carrier.map_or(stored.info.carrier, Into::into),
        stdin: then.stdin.clone(),
        memory: 4 << 30,
        hang_timeout: Duration::from_secs(10),
        n_cpus: 4,
    };
    Ok(native::open(&launch)?)
}

fn once(target: &dyn Target, stored: &StoredFinding) -> Result<(Replayed, String), Failure> {
    let mut session = Listening { session: target.open()?, output: String::new() };
    let mut symbols = Symbols::new();
    let exit_is_fine = stored.info.exit_is_fine;
    let verdict =
        raddle_explore::replay(&mut session, &stored.finding, &mut symbols, exit_is_fine)?;
    let replayed = match verdict {
        Verdict::Reproduced { exact } => Replayed::Reproduced { is_exact: exact },
        Verdict::Diverged { at_step, expected, found, same_bucket, .. } => {
            Replayed::Diverged { step: at_step + 1, expected, found, is_same: same_bucket }
        }
        Verdict::Gone => Replayed::Gone,
    };
    Ok((replayed, session.output))
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
        Format::Human => text::execution(time, output, &terminal.out_style),
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
        terminal.out(&stored::text(stored, Format::Human, base, &style));
        terminal.out("\n");
    }
    terminal.out(&closing::replayed(&stored.id, replays, &style));
}
