//! Slices of small functions, compiled by gcc and clang without and with optimisation, against brute force: each
//! function is run with every shared variable changed in turn, and whatever changes what it does has to be in
//! a slice.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
    process::Command,
};

use raddle_model::mix;
use raddle_plan::search::{Flows, SinkKind};
use raddle_slice::slice;

/// Functions over the shared variables `a`, `b`, `c` and `p`, which points to `a` or `b`. `way` and
/// `also` show which way a branch went; they are two, so that no compiler makes one call of both ways.
const FUNCTIONS: &[(&str, &str)] = &[
    ("plain", "if (a > 3) way(1); else also(2);"),
    ("through_a_local", "int x = a + 1; int y = x * 2; c = 9; if (y > 8) way(1);"),
    ("two", "if (a + b > 5) way(1);"),
    ("neither", "c = a; if (n > 0) way(1); else also(2);"),
    ("nested", "if (a) { if (b) way(1); else also(2); } else c = 3;"),
    ("by_control", "int v = 0; if (a) v = 1; if (v & b) way(1);"),
    ("by_call", "if (twice(a) > 4) way(1);"),
    ("by_result", "if (get_b() > 1) way(1);"),
    ("by_reference", "if (*p > 1) way(1);"),
    ("by_shared", "c = a + 1; if (c > 4) way(1);"),
    ("in_a_loop", "int s = 0; for (int i = 0; i < 3; i++) s += a; if (s > 7) way(1);"),
    (
        "choice",
        "switch (a) { case 0: way(1); break; case 1: c++; way(2); break; case 2: also(3); way(4); break; \
                case 3: n++; break; case 4: also(5); c = 2; break; default: way(6); }",
    ),
    ("chosen", "int x = a > 2 ? b : n; if (x > 1) way(1);"),
    (
        "in_an_array",
        "int t[4]; for (int i = 0; i < 4; i++) t[i] = i == 2 ? b : 0; if (t[n & 3]) way(1);",
    ),
    ("early", "if (a == 7) return; if (b) way(1);"),
];

/// What the functions are in: each is called with all values, and has a line for each of them.
const FRAME: &str = r#"
#include <stdio.h>
int a, b, c, n, *p = &a;
__attribute__((noinline, no_sanitize("thread"))) static void way(int k) { printf("%d ", k); }
__attribute__((noinline, no_sanitize("thread"))) static void also(int k) { printf("%d! ", k); }
__attribute__((noinline)) static int twice(int x) { return x * 2; }
__attribute__((noinline)) static int get_b(void) { return b; }
"#;

const STUBS: &str = r#"
#define HOOK(name) void name(void) {}
HOOK(__tsan_init) HOOK(__tsan_func_entry) HOOK(__tsan_func_exit)
HOOK(__tsan_read1) HOOK(__tsan_read2) HOOK(__tsan_read4) HOOK(__tsan_read8) HOOK(__tsan_read16)
HOOK(__tsan_write1) HOOK(__tsan_write2) HOOK(__tsan_write4) HOOK(__tsan_write8) HOOK(__tsan_write16)
HOOK(__tsan_unaligned_read8) HOOK(__tsan_unaligned_write8) HOOK(__tsan_unaligned_read16)
HOOK(__tsan_unaligned_write16) HOOK(__tsan_read_range) HOOK(__tsan_write_range)
HOOK(__tsan_read_write4) HOOK(__tsan_read_write8) HOOK(__tsan_memset) HOOK(__tsan_memcpy)
"#;

fn program() -> String {
    let mut text = FRAME.to_owned();
    for (name, body) in FUNCTIONS {
        let _ = writeln!(text, "__attribute__((noinline)) void f_{name}(void) {{ {body} }}");
    }
    text += "int main(void) {\n  static const int values[] = {0, 1, 3, 4, 7};\n";
    text += "  for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) {\n";
    for (name, _) in FUNCTIONS {
        let _ = writeln!(
            text,
            "    a = values[i]; b = values[j]; c = 0; n = 2; f_{name}(); puts(\"\");"
        );
    }
    text + "  }\n  return 0;\n}\n"
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Values that are tried, for each of `a` and `b`.
const N_VALUES: usize = 5;

/// Which of `a` and `b` change the ways of each function, by trying.
fn tried(program: &Path) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let output = run(&mut Command::new(program));
    let lines: Vec<&str> = output.lines().collect();
    let n_lines = N_VALUES * N_VALUES * FUNCTIONS.len();
    assert_eq!(lines.len(), n_lines, "{output}");
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (idx, (name, _)) in FUNCTIONS.iter().enumerate() {
        let ways = |a: usize, b: usize| lines[(a * N_VALUES + b) * FUNCTIONS.len() + idx];
        let found = found.entry(name).or_default();
        for fixed in 0..N_VALUES {
            if (1..N_VALUES).any(|it| ways(it, fixed) != ways(0, fixed)) {
                found.insert("a");
            }
            if (1..N_VALUES).any(|it| ways(fixed, it) != ways(fixed, 0)) {
                found.insert("b");
            }
        }
    }
    found
}

