//! From addresses in a module to places in the source and names of variables.
//!
//! Addresses are those of the ELF file (run-time address less load bias). A return address points
//! after its call: the caller of these functions takes one off. Modules are read when first asked for,
//! and every answer is kept. What can't be found is left empty, never an error: a report with gaps is
//! better than none.

mod allocated;
mod calls;
mod debug;
mod expression;
mod globals;
mod hooked;
mod library;
mod locals;
mod locate;
mod module;
mod naming;
mod rust;
mod source;
mod table;
mod types;
mod unhooked;
mod unseen;

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
};

use addr2line::demangle_auto;
use raddle_explore::{
    is_system_file,
    target::{CodeAddress, StackSpot, Variable},
};
use raddle_model::Place;
use raddle_rust_std::collection;

pub use self::library::library_code;
pub(crate) use self::unhooked::{traps, unhooked};
use self::{
    allocated::{Allocated, Call},
    debug::Debug,
    locals::Spot,
    module::Module,
    source::Sources,
};

/// The debug information and symbol tables of a program's modules.
#[derive(Debug, Default)]
pub struct Symbols {
    modules: HashMap<PathBuf, Module>,
    sources: Sources,
    blocks: HashMap<BlockKind, Option<Held>>,
}

/// Blocks of one size that the same calls allocated, innermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BlockKind {
    calls: Vec<(PathBuf, u64)>,
    size: u64,
}

/// What a block holds, and the module that knows the type.
#[derive(Clone, Debug)]
struct Held {
    module: PathBuf,
    allocated: Allocated,
}

impl Symbols {
    /// Nothing read yet.
    pub fn new() -> Symbols {
        Symbols::default()
    }

    /// The place of the code at `vaddr`, innermost inlined function first. Never empty: of unknown code
    /// at least the module is told.
    pub fn places(&mut self, module: &Path, vaddr: u64) -> Vec<Place> {
        self.module(module).places(vaddr)
    }

    /// The function that is called by the call right before `vaddr`; empty if that is not known.
    pub fn callee(&mut self, module: &Path, vaddr: u64) -> String {
        self.module(module).callee(vaddr)
    }

    /// An atomic instruction of a module that no hook announces, if it has one; what comes with the compiler does not count.
    pub fn unseen_atomic(&mut self, module: &Path) -> Option<Place> {
        let module = self.module(module);
        let address = module.unseen_atomic()?;
        module.places(address).into_iter().next()
    }

    /// The global or static variable that `size` bytes at `vaddr` lie in. Several small ones may share
    /// four bytes.
    pub fn global(&mut self, path: &Path, vaddr: u64, size: u64) -> Option<Variable> {
        self.module(path).global(vaddr, size)
    }

    /// The variable of a function that `size` bytes of its frame lie in.
    pub fn local(&mut self, spot: &StackSpot<'_>, size: u64) -> Option<Variable> {
        let StackSpot { code, from_cfa, from_sp } = *spot;
        let at = Spot { code: code.offset, from_cfa, from_sp };
        self.module(Path::new(code.module)).local(&at, size)
    }

    /// What lies `offset` bytes into a block that was allocated by these calls, innermost first; `None`
    /// if it is not certain.
    pub fn block(
        &mut self,
        calls: &[CodeAddress<'_>],
        block_size: u64,
        offset: u64,
        size: u64,
    ) -> Option<Variable> {
        let calls = calls.iter().map(|it| (PathBuf::from(it.module), it.offset)).collect();
        let kind = BlockKind { calls, size: block_size };
        if !self.blocks.contains_key(&kind) {
            let found = self.held(&kind);
            self.blocks.insert(kind.clone(), found);
        }
        let held = self.blocks.get(&kind)?.clone()?;
        self.module(&held.module).in_block(&held.allocated, block_size, offset, size)
    }

    /// The text of a place's line, without the space at its end: columns count from its start.
    pub fn source_line(&mut self, place: &Place) -> Option<String> {
        self.sources.line(&place.file, place.line)
    }

    /// The sources of a module that have changed since it was built, but for the system's.
    pub fn newer_sources(&mut self, path: &Path) -> Vec<PathBuf> {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|it| it.modified()).ok();
        let Some(built) = changed(path) else { return Vec::new() };
        let files = self.module(path).debug().map(Debug::files).unwrap_or_default();
        let is_newer = |it: &PathBuf| changed(it).is_some_and(|it| built < it);
        let is_own = |it: &PathBuf| !is_system_file(&it.to_string_lossy());
        let files = files.into_iter().filter(is_newer).filter(is_own);
        files.map(|it| PathBuf::from(tidy(&it.to_string_lossy()))).collect()
    }

