//! `raddle store`: runs, exports, room.

use std::{
    fs,
    path::{Path, PathBuf},
};

use raddle_explore::{
    Store, StoredFinding,
    store::{Export, Retention, StoredRun, hash_program},
};
use raddle_report::{
    formats::json,
    layout::{number, table},
};

use crate::{
    args::{Common, Format, StoreArgs, StoreVerb},
    exit::{Exit, Failure},
    prepare, stored,
    terminal::{Terminal, here},
};

/// Does what is asked for.
pub(crate) fn store(args: &StoreArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    match &args.verb {
        StoreVerb::Ls { common } => list(common, terminal)?,
        StoreVerb::Export { id, output, common } => {
            export(id, output.as_deref(), common, terminal)?
        }
        StoreVerb::Import { file, program, common } => {
            import(file, program.as_deref(), common, terminal)?;
        }
        StoreVerb::Prune { runs, days, dry_run, common } => {
            let n_runs = usize::try_from(*runs).unwrap_or(usize::MAX);
            let retention = Retention { n_runs, days: *days };
            prune(&retention, *dry_run, common, terminal)?;
        }
    }
    Ok(Exit::Clean)
}

fn list(common: &Common, terminal: &mut Terminal) -> Result<(), Failure> {
    let store = stored::store(&common.store);
    let mut runs = store.runs()?;
    runs.reverse();
    if common.message_format == Format::Json {
        for run in &runs {
            terminal.out(&json::run(&line(&store, run)));
        }
        return Ok(());
    }
    if runs.is_empty() {
        let root = common.store.display();
        terminal.note(&format!("no runs in {root} yet; `raddle run` stores them there\n"));
        return Ok(());
    }
    let rows: Vec<Vec<String>> = runs.iter().map(|it| row(&line(&store, it))).collect();
    let heading = ["run", "begun", "program", "executions", "findings", "size"];
    terminal.out(&table::render(&heading, &rows, &terminal.out_style));
    Ok(())
}

fn line<'a>(store: &Store, run: &'a StoredRun) -> json::RunLine<'a> {
    let (findings, bytes) = store.size_of(&run.run).unwrap_or_default();
    json::RunLine {
        run: &run.run,
        date: &run.date,
        program: run.info.target.program.to_string_lossy(),
        executions: run.end.as_ref().map(|it| it.figures.executions),
        findings,
        bytes,
    }
}

fn row(line: &json::RunLine<'_>) -> Vec<String> {
    let program = Path::new(&*line.program).file_name().unwrap_or_default().to_string_lossy();
    vec![
        // Up to where ids of one second differ.
        line.run.chars().take(18).collect(),
        line.date.replace('T', " ").trim_end_matches('Z').to_owned(),
        program.into_owned(),
        line.executions.map_or_else(|| "unfinished".to_owned(), number::grouped),
        line.findings.to_string(),
        format!("{} kB", number::grouped(line.bytes.div_ceil(1000))),
    ]
}

fn export(
    id: &str,
    output: Option<&Path>,
    common: &Common,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let export = stored::store(&common.store).export(id)?;
    let name = match export.findings.as_slice() {
        [one] => one.id.clone(),
        _ => export.run.run.clone(),
    };
    let file = output.map_or_else(|| PathBuf::from(format!("{name}.raddle")), Path::to_owned);
    Store::write_export(&file, &export)?;
    let n_findings = number::count(export.findings.len() as u64, "finding");
    let program = export.run.info.target.program.display();
    terminal.note(&format!(
        "wrote {} ({n_findings})\n\
         to import it on another machine: raddle store import {} --program PROGRAM\n\
         PROGRAM must be the same build as {program}\n",
        file.display(),
        file.display()
    ));
    Ok(())
}

fn import(
    file: &Path,
    program: Option<&Path>,
    common: &Common,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let mut export = Store::read_export(file)?;
    if let Some(program) = program {
        let program = fs::canonicalize(program)
            .map_err(|error| Failure::usage(format!("--program {}: {error}", program.display())))?;
        settle(&mut export, program, terminal)?;
    } else if !export.run.info.target.program.exists() && !has_sources(&export) {
        let program = export.run.info.target.program.display();
        terminal.warning(&format!(
            "{program} does not exist on this machine; give its path with --program"
        ));
    }
    stored::store(&common.store).import(&export)?;
    let ids: Vec<&str> = export.findings.iter().map(|it| it.id.as_str()).collect();
    let n_findings = number::count(ids.len() as u64, "finding");
    terminal.note(&format!("imported {n_findings}: {}\n", ids.join(", ")));
    Ok(())
}

fn has_sources(export: &Export) -> bool {
    let target = &export.run.info.target;
    let exists = |it: &PathBuf| target.cwd.join(it).exists();
    !target.sources.is_empty() && target.sources.iter().all(exists)
}

/// The program is elsewhere on this machine, and is taken as it is; or what it is made of is, and is compiled as it was.
fn settle(export: &mut Export, program: PathBuf, terminal: &mut Terminal) -> Result<(), Failure> {
    let is_source = prepare::is_source(&program);
    let mut target = export.run.info.target.clone();
    target.cwd = here().into();
    target.cargo = None;
    if is_source {
        target.sources = vec![program];
        target.program = prepare::compile(&target, terminal)?;
    } else {
        prepare::inspect(&program, target.sync_only)?;
        target.sources.clear();
        target.program = program;
    }
    if hash_program(&target.program).unwrap_or_default() != export.run.info.program_hash {
        terminal.warning(&format!(
            "{} is not the build that was exported; steps may differ",
            target.sources.first().unwrap_or(&target.program).display()
        ));
    }
    let infos = export.findings.iter_mut().map(|it: &mut StoredFinding| &mut it.info);
    for info in infos.chain([&mut export.run.info]) {
        info.target.clone_from(&target);
    }
    Ok(())
}

fn prune(
    retention: &Retention,
    is_dry: bool,
    common: &Common,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let store = stored::store(&common.store);
    let pruned = store.prunable(retention)?;
    if !is_dry && !pruned.runs.is_empty() {
        store.remove_runs(&pruned.runs)?;
    }
    let verb = if is_dry { "would delete" } else { "deleted" };
    terminal.note(&format!(
        "{verb} {} with {}, {} kB\n",
        number::count(pruned.runs.len() as u64, "run"),
        number::count(pruned.n_findings as u64, "finding"),
        number::grouped(pruned.n_bytes.div_ceil(1000))
    ));
    Ok(())
}
