//! Slices of small functions, compiled by gcc, clang and rustc without and with optimisation, against brute force: each
//! function is run with every shared variable changed in turn, and whatever changes what it does has to be in
//! a slice.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
    process::Command,
};

use raddle_model::flows::{Flows, SinkKind};
use raddle_model::mix;
use raddle_slice::{Sliced, slice};
use raddle_tidy::lacks;

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
    // The compiler knows that nobody else sees `x`, and leaves out the hook of its read, not that of its write.
    ("by_pointer", "int x; fetch(&x); if (x > 1) way(1);"),
    ("by_pointers", "int x[2] = {0, 0}; fetch(&x[n & 1]); if (x[0] > 1) way(1);"),
    ("by_structure", "struct pair s = {0, 0}; fill(&s); if (s.second > 1) way(1);"),
    ("by_copy", "struct pair s, t = {b, n}; memcpy(&s, &t, sizeof s); if (s.first > 1) way(1);"),
    (
        "by_choice",
        "int x = 0, y = 0, *q = n > 1 ? &x : &y; *q = a; if (x > 3) way(1); if (y) also(2);",
    ),
    ("by_recursion", "if (sum(3) > 9) way(1);"),
    ("by_function_pointer", "if (n_of[n & 1]() > 1) way(1);"),
];

type Functions = &'static [(&'static str, &'static str)];

/// What the functions are in: each is called with all values, and has a line for each of them.
const FRAME: &str = r#"
#include <stdio.h>
#include <string.h>
struct pair { int first, second; };
int a, b, c, n, *p = &a;
__attribute__((noinline, no_sanitize("thread"))) static void way(int k) { printf("%d ", k); }
__attribute__((noinline, no_sanitize("thread"))) static void also(int k) { printf("%d! ", k); }
__attribute__((noinline)) static int twice(int x) { return x * 2; }
__attribute__((noinline)) static int get_b(void) { return b; }
__attribute__((noinline)) static void fetch(int *out) { *out = a; }
__attribute__((noinline)) static void fill(struct pair *out) { out->first = n; fetch(&out->second); }
__attribute__((noinline)) static int sum(int k) { return k ? b + sum(k - 1) : 0; }
__attribute__((noinline)) static int get_n(void) { return n; }
int (*n_of[2])(void) = {get_b, get_n};
"#;

/// The same in Rust. Without `std`'s printing in the functions: its code has no hooks, and depends on everything.
const RUST_FUNCTIONS: &[(&str, &str)] = &[
    ("plain", "if a > 3 { way(1) } else { also(2) }"),
    (
        "through_a_local",
        "let x = a.wrapping_add(1); let y = x.wrapping_mul(2); c = 9; if y > 8 { way(1) }",
    ),
    ("two", "if a.wrapping_add(b) > 5 { way(1) }"),
    ("neither", "c = a; if n > 0 { way(1) } else { also(2) }"),
    ("nested", "if a != 0 { if b != 0 { way(1) } else { also(2) } } else { c = 3 }"),
    ("by_control", "let mut v = 0; if a != 0 { v = 1 } if v & b != 0 { way(1) }"),
    ("by_call", "if twice(a) > 4 { way(1) }"),
    ("by_result", "if get_b() > 1 { way(1) }"),
    ("by_shared", "c = a.wrapping_add(1); if c > 4 { way(1) }"),
    (
        "in_a_loop",
        "let mut s = 0; let mut i = 0; while i < 3 { s += a; i += 1 } if s > 7 { way(1) }",
    ),
    (
        "choice",
        "match a { 0 => way(1), 1 => { c += 1; way(2) } 3 => n += 1, 4 => also(5), _ => way(6) }",
    ),
    ("chosen", "let x = if a > 2 { b } else { n }; if x > 1 { way(1) }"),
    ("early", "if a == 7 { return } if b != 0 { way(1) }"),
    ("by_pointer", "let mut x = 0; fetch(&mut x); if x > 1 { way(1) }"),
    ("by_pair", "let it = pair(); if it.1 > 1 { way(1) }"),
    ("by_option", "if let Some(it) = positive() { if it > 3 { way(1) } else { also(2) } }"),
    ("by_recursion", "if sum(3) > 9 { way(1) }"),
];

