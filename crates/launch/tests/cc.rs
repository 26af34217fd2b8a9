//! `raddle cc` and `raddle c++` against the real compilers: each form of command line that builds use.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Place, with_each_compiler};
use raddle_launch::{CcError, CompilerChoice, Fault, Language};

const MAIN: &str = r#"
#include <pthread.h>
#include <stdio.h>
int helper(int);
int counter;
volatile int flag;
static void *work(void *arg) { counter++; flag++; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    printf("%d\n", helper(counter));
    return 0;
}
"#;
const HELPER: &str = "#include \"helper.h\"\nint helper(int x) { return x + OFFSET; }\n";
const COUNTED: &str = "init 1 entry 1 access 1 volatile 1 atomic 0\n";

fn write_sources(place: &Place) {
    place.write("main.c", MAIN);
    place.write("helper.c", HELPER);
    place.write("helper.h", "#define OFFSET 41\n");
}

#[track_caller]
fn check_program(place: &Place, name: &str) {
    let result = place.run(name);
    assert_eq!((result.stdout.as_str(), result.stderr.as_str()), ("42\n", COUNTED));
    let needed = place.needed(name);
    assert_eq!(needed[0], "libraddle_rt.so", "first, to be asked first");
    assert!(!needed.iter().any(|name| name.contains("tsan")), "{needed:?}");
}

fn refused(place: &Place, args: &str) -> CcError {
    let args: Vec<&str> = args.split_whitespace().collect();
    place.driver(Language::C, &args).unwrap_err()
}

#[test]
fn sources_to_a_program_in_one_step() {
    with_each_compiler(|place| {
        write_sources(place);
        place.cc("main.c helper.c -o prog -lm -pthread -Wall -Wextra -Werror").silent();
        check_program(place, "prog");
        assert_eq!(place.files(), ["helper.c", "helper.h", "main.c", "prog"]);
        place.cc("-O2 helper.c main.c").silent();
        check_program(place, "a.out");
    });
}

#[test]
fn objects_first_then_a_link() {
    with_each_compiler(|place| {
        write_sources(place);
        place.cc("-c main.c").silent();
        place.cc("-O2 -c helper.c -o h.o -Werror").silent();
        place.cc("main.o h.o -o prog").silent();
        check_program(place, "prog");
        place.cc("main.c h.o -o mixed -Werror").silent();
        check_program(place, "mixed");
    });
}

#[test]
fn every_access_has_its_hook() {
    with_each_compiler(|place| {
        place.write("a.c", "int x; volatile int v; void f(void) { x++; v = 1; (void)v; }\n");
        place.cc("-O2 -c a.c").silent();
        let hooks = place.hooks("a.o");
        for name in ["read4", "write4", "volatile_read4", "volatile_write4", "func_entry", "init"] {
            assert!(hooks.contains(&format!("__tsan_{name}")), "{name}: {hooks:?}");
        }
    });
}

#[test]
fn a_call_in_tail_position_keeps_its_frame() {
    with_each_compiler(|place| {
        place.write("a.c", "int g(int *); int f(int *p) { *p = 1; return g(p); }\n");
        place.cc("-O2 -S a.c").silent();
        let text = fs::read_to_string(place.path("a.s")).unwrap();
        assert!(text.contains("call\tg") || text.contains("callq\tg"), "{text}");
    });
}

#[test]
fn questions_get_the_compilers_own_answers() {
    with_each_compiler(|place| {
        for args in
            ["--version", "-dumpmachine", "-print-search-dirs", "-print-file-name=libc.so.6"]
        {
            let (ours, plain) = (place.cc(args), place.plain(args));
            assert_eq!(ours.ok().stdout, plain.stdout, "{args}");
        }
        assert_eq!(place.cc("-v").ok().stderr, place.plain("-v").stderr);
        let (ours, plain) = (place.cc("-o x"), place.plain("-o x"));
        assert!(!ours.is_ok);
        assert_eq!(ours.stderr, plain.stderr);
        assert!(place.cc("-Wl,--version").stdout.contains("ld"));
        write_sources(place);
        assert!(place.cc("-### main.c -o never").ok().stderr.contains("raddle_rt"));
        assert!(!place.path("never").exists());
    });
}

