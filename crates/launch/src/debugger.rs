//! A debugger for an execution that waits for one.

use std::{
    io,
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

/// A debugger that we can lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Debugger {
    /// With commands of ours, in its Python.
    Gdb,
    /// With plain commands: Debian's has no Python.
    Lldb,
}

/// Why a debugger can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// It is not here.
    Missing,
    /// It was built without Python.
    NoPython,
}

impl Debugger {
    /// Is it here, with what we need of it?
    pub fn look(self) -> Result<(), Lack> {
        let (name, args): (&str, &[&str]) = match self {
            Debugger::Gdb => ("gdb", &["-nx", "-batch", "-ex", "python print('can script')"]),
            Debugger::Lldb => ("lldb", &["--version"]),
        };
        let mut command = Command::new(name);
        command.args(args).stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().map_err(|_| Lack::Missing)?;
        let said = String::from_utf8_lossy(&output.stdout);
        match self {
            Debugger::Gdb if !said.contains("can script") => Err(Lack::NoPython),
            Debugger::Lldb if !output.status.success() => Err(Lack::Missing),
            _ => Ok(()),
        }
    }

    /// Attaches it to a process, with a script of ours and commands of the user's, on our own terminal; comes
    /// back when it ends.
    pub fn attach(
        self,
        pid: u32,
        script: &Path,
        commands: &[String],
        is_batch: bool,
    ) -> io::Result<ExitStatus> {
        let (name, quiet, batch, run) = match self {
            Debugger::Gdb => ("gdb", ["-q", "-nx"], "-batch", ["-x", "-ex"]),
            Debugger::Lldb => ("lldb", ["-X", "-x"], "-b", ["-s", "-o"]),
        };
        let mut command = Command::new(name);
        command.args(quiet);
        if is_batch {
            command.arg(batch);
        }
        command.arg("-p").arg(pid.to_string()).arg(run[0]).arg(script);
        for it in commands {
            command.arg(run[1]).arg(it);
        }
        command.status()
    }
}

/// gdb for an editor, which leads it through its machine interface on our standard input and output; comes back when it
/// ends. The script says what it has to know; nothing is attached yet.
pub fn serve(script: &Path, commands: &[String]) -> io::Result<ExitStatus> {
    let mut command = Command::new("gdb");
    command.args(["-q", "-nx", "--interpreter=mi", "-x"]).arg(script);
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
