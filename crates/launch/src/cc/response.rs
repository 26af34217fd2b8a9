//! `@file` arguments, as gcc's libiberty and clang read them: words between white space, single and
//! double quotes, a backslash before any character, files within files. A file that is not there is
//! no response file but an argument of that name.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// More than this many files in all is a file that names itself.
const MAX_FILES: usize = 2000;

/// Arguments with all response files replaced by their contents.
pub(super) struct Expanded {
    pub(super) args: Vec<OsString>,
    pub(super) has_response_file: bool,
}

pub(super) fn expand(args: &[OsString]) -> Expanded {
    let mut out = Vec::with_capacity(args.len());
    let mut n_files = 0;
    let mut todo: Vec<OsString> = args.iter().rev().cloned().collect();
    while let Some(arg) = todo.pop() {
        match contents(&arg).filter(|_| n_files < MAX_FILES) {
            Some(text) => {
                n_files += 1;
                todo.extend(split(&text).into_iter().rev());
            }
            None => out.push(arg),
        }
    }
    Expanded { args: out, has_response_file: n_files > 0 }
}

fn contents(arg: &OsStr) -> Option<Vec<u8>> {
    let name = arg.as_bytes().strip_prefix(b"@")?;
    fs::read(Path::new(OsStr::from_bytes(name))).ok()
}

fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() || byte == 0x0b => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// The text of a response file that says `args`.
pub(super) fn quote(args: &[OsString]) -> OsString {
    let mut text = Vec::new();
    for arg in args {
        text.push(b'"');
        for &byte in arg.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend(b"\"\n");
    }
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(split(text.as_bytes()), expected);
    }

    #[test]
    fn words_are_split_as_gcc_does() {
        check("", &[]);
        check(" \n\t", &[]);
        check("-c a.c\n-o  a.o\n", &["-c", "a.c", "-o", "a.o"]);
        check(r#"'a b' "c d" e\ f"#, &["a b", "c d", "e f"]);
        check(r#"-DX='"s"' -DY=\"t\""#, &[r#"-DX="s""#, r#"-DY="t""#]);
        check(r#""a\"b" 'c\'d'"#, &[r#"a"b"#, "c'd"]);
        check("'' x\"\"y", &["", "xy"]);
    }

    #[test]
    fn quoting_is_undone_by_splitting() {
        let args: Vec<OsString> =
            ["-DX=\"a b\"", "", "c\\d", "e\nf", "'g'"].map(OsString::from).into();
        assert_eq!(split(quote(&args).as_bytes()), args);
    }

    #[test]
    fn files_nest_and_loops_end() {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("outer"), format!("-c '@{}' z.c", path("inner"))).unwrap();
        fs::write(path("inner"), "x.c y.c").unwrap();
        let args = ["-v", &format!("@{}", path("outer")), "@not/there"].map(OsString::from);
        let expanded = expand(&args);
        assert_eq!(expanded.args, ["-v", "-c", "x.c", "y.c", "z.c", "@not/there"]);
        assert!(expanded.has_response_file);

        fs::write(path("loop"), format!("-v @{}", path("loop"))).unwrap();
        expand(&[OsString::from(format!("@{}", path("loop")))]);
    }
}