const RUST_FRAME: &str = r#"
#[no_mangle] pub static mut a: i32 = 0;
#[no_mangle] pub static mut b: i32 = 0;
#[no_mangle] pub static mut c: i32 = 0;
#[no_mangle] pub static mut n: i32 = 0;
extern "C" { fn puts(text: *const i8) -> i32; fn printf(format: *const i8, ...) -> i32; }
#[inline(never)] unsafe fn way(k: i32) { printf(c"%d ".as_ptr(), k); }
#[inline(never)] unsafe fn also(k: i32) { printf(c"%d! ".as_ptr(), k); }
#[inline(never)] unsafe fn twice(x: i32) -> i32 { x.wrapping_mul(2) }
#[inline(never)] unsafe fn get_b() -> i32 { b }
#[inline(never)] unsafe fn fetch(out: &mut i32) { *out = a }
#[inline(never)] unsafe fn pair() -> (u64, i64, u64) { (n as u64, a as i64, 0) }
#[inline(never)] unsafe fn positive() -> Option<i32> { if a > 0 { Some(b) } else { None } }
#[inline(never)] unsafe fn sum(k: i32) -> i32 { if k > 0 { b.wrapping_add(sum(k - 1)) } else { 0 } }
"#;

fn rust_program() -> String {
    let mut text = RUST_FRAME.to_owned();
    for (name, body) in RUST_FUNCTIONS {
        let _ =
            writeln!(text, "#[no_mangle] #[inline(never)] pub unsafe fn f_{name}() {{ {body} }}");
    }
    text += "static VALUES: [i32; 5] = [0, 1, 3, 4, 7];\nfn main() { unsafe {\n";
    text += "let mut i = 0; while i < 5 { let mut j = 0; while j < 5 {\n";
    for (name, _) in RUST_FUNCTIONS {
        let _ = writeln!(
            text,
            "a = VALUES[i]; b = VALUES[j]; c = 0; n = 2; f_{name}(); puts(c\"\".as_ptr());"
        );
    }
    text + "j += 1; } i += 1; } } }\n"
}

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
fn tried(program: &Path, functions: Functions) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let output = run(&mut Command::new(program));
    let lines: Vec<&str> = output.lines().collect();
    let n_lines = N_VALUES * N_VALUES * functions.len();
    assert_eq!(lines.len(), n_lines, "{output}");
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (idx, (name, _)) in functions.iter().enumerate() {
        let ways = |a: usize, b: usize| lines[(a * N_VALUES + b) * functions.len() + idx];
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
    address_of: &BTreeMap<u64, u64>,
    range: &std::ops::Range<u64>,
) -> BTreeSet<String> {
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

fn check(compiler: &str, levels: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("program.c"), program()).expect("it is written");
    std::fs::write(path("stubs.c"), STUBS).expect("it is written");
    let compile = |args: &[&str]| {
        run(Command::new(compiler).current_dir(folder.path()).args(args));
    };
    compile(&[levels, &["-c", "-fsanitize=thread", "-fno-inline", "program.c"]].concat());
    compile(&["-O1", "-shared", "-fPIC", "-o", "libstubs.so", "stubs.c"]);
    compile(&["-o", "program", "program.o", "-L.", "-lstubs", "-Wl,-rpath,$ORIGIN"]);
    compare(&path("program"), FUNCTIONS, &format!("{compiler} {}", levels.join(" ")));
}

/// The slices of a program against what comes of trying.
fn compare(program: &Path, all: Functions, how: &str) {
    let sliced_program = slice(program, "m").expect("it is a program");
    let is_ours = |it: &&String| it.starts_with("f_");
    assert_eq!(sliced_program.irregular.iter().filter(is_ours).count(), 0, "{how}");
    let (listing, functions) = listing(program);
    let module = raddle_model::hash_bytes(b"m");
    let address_of = listing.keys().map(|it| (mix(module, *it), *it)).collect();
    for (name, expected) in tried(program, all) {
        let range = &functions[&format!("f_{name}")];
        let found = sliced(&sliced_program.flows, &listing, &address_of, range);
        for variable in &expected {
            assert!(
                found.contains(*variable),
                "{how}: {name} depends on {variable}, and the slice says {found:?}"
            );
        }
        // And it says nothing where there is nothing to say. (Of Rust's reads the listing does not tell the variable.)
        if name == "neither" && !how.starts_with("rustc") {
            assert!(!found.contains("a") && !found.contains("b"), "{how}: {found:?}");
        }
    }
}

#[test]
fn gcc() {
    for level in ["-O0", "-O1", "-O2"] {
        check("gcc", &[level]);
    }
}

