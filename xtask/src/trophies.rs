//! Bugs in released software (`docs/trophies.md`), shown again in the unmodified packages.
//!
//! A crate: a program in `xtask/trophies` that uses it, whose first lines say which version and what must be found. A C
//! program: a recipe of `real`, whose list of known findings says which of them is a bug. Not part of CI's tests: it needs
//! the network. What does not need it is tested: each trophy has its row on the page.

mod card;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use self::card::Card;
use crate::{ecosystem, real};

/// Recipes of `real`, each with the function in which the bug is.
const RECIPES: &[(&str, &str)] = &[
    ("libqb", "qb_array_index"),
    ("lmdb-python", "mt_spill_pgs"),
    ("lrzip", "close_streamout_threads"),
    ("memcached", "it_flags"),
    ("tinyproxy", "SIGTERM is lost"),
];

/// What to look for.
pub(crate) struct Options {
    /// The budget of each.
    pub(crate) time: Duration,
    /// Only those whose name contains this.
    pub(crate) only: String,
    /// The `raddle` to use, instead of one that is built for it.
    pub(crate) raddle: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Line {
    r#type: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    execution: u64,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    sites: Vec<Site>,
}

#[derive(Deserialize)]
struct Site {
    file: Option<String>,
}

/// Shows each of them; fails if one is not found.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let raddle = match &options.raddle {
        Some(path) => path.canonicalize().with_context(|| format!("no {}", path.display()))?,
        None => ecosystem::build(&root)?,
    };
    let is_wanted = |name: &str| name.contains(&options.only);
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    let cards = card::read_all(&root.join("xtask/trophies"))?;
    for card in cards.iter().filter(|it| is_wanted(&it.name)) {
        match show(card, &raddle, &root.join("target/trophies"), options.time) {
            Ok((id, n)) => {
                eprintln!("{}: {id} in {n} executions", card.name);
                rows.push(card.row(n));
            }
            Err(error) => {
                eprintln!("{}: {error:#}", card.name);
                wrong.push(card.name.clone());
            }
        }
    }
    let recipes = RECIPES.iter().filter(|it| is_wanted(it.0));
    for &(name, what) in recipes {
        let found = real::findings(name, &raddle, options.time)?;
        let is_shown = found.iter().any(|it| it.contains(what));
        eprintln!("{name}: {what}: {}", if is_shown { "found" } else { "not found" });
        rows.push(String::new());
        if !is_shown {
            wrong.push(name.to_owned());
        }
    }
    eprint!("\n{}", rows.concat());
    ensure!(!rows.is_empty() || !wrong.is_empty(), "no trophy is called `{}`", options.only);
    ensure!(wrong.is_empty(), "not found: {}", wrong.join(", "));
    Ok(())
}

/// The finding's id, and in how many executions it was found.
fn show(
    card: &Card,
    raddle: &Path,
    target: &Path,
    time: Duration,
) -> anyhow::Result<(String, u64)> {
    let folder = target.join(&card.name);
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), card.manifest())?;
    fs::write(folder.join("src/main.rs"), &card.program)?;
    lock(card, &folder)?;
    let mut command = Command::new(raddle);
    command.args(["cargo", "run", "--message-format", "json", "--progress", "none", "-k"]);
    command.args(["--no-explain", "--time"]).arg(format!("{}s", time.as_secs()));
    // One folder for all: what they have in common is compiled once.
    command.env("CARGO_TARGET_DIR", target.join("target"));
    command.args(&card.options).current_dir(&folder).stderr(Stdio::piped());
    let output = command.output().with_context(|| format!("can't start {}", raddle.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).context("failed to read raddle's words")?;
        let files = line.sites.iter().filter_map(|it| it.file.as_deref());
        let is_it = matches!(&*line.r#type, "finding" | "baseline")
            && line.kind == card.kind
            && card.shows.iter().all(|it| line.message.contains(it));
        if is_it && card.is_at(files) {
            return Ok((line.id.unwrap_or_default(), line.execution + 1));
        }
    }
    let complaints = String::from_utf8_lossy(&output.stderr);
    let said = text.lines().chain(complaints.lines()).map(|it| it.get(..300).unwrap_or(it));
    bail!("not found:\n{}", said.collect::<Vec<_>>().join("\n"))
}

/// Locks each crate that the card names at its version, unless that was done before.
fn lock(card: &Card, folder: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(folder.join("Cargo.lock")).unwrap_or_default();
    let is_locked =
        |it: (&str, &str)| text.contains(&format!("name = \"{}\"\nversion = \"{}\"", it.0, it.1));
    if card.versions().all(is_locked) {
        return Ok(());
    }
    let cargo = |args: &[&str]| -> anyhow::Result<()> {
        let output = Command::new(env!("CARGO")).args(args).current_dir(folder).output()?;
        let words = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo {}: {words}", args.join(" "));
        Ok(())
    };
    cargo(&["generate-lockfile", "--quiet"])?;
    card.versions().try_for_each(|it| cargo(&["update", "--quiet", it.0, "--precise", it.1]))
}
