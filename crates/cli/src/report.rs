//! `raddle report`: a finding as a page, or as other tools want it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use raddle_explore::{StoredFinding, StoredTarget};
use raddle_report::{
    Shown, json,
    page::{self, FindingPage, View},
};

use crate::{
    args::{ReportArgs, ReportFormat},
    exit::{Exit, Failure},
    run::here,
    stored,
    terminal::Terminal,
};

/// Writes a report.
pub(crate) fn report(args: &ReportArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let stored = stored::find_in(&args.store, &args.id)?;
    let text = match args.format() {
        ReportFormat::Html => finding_page(&stored),
    };
    let is_page = args.format() == ReportFormat::Html;
    let file = match &args.output {
        Some(path) if path == Path::new("-") => None,
        Some(path) => Some(path.clone()),
        None if is_page => Some(args.store.join("reports").join(format!("{}.html", stored.id))),
        None => None,
    };
    match file {
        None => terminal.out(&text),
        Some(path) => {
            write(&path, &text, args.output.is_none())?;
            terminal.note(&format!("wrote {}\n", path.display()));
        }
    }
    Ok(Exit::Clean)
}

/// Writes a file; makes its folder if that is ours.
fn write(path: &PathBuf, text: &str, is_ours: bool) -> Result<(), Failure> {
    let folder = path.parent().filter(|_| is_ours);
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, text)).map_err(|error| {
        Failure::usage(format!("failed to write {}: {error}; -o says where to", path.display()))
    })
}

fn finding_page(stored: &StoredFinding) -> String {
    let base = here();
    let program = name(&stored.info.target);
    let explanation = stored.explanation.as_deref();
    let orders = explanation.and_then(|it| it.reason.as_ref()).map_or(&[][..], |it| &it.orders);
    let nearest = explanation.and_then(|it| it.passing.as_deref());
    let difference = nearest.and_then(|it| it.difference.as_ref());
    let label = if stored.original.is_some() { "minimised" } else { "as found" };
    let mut views = vec![View {
        label,
        finding: &stored.finding,
        orders,
        difference: difference.and_then(|it| it.point.step),
    }];
    if let Some(original) = &stored.original {
        views.push(View { label: "as found", finding: original, orders: &[], difference: None });
    }
    let passing = nearest.map(|it| page::passing(&stored.finding, it));
    if let Some(passing) = &passing {
        let difference = difference.map(|it| it.passing_step);
        views.push(View { label: "nearest passing", finding: passing, orders: &[], difference });
    }
    let page =
        FindingPage { shown: shown(stored, &base), program: &program, views, reason: Vec::new() };
    page::finding(&page, &mut |path| stored::source(stored, path))
}

fn shown<'a>(stored: &'a StoredFinding, base: &'a str) -> Shown<'a> {
    let reproduced = (stored.reproduced.m > 0)
        .then_some(json::Reproduced { n: stored.reproduced.n, of: stored.reproduced.m });
    let StoredFinding { finding, id, info, .. } = stored;
    Shown { finding, id, seed: Some(info.seed), reproduced, base }
}

/// What the user calls the program.
fn name(target: &StoredTarget) -> String {
    let path = target.sources.first().unwrap_or(&target.program);
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
