//! `raddle report`: a finding or a run as a page, or as other tools want it.

mod run;
mod whole;

use std::{
    fs,
    path::{Path, PathBuf},
};

use raddle_explore::{Store, StoredFinding, StoredTarget, store::StoredRun};
use raddle_model::{Explanation, Place};
use raddle_report::{
    Shown, Style,
    finding::reason,
    formats::{self, Item, Suite},
    pages::{self, FindingPage, Source, View},
};

use crate::{
    args::{AtEnd, ReportArgs, ReportFormat, RunArgs},
    exit::{Exit, Failure},
    stored,
    terminal::{Terminal, here},
};

/// What a report is about.
enum Subject {
    Finding(Box<StoredFinding>),
    /// A run and its findings.
    Run(Box<StoredRun>, Vec<StoredFinding>),
}

/// Writes a report.
pub(crate) fn report(args: &ReportArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let subject = subject(args)?;
    let text = render(&subject, args.format())?;
    let is_page = args.format() == ReportFormat::Html;
    let file = match &args.output {
        Some(path) if path == Path::new("-") => None,
        Some(path) => Some(path.clone()),
        None if is_page => {
            let name = match &subject {
                Subject::Finding(stored) => format!("{}.html", stored.id),
                Subject::Run(run, _) => format!("run-{}.html", run.run),
            };
            Some(args.store.join("reports").join(name))
        }
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

/// Writes the reports that a run was asked for, once it has ended in one way or another: all of the run, or of the tests
/// that were explored, but for what is known.
pub(crate) fn at_end(
    args: &RunArgs,
    ended: Result<Exit, Failure>,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let exit = ended?;
    for AtEnd { format, file } in &args.format {
        let store = args.common.store.clone();
        let (format, output) = (Some(*format), Some(file.clone()));
        let mut subject = subject(&ReportArgs { id: None, format, output, store })?;
        if let Subject::Run(_, findings) = &mut subject {
            findings.retain(|it| !args.known.knows(&it.id));
        }
        let text = render(&subject, format.unwrap_or_default())?;
        if file == Path::new("-") {
            terminal.out(&text);
        } else {
            write(file, &text, false)?;
            terminal.note(&format!("wrote {}\n", file.display()));
        }
    }
    Ok(exit)
}

/// The last run, or all runs of the last `cargo raddle test`, if nothing is named; else the finding of that name, else the run.
fn subject(args: &ReportArgs) -> Result<Subject, Failure> {
    let store = Store::at(&args.store);
    let of_run = |run: StoredRun| -> Result<Subject, Failure> {
        let findings = store.findings_of(&run.run)?;
        Ok(Subject::Run(Box::new(run), findings))
    };
    let Some(name) = &args.id else {
        let mut runs = store.runs_beside(store.find_run("latest")?)?;
        return if runs.len() == 1 { of_run(runs.remove(0)) } else { whole::of(&store, runs) };
    };
    let is_run = |it: &String| it.starts_with(name.as_str());
    if name != "latest" && store.run_ids()?.iter().any(is_run) {
        return of_run(store.find_run(name)?);
    }
    Ok(Subject::Finding(Box::new(stored::find_in(&args.store, name)?)))
}

fn render(subject: &Subject, format: ReportFormat) -> Result<String, Failure> {
    let base = here();
    let findings: Vec<&StoredFinding> = match subject {
        Subject::Finding(one) => vec![one],
        Subject::Run(_, all) => all.iter().collect(),
    };
    let programs: Vec<String> = findings.iter().map(|it| program_name(&it.info.target)).collect();
    let items: Vec<Item<'_>> = findings
        .iter()
        .zip(&programs)
        .map(|(stored, program)| item(stored, program, &base))
        .collect();
    let mut texts = Texts { findings: &findings, files: Vec::new() };
    let mut sources = |place: &Place| texts.line(place);
    Ok(match format {
        ReportFormat::Html => match subject {
            Subject::Finding(stored) => finding_page(stored, &base),
            Subject::Run(run, _) => run::page(run, items, &findings, &base, &mut sources),
        },
        ReportFormat::Sarif => formats::sarif(&items, env!("CARGO_PKG_VERSION")),
        ReportFormat::Junit => formats::junit(&suite(subject, &programs, &items), &mut sources),
        ReportFormat::Github => formats::annotations(&items),
        ReportFormat::Gitlab => formats::code_quality(&items),
        ReportFormat::Md => match (subject, items.as_slice()) {
            (Subject::Finding(_), [one]) => formats::markdown(one, &mut sources),
            (Subject::Run(run, _), items) => {
                let program = program_name(&run.info.target);
                let n_findings =
                    raddle_report::layout::number::count(items.len() as u64, "finding");
                let title = format!("{program}: {n_findings}");
                formats::markdown_of_run(&title, items, &mut sources)
            }
            (Subject::Finding(_), _) => unreachable!("bug: a finding is one"),
        },
        ReportFormat::Perfetto => match items.as_slice() {
            [one] => formats::perfetto(one),
            several => return Err(no_trace(several)),
        },
    })
}

/// A trace is of one execution.
fn no_trace(items: &[Item<'_>]) -> Failure {
    let ids: Vec<&str> = items.iter().map(|it| it.shown.id).collect();
    Failure::usage(match ids.as_slice() {
        [] => "a Perfetto trace shows one finding, but this run has no findings".to_owned(),
        ids => format!("a Perfetto trace shows one finding; choose one of {}", ids.join(", ")),
    })
}

fn suite<'a>(subject: &'a Subject, programs: &'a [String], items: &'a [Item<'a>]) -> Suite<'a> {
    let (date, elapsed_s) = match subject {
        Subject::Finding(stored) => (&stored.date, 0.0),
        Subject::Run(run, _) => {
            (&run.date, run.end.as_ref().map_or(0.0, |it| it.figures.elapsed_s()))
        }
    };
    let of_run = match subject {
        Subject::Run(run, _) => name_of(&run.info.target),
        Subject::Finding(_) => "",
    };
    let program = programs.first().map_or(of_run, String::as_str);
    Suite { program, date, elapsed_s, items }
}

/// Writes a file; makes its folder if that is ours.
fn write(path: &PathBuf, text: &str, is_ours: bool) -> Result<(), Failure> {
    let folder = path.parent().filter(|_| is_ours);
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, text)).map_err(|error| {
        Failure::usage(format!(
            "can't write {}: {error}; choose another file with -o",
            path.display()
        ))
    })
}

/// A finding as a brief in Markdown.
pub(crate) fn brief(stored: StoredFinding) -> Result<String, Failure> {
    render(&Subject::Finding(Box::new(stored)), ReportFormat::Md)
}

fn finding_page(stored: &StoredFinding, base: &str) -> String {
    let program = program_name(&stored.info.target);
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
    let passing = nearest.map(|it| pages::passing(&stored.finding, it));
    if let Some(passing) = &passing {
        let difference = difference.map(|it| it.passing_step);
        views.push(View { label: "nearest passing", finding: passing, orders: &[], difference });
    }
    let Item { shown, reason, .. } = item(stored, &program, base);
    let page = FindingPage { shown, program: &program, views, reason };
    pages::finding(&page, &mut |path| stored::source(stored, path))
}

fn item<'a>(stored: &'a StoredFinding, program: &'a str, base: &'a str) -> Item<'a> {
    let reproduced = stored.reproduced.if_tried();
    let StoredFinding { finding, id, info, .. } = stored;
    let explanation = stored.explanation.as_deref();
    let (seed, test) = (Some(info.seed), info.target.test.as_deref());
    let shown = Shown { finding, id, seed, reproduced, base, explanation, test };
    let sentences = |it: &Explanation| reason::sentences(finding, it, &Style::default());
    Item { shown, program, reason: explanation.map(sentences).unwrap_or_default() }
}

