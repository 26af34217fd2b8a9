//! `[profile.NAME]`: defaults for the options of `raddle run`.
//!
//! A key is an option without its dashes. The values become arguments that stand before the user's own,
//! so they are checked by whoever checks those; what the command line or the environment says is left
//! out. A profile inherits from another (`inherits = "…"`), and all of them from `default`.

use std::path::Path;

use clap::{ArgMatches, CommandFactory as _, parser::ValueSource};
use toml::de::DeValue;

use super::document::{Document, Item, Node};
use crate::{args::Arguments, spelling};

/// The profile that counts when none is named.
const DEFAULT: &str = "default";
/// What a profile can't say.
const NOT_HERE: [&str; 10] = [
    "config",
    "profile",
    "resume",
    "budget",
    "help",
    "version",
    "color",
    "ascii",
    "baseline",
    "write-baseline",
];
/// Paths are relative to the file.
const PATHS: [&str; 3] = ["stdin", "store", "suppressions"];
/// When to stop: who says one of these says them all.
const BUDGET: [&str; 3] = ["execs", "time", "budget"];
/// Profiles that inherit from profiles, at most.
const DEPTH_MAX: usize = 8;

/// The arguments of a profile.
pub(super) fn read(
    document: &Document<'_>,
    name: Option<&str>,
    folder: &Path,
    matches: &ArgMatches,
) -> Result<Vec<String>, String> {
    let mut profiles: Vec<Item<'_>> = Vec::new();
    for item in document.items().into_iter().filter(|it| it.key == "profile") {
        profiles.extend(item.node.items()?);
    }
    let mut way = chain(document, &profiles, name)?;
    // The nearest comes last, and counts.
    way.reverse();
    let mut args = Vec::new();
    for item in &profiles {
        // What is wrong in a profile is told also while another one is used.
        for item in settings(item.node)? {
            let words = words(document, &item, folder)?;
            check(document, &item, &words)?;
        }
    }
    for node in way {
        for item in settings(node)? {
            if !is_said(item.key, matches) {
                args.extend(words(document, &item, folder)?);
            }
        }
    }
    Ok(args)
}

/// Does the file have a profile of this name?
pub(super) fn has(document: &Document<'_>, name: &str) -> Result<bool, String> {
    for item in document.items().into_iter().filter(|it| it.key == "profile") {
        if item.node.items()?.iter().any(|it| it.key == name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The profile and those that it inherits from, itself first.
fn chain<'d>(
    document: &Document<'_>,
    profiles: &[Item<'d>],
    name: Option<&str>,
) -> Result<Vec<Node<'d>>, String> {
    let find = |name: &str| profiles.iter().find(|it| it.key == name);
    let mut way: Vec<Node<'d>> = Vec::new();
    let mut next = match name {
        Some(name) => Some(find(name).copied().ok_or_else(|| {
            let names: Vec<&str> = profiles.iter().map(|it| it.key).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!("unknown profile `{name}` in {}; available: {names}", document.file())
        })?),
        None => find(DEFAULT).copied(),
    };
    while let Some(item) = next {
        if way.len() == DEPTH_MAX {
            return Err(document.wrong(item.at, "this profile inherits from itself"));
        }
        way.push(item.node);
        let parent = item.node.items()?.into_iter().find(|it| it.key == "inherits");
        next = match parent {
            Some(parent) => {
                let name = parent.node.string()?;
                let what = format!("expected the name of a profile, found `{name}`");
                let found = find(name).copied();
                Some(found.ok_or_else(|| document.wrong(parent.node.at(), &what))?)
            }
            None if item.key == DEFAULT => None,
            None => find(DEFAULT).copied(),
        };
    }
    Ok(way)
}

fn settings<'d>(node: Node<'d>) -> Result<Vec<Item<'d>>, String> {
    Ok(node.items()?.into_iter().filter(|it| it.key != "inherits").collect())
}

/// Does the command line or the environment say it?
fn is_said(key: &str, matches: &ArgMatches) -> bool {
    let is_said = |key: &str| {
        let id = key.replace('-', "_");
        let source = matches.try_contains_id(&id).is_ok().then(|| matches.value_source(&id));
        matches!(source.flatten(), Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    if BUDGET.contains(&key) { BUDGET.iter().any(|it| is_said(it)) } else { is_said(key) }
}

/// A setting as arguments.
fn words(document: &Document<'_>, item: &Item<'_>, folder: &Path) -> Result<Vec<String>, String> {
    let Item { key, at, node } = *item;
    let options = options();
    if !options.iter().any(|it| it == key) {
        let near = spelling::nearest(key, options.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("; did you mean `{near}`?"),
            None => "; `raddle run --help` lists them".to_owned(),
        };
        return Err(
            document.wrong(at, &format!("expected an option of `raddle run`, found `{key}`{hint}"))
        );
    }
    let of_path = |text: String| match PATHS.contains(&key) {
        true => folder.join(text).display().to_string(),
        false => text,
    };
    Ok(match node.value() {
        DeValue::Boolean(true) => vec![format!("--{key}")],
        DeValue::Boolean(false) => Vec::new(),
        DeValue::Array(_) => {
            let values = node.nodes()?.into_iter().map(scalar).collect::<Result<Vec<_>, _>>()?;
            values.into_iter().map(|it| format!("--{key}={}", of_path(it))).collect()
        }
        _ => vec![format!("--{key}={}", of_path(scalar(node)?))],
    })
}

fn scalar(node: Node<'_>) -> Result<String, String> {
    match node.value() {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number.as_str().replace('_', "")),
        DeValue::Float(number) => Ok(number.as_str().replace('_', "")),
        _ => Err(node.expected("a string or a number")),
    }
}

/// Would the option take it?
fn check(document: &Document<'_>, item: &Item<'_>, words: &[String]) -> Result<(), String> {
    let line = ["raddle", "run", "x.c"].into_iter().map(str::to_owned).chain(words.iter().cloned());
    let Err(error) = Arguments::command().try_get_matches_from(line) else { return Ok(()) };
    let text = error.render().to_string();
    // What follows the first gap is advice for a command line.
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|it| !it.is_empty()).collect();
    let why = lines.join(" ");
    Err(document.wrong(item.node.at(), why.strip_prefix("error: ").unwrap_or(&why)))
}

/// The options of `raddle run`, without their dashes.
fn options() -> Vec<String> {
    let command = Arguments::command();
    let run = command.find_subcommand("run").expect("bug: there is `raddle run`");
    let names = run.get_arguments().filter_map(|it| it.get_long()).map(str::to_owned);
    names.filter(|it| !NOT_HERE.contains(&it.as_str())).collect()
}
