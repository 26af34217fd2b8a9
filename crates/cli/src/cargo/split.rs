//! The words of a command line: which are cargo's, which are ours.

use std::{ffi::OsString, path::PathBuf};

use super::partition::Partition;
use crate::spelling;

/// What `cargo raddle --help` says.
pub(super) const HELP: &str = "\
Explore the interleavings of a Rust crate's tests or programs

Usage: cargo raddle test  [OPTIONS] [FILTER]... [-- LIBTEST-OPTIONS]
       cargo raddle run   [OPTIONS] [-- ARGS]
       cargo raddle build [OPTIONS]

test   build the tests and explore each of them separately
run    build the program and explore it
build  build into target/raddle, for `raddle run -- target/raddle/…`

Options:
  options of cargo: -p, --workspace, --features, --release, --profile, --lib, --bin, --test, --manifest-path, …
  options of `raddle run`: --execs, --time, --seed, --strategy, --detect, -k, … (see `raddle run --help`)
      --execs N             executions per test [default: 2000]; a test needs at least 50 to pass
      --time TIME           time limit for all tests together [default: 60s, unless --execs is given]
  -j, --jobs N              parallel jobs of cargo and of raddle
      --cfg NAME            set cfg(NAME) in the crate, not in its dependencies: --cfg miri
      --junit FILE          write the results as JUnit XML
      --partition hash:K/N  explore only the K-th of N parts of the tests: for machines that share a suite; by name, or
                            count:K/N, slice:K/N: in turns, in each harness or over all
      --retries N           run a test again up to N times if it failed, but not because of a schedule
      --raddle-profile NAME, --raddle-config FILE
                            --profile and --config of `raddle run` (cargo has options of the same names)

Exit codes: 0 clean, 1 usage, 2 findings, 3 inconclusive (no execution of a test finished, or --strict), 4 a test fails with
one thread, the crate does not build, or no test matches, 70 internal error, 130 interrupted.
";

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CargoVerb {
    Build,
    Run,
    Test,
}

/// A command line, split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) verb: CargoVerb,
    /// Words for cargo.
    pub(super) cargo: Vec<OsString>,
    /// Those of them that `cargo metadata` has to know too.
    pub(super) metadata: Vec<OsString>,
    /// Words for `raddle run`.
    pub(super) raddle: Vec<OsString>,
    /// What the crate's own `cfg` is to know.
    pub(super) cfgs: Vec<String>,
    /// Where JUnit's XML goes.
    pub(super) junit: Option<PathBuf>,
    /// Which part of the tests is explored.
    pub(super) partition: Option<Partition>,
    /// How often a test is run again that failed, but not because of a schedule.
    pub(super) n_retries: u32,
    /// Was a program named, by `--bin` or `--example`?
    pub(super) is_named: bool,
    /// Is nothing to be run?
    pub(super) is_build_only: bool,
}

/// Cargo's options that take a value.
const VALUED: &[&str] = &[
    "-p",
    "--package",
    "--exclude",
    "--bin",
    "--example",
    "--test",
    "--bench",
    "-F",
    "--features",
    "--profile",
    "--manifest-path",
    "--lockfile-path",
    "-Z",
    "--config",
];

/// Those that do not.
const PLAIN: &[&str] = &[
    "--workspace",
    "--all",
    "--lib",
    "--bins",
    "--examples",
    "--tests",
    "--benches",
    "--all-targets",
    "--all-features",
    "--no-default-features",
    "--release",
    "-r",
    "--locked",
    "--offline",
    "--frozen",
    "-v",
    "-vv",
    "--verbose",
    "-q",
    "--quiet",
    "--ignore-rust-version",
    "--future-incompat-report",
    "--timings",
];

/// Those that `cargo metadata` has to know.
const METADATA: &[&str] =
    &["--manifest-path", "--lockfile-path", "--locked", "--offline", "--frozen", "-Z", "--config"];

/// The only machine that programs can be controlled on.
const TARGET: &str = "x86_64-unknown-linux-gnu";

