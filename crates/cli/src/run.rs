//! `raddle run`: prepare the program, explore, say what was found.

#[cfg(test)]
mod tests;

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};

use raddle_explore::{
    Budget, Campaign, Focus, Found, Method, Options, Outcome, Saved, SearchOptions, StoredTarget,
    Target, Until,
    classes::Classes,
    store::{About, RunEnd, RunInfo, StoredSearch, hash_program},
};
use raddle_launch::{CacheError, Native, Symbols};
use raddle_plan::{Strategy, search::SearchSpec};
use raddle_report::{
    campaign::{
        closing::{self, Doubts, Uncontrolled},
        progress::Heading,
    },
    formats::{self, json},
    layout::number,
    manual,
    words::{escape, fault},
};

use crate::{
    args::{Format, ReplayArgs, RunArgs},
    asked::with_asked,
    ci,
    exit::{Exit, Failure},
    focus,
    native::{self, Launch},
    observe::{Watch, Watcher, status},
    prepare::{Named, prepare},
    record::Record,
    regressions, replay, search, signals, stored,
    terminal::{Terminal, here},
    total,
};

/// How often a finding is run again to see whether it comes back.
const CONFIRMATIONS: u32 = 5;

/// Explores a program.
pub(crate) fn run(args: &RunArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    check(args)?;
    match &args.resume {
        None => {
            let RunArgs { sources, args: program_args, conditions, .. } = args;
            let program = prepare(Named { sources, args: program_args, conditions }, terminal)?;
            run_program(args, &program, None, terminal)
        }
        Some(name) => {
            let resumed = search::resume(args, name, terminal)?;
            run_program(&resumed.args, &resumed.program, Some(resumed.search), terminal)
        }
    }
}

/// Options that contradict each other, or can't be.
fn check(args: &RunArgs) -> Result<(), Failure> {
    let files = [("--dot", &args.dot), ("--classes", &args.classes), ("--hapset", &args.hapset)];
    for (option, path) in files {
        require_file(option, path.as_deref())?;
    }
    if args.dot.is_some() && !search::is_total(args) {
        return Err(Failure::usage(format!(
            "--dot requires `--strategy total`, but the strategy is `{}`",
            args.strategy
        )));
    }
    if args.until_saturated.is_some() && matches!(args.strategy, Strategy::Search(_)) {
        return Err(Failure::usage(format!(
            "--until-saturated requires a random strategy, but `{}` is systematic; remove one of the two",
            args.strategy
        )));
    }
    search::check_memory_model(&args.conditions, &args.strategy)?;
    let is_guided = matches!(args.strategy, Strategy::Search(SearchSpec::Hapset(_)));
    if args.hapset.is_some() && !is_guided {
        return Err(Failure::usage(format!(
            "--hapset requires `--strategy hapset`, but the strategy is `{}`; remove one of the two",
            args.strategy
        )));
    }
    Ok(())
}

/// What will be written must not be a directory; that is said before anything runs.
pub(crate) fn require_file(option: &str, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let shown = path.display();
    if path.is_dir() {
        return Err(Failure::usage(format!("{option} {shown} is a directory; name a file")));
    }
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    match parent.filter(|it| !it.is_dir()) {
        None => Ok(()),
        Some(parent) => Err(Failure::usage(format!(
            "{option} {shown}: the directory {} does not exist; create it first",
            parent.display()
        ))),
    }
}

pub(crate) fn run_program(
    args: &RunArgs,
    program: &StoredTarget,
    search: Option<StoredSearch>,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let stop = signals::catch();
    let until = Until::at(args.limits().1.map(|it| Instant::now() + it));
    let asked = open(args, program, stop.flag())?.asked(&until)?;
    if let Some(id) = asked.replay {
        let common = args.common.clone();
        let args =
            ReplayArgs { id, times: 1, carrier: None, show_output: false, original: false, common };
        return replay::replay(&args, terminal);
    }
    let args = &with_asked(args, &asked)?;
    let target = open(args, program, stop.flag())?;
    let exit = explore(args, program, search, &target, stop.flag(), terminal)?;
    Ok(stop.exit().unwrap_or(exit))
}

fn open(
    args: &RunArgs,
    program: &StoredTarget,
    stop: &Arc<AtomicBool>,
) -> Result<Native, CacheError> {
    let is_search = matches!(args.strategy, Strategy::Search(_));
    native::open(Launch {
        program: program.program.clone(),
        target: program,
        carrier: args.conditions.carrier.into(),
        is_fresh: args.conditions.fresh,
        checkpoints: if is_search { args.checkpoints / args.n_jobs() as u64 } else { 0 },
        events: is_search.then_some(search::EVENTS),
        stop: Arc::clone(stop),
    })
}

