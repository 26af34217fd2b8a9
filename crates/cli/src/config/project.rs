//! `[run]`: what `raddle run` without a program explores.
//!
//! Either `sources`, or `program` with a command that builds it (`build`), or `cargo`. Paths and commands are relative to
//! the directory of the file.

use super::document::{Document, Node};
use crate::named::Project;

/// The table of a file, if it has one that says something.
pub(super) fn read(document: &Document<'_>) -> Result<Option<Project>, String> {
    let mut project = Project::default();
    for table in document.items().into_iter().filter(|it| it.key == "run") {
        for item in table.node.items()? {
            match item.key {
                "sources" => project.sources = strings(item.node)?,
                "args" => project.args = strings(item.node)?,
                "build" => project.build = Some(item.node.string()?.to_owned()),
                "program" => project.program = Some(item.node.string()?.to_owned()),
                "cargo" => project.cargo = Some(item.node.string()?.to_owned()),
                key => {
                    let what = format!(
                        "expected `sources`, `build`, `program`, `args` or `cargo`, found `{key}`"
                    );
                    return Err(document.wrong(item.at, &what));
                }
            }
        }
        let n = usize::from(!project.sources.is_empty())
            + usize::from(project.program.is_some())
            + usize::from(project.cargo.is_some());
        if n > 1 {
            let what = "expected only one of `sources`, `program` and `cargo`";
            return Err(document.wrong(table.at, what));
        }
    }
    let says = !project.sources.is_empty() || project.program.is_some() || project.cargo.is_some();
    Ok(says.then_some(project))
}

fn strings(node: Node<'_>) -> Result<Vec<String>, String> {
    node.nodes()?.into_iter().map(|it| it.string().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Document, read};

    fn of(text: &str) -> Result<Option<super::Project>, String> {
        read(&Document::parse("raddle.toml", text)?)
    }

    #[test]
    fn what_is_explored() {
        assert_eq!(of("[profile.default]\n"), Ok(None));
        let project = of("[run]\nbuild = \"make\"\nprogram = \"./q\"\nargs = [\"-n\", \"3\"]\n");
        let project = project.expect("it is right").expect("it says something");
        assert_eq!((project.program.as_deref(), project.args.len()), (Some("./q"), 2));
        for (text, error) in [
            (
                "[run]\nsource = [\"a.c\"]\n",
                "raddle.toml:2:1: expected `sources`, `build`, `program`, `args` or `cargo`, found `source`",
            ),
            ("[run]\nsources = \"a.c\"\n", "raddle.toml:2:11: expected an array, found \"a.c\""),
            (
                "[run]\nsources = [\"a.c\"]\ncargo = \"test\"\n",
                "raddle.toml:1:2: expected only one of `sources`, `program` and `cargo`",
            ),
        ] {
            assert_eq!(of(text), Err(error.to_owned()));
        }
    }
}
