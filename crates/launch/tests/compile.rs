//! `raddle run x.c`: what is compiled when, and what is said when it can't be.

mod common;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::{Place, done, with_each_compiler};
use raddle_launch::{
    CompileError, CompileRequest, Compiled, CompilerChoice, Fault, Hooks, compile, inspect,
};

fn request(inputs: &[PathBuf], flags: &str) -> CompileRequest {
    let flags = flags.split_whitespace().map(OsString::from).collect();
    CompileRequest { inputs: inputs.to_vec(), flags }
}

#[track_caller]
fn build(place: &Place, inputs: &[PathBuf], flags: &str) -> Compiled {
    compile(&place.toolchain, &request(inputs, flags)).unwrap_or_else(|error| panic!("{error}"))
}

fn output(compiled: &Compiled) -> String {
    done(&mut Command::new(&compiled.program)).ok().stdout.clone()
}

#[test]
fn a_source_is_compiled_once_for_each_content() {
    with_each_compiler(|place| {
        let header = place.write("words.h", "#define WORD \"one\"\n");
        let source = place.write(
            "say it.c",
            "#include <stdio.h>\n#include \"words.h\"\nint main(void) { puts(WORD); return 0; }\n",
        );
        let inputs = [source];
        let first = build(place, &inputs, "");
        assert!(first.program.ends_with("say it"));
        assert!(!first.is_cached);
        assert_eq!(output(&first), "one\n");
        assert_eq!(inspect(&first.program).unwrap().hooks, Hooks::Linked);

        let second = build(place, &inputs, "");
        assert!(second.is_cached);
        assert_eq!(second.program, first.program);

        fs::write(&header, "#define WORD \"two\"\n").unwrap();
        let third = build(place, &inputs, "");
        assert!(!third.is_cached);
        assert_eq!(output(&third), "two\n");
        assert_eq!(output(&first), "one\n", "a program in use stays what it was");

        assert!(!build(place, &inputs, "-O2").is_cached, "other flags");
        assert!(build(place, &inputs, "").is_cached);
        fs::write(&header, "#define WORD \"one\"\n").unwrap();
        assert_eq!(build(place, &inputs, "").program, first.program);
    });
}

#[test]
fn c_and_cxx_and_objects_go_together() {
    with_each_compiler(|place| {
        let c = place.write("c.c", "int c_part(void) { int class = 1; return class; }\n");
        let cxx = place.write(
            "main.cpp",
            "#include <iostream>\n#include <cmath>\nextern \"C\" int c_part(); int o_part(); \
             extern \"C\" int s_part();\n\
             int main() { std::cout << c_part() + o_part() + s_part() + NUMBER; }\n",
        );
        place.write("o.cc", "int o_part() { return 10; }\n");
        place.cxx("-c o.cc").silent();
        place.write("s.c", "int s_part(void) { return 100; }\n");
        place.cc("-shared -fPIC s.c -Wl,-soname,libs.so.1 -o libs.so.1").silent();
        let inputs = [c, cxx, place.path("o.o"), place.path("libs.so.1")];
        let compiled = build(place, &inputs, "-DNUMBER=1000 -lm");
        assert!(compiled.program.ends_with("c"));
        assert_eq!(output(&compiled), "1111");
        assert_eq!(compiled.warnings, "");

        place.write("o.cc", "int o_part() { return 20; }\n");
        place.cxx("-c o.cc").silent();
        assert_eq!(output(&build(place, &inputs, "-DNUMBER=1000 -lm")), "1121");
    });
}

#[test]
fn warnings_are_kept() {
    let place = Place::new(CompilerChoice::Gcc);
    let source = place.write("a.c", "int main(void) { int unused; return 0; }\n");
    let compiled = build(&place, &[source], "-Wall");
    assert!(compiled.warnings.contains("unused variable"), "{}", compiled.warnings);
}

#[test]
fn the_compilers_errors_are_kept_whole() {
    with_each_compiler(|place| {
        let a = place.write("a.c", "int main(void) { return first; }\n");
        let b = place.write("b.c", "int f(void) { return second; }\n");
        let error = compile(&place.toolchain, &request(&[a, b], "")).unwrap_err();
        assert_eq!(error.fault(), Fault::Compiler);
        let CompileError::Compiler { stderr } = error else { panic!("{error}") };
        assert!(stderr.contains("first") && stderr.contains("second"), "{stderr}");
        let c = place.write("c.c", "int g(void); int main(void) { return g(); }\n");
        let error = compile(&place.toolchain, &request(&[c], "")).unwrap_err();
        assert!(error.to_string().contains("undefined reference"), "{error}");
    });
}

#[test]
fn what_is_not_there_is_told() {
    let place = Place::new(CompilerChoice::Gcc);
    #[track_caller]
    fn check(place: &Place, inputs: &[PathBuf], expected: &str) {
        let error = compile(&place.toolchain, &request(inputs, "")).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.fault(), Fault::User);
    }
    check(&place, &["x.c".into()], "file not found: x.c");
    check(&place, &[], "no source given");
    let text = place.write("notes.txt", "");
    let expected =
        format!("`{}` is not a C, C++ or Rust source, object or library", text.display());
    check(&place, &[text], &expected);
}

#[test]
fn a_rust_source_is_compiled_once_for_each_content() {
    let place = Place::new(CompilerChoice::Environment);
    let module = place.write("words.rs", "pub const WORD: &str = \"one\";\n");
    let source =
        place.write("2 say.rs", "mod words;\nfn main() { println!(\"{}\", words::WORD) }\n");
    let inputs = [source.clone()];
    let first = build(&place, &inputs, "");
    assert_eq!(output(&first), "one\n");
    assert_eq!(inspect(&first.program).unwrap().hooks, Hooks::Linked);
    assert!(build(&place, &inputs, "").is_cached);
    fs::write(&module, "pub const WORD: &str = \"two\";\n").unwrap();
    let second = build(&place, &inputs, "");
    assert_eq!((output(&second).as_str(), second.is_cached), ("two\n", false));

    assert!(!build(&place, &inputs, "--edition=2024 -O").is_cached, "other flags");

    fs::write(&module, "pub const WORD: &str = 2;\n").unwrap();
    let error = compile(&place.toolchain, &request(&inputs, "")).unwrap_err();
    assert!(error.to_string().contains("error[E0308]: mismatched types"), "{error}");
    assert_eq!(error.fault(), Fault::Compiler);

    let error = compile(&place.toolchain, &request(&[source, module], "")).unwrap_err();
    assert!(error.to_string().contains("name only the Rust source with `main`"), "{error}");
}
