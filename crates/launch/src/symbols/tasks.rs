//! The tasks of a program's async runtimes: where they are polled, so that the order in which that happens is the schedule's.
//!
//! tokio polls each task through a table of functions that it makes for the task's type: `poll`, `schedule`, `dealloc`, … one
//! after the other, in data that the loader relocates. They are told by the names of the functions; a table counts only if
//! all that is needed is in it, at the same distances as in all others.
//!
//! Beside them, two functions that the runtime stands in for: the one that numbers new tasks (who calls it spawns one), and
//! the one that draws the branch at which `select!` begins.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind};
use object::{
    Endianness, Object as _, ObjectSection as _, RelocationTarget, SectionKind,
    read::elf::ElfFile64,
};

use super::{demangled, table::Table};

/// What is found of a program's tasks, by addresses in its file. The runtime reads it as words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tasks {
    pub(super) tables: Vec<TaskTable>,
    /// The function that numbers tasks, and its counter.
    pub(super) numbering: Option<[u64; 2]>,
    /// The function that draws a number below another.
    pub(super) drawing: Option<u64>,
}

/// The words of a table that hold these functions, and who runs such tasks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TaskTable {
    pub(super) poll: u64,
    pub(super) schedule: u64,
    pub(super) dealloc: u64,
    pub(super) shutdown: u64,
    pub(super) sort: Sort,
}

/// Who runs a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Not known, or any of several threads.
    Other = 0,
    /// The thread that is in `block_on`.
    CurrentThread = 1,
    /// The pool for calls that block.
    Pool = 2,
}

const NAMES: [&str; 4] = ["poll", "schedule", "dealloc", "shutdown"];
/// The words of a table, at most.
const TABLE_MAX: u64 = 12;
/// Bytes of a jump to anywhere, which takes the place of a function.
const JUMP: u64 = 13;

/// The functions of the module in which tokio has them, as it is written in any mangled name.
const RAW: &str = "5tokio7runtime4task3raw";
const NEXT_ID: &str = "5tokio7runtime4task2id";
const DRAWS: &str = "5tokio6macros7support12thread_rng_n";

pub(super) fn tasks(program: &Path, symbols: &Table) -> Tasks {
    let functions: BTreeMap<u64, &'static str> = symbols
        .functions()
        .filter(|it| it.name.contains(RAW))
        .filter_map(|it| Some((it.address, raw_function(&demangled(&it.name))?)))
        .collect();
    if functions.is_empty() {
        return Tasks::default();
    }
    let Ok(bytes) = fs::read(program) else { return Tasks::default() };
    let Ok(file) = ElfFile64::<Endianness>::parse(&*bytes) else { return Tasks::default() };
    let words = relocated(&file);
    let program = Program { file: &file, words: &words, symbols };
    let tables = program.tables(&functions);
    if tables.is_empty() {
        return Tasks::default();
    }
    Tasks { tables, numbering: numbering(symbols), drawing: drawing(symbols) }
}

/// `poll` of `tokio::runtime::task::raw::poll::<…>`; `None` for what is inside of such a function.
fn raw_function(demangled: &str) -> Option<&'static str> {
    let name = demangled.strip_prefix("tokio::runtime::task::raw::")?;
    let name = name.split("::<").next()?;
    NAMES.into_iter().find(|it| *it == name)
}

/// Words that the loader fills with addresses in the program.
fn relocated(file: &ElfFile64<'_, Endianness>) -> BTreeMap<u64, u64> {
    let all = file.dynamic_relocations().into_iter().flatten();
    let relative = all.filter(|(_, it)| it.target() == RelocationTarget::Absolute);
    relative.map(|(at, it)| (at, it.addend() as u64)).collect()
}

struct Program<'a> {
    file: &'a ElfFile64<'a, Endianness>,
    words: &'a BTreeMap<u64, u64>,
    symbols: &'a Table,
}

