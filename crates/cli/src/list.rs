//! `raddle list`: what was found, newest first.

use raddle_explore::{Store, store::Listed};
use raddle_report::{formats::json, layout::table, words::fault};

use crate::{
    args::{Format, ListArgs},
    exit::{Exit, Failure},
    terminal::Terminal,
};

/// Lists findings.
pub(crate) fn list(args: &ListArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let all = Store::at(&args.common.store).list()?;
    if args.common.message_format == Format::Json {
        for listed in &all {
            terminal.out(&json::listed(&line(listed)));
        }
        return Ok(Exit::Clean);
    }
    if all.is_empty() {
        terminal.note(&format!(
            "no findings in {}; `raddle run` puts them there\n",
            args.common.store.display()
        ));
        return Ok(Exit::Clean);
    }
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let heading = ["id", "kind", "program", "found", "what"];
    terminal.out(&table::render(&heading, &rows, &terminal.out_style));
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
