//! What is made of results: files, and sections of files that are written by hand otherwise.

use std::{fmt::Write as _, fs};

use anyhow::Context as _;

use super::root;

/// A text that is made of results alone.
pub(crate) struct Page {
    /// From the root of the repository.
    pub(crate) path: String,
    /// What stands between `<!-- made: NAME -->` and `<!-- end: NAME -->`, if it is not the whole file.
    section: Option<String>,
    pub(crate) text: String,
}

impl Page {
    /// A whole file.
    pub(crate) fn whole(path: &str, text: String) -> Page {
        Page { path: path.to_owned(), section: None, text }
    }

    /// A section of a file.
    pub(crate) fn section(path: &str, name: &str, text: String) -> Page {
        Page { path: path.to_owned(), section: Some(name.to_owned()), text }
    }

    pub(super) fn write(&self) -> anyhow::Result<()> {
        let path = root().join(&self.path);
        fs::write(&path, self.file()?).with_context(|| format!("failed to write {}", self.path))
    }

    /// Does the file say the same?
    #[cfg(test)]
    pub(super) fn is_written(&self) -> anyhow::Result<bool> {
        Ok(fs::read_to_string(root().join(&self.path))? == self.file()?)
    }

    /// The whole file, with what is written by hand.
    fn file(&self) -> anyhow::Result<String> {
        let Some(name) = &self.section else { return Ok(self.text.clone()) };
        let old = fs::read_to_string(root().join(&self.path))
            .with_context(|| format!("failed to read {}", self.path))?;
        let replaced = replaced(&old, name, &self.text);
        replaced.with_context(|| format!("{} has no section `{name}`", self.path))
    }
}

fn replaced(old: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- made: {name} -->\n"), format!("<!-- end: {name} -->"));
    let (before, rest) = old.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{text}{end}{after}"))
}

/// A table in Markdown.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "| {} |", head.join(" | "));
    let rule = head.iter().enumerate().map(|(idx, _)| if idx == 0 { "---" } else { "---:" });
    let _ = writeln!(text, "| {} |", rule.collect::<Vec<_>>().join(" | "));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn a_section_is_replaced_and_nothing_else() {
        let old = "a\n<!-- made: t -->\nold\n<!-- end: t -->\nb\n";
        let new = "a\n<!-- made: t -->\nnew\n<!-- end: t -->\nb\n";
        assert_eq!(replaced(old, "t", "new\n").as_deref(), Some(new));
        assert_eq!(replaced(old, "u", "new\n"), None);
    }
}