/// Explores a target, tells and keeps what is found.
fn explore(
    args: &RunArgs,
    program: &StoredTarget,
    search: Option<StoredSearch>,
    target: &dyn Target,
    stop: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let known = classes(args, program)?;
    announce(args, program, terminal);
    let store = stored::store(&args.common.store);
    let info = info(args, program);
    let program_hash = info.program_hash;
    let (mut record, mut ids) = Record::begin(&store, info, terminal);
    if let Some(search) = &search {
        record.take_over(store.findings_of(&search.run)?, terminal);
        search::tell_earlier(args, &search.saved, terminal);
    }
    let focus = focus::focus(args)?;
    let method = match focus.is_empty() {
        true => search::method(args, program_hash, search)?,
        false => focus::method(args, &focus)?,
    };
    let mut options = Options { focus, ..options(args, method) };
    options.deadline = options.time.map(|it| Instant::now() + it);
    let until = Until::at(options.deadline);
    options.exposed = known.as_ref().map(|it| it.exposed.clone()).unwrap_or_default();
    let total = total::prepare(args, &program.program, &until, stop, terminal);
    if let (Some(search), Some(total)) = (options.method.search_mut(), &total) {
        search.flows = total.sliced.flows.clone();
    }
    let goes_on = |it: &SearchOptions| it.saved.as_ref().is_some_and(Saved::has_begun);
    let search = options.method.search();
    let mut journal = search.and_then(|it| record.search(search::settings(args), goes_on(it)));
    let mut watcher = Watcher::new(watch(args, program), record, terminal);
    let mut symbols = Symbols::new();
    let first = regressions::run_first(args, program, target, &until, &mut symbols, &mut watcher)?;
    if regressions::is_enough(args, &first) {
        return Ok(Exit::Findings);
    }
    regressions::take_ids(&first, &mut ids);
    let mut campaign = Campaign::new(target, options).with_ids(ids);
    if let Some(journal) = &mut journal {
        campaign = campaign.with_journal(journal);
    }
    let outcome = campaign.run(&mut symbols, &mut watcher, stop);
    drop(campaign);
    watcher.erase();
    let mut outcome = outcome?;
    regressions::add_to(&mut outcome, first);
    watcher.set_resume(args, journal.as_ref());
    search::keep_covered(args, program_hash, &outcome)?;
    let drawings = total.map(|it| it.drawings(&outcome, &mut symbols)).unwrap_or_default();
    if let Some(file) = &args.dot {
        let text: String = drawings.iter().map(formats::dot).collect();
        fs::write(file, text)
            .map_err(|error| Failure::usage(format!("--dot {}: {error}", file.display())))?;
    }
    watcher.record.finish(RunEnd { drawings, ..RunEnd::of(&outcome) }, watcher.terminal);
    for found in &outcome.findings {
        watcher.tell(found);
    }
    let mut seen = ci::Seen::default();
    seen.add(&outcome.findings);
    if let Some(file) = &args.write_baseline {
        seen.write(file)?;
    }
    watcher.terminal.note(&args.known.note(&seen));
    outcome.findings.retain(|it| !args.known.knows(&it.id));
    close(args, &outcome, &mut watcher);
    if let (Some(known), Some(file)) = (known, &args.classes) {
        known.write(file, &outcome.exposed)?;
    }
    tell_suppressed(args, &outcome, watcher.terminal);
    watcher.record.forget_clean_runs(&store);
    Ok(exit(args, &outcome))
}

/// What is known of the program's storage, if that is kept.
fn classes(args: &RunArgs, program: &StoredTarget) -> Result<Option<Classes>, Failure> {
    let Some(file) = &args.classes else { return Ok(None) };
    let build = hash_program(&program.program).unwrap_or_default();
    Ok(Some(Classes::read(file, &name(program), build)?))
}

fn exit(args: &RunArgs, outcome: &Outcome) -> Exit {
    let is_controlled = outcome.figures.stability >= 100.0
        && outcome.figures.n_inconclusive + outcome.figures.n_spent == 0
        && outcome.uncontrolled.is_empty();
    if outcome.baseline_failure.is_some() {
        Exit::Baseline
    } else if outcome.findings.iter().any(is_shown) {
        Exit::Findings
    } else if !outcome.has_run() || args.strict && !(is_controlled && outcome.findings.is_empty()) {
        Exit::Inconclusive
    } else {
        Exit::Clean
    }
}

