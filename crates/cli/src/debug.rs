//! `raddle debug`: the schedule of a finding again, on kernel threads, stopped at a step under gdb or lldb.
//!
//! The execution waits before `main` until the debugger is attached to it; then it goes to the step by a breakpoint
//! on a function of the runtime. To go back is to begin again: gdb ends and says to which step, and we run the
//! schedule once more. No watchdog looks meanwhile. Under lldb, which can't be counted on to have Python, there is
//! no way back, and the next switch is where its one breakpoint stops next. An editor leads gdb through its machine
//! interface (`--mi`): it says when it listens (`raddle start`), and there is no way back either.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process,
    thread::{self, JoinHandle},
    time::Duration,
};

use raddle_explore::{Block, StoredFinding, Target as _};
use raddle_launch::debugger::{self, Debugger, Lack};
use raddle_model::{Carrier, Certainty, Finding, NamedObject, Plan, Record};
use raddle_report::{Style, finding::diagnosis::Diagnosis};

use crate::{
    args::{DebugArgs, DebuggerName},
    exit::{Exit, Failure},
    replay, stored,
    terminal::Terminal,
};

use raddle_trace::protocol;

/// Commands of ours for gdb, in Python. The tables stand before it.
const COMMANDS: &str = include_str!("debug/commands.py");
/// A century: a user who thinks is no hang.
const NO_HANG_MS: u64 = 100 * 365 * 86_400_000;

/// Debugs a finding.
pub(crate) fn debug(args: &DebugArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let mut stored = stored::find(&args.common, &args.id)?;
    let debugger = choose(args.debugger.or(args.mi.then_some(DebuggerName::Gdb)))?;
    let n_steps = stored.finding.n_steps_dropped + stored.finding.steps.len() as u64;
    let mut at = match args.at {
        Some(step) if n_steps < step => {
            let line = format!("--at {step} is past the end: {} has {n_steps} steps", stored.id);
            return Err(Failure::usage(line));
        }
        Some(step) => step,
        None => before_bug(&stored.finding).unwrap_or(n_steps.max(1)),
    };
    let folder = Folder::new()?;
    stored.info.target.bounds.hang_timeout_ms = NO_HANG_MS;
    let file = folder.0.join("pid").display().to_string();
    stored.info.target.env.push((protocol::name(protocol::DEBUG_VARIABLE).to_owned(), file));
    let mut commands = args.commands.clone();
    let mut is_first = true;
    loop {
        let (is_batch, is_mi) = (args.batch, args.mi);
        let visit = Visit { debugger, at, commands: &commands, is_batch, is_mi, is_first };
        is_first = false;
        match once(&visit, &stored, &folder.0, terminal)? {
            Some(step) => at = step,
            None => return Ok(Exit::Clean),
        }
        // The user's commands go on where they went back.
        let n_done = commands.iter().position(|it| it == "prev-switch").map(|it| it + 1);
        commands.drain(..n_done.unwrap_or(commands.len()));
    }
}

/// The step in which it goes wrong, where that is known to be another than the last: the second of two accesses, or
/// the last step before it if it is none itself.
fn before_bug(finding: &Finding) -> Option<u64> {
    let accesses = &finding.evidence.as_deref()?.accesses;
    let second = accesses.iter().max_by_key(|it| it.step)?;
    let step = finding.step(second.step)?;
    let is_step = (step.thread, step.kind) == (second.thread, second.kind);
    let at = second.step + u64::from(is_step);
    (finding.certainty == Certainty::Shown).then_some(at.max(1))
}

/// The debugger that is wanted, else gdb, else lldb, if it has what is needed.
fn choose(wanted: Option<DebuggerName>) -> Result<Debugger, Failure> {
    let of = |debugger: Debugger| match debugger.look() {
        Ok(()) => Ok(debugger),
        Err(lack) => Err(Failure::usage(missing(debugger, lack))),
    };
    match wanted {
        Some(DebuggerName::Gdb) => of(Debugger::Gdb),
        Some(DebuggerName::Lldb) => of(Debugger::Lldb),
        None => of(Debugger::Gdb).or_else(|first| of(Debugger::Lldb).map_err(|_| first)),
    }
}

