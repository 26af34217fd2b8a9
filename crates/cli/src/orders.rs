//! `raddle orders`: which memory orders of a program could be weaker without any execution failing.

use std::{path::Path, sync::Arc, time::Instant};

use raddle_explore::{
    Options, StoredTarget,
    strength::{Lab, Relaxation, SiteRelaxation, relaxable},
};
use raddle_launch::Symbols;
use raddle_model::{Conditions, Finding, Kind, MemoryModel};
use raddle_report::{
    campaign::strength::{SiteRow, Strength},
    formats::json,
    words::fault,
};

use crate::{
    args::{Format, MemoryModelArg, OrdersArgs, detect},
    exit::{Exit, Failure},
    native::{self, Launch},
    prepare::{Named, prepare},
    search, signals,
    terminal::{Terminal, here},
};

/// Tries weaker orders, place after place.
pub(crate) fn orders(args: &OrdersArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let OrdersArgs { sources, args: program_args, conditions, .. } = args;
    let program = prepare(Named { sources, args: program_args, conditions }, terminal)?;
    let stop = signals::catch();
    let target = native::open(Launch {
        program: program.program.clone(),
        target: &program,
        carrier: conditions.carrier.into(),
        is_fresh: conditions.fresh,
        checkpoints: 0,
        events: Some(search::EVENTS),
        stop: Arc::clone(stop.flag()),
    })?;
    // Under sequential consistency, an order decides nothing but what is a race.
    let memory_model = match conditions.memory_model {
        MemoryModelArg::Sc => MemoryModel::C11,
        model => model.into(),
    };
    let options = Options {
        seed: args.seed,
        deadline: Some(Instant::now() + args.time),
        jobs: args.n_jobs(),
        exit_is_fine: conditions.exit_ok,
        conditions: Conditions { memory_model, ..conditions.of_executions() },
        detect: detect(&args.detect),
        ..Options::default()
    };
    let mut symbols = Symbols::new();
    let mut lab = Lab::new(&target, &mut symbols, options, stop.flag())?;
    let relaxation = relaxable(&mut lab, args.execs)?;
    let exit = tell(args, &program, relaxation, terminal)?;
    Ok(stop.exit().unwrap_or(exit))
}

fn tell(
    args: &OrdersArgs,
    program: &StoredTarget,
    relaxation: Relaxation,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let path = program.sources.first().unwrap_or(&program.program);
    let name = path.file_name().unwrap_or(Path::new("?").as_os_str()).to_string_lossy();
    match relaxation {
        Relaxation::Fails(finding) => Err(Failure {
            exit: Exit::Findings,
            words: String::new(),
            line: format!(
                "{name} fails with the orders that it has: {}; `raddle run --memory-model c11` shows how",
                failure(&finding)
            ),
        }),
        Relaxation::Undecided => Err(Failure {
            exit: Exit::Inconclusive,
            words: String::new(),
            line: "stopped before the program was tested with its own orders; raise --time or lower --execs"
                .to_owned(),
        }),
        Relaxation::Relaxed { sites, support, n_executions, is_cut } => {
            let rows: Vec<SiteRow> = sites.into_iter().map(row).collect();
            let strength =
                Strength { program: &name, rows: &rows, support, n_executions, is_cut };
            terminal.out(&match args.message_format {
                Format::Json => json::orders(&strength),
                Format::Human | Format::Short => strength.text(&here(), &terminal.out_style),
            });
            Ok(if is_cut { Exit::Inconclusive } else { Exit::Clean })
        }
    }
}

fn row(it: SiteRelaxation) -> SiteRow {
    let needed = it.needed.map(|it| (it.order, failure(&it.finding)));
    SiteRow { site: it.site, needed }
}

/// "assertion failed: count == 2", "data race on `message`".
fn failure(finding: &Finding) -> String {
    let line = fault::line(finding);
    if finding.kind == Kind::Assert { format!("assertion failed: {line}") } else { line }
}
