//! `cargo raddle …`: cargo looks for a program of this name; it is `raddle cargo …` under another name.

use std::{env, io::Write as _, os::unix::process::CommandExt as _, process::Command};

fn main() -> std::process::ExitCode {
    // Cargo repeats the verb; who starts this program by hand does not.
    let mut args = env::args_os().skip(1).peekable();
    args.next_if(|it| it == "raddle");
    let beside = env::current_exe().ok().map(|it| it.with_file_name("raddle"));
    let program = beside.filter(|it| it.exists()).unwrap_or_else(|| "raddle".into());
    let error = Command::new(&program).arg("cargo").args(args).exec();
    // There is nobody left to tell if this fails.
    let _ = writeln!(
        std::io::stderr(),
        "error: can't start `{}`: {error}; `cargo-raddle` requires `raddle` in the same directory or in PATH",
        program.display()
    );
    std::process::ExitCode::FAILURE
}