fn missing(debugger: Debugger, lack: Lack) -> String {
    let name = match debugger {
        Debugger::Gdb => "gdb",
        Debugger::Lldb => "lldb",
    };
    match lack {
        Lack::Missing => format!(
            "{name} is not installed; install the package `{name}` (Debian, Ubuntu: apt install {name}; Fedora: \
             dnf install {name})"
        ),
        Lack::NoPython => format!(
            "this {name} was built without Python, which raddle's commands require; install the distribution's \
             package `{name}` or use --debugger lldb"
        ),
    }
}

/// One session of a debugger.
struct Visit<'a> {
    debugger: Debugger,
    /// The step before which it stops.
    at: u64,
    commands: &'a [String],
    is_batch: bool,
    /// Does an editor lead it, through gdb's machine interface?
    is_mi: bool,
    /// Is it the first one of several, which says what the finding is?
    is_first: bool,
}

/// One session; the step to which the user wants to go back, if that is so.
fn once(
    visit: &Visit<'_>,
    stored: &StoredFinding,
    folder: &Path,
    terminal: &mut Terminal,
) -> Result<Option<u64>, Failure> {
    let (pid_file, again_file) = (folder.join("pid"), folder.join("again"));
    for file in [&pid_file, &again_file] {
        // It need not be there.
        let _ = fs::remove_file(file);
    }
    let Visit { debugger, at, commands, is_batch, is_mi, is_first } = *visit;
    let banner = if is_first { banner(stored) } else { String::new() };
    let (script, text) = match debugger {
        Debugger::Gdb => {
            let tables = tables(&stored.finding, at, &again_file, &banner);
            (folder.join("raddle.py"), format!("{tables}{COMMANDS}"))
        }
        Debugger::Lldb => (folder.join("raddle.lldb"), lldb_commands(&stored.finding, at)),
    };
    let now = replay::open(stored, Carrier::Threads, terminal)?;
    let mut session = now.target.open()?;
    let plan = &stored.finding.plan;
    // Where choices are recorded, steps meet the debugger.
    let record = Record { options: true, ..plan.record };
    let block = Block::one(Plan { record, ..plan.clone() }, stored.info.exit_is_fine);
    let execution = thread::spawn(move || session.run(&block).map(|_| ()));
    let pid = wait_for(&pid_file, &execution)?;
    let for_editor = if is_mi { pid } else { 0 };
    let text = if debugger == Debugger::Gdb { format!("PID = {for_editor}\n{text}") } else { text };
    fs::write(&script, text).map_err(|error| cannot(&script, &error))?;
    let ended = match is_mi {
        true => debugger::serve(&script, commands),
        false => debugger.attach(pid, &script, commands, is_batch),
    };
    debugger::end(pid);
    ended.map_err(|error| Failure::usage(format!("can't start the debugger: {error}")))?;
    let again = fs::read_to_string(&again_file).ok().and_then(|it| it.trim().parse().ok());
    // What it came to is not asked for.
    let _ = execution.join();
    Ok(again)
}

