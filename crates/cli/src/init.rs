//! `raddle init`: looks at the directory, writes `raddle.toml` and says what to run next.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    exit::{Exit, Failure},
    prepare::is_source,
    terminal::Terminal,
};

/// What is written.
const FILE: &str = "raddle.toml";

/// How the project in this directory is built and explored.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Project {
    /// A crate or a workspace.
    Cargo,
    /// Sources that are a program together: one of them has `main`.
    Sources(Vec<String>),
    /// A build system: the command that builds, and the program, if a name can be guessed.
    Build { system: &'static str, command: String, program: Option<String> },
    /// Nothing that is known.
    Unknown,
}

/// Writes a configuration.
pub(crate) fn init(terminal: &mut Terminal) -> Result<Exit, Failure> {
    let here = Path::new(".");
    let project = Project::of(here)?;
    let path = here.join(FILE);
    if path.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{FILE} exists already; edit it, or remove it first")));
    }
    fs::write(&path, text(&project))
        .map_err(|error| Failure::usage(format!("can't write {FILE}: {error}")))?;
    terminal.note(&format!("{}\nwrote {FILE}; next: {}\n", project.what(), project.next()));
    Ok(Exit::Clean)
}

impl Project {
    /// What is in a directory.
    fn of(folder: &Path) -> Result<Project, Failure> {
        let has = |name: &str| folder.join(name).is_file();
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        if has("Cargo.toml") {
            return Ok(Project::Cargo);
        }
        let build = |system, command: &str, program: Option<String>| Project::Build {
            system,
            command: command.to_owned(),
            program,
        };
        if has("CMakeLists.txt") {
            let program = called(&read("CMakeLists.txt"), &["add_executable("]);
            return Ok(build(
                "CMake",
                "cmake -S . -B build-raddle -DCMAKE_C_COMPILER=raddle-cc -DCMAKE_CXX_COMPILER=raddle-cxx && \
                 cmake --build build-raddle",
                program.map(|it| format!("build-raddle/{it}")),
            ));
        }
        if has("meson.build") {
            let program = called(&read("meson.build"), &["executable("]);
            return Ok(build(
                "Meson",
                "test -d build-raddle || CC=raddle-cc CXX=raddle-cxx meson setup build-raddle; \
                 meson compile -C build-raddle",
                program.map(|it| format!("build-raddle/{it}")),
            ));
        }
        if has("configure") {
            let command = "test -f Makefile || ./configure CC=raddle-cc CXX=raddle-cxx; make";
            return Ok(build("configure", command, None));
        }
        for makefile in ["Makefile", "makefile", "GNUmakefile"] {
            if has(makefile) {
                let program = target(&read(makefile));
                return Ok(build("make", "make CC=raddle-cc CXX=raddle-cxx", program));
            }
        }
        sources(folder)
    }

    fn what(&self) -> String {
        match self {
            Project::Cargo => "found Cargo.toml: each test of the crate is explored".to_owned(),
            Project::Sources(all) => format!("found a program: {}", all.join(", ")),
            Project::Build { system, .. } => {
                format!("found a project of {system}: it is built with raddle-cc and raddle-cxx")
            }
            Project::Unknown => {
                "found no Cargo.toml, CMakeLists.txt, meson.build, Makefile or program of one directory"
                    .to_owned()
            }
        }
    }

    fn next(&self) -> &'static str {
        match self {
            Project::Cargo | Project::Sources(_) | Project::Build { program: Some(_), .. } => {
                "raddle run"
            }
            Project::Build { .. } | Project::Unknown => {
                "name the program in raddle.toml, then raddle run"
            }
        }
    }
}

/// The sources of a directory, if they are one program.
fn sources(folder: &Path) -> Result<Project, Failure> {
    let entries = fs::read_dir(folder)
        .map_err(|error| Failure::usage(format!("can't read the directory: {error}")))?;
    let files = entries.flatten().map(|it| it.path());
    let mut files: Vec<PathBuf> = files.filter(|it| it.is_file() && is_source(it)).collect();
    files.sort();
    let name = |it: &PathBuf| it.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_rust = |it: &PathBuf| it.extension().is_some_and(|it| it == "rs");
    let is_text =
        |it: &PathBuf| it.extension().is_some_and(|it| it != "o" && it != "a" && it != "so");
    files.retain(is_text);
    let begins = |it: &&PathBuf| has_main(&fs::read_to_string(it).unwrap_or_default());
    let mains: Vec<&PathBuf> = files.iter().filter(begins).collect();
    Ok(match mains[..] {
        [one] if is_rust(one) => Project::Sources(vec![name(one)]),
        [_] => Project::Sources(files.iter().filter(|it| !is_rust(it)).map(name).collect()),
        _ => Project::Unknown,
    })
}

/// Does a source have a `main`?
fn has_main(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        let is_c = ["int main(", "int main (", "void main(", "auto main("];
        line.starts_with("fn main(") || is_c.iter().any(|it| line.starts_with(it))
    })
}

