//! The user's own command that builds a program.

use std::{io, process::Command};

/// Runs a command of the shell, with our output as its own. Did it succeed?
pub fn shell(command: &str) -> io::Result<bool> {
    Command::new("sh").args(["-c", command]).status().map(|it| it.success())
}
