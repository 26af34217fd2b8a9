//! From addresses in a module to places in the source and names of variables.
//!
//! Addresses are those of the ELF file (run-time address less load bias). A return address points
//! after its call: the caller of these functions takes one off. Modules are read when first asked for,
//! and every answer is kept. What can't be found is left empty, never an error: a report with gaps is
//! better than none.

mod source;
mod table;
mod types;

use std::collections::HashMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use addr2line::{Loader, demangle_auto};
use raddle_model::Place;

use source::Sources;
use table::Table;
use types::Types;

/// The debug information and symbol tables of a program's modules.
#[derive(Debug, Default)]
pub struct Symbols {
    modules: HashMap<PathBuf, Module>,
    sources: Sources,
}

impl Symbols {
    /// Nothing read yet.
    pub fn new() -> Symbols {
        Symbols::default()
    }

    /// The place of the code at `vaddr`, innermost inlined function first. Never empty: of unknown code
    /// at least the module is told.
    pub fn places(&mut self, module: &Path, vaddr: u64) -> Vec<Place> {
        let module = self.module(module);
        if let Some(places) = module.places.get(&vaddr) {
            return places.clone();
        }
        let places = module.find_places(vaddr);
        module.places.insert(vaddr, places.clone());
        places
    }

    /// The global or static variable that `vaddr` lies in, with the part of it (`accounts[1].lock`), and
    /// how far into that.
    pub fn variable(&mut self, path: &Path, vaddr: u64) -> Option<(String, u64)> {
        let module = self.module(path);
        let symbol = module.table.variable(vaddr)?;
        let mut name = variable_name(&symbol.name);
        let shift = vaddr - symbol.address;
        if symbol.size <= WORD {
            return Some((name, shift));
        }
        let types = module.types.get_or_insert_with(|| Types::load(path));
        match types.as_ref().and_then(|it| it.part(symbol.address, shift)) {
            Some((part, rest)) => {
                name.push_str(&part);
                Some((name, rest))
            }
            None => Some((name, shift)),
        }
    }

    /// The text of a place's line, without the space around it.
    pub fn source_line(&mut self, place: &Place) -> Option<String> {
        self.sources.line(&place.file, place.line)
    }

    fn module(&mut self, path: &Path) -> &mut Module {
        if !self.modules.contains_key(path) {
            self.modules.insert(path.into(), Module::load(path));
        }
        self.modules.get_mut(path).expect("bug: the module was just put there")
    }
}

/// Variables of this size have no parts worth a look.
const WORD: u64 = 4;

struct Module {
    name: String,
    /// `None` if the file can't be read.
    debug: Option<Loader>,
    table: Table,
    /// Read when first asked for; the inner `None` is no debug information.
    types: Option<Option<Types>>,
    places: HashMap<u64, Vec<Place>>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Module {
    fn load(path: &Path) -> Module {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Module {
            name,
            debug: Loader::new(path).ok(),
            table: Table::load(path),
            types: None,
            places: HashMap::new(),
        }
    }

    fn find_places(&self, vaddr: u64) -> Vec<Place> {
        let mut places = self.places_of_debug_info(vaddr).unwrap_or_default();
        let symbol = self.table.function(vaddr).map(|symbol| demangled(&symbol.name));
        match places.last_mut() {
            // The outermost frame is the function that the symbol names.
            Some(outermost) if outermost.function.is_empty() => {
                outermost.function = symbol.unwrap_or_default();
            }
            Some(_) => {}
            None => places.push(Place {
                function: symbol.unwrap_or_default(),
                module: self.name.clone(),
                ..Place::default()
            }),
        }
        places
    }

    fn places_of_debug_info(&self, vaddr: u64) -> Option<Vec<Place>> {
        let mut frames = self.debug.as_ref()?.find_frames(vaddr).ok()?;
        let mut places = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            let location = frame.location.as_ref();
            places.push(Place {
                function: function.map(|name| demangled(&name)).unwrap_or_default(),
                file: location.and_then(|location| location.file).map(tidy).unwrap_or_default(),
                line: location.and_then(|location| location.line).unwrap_or(0),
                column: location.and_then(|location| location.column).unwrap_or(0),
                module: self.name.clone(),
            });
        }
        Some(places)
    }
}

/// The compiler joins its folder and the name it was given: `/home/me/./a.c`.
fn tidy(file: &str) -> String {
    let path: PathBuf =
        Path::new(file).components().filter(|part| *part != Component::CurDir).collect();
    path.to_string_lossy().into_owned()
}

/// Only what looks mangled is: a demangler takes the plain C name `a` for the type `signed char`.
fn demangled(name: &str) -> String {
    if name.starts_with("_Z") || name.starts_with("_R") {
        demangle_auto(name.into(), None).into_owned()
    } else {
        name.to_owned()
    }
}

/// A type by its mangled name, as `type_info::name` gives it: `St12out_of_range`.
pub(crate) fn type_name(mangled: &str) -> String {
    let symbol = format!("_ZTS{mangled}");
    let name = demangled(&symbol);
    name.strip_prefix("typeinfo name for ").map_or_else(|| mangled.to_owned(), str::to_owned)
}

/// gcc numbers the statics of functions (`count.0`), clang puts the function before (`main.count`).
fn variable_name(symbol: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match symbol.rsplit_once('.') {
        Some((name, suffix)) if !name.is_empty() && is_number(suffix) => demangled(name),
        _ => demangled(symbol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_statics_are_the_users() {
        for (symbol, name) in [
            ("counter", "counter"),
            ("a", "a"),
            ("b.1", "b"),
            ("counter.0", "counter"),
            ("main.counter", "main.counter"),
            ("_ZZ4mainE7counter", "main::counter"),
            ("_ZN4bankL5totalE", "bank::total"),
            (".5", ".5"),
        ] {
            assert_eq!(variable_name(symbol), name);
        }
    }

    #[test]
    fn types_are_the_users() {
        assert_eq!(type_name("St12out_of_range"), "std::out_of_range");
        assert_eq!(type_name("i"), "int");
        assert_eq!(type_name("N4bank5ErrorE"), "bank::Error");
        assert_eq!(type_name("no type"), "no type");
    }

    #[test]
    fn paths_are_tidied_but_not_resolved() {
        assert_eq!(tidy("/a/./b/../c.c"), "/a/b/../c.c");
        assert_eq!(tidy("c.c"), "c.c");
    }

    #[test]
    fn what_is_not_there_is_told_by_module() {
        let mut symbols = Symbols::new();
        let places = symbols.places(Path::new("/nowhere/libx.so"), 0x10);
        assert_eq!(places, [Place { module: "libx.so".into(), ..Place::default() }]);
        assert_eq!(symbols.variable(Path::new("[vdso]"), 0), None);
    }
}
