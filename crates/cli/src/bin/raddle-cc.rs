//! `raddle-cc`: `raddle cc` as one word, for build systems that take no compiler with a space in it.

mod beside;

fn main() -> std::process::ExitCode {
    beside::become_raddle("raddle-cc", "cc", std::env::args_os().skip(1))
}
