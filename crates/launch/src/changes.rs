//! Which lines of source files were changed since a revision, as git says.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use thiserror::Error;

/// Changed lines of one file, in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The file.
    pub file: PathBuf,
    /// The first of the lines, from 1. Where lines were only removed, the one before them.
    pub first: u32,
    /// The last of them. Where lines were only removed, the one after them.
    pub last: u32,
}

/// Why it is not known what was changed.
#[derive(Debug, Error)]
pub enum ChangesError {
    /// There is no git, or it can't be started.
    #[error("can't run git: {0}; install git, or name the lines with --around")]
    NoGit(std::io::Error),
    /// It failed without a message.
    #[error("git failed ({0})")]
    Silent(std::process::ExitStatus),
    /// It would be an option of git's.
    #[error("`{0}` is not a revision")]
    NoRevision(String),
    /// It has something to say against it.
    #[error("git: {0}")]
    Git(String),
}

/// The lines that differ from those of a revision in the work tree that a directory belongs to.
pub fn changed_since(revision: &str, directory: &Path) -> Result<Vec<Changed>, ChangesError> {
    // What looks like an option is one: git has no other way to tell that it is a revision.
    if revision.starts_with('-') {
        return Err(ChangesError::NoRevision(revision.to_owned()));
    }
    let root = git(directory, &["rev-parse", "--show-toplevel"])?;
    let root = PathBuf::from(root.trim_end_matches('\n'));
    let diff = git(
        directory,
        &[
            "-c",
            "core.quotePath=false",
            "diff",
            "--unified=0",
            "--no-color",
            "--no-ext-diff",
            "--no-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            revision,
            "--",
        ],
    )?;
    Ok(parse(&diff, &root))
}

fn git(directory: &Path, args: &[&str]) -> Result<String, ChangesError> {
    let run = Command::new("git").arg("-C").arg(directory).args(args).output();
    let Output { status, stdout, stderr } = run.map_err(ChangesError::NoGit)?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&stderr);
    let first = said.lines().next().map(|it| it.trim_start_matches("fatal: ").to_owned());
    Err(first.map_or(ChangesError::Silent(status), ChangesError::Git))
}

/// Reads what `git diff --unified=0` prints.
fn parse(diff: &str, root: &Path) -> Vec<Changed> {
    let mut changed = Vec::new();
    let mut file = None;
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ ") {
            let name = name.trim_end_matches('\t').trim_matches('"');
            file = name.strip_prefix("b/").map(|it| root.join(it));
        } else if line.starts_with("@@ ")
            && let (Some(file), Some((first, count))) = (&file, new_lines(line))
        {
            // Of lines that were only removed, the one before them is given.
            let last = if count == 0 { first + 1 } else { first + count - 1 };
            changed.push(Changed { file: file.clone(), first, last });
        }
    }
    changed
}

/// `@@ -10,2 +12,3 @@`: 12 and 3.
fn new_lines(hunk: &str) -> Option<(u32, u32)> {
    let (_, rest) = hunk.split_once(" +")?;
    let (lines, _) = rest.split_once(' ')?;
    match lines.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((lines.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Changed, parse};

    #[test]
    fn hunks_are_lines_of_the_new_files() {
        let diff = "diff --git a/src/a.c b/src/a.c\n\
                    index 1..2 100644\n\
                    --- a/src/a.c\n\
                    +++ b/src/a.c\n\
                    @@ -10 +10 @@ int f(void)\n\
                    -    x = 1;\n\
                    +    x = 2;\n\
                    @@ -20,2 +19,0 @@\n\
                    -    lock();\n\
                    -    unlock();\n\
                    @@ -30,0 +29,3 @@\n\
                    +++ i;\n\
                    diff --git a/gone.c b/gone.c\n\
                    --- a/gone.c\n\
                    +++ /dev/null\n\
                    @@ -1,5 +0,0 @@\n";
        let file = PathBuf::from("/w/src/a.c");
        let changed = |first, last| Changed { file: file.clone(), first, last };
        // `+++ i;` is a line of text that looks like a header: it names no file, and ends the one before.
        assert_eq!(
            parse(diff, Path::new("/w")),
            [changed(10, 10), changed(19, 20), changed(29, 31)]
        );
    }
}