/// The process that waits for its debugger.
fn wait_for<T>(file: &Path, execution: &JoinHandle<T>) -> Result<u32, Failure> {
    loop {
        let told = fs::read_to_string(file).unwrap_or_default();
        if let Some(pid) = told.strip_suffix('\n').and_then(|it| it.parse().ok()) {
            return Ok(pid);
        }
        if execution.is_finished() {
            return Err(Failure {
                exit: Exit::NotReproduced,
                words: String::new(),
                line: "the program ended before the debugger was attached".to_owned(),
            });
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// What the commands have to know, as Python.
fn tables(finding: &Finding, at: u64, again: &Path, banner: &str) -> String {
    let steps: Vec<(u32, String)> = finding
        .steps
        .iter()
        .map(|it| {
            let object = finding.objects.get(it.object.idx());
            let object = object.map(NamedObject::to_string).unwrap_or_default();
            let place = finding.places.get(it.place as usize);
            let file = place.map(|it| it.file.rsplit('/').next().unwrap_or_default().to_owned());
            let at = file.filter(|it| !it.is_empty()).zip(place);
            let at = at.map(|(file, it)| format!(" at {file}:{}", it.line)).unwrap_or_default();
            let words = format!("{} {object}", it.kind.word());
            (it.thread.0, format!("{}{at}", words.trim_end()))
        })
        .collect();
    let threads: BTreeMap<u32, String> = finding
        .threads
        .iter()
        .map(|it| {
            let title = if it.name.is_empty() { &it.function } else { &it.name };
            (it.thread.0, format!("T{} {title}", it.thread.0).trim_end().to_owned())
        })
        .collect();
    let threads = serde_json::to_string(&threads).expect("bug: numbers and texts have a JSON form");
    // JSON of numbers, texts and lists is Python, too.
    let steps = serde_json::to_string(&steps).expect("bug: numbers and texts have a JSON form");
    let again = serde_json::Value::from(again.display().to_string());
    let banner = serde_json::Value::from(banner);
    format!(
        "STEPS = {steps}\nTHREADS = {threads}\nN_DROPPED = {}\nAT = {at}\nAGAIN = {again}\nBANNER = {banner}\n",
        finding.n_steps_dropped
    )
}

/// What the finding is, in the order of its report: the sentence, the lines that matter, the orderings.
fn banner(stored: &StoredFinding) -> String {
    let style = Style::default();
    let diagnosis = Diagnosis::of(&stored.finding, stored.explanation.as_deref(), &style);
    let mut lines = vec![format!("raddle: {}: {}", stored.id, diagnosis.sentence)];
    for span in &diagnosis.spans {
        let at = span.place.text();
        let at = if at.is_empty() { at } else { format!(" at {at}") };
        lines.push(format!("raddle:   {}{at}", span.label()));
    }
    lines.extend(diagnosis.order.map(|it| format!("raddle:   order: {it}")));
    lines.join("\n") + "\n"
}

/// So many switches are stopped at under lldb.
const LLDB_SWITCHES_MAX: usize = 200;

/// The same for lldb: it stops at the step, and then at each switch that comes later.
fn lldb_commands(finding: &Finding, at: u64) -> String {
    let pairs = finding.steps.windows(2).enumerate();
    let switches = pairs.filter(|(_, pair)| pair[0].thread != pair[1].thread);
    let steps = switches.map(|(idx, _)| finding.n_steps_dropped + idx as u64 + 2);
    let later = steps.filter(|it| at < *it).take(LLDB_SWITCHES_MAX);
    let stops: Vec<String> =
        std::iter::once(at).chain(later).map(|it| format!("$rdi == {it}")).collect();
    format!(
        "process handle SIGSYS --stop false --notify false --pass true\n\
         process handle SIGILL --stop false --notify false --pass true\n\
         breakpoint set --name raddle_about_to_step --skip-prologue false --condition '{}'\n\
         expression -l c -- *(int *)&RADDLE_DEBUGGER_IS_THERE = 1\n\
         command alias next-switch process continue\n\
         process continue\n\
         register read rdi rsi\n\
         thread backtrace\n",
        stops.join(" || ")
    )
}

/// A folder of our own, gone when we are.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let path = std::env::temp_dir().join(format!("raddle-debug-{}", process::id()));
        fs::create_dir_all(&path).map_err(|error| cannot(&path, &error))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of it is the smaller harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("can't write {}: {error}", path.display()))
}
