//! A TOML file, with the place of everything in it.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// A file that was parsed.
#[derive(Debug)]
pub(super) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

/// A value and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'d> {
    document: &'d Document<'d>,
    value: &'d Spanned<DeValue<'d>>,
}

/// A key, its value, and where the key stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'d> {
    pub(super) key: &'d str,
    pub(super) at: usize,
    pub(super) node: Node<'d>,
}

impl<'a> Document<'a> {
    /// Parses a file; `file` is what messages call it.
    pub(super) fn parse(file: &'a str, text: &'a str) -> Result<Document<'a>, String> {
        match DeTable::parse(text) {
            Ok(table) => Ok(Document { file, text, table }),
            Err(error) => {
                let at = error.span().map_or(0, |it| it.start);
                let message = error.message().replace('\n', ", ");
                Err(format!("{}: {message}", place(file, text, at)))
            }
        }
    }

    /// What messages call the file.
    pub(super) fn file(&self) -> &str {
        self.file
    }

    /// The file's keys.
    pub(super) fn items(&self) -> Vec<Item<'_>> {
        items(self, self.table.get_ref())
    }

    /// `raddle.toml:7`.
    pub(super) fn line_of(&self, at: usize) -> String {
        format!("{}:{}", self.file, line_and_column(self.text, at).0)
    }

    /// What is wrong, and where: `raddle.toml:7:3: …`.
    pub(super) fn wrong(&self, at: usize, what: &str) -> String {
        format!("{}: {what}", place(self.file, self.text, at))
    }
}

impl<'d> Node<'d> {
    /// Where it begins.
    pub(super) fn at(self) -> usize {
        self.value.span().start
    }

    pub(super) fn value(self) -> &'d DeValue<'d> {
        self.value.get_ref()
    }

    /// The keys of a table.
    pub(super) fn items(self) -> Result<Vec<Item<'d>>, String> {
        match self.value().as_table() {
            Some(table) => Ok(items(self.document, table)),
            None => Err(self.expected("a table")),
        }
    }

    /// The values of an array.
    pub(super) fn nodes(self) -> Result<Vec<Node<'d>>, String> {
        match self.value().as_array() {
            Some(array) => {
                let document = self.document;
                Ok(array.iter().map(|value| Node { document, value }).collect())
            }
            None => Err(self.expected("an array")),
        }
    }

    pub(super) fn string(self) -> Result<&'d str, String> {
        self.value().as_str().ok_or_else(|| self.expected("a string"))
    }

    /// `raddle.toml:7:3: expected a string, found an integer`.
    pub(super) fn expected(self, what: &str) -> String {
        let found = match self.value() {
            DeValue::String(text) => format!("\"{text}\""),
            value => {
                let sort = value.type_str();
                let article = if sort.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                format!("{article} {sort}")
            }
        };
        self.document.wrong(self.at(), &format!("expected {what}, found {found}"))
    }
}

fn items<'d>(document: &'d Document<'d>, table: &'d DeTable<'d>) -> Vec<Item<'d>> {
    let mut items: Vec<Item<'d>> = table
        .iter()
        .map(|(key, value)| Item {
            key: key.get_ref(),
            at: key.span().start,
            node: Node { document, value },
        })
        .collect();
    // As written, for the first thing that is wrong is the one to tell.
    items.sort_by_key(|it| it.at);
    items
}

fn place(file: &str, text: &str, at: usize) -> String {
    let (line, column) = line_and_column(text, at);
    format!("{file}:{line}:{column}")
}

/// From 1; columns in characters.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
