//! `raddle.toml`: what is not to be told, and defaults for the options of `raddle run`.
//!
//! The file is `raddle.toml` or `.config/raddle.toml` in the working directory or the nearest directory
//! above it that has one, up to the root of the repository. What stands on the command line or in the
//! environment counts more than a profile. All that is wrong with it is told with line and column.

mod document;
mod profile;
mod project;
mod rules;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use clap::{ArgMatches, parser::ValueSource};
use raddle_explore::suppress::{Suppressions, tsan};

use self::document::Document;
use crate::{
    args::{Arguments, RunArgs, Verb},
    ci::{self, Baseline},
    exit::{Exit, Failure},
    named::Project,
};

/// Names that the file may have, in the order in which they are looked for.
const NAMES: [&str; 2] = ["raddle.toml", ".config/raddle.toml"];

/// What a run is to follow beside its command line.
#[derive(Debug, Default)]
struct Config {
    /// Options of the profile, as arguments that may stand before those of the user.
    args: Vec<String>,
    suppressions: Suppressions,
    project: Option<Project>,
    /// What the user should know: rules that have expired.
    warnings: Vec<String>,
}

/// Why a run can't be configured.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It has been said on standard error.
    Said(Exit),
    /// It is to be said.
    Failure(Failure),
}

/// The options of a run, with what `raddle.toml` says; and what the user should know.
pub(crate) fn configure(
    args: RunArgs,
    line: &[OsString],
    matches: &ArgMatches,
) -> Result<(RunArgs, Vec<String>), Refused> {
    let for_server = matches.subcommand_matches("ci");
    let verb = if for_server.is_some() { "ci" } else { "run" };
    let matches = for_server.or_else(|| matches.subcommand_matches("run")).unwrap_or(matches);
    let mut config = load(&args, matches, for_server.is_some()).map_err(Refused::Failure)?;
    if for_server.is_some() {
        config.args.splice(0..0, ci::defaults(matches));
    }
    let mut args = args;
    if !config.args.is_empty() {
        let line = with_args(line, verb, &config.args);
        let (arguments, _) = Arguments::parse_or_exit(&line).map_err(Refused::Said)?;
        if let Verb::Run(configured) | Verb::Ci(configured) = arguments.verb {
            args = *configured;
        }
    }
    add_files(&args, &mut config).map_err(Refused::Failure)?;
    args.rules = config.suppressions;
    args.said = said(matches);
    args.project = config.project;
    args.known = Baseline::read(args.baseline.as_deref()).map_err(Refused::Failure)?;
    args.keep_going |= args.baseline.is_some();
    Ok((args, config.warnings))
}

/// What stands on the command line, by the names of arguments.
fn said(matches: &ArgMatches) -> Vec<String> {
    let is_said = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let ids = matches.ids().map(clap::Id::as_str);
    ids.filter(|it| matches.try_contains_id(it).is_ok() && is_said(it)).map(str::to_owned).collect()
}

/// A command line with more options, before those that the user gave.
fn with_args(line: &[OsString], verb: &str, args: &[String]) -> Vec<OsString> {
    let verb_idx = line.iter().position(|it| it == verb).unwrap_or(0);
    let (front, back) = line.split_at(verb_idx + 1);
    front
        .iter()
        .cloned()
        .chain(args.iter().map(OsString::from))
        .chain(back.iter().cloned())
        .collect()
}

/// Reads what there is for a run.
fn load(args: &RunArgs, matches: &ArgMatches, for_server: bool) -> Result<Config, Failure> {
    let mut config = Config::default();
    if let Some(path) = find(args.config.as_deref())? {
        let text = read(&path)?;
        let shown = shown(&path);
        let document = Document::parse(&shown, &text).map_err(Failure::usage)?;
        let rules = rules::read(&document, SystemTime::now()).map_err(Failure::usage)?;
        config.suppressions.rules = rules.rules;
        config.warnings = rules.warnings;
        let folder = path.parent().unwrap_or(Path::new(""));
        let has_ci = for_server && profile::has(&document, "ci").map_err(Failure::usage)?;
        let name = args.profile.as_deref().or(has_ci.then_some("ci"));
        let project = project::read(&document).map_err(Failure::usage)?;
        config.project = project.map(|it| Project { folder: folder.to_owned(), ..it });
        config.args = profile::read(&document, name, folder, matches).map_err(Failure::usage)?;
    } else if let Some(name) = &args.profile {
        return Err(Failure::usage(format!(
            "--profile {name}: no raddle.toml in this directory or a parent"
        )));
    }
    Ok(config)
}