#[test]
fn stages_before_the_link() {
    with_each_compiler(|place| {
        write_sources(place);
        assert!(place.cc("-E -Werror helper.c").ok().stdout.contains("return x + 41"));
        assert!(place.cc("-M -Werror helper.c").ok().stdout.contains("helper.h"));
        assert_eq!(place.cc("-MM -Werror helper.c").ok().stdout, "helper.o: helper.c helper.h\n");
        place.cc("-fsyntax-only -Werror helper.c").silent();
        place.cc("-S -Werror helper.c").silent();
        assert_eq!(place.files(), ["helper.c", "helper.h", "helper.s", "main.c"]);
        place.cc("-c -Werror helper.s").silent();
        place.cc("main.c helper.s -o prog").silent();
        check_program(place, "prog");
    });
}

#[test]
fn preprocessing_knows_of_the_hooks() {
    with_each_compiler(|place| {
        place.write(
            "a.c",
            "#ifdef __has_feature\n#if __has_feature(thread_sanitizer)\nhooked\n#endif\n\
             #elif defined __SANITIZE_THREAD__\nhooked\n#endif\n",
        );
        assert!(place.cc("-E a.c").ok().stdout.contains("\nhooked"));
    });
}

/// Builds read these files back: they must have the names and the targets they would have without us.
#[test]
fn dependency_files_are_the_compilers_own() {
    with_each_compiler(|place| {
        for args in [
            "-MMD -MF some.d -c helper.c -o out.o",
            "-MMD -MP -MT target -MF some.d -c helper.c",
            "-MMD -c helper.c -o out.o",
            "-MD -c helper.c",
            "-Wp,-MMD,some.d -c helper.c -o out.o",
            "-MMD main.c helper.c -o prog",
        ] {
            let found = [true, false].map(|is_ours| {
                write_sources(place);
                if is_ours { place.cc(args) } else { place.plain(args) }.silent();
                let names = place.files();
                let texts: Vec<String> = names
                    .iter()
                    .filter(|name| name.ends_with(".d"))
                    .map(|name| fs::read_to_string(place.path(name)).unwrap())
                    .collect();
                fs::remove_dir_all(place.path("")).unwrap();
                fs::create_dir(place.path("")).unwrap();
                (names, texts)
            });
            assert_eq!(found[0], found[1], "{args}");
            assert!(!found[0].1.is_empty(), "{args}: {found:?}");
        }
    });
}

#[test]
fn temporary_files_can_be_kept() {
    with_each_compiler(|place| {
        write_sources(place);
        // clang warns of its own debug information there.
        place.cc("-save-temps main.c helper.c -o prog").ok();
        assert!(place.files().iter().any(|name| name.ends_with("helper.i")), "{:?}", place.files());
        check_program(place, "prog");
    });
}

#[test]
fn languages_by_flag_and_standard_input() {
    with_each_compiler(|place| {
        write_sources(place);
        place.write("odd", MAIN);
        place.cc("-x c odd -x none helper.c -o prog").silent();
        check_program(place, "prog");

        place.cc("-c -x c /dev/null -o empty.o").silent();
        let mut command = place.driver(Language::C, &["-x", "c", "-c", "-", "-o", "s.o"]).unwrap();
        let source = fs::File::open(place.path("helper.c")).unwrap();
        let result = common::done(command.arg("-I.").stdin(source));
        assert!(result.is_ok, "{result:?}");
        place.cc("main.c s.o -o prog2").silent();
        check_program(place, "prog2");
    });
}

#[test]
fn response_files() {
    with_each_compiler(|place| {
        write_sources(place);
        place.write("sp ace.c", HELPER);
        let inner = place.write("inner.rsp", "'sp ace.c' -DQUOTED='\"a b\"'");
        let link = place.path("outer.rsp");
        fs::write(&link, format!("main.c \"@{}\"\n-o\tprog\n", inner.display())).unwrap();
        let at = |path: &std::path::Path| format!("@{}", path.display());
        let mut command = place.driver(Language::C, &[&at(&link)]).unwrap();
        common::done(&mut command).silent();
        check_program(place, "prog");

        fs::write(&link, format!("-fsanitize=thread main.c '@{}' -o prog2", inner.display()))
            .unwrap();
        let mut command = place.driver(Language::C, &[&at(&link)]).unwrap();
        common::done(&mut command).silent();
        check_program(place, "prog2");
    });
}

