//! `raddle-cxx`: `raddle c++` as one word, for build systems that take no compiler with a space in it. Not `raddle-c++`,
//! which is no name of a crate: a link of that name to `raddle` works.

mod beside;

fn main() -> std::process::ExitCode {
    beside::become_raddle("raddle-cxx", "c++", std::env::args_os().skip(1))
}
