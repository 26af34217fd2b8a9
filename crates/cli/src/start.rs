//! `raddle run`: what the command line names, or else what `raddle.toml` does.

use crate::{
    args::RunArgs,
    cargo,
    exit::{Exit, Failure},
    named::Project,
    run,
    terminal::Terminal,
};

/// Explores a program.
pub(crate) fn run(args: &RunArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let names_nothing = args.sources.is_empty() && args.args.is_empty() && args.resume.is_none();
    match args.project.as_ref().filter(|_| names_nothing) {
        Some(project) => named_by_file(project, args, terminal),
        None => run::run(args, terminal),
    }
}

/// Explores what `raddle.toml` names, where the command line names nothing.
fn named_by_file(
    project: &Project,
    args: &RunArgs,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    if !project.folder.as_os_str().is_empty() {
        std::env::set_current_dir(&project.folder)
            .map_err(|error| Failure::usage(format!("{}: {error}", project.folder.display())))?;
    }
    if let Some(command) = &project.cargo {
        return cargo::explore(command, args, terminal);
    }
    if let Some(command) = &project.build {
        terminal.note(&format!("$ {command}\n"));
        let is_built = raddle_launch::shell(command)
            .map_err(|error| Failure::usage(format!("can't start a shell: {error}")))?;
        if !is_built {
            return Err(Failure::usage("`build` in raddle.toml failed".to_owned()));
        }
    }
    let mut args = args.clone();
    args.sources = project.sources.iter().map(Into::into).collect();
    args.args = project.program.iter().chain(&project.args).map(Into::into).collect();
    run::run(&args, terminal)
}