/// Did it happen? Potential findings and timing assumptions are warnings.
fn is_shown(found: &Found) -> bool {
    !found.finding.is_warning()
}

/// Says what was not told, and which rules were for nothing.
fn tell_suppressed(args: &RunArgs, outcome: &Outcome, terminal: &mut Terminal) {
    let rules = &args.rules.rules;
    for suppressed in &outcome.suppressed {
        let Some(rule) = rules.get(suppressed.rule) else { continue };
        let told = closing::Suppressed {
            finding: &suppressed.finding,
            count: suppressed.count,
            origin: &rule.origin,
            reason: &rule.reason,
        };
        match args.common.message_format {
            Format::Json => terminal.out(&json::suppressed(&told)),
            Format::Human | Format::Short => {
                let note = closing::suppressed(&told, &terminal.error_style);
                terminal.note(&note);
            }
        }
    }
    let is_whole = !outcome.figures.interrupted && (outcome.findings.is_empty() || args.keep_going);
    for (idx, rule) in rules.iter().enumerate().filter(|_| is_whole) {
        if !outcome.suppressed.iter().any(|it| it.rule == idx) {
            terminal.warning(&format!("{}: unused suppression: {}", rule.origin, rule.text));
        }
    }
}

/// Says what is about to happen, in one line.
fn announce(args: &RunArgs, target: &StoredTarget, terminal: &mut Terminal) {
    if args.common.message_format == Format::Json {
        return;
    }
    if let Some(note) = args.jobs_note() {
        terminal.warning(&note);
    }
    let name = name(target);
    let workers = number::count(args.n_jobs() as u64, "worker");
    let (executions, time) = args.limits();
    let executions = executions.map(|it| number::count(it, "execution"));
    let time = time.map(|it| number::seconds(it.as_secs_f64()));
    let budget: Vec<String> = executions.into_iter().chain(time).collect();
    let budget = budget.join(" or ");
    let hint = if args.is_default_budget() { " (--execs, --time)" } else { "" };
    terminal.note(&format!("exploring {name}: {budget}{hint}, {workers}, seed {}\n", args.seed()));
}

/// The last words.
fn close(args: &RunArgs, outcome: &Outcome, watcher: &mut Watcher<'_>) {
    let style = watcher.terminal.out_style;
    let status = status(outcome, watcher.resume.as_deref(), true, &style);
    if let Some(finding) = &outcome.baseline_failure {
        let text = watcher.text(finding, "", None, None);
        watcher.terminal.out(&text);
    }
    if !outcome.has_run() && !outcome.figures.interrupted {
        watcher.terminal.error(&nothing_ran(args, outcome));
    }
    let inconclusive: Vec<Uncontrolled<'_>> = outcome
        .inconclusive
        .iter()
        .map(|it| Uncontrolled {
            what: fault::standstill(&it.why),
            call: it.why.call(),
            count: it.count,
            stack: &it.stack,
        })
        .collect();
    if args.common.message_format == Format::Json {
        let closing = json::Closing {
            seed: args.seed(),
            interrupted: outcome.figures.interrupted,
            single_threaded: outcome.figures.single_threaded,
            uncontrolled: outcome.uncontrolled.len() as u64,
            uncontrolled_calls: &doubtful(&outcome.uncontrolled),
            inconclusive_calls: &inconclusive,
            baseline_failed: outcome.baseline_failure.is_some(),
        };
        watcher.terminal.out(&json::summary(&status, &closing));
        return;
    }
    if outcome.baseline_failure.is_some() {
        let line =
            "the program fails before it creates a second thread; the schedule is not the cause";
        let failure = Failure { exit: Exit::Baseline, words: String::new(), line: line.to_owned() };
        watcher.terminal.error(&failure);
        return;
    }
    if status.findings.len() > 1 {
        watcher.terminal.out(&closing::tallies(&status, &style));
    }
    let uncontrolled = doubtful(&outcome.uncontrolled);
    if let Some(found) = outcome.findings.first().filter(|_| watcher.terminal.is_error_terminal) {
        let codes = manual::of_finding(&found.finding, None);
        watcher
            .terminal
            .note(&format!("for more about this kind of finding: raddle explain {}\n", codes[0]));
    }
    let style = watcher.terminal.error_style;
    let doubts = Doubts {
        is_single_threaded: outcome.figures.single_threaded && outcome.n_ended() > 0,
        inconclusive: &inconclusive,
        is_given_up: outcome.is_given_up,
        uncontrolled: &uncontrolled,
    };
    let warnings = closing::warnings(&status, &doubts, &here(), &style);
    watcher.terminal.note(&warnings);
    let style = watcher.terminal.out_style;
    // Where the first finding ends it, nobody wants to know what else there would be.
    let is_whole = outcome.n_ended() > 0 && (outcome.findings.is_empty() || args.keep_going);
    let is_whole = is_whole && args.common.message_format != Format::Short;
    if status.search.is_none() && is_whole && !outcome.figures.single_threaded {
        watcher.terminal.out(&raddle_report::campaign::sampling::closing(&status.figures, &style));
    }
    if !args.keep_going {
        watcher.terminal.out(&closing::constant(&status, args.until_first));
    }
    watcher.terminal.out(&closing::explored(&status, outcome.figures.interrupted, &style));
    if let Some(search) = status.search.as_ref().filter(|_| !outcome.figures.single_threaded) {
        watcher.terminal.out(&raddle_report::campaign::search::closing(&status, search, &style));
    }
}

