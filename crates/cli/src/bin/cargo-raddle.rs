//! `cargo raddle …`: cargo looks for a program of this name; it is `raddle cargo …` under another name.

mod beside;

fn main() -> std::process::ExitCode {
    // Cargo repeats the verb; who starts this program by hand does not.
    let mut args = std::env::args_os().skip(1).peekable();
    args.next_if(|it| it == "raddle");
    beside::become_raddle("cargo-raddle", "cargo", args)
}
