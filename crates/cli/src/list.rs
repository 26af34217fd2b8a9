//! `raddle list`: what was found, newest first.

use raddle_explore::{Store, store::Listed};
use raddle_report::{
    formats::json,
    layout::{number, table},
    words::fault,
};

use crate::{
    args::{Format, ListArgs},
    exit::{Exit, Failure},
    terminal::Terminal,
};

/// Findings that a terminal shows, unless more are asked for.
const ON_TERMINAL: u64 = 50;

/// Lists findings.
pub(crate) fn list(args: &ListArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let is_json = args.common.message_format == Format::Json;
    let is_for_eyes = terminal.is_out_terminal && !is_json && !args.all;
    let n_shown = args.last.or(is_for_eyes.then_some(ON_TERMINAL)).unwrap_or(u64::MAX);
    let n_shown = usize::try_from(n_shown).unwrap_or(usize::MAX);
    let (shown, n_all) = Store::at(&args.common.store).newest(n_shown)?;
    if is_json {
        terminal.out(&shown.iter().map(|it| json::listed(&line(it))).collect::<String>());
        return Ok(Exit::Clean);
    }
    if shown.is_empty() {
        terminal.note(&format!(
            "no findings in {} yet; `raddle run` stores them there\n",
            args.common.store.display()
        ));
        return Ok(Exit::Clean);
    }
    let rows: Vec<Vec<String>> = shown.iter().map(row).collect();
    let heading = ["id", "kind", "program", "found", "what"];
    terminal.out(&table::render(&heading, &rows, &terminal.out_style));
    if args.last.is_none() && n_all > shown.len() {
        let n_older = number::count((n_all - shown.len()) as u64, "older finding");
        terminal.note(&format!("{n_older} not shown; `raddle list --all` shows all\n"));
    }
    Ok(Exit::Clean)
}

fn row(listed: &Listed) -> Vec<String> {
    vec![
        listed.id.clone(),
        listed.kind.word().to_owned(),
        program(listed),
        listed.date.replace('T', " ").trim_end_matches('Z').to_owned(),
        fault::message(listed.kind, &listed.fault),
    ]
}

fn line(listed: &Listed) -> json::Listed<'_> {
    json::Listed {
        id: &listed.id,
        kind: listed.kind.word(),
        message: fault::message(listed.kind, &listed.fault),
        program: listed.program.to_string_lossy(),
        run: &listed.run,
        date: &listed.date,
    }
}

fn program(listed: &Listed) -> String {
    listed.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
