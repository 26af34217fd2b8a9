//! Lines of source files, for quotation in reports.

use std::collections::HashMap;
use std::fs;

/// Files read so far; `None` for those that can't be.
#[derive(Debug, Default)]
pub(super) struct Sources {
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Line `line`, from 1, of `file`, without the space at its end.
    pub(super) fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let line_idx = usize::try_from(line).ok()?.checked_sub(1)?;
        if !self.files.contains_key(file) {
            self.files.insert(file.into(), read(file));
        }
        let lines = self.files.get(file)?.as_ref()?;
        lines.get(line_idx).map(|text| text.trim_end().to_owned())
    }
}

/// Sources are not always UTF-8.
fn read(file: &str) -> Option<Vec<String>> {
    let bytes = fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&bytes).lines().map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"int a;\n\t caf\xe9();  \r\nlast").unwrap();
        let name = file.path().display().to_string();
        let mut sources = Sources::default();
        assert_eq!(sources.line(&name, 0), None);
        assert_eq!(sources.line(&name, 1).as_deref(), Some("int a;"));
        assert_eq!(sources.line(&name, 2).as_deref(), Some("\t caf\u{fffd}();"));
        assert_eq!(sources.line(&name, 3).as_deref(), Some("last"));
        assert_eq!(sources.line(&name, 4), None);
        assert_eq!(sources.line("/nowhere.c", 1), None);
    }
}
