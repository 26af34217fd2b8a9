//! `raddle review`: keep a finding as a regression, suppress it, or throw it away. By options, or by asking.

mod rule;

use std::{
    fs,
    io::{self, BufRead as _, IsTerminal as _},
    ops::ControlFlow,
    path::PathBuf,
};

use raddle_explore::{
    Store, StoredFinding,
    regression::{EXTENSION, Regression},
    store::Review,
};

use raddle_report::words::fault;

use crate::{
    args::{Format, ReviewArgs},
    config,
    exit::{Exit, Failure},
    regressions::folder_of,
    stored,
    terminal::{Terminal, here},
};

/// What is to be done with a finding.
enum Decision {
    Keep,
    Suppress { reason: String, expires: Option<String> },
    Discard,
}

/// Decides about findings.
pub(crate) fn review(args: &ReviewArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let store = stored::store(&args.store);
    let decision = decision(args);
    if decision.is_some() && args.ids.is_empty() {
        let line = "no finding given; `raddle list` shows all findings";
        return Err(Failure::usage(line.to_owned()));
    }
    let findings = findings(args, &store)?;
    if findings.is_empty() {
        terminal.note("all findings are reviewed\n");
        return Ok(Exit::Clean);
    }
    if decision.is_none() && !(io::stdin().is_terminal() && terminal.is_error_terminal) {
        let line = "no decision given; use --keep, --suppress --reason TEXT, or --discard";
        return Err(Failure::usage(line.to_owned()));
    }
    for stored in &findings {
        match &decision {
            Some(decision) => carry_out(args, &store, stored, decision, terminal)?,
            None if decide(args, &store, stored, terminal).is_break() => break,
            None => {}
        }
    }
    Ok(Exit::Clean)
}

/// Shows a finding and asks until something could be done about it, or is not wanted.
fn decide(
    args: &ReviewArgs,
    store: &Store,
    stored: &StoredFinding,
    terminal: &mut Terminal,
) -> ControlFlow<()> {
    let style = terminal.out_style;
    terminal.out(&stored::text(stored, Format::Human, &here(), &style));
    loop {
        match ask(terminal) {
            Answer::Decided(decision) => {
                match carry_out(args, store, stored, &decision, terminal) {
                    Ok(()) => return ControlFlow::Continue(()),
                    // A date that is none, a file that can't be written: another answer may do.
                    Err(failure) => terminal.error(&failure),
                }
            }
            Answer::Later => return ControlFlow::Continue(()),
            Answer::Quit => return ControlFlow::Break(()),
        }
    }
}

fn decision(args: &ReviewArgs) -> Option<Decision> {
    if args.keep {
        return Some(Decision::Keep);
    }
    if args.discard {
        return Some(Decision::Discard);
    }
    let reason = args.reason.clone().filter(|_| args.suppress)?;
    Some(Decision::Suppress { reason, expires: args.expires.clone() })
}

/// Those named, else all that nothing was decided about.
fn findings(args: &ReviewArgs, store: &Store) -> Result<Vec<StoredFinding>, Failure> {
    if !args.ids.is_empty() {
        return args.ids.iter().map(|it| stored::find_in(&args.store, it)).collect();
    }
    let mut open = Vec::new();
    for listed in store.list()? {
        let stored = store.find(&listed.id)?;
        if stored.review.is_none() {
            open.push(stored);
        }
    }
    Ok(open)
}

enum Answer {
    Decided(Decision),
    Later,
    Quit,
}

/// Asks until there is an answer.
fn ask(terminal: &mut Terminal) -> Answer {
    loop {
        let words =
            "\nkeep as a regression test (k), suppress (s), discard (d), later (l), quit (q)? ";
        match line(words, terminal).as_deref() {
            Some("k" | "keep") => return Answer::Decided(Decision::Keep),
            Some("d" | "discard") => return Answer::Decided(Decision::Discard),
            Some("l" | "later" | "") => return Answer::Later,
            Some("q" | "quit") | None => return Answer::Quit,
            Some("s" | "suppress") => {
                let reason = line("reason: ", terminal).unwrap_or_default();
                if reason.is_empty() {
                    terminal.note("a suppression requires a reason\n");
                    continue;
                }
                let expires = line("expires on (e.g. 2027-01-31, or empty): ", terminal);
                let expires = expires.filter(|it| !it.is_empty());
                return Answer::Decided(Decision::Suppress { reason, expires });
            }
            Some(_) => terminal.note("answer with k, s, d, l or q\n"),
        }
    }
}

/// What the user answers; `None` at the end of the input.
fn line(question: &str, terminal: &mut Terminal) -> Option<String> {
    terminal.note(question);
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(n) if n > 0 => Some(line.trim().to_owned()),
        _ => None,
    }
}

fn carry_out(
    args: &ReviewArgs,
    store: &Store,
    stored: &StoredFinding,
    decision: &Decision,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let id = &stored.id;
    match decision {
        Decision::Keep => {
            let file = keep(args, stored)?;
            note(store, stored, Review::Kept)?;
            let file = file.display();
            terminal.note(&format!("kept {id}: {file}; add it to version control\n"));
        }
        Decision::Suppress { reason, expires } => {
            let rule = rule::of(stored, reason, expires.as_deref())?;
            let file = config::add_rule(&rule)?;
            note(store, stored, Review::Suppressed)?;
            terminal.note(&format!("suppressed {id}: added a rule to {file}\n"));
        }
        Decision::Discard => {
            store.discard(id)?;
            terminal.note(&format!("discarded {id}\n"));
        }
    }
    Ok(())
}

/// A finding's own file, which is in no store, has nothing to be noted in.
fn note(store: &Store, stored: &StoredFinding, review: Review) -> Result<(), Failure> {
    match store.find(&stored.id) {
        Ok(kept) if kept.run == stored.run => Ok(store.set_review(&kept, review)?),
        _ => Ok(()),
    }
}

/// Writes the regression's file.
fn keep(args: &ReviewArgs, stored: &StoredFinding) -> Result<PathBuf, Failure> {
    let folder = args.regressions.join(folder_of(&stored.info.target));
    let file = folder.join(format!("{}.{EXTENSION}", stored.id));
    let text = Regression::of(stored, &here()).to_text(&fault::line(&stored.finding));
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, text));
    written.map_err(|error| {
        Failure::usage(format!(
            "can't write {}: {error}; choose another directory with --regressions",
            file.display()
        ))
    })?;
    Ok(file)
}
