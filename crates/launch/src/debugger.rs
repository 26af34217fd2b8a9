//! A debugger for an execution that waits for one.

use std::{
    io,
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

/// Is gdb here?
pub fn has_gdb() -> bool {
    let mut command = Command::new("gdb");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|it| it.success())
}

/// Attaches gdb to a process, with a script of ours and commands of the user's, on our own terminal; comes
/// back when gdb ends.
pub fn gdb(pid: u32, script: &Path, commands: &[String], is_batch: bool) -> io::Result<ExitStatus> {
    let mut command = Command::new("gdb");
    command.args(["-q", "-nx"]);
    if is_batch {
        command.arg("-batch");
    }
    command.arg("-p").arg(pid.to_string()).arg("-x").arg(script);
    for it in commands {
        command.arg("-ex").arg(it);
    }
    command.status()
}

/// Ends an execution that nobody looks at any more: without its debugger it might wait for ever.
#[expect(unsafe_code, reason = "sends a signal")]
pub fn end(pid: u32) {
    let Ok(pid) = i32::try_from(pid) else { return };
    // SAFETY: a plain system call; the process is one that we started, or is gone.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}
