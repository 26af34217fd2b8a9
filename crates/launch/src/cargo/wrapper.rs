//! What stands between cargo and rustc: a script that adds our flags for the target's crates.
//!
//! So `RUSTFLAGS` and all that configuration files say stays as it is, whichever of them cargo takes. The flags
//! are unstable ones, which `RUSTC_BOOTSTRAP` makes rustc accept; it is set for these compilations only. A build
//! script that asks the compiler what it can do asks through the script too (`RUSTC_WRAPPER` is known to it), but
//! cargo has not told it the name of a crate to compile: it gets the stable compiler that the user has.
//!
//! Cargo does not know our flags, so it would not build again when they change: [`Stamp`] does.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::{Cache, CacheError};

/// Writes the script. `own` are flags for the packages that the user builds, not for those that they depend on;
/// `inner` is the wrapper that the user has.
pub(super) fn write(
    cache: &Cache,
    flags: &[String],
    own: &[String],
    inner: Option<&str>,
) -> Result<PathBuf, CacheError> {
    let line = |flags: &[String]| flags.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ");
    let (flags, own) = (line(flags), line(own));
    let inner = inner.map_or(String::new(), |it| quoted(it) + " ");
    // Host code (build scripts, proc macros) is compiled without `--target`.
    let text = format!(
        "#!/bin/sh\n\
         for word in \"$@\"; do\n    \
             case $word in\n    \
             --target | --target=*)\n        \
                 if [ -n \"$CARGO_CRATE_NAME\" ]; then\n            \
                     export RUSTC_BOOTSTRAP=1\n            \
                     if [ -n \"$CARGO_PRIMARY_PACKAGE\" ]; then set -- \"$@\" {own}; fi\n            \
                     exec {inner}\"$@\" {flags}\n        \
                 fi\n        \
                 ;;\n    \
             esac\n\
         done\n\
         exec {inner}\"$@\"\n"
    );
    script(cache, "raddle-rustc", &text)
}

/// An executable script, in a folder named after what it says.
pub(super) fn script(cache: &Cache, name: &str, text: &str) -> Result<PathBuf, CacheError> {
    let hash = raddle_model::hash_bytes(text.as_bytes());
    let path = cache.write_once(format!("bin-{hash:016x}/{name}"), text.as_bytes())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
        .map_err(|source| CacheError::Io { path: path.clone(), source })?;
    Ok(path)
}

/// A word for the shell.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What a target folder was built with.
#[derive(Debug)]
pub(super) struct Stamp {
    file: PathBuf,
    text: String,
}

impl Stamp {
    /// Paths of libraries are no part of the flags: a program finds the runtime that it is started with.
    pub(super) fn new(target_dir: &Path, flags: &[String]) -> Stamp {
        Stamp { file: target_dir.join("raddle-flags"), text: flags.join("\n") }
    }

    /// Removes what was built with other flags.
    pub(super) fn check(&self, built: &Path) -> Result<(), CacheError> {
        let is_same = fs::read_to_string(&self.file).is_ok_and(|it| it == self.text);
        if is_same || !built.exists() {
            return Ok(());
        }
        fs::remove_dir_all(built)
            .map_err(|source| CacheError::Io { path: built.to_owned(), source })
    }

    /// Notes the flags, after something was built.
    pub(super) fn put(&self) {
        // If it can't be written, the next build is from scratch.
        let _ = fs::write(&self.file, &self.text);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;

    fn run(script: &Path, line: &str, crate_name: Option<&str>) -> String {
        let mut command = Command::new(script);
        command.args(["sh", "-c", r#"echo "$RUSTC_BOOTSTRAP:$*""#, "rustc"]);
        command.args(line.split_whitespace()).env_remove("CARGO_CRATE_NAME");
        command.envs(crate_name.map(|it| ("CARGO_CRATE_NAME", it))).env_remove("RUSTC_BOOTSTRAP");
        command.env_remove("CARGO_PRIMARY_PACKAGE");
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn only_crates_of_the_target_get_flags() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        let flags = ["-Zsanitizer=thread".to_owned(), "-Lit's here".to_owned()];
        let plain = write(&cache, &flags, &["--cfg=miri".to_owned()], None).unwrap();
        assert_eq!(
            run(&plain, "x.rs --target y", Some("x")),
            "1:x.rs --target y -Zsanitizer=thread -Lit's here"
        );
        let own = Command::new(&plain)
            .args(["sh", "-c", "echo $*", "rustc", "x.rs", "--target", "y"])
            .envs([("CARGO_CRATE_NAME", "x"), ("CARGO_PRIMARY_PACKAGE", "1")])
            .output();
        assert_eq!(
            String::from_utf8(own.unwrap().stdout).unwrap().trim(),
            "x.rs --target y --cfg=miri -Zsanitizer=thread -Lit's here"
        );
        assert_eq!(run(&plain, "build.rs", Some("build_script_build")), ":build.rs");
        assert_eq!(run(&plain, "probe.rs --target y", None), ":probe.rs --target y");
        let wrapped = write(&cache, &flags[..1], &[], Some("env")).unwrap();
        assert_eq!(
            run(&wrapped, "x.rs --target=y", Some("x")),
            "1:x.rs --target=y -Zsanitizer=thread"
        );
    }

    #[test]
    fn what_was_built_with_other_flags_is_removed() {
        let folder = TempDir::new().unwrap();
        let built = folder.path().join("built");
        fs::create_dir(&built).unwrap();
        let stamp = |flag: &str| Stamp::new(folder.path(), &[flag.to_owned()]);
        stamp("a").check(&built).unwrap();
        assert!(!built.exists(), "nobody knows with which flags");
        fs::create_dir(&built).unwrap();
        stamp("a").put();
        stamp("a").check(&built).unwrap();
        assert!(built.exists());
        stamp("b").check(&built).unwrap();
        assert!(!built.exists());
    }
}
