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
    terminal.out(&String::from_utf8_lossy(&script(shell)));
    Exit::Clean
}

/// The script.
pub(crate) fn script(shell: ShellName) -> Vec<u8> {
    let shell = match shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "raddle", &mut script);
    script
}

/// Writes the manual page of `raddle`, or one for each command into a directory.
pub(crate) fn man(output: Option<&Path>, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let Some(folder) = output else {
        let mut page = Vec::new();
        let written = clap_mangen::Man::new(Arguments::command()).render(&mut page);
        written.map_err(|error| failed(Path::new("the page"), &error))?;
        terminal.out(&String::from_utf8_lossy(&page));
        return Ok(Exit::Clean);
    };
    pages(folder)?;
    terminal.note(&format!("wrote the manual pages into {}\n", folder.display()));
    Ok(Exit::Clean)
}

/// Writes a page for each command into a directory.
pub(crate) fn pages(folder: &Path) -> Result<(), Failure> {
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| clap_mangen::generate_to(Arguments::command(), folder))
        .map_err(|error| failed(folder, &error))
}

fn failed(what: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("can't write {}: {error}", what.display()))
}