impl Program<'_> {
    /// All tables, if they are all made alike.
    fn tables(&self, functions: &BTreeMap<u64, &'static str>) -> Vec<TaskTable> {
        let of = |at: &u64| self.words.get(at).and_then(|it| functions.get(it)).copied();
        let starts = self.words.keys().copied().filter(|it| of(it) == Some("poll"));
        let found: Vec<[u64; 4]> = starts
            .filter_map(|poll| {
                let around = (1..TABLE_MAX).map(|it| poll + it * 8);
                let rest = around.take_while(|it| of(it) != Some("poll"));
                let rest: Vec<u64> = rest.collect();
                let find = |name| rest.iter().copied().find(|it| of(it) == Some(name));
                Some([poll, find("schedule")?, find("dealloc")?, find("shutdown")?])
            })
            .collect();
        let distances = |it: &[u64; 4]| it.map(|at| at - it[0]);
        let kinds: BTreeSet<[u64; 4]> = found.iter().map(distances).collect();
        if kinds.len() != 1 {
            return Vec::new();
        }
        let table = |[poll, schedule, dealloc, shutdown]: [u64; 4]| {
            let sort = self.sort(self.words[&schedule]);
            TaskTable { poll, schedule, dealloc, shutdown, sort }
        };
        found.into_iter().map(table).collect()
    }

    /// Who runs the tasks that this function makes ready: told by its own name, or by what it calls.
    fn sort(&self, schedule: u64) -> Sort {
        let called = self.named_in(schedule).into_iter().filter_map(|it| self.symbols.function(it));
        let called = called.map(|it| demangled(&it.name));
        let called = called.filter(|it| it.contains("Schedule>::schedule"));
        let own = self.symbols.function(schedule).map(|it| demangled(&it.name));
        let names: Vec<String> = own.into_iter().chain(called).collect();
        let has = |part: &str| names.iter().any(|it| it.contains(part));
        if has("BlockingSchedule") || has("NoopSchedule") {
            Sort::Pool
        } else if has("current_thread::Handle") {
            Sort::CurrentThread
        } else {
            Sort::Other
        }
    }

    /// Addresses that a function's code names: where it calls to, what it loads the address of, and what the loader writes
    /// into words that it reads.
    fn named_in(&self, function: u64) -> Vec<u64> {
        let Some(symbol) = self.symbols.function(function) else { return Vec::new() };
        let code = self.file.sections().filter(|it| it.kind() == SectionKind::Text);
        let bytes = code.filter_map(|it| Some((it.address(), it.data().ok()?))).find_map(
            |(start, bytes)| {
                let at = function.checked_sub(start)? as usize;
                bytes.get(at..at + symbol.size as usize)
            },
        );
        let bytes = bytes.unwrap_or_default();
        let all = Decoder::with_ip(64, bytes, function, DecoderOptions::NONE);
        all.into_iter().filter_map(|it| self.target(&it)).collect()
    }

    fn target(&self, it: &Instruction) -> Option<u64> {
        if it.op0_kind() == OpKind::NearBranch64 {
            return Some(it.near_branch_target());
        }
        let at = it.is_ip_rel_memory_operand().then(|| it.ip_rel_memory_address())?;
        Some(self.words.get(&at).copied().unwrap_or(at))
    }
}

/// `Id::next` and its counter, if there is one of each.
fn numbering(symbols: &Table) -> Option<[u64; 2]> {
    let is_it = |name: &str, own: &str| {
        // `<tokio::…::Id>::next`, or without the brackets.
        name.contains(NEXT_ID) && demangled(name).replace(['<', '>'], "") == own
    };
    let [next, counter] =
        ["tokio::runtime::task::id::Id::next", "tokio::runtime::task::id::Id::next::NEXT_ID"];
    let functions = symbols.functions().filter(|it| is_it(&it.name, next) && it.size >= JUMP);
    let counters = symbols.variables().filter(|it| is_it(&it.name, counter) && it.size == 8);
    let [function, counter] =
        [only(functions.map(|it| it.address))?, only(counters.map(|it| it.address))?];
    Some([function, counter])
}

fn drawing(symbols: &Table) -> Option<u64> {
    let is_it = |name: &str| {
        name.contains(DRAWS) && demangled(name) == "tokio::macros::support::thread_rng_n"
    };
    only(symbols.functions().filter(|it| is_it(&it.name) && it.size >= JUMP).map(|it| it.address))
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

impl Tasks {
    /// As the runtime reads it: how many tables, both functions and the counter (0: there is none), then the tables.
    pub(super) fn words(&self) -> Vec<u64> {
        let [function, counter] = self.numbering.unwrap_or_default();
        let head = [self.tables.len() as u64, function, counter, self.drawing.unwrap_or_default()];
        let tables = self
            .tables
            .iter()
            .flat_map(|it| [it.poll, it.schedule, it.dealloc, it.shutdown, it.sort as u64]);
        head.into_iter().chain(tables).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_tables_are_told_by_name() {
        for (name, expected) in [
            ("tokio::runtime::task::raw::poll", Some("poll")),
            ("tokio::runtime::task::raw::schedule::<alloc::sync::Arc<H>>", Some("schedule")),
            ("tokio::runtime::task::raw::poll::{{closure}}", None),
            ("tokio::runtime::task::raw::RawTask::poll", None),
            ("mine::tokio::runtime::task::raw::poll", None),
        ] {
            assert_eq!(raw_function(name), expected, "{name}");
        }
    }

    #[test]
    fn a_program_without_tasks_has_none() {
        let program = std::env::current_exe().unwrap();
        assert_eq!(tasks(&program, &Table::load(&program)), Tasks::default());
    }
}
