//! Real C and C++ programs and libraries from Debian's sources (one from PyPI's), built by their own build systems: what is found in
//! them must be known and true.
//!
//! A recipe (`xtask/real/NAME.toml`) says how one is built and run, and what is known to be wrong with it. Sources are
//! fetched when they are needed and never committed. Not part of CI's tests: it needs Debian's archive, and builds for
//! half an hour.

mod debian;
mod pypi;
mod recipe;
mod table;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use recipe::{Known, Recipe};
use table::Row;

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// The budget of each program.
    pub(crate) time: Duration,
    /// Only recipes whose name contains this.
    pub(crate) only: String,
    /// The `raddle` to use, instead of one that is built for it.
    pub(crate) raddle: Option<PathBuf>,
    /// Build everything again.
    pub(crate) is_rebuilt: bool,
    /// Where the figures go.
    pub(crate) json: Option<PathBuf>,
}

/// Builds and explores all of them, prints the table, and fails if one does not build, does not come to an end that
/// is understood, or has a finding that is not known.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let raddle = match &options.raddle {
        Some(path) => path.canonicalize().with_context(|| format!("no {}", path.display()))?,
        None => crate::ecosystem::build(&root)?,
    };
    let folder = root.join("target/real");
    let recipes = recipe::read_all(&root.join("xtask/real"))?;
    let chosen: Vec<_> = recipes.into_iter().filter(|it| it.name.contains(&options.only)).collect();
    ensure!(!chosen.is_empty(), "no recipe in xtask/real contains `{}`", options.only);
    debian::install(chosen.iter().flat_map(|it| &it.needs))?;
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for recipe in &chosen {
        eprintln!("{}: {}", recipe.name, recipe.does);
        match explore(recipe, &raddle, &folder, options) {
            Ok(row) => {
                eprintln!("  {}", row.line());
                wrong.extend(row.trouble.iter().map(|it| format!("{}: {it}", recipe.name)));
                rows.push(row);
            }
            Err(error) => {
                eprintln!("  BAD {error:#}");
                wrong.push(format!("{}: {error:#}", recipe.name));
            }
        }
    }
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(&rows)?)
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    eprintln!("\n{}", table::markdown(&rows));
    ensure!(wrong.is_empty(), "not as they should be:\n{}", wrong.join("\n"));
    Ok(())
}

/// What is known to be wrong and was found in the program of one recipe: the reasons.
pub(crate) fn findings(name: &str, raddle: &Path, time: Duration) -> anyhow::Result<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let recipes = recipe::read_all(&root.join("xtask/real"))?;
    let recipe = recipes.iter().find(|it| it.name == name);
    let recipe = recipe.with_context(|| format!("no recipe xtask/real/{name}.toml"))?;
    debian::install(recipe.needs.iter())?;
    let only = name.to_owned();
    let options = Options { time, only, raddle: None, is_rebuilt: false, json: None };
    let row = explore(recipe, raddle, &root.join("target/real"), &options)?;
    eprintln!("  {}", row.line());
    Ok(row.found.into_iter().chain(row.timing).collect())
}

/// What `raddle run --message-format json` says; lines of other types have none of these fields.
#[derive(Deserialize)]
struct Line {
    r#type: String,
    #[serde(default)]
    executions: u64,
    #[serde(default)]
    steps: u64,
    #[serde(default)]
    execs_per_s: f64,
    #[serde(default)]
    stability: f64,
    #[serde(default)]
    single_threaded: bool,
    #[serde(default)]
    uncontrolled: u64,
}

/// A finding, as far as it is compared.
#[derive(Deserialize)]
pub(crate) struct Finding {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) certainty: String,
    pub(crate) sites: Vec<Place>,
    pub(crate) evidence: Option<Evidence>,
    /// What must take longer than it asks for, if `certainty` is `timing`.
    #[serde(default)]
    pub(crate) delays: Vec<Delay>,
}

#[derive(Deserialize)]
pub(crate) struct Delay {
    kind: String,
    place: Option<Place>,
}

