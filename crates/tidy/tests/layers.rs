//! The arrows between crates, as data: DESIGN.md §4 and ARCHITECTURE.md.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// Crate, and the crates of the workspace that it may depend on. What only tests need is no arrow;
/// neither is a build script's need of `model`, for its hash.
const LAYERS: &[(&str, &[&str])] = &[
    ("raddle-model", &[]),
    ("raddle-machine", &["raddle-model"]),
    ("raddle-pick", &["raddle-model"]),
    ("raddle-trace", &["raddle-model"]),
    ("raddle-total", &["raddle-model"]),
    ("raddle-plan", &["raddle-model", "raddle-trace", "raddle-total"]),
    ("raddle-analysis", &["raddle-model", "raddle-trace"]),
    ("raddle-slice", &["raddle-model", "raddle-rust-std"]),
    ("raddle-fiber", &[]),
    ("raddle-rust-std", &[]),
    (
        "raddle-rt",
        // `raddle_analysis::hb`: the core of race detection runs in the program too.
        &[
            "raddle-model",
            "raddle-machine",
            "raddle-pick",
            "raddle-trace",
            "raddle-analysis",
            "raddle-fiber",
            "raddle-rust-std",
        ],
    ),
    (
        "raddle-explore",
        &[
            "raddle-model",
            "raddle-machine",
            "raddle-pick",
            "raddle-trace",
            "raddle-plan",
            "raddle-analysis",
            "raddle-rust-std",
        ],
    ),
    ("raddle-launch", &["raddle-model", "raddle-trace", "raddle-explore", "raddle-rust-std"]),
    ("raddle-report", &["raddle-model", "raddle-trace", "raddle-analysis", "raddle-rust-std"]),
    (
        "raddle-cli",
        &[
            "raddle-model",
            "raddle-trace",
            "raddle-plan",
            "raddle-analysis",
            "raddle-explore",
            "raddle-launch",
            "raddle-slice",
            "raddle-report",
        ],
    ),
    // What programs under test are linked with: it finds the runtime by name, if that is there.
    ("raddle", &[]),
    ("raddle-tidy", &[]),
    (
        "xtask",
        &[
            "raddle-model",
            "raddle-trace",
            "raddle-plan",
            "raddle-report",
            "raddle-analysis",
            "raddle-explore",
            "raddle-launch",
        ],
    ),
];

fn metadata() -> Metadata {
    MetadataCommand::new().no_deps().exec().expect("cargo metadata answers")
}