/// What could not be controlled, as reports want it.
fn doubtful(all: &[raddle_model::Uncontrolled]) -> Vec<Uncontrolled<'_>> {
    all.iter()
        .map(|it| Uncontrolled {
            what: escape::words(it.what),
            call: it.what.call(),
            count: it.count,
            stack: &it.stack,
        })
        .collect()
}

/// Not one execution has come to its end, so nothing is known.
fn nothing_ran(args: &RunArgs, outcome: &Outcome) -> Failure {
    let within = args.limits().1.map(|it| format!(" within {}", number::seconds(it.as_secs_f64())));
    let within = within.filter(|_| !outcome.is_given_up).unwrap_or_default();
    let cut = outcome.cut_at.as_ref();
    let cut = cut.map(|it| closing::cut_at(it.n_steps, &it.places, &here()));
    // More time does not help those that wait for what never comes.
    let (cut, help) = match outcome.inconclusive.as_slice() {
        [] => (cut.unwrap_or_default(), "; raise --time or reduce the program's work"),
        _ => (String::new(), ""),
    };
    let line = format!("no execution finished{within}{cut}: nothing was tested{help}");
    Failure { exit: Exit::Inconclusive, words: String::new(), line }
}

pub(crate) fn options(args: &RunArgs, method: Method) -> Options {
    let (executions, time) = args.limits();
    Options {
        seed: args.seed(),
        executions,
        time,
        deadline: None,
        jobs: args.n_jobs(),
        keep_going: args.keep_going,
        until_first: args.until_first,
        exit_is_fine: args.conditions.exit_ok,
        n_alone: 1,
        method,
        saturation: args.until_saturated,
        conditions: search::conditions(args),
        orders: Vec::new(),
        exposed: Vec::new(),
        verbose: args.show_output,
        confirmations: CONFIRMATIONS,
        explain: (!args.no_explain).then(Budget::default),
        detect: search::detection(args),
        suppressions: args.rules.clone(),
        focus: Focus::default(),
    }
}

pub(crate) fn info(args: &RunArgs, target: &StoredTarget) -> RunInfo {
    RunInfo {
        target: target.clone(),
        // A program that can't be read will not start either, and that is said better there.
        program_hash: hash_program(&target.program).unwrap_or_default(),
        carrier: args.conditions.carrier.into(),
        seed: args.seed(),
        exit_is_fine: args.conditions.exit_ok,
        invocation: std::env::var("RADDLE_INVOCATION").ok().filter(|it| !it.is_empty()),
        about: About {
            strategy: args.strategy.to_string(),
            n_jobs: args.n_jobs() as u64,
            system: system(),
        },
    }
}

/// `Linux 6.1.0 x86_64`.
fn system() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {} {}", release.trim(), std::env::consts::ARCH)
}

fn watch(args: &RunArgs, target: &StoredTarget) -> Watch {
    let (executions, time) = args.limits();
    Watch {
        format: args.common.message_format,
        mode: args.progress,
        heading: Heading {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: name(target),
            jobs: args.n_jobs(),
            strategy: args.strategy.to_string(),
            time_s: time.map(|it| it.as_secs_f64()),
            executions,
        },
        seed: args.seed(),
        base: here(),
        known: args.known.clone(),
    }
}

/// What the user calls the program.
fn name(target: &StoredTarget) -> String {
    let path = target.sources.first().unwrap_or(&target.program);
    path.file_name().unwrap_or(Path::new("?").as_os_str()).to_string_lossy().into_owned()
}