#[derive(Deserialize)]
pub(crate) struct Place {
    pub(crate) function: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Evidence {
    pub(crate) memory: String,
}

fn explore(
    recipe: &Recipe,
    raddle: &Path,
    folder: &Path,
    options: &Options,
) -> anyhow::Result<Row> {
    let source = build(recipe, raddle, folder, options.is_rebuilt)?;
    let mut command = Command::new(raddle);
    let time = format!("{}s", options.time.as_secs());
    command.args(["run", "--message-format", "json", "--progress", "none", "-k", "--time", &time]);
    command
        .args(["--no-explain", "--execs", "1000000", "--store"])
        .arg(source.with_file_name("store"));
    command.args(&recipe.options).arg("--").args(&recipe.run).current_dir(&source);
    let output = command.stderr(Stdio::piped()).output();
    let output = output.with_context(|| format!("failed to start {}", raddle.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    fs::write(source.with_file_name("raddle.json"), said.as_bytes())?;
    fs::write(source.with_file_name("raddle.log"), complaints.as_bytes())?;
    let version = match &recipe.pypi {
        Some(version) => version.clone(),
        None => debian::version(&folder.join("debian"), &recipe.package)?,
    };
    let mut row = Row::new(recipe, version);
    for text in said.lines() {
        let line: Line = serde_json::from_str(text).context("failed to read raddle's words")?;
        match line.r#type.as_str() {
            "finding" | "baseline" => judge(&mut row, recipe, &serde_json::from_str(text)?),
            "summary" => {
                row.executions = line.executions;
                row.steps = line.steps / line.executions.max(1);
                row.execs_per_s = line.execs_per_s;
                row.stability = line.stability;
                row.uncontrolled = line.uncontrolled;
                if line.single_threaded {
                    row.trouble.push("it never had a second thread".to_owned());
                }
            }
            _ => {}
        }
    }
    let is_found = [&row.found, &row.timing, &row.trouble].iter().any(|it| !it.is_empty());
    match output.status.code() {
        Some(0 | 3) if row.executions > 0 => {}
        Some(2) if is_found => {}
        code => row.trouble.push(format!(
            "exit code {code:?} after {} executions: {}",
            row.executions,
            complaints.lines().next_back().unwrap_or("nothing was said")
        )),
    }
    Ok(row)
}

/// Known, an assumption on time, or neither.
fn judge(row: &mut Row, recipe: &Recipe, finding: &Finding) {
    if finding.certainty == "potential" {
        return;
    }
    let what = format!("{}: {}", finding.kind, finding.message);
    let (list, text) = match recipe.known.iter().find(|it| it.is(finding)) {
        Some(Known { why, is_timing: true, .. }) => (&mut row.timing, why.clone()),
        Some(Known { why, .. }) => (&mut row.found, why.clone()),
        None if finding.certainty == "timing" => {
            let delays: BTreeSet<String> = finding.delays.iter().map(Delay::text).collect();
            let delays: Vec<String> = delays.into_iter().collect();
            (&mut row.timing, format!("{what} (if this takes long: {})", delays.join(", ")))
        }
        None => (&mut row.trouble, what),
    };
    if !list.contains(&text) {
        list.push(text);
    }
}

impl Delay {
    fn text(&self) -> String {
        match self.place.as_ref().and_then(|it| it.function.as_ref()) {
            Some(function) => format!("{} in `{function}`", self.kind),
            None => self.kind.clone(),
        }
    }
}

/// The folder in which it was built, now or before.
fn build(recipe: &Recipe, raddle: &Path, folder: &Path, is_again: bool) -> anyhow::Result<PathBuf> {
    let own = folder.join(&recipe.name);
    let source = own.join("source");
    let stamp = own.join("built");
    if !is_again && fs::read_to_string(&stamp).is_ok_and(|it| it == recipe.text) {
        return Ok(source);
    }
    let archive = match &recipe.pypi {
        Some(version) => pypi::fetch(&folder.join("pypi"), &recipe.package, version)?,
        None => debian::fetch(&folder.join("debian"), &recipe.package)?,
    };
    if own.exists() {
        fs::remove_dir_all(&own)?;
    }
    fs::create_dir_all(&source)?;
    let mut tar = Command::new("tar");
    tar.arg("xf").arg(&archive).arg("-C").arg(&source).arg("--strip-components=1");
    ensure!(tar.status()?.success(), "failed to unpack {}", archive.display());
    let log = fs::File::create(own.join("build.log"))?;
    let mut script = Command::new("nice");
    script.args(["-n", "19", "sh", "-exc", &recipe.build]).current_dir(&source);
    script.env("CC", format!("{} cc", raddle.display()));
    script.env("CXX", format!("{} c++", raddle.display()));
    script.env("CFLAGS", "-O1 -g").env("CXXFLAGS", "-O1 -g").env("MAKEFLAGS", "-j2");
    script.env("RECIPES", &recipe.folder).env("RADDLE", raddle);
    script.stdout(log.try_clone()?).stderr(log).stdin(Stdio::null());
    if !script.status()?.success() {
        bail!("does not build: see {}", own.join("build.log").display());
    }
    fs::write(&stamp, &recipe.text)?;
    Ok(source)
}