#[test]
fn dependencies_point_down() {
    let mut errors = Vec::new();
    for package in &metadata().packages {
        let name = package.name.as_str();
        let Some((_, allowed)) = LAYERS.iter().find(|(it, _)| *it == name) else {
            errors.push(format!("{name}: not listed in LAYERS"));
            continue;
        };
        for dependency in &package.dependencies {
            let is_arrow = match dependency.kind {
                DependencyKind::Development => false,
                DependencyKind::Build => dependency.name != "raddle-model",
                _ => true,
            };
            let is_internal = dependency.path.is_some();
            if is_internal && is_arrow && !allowed.contains(&dependency.name.as_str()) {
                errors.push(format!("{name}: may not depend on {}", dependency.name));
            }
        }
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

/// The package of `raddle-launch` has the sources of all that the runtime is made of (`crates/launch/build.rs`).
#[test]
fn the_runtimes_sources_travel() {
    let metadata = metadata();
    let root = metadata.workspace_root.as_std_path();
    let sources = root.join("crates/launch/rt-src");
    let build = std::fs::read_to_string(root.join("crates/launch/build.rs")).expect("it is there");
    let (_, needed) = LAYERS.iter().find(|it| it.0 == "raddle-rt").expect("the runtime");
    for name in needed.iter().copied().chain(["raddle-rt"]) {
        let folder = name.trim_start_matches("raddle-").replace('-', "_");
        let real = |path: std::path::PathBuf| {
            path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let krate = root.join("crates").join(&folder);
        let links = sources.join(&folder);
        assert_eq!(real(links.join("src")), real(krate.join("src")));
        assert_eq!(real(links.join("manifest.toml")), real(krate.join("Cargo.toml")));
        assert!(build.contains(&format!("\"{folder}\"")), "{folder}: not in CRATES of build.rs");
    }
}

#[test]
fn every_crate_of_the_table_exists() {
    let metadata = metadata();
    let packages: BTreeSet<&str> = metadata.packages.iter().map(|it| it.name.as_str()).collect();
    let gone: Vec<_> = LAYERS.iter().filter(|(name, _)| !packages.contains(name)).collect();
    assert!(gone.is_empty(), "listed in LAYERS, but not there: {gone:?}");
}

/// ARCHITECTURE.md names exactly the crates there are: `crates/<name>` at the start of a heading.
#[test]
fn architecture_names_the_crates() {
    let metadata = metadata();
    let root = &metadata.workspace_root;
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("it is there");
    let named: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("### `"))
        .filter_map(|rest| rest.split('`').next())
        .filter(|name| name.starts_with("crates/") || *name == "xtask")
        .collect();
    let mut real: Vec<String> = Vec::new();
    for package in &metadata.packages {
        let folder = package.manifest_path.parent().expect("a manifest is in a folder");
        let folder = folder.strip_prefix(root).expect("a member is in the workspace");
        real.push(folder.to_string());
    }
    let mut sorted = named.clone();
    sorted.sort_unstable();
    real.sort_unstable();
    assert_eq!(sorted, real, "left: headings of ARCHITECTURE.md, right: members of the workspace");
    assert!(text.lines().count() < 370, "ARCHITECTURE.md is to stay short: under 370 lines");
}

/// Crate, and its folders (all rooms that it has), lower first: each may name only those before it. Each crate's `lib.rs`
/// says what they are.
const FOLDERS: &[(&str, &[&str])] = &[
    (
        "raddle-report",
        &["layout", "manual", "words", "schedule", "finding", "campaign", "formats", "pages"],
    ),
    ("raddle-rt", RUNTIME),
];

const RUNTIME: &[&str] = &[
    "abi", "base", "record", "state", "control", "process", "tell", "memory", "schedule",
    "outside", "hooks", "begin",
];

#[test]
fn rooms_stand_in_no_circle() {
    for package in &metadata().packages {
        let sources = package.manifest_path.with_file_name("src");
        let rooms = rooms(sources.as_std_path());
        let circle = circle(&rooms);
        assert!(circle.is_empty(), "{}: {}", package.name, circle.join(" → "));
    }
}

#[test]
fn folders_point_down() {
    for package in &metadata().packages {
        let order = FOLDERS.iter().find(|it| it.0 == package.name.as_str());
        let Some((name, order)) = order else { continue };
        let sources = package.manifest_path.with_file_name("src");
        for (room, named) in rooms(sources.as_std_path()) {
            let place = |it: &str| order.iter().position(|folder| *folder == it);
            let Some(own) = place(&room) else { panic!("{name}: {room} is not in FOLDERS") };
            let upward: Vec<_> = named.iter().filter(|it| place(it) > Some(own)).collect();
            assert!(upward.is_empty(), "{name}: {room} may not name {upward:?}");
        }
    }
}

/// Rooms of `plan`'s searches, lower first.
const SEARCHES: &[&str] = &["run", "tree", "dfs", "levels", "dpor", "rank", "total", "spec"];

#[test]
fn searches_point_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("plan").join("src/search");
    let place = |room: &str| SEARCHES.iter().position(|it| *it == room);
    let mut errors = Vec::new();
    for (room, text) in files(&folder) {
        let own = place(&room).unwrap_or_else(|| panic!("{room} is not in SEARCHES"));
        // What a room has from the one above it is the vocabulary of all; what it has by name, it has from another room.
        let text =
            text.replace("crate::search::", "crate::").replace("\nuse super::{", "\nuse crate::{");
        let above = named(&text).into_iter().filter(|it| place(it) > Some(own));
        errors.extend(above.map(|it| format!("{room} names {it}")));
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

/// Arrows by methods of `Control`, which any file of the runtime may add to, go down too.
#[test]
fn methods_of_the_runtime_point_down() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("rt").join("src");
    let height = |room: &str| {
        let at = RUNTIME.iter().position(|it| *it == room);
        at.unwrap_or_else(|| panic!("{room}: not listed in RUNTIME"))
    };
    let mut errors = Vec::new();
    let files: Vec<(String, String)> =
        files(&sources).into_iter().map(|(room, text)| (room, code(&text))).collect();
    let methods = |text: &str| -> Vec<String> {
        let parts = text.split("\nimpl Control {\n").skip(1);
        let parts = parts.filter_map(|it| it.split("\n}\n").next()).flat_map(str::lines);
        let heads = parts.filter(|it| it.starts_with("    ") && !it.starts_with("     "));
        let names = heads.filter_map(|it| it.split_once("fn ")?.1.split(['(', '<']).next());
        names.map(str::to_owned).collect()
    };
    assert!(files.iter().any(|it| !methods(&it.1).is_empty()), "no method of Control was found");
    for (defining, text) in &files {
        for method in methods(text) {
            for (room, text) in files.iter().filter(|it| height(&it.0) < height(defining)) {
                let is_own = text.contains(&format!("fn {method}("));
                let is_called = ["self", "inside", "control", "(*control())", "(*control)"]
                    .iter()
                    .any(|it| text.contains(&format!("{it}.{method}(")));
                if is_called && !is_own {
                    errors.push(format!("{room} calls {method} of {defining}"));
                }
            }
        }
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

/// By room, the rooms that it names, tests left out.
fn rooms(sources: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (room, text) in files(sources) {
        let named = named(&text)
            .into_iter()
            .filter(|it| *it != room && sources.join(format!("{it}.rs")).exists());
        rooms.entry(room.clone()).or_default().extend(named);
    }
    rooms
}

/// Files with their rooms, tests left out.
fn files(sources: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open = vec![sources.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.map(|it| it.expect("it can be listed").path()) {
            let within = path.strip_prefix(sources).expect("it is inside").to_owned();
            let name = within.iter().next().and_then(|it| it.to_str()).unwrap_or_default();
            let is_test = within.iter().any(|it| it.to_string_lossy().contains("tests"));
            if path.is_dir() {
                open.push(path);
            } else if name.ends_with("lib.rs") || name.ends_with("main.rs") || is_test {
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).expect("it can be read");
                files.push((name.trim_end_matches(".rs").to_owned(), text));
            }
        }
    }
    files
}

/// A file without its tests and comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(|it| it.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The first names after `crate::`, also those between braces.
fn named(text: &str) -> Vec<String> {
    let code = code(text);
    let word =
        |it: &str| it.trim().chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    let mut names: Vec<String> = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            names.push(word(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (at, letter) in list.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' | ',' if depth == 0 => {
                    names.push(word(&list[start..at]));
                    start = at + 1;
                    if letter == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names
}

/// Rooms that lead from one back to itself; empty if there are none.
fn circle(rooms: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    for start in rooms.keys() {
        let mut ways = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop() {
            let Some(next) = rooms.get(&way[way.len() - 1]) else { continue };
            for room in next {
                let longer = [way.as_slice(), std::slice::from_ref(room)].concat();
                if room == start {
                    return longer;
                }
                if seen.insert(room) {
                    ways.push(longer);
                }
            }
        }
    }
    Vec::new()
}