/// What the user calls the program.
fn program_name(target: &StoredTarget) -> String {
    name_of(target).to_owned()
}

fn name_of(target: &StoredTarget) -> &str {
    let path = target.sources.first().unwrap_or(&target.program);
    path.file_name().and_then(|it| it.to_str()).unwrap_or("?")
}

/// Source files, each read once.
struct Texts<'a> {
    findings: &'a [&'a StoredFinding],
    files: Vec<(String, Option<Vec<String>>)>,
}

impl Texts<'_> {
    /// A line, as it stands there (columns count its indentation), if the file is what it was when all was found.
    fn line(&mut self, place: &Place) -> Option<String> {
        let known = self.files.iter().position(|it| it.0 == place.file);
        let idx = known.unwrap_or_else(|| {
            self.files.push((place.file.clone(), self.read(&place.file)));
            self.files.len() - 1
        });
        let lines = self.files[idx].1.as_ref()?;
        lines.get((place.line as usize).checked_sub(1)?).cloned()
    }

    fn read(&self, file: &str) -> Option<Vec<String>> {
        let oldest = self.findings.iter().min_by_key(|it| it.found_ms)?;
        match stored::source(oldest, file) {
            Source::Text(text) => Some(text.lines().map(|it| it.trim_end().to_owned()).collect()),
            Source::Changed | Source::Missing => None,
        }
    }
}
