//! The page of a run, out of what is stored of it.

use raddle_explore::{
    StoredFinding,
    store::{RunEnd, RunInfo, StoredRun},
};
use raddle_model::{Carrier, Place};
use raddle_report::{
    Sources,
    formats::Item,
    pages::{self, FileSteps, RunFigures, RunFinding, RunPage},
    words::escape,
};

use super::name_of;

/// The page.
pub(super) fn page(
    run: &StoredRun,
    items: Vec<Item<'_>>,
    findings: &[&StoredFinding],
    base: &str,
    sources: &mut Sources<'_>,
) -> String {
    let count_of = |id: &str| {
        let counts = run.end.as_ref().map_or(&[][..], |it| it.counts.as_slice());
        counts.iter().find(|it| it.id == id).map_or(0, |it| it.count)
    };
    let findings = items.into_iter().zip(findings).map(|(item, stored)| RunFinding {
        item,
        count: count_of(&stored.id),
        first: stored.finding.execution,
    });
    let page = RunPage {
        program: name_of(&run.info.target),
        date: &run.date,
        findings: findings.collect(),
        end: run.end.as_ref().map(|it| figures(it, base)),
        facts: facts(run),
    };
    pages::run(&page, sources)
}

fn figures(end: &RunEnd, base: &str) -> RunFigures {
    RunFigures {
        figures: end.figures.clone(),
        curve: end.curve.clone(),
        files: files(end, base),
        n_looked_at: end.n_looked_at,
        uncontrolled: end
            .uncontrolled
            .iter()
            .map(|it| {
                let at = it.stack.first().map(|it| place_text(it, base)).unwrap_or_default();
                (escape::words(it.what), it.count, at)
            })
            .collect(),
        is_exhaustive: end.is_exhaustive,
        scope: end.scope.clone(),
        drawings: end.drawings.clone(),
    }
}

/// Steps by file; those without a place are left out.
fn files(end: &RunEnd, base: &str) -> Vec<FileSteps> {
    let mut files: Vec<FileSteps> = Vec::new();
    for at in &end.steps_at {
        let name = file_text(&at.place, base);
        if name.is_empty() {
            continue;
        }
        let idx = files.iter().position(|it| it.file == name).unwrap_or_else(|| {
            files.push(FileSteps { file: name.clone(), ..FileSteps::default() });
            files.len() - 1
        });
        files[idx].n_steps += at.n_steps;
        files[idx].lines.push((at.place.line, at.place.function.clone(), at.n_steps));
    }
    files.sort_by(|a, b| b.n_steps.cmp(&a.n_steps).then_with(|| a.file.cmp(&b.file)));
    files
}

/// The file of a place, relative to where we are; the module, if there is no file.
fn file_text(place: &Place, base: &str) -> String {
    let file = if place.file.is_empty() { &place.module } else { &place.file };
    let relative = file.strip_prefix(base).and_then(|it| it.strip_prefix('/'));
    relative.unwrap_or(file).to_owned()
}

fn place_text(place: &Place, base: &str) -> String {
    match place.line {
        0 => place.function.clone(),
        line => format!("{}:{line}", file_text(place, base)),
    }
}

/// What a reader may ask for: program, arguments, settings, versions.
fn facts(run: &StoredRun) -> Vec<(&'static str, String)> {
    let RunInfo { target, carrier, seed, about, program_hash, .. } = &run.info;
    let args: Vec<String> =
        target.args.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let carrier = match carrier {
        Carrier::Fibers => "fibers",
        Carrier::Threads => "kernel threads",
    };
    let hooks = if target.sync_only { "synchronisation only" } else { "all accesses" };
    let facts = [
        ("program", target.program.display().to_string()),
        ("arguments", args.join(" ")),
        ("directory", target.cwd.display().to_string()),
        ("compiler", target.compiler.clone().unwrap_or_default()),
        ("flags", target.cflags.join(" ")),
        ("hash of the program", format!("{program_hash:016x}")),
        ("strategy", about.strategy.clone()),
        ("seed", seed.to_string()),
        ("workers", if about.n_jobs > 0 { about.n_jobs.to_string() } else { String::new() }),
        ("threads carried by", carrier.to_owned()),
        ("hooks", hooks.to_owned()),
        ("system", about.system.clone()),
        ("raddle", run.raddle.clone()),
        ("run", run.run.clone()),
    ];
    facts.into_iter().filter(|it| !it.1.is_empty()).collect()
}
