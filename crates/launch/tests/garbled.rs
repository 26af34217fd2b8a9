//! Programs and debug information that are wrong somewhere: each question gets an answer, or an error of one line.

mod common;

use std::{fs, path::Path};

use common::with_each_compiler;
use raddle_explore::target::{CodeAddress, StackSpot};
use raddle_launch::{Symbols, inspect, unhooked_code};

const SOURCE: &str = "\
struct node { struct node *next; union { int number; char text[8]; } value; };
static struct node first, table[10];
__attribute__((noinline)) static int inner(struct node *it, int n) {
    int local[4] = { n, it->value.number };
    __atomic_fetch_add(&table[n].value.number, local[1], __ATOMIC_SEQ_CST);
    return local[0];
}
int main(int n, char **args) { return inner(&first, n - 1) + (args[0] == 0); }
";

/// Copies of each program.
const N_COPIES: u64 = 400;

#[test]
fn garbled_programs() {
    with_each_compiler(|place| {
        place.write("a.c", SOURCE);
        place.cc("-g -O1 a.c -o prog").silent();
        let program = fs::read(place.path("prog")).unwrap();
        let path = place.path("garbled");
        let mut n_wrong = 0;
        for copy in raddle_tidy::garbled(&program, N_COPIES) {
            fs::write(&path, copy).unwrap();
            match inspect(&path) {
                Ok(_) => drop(unhooked_code(&path)),
                Err(error) => {
                    assert_eq!(error.to_string().lines().count(), 1, "{error}");
                    n_wrong += 1;
                }
            }
            ask(&path);
        }
        assert!(n_wrong > 0, "all were good");
    });
}

/// Asks about addresses all over a small program.
fn ask(path: &Path) {
    let mut symbols = Symbols::new();
    let module = path.to_str().unwrap();
    for offset in (0..0x5000).step_by(0x61) {
        assert!(!symbols.places(path, offset).is_empty());
        let _ = symbols.callee(path, offset);
        let _ = symbols.global(path, offset, 4);
        let code = CodeAddress { module, offset };
        let _ = symbols.local(&StackSpot { code, from_cfa: -24, from_sp: 8 }, 4);
        let _ = symbols.block(&[code], 24, 8, 4);
    }
    let _ = symbols.unseen_atomic(path);
    let _ = symbols.newer_sources(path);
}
