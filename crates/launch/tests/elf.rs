//! What kind of file a program is.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::{Place, with_each_compiler};
use raddle_launch::{CompilerChoice, ExecutableError, Fault, Hooks, inspect};

const MAIN: &str = "int x; int main(void) { x = 1; return 0; }\n";

fn problem(path: &Path) -> String {
    let error = inspect(path).unwrap_err();
    assert_eq!(error.fault(), Fault::User);
    let name = format!("`{}`", path.display());
    error.to_string().replace(&name, "`X`")
}

fn write_executable(place: &Place, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = place.write(name, "");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_program_with_hooks() {
    with_each_compiler(|place| {
        place.write("a.c", MAIN);
        place.cc("a.c -o prog").silent();
        let executable = inspect(&place.path("prog")).unwrap();
        assert_eq!(executable.hooks, Hooks::Linked);
        assert!(executable.is_pie);
        assert_eq!(executable.needed[0], "libraddle_rt.so");
        executable.require_hooks().unwrap();

        place.cc("a.c -no-pie -fno-pie -s -o fixed").silent();
        let executable = inspect(&place.path("fixed")).unwrap();
        assert_eq!((executable.hooks, executable.is_pie), (Hooks::Linked, false));

        place.cc("-c a.c").silent();
        place.write(
            "other.c",
            "void __tsan_init(void) {} void __tsan_func_entry(void) {} void __tsan_func_exit(void) {}\n\
             void __tsan_write4(void) {}\n",
        );
        place.plain("-shared -fPIC other.c -o libother.so").silent();
        place.plain("a.o libother.so -o loose").silent();
        assert_eq!(inspect(&place.path("loose")).unwrap().hooks, Hooks::Imported);
    });
}

#[test]
fn a_plain_program() {
    with_each_compiler(|place| {
        place.write("a.c", MAIN);
        place.plain("a.c -o prog").silent();
        let executable = inspect(&place.path("prog")).unwrap();
        assert_eq!(executable.hooks, Hooks::None);
        let error = executable.require_hooks().unwrap_err().to_string();
        let expected = "is not instrumented; build it with `raddle cc` or `raddle c++`, or use --sync-only to control its \
                        synchronisation only";
        assert!(error.ends_with(expected), "{error}");
    });
}

#[test]
fn other_kinds_of_programs() {
    with_each_compiler(|place| {
        place.write("a.c", MAIN);
        if place.plain("-static a.c -o static").is_ok {
            assert_eq!(
                problem(&place.path("static")),
                "`X` is statically linked, which is not supported; link it dynamically"
            );
        }
        if place.plain("-fsanitize=thread a.c -o tsan").is_ok {
            assert_eq!(
                problem(&place.path("tsan")),
                "`X` is linked with ThreadSanitizer's runtime; rebuild it with `raddle cc` or `raddle c++` \
                 instead of -fsanitize=thread"
            );
        }
        place.write("own.c", &format!("void __tsan_read4(void *it) {{ (void)it; }}\n{MAIN}"));
        place.plain("own.c -o own").silent();
        assert_eq!(
            problem(&place.path("own")),
            "`X` defines `__tsan_read4` itself, which would bypass raddle's; build it without the \
             dependency that defines it"
        );
        place.plain("-c a.c").silent();
        let object = fs::read(place.path("a.o")).unwrap();
        let path = write_executable(place, "object", &object);
        assert_eq!(problem(&path), "`X` is not an ELF executable: it is an object file");
    });
}

#[test]
fn other_kinds_of_files() {
    let place = Place::new(CompilerChoice::Gcc);
    assert_eq!(problem(&place.path("nowhere")), "program `X` not found");
    assert_eq!(problem(&place.path("")), "`X` is not a file");
    let text = place.write("text", "hello");
    assert_eq!(problem(&text), "`X` is not executable; if it is a program, run `chmod +x` on it");
    let script = write_executable(&place, "script", b"#!/bin/sh\n");
    assert_eq!(problem(&script), "`X` is a script; name the program that it starts");
    for bytes in [&b""[..], b"hello", b"\x7fELF"] {
        let path = write_executable(&place, "odd", bytes);
        assert_eq!(problem(&path), "`X` is not an ELF executable");
    }

    place.write("a.c", MAIN);
    place.plain("a.c -o prog").silent();
    let good = fs::read(place.path("prog")).unwrap();
    let mut other = good.clone();
    other[18] = 183; // aarch64
    let path = write_executable(&place, "arm", &other);
    let expected = "`X` is not an x86-64 Linux program; raddle supports no other platform yet";
    assert_eq!(problem(&path), expected);
    let torn = write_executable(&place, "torn", &good[..100]);
    assert!(matches!(inspect(&torn).unwrap_err(), ExecutableError::NotElf { .. }));
}