/// Adds the rules of TSan's files that the options name.
fn add_files(args: &RunArgs, config: &mut Config) -> Result<(), Failure> {
    for path in &args.suppressions {
        let text = fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("--suppressions {}: {error}", path.display()))
        })?;
        let rules =
            tsan::parse(&shown(path), &text).map_err(|error| Failure::usage(error.to_string()))?;
        config.suppressions.rules.extend(rules);
    }
    Ok(())
}

/// Adds a `[[suppress]]` to the file that a run here would read, or to a new `raddle.toml`. Gives back the
/// file. What would not be read, or not be in force, is not written.
pub(crate) fn add_rule(rule: &str) -> Result<String, Failure> {
    let path = find(None)?.unwrap_or_else(|| NAMES[0].into());
    let old = if path.exists() { read(&path)? } else { String::new() };
    let gap = if old.is_empty() || old.ends_with("\n\n") { "" } else { "\n" };
    let end = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
    let new = format!("{old}{end}{gap}{rule}");
    let shown = shown(&path);
    let n_expired = |text: &str| -> Result<usize, Failure> {
        let document = Document::parse(&shown, text).map_err(Failure::usage)?;
        Ok(rules::read(&document, SystemTime::now()).map_err(Failure::usage)?.warnings.len())
    };
    if n_expired(&new)? > n_expired(&old)? {
        let line = "--expires is in the past; the rule would suppress nothing".to_owned();
        return Err(Failure::usage(line));
    }
    fs::write(&path, new)
        .map_err(|error| Failure::usage(format!("can't write {shown}: {error}")))?;
    Ok(shown)
}

/// The file to read, if there is one.
fn find(config: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = config {
        return Ok(Some(path.to_owned()));
    }
    let here = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("can't read the working directory: {error}")))?;
    for folder in here.ancestors() {
        // What can't be read is told, not passed by: a directory, a link to nowhere.
        let is_there = |it: &PathBuf| it.symlink_metadata().is_ok();
        let found = NAMES.iter().map(|it| folder.join(it)).find(is_there);
        if found.is_some() {
            return Ok(found);
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    Ok(None)
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::usage(format!("{}: {error}", shown(path))))
}

/// A path as short as it can be said.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, path::Path, time::SystemTime};

    use super::{Document, profile, rules};
    use crate::args::Arguments;

    /// Any `raddle.toml` is either accepted or rejected with line and column.
    #[test]
    fn garbled_files() {
        let text = "[profile.default]\nexecs = 500\nstrategy = \"pct:3\"\ndetect = [\"races\"]\n\n\
                    [profile.ci]\ninherits = \"default\"\ntime = \"2m\"\n\n\
                    [[suppress]]\nkind = \"race\"\nfunction = \"push*\"\nreason = \"known\"\nexpires = 2999-01-31\n";
        let line = ["raddle", "run", "prog.c"].map(OsString::from);
        let (_, matches) = Arguments::parse_or_exit(&line).expect("a good command line");
        let matches = matches.subcommand_matches("run").expect("it runs something");
        let mut n_wrong = 0;
        for bytes in raddle_tidy::garbled(text.as_bytes(), 400) {
            let text = String::from_utf8_lossy(&bytes);
            let read = Document::parse("raddle.toml", &text).and_then(|document| {
                rules::read(&document, SystemTime::UNIX_EPOCH)?;
                profile::read(&document, None, Path::new(""), matches)
            });
            if let Err(error) = read {
                assert!(error.starts_with("raddle.toml:"), "{error}");
                n_wrong += 1;
            }
        }
        assert!(n_wrong > 50, "only {n_wrong} of 400 were wrong");
    }
}
