//! One Rust file as a program: rustc alone, with the flags that crates get from cargo.

use std::{
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use super::{CargoError, Hooked, TARGET, ask};

/// What came of a compilation.
#[derive(Debug)]
pub(crate) struct CompiledFile {
    /// Is there a program?
    pub(crate) is_program: bool,
    /// What the compiler said.
    pub(crate) words: String,
    /// The rules of make that name the files it read.
    pub(crate) rules: Vec<u8>,
}

impl Hooked {
    /// Compiles one file, optimised as C files are; arithmetic and assertions are checked, as in programs that
    /// cargo builds without `--release`. `flags` are the user's, and win.
    pub(crate) fn compile(
        &self,
        source: &Path,
        flags: &[OsString],
        program: &Path,
    ) -> Result<CompiledFile, CargoError> {
        // Not `--emit=link=FILE` or `-o`: a path may have commas, and there are two files.
        let folder = program.parent().expect("bug: a program lies in a folder");
        let name = crate_name(source);
        let mut command = Command::new(&self.compiler.program);
        command.arg(source).args(["--crate-type=bin", "--crate-name", &name, "--target", TARGET]);
        command.args(["-Copt-level=1", "-Cdebug-assertions=on"]);
        // The one flag of these that rustc does not take twice.
        if !flags.iter().any(|it| it.to_string_lossy().starts_with("--edition")) {
            command.arg("--edition=2021");
        }
        command.args(flags).args(self.rustc_args());
        command.arg("--emit=link,dep-info").arg("--out-dir").arg(folder);
        command.env("RUSTC_BOOTSTRAP", "1").stdin(Stdio::null());
        let output = ask(&mut command)?;
        let mut words = String::from_utf8_lossy(&output.stderr).into_owned();
        for lost in &self.lost {
            words += &format!("warning: {lost}\n");
        }
        let is_program = output.status.success() && fs::rename(folder.join(&name), program).is_ok();
        let mut rules = fs::read(folder.join(name + ".d")).unwrap_or_default();
        // The first is the program's; then there is one for each file, so that it may be missing.
        if let Some(end) = rules.windows(2).position(|it| it == b"\n\n") {
            rules.truncate(end);
        }
        Ok(CompiledFile { is_program, words, rules })
    }
}

/// A name that Rust accepts, as near to the file's as it can be.
fn crate_name(source: &Path) -> String {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let is_fine = |it: char| it.is_alphanumeric() || it == '_';
    let name: String = stem.chars().map(|it| if is_fine(it) { it } else { '_' }).collect();
    if name.starts_with(|it: char| it.is_ascii_digit()) { format!("_{name}") } else { name }
}