    /// What the blocks of a kind hold, if that is certain.
    fn held(&mut self, kind: &BlockKind) -> Option<Held> {
        let mut callee: Option<String> = None;
        let mut element = None;
        let size = kind.size;
        for (path, vaddr) in &kind.calls {
            let places = self.places(path, *vaddr);
            for (idx, place) in places.iter().enumerate() {
                let text = self.text_as_compiled(path, place);
                let module = self.module(path);
                let Some(debug) = module.debug() else { continue };
                let function = debug.functions_at(*vaddr).get(idx).copied();
                if place.line == 0 || is_system_file(&place.file) {
                    let Some(function) = function.filter(|_| callee.is_none()) else { continue };
                    element = element.or_else(|| debug.element_by_rust(function, size));
                    let found = debug.allocated_by_library(function, size);
                    let found = found.or_else(|| debug.allocated_by_rust(function, size));
                    let collection = collection(&place.function);
                    let list = element.filter(|_| collection == Some("Vec"));
                    let list = list
                        .map(|type_die| Allocated { collection, ..Allocated::new(type_die, None) });
                    if let Some(allocated) = found.or(list) {
                        return Some(Held { module: path.clone(), allocated });
                    }
                    // In another collection, the place of an element says nothing of its number.
                    element = element.filter(|_| collection.is_none());
                    continue;
                }
                let text = text.as_deref();
                let call = Call { function, place, text, callee: callee.as_deref(), size };
                if let Some(allocated) = debug.allocated_at(&call) {
                    return Some(Held { module: path.clone(), allocated });
                }
                let function = function.filter(|it| debug.hands_out_memory(*it))?;
                callee = Some(debug.name_of(function)?);
            }
        }
        None
    }

    /// The text of a line, if the source has not changed since the module was built.
    fn text_as_compiled(&mut self, module: &Path, place: &Place) -> Option<String> {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|it| it.modified()).ok();
        let is_older = changed(Path::new(&place.file))? <= changed(module)?;
        is_older.then(|| self.source_line(place)).flatten()
    }

    fn module(&mut self, path: &Path) -> &mut Module {
        if !self.modules.contains_key(path) {
            self.modules.insert(path.into(), Module::load(path));
        }
        self.modules.get_mut(path).expect("bug: the module was just put there")
    }
}

/// The compiler joins its folder and the name it was given: `/home/me/./a.c`. clang finds the system's headers from its own
/// folder: `/usr/bin/../include/c++/12/mutex`. Elsewhere a folder may be a link, and what is above it is not known.
fn tidy(file: &str) -> String {
    let is_system = file.starts_with("/usr/");
    let mut path = PathBuf::new();
    for part in Path::new(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if is_system => drop(path.pop()),
            part => path.push(part),
        }
    }
    path.to_string_lossy().into_owned()
}

/// The functions of a module, as the linker calls them and as the source does.
pub(crate) fn functions(module: &Path) -> Vec<(String, String)> {
    let table = table::Table::load(module);
    table.functions().map(|it| (it.name.clone(), demangled(&it.name))).collect()
}

/// A function's name as its programmer wrote it. Only what looks mangled is: a demangler takes the plain C name `a`
/// for the type `signed char`.
pub fn demangled(name: &str) -> String {
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
    fn folders_of_the_compiler_are_left_out() {
        for (file, tidied) in [
            ("/home/me/./a.c", "/home/me/a.c"),
            (
                "/usr/bin/../lib/gcc/x86/12/../../../../include/c++/12/mutex",
                "/usr/include/c++/12/mutex",
            ),
            // It may be a link.
            ("/home/me/build/../a.c", "/home/me/build/../a.c"),
            ("../a.c", "../a.c"),
        ] {
            assert_eq!(tidy(file), tidied);
        }
    }

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
        let unknown = Place { module: "libx.so".into(), offset: 0x10, ..Place::default() };
        assert_eq!(places, [unknown]);
        assert_eq!(symbols.global(Path::new("[vdso]"), 0, 4), None);
    }
}
