//! What total replay wants beside a search: what flows where in the program, and drawings of it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use raddle_explore::Outcome;
use raddle_launch::Symbols;
use raddle_plan::search::Taken;
use raddle_slice::Sliced;

use crate::{args::RunArgs, exit::Failure, search, terminal::Terminal};

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
pub(crate) fn prepare(args: &RunArgs, program: &Path, terminal: &mut Terminal) -> Option<Total> {
    if !search::is_total(args) {
        return None;
    }
    let path = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let mut sliced = raddle_slice::slice(&path, &path.to_string_lossy()).unwrap_or_else(|error| {
        terminal.warning(&format!(
            "failed to {error}: every branch counts as decided by all earlier reads of its thread"
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
            "code too irregular to follow, its branches count as decided by all earlier reads: {}{more}",
            names.join(", ")
        ));
    }
    let mut symbols = Symbols::new();
    for (place, address) in &sliced.exchanges {
        let frames = symbols.places(&path, address.saturating_sub(1));
        let how = frames.iter().find_map(|it| std_lock(&it.function));
        sliced.flows.locks.extend(how.map(|it| (*place, it)));
    }
    Some(Total { sliced, path })
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
    /// Writes what branches depend on, as Graphviz reads it.
    pub(crate) fn draw(
        &self,
        file: &Path,
        outcome: &Outcome,
        symbols: &mut Symbols,
    ) -> Result<(), Failure> {
        let dot = outcome.search.as_ref().map_or("", |it| &it.progress.dot);
        let text = self.named(dot, symbols);
        fs::write(file, text)
            .map_err(|error| Failure::usage(format!("--dot {}: {error}", file.display())))
    }

    /// Places, which are in braces, by their lines.
    fn named(&self, dot: &str, symbols: &mut Symbols) -> String {
        let mut text = String::with_capacity(dot.len());
        let mut rest = dot;
        while let Some(start) = rest.find('{') {
            let (before, after) = rest.split_at(start);
            text.push_str(before);
            let place = after.get(1..17).and_then(|it| u64::from_str_radix(it, 16).ok());
            match place {
                Some(place) => {
                    text.push_str(&self.line(place, symbols));
                    rest = &after[18..];
                }
                None => {
                    text.push('{');
                    rest = &after[1..];
                }
            }
        }
        text + rest
    }

    fn line(&self, place: u64, symbols: &mut Symbols) -> String {
        let address = self.sliced.addresses.get(&place);
        let places = address.map(|it| symbols.places(&self.path, it.saturating_sub(1)));
        match places.as_ref().and_then(|it| it.first()) {
            Some(it) if it.line > 0 => {
                let file = Path::new(&it.file).file_name().unwrap_or_default();
                format!("{}:{}", file.to_string_lossy(), it.line)
            }
            _ => "a place without a line".to_owned(),
        }
    }
}