/// The first thing that is declared by such a call; one with `test` in its name, if there is one.
fn called(text: &str, calls: &[&str]) -> Option<String> {
    let is_end = |it: char| it.is_whitespace() || [')', ',', '\'', '"'].contains(&it);
    let names: Vec<&str> = calls
        .iter()
        .flat_map(|call| text.split(call).skip(1))
        .filter_map(|it| it.trim_start().trim_start_matches(['\'', '"']).split(is_end).next())
        .filter(|it| !it.is_empty() && !it.contains('$'))
        .collect();
    let test = names.iter().find(|it| it.contains("test"));
    test.or(names.first()).map(|it| (*it).to_owned())
}

/// A program that a makefile makes: a target with `test` in its name that is linked of objects or sources.
fn target(text: &str) -> Option<String> {
    let rules = text.lines().filter(|it| !it.starts_with(['\t', '#', '.', ' ']));
    let rules = rules.filter_map(|it| it.split_once(':')).filter(|it| !it.1.starts_with('='));
    let is_program = |(name, needs): &(&str, &str)| {
        let is_word = name.chars().all(|it| it.is_alphanumeric() || "_-/".contains(it));
        is_word && (needs.contains(".o") || needs.contains(".c") || needs.contains("$("))
    };
    let names: Vec<&str> = rules.filter(is_program).map(|it| it.0.trim()).collect();
    let names = names.into_iter().filter(|it| !["all", "clean", "test", "check"].contains(it));
    let names: Vec<&str> = names.collect();
    let test = names.iter().find(|it| it.contains("test"));
    test.or(names.first()).map(|it| format!("./{it}"))
}

/// The file, with comments.
fn text(project: &Project) -> String {
    let quoted = |it: &String| format!("\"{}\"", it.replace('\\', "\\\\").replace('"', "\\\""));
    let run = match project {
        Project::Cargo => "cargo = \"test\"            # or \"run\"".to_owned(),
        Project::Sources(all) => {
            let all: Vec<String> = all.iter().map(quoted).collect();
            format!("sources = [{}]", all.join(", "))
        }
        Project::Build { command, program, .. } => {
            let program = match program {
                Some(program) => format!("program = {}", quoted(program)),
                None => {
                    "# program = \"./test_queue\"     # what to explore: a program that this builds"
                        .to_owned()
                }
            };
            format!("build = {}\n{program}", quoted(command))
        }
        Project::Unknown => {
            "# sources = [\"queue.c\", \"test_queue.c\"]\n# or:\n# build = \"make CC=raddle-cc\"\n\
                             # program = \"./test_queue\""
                .to_owned()
        }
    };
    format!(
        "# What `raddle run` without a program explores.\n[run]\n{run}\n\n\
         # Defaults for options of `raddle run`: their names without dashes.\n[profile.default]\ntime = \"20s\"\n\n\
         # Used by `raddle ci`, and by `--profile ci`.\n[profile.ci]\ntime = \"60s\"\n\n\
         # A finding that you know and accept; `raddle review ID --suppress` writes such a rule.\n\
         # [[suppress]]\n# kind = \"race\"\n# function = \"stats_*\"\n# reason = \"a statistic\"\n"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Project, called, has_main, target};

    #[test]
    fn programs_are_found_in_build_files() {
        assert_eq!(
            called("add_executable(app a.c)\nadd_executable( test_q q.c)", &["add_executable("]),
            Some("test_q".into())
        );
        assert_eq!(
            called("exe = executable('mailbox', 'm.c')", &["executable("]),
            Some("mailbox".into())
        );
        assert_eq!(called("add_executable(${X} a.c)", &["add_executable("]), None);
        let makefile = "CC := cc\nall: app\n\ttrue\napp: a.o b.o\n\t$(CC)\ntest_q: q.o\n\t$(CC)\n";
        assert_eq!(target(makefile), Some("./test_q".into()));
        assert_eq!(target("all:\n\ttrue\n"), None);
        assert!(has_main("  int main(void)\n{") && has_main("fn main() {}"));
        assert!(!has_main("// int main(void)\nint domain(void);"));
    }

    #[test]
    fn a_directory_is_what_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let of = || Project::of(path).expect("it can be read");
        assert_eq!(of(), Project::Unknown);
        fs::write(path.join("q.c"), "void push(int);\n").expect("written");
        assert_eq!(of(), Project::Unknown);
        fs::write(path.join("main.c"), "int main(void) { push(1); }\n").expect("written");
        assert_eq!(of(), Project::Sources(vec!["main.c".into(), "q.c".into()]));
        fs::write(path.join("Makefile"), "main: main.o q.o\n").expect("written");
        assert!(
            matches!(of(), Project::Build { system: "make", program: Some(it), .. } if it == "./main")
        );
        fs::write(path.join("CMakeLists.txt"), "add_executable(t t.c)\n").expect("written");
        assert!(matches!(of(), Project::Build { system: "CMake", .. }));
        fs::write(path.join("Cargo.toml"), "[package]\n").expect("written");
        assert_eq!(of(), Project::Cargo);
    }
}
