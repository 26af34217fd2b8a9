//! What is known of std, held against the toolchain that is installed.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use raddle_rust_std::{
    Doing, EXCEPTION_CLASS, PANICKED, PASSED_ON, PERSONALITY, Part, Wrapped, is_compilers, is_glue,
    is_overflow, is_rust_library, is_std_crate, part, recognise, root_crate, wrapped,
};

/// Words of mangled names, and of paths.
fn words(file: &Path) -> Vec<String> {
    let bytes = fs::read(file).expect("it can be read");
    let is_part = |it: &u8| it.is_ascii_graphic();
    let runs = bytes.split(|it| !is_part(it)).filter(|it| it.len() > 3);
    runs.map(|it| String::from_utf8_lossy(it).into_owned()).collect()
}

fn functions(file: &Path) -> BTreeSet<String> {
    let demangled = |it: String| Some(format!("{:#}", rustc_demangle::try_demangle(&it).ok()?));
    words(file).into_iter().filter_map(demangled).collect()
}

/// The prebuilt std, as a shared library.
fn std_library() -> PathBuf {
    let output =
        Command::new("rustc").arg("--print=target-libdir").output().expect("there is a compiler");
    let folder = String::from_utf8(output.stdout).expect("it is text");
    let entries = fs::read_dir(folder.trim()).expect("it can be listed").flatten();
    let is_std = |it: &PathBuf| {
        let name = it.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libstd-") && name.ends_with(".so")
    };
    entries.map(|it| it.path()).find(is_std).expect("std is there as a shared library")
}

fn compile(folder: &Path, source: &str) -> PathBuf {
    let (file, program) = (folder.join("program.rs"), folder.join("program"));
    fs::write(&file, source).expect("it can be written");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "-Copt-level=0", "-g", "-o"]).arg(&program).arg(&file);
    let output = rustc.output().expect("there is a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, what: &str) -> Output {
    Command::new(program).arg(what).env("RUST_BACKTRACE", "0").output().expect("it runs")
}

#[test]
fn the_prebuilt_std_has_the_functions_that_order_threads() {
    let functions = functions(&std_library());
    let has = |wanted: Wrapped| functions.iter().any(|it| wrapped(it) == Some(wanted));
    for wanted in
        [Wrapped::After, Wrapped::AroundWait, Wrapped::BeforeNotify, Wrapped::BeforeScopeEnd]
    {
        assert!(has(wanted), "{wanted:?}");
    }
    for doing in
        [Doing::LockAsleep, Doing::ReadAsleep, Doing::WriteAsleep, Doing::Wait, Doing::Once]
    {
        assert!(functions.iter().any(|it| recognise(it) == Some(doing)), "{doing:?}");
    }
    for (of, has_hooks) in [(Part::Sync, false), (Part::Threads, true)] {
        assert!(functions.iter().any(|it| part(it, has_hooks) == Some(of)), "{of:?}");
    }
    assert!(functions.iter().any(|it| is_overflow(it)), "panics of arithmetic");
    let foreign: Vec<_> =
        functions.iter().filter_map(|it| root_crate(it)).filter(|it| !is_std_crate(it)).collect();
    // What is generic in the name only: `<T as core::…>`.
    assert!(
        foreign.len() * 100 < functions.len(),
        "{} of {}: {foreign:?}",
        foreign.len(),
        functions.len()
    );
}

#[test]
fn a_program_is_known_by_what_the_compiler_puts_into_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let program = compile(
        folder.path(),
        r#"
        use std::{panic::catch_unwind, sync::Mutex, thread};
        static LOCK: Mutex<u32> = Mutex::new(0);
        fn panics() { panic!("first"); }
        fn main() {
            match std::env::args().nth(1).as_deref() {
                Some("join") => thread::spawn(panics).join().unwrap(),
                Some("poison") => {
                    let _ = thread::spawn(|| { let _held = LOCK.lock().unwrap(); panics() }).join();
                    *LOCK.lock().unwrap() += 1;
                }
                Some("scope") => thread::scope(|it| { it.spawn(panics); }),
                Some("caught") => { catch_unwind(panics).unwrap_err(); }
                _ => {}
            }
        }
        "#,
    );
    for (what, says) in ["join", "poison", "scope"].into_iter().zip(PASSED_ON) {
        let output = run(&program, what);
        assert_eq!(output.status.code(), Some(PANICKED), "{what}");
        assert!(output.stderr.windows(says.len()).any(|it| it == says), "{what}: {output:?}");
    }
    assert_eq!(run(&program, "caught").status.code(), Some(0));
    let words = words(&program);
    assert!(words.iter().any(|it| it == PERSONALITY));
    assert!(words.iter().any(|it| is_glue(it) && it.starts_with("__rust_")), "__rust_try");
    assert!(is_glue("alloc::collections::btree::node::slice_insert"));
    assert!(!is_glue("shop::stock::slice_insert") && !is_glue("slice_insert"));
    assert!(words.iter().any(|it| is_rust_library(it) && is_compilers(it)), "/rustc/…/library");
    let class = EXCEPTION_CLASS.to_ne_bytes();
    let bytes = fs::read(&program).expect("it can be read");
    assert!(bytes.windows(8).any(|it| it == class), "the class of exceptions");
}