#[test]
fn shared_libraries() {
    with_each_compiler(|place| {
        write_sources(place);
        for strict in ["-Wl,--no-undefined", "-Wl,-z,defs", "-Wl,-z -Wl,defs", ""] {
            place.cc(&format!("-shared -fPIC helper.c -o libhelper.so {strict}")).silent();
            assert!(place.needed("libhelper.so").contains(&"libraddle_rt.so".into()));
        }
        place.cc("main.c -L. -lhelper -Wl,-rpath,$ORIGIN -o prog").silent();
        check_program(place, "prog");
        place.cc("-fPIC -c helper.c").silent();
        place.cc("-shared -nostdlib helper.o -Wl,--no-undefined -o bare.so").silent();
        assert_eq!(place.needed("bare.so"), ["libraddle_rt.so"]);
    });
}

#[test]
fn archives_and_linker_states() {
    with_each_compiler(|place| {
        write_sources(place);
        place.cc("-c helper.c main.c").silent();
        common::done(
            std::process::Command::new("ar")
                .args(["rcs", "libhelper.a", "helper.o"])
                .current_dir(place.path("")),
        )
        .ok();
        place.cc("-o prog -Wl,--as-needed main.o -L. -lhelper -lm").silent();
        check_program(place, "prog");
        assert!(!place.needed("prog").iter().any(|name| name.starts_with("libm.")));
        place.cc("-o prog2 -Wl,--no-as-needed main.o -L . -l helper -lm").silent();
        check_program(place, "prog2");
        assert!(place.needed("prog2").iter().any(|name| name.starts_with("libm.")));
        place
            .cc("-o prog3 -Wl,--whole-archive -L. -lhelper -Wl,--no-whole-archive main.o")
            .silent();
        check_program(place, "prog3");
    });
}

#[test]
fn objects_from_objects() {
    with_each_compiler(|place| {
        write_sources(place);
        place.cc("-c helper.c main.c").silent();
        place.cc("-r -nostdlib helper.o main.o -o both.o").silent();
        place.cc("both.o -o prog").silent();
        check_program(place, "prog");
    });
}

#[test]
fn static_programs_are_refused_in_one_line() {
    with_each_compiler(|place| {
        write_sources(place);
        let error = refused(place, "-static main.c helper.c");
        assert_eq!(error.to_string(), "-static is not supported; link dynamically");
        assert_eq!(error.fault(), Fault::User);
        assert!(matches!(refused(place, "main.o -static-pie"), CcError::Static { .. }));
        place.cc("-static -c helper.c").ok();
        place.cc("-static-libgcc main.c helper.c -o prog").ok();
        check_program(place, "prog");
    });
}

#[test]
fn sanitizers_of_the_users_own() {
    with_each_compiler(|place| {
        write_sources(place);
        place.cc("-fsanitize=thread main.c helper.c -o prog").silent();
        check_program(place, "prog");
        place.cc("-fsanitize=thread -c main.c helper.c").silent();
        place.cc("-fsanitize=thread main.o helper.o -ltsan -o prog2").silent();
        check_program(place, "prog2");
        place.cc("-fsanitize=undefined,thread -c main.c helper.c").silent();
        assert!(place.hooks("main.o").contains(&"__tsan_func_entry".into()));

        let error = refused(place, "-fsanitize=address main.c");
        assert_eq!(
            error.to_string(),
            "-fsanitize=address can't be combined with raddle's instrumentation; remove it"
        );
        assert_eq!(error.fault(), Fault::User);
        assert!(matches!(
            refused(place, "-c -fsanitize=leak,bounds a.c"),
            CcError::Sanitizer { .. }
        ));

        place.cc("-fno-sanitize=thread -c helper.c -o without.o").silent();
        assert!(place.hooks("without.o").is_empty());
        place.cc("main.c without.o -o prog3").silent();
        check_program(place, "prog3");
    });
}

#[test]
fn undefined_behaviour_checks_still_link() {
    let place = Place::new(CompilerChoice::Gcc);
    write_sources(&place);
    place.cc("-fsanitize=undefined main.c helper.c -o prog").silent();
    let result = place.run("prog");
    assert_eq!((result.stdout.as_str(), result.stderr.as_str()), ("42\n", COUNTED));
}