impl Split {
    /// Splits the words after `cargo`; `None` if help is wanted.
    pub(super) fn of(words: Vec<OsString>) -> Result<Option<Split>, String> {
        let mut words = words.into_iter();
        let verb = match words.next().as_ref().and_then(|it| it.to_str()) {
            Some("build" | "b") => CargoVerb::Build,
            Some("run" | "r") => CargoVerb::Run,
            Some("test" | "t") => CargoVerb::Test,
            None | Some("--help" | "-h" | "help") => return Ok(None),
            other => {
                let other = other.unwrap_or("?");
                return Err(match spelling::nearest(other, ["build", "run", "test"]) {
                    Some(near) => format!("unknown command `{other}`; did you mean `{near}`?"),
                    None => format!("unknown command `{other}`; available: build, run, test"),
                });
            }
        };
        let mut split = Split {
            verb,
            cargo: Vec::new(),
            metadata: Vec::new(),
            raddle: Vec::new(),
            cfgs: Vec::new(),
            junit: None,
            partition: None,
            n_retries: 0,
            is_named: false,
            is_build_only: false,
        };
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--help" | "-h") => return Ok(None),
                Some("--") => {
                    split.raddle.push(word);
                    split.raddle.extend(words);
                    break;
                }
                Some(text) => split.take(text, &mut words)?,
                None => split.raddle.push(word),
            }
        }
        Ok(Some(split))
    }

    fn take(
        &mut self,
        text: &str,
        words: &mut impl Iterator<Item = OsString>,
    ) -> Result<(), String> {
        let (name, inline) = name_and_value(text);
        let mut value = || match inline {
            Some(value) => Ok(OsString::from(value)),
            None => words.next().ok_or_else(|| format!("{name} requires a value")),
        };
        match name {
            "--doc" => {
                return Err("documentation tests can't be explored; remove --doc".into());
            }
            "--target" => {
                let target = value()?;
                if target != TARGET {
                    let target = target.display();
                    return Err(format!(
                        "unsupported target `{target}`; raddle supports {TARGET} only"
                    ));
                }
            }
            "--target-dir" => {
                return Err(
                    "--target-dir is not supported; set CARGO_TARGET_DIR instead (raddle builds \
                            in its subdirectory `raddle`)"
                        .into(),
                );
            }
            "--junit" if self.verb == CargoVerb::Test => self.junit = Some(value()?.into()),
            "--partition" if self.verb == CargoVerb::Test => {
                self.partition = Some(Partition::parse(&value()?.to_string_lossy())?);
            }
            "--retries" if self.verb == CargoVerb::Test => {
                let value = value()?.to_string_lossy().into_owned();
                self.n_retries = value
                    .parse()
                    .map_err(|_| format!("invalid --retries `{value}`; expected a number"))?;
            }
            "--cfg" => self.cfgs.push(value()?.to_string_lossy().into_owned()),
            "--no-run" if self.verb == CargoVerb::Test => self.is_build_only = true,
            // All tests are explored anyway.
            "--no-fail-fast" => {}
            "--raddle-profile" => self.raddle.extend(["--profile".into(), value()?]),
            "--raddle-config" => self.raddle.extend(["--config".into(), value()?]),
            "-j" | "--jobs" => {
                let value = value()?;
                self.cargo.extend(["--jobs".into(), value.clone()]);
                self.raddle.extend(["--jobs".into(), value]);
            }
            _ if VALUED.contains(&name) => {
                let value = value()?;
                self.is_named |= matches!(name, "--bin" | "--example");
                self.give_cargo(name, Some(value));
            }
            _ if PLAIN.contains(&text) => self.give_cargo(text, None),
            _ => self.raddle.push(text.into()),
        }
        Ok(())
    }

    fn give_cargo(&mut self, name: &str, value: Option<OsString>) {
        let words: Vec<OsString> = [OsString::from(name)].into_iter().chain(value).collect();
        if METADATA.contains(&name) {
            self.metadata.extend(words.iter().cloned());
        }
        self.cargo.extend(words);
    }
}

/// `--bin=x` and `-px` have their value with them.
fn name_and_value(text: &str) -> (&str, Option<&str>) {
    if let Some((name, value)) = text.split_once('=').filter(|_| text.starts_with("--")) {
        return (name, Some(value));
    }
    for name in ["-p", "-F", "-Z", "-j"] {
        if let Some(value) = text.strip_prefix(name).filter(|it| !it.is_empty()) {
            return (name, Some(value.trim_start_matches('=')));
        }
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<Option<Split>, String> {
        Split::of(line.split_whitespace().map(OsString::from).collect())
    }

    fn text(words: &[OsString]) -> String {
        let words: Vec<_> = words.iter().map(|it| it.to_str().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn cargos_words_go_to_cargo() {
        let line = "test --release -p a -Fx,y --time 2m --manifest-path=x/Cargo.toml queue:: -j2 -- --exact";
        let split = split(line).unwrap().unwrap();
        assert_eq!(
            text(&split.cargo),
            "--release -p a -F x,y --manifest-path x/Cargo.toml --jobs 2"
        );
        assert_eq!(text(&split.metadata), "--manifest-path x/Cargo.toml");
        assert_eq!(text(&split.raddle), "--time 2m queue:: --jobs 2 -- --exact");
    }

    #[test]
    fn what_can_not_be_done_is_said() {
        let no = |line| split(line).unwrap_err();
        assert!(no("test --doc").contains("documentation"));
        assert!(no("run --target wasm32-wasip1").contains("supports x86_64"));
        assert!(no("bench").contains("unknown command `bench`; available: build, run, test"));
        assert!(no("test -p").contains("-p requires a value"));
        assert!(no("test --retries x").contains("invalid --retries `x`; expected a number"));
        assert_eq!(split("test --help").unwrap(), None);
        assert_eq!(split("").unwrap(), None);
    }
}
