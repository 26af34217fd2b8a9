//! Addresses of real programs to places and names.

mod common;

use std::path::Path;

use common::{Place, with_each_compiler};
use raddle_launch::Symbols;

const SOURCE: &str = "\
static int total;
int table[10];
__attribute__((noinline)) static void inner(int *p) { *p += 1; }
static inline __attribute__((always_inline)) void middle(int *p) {
    inner(p);   
}
void outer(int *p) {
    static int calls;
    calls++;
    middle(p);
    total++;
}
int main(void) { outer(&table[3]); return total - 1; }
";

/// The address of the only call of `callee` in `caller`, less nothing: the call itself.
fn call_in(place: &Place, program: &str, caller: &str, callee: &str) -> u64 {
    let mut objdump = std::process::Command::new("objdump");
    let text = common::done(objdump.arg("-d").arg(place.path(program))).stdout;
    let body = text.split_once(&format!("<{caller}>:\n")).unwrap().1;
    let line = body.lines().find(|line| line.contains("call") && line.contains(callee)).unwrap();
    u64::from_str_radix(line.trim().split_once(':').unwrap().0, 16).unwrap()
}

fn address_of(place: &Place, program: &str, name: &str) -> u64 {
    let table = place.readelf("-s", program);
    let line = table
        .lines()
        .find(|line| line.split_whitespace().nth(7).is_some_and(|symbol| symbol.starts_with(name)));
    let address = line.unwrap_or_else(|| panic!("{name}")).split_whitespace().nth(1).unwrap();
    u64::from_str_radix(address, 16).unwrap()
}

#[test]
fn inlined_functions_are_frames_of_their_own() {
    with_each_compiler(|place| {
        place.write("dir/a.c", SOURCE);
        place.cc("-O1 ./dir/a.c -o prog").silent();
        let mut symbols = Symbols::new();
        let program = place.path("prog");
        let call = call_in(place, "prog", "outer", "<inner");
        for _ in 0..2 {
            let places = symbols.places(&program, call);
            let names: Vec<&str> = places.iter().map(|place| place.function.as_str()).collect();
            assert_eq!(names, ["middle", "outer"]);
            assert_eq!(places[0].line, 5);
            assert_eq!(places[1].line, 10);
            assert!(places[0].column > 0);
            assert_eq!(Path::new(&places[0].file), place.path("dir/a.c"));
            assert_eq!(places[0].module, "prog");
            assert_eq!(
                symbols.source_line(&places[0]).as_deref().map(str::trim),
                Some("inner(p);")
            );
        }
    });
}

#[test]
fn variables_by_address() {
    with_each_compiler(|place| {
        place.write("a.c", SOURCE);
        place.cc("-O1 a.c -o prog").silent();
        let program = place.path("prog");
        let path = |name| place.path(name).display().to_string();
        let mut symbols = Symbols::new();
        let table = address_of(place, "prog", "table");
        assert_eq!(symbols.global(&program, table + 12, 4).unwrap().name(), "table[3]");
        assert_eq!(symbols.global(&program, table + 4000, 4), None);
        let total = address_of(place, "prog", "total");
        let found = symbols.global(&program, total, 4).unwrap();
        assert_eq!((found.name().as_str(), found.function.as_str()), ("total", ""));
        assert_eq!((found.type_name.as_str(), found.size), ("int", 4));
        assert_eq!((&found.declared_at.file, found.declared_at.line), (&path("a.c"), 1));
        let symbol = if place.is_clang() { "outer.calls" } else { "calls" };
        let calls = address_of(place, "prog", symbol);
        let found = symbols.global(&program, calls, 4).unwrap();
        assert_eq!((found.name().as_str(), found.function.as_str()), ("calls", "outer"));
    });
}

#[test]
fn without_debug_information_there_are_names() {
    with_each_compiler(|place| {
        place.write("a.c", SOURCE);
        place.cc("-g0 -O1 a.c -o prog").silent();
        let call = call_in(place, "prog", "outer", "<inner");
        let places = Symbols::new().places(&place.path("prog"), call);
        assert_eq!(places.len(), 1);
        assert_eq!((places[0].function.as_str(), places[0].line), ("outer", 0));
        assert_eq!(Symbols::new().source_line(&places[0]), None);

        place.cc("-g -O1 -s -rdynamic a.c -o bare").silent();
        let main = place.readelf("--dyn-syms", "bare");
        let main = main.lines().find(|line| line.ends_with(" main")).unwrap();
        let main = u64::from_str_radix(main.split_whitespace().nth(1).unwrap(), 16).unwrap();
        assert_eq!(Symbols::new().places(&place.path("bare"), main)[0].function, "main");
        let nowhere = Symbols::new().places(&place.path("bare"), 1);
        assert_eq!((nowhere.len(), nowhere[0].function.as_str()), (1, ""));
    });
}

#[test]
fn names_are_demangled() {
    with_each_compiler(|place| {
        place.write(
            "a.cc",
            "#include <cstdlib>\nnamespace bank {\nint left;\nstruct Account { void pay(int n); };\n\
             void Account::pay(int n) { left -= n; abort(); }\n}\n\
             int main() { bank::Account().pay(1); }\n",
        );
        place.cxx("-O1 a.cc -o prog").silent();
        let program = place.path("prog");
        let mut symbols = Symbols::new();
        let call = call_in(place, "prog", "_ZN4bank7Account3payEi", "abort");
        let places = symbols.places(&program, call);
        assert_eq!(places[0].function, "bank::Account::pay(int)");
        assert_eq!(places[0].line, 5);
        let left = address_of(place, "prog", "_ZN4bank4leftE");
        assert_eq!(symbols.global(&program, left, 4).unwrap().name(), "bank::left");
    });
}

const PARTS: &str = "\
#include <pthread.h>
struct account { long balance; pthread_mutex_t lock; };
struct account accounts[3];
static pthread_mutex_t forks[5];
struct { int x; union { int y; struct { char pad[4], deep[2][3]; }; }; } whole;
int main(void) { return accounts[1].balance + (long)&forks + whole.deep[1][2]; }
";

#[test]
fn parts_of_variables_have_names() {
    with_each_compiler(|place| {
        place.write("parts.c", PARTS);
        place.cc("-g parts.c -o prog").silent();
        let mut symbols = Symbols::new();
        let program = place.path("prog");
        for (name, shift, expected, rest) in [
            ("accounts", 0, "accounts[0].balance", 0),
            ("accounts", 48 + 8, "accounts[1].lock", 0),
            ("accounts", 48 + 8 + 16, "accounts[1].lock", 0),
            ("accounts", 96 + 3, "accounts[2].balance", 3),
            ("forks", 80, "forks[2]", 0),
            ("whole", 4, "whole.y", 0),
            ("whole", 4 + 4 + 5, "whole.deep[1][2]", 0),
        ] {
            let address = address_of(place, "prog", name);
            let found = symbols.global(&program, address + shift, 1).unwrap();
            assert_eq!((found.name().as_str(), found.shift), (expected, rest), "{name} + {shift}");
        }
    });
}