/// The shared variables whose reads decide branches of a function, by the slice. A read's variable is the
/// operand of the instruction behind its hook, as the disassembler names it.
fn sliced(
    flows: &Flows,
    listing: &BTreeMap<u64, String>,
    range: &std::ops::Range<u64>,
) -> BTreeSet<String> {
    let address_of: BTreeMap<u64, u64> =
        (0..1 << 16).map(|it| (mix(raddle_model::hash_bytes(b"m"), it), it)).collect();
    let mut open: Vec<u64> = Vec::new();
    for sink in &flows.sinks {
        let at = address_of.get(&sink.place).copied().unwrap_or_default();
        if sink.kind != SinkKind::Value && range.contains(&at) {
            open.extend(&sink.reads);
        }
    }
    let mut variables = BTreeSet::new();
    let mut seen = BTreeSet::new();
    while let Some(read) = open.pop() {
        let Some(at) = address_of.get(&read).filter(|it| seen.insert(**it)) else { continue };
        let line = listing.get(at).cloned().unwrap_or_default();
        let variable = ["<a>", "<b>", "<c>", "<p>", "<n>"].iter().find(|it| line.contains(**it));
        match variable {
            Some(variable) => {
                variables.insert(variable.trim_matches(['<', '>']).to_owned());
                // What was written there comes from other reads.
                if *variable == "<c>" {
                    open.extend(flows.writes.values().flatten());
                }
            }
            // Through a pointer: it may be either.
            None => variables.extend(["a".to_owned(), "b".to_owned()]),
        }
    }
    variables
}

/// By address of an instruction that returns from a hook: the first instructions there, as text.
fn listing(program: &Path) -> (BTreeMap<u64, String>, BTreeMap<String, std::ops::Range<u64>>) {
    let text = run(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(program));
    let mut lines: Vec<(u64, String)> = Vec::new();
    let mut functions: BTreeMap<String, std::ops::Range<u64>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|it| it.split_once(" <")) {
            name.clone_into(&mut current);
        } else if let Some((address, text)) = line.trim().split_once(":\t")
            && let Ok(address) = u64::from_str_radix(address, 16)
        {
            functions.entry(current.clone()).or_insert(address..address).end = address + 1;
            lines.push((address, text.to_owned()));
        }
    }
    let after = |idx: usize| {
        // The access stands right behind the hook; or else the hook's argument says what it is to.
        let before = lines[..idx].iter().rev().skip(1).take(2).filter(|it| it.1.contains("lea"));
        let all = before.chain(lines[idx..].iter().take(1)).map(|it| &*it.1);
        all.collect::<Vec<&str>>().join(" ")
    };
    let listed = lines.iter().enumerate().map(|(idx, (address, _))| (*address, after(idx)));
    (listed.collect(), functions)
}

fn check(compiler: &str, level: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("program.c"), program()).expect("it is written");
    std::fs::write(path("stubs.c"), STUBS).expect("it is written");
    let compile = |args: &[&str]| {
        run(Command::new(compiler).current_dir(folder.path()).args(args));
    };
    compile(&[level, "-c", "-fsanitize=thread", "-fno-inline", "program.c"]);
    compile(&["-O1", "-shared", "-fPIC", "-o", "libstubs.so", "stubs.c"]);
    compile(&["-o", "program", "program.o", "-L.", "-lstubs", "-Wl,-rpath,$ORIGIN"]);
    let program = path("program");
    let sliced_program = slice(&program, "m").expect("it is a program");
    assert_eq!(sliced_program.irregular, [""; 0], "{compiler} {level}");
    let (listing, functions) = listing(&program);
    for (name, expected) in tried(&program) {
        let range = &functions[&format!("f_{name}")];
        let found = sliced(&sliced_program.flows, &listing, range);
        for variable in &expected {
            assert!(
                found.contains(*variable),
                "{compiler} {level}: {name} depends on {variable}, and the slice says {found:?}"
            );
        }
        // And it says nothing where there is nothing to say.
        if name == "neither" {
            assert!(!found.contains("a") && !found.contains("b"), "{compiler} {level}: {found:?}");
        }
    }
}

#[test]
fn gcc() {
    for level in ["-O0", "-O1", "-O2"] {
        check("gcc", level);
    }
}

#[test]
fn clang() {
    for level in ["-O0", "-O1", "-O2"] {
        check("clang", level);
    }
}

/// What is no program is said so.
#[test]
fn what_is_no_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("text");
    let error = slice(&path, "m").expect_err("there is none");
    assert!(error.to_string().starts_with("read `"), "{error}");
    std::fs::write(&path, "#!/bin/sh\n").expect("it is written");
    let error = slice(&path, "m").expect_err("it is none");
    assert!(error.to_string().starts_with("understand `"), "{error}");
}
