//! The tests in a harness, by asking it.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use super::{Built, CargoError};
use crate::{Cache, extract_runtime, runtime::preload};

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
    list_with(built, &extract_runtime(&Cache::open()?)?)
}

fn list_with(built: &Built, runtime: &Path) -> Result<Listing, CargoError> {
    let Some(all) = names(built, runtime, &[])? else { return Ok(Listing::Custom) };
    let ignored = names(built, runtime, &["--ignored"])?.unwrap_or_default();
    let listed =
        all.into_iter().map(|name| ListedTest { is_ignored: ignored.contains(&name), name });
    Ok(Listing::Tests(listed.collect()))
}

/// The names that it lists; `None` if it does not understand.
fn names(built: &Built, runtime: &Path, more: &[&str]) -> Result<Option<Vec<String>>, CargoError> {
    let mut command = Command::new(&built.executable);
    command.args(["--list", "--format", "terse"]).args(more);
    command.current_dir(&built.package.root).envs(built.environment());
    preload(&mut command, runtime);
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
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn compile(args: &[&str]) {
        assert!(Command::new("cc").args(args).status().expect("a compiler").success(), "{args:?}");
    }

    /// As after `cargo build --workspace`, when the runtime has changed since.
    #[test]
    fn another_runtime_on_the_library_path_is_not_taken() {
        let folder = TempDir::new().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let cache = Cache::at(&folder.path().join("cache")).expect("a cache");
        let runtime = extract_runtime(&cache).expect("a runtime");
        let right = runtime.parent().expect("a folder").display().to_string();
        fs::create_dir(path("stale")).expect("a folder");
        fs::write(path("stale.c"), "").expect("written");
        let stale = path("stale/libraddle_rt.so");
        compile(&["-shared", "-Wl,-soname,libraddle_rt.so", &path("stale.c"), "-o", &stale]);
        let text = "#include <stdio.h>\nvoid __tsan_func_entry(void *);\nvoid __tsan_func_exit(void);\n\
                    int main(void) { __tsan_func_entry(0); puts(\"two_pushers: test\"); __tsan_func_exit(); }\n";
        fs::write(path("harness.c"), text).expect("written");
        let run_path = format!("-Wl,-rpath,{right}");
        let libraries = ["-L", &right, "-lraddle_rt", &run_path];
        compile(&[&[path("harness.c").as_str(), "-o", &path("harness")][..], &libraries].concat());
        let mut built = Built {
            executable: path("harness").into(),
            libraries: vec![path("stale").into()],
            ..Built::default()
        };
        built.package.root = folder.path().to_owned();
        let listed = list_with(&built, &runtime).expect("it starts");
        let Listing::Tests(tests) = listed else { panic!("the other runtime was taken") };
        assert_eq!(tests[0].name, "two_pushers");
    }

    #[test]
    fn lists_of_libtest_are_understood() {
        assert_eq!(parse("a::b: test\nc: benchmark\nd: test\n").unwrap(), ["a::b", "d"]);
        assert_eq!(parse("").unwrap(), [""; 0]);
        assert_eq!(parse("hello\n"), None);
        assert_eq!(parse("running: all of it\n"), None);
    }
}
