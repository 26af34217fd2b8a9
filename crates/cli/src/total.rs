//! What total replay wants beside a search: what flows where in the program, and drawings of it.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use raddle_explore::{Outcome, Until, unless_over};
use raddle_launch::Symbols;
use raddle_model::Drawing;
use raddle_model::flows::Taken;
use raddle_plan::search::DrawnStep;
use raddle_slice::Sliced;

use crate::{args::RunArgs, search, terminal::Terminal};

/// Functions that could not be followed, as many as are named.
const IRREGULAR_SHOWN: usize = 5;

/// A program that total replay is to explore.
#[derive(Debug, Default)]
pub(crate) struct Total {
    pub(crate) sliced: Sliced,
    path: PathBuf,
}

/// Looks through a program's code, if total replay is asked for. If it can't be read, everything depends on
/// everything, which is right and slow.
///
/// A program may be so large that there is no time for it; then there is none for executions either.
pub(crate) fn prepare(
    args: &RunArgs,
    program: &Path,
    until: &Until,
    stop: &AtomicBool,
    terminal: &mut Terminal,
) -> Option<Total> {
    if !search::is_total(args) {
        return None;
    }
    let path = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let of = path.clone();
    let sliced = unless_over(
        || until.is_over() || stop.load(Relaxed),
        move || raddle_slice::slice(&of, &of.to_string_lossy()).map(|it| with_locks(it, &of)),
    );
    let Some(sliced) = sliced else {
        terminal.warning("time ran out before the program's code was analysed; raise --time");
        return Some(Total { path, ..Total::default() });
    };
    let sliced = sliced.unwrap_or_else(|error| {
        terminal.warning(&format!(
            "{error}; every branch is assumed to depend on all earlier reads of its thread"
        ));
        Sliced::default()
    });
    if !sliced.irregular.is_empty() {
        let shown = sliced.irregular.iter().take(IRREGULAR_SHOWN);
        let names: Vec<String> = shown.map(|it| raddle_launch::demangled(it)).collect();
        let more = match sliced.irregular.len().saturating_sub(IRREGULAR_SHOWN) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        terminal.warning(&format!(
            "code that can't be analysed; its branches are assumed to depend on all earlier reads: {}{more}",
            names.join(", ")
        ));
    }
    Some(Total { sliced, path })
}

/// Adds which exchanges take locks of Rust's std.
fn with_locks(mut sliced: Sliced, path: &Path) -> Sliced {
    let mut symbols = Symbols::new();
    for (place, address) in &sliced.exchanges {
        let frames = symbols.places(path, address.saturating_sub(1));
        let how = frames.iter().find_map(|it| std_lock(&it.function));
        sliced.flows.locks.extend(how.map(|it| (*place, it)));
    }
    sliced
}

/// How a function of Rust's std takes a lock, if it does.
fn std_lock(function: &str) -> Option<Taken> {
    let (of, method) = function.rsplit_once("::")?;
    let (of, _) = of.strip_prefix("<std::sys::sync::")?.split_once("::")?;
    match (of, method) {
        ("mutex", "lock" | "try_lock") | ("rwlock", "write" | "try_write") => Some(Taken::Alone),
        ("rwlock", "read" | "try_read") => Some(Taken::Shared),
        _ => None,
    }
}

impl Total {
    /// What branches depend on, by lines.
    pub(crate) fn drawings(
        &self,
        outcome: &Outcome,
        symbols: &mut Symbols,
    ) -> Vec<Drawing<String>> {
        let drawings = outcome.search.as_ref().map_or(&[][..], |it| &it.drawings);
        let mut name = |step: &DrawnStep| {
            let line = self.line(step.place(), symbols);
            match step {
                DrawnStep::Decided(_) => format!("branch at {line}"),
                DrawnStep::Read(thread, _) => format!("T{} reads at {line}", thread.0),
                DrawnStep::Write(thread, _) => format!("T{} writes at {line}", thread.0),
            }
        };
        drawings.iter().map(|it| it.map(&mut name)).collect()
    }

    fn line(&self, place: u64, symbols: &mut Symbols) -> String {
        let address = self.sliced.addresses.get(&place);
        let places = address.map(|it| symbols.places(&self.path, it.saturating_sub(1)));
        match places.as_ref().and_then(|it| it.first()) {
            Some(it) if it.line > 0 => {
                let file = Path::new(&it.file).file_name().unwrap_or_default();
                format!("{}:{}", file.to_string_lossy(), it.line)
            }
            _ => "unknown line".to_owned(),
        }
    }
}
