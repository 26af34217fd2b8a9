//! What types and variables are called, with the namespaces and classes that they are in.

use std::collections::HashMap;

use super::debug::{Debug, Die, Entry};

/// Pointers to pointers, at most.
const DEPTH_MAX: u32 = 16;

/// Records by name, without what they are in: for types that are only declared, or only named in the
/// source.
#[derive(Debug, Default)]
pub(super) struct Records {
    by_name: HashMap<String, Vec<Die>>,
}

impl Records {
    /// All records that have a name and a size.
    pub(super) fn read(debug: &Debug) -> Records {
        let mut records = Records::default();
        for unit_idx in debug.unit_indices() {
            let mut entries = debug.unit(unit_idx).entries();
            while let Ok(Some(entry)) = entries.next_dfs() {
                let is_record = matches!(
                    entry.tag(),
                    gimli::DW_TAG_structure_type
                        | gimli::DW_TAG_class_type
                        | gimli::DW_TAG_union_type
                        | gimli::DW_TAG_typedef
                );
                if !is_record || entry.has_attr(gimli::DW_AT_declaration) {
                    continue;
                }
                if let Some(name) = debug.text(unit_idx, entry, gimli::DW_AT_name) {
                    let die = Die { unit_idx, offset: entry.offset() };
                    records.by_name.entry(name).or_default().push(die);
                }
            }
        }
        records
    }

    pub(super) fn named(&self, name: &str) -> &[Die] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Debug {
    /// The definition of a type of which this unit has only the declaration.
    pub(super) fn definition(&self, type_die: Die) -> Die {
        let Some(entry) = self.entry(type_die) else { return type_die };
        if !entry.has_attr(gimli::DW_AT_declaration) {
            return type_die;
        }
        if let Some(whole) = self.reference(type_die.unit_idx, &entry, gimli::DW_AT_signature) {
            return whole;
        }
        let Some(name) = self.text(type_die.unit_idx, &entry, gimli::DW_AT_name) else {
            return type_die;
        };
        let scope = self.scope(type_die);
        let same = self.records().named(&name).iter().copied().find(|it| {
            self.entry(*it).is_some_and(|it| it.tag() == entry.tag()) && self.scope(*it) == scope
        });
        same.unwrap_or(type_die)
    }

    /// `struct Queue`, `bank::Account`, `int *`.
    pub(super) fn type_name(&self, type_die: Die) -> String {
        self.name_within(Some(type_die), 0)
    }

    fn name_within(&self, type_die: Option<Die>, depth: u32) -> String {
        let Some(at) = type_die else { return "void".to_owned() };
        let Some(entry) = self.entry(at).filter(|_| depth < DEPTH_MAX) else {
            return "?".to_owned();
        };
        let inner = || {
            let inner = self.reference(at.unit_idx, &entry, gimli::DW_AT_type);
            self.name_within(inner, depth + 1)
        };
        match entry.tag() {
            gimli::DW_TAG_pointer_type => pointer(&inner(), '*'),
            gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                pointer(&inner(), '&')
            }
            gimli::DW_TAG_const_type => format!("const {}", inner()),
            gimli::DW_TAG_volatile_type => format!("volatile {}", inner()),
            gimli::DW_TAG_atomic_type => format!("_Atomic {}", inner()),
            gimli::DW_TAG_restrict_type => inner(),
            gimli::DW_TAG_array_type => format!("{}[]", inner()),
            gimli::DW_TAG_subroutine_type => "function".to_owned(),
            _ => self.own_name(at, &entry),
        }
    }

    fn own_name(&self, at: Die, entry: &Entry) -> String {
        let word = match entry.tag() {
            gimli::DW_TAG_structure_type => "struct",
            gimli::DW_TAG_union_type => "union",
            gimli::DW_TAG_enumeration_type => "enum",
            gimli::DW_TAG_class_type => "class",
            _ => "",
        };
        let name = self.text(at.unit_idx, entry, gimli::DW_AT_name);
        match (name, word) {
            (None, "") => "?".to_owned(),
            (None, word) => format!("anonymous {word}"),
            (Some(name), word) if !word.is_empty() && self.is_c(at.unit_idx) => {
                format!("{word} {name}")
            }
            (Some(name), _) => with_scope(&self.scope(at), &name),
        }
    }

    /// See [`Debug::scope`], which remembers.
    pub(super) fn find_scope(&self, die: Die) -> Vec<String> {
        let mut scope = Vec::new();
        for ancestor in self.ancestors(die) {
            let Some(entry) = self.entry(ancestor) else { continue };
            match entry.tag() {
                gimli::DW_TAG_namespace
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_union_type => {
                    scope.extend(self.text(die.unit_idx, &entry, gimli::DW_AT_name));
                }
                gimli::DW_TAG_subprogram => scope.clear(),
                _ => {}
            }
        }
        scope
    }

    /// `bank::left`: a variable with what it is in, but not the function: that is told apart.
    pub(super) fn variable_name(&self, die: Die) -> Option<String> {
        let name = self.name_of(die)?;
        Some(with_scope(&self.scope(self.origin(die)), &name))
    }

    /// The function that an entry is in.
    pub(super) fn function_around(&self, die: Die) -> Option<Die> {
        let is_function =
            |it: &Die| self.entry(*it).is_some_and(|it| it.tag() == gimli::DW_TAG_subprogram);
        self.ancestors(die).into_iter().rev().find(is_function)
    }

    fn is_c(&self, unit_idx: usize) -> bool {
        let root = self.root(unit_idx);
        let language = root.and_then(|it| match it.attr_value(gimli::DW_AT_language)? {
            gimli::AttributeValue::Language(language) => Some(language),
            _ => None,
        });
        matches!(
            language,
            Some(
                gimli::DW_LANG_C
                    | gimli::DW_LANG_C89
                    | gimli::DW_LANG_C99
                    | gimli::DW_LANG_C11
                    | gimli::DW_LANG_C17
            )
        )
    }
}

fn with_scope(scope: &[String], name: &str) -> String {
    scope.iter().map(|it| format!("{it}::")).collect::<String>() + name
}

/// `int *`, `int **`.
fn pointer(inner: &str, mark: char) -> String {
    let gap = if inner.ends_with(['*', '&']) { "" } else { " " };
    format!("{inner}{gap}{mark}")
}
