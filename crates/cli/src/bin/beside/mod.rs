//! Programs that are `raddle` under another name. Each is a small program and not a link, because `cargo install` makes no
//! links.

use std::{
    env, ffi::OsString, io::Write as _, os::unix::process::CommandExt as _, process::Command,
};

/// Becomes `raddle VERB ARGS`; comes back only if it can't. The `raddle` in the same directory comes first: the two were
/// installed together.
pub(crate) fn become_raddle(
    name: &str,
    verb: &str,
    args: impl Iterator<Item = OsString>,
) -> std::process::ExitCode {
    let beside = env::current_exe().ok().map(|it| it.with_file_name("raddle"));
    let program = beside.filter(|it| it.exists()).unwrap_or_else(|| "raddle".into());
    let error = Command::new(&program).arg(verb).args(args).exec();
    // There is nobody left to tell if this fails.
    let _ = writeln!(
        std::io::stderr(),
        "error: can't start `{}`: {error}; `{name}` requires `raddle` in the same directory or in PATH",
        program.display()
    );
    std::process::ExitCode::FAILURE
}
