//! Where a project's own directories are: `.raddle` and `raddle-regressions`, if the user does not say.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Where runs and findings are stored.
pub(crate) fn store() -> PathBuf {
    root().join(".raddle")
}

/// Where regression tests are.
pub(crate) fn regressions() -> PathBuf {
    root().join("raddle-regressions")
}

/// The root of the cargo workspace around this directory, or of the crate, so that all members share one store and
/// their regression tests run wherever the command is given; without a `Cargo.toml`, this directory, which is the
/// empty path. Not asked of cargo: that takes longer than all else that `raddle list` does.
fn root() -> PathBuf {
    let Ok(here) = std::env::current_dir() else { return PathBuf::new() };
    up_to(&here).map(|n| (0..n).map(|_| "..").collect()).unwrap_or_default()
}

/// So many directories above `here`.
fn up_to(here: &Path) -> Option<usize> {
    let mut krate: Option<(usize, &Path)> = None;
    for (n, folder) in here.ancestors().enumerate() {
        if let Some(manifest) = manifest(folder) {
            let inner = krate.map_or(folder, |it| it.1);
            if manifest.contains_key("workspace") {
                let is_outside = is_excluded(&manifest, inner.strip_prefix(folder).ok()?);
                return if is_outside { krate.map(|it| it.0) } else { Some(n) };
            }
            krate.get_or_insert((n, folder));
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    krate.map(|it| it.0)
}

fn manifest(folder: &Path) -> Option<toml::Table> {
    fs::read_to_string(folder.join("Cargo.toml")).ok()?.parse().ok()
}

fn is_excluded(workspace: &toml::Table, member: &Path) -> bool {
    let excluded = workspace["workspace"].get("exclude").and_then(|it| it.as_array());
    let mut names = excluded.into_iter().flatten().filter_map(|it| it.as_str());
    names.any(|it| member.starts_with(it))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::up_to;

    fn write(folder: &Path, manifest: &str) {
        fs::create_dir_all(folder.join("src")).expect("made");
        fs::write(folder.join("Cargo.toml"), manifest).expect("written");
    }

    #[test]
    fn members_share_what_the_root_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        assert_eq!(up_to(root), None, "no crate");
        write(root, "[workspace]\nmembers = ['a']\nexclude = ['b']");
        write(&root.join("a"), "[package]\nname = 'a'");
        write(&root.join("b"), "[package]\nname = 'b'");
        write(&root.join("c"), "[package]\nname = 'c'\n[workspace]");
        write(&root.join("d"), "this is [ no TOML");
        let of = |path: &str| up_to(&root.join(path));
        assert_eq!(of("src"), Some(1));
        assert_eq!(of("a"), Some(1));
        assert_eq!(of("a/src"), Some(2));
        assert_eq!(of("b/src"), Some(1), "its own, since it is excluded");
        assert_eq!(of("c/src"), Some(1), "its own, since it is a workspace");
        assert_eq!(of("d"), Some(1));
    }

    #[test]
    fn a_crate_alone_is_its_own_root() {
        let folder = tempfile::tempdir().expect("a folder");
        write(&folder.path().join("a"), "[package]\nname = 'a'");
        assert_eq!(up_to(&folder.path().join("a")), Some(0));
        assert_eq!(up_to(&folder.path().join("a/src")), Some(1));
        // What is around a repository is another project.
        write(folder.path(), "[workspace]");
        assert_eq!(up_to(&folder.path().join("a/src")), Some(2));
        fs::create_dir(folder.path().join("a/.git")).expect("made");
        assert_eq!(up_to(&folder.path().join("a/src")), Some(1));
    }
}
