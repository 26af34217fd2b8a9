//! What is known of a program's storage, kept in a file from one campaign to the next.
//!
//! Seed paper 1 begins with everything unshared, and each execution that shows otherwise re-classifies for
//! those that follow. That knowledge need not be lost with the campaign: a file names the variables that were
//! seen in a race (and the locks that somebody tried for), by the hashes of their names. To know too much
//! costs scheduling points, to know too little an execution or two; neither can hide a bug. So a file of an
//! earlier build of the program is no error: it is begun anew.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// The version of the file.
const VERSION: u32 = 1;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Classes {
    /// Of the file.
    raddle_classes: u32,
    /// The program's file name.
    pub program: String,
    /// The hash of the program's bytes.
    pub build: u64,
    /// Hashes of the names of variables that are scheduling points. Sorted.
    pub exposed: Vec<u64>,
}

/// Why a file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ClassesError {
    /// It is not there, can't be read or written.
    #[error("can't {action} {}: {source}", .file.display())]
    Io {
        /// What was to be done.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is something else.
    #[error("{} is not a --classes file ({why}); delete it or name another file", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It is of another program.
    #[error("{} is the --classes file of `{other}`, not of `{program}`; name another file", .file.display())]
    OtherProgram {
        /// The file.
        file: PathBuf,
        /// Whose it is.
        other: String,
        /// Whose it should be.
        program: String,
    },
}

impl Classes {
    /// Nothing is known.
    pub fn new(program: &str, build: u64) -> Classes {
        let program = program.to_owned();
        Classes { raddle_classes: VERSION, program, build, exposed: Vec::new() }
    }

    /// What a file says about a program; nothing if there is no file, or if the program was built anew.
    pub fn read(file: &Path, program: &str, build: u64) -> Result<Classes, ClassesError> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Classes::new(program, build));
            }
            Err(source) => {
                return Err(ClassesError::Io { action: "read", file: file.to_owned(), source });
            }
        };
        let malformed = |why: String| ClassesError::Malformed { file: file.to_owned(), why };
        let classes: Classes =
            serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if classes.raddle_classes != VERSION {
            return Err(malformed(format!("version {}", classes.raddle_classes)));
        }
        if classes.program != program {
            return Err(ClassesError::OtherProgram {
                file: file.to_owned(),
                other: classes.program,
                program: program.to_owned(),
            });
        }
        let is_same_build = classes.build == build;
        Ok(if is_same_build { classes } else { Classes::new(program, build) })
    }

    /// Writes the file, with these names.
    pub fn write(mut self, file: &Path, exposed: &[u64]) -> Result<(), ClassesError> {
        self.exposed = exposed.to_vec();
        self.exposed.sort_unstable();
        self.exposed.dedup();
        let mut text =
            serde_json::to_string_pretty(&self).expect("bug: a classification has a JSON form");
        text.push('\n');
        let io = |source| ClassesError::Io { action: "write", file: file.to_owned(), source };
        fs::write(file, text).map_err(io)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("raddle-classes-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn comes_back_as_written() {
        let folder = folder("whole");
        let file = folder.join("classes.json");
        let fresh = Classes::read(&file, "queue", 7).expect("no file yet");
        assert!(fresh.exposed.is_empty());
        fresh.write(&file, &[9, 3, 9]).expect("written");
        assert_eq!(Classes::read(&file, "queue", 7).expect("read").exposed, [3, 9]);
        assert!(Classes::read(&file, "queue", 8).expect("another build").exposed.is_empty());
        fs::remove_dir_all(folder).expect("removed");
    }

    fn check_refused(name: &str, text: &str, expected: Expect) {
        let folder = folder(name);
        let file = folder.join("classes.json");
        fs::write(&file, text).expect("written");
        let error = Classes::read(&file, "queue", 7).expect_err("refused").to_string();
        expected.assert_eq(&error.replace(&folder.display().to_string(), "DIR"));
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn what_is_no_classification_of_the_program_is_refused() {
        check_refused(
            "other",
            r#"{"raddle_classes": 1, "program": "stack", "build": 7, "exposed": []}"#,
            expect![
                "DIR/classes.json is the --classes file of `stack`, not of `queue`; name another file"
            ],
        );
        check_refused(
            "newer",
            r#"{"raddle_classes": 2, "program": "queue", "build": 7, "exposed": []}"#,
            expect![
                "DIR/classes.json is not a --classes file (version 2); delete it or name another file"
            ],
        );
        check_refused(
            "else",
            "hello",
            expect![
                "DIR/classes.json is not a --classes file (expected value at line 1 column 1); delete it or name another file"
            ],
        );
    }
}
