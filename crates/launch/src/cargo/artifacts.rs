//! What cargo has built, from its messages.

use std::{
    collections::BTreeSet,
    io::BufRead,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{Package, Workspace, is_below};

/// An executable that cargo has built.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The crate that it belongs to.
    pub package: Package,
    /// Its name in the manifest.
    pub name: String,
    /// `lib`, `bin`, `test`, `example`, `bench`, `proc-macro`.
    pub kind: String,
    /// Is it a test harness, not the program itself?
    pub is_test: bool,
    /// The file.
    pub executable: PathBuf,
    /// Folders in which it finds libraries that were built for it.
    pub libraries: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    target: Target,
    #[serde(default)]
    profile: Profile,
    #[serde(default)]
    executable: Option<PathBuf>,
    #[serde(default)]
    linked_paths: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Target {
    #[serde(default)]
    kind: Vec<String>,
    #[serde(default)]
    name: String,
}

#[derive(Default, Deserialize)]
struct Profile {
    #[serde(default)]
    test: bool,
}

/// Reads cargo's messages to their end; executables come sorted by crate and name.
pub(super) fn read(lines: impl BufRead, workspace: &Workspace) -> Vec<Built> {
    let mut built = Vec::new();
    let mut libraries = BTreeSet::new();
    for line in lines.lines().map_while(Result::ok) {
        // What is no message was printed by something that cargo runs.
        let Ok(message) = serde_json::from_str::<Message>(&line) else { continue };
        for path in &message.linked_paths {
            let path = path.rsplit_once('=').map_or(path.as_str(), |it| it.1);
            if is_below(path, &workspace.target_dir) {
                libraries.insert(PathBuf::from(path));
            }
        }
        if message.reason == "compiler-artifact" {
            built.extend(executable(message, workspace));
        }
    }
    for it in &mut built {
        libraries.extend(it.executable.parent().map(Path::to_owned));
        it.libraries = libraries.iter().cloned().collect();
    }
    built.sort_by(|a, b| key(a).cmp(&key(b)));
    built
}

fn executable(message: Message, workspace: &Workspace) -> Option<Built> {
    let executable = message.executable?;
    let package = workspace.package(&message.package_id)?.clone();
    let kind = message.target.kind.into_iter().next().unwrap_or_default();
    let is_test = message.profile.test || kind == "test" || kind == "bench";
    let libraries = Vec::new();
    Some(Built { package, name: message.target.name, kind, is_test, executable, libraries })
}

/// Libraries first, as cargo does.
fn key(built: &Built) -> (&str, usize, &str, bool) {
    const ORDER: [&str; 4] = ["bin", "example", "test", "bench"];
    let place = ORDER.iter().position(|it| *it == built.kind).map_or(0, |it| it + 1);
    (&built.package.name, place, &built.name, built.is_test)
}

impl Built {
    /// Is it the unit tests of a proc macro? That is code of the compiler, built without hooks.
    pub fn is_proc_macro(&self) -> bool {
        self.kind == "proc-macro"
    }

    /// What users of nextest call it: `queue`, `queue::bin/tool`, `queue::stress`.
    pub fn id(&self) -> String {
        let package = &self.package.name;
        match self.kind.as_str() {
            "bin" | "example" | "bench" => format!("{package}::{}/{}", self.kind, self.name),
            "test" => format!("{package}::{}", self.name),
            _ => package.clone(),
        }
    }

    /// What cargo would say in the program's environment.
    pub fn environment(&self) -> Vec<(String, String)> {
        let Package { name, version, root, .. } = &self.package;
        let mut libraries: Vec<String> =
            self.libraries.iter().map(|it| it.display().to_string()).collect();
        libraries.extend(std::env::var("LD_LIBRARY_PATH").ok().filter(|it| !it.is_empty()));
        let pairs = [
            ("CARGO_MANIFEST_DIR", root.display().to_string()),
            ("CARGO_MANIFEST_PATH", root.join("Cargo.toml").display().to_string()),
            ("CARGO_PKG_NAME", name.clone()),
            ("CARGO_PKG_VERSION", version.clone()),
            ("LD_LIBRARY_PATH", libraries.join(":")),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_are_taken_from_messages() {
        let package = Package { id: "path+a#1".into(), name: "a".into(), ..Package::default() };
        let workspace =
            Workspace { target_dir: "/t".into(), packages: vec![package], ..Workspace::default() };
        let text = r#"{"reason":"build-script-executed","linked_paths":["native=/t/z","native=/usr/lib"]}
some script's own words
{"reason":"compiler-artifact","package_id":"path+a#1","target":{"kind":["test"],"name":"stress"},"profile":{"test":true},"executable":"/t/d/stress"}
{"reason":"compiler-artifact","package_id":"path+a#1","target":{"kind":["lib"],"name":"a"},"profile":{"test":true},"executable":"/t/d/a"}
{"reason":"compiler-artifact","package_id":"path+a#1","target":{"kind":["lib"],"name":"a"},"profile":{"test":false},"executable":null}
{"reason":"build-finished","success":true}"#;
        let built = read(text.as_bytes(), &workspace);
        let ids: Vec<String> = built.iter().map(Built::id).collect();
        assert_eq!(ids, ["a", "a::stress"]);
        assert_eq!(built[0].libraries, [PathBuf::from("/t/d"), PathBuf::from("/t/z")]);
    }
}
