//! Recipes: how a program is built and run, and what is known of it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::{Finding, Place};

/// One program, from `NAME.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recipe {
    /// The file's name.
    #[serde(skip)]
    pub(crate) name: String,
    /// All that its build depends on: what was built of the same text need not be built again.
    #[serde(skip)]
    pub(crate) text: String,
    /// Where recipes and drivers are.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
    /// Debian's source package, or PyPI's.
    pub(crate) package: String,
    /// The version, if it comes from PyPI, which keeps all versions.
    #[serde(default)]
    pub(crate) pypi: Option<String>,
    /// What is executed, for the table.
    pub(crate) does: String,
    /// Debian packages that its build needs.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// Lines for `sh -e`, in the sources, with `$CC`, `$CXX`, `$CFLAGS`, `$RECIPES` (where the drivers are).
    pub(crate) build: String,
    /// The program and its arguments, in the sources.
    pub(crate) run: Vec<String>,
    /// Options for `raddle run`.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// Findings that are true.
    #[serde(default)]
    pub(crate) known: Vec<Known>,
}

/// A finding that is true.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    kind: String,
    /// Part of the memory's name.
    #[serde(default)]
    memory: String,
    /// Functions: all places of the finding are in these. Not lines, which move with each version.
    within: Vec<String>,
    /// Why it is true, for the table.
    pub(crate) why: String,
    /// It needs a wait or a sleep to take another time than it asks for.
    #[serde(default)]
    pub(crate) is_timing: bool,
}

impl Known {
    pub(crate) fn is(&self, finding: &Finding) -> bool {
        let memory = finding.evidence.as_ref().map_or("", |it| &it.memory);
        let is_within =
            |it: &Place| it.function.as_ref().is_some_and(|it| self.within.contains(it));
        self.kind == finding.kind
            && memory.contains(&self.memory)
            && !finding.sites.is_empty()
            && finding.sites.iter().all(is_within)
    }
}

/// All recipes of a folder, by name.
pub(crate) fn read_all(folder: &Path) -> anyhow::Result<Vec<Recipe>> {
    let mut recipes = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            let recipe = read(&path).with_context(|| format!("in {}", path.display()))?;
            recipes.push(recipe);
        }
    }
    recipes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(recipes)
}

fn read(path: &Path) -> anyhow::Result<Recipe> {
    let mut recipe: Recipe = toml::from_str(&fs::read_to_string(path)?)?;
    recipe.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    recipe.folder = path.parent().unwrap_or(Path::new("")).to_owned();
    recipe.text = recipe.build.clone();
    for driver in ["c", "cpp"].map(|it| path.with_extension(it)) {
        recipe.text.extend(fs::read_to_string(driver));
    }
    recipe.text.extend(recipe.pypi.clone());
    ensure!(!recipe.run.is_empty(), "`run` is empty");
    ensure!(recipe.known.iter().all(|it| !it.within.is_empty()), "`within` is empty");
    Ok(recipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: &str, memory: &str, functions: &[&str]) -> Finding {
        let sites: Vec<_> =
            functions.iter().map(|it| serde_json::json!({ "function": it })).collect();
        let value = serde_json::json!({
            "kind": kind, "message": "", "certainty": "shown", "sites": sites,
            "evidence": { "memory": memory },
        });
        serde_json::from_value(value).expect("it has all fields")
    }

    #[test]
    fn all_recipes_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("real");
        let recipes = read_all(&folder).expect("recipes are right");
        assert!(recipes.len() >= 20);
        for recipe in recipes {
            for part in recipe.build.split("$RECIPES/").skip(1) {
                let driver = part.split('"').next().unwrap_or_default();
                assert!(folder.join(driver).exists(), "{}: no {driver}", recipe.name);
            }
        }
    }

    #[test]
    fn a_finding_is_known_by_kind_memory_and_functions() {
        let known = Known {
            kind: "race".to_owned(),
            memory: "Queue.len".to_owned(),
            within: vec!["put".to_owned(), "get".to_owned()],
            why: String::new(),
            is_timing: false,
        };
        assert!(known.is(&finding("race", "`Queue.len`", &["put", "get"])));
        assert!(known.is(&finding("race", "`Queue.len`", &["get"])));
        assert!(!known.is(&finding("race", "`Queue.head`", &["put", "get"])));
        assert!(!known.is(&finding("race", "`Queue.len`", &["put", "clear"])));
        assert!(!known.is(&finding("race", "`Queue.len`", &[])));
        assert!(!known.is(&finding("deadlock", "`Queue.len`", &["put", "get"])));
    }
}