#[test]
fn fences_are_no_errors() {
    with_each_compiler(|place| {
        place.write(
            "a.cc",
            "#include <atomic>\n#include <iostream>\nstd::atomic<int> a;\nint main() {\n\
             a++; std::atomic_thread_fence(std::memory_order_seq_cst);\n\
             try { throw 1; } catch (int) { std::cout << a.load() << std::endl; } }\n",
        );
        place.cxx("-std=c++17 -O2 -Wall -Wextra -Werror a.cc -o prog").silent();
        let result = place.run("prog");
        assert_eq!(result.stdout, "1\n");
        assert!(result.stderr.contains("atomic 1"), "{}", result.stderr);
    });
}

/// clang needs a plugin of the linker for it, which is not always there.
#[test]
fn link_time_optimisation() {
    with_each_compiler(|place| {
        write_sources(place);
        place.cc("-O2 -flto -c main.c").silent();
        place.cc("-O2 -flto -c helper.c").silent();
        if !place.is_clang() || place.plain("-flto -x c /dev/null -shared -o probe").is_ok {
            place.cc("-O2 -flto main.o helper.o -o prog").ok();
            check_program(place, "prog");
        }
    });
}

#[test]
fn precompiled_headers() {
    with_each_compiler(|place| {
        write_sources(place);
        let name = if place.is_clang() { "helper.h.pch" } else { "helper.h.gch" };
        place.cc(&format!("-x c-header helper.h -o {name}")).silent();
        place.cc("-Winvalid-pch -Werror -include helper.h -c helper.c").silent();
        assert!(place.path(name).exists());
    });
}

#[test]
fn what_the_compiler_says_passes_through() {
    with_each_compiler(|place| {
        place.write("bad.c", "int main(void) { return missing; }\n");
        let (ours, plain) = (place.cc("-c bad.c"), place.plain("-c bad.c"));
        assert!(!ours.is_ok);
        assert_eq!(ours.stderr, plain.stderr);
        let missing = place.cc("nowhere.c");
        assert!(!missing.is_ok && missing.stderr.contains("nowhere.c"), "{missing:?}");
        place.write("undefined.c", "int f(void); int main(void) { return f(); }\n");
        let linked = place.cc("undefined.c");
        assert!(!linked.is_ok && linked.stderr.contains("undefined reference"), "{linked:?}");
    });
}

#[test]
fn debug_information_unless_refused() {
    with_each_compiler(|place| {
        write_sources(place);
        let sections = |args: &str| {
            place.cc(args).silent();
            place.readelf("-S", "helper.o")
        };
        assert!(sections("-c helper.c").contains(".debug_info"));
        assert!(sections("-c helper.c -gdwarf-4").contains(".debug_info"));
        assert!(!sections("-c helper.c -g0").contains(".debug_info"));
    });
}

#[test]
fn a_compiler_is_asked_once() {
    let place = Place::new(CompilerChoice::Gcc);
    let script = place.write("wrapped-cc", "#!/bin/sh\necho x >> \"$0.log\"\nexec gcc \"$@\"\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    write_sources(&place);
    let mut place = place;
    place.toolchain.choice = CompilerChoice::Program(script.clone());
    let n_runs = || fs::read_to_string(script.with_extension("log")).unwrap().lines().count();
    place.cc("-c main.c").silent();
    let n_first = n_runs();
    assert!(n_first > 1, "it was asked");
    place.cc("-c helper.c").silent();
    assert_eq!(n_runs(), n_first + 1);
    // Another version: other contents, other time.
    fs::write(&script, "#!/bin/sh\necho x >> \"$0.log\"\n# new\nexec gcc \"$@\"\n").unwrap();
    place.cc("-c helper.c").silent();
    assert_eq!(n_runs(), 2 * n_first + 1);
}

#[test]
fn no_compiler_or_an_unfit_one() {
    let mut place = Place::new(CompilerChoice::Program("no-such-cc".into()));
    let error = refused(&place, "-c a.c");
    assert_eq!(error.to_string(), "compiler `no-such-cc` not found; set RADDLE_CC or RADDLE_CXX");
    place.toolchain.choice = CompilerChoice::Program("/bin/true".into());
    let error = refused(&place, "-c a.c");
    assert_eq!(
        error.to_string(),
        "can't use the compiler `/bin/true`: it is neither gcc nor clang"
    );
    assert_eq!(error.fault(), Fault::User);
}
