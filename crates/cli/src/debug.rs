//! `raddle debug`: the schedule of a finding again, on kernel threads, stopped at a step under gdb.
//!
//! The execution waits before `main` until gdb is attached to it; then gdb goes to the step by a breakpoint
//! on a function of the runtime. To go back is to begin again: gdb ends and says to which step, and we run the
//! schedule once more. No watchdog looks meanwhile.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    thread::{self, JoinHandle},
    time::Duration,
};

use raddle_explore::{Block, StoredFinding, Target as _};
use raddle_launch::debugger;
use raddle_model::{Carrier, Finding, Plan, Record};
use raddle_plan::entry;

use crate::{
    args::DebugArgs,
    exit::{Exit, Failure},
    replay, stored,
    terminal::Terminal,
};

/// Commands of ours for gdb, in Python. The tables stand before it.
const COMMANDS: &str = include_str!("debug/commands.py");
/// A century: a user who thinks is no hang.
const NO_HANG_MS: u64 = 100 * 365 * 86_400_000;

/// Debugs a finding.
pub(crate) fn debug(args: &DebugArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let mut stored = stored::find(&args.common, &args.id)?;
    if !debugger::has_gdb() {
        return Err(Failure::usage(
            "gdb is missing: install the package `gdb` (Debian, Ubuntu: apt install gdb; Fedora: dnf \
             install gdb)"
                .to_owned(),
        ));
    }
    let n_steps = stored.finding.n_steps_dropped + stored.finding.steps.len() as u64;
    let mut at = match args.at {
        Some(step) if n_steps < step => {
            let line = format!("{} has {n_steps} steps: --at {step} is beyond them", stored.id);
            return Err(Failure::usage(line));
        }
        Some(step) => step,
        None => n_steps.max(1),
    };
    let folder = Folder::new()?;
    stored.info.target.bounds.hang_timeout_ms = NO_HANG_MS;
    let file = folder.0.join("pid").display().to_string();
    stored.info.target.env.push(("RADDLE_DEBUG".to_owned(), file));
    loop {
        let again = once(args, &stored, at, &folder.0, terminal)?;
        match again {
            Some(step) => at = step,
            None => return Ok(Exit::Clean),
        }
    }
}

/// One session of gdb; the step to which the user wants to go back, if that is so.
fn once(
    args: &DebugArgs,
    stored: &StoredFinding,
    at: u64,
    folder: &Path,
    terminal: &mut Terminal,
) -> Result<Option<u64>, Failure> {
    let (pid_file, again_file) = (folder.join("pid"), folder.join("again"));
    for file in [&pid_file, &again_file] {
        // It need not be there.
        let _ = fs::remove_file(file);
    }
    let script = folder.join("raddle.py");
    let text = format!("{}{COMMANDS}", tables(&stored.finding, at, &again_file));
    fs::write(&script, text).map_err(|error| cannot(&script, &error))?;
    let now = replay::open(stored, Carrier::Threads, terminal)?;
    let mut session = now.target.open()?;
    let plan = &stored.finding.plan;
    // Where choices are recorded, steps meet the debugger.
    let record = Record { options: true, ..plan.record };
    let entries = vec![entry(plan.picker, plan.seed)];
    let exit_is_fine = stored.info.exit_is_fine;
    let plan = Plan { record, ..plan.clone() };
    let block = Block { plan, entries, exit_is_fine, common: 0 };
    let execution = thread::spawn(move || session.run(&block).map(|_| ()));
    let pid = wait_for(&pid_file, &execution)?;
    let ended = debugger::gdb(pid, &script, &args.commands, args.batch);
    debugger::end(pid);
    ended.map_err(|error| Failure::usage(format!("failed to start gdb: {error}")))?;
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
                line: "the program ended before a debugger could be attached".to_owned(),
            });
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// What the commands have to know, as Python.
fn tables(finding: &Finding, at: u64, again: &Path) -> String {
    let steps: Vec<(u32, String)> = finding
        .steps
        .iter()
        .map(|it| {
            let object =
                finding.objects.get(it.object.idx()).map(String::as_str).unwrap_or_default();
            let place = finding.places.get(it.place as usize);
            let file = place.map(|it| it.file.rsplit('/').next().unwrap_or_default().to_owned());
            let at = file.filter(|it| !it.is_empty()).zip(place);
            let at = at.map(|(file, it)| format!(" at {file}:{}", it.line)).unwrap_or_default();
            let words = format!("{} {object}", it.kind.verb());
            (it.thread.0, format!("{}{at}", words.trim_end()))
        })
        .collect();
    // JSON of numbers, texts and lists is Python, too.
    let steps = serde_json::to_string(&steps).expect("bug: numbers and texts have a JSON form");
    let again = serde_json::Value::from(again.display().to_string());
    format!(
        "STEPS = {steps}\nN_DROPPED = {}\nAT = {at}\nAGAIN = {again}\n",
        finding.n_steps_dropped
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
    Failure::usage(format!("failed to write {}: {error}", path.display()))
}
