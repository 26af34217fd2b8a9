//! The tests in a harness, by asking it.

use std::process::{Command, Stdio};

use super::{Built, CargoError};

/// What a harness has to say about its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// It speaks as libtest does.
    Tests(Vec<ListedTest>),
    /// It is of the crate's own making: all of it is one test.
    Custom,
}

/// One test of a harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTest {
    /// Its whole name.
    pub name: String,
    /// Is it only run if asked for?
    pub is_ignored: bool,
}

/// Asks a harness for its tests. It runs as it is, out of our control.
pub fn list_tests(built: &Built) -> Result<Listing, CargoError> {
    let Some(all) = names(built, &[])? else { return Ok(Listing::Custom) };
    let ignored = names(built, &["--ignored"])?.unwrap_or_default();
    let listed =
        all.into_iter().map(|name| ListedTest { is_ignored: ignored.contains(&name), name });
    Ok(Listing::Tests(listed.collect()))
}

/// The names that it lists; `None` if it does not understand.
fn names(built: &Built, more: &[&str]) -> Result<Option<Vec<String>>, CargoError> {
    let mut command = Command::new(&built.executable);
    command.args(["--list", "--format", "terse"]).args(more);
    command.current_dir(&built.package.root).envs(built.environment());
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let start = |source| CargoError::Start { name: built.executable.display().to_string(), source };
    let output = command.output().map_err(start)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(if output.status.success() { parse(&text) } else { None })
}

/// `queue::two_pushers: test` and `queue::speed: benchmark`, a line each; benchmarks are left out.
fn parse(text: &str) -> Option<Vec<String>> {
    let mut tests = Vec::new();
    for line in text.lines().filter(|it| !it.is_empty()) {
        match line.rsplit_once(": ")? {
            (name, "test") => tests.push(name.to_owned()),
            (_, "benchmark" | "bench") => {}
            _ => return None,
        }
    }
    Some(tests)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lists_of_libtest_are_understood() {
        assert_eq!(parse("a::b: test\nc: benchmark\nd: test\n").unwrap(), ["a::b", "d"]);
        assert_eq!(parse("").unwrap(), [""; 0]);
        assert_eq!(parse("hello\n"), None);
        assert_eq!(parse("running: all of it\n"), None);
    }
}
