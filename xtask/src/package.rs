//! What is published: all crates packaged into a registry that is a folder, `raddle-cli` installed from there without
//! network, far from the repository, and a bug found with it; then `raddle` added to a new crate from there, and a test of it
//! explored. So nobody needs the workspace, and the runtime's sources travel (`crates/launch/build.rs`).

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, ensure};

/// What is not published: the runtime and its fibers are in the package of `raddle-launch`, the others are for us.
const UNPUBLISHED: &[&str] = &["raddle-rt", "raddle-fiber", "raddle-tidy", "xtask"];

/// What may be installed, in bytes.
const INSTALLED_MAX: u64 = 40_000_000;

/// Makes the packages and tries them.
pub(crate) fn run(is_release: bool) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let registry = at("registry");

    vendor(&root, &registry)?;
    for package in package(&root, &at("target"))? {
        unpack(&package, &registry)?;
    }
    for name in ["home", "empty"] {
        fs::create_dir(at(name))?;
    }
    let text = format!(
        "[source.crates-io]\nreplace-with = \"folder\"\n[source.folder]\ndirectory = {:?}\n",
        registry.to_str().context("a path in UTF-8")?
    );
    fs::write(at("home/config.toml"), text)?;

    let mut install = cargo(&at("empty"));
    install.args(["install", "raddle-cli", "--offline", "--root"]).arg(at("installed"));
    install.env("CARGO_HOME", at("home"));
    if !is_release {
        install.arg("--debug");
    }
    let start = Instant::now();
    let before = cpu_seconds()?;
    done(&mut install)?;
    let bin = at("installed/bin");
    try_it(&root, &bin, &at("empty"))?;
    eprintln!(
        "from an empty directory to the first report: {:.0} s, {:.0} s of a processor",
        start.elapsed().as_secs_f64(),
        cpu_seconds()? - before
    );
    try_crate(&bin, &at("home"), folder.path())?;
    let n_bytes: u64 =
        fs::read_dir(&bin)?.flatten().filter_map(|it| it.metadata().ok()).map(|it| it.len()).sum();
    eprintln!("installed: {:.1} MB", n_bytes as f64 / 1e6);
    ensure!(!is_release || n_bytes <= INSTALLED_MAX, "more than {INSTALLED_MAX} bytes installed");
    Ok(())
}

/// Seconds that our children had of processors so far.
fn cpu_seconds() -> anyhow::Result<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = text.rsplit_once(')').context("a process has a name")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |idx: usize| -> anyhow::Result<f64> {
        Ok(fields.get(idx).context("a field")?.parse::<f64>()?)
    };
    // `cutime` and `cstime`, in the kernel's hundredths of a second.
    Ok((ticks(13)? + ticks(14)?) / 100.0)
}

/// All that our crates need of others, as a registry.
fn vendor(root: &Path, registry: &Path) -> anyhow::Result<()> {
    let mut command = cargo(root);
    command.args(["vendor", "--quiet", "--locked", "--versioned-dirs"]).arg(registry);
    let output = command.output()?;
    ensure!(output.status.success(), "cargo vendor: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The packages of our crates.
pub(crate) fn package(root: &Path, target: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut command = cargo(root);
    command.args(["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"]);
    for name in UNPUBLISHED {
        command.args(["--exclude", name]);
    }
    done(command.arg("--target-dir").arg(target))?;
    let entries = fs::read_dir(target.join("package"))?.flatten().map(|it| it.path());
    Ok(entries.filter(|it| it.extension().is_some_and(|it| it == "crate")).collect())
}

/// Puts a package beside the others, with its hash, as a folder that stands for a registry has it.
fn unpack(package: &Path, registry: &Path) -> anyhow::Result<()> {
    done(Command::new("tar").arg("xzf").arg(package).arg("-C").arg(registry))?;
    let sum = Command::new("sha256sum").arg(package).output()?;
    let sum = String::from_utf8(sum.stdout)?;
    let sum = sum.split_whitespace().next().context("sha256sum says nothing")?;
    let name = package.file_stem().context("a package has a name")?;
    let text = format!("{{\"files\":{{}},\"package\":\"{sum}\"}}");
    fs::write(registry.join(name).join(".cargo-checksum.json"), text)?;
    Ok(())
}

/// A new user's first commands.
fn try_it(root: &Path, programs: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::copy(root.join("examples/bank.c"), folder.join("bank.c"))?;
    let raddle = |args: &[&str]| {
        let mut command = Command::new(programs.join("raddle"));
        command.args(args).current_dir(folder).env("RADDLE_CACHE", folder.join("cache")).output()
    };
    let run = raddle(&["run", "bank.c"])?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    ensure!(run.status.code() == Some(2), "raddle run bank.c: {text}");
    ensure!(text.contains("error[dl-"), "no deadlock: {text}");
    let replay = raddle(&["replay", "latest"])?;
    ensure!(replay.status.code() == Some(2), "the deadlock does not replay");
    let mut compiler = Command::new(programs.join("raddle-cc"));
    compiler.args(["bank.c", "-pthread", "-o", "bank"]).current_dir(folder);
    done(compiler.env("RADDLE_CACHE", folder.join("cache")))?;
    let run = raddle(&["run", "--", "./bank"])?;
    ensure!(run.status.code() == Some(2), "raddle run -- ./bank");
    eprintln!("packaged, installed and tried: {}", text.lines().last().unwrap_or_default());
    Ok(())
}

/// A test of a new crate that has `raddle` from the registry.
const TEST: &str = "\
use std::{sync::{Arc, atomic::{AtomicU32, Ordering}}, thread};

#[test]
fn two_increments() {
    raddle::check(|| {
        let count = Arc::new(AtomicU32::new(0));
        let threads = [count.clone(), count.clone()].map(|it| thread::spawn(move || {
            let seen = it.load(Ordering::SeqCst);
            it.store(seen + 1, Ordering::SeqCst);
        }));
        for thread in threads { thread.join().unwrap(); }
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
}
";

/// `cargo add --dev raddle`, a test with `raddle::check`, without Raddle and with it.
fn try_crate(programs: &Path, home: &Path, folder: &Path) -> anyhow::Result<()> {
    let own = |folder: &Path| {
        let mut command = cargo(folder);
        command.env("CARGO_HOME", home);
        command
    };
    done(own(folder).args(["init", "--quiet", "--vcs", "none", "--lib", "count"]))?;
    let at = folder.join("count");
    done(own(&at).args(["add", "--quiet", "--offline", "--dev", "raddle"]))?;
    fs::write(at.join("src/lib.rs"), TEST)?;
    done(own(&at).args(["test", "--quiet", "--offline"]))?;
    let path = std::env::join_paths(
        std::iter::once(programs.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    let mut explore = own(&at);
    explore.args(["raddle", "test", "--offline"]).env("PATH", path);
    let output = explore.env("RADDLE_CACHE", folder.join("cache")).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let all = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    ensure!(
        output.status.code() == Some(2) && text.contains("error[panic-"),
        "cargo raddle test: {all}"
    );
    eprintln!(
        "cargo add --dev raddle, cargo raddle test: {}",
        text.lines().next_back().unwrap_or_default()
    );
    Ok(())
}

/// Cargo, without what the one that runs us says.
fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && text != "CARGO_HOME"
            || text.starts_with("RUST") && text.ends_with("FLAGS")
        {
            command.env_remove(&name);
        }
    }
    command
}

fn done(command: &mut Command) -> anyhow::Result<()> {
    eprintln!("$ {command:?}");
    let status = command.status().with_context(|| format!("can't start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