/// Sections that are not loaded lie at address 0: debug information that reaches beyond the program's variables is no
/// memory that nobody writes.
#[test]
fn debug_information_is_no_memory() {
    check("gcc", &["-O1", "-g3"]);
}

#[test]
fn clang() {
    if lacks("clang", "slices of what it compiles") {
        return;
    }
    for level in ["-O0", "-O1", "-O2"] {
        check("clang", &[level]);
    }
}

#[test]
fn rustc() {
    for level in ["0", "1", "2"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("it is written");
        };
        write("program.rs", &rust_program());
        write("stubs.c", STUBS);
        let stubs = ["-O1", "-shared", "-fPIC", "-o", "libstubs.so", "stubs.c"];
        run(Command::new("gcc").current_dir(folder.path()).args(stubs));
        let opt = format!("-Copt-level={level}");
        let flags =
            ["-Zsanitizer=thread", "-Zexternal-clangrt", "-Cunsafe-allow-abi-mismatch=sanitizer"];
        let link = [
            "-L.",
            "-lstubs",
            "-Clink-arg=-Wl,-rpath,$ORIGIN",
            "--edition=2021",
            "--cap-lints=allow",
        ];
        run(Command::new("rustc")
            .current_dir(folder.path())
            .env("RUSTC_BOOTSTRAP", "1")
            .args([&opt, "--target", "x86_64-unknown-linux-gnu", "program.rs"])
            .args(flags)
            .args(link));
        compare(&folder.path().join("program"), RUST_FUNCTIONS, &format!("rustc {level}"));
    }
}

/// Code that can't be followed, with hooks (`jump`) and without (`large`), and what a caller reads before.
const IRREGULAR: &str = r#"
int a, b;
__attribute__((noinline)) int jump(int n) {
    static void *const ways[] = {&&one, &&two, &&three};
    void *volatile way = ways[n % 3];
    goto *way;
one: b = 1; return 1;
two: b = 2; return 2;
three: return 3;
}
#define TEN(x) x x x x x x x x x x
__attribute__((noinline, no_sanitize("thread"))) int large(int n) {
    volatile int m = n;
    TEN(TEN(m += n; m ^= 3;))
    return m > 5 ? jump(1) : 2;
}
int by_jump(void) { return jump(a); }
int by_large(void) { return large(a); }
int main(void) { return by_jump() + by_large(); }
"#;

/// What can't be followed is named, its branches are counted as unknown, and whatever was read before decides them.
#[test]
fn irregular_code_depends_on_everything() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("program.c"), IRREGULAR).expect("it is written");
    std::fs::write(folder.path().join("stubs.c"), STUBS).expect("it is written");
    for compiler in ["gcc", "clang"] {
        if lacks(compiler, "slices of what it compiles") {
            continue;
        }
        let compile = |args: &[&str]| {
            run(Command::new(compiler).current_dir(folder.path()).args(args));
        };
        compile(&["-O0", "-c", "-fsanitize=thread", "program.c"]);
        compile(&["-O1", "-shared", "-fPIC", "-o", "libstubs.so", "stubs.c"]);
        compile(&["-o", "program", "program.o", "-L.", "-lstubs", "-Wl,-rpath,$ORIGIN"]);
        let program = folder.path().join("program");
        let Sliced { flows, irregular, addresses, .. } = slice(&program, "m").expect("a program");
        // Clang announces calls of a function without hooks all the same, and then it is followed.
        let named = if compiler == "gcc" { &["jump", "large"][..] } else { &["jump"] };
        assert_eq!(irregular, named, "{compiler}");
        assert!(flows.n_unknown >= 1, "{compiler}: {}", flows.n_unknown);
        let (_, functions) = listing(&program);
        for function in ["by_jump", "by_large"] {
            let range = &functions[function];
            let mut reads = flows.reads.iter().filter(|it| range.contains(&addresses[it.0]));
            let is_branch = |it: &u32| flows.sinks[*it as usize].kind == SinkKind::Branch;
            assert!(reads.any(|it| it.1.iter().any(is_branch)), "{compiler}: {function}");
        }
    }
}

/// What is no program is said so.
#[test]
fn what_is_no_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("text");
    let error = slice(&path, "m").expect_err("there is none");
    assert!(error.to_string().starts_with("can't read `"), "{error}");
    std::fs::write(&path, "#!/bin/sh\n").expect("it is written");
    let error = slice(&path, "m").expect_err("it is none");
    assert!(error.to_string().starts_with("can't analyse `"), "{error}");
}
