//! What shells and `man` want to know of the command line: completions and manual pages, out of clap's own tables.

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{
    args::{Arguments, ShellName},
    exit::{Exit, Failure},
    terminal::Terminal,
};

/// Writes the script that completes `raddle`'s command line.
pub(crate) fn completions(shell: ShellName, terminal: &mut Terminal) -> Exit {
    let shell = match shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "raddle", &mut script);
    terminal.out(&String::from_utf8_lossy(&script));
    Exit::Clean
}

/// Writes the manual page of `raddle`, or one for each command into a directory.
pub(crate) fn man(output: Option<&Path>, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let command = Arguments::command();
    let failed = |what: &Path, error: std::io::Error| {
        Failure::usage(format!("can't write {}: {error}", what.display()))
    };
    let Some(folder) = output else {
        let mut page = Vec::new();
        let written = clap_mangen::Man::new(command).render(&mut page);
        written.map_err(|error| failed(Path::new("the page"), error))?;
        terminal.out(&String::from_utf8_lossy(&page));
        return Ok(Exit::Clean);
    };
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| clap_mangen::generate_to(command, folder))
        .map_err(|error| failed(folder, error))?;
    terminal.note(&format!("wrote the manual pages into {}\n", folder.display()));
    Ok(Exit::Clean)
}
