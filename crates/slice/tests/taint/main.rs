//! Slices against a taint interpreter: small functions, compiled by gcc, clang and rustc without and with optimisation,
//! are executed instruction by instruction with several values, and every byte of registers, flags and memory carries the reads
//! that flowed into it. What flows into a branch, an address or a value that is written has to be in its slice.
//!
//! The other way round it is a matter of precision, and a slice has more by right: what flows by control (which
//! `slices.rs` tries out by changing values), and ways that were not taken. How much more is told.

mod programs;
mod taint;
mod tracee;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use iced_x86::Register;
use raddle_model::flows::{Flows, SinkKind};
use raddle_model::{hash_bytes, mix};
use raddle_slice::slice;

use crate::{
    taint::{Hook, Tainted},
    tracee::{Registers, Tracee},
};

/// Instructions of one program, more than which something is wrong.
const STEPS_MAX: u64 = 3_000_000;

fn run(command: &mut Command) {
    let output = command.output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

/// What a hook of this name announces, where it begins.
fn hooks(name: &str, at: &Registers, tracee: &Tracee, base: u64) -> Vec<Hook> {
    let Some(name) = name.strip_prefix("__tsan_") else { return Vec::new() };
    let place = tracee.word(at.stack()).wrapping_sub(base);
    let hook = |argument: usize, size: u64, is_read: bool, is_write: bool| Hook {
        place,
        address: at.argument(argument),
        size,
        is_read,
        is_write,
        register: [Register::RDI, Register::RSI][argument],
    };
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let size: u64 = digits.parse().unwrap_or(0);
    match name {
        "memcpy" | "memmove" => {
            // What is private is announced to nobody.
            let is_private = |it: usize| at.argument(it) >= at.stack();
            let [to, from] = [0, 1].map(|it| if is_private(it) { 0 } else { at.argument(2) });
            vec![hook(0, to, false, false), hook(1, from, true, false)]
        }
        "read_range" => vec![hook(0, at.argument(1), true, false)],
        _ if name.starts_with("atomic") && !name.contains("fence") => {
            let is_load = name.ends_with("_load");
            vec![hook(0, size / 8, !name.ends_with("_store"), !is_load)]
        }
        _ if name.contains("read_write") => vec![hook(0, size, true, true)],
        _ if name.contains("read") => vec![hook(0, size, true, false)],
        _ if name.contains("write") => vec![hook(0, size, false, true)],
        _ => Vec::new(),
    }
}

/// What came of executing a program. Addresses are those of the file.
struct Interpreted {
    tainted: Tainted,
    functions: BTreeMap<u64, String>,
}

impl Interpreted {
    /// The function that an address is in.
    fn function(&self, address: u64) -> &str {
        self.functions.range(..=address).next_back().map_or("?", |it| it.1)
    }
}

/// Executes a program, up to where it says that it has done.
fn interpret(program: &Path, stubs: &Path) -> Interpreted {
    let mut tracee = Tracee::start(program);
    let range = tracee.range(program);
    let hooked = tracee.functions(stubs);
    let own = tracee.functions(program);
    let finish = own.iter().find(|it| it.1 == "finish").map(|it| *it.0).expect("it has an end");
    let mut tainted = Tainted::new(range.clone());
    for _ in 0..STEPS_MAX {
        let at = tracee.registers();
        if at.ip == finish {
            let functions = own.into_iter().map(|it| (it.0 - range.start, it.1)).collect();
            return Interpreted { tainted, functions };
        }
        if let Some(name) = hooked.get(&at.ip) {
            for it in hooks(name, &at, &tracee, range.start) {
                tainted.announce(&it, &at);
            }
        }
        let instruction = tracee.instruction(at.ip);
        tainted.execute(&instruction, &at);
        tracee.step();
    }
    panic!("it does not end");
}

/// The reads that flow into something, by the slice: their names. `None`: it is not known, so all do.
fn told(flows: &Flows, kind: SinkKind, place: u64) -> Option<BTreeSet<u64>> {
    if kind == SinkKind::Value {
        return flows.writes.get(&place).map(|it| it.iter().copied().collect());
    }
    let sinks = flows.sinks.iter().filter(|it| it.kind == kind && it.place == place);
    Some(sinks.flat_map(|it| &it.reads).copied().collect())
}

/// What slices have, beside what has to be in them.
#[derive(Debug, Default)]
struct Precision {
    /// Things into which something was seen to flow.
    n_flows: usize,
    /// Reads in slices of the functions, and those of them that were not seen to flow.
    n_reads: usize,
    n_extra: usize,
    /// Things of functions of which nothing is known, so that what other functions read counts, too.
    n_unknown: usize,
}

/// Holds slices against what flowed.
fn compare(program: &Path, stubs: &Path, how: &str) -> Precision {
    let flows = slice(program, "m").expect("it is a program").flows;
    let ran = interpret(program, stubs);
    let module = hash_bytes(b"m");
    let place = |address: &u64| mix(module, *address);
    let accessing: BTreeSet<&str> =
        ran.tainted.accessing.iter().map(|it| ran.function(*it)).collect();
    let of_function: BTreeMap<u64, &str> = ran
        .tainted
        .references
        .keys()
        .map(|it| (place(it), ran.function(*it)))
        .filter(|it| it.1.starts_with("f_"))
        .collect();
    let mut missing = Vec::new();
    let mut precision = Precision::default();
    for (kind, found) in [
        (SinkKind::Branch, &ran.tainted.branches),
        (SinkKind::Reference, &ran.tainted.references),
        (SinkKind::Value, &ran.tainted.writes),
    ] {
        for (address, taint) in found {
            let function = ran.function(*address);
            let Some(told) = told(&flows, kind, place(address)) else { continue };
            // Where nothing is accessed, branches decide no more than what is returned.
            if !accessing.contains(function) {
                continue;
            }
            let lost: Vec<&u64> = taint.iter().filter(|it| !told.contains(&place(it))).collect();
            if !lost.is_empty() {
                missing.push(format!("{kind:?} at {address:x} in {function} misses {lost:x?}"));
            }
            precision.n_flows += usize::from(!taint.is_empty());
            let is_of_other = |it: &u64| of_function.get(it).is_some_and(|it| *it != function);
            if !function.starts_with("f_") {
                continue;
            }
            if told.iter().any(is_of_other) {
                precision.n_unknown += 1;
            } else {
                let flowed: BTreeSet<u64> = taint.iter().map(place).collect();
                precision.n_reads += told.len();
                precision.n_extra += told.difference(&flowed).count();
            }
        }
    }
    assert!(missing.is_empty(), "{how}:\n{}", missing.join("\n"));
    precision
}

fn make_stubs(folder: &Path) {
    std::fs::write(folder.join("stubs.c"), programs::STUBS).expect("it is written");
    let args = ["-O1", "-fno-builtin", "-shared", "-fPIC", "-o", "libstubs.so", "stubs.c"];
    run(Command::new("gcc").current_dir(folder).args(args));
}

fn check_c(compiler: &str) {
    for level in ["-O0", "-O1", "-O2"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        make_stubs(folder.path());
        std::fs::write(folder.path().join("program.c"), programs::in_c()).expect("it is written");
        let compile = |args: &[&str]| {
            run(Command::new(compiler).current_dir(folder.path()).args(args));
        };
        compile(&[level, "-w", "-c", "-fsanitize=thread", "-fPIE", "program.c"]);
        let link = ["-L.", "-lstubs", "-Wl,-rpath,$ORIGIN", "-Wl,-z,now", "-pie"];
        compile(&[&["-o", "program", "program.o"][..], &link].concat());
        check(folder.path(), &format!("{compiler} {level}"));
    }
}

#[expect(clippy::print_stdout, reason = "with `--nocapture` it tells how precise slices are")]
fn check(folder: &Path, how: &str) {
    let found = compare(&folder.join("program"), &folder.join("libstubs.so"), how);
    println!("{how}: {found:?}");
    assert!(found.n_flows > 50, "{how}: {found:?}");
    // More is by control, and by ways that were not taken.
    assert!(found.n_extra * 2 < found.n_reads, "{how}: {found:?}");
    assert!(found.n_unknown * 10 < found.n_flows, "{how}: {found:?}");
}

#[test]
fn gcc() {
    check_c("gcc");
}

#[test]
fn clang() {
    if !raddle_tidy::lacks("clang", "slices of what it compiles") {
        check_c("clang");
    }
}

#[test]
fn rustc() {
    for level in ["0", "1", "2"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        make_stubs(folder.path());
        std::fs::write(folder.path().join("program.rs"), programs::in_rust())
            .expect("it is written");
        let opt = format!("-Copt-level={level}");
        let flags =
            ["-Zsanitizer=thread", "-Zexternal-clangrt", "-Cunsafe-allow-abi-mismatch=sanitizer"];
        let link = ["-L.", "-lstubs", "-Clink-arg=-Wl,-rpath,$ORIGIN", "-Clink-arg=-Wl,-z,now"];
        run(Command::new("rustc")
            .current_dir(folder.path())
            .env("RUSTC_BOOTSTRAP", "1")
            .args([&opt, "--target", "x86_64-unknown-linux-gnu", "program.rs"])
            .args(["--edition=2021", "--cap-lints=allow"])
            .args(flags)
            .args(link));
        check(folder.path(), &format!("rustc {level}"));
    }
}
