//! Bugs that Raddle has found in released software (`docs/trophies.md`), shown again in the unmodified packages.
//!
//! A crate: a program of a few lines in `xtask/trophies`, whose dependency comes from the registry. A C library: a recipe of
//! `real`, with Debian's sources. Not part of CI's tests: it needs the network.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::{ecosystem, real};

/// What must be found again.
struct Trophy {
    name: &'static str,
    /// The words of its message, or of one of its places.
    shows: &'static [&'static str],
    kind: &'static str,
}

const CRATES: &[Trophy] =
    &[Trophy { name: "oneshot", kind: "misuse", shows: &["uses freed memory", "Channel.waker"] }];

/// Recipes whose list of known findings has a real bug.
const RECIPES: &[&str] = &["libqb", "lrzip"];

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
}

/// Shows each of them; fails if one is not found.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let raddle = match &options.raddle {
        Some(path) => path.canonicalize().with_context(|| format!("no {}", path.display()))?,
        None => ecosystem::build(&root)?,
    };
    let is_wanted = |name: &str| name.contains(&options.only);
    let mut n_shown = 0;
    for trophy in CRATES.iter().filter(|it| is_wanted(it.name)) {
        show(trophy, &raddle, &root, options.time)?;
        n_shown += 1;
    }
    for name in RECIPES.iter().filter(|it| is_wanted(it)) {
        real::run(&real::Options {
            time: options.time,
            only: (*name).to_owned(),
            raddle: Some(raddle.clone()),
            is_rebuilt: false,
            json: None,
        })?;
        n_shown += 1;
    }
    ensure!(n_shown > 0, "no trophy is called `{}`", options.only);
    Ok(())
}

fn show(trophy: &Trophy, raddle: &Path, root: &Path, time: Duration) -> anyhow::Result<()> {
    let folder = root.join("target/trophies").join(trophy.name);
    let from = root.join("xtask/trophies").join(trophy.name);
    fs::create_dir_all(folder.join("src"))?;
    for file in ["Cargo.toml", "src/main.rs"] {
        fs::copy(from.join(file), folder.join(file)).with_context(|| format!("no {file}"))?;
    }
    let mut command = Command::new(raddle);
    command.args(["cargo", "run", "--message-format", "json", "-k", "--execs", "2000", "--time"]);
    command.arg(format!("{}s", time.as_secs())).current_dir(&folder).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("can't start {}", raddle.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).context("failed to read raddle's words")?;
        let has = |it: &&str| line.message.contains(*it);
        let is_it = line.r#type == "finding" && line.kind == trophy.kind;
        if is_it && trophy.shows.iter().all(has) {
            let id = line.id.unwrap_or_default();
            let (name, message, n) = (trophy.name, line.message, line.execution + 1);
            eprintln!("{name}: {id} in {n} executions: {message}");
            return Ok(());
        }
    }
    anyhow::bail!("{}: not found: {text}", trophy.name)
}
