//! One module: an executable or a library, with what is known of its code and data.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
};

use addr2line::Loader;
use raddle_explore::target::Variable;
use raddle_model::Place;

use super::{
    allocated::Allocated,
    calls::Code,
    debug::{Debug, Die},
    demangled,
    globals::Globals,
    locals::Spot,
    locate,
    table::Table,
    tidy,
    types::Reached,
    unhooked::is_compilers,
    unseen, variable_name,
};

/// Variables that are named together because they share a few bytes.
const TOGETHER_MAX: usize = 3;

/// See the module's own words.
pub(super) struct Module {
    name: String,
    path: PathBuf,
    /// Where its debug information is, if there is any.
    debug_path: Option<PathBuf>,
    lines: Option<Loader>,
    table: Table,
    /// Read when first asked for; the inner `None` is no debug information.
    debug: Option<Option<(Debug, Globals)>>,
    places: HashMap<u64, Vec<Place>>,
    code: Option<Code>,
    /// Looked for when first asked for.
    unseen_atomic: Option<Option<u64>>,
    /// Variables that were asked for, by address and size.
    globals: HashMap<(u64, u64), Option<Variable>>,
    /// The same for those of functions, by where they are in a frame.
    locals: HashMap<(Spot, u64), Option<Variable>>,
    /// What lies where in a type: by type, offset and size.
    reached: HashMap<(Die, u64, u64), Reached>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Module {
    pub(super) fn load(path: &Path) -> Module {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let debug_path = locate::debug_file(path);
        let mut table = Table::load(path);
        if let Some(other) = debug_path.as_deref().filter(|it| *it != path) {
            // A stripped module has left its symbols there too.
            table.merge(Table::load(other));
        }
        Module {
            name,
            path: path.to_owned(),
            lines: debug_path.as_deref().and_then(|it| Loader::new(it).ok()),
            debug_path,
            table,
            debug: None,
            places: HashMap::new(),
            code: Code::open(path),
            unseen_atomic: None,
            globals: HashMap::new(),
            locals: HashMap::new(),
            reached: HashMap::new(),
        }
    }

    /// The address of an atomic instruction that no hook announces, but for those of what comes with the compiler.
    pub(super) fn unseen_atomic(&mut self) -> Option<u64> {
        let Module { path, table, unseen_atomic, .. } = self;
        *unseen_atomic.get_or_insert_with(|| {
            let is_known = |it: u64| table.function(it).is_some_and(|it| is_compilers(&it.name));
            unseen::atomics(path).into_iter().find(|it| !is_known(*it))
        })
    }

    /// The debug information, if there is any.
    pub(super) fn debug(&mut self) -> Option<&Debug> {
        self.debug_and_globals().map(|(debug, _)| debug)
    }

    fn debug_and_globals(&mut self) -> Option<&(Debug, Globals)> {
        let path = self.debug_path.as_deref();
        let read = || {
            let debug = Debug::load(path?)?;
            let globals = Globals::read(&debug);
            Some((debug, globals))
        };
        self.debug.get_or_insert_with(read).as_ref()
    }

    /// The function that is called right before an address. Programs of ours call some of std's through
    /// shims, which the linker names after them.
    pub(super) fn callee(&self, vaddr: u64) -> String {
        let called = self.code.as_ref().and_then(|it| it.called(vaddr));
        let symbol = called.and_then(|it| self.table.function(it).filter(|of| of.address == it));
        symbol.map_or(String::new(), |it| {
            demangled(it.name.strip_prefix("__wrap_").unwrap_or(&it.name))
        })
    }

    pub(super) fn places(&mut self, vaddr: u64) -> Vec<Place> {
        if let Some(places) = self.places.get(&vaddr) {
            return places.clone();
        }
        let places = self.find_places(vaddr);
        self.places.insert(vaddr, places.clone());
        places
    }

    fn find_places(&self, vaddr: u64) -> Vec<Place> {
        let mut places = self.places_of_debug_info(vaddr).unwrap_or_default();
        let symbol = self.table.function(vaddr);
        let name = symbol.map(|it| demangled(&it.name)).unwrap_or_default();
        match places.last_mut() {
            // The outermost frame is the function that the symbol names.
            Some(outermost) if outermost.function.is_empty() => outermost.function = name,
            Some(_) => {}
            None => places.push(Place {
                function: name,
                module: self.name.clone(),
                offset: vaddr - symbol.map_or(0, |it| it.address),
                ..Place::default()
            }),
        }
        places
    }

    fn places_of_debug_info(&self, vaddr: u64) -> Option<Vec<Place>> {
        let mut frames = self.lines.as_ref()?.find_frames(vaddr).ok()?;
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
                offset: 0,
            });
        }
        Some(places)
    }

    /// The variables that `size` bytes at an address lie in.
    pub(super) fn global(&mut self, vaddr: u64, size: u64) -> Option<Variable> {
        if let Some(known) = self.globals.get(&(vaddr, size)) {
            return known.clone();
        }
        let found = self.find_global(vaddr, size);
        self.globals.insert((vaddr, size), found.clone());
        found
    }

    fn find_global(&mut self, vaddr: u64, size: u64) -> Option<Variable> {
        let mut all: Vec<Variable> = Vec::new();
        let (mut at, end) = (vaddr, vaddr.saturating_add(size.max(1)));
        while at < end && all.len() < TOGETHER_MAX {
            let Some(found) = self.global_at(at, end - at) else {
                at += 1;
                continue;
            };
            at = at.saturating_add(found.n_left.max(1));
            all.push(found.variable);
        }
        let names: Vec<String> = all.iter().map(Variable::name).collect();
        let mut first = all.into_iter().next()?;
        if let [_, .., _] = names.as_slice() {
            (first.whole, first.path) = (names.join("|"), String::new());
            first.shift = 0;
        }
        Some(first)
    }

    fn global_at(&mut self, vaddr: u64, size: u64) -> Option<Global> {
        self.described_global(vaddr, size).or_else(|| {
            let symbol = self.table.variable(vaddr)?;
            let start = vaddr - symbol.address;
            let whole = variable_name(&symbol.name);
            let variable =
                Variable { whole, shift: start, size: symbol.size, ..Variable::default() };
            Some(Global { variable, n_left: symbol.size - start })
        })
    }

    fn described_global(&mut self, vaddr: u64, size: u64) -> Option<Global> {
        let (debug, globals) = self.debug_and_globals()?;
        let (die, start, n_left) = globals.find(debug, vaddr)?;
        let whole = debug.variable_name(die)?;
        let function = debug.function_around(die).and_then(|it| debug.name_of(it));
        let variable = self.variable(die, start, size.min(n_left))?;
        let function = function.unwrap_or_default();
        Some(Global { variable: Variable { whole, function, ..variable }, n_left })
    }

    /// The variable of a function at a spot in its frame.
    pub(super) fn local(&mut self, spot: &Spot, size: u64) -> Option<Variable> {
        if let Some(known) = self.locals.get(&(*spot, size)) {
            return known.clone();
        }
        let found = self.find_local(spot, size);
        self.locals.insert((*spot, size), found.clone());
        found
    }

    fn find_local(&mut self, spot: &Spot, size: u64) -> Option<Variable> {
        let debug = self.debug()?;
        let local = debug.local(spot)?;
        let whole = debug.name_of(local.variable)?;
        let function = debug.name_of(local.function)?;
        let variable = self.variable(local.variable, local.shift, size)?;
        Some(Variable { whole, function, ..variable })
    }

    /// What lies somewhere in a block.
    pub(super) fn in_block(
        &mut self,
        allocated: &Allocated,
        block_size: u64,
        offset: u64,
        size: u64,
    ) -> Option<Variable> {
        let debug = self.debug()?;
        let one = debug.size_of(allocated.type_die).filter(|it| *it > 0)?;
        let n_values = if block_size.is_multiple_of(one) { block_size / one } else { 1 };
        let (idx, shift) = if n_values > 1 { (offset / one, offset % one) } else { (0, offset) };
        let is_list = n_values > 1 || allocated.collection.is_some();
        let index = if is_list { format!("[{idx}]") } else { String::new() };
        let is_record = debug.is_record(allocated.type_die);
        let type_name = debug.type_name(allocated.type_die);
        let whole = match (allocated.collection, &allocated.variable) {
            (Some(name), _) => name.to_owned(),
            (None, Some(name)) if !is_record && n_values == 1 => format!("*{name}"),
            (None, Some(name)) if !is_record => name.clone(),
            _ => short_type(&type_name),
        };
        let reached = self.reach(allocated.type_die, shift, size)?;
        let variable = Variable {
            whole,
            path: format!("{index}{}", reached.path),
            shift: reached.rest,
            field_of: reached.field_of,
            type_name,
            size: one,
            content: reached.content,
            ..Variable::default()
        };
        // A node of a container is called by the value that it holds.
        let Some(root) = reached.root else { return Some(variable) };
        let type_name = self.debug()?.type_name(root);
        Some(Variable { whole: short_type(&type_name), path: reached.path, type_name, ..variable })
    }

    /// What lies `start` bytes into a variable, but for its name.
    fn variable(&mut self, die: Die, start: u64, size: u64) -> Option<Variable> {
        let debug = self.debug()?;
        let type_die = debug.type_of(die)?;
        let declared_at = Place {
            file: debug.declared_file(die).unwrap_or_default(),
            line: debug
                .number_of(die, gimli::DW_AT_decl_line)
                .and_then(|it| it.try_into().ok())
                .unwrap_or(0),
            ..Place::default()
        };
        let (type_name, whole_size) = (debug.type_name(type_die), debug.size_of(type_die)?);
        let module = self.name.clone();
        let reached = self.reach(type_die, start, size)?;
        Some(Variable {
            path: reached.path,
            shift: reached.rest,
            field_of: reached.field_of,
            type_name,
            size: whole_size,
            content: reached.content,
            declared_at: Place { module, ..declared_at },
            ..Variable::default()
        })
    }

    fn reach(&mut self, type_die: Die, shift: u64, size: u64) -> Option<Reached> {
        if let Some(reached) = self.reached.get(&(type_die, shift, size)) {
            return Some(reached.clone());
        }
        let reached = self.debug()?.reach(type_die, shift, size);
        self.reached.insert((type_die, shift, size), reached.clone());
        Some(reached)
    }
}

/// A variable at an address.
struct Global {
    variable: Variable,
    /// Bytes of it from the address on.
    n_left: u64,
}

/// `Queue` for `struct Queue`, `pair` for `std::pair<int const, Account>`.
fn short_type(name: &str) -> String {
    let name = ["struct ", "union ", "class ", "enum "]
        .iter()
        .find_map(|it| name.strip_prefix(it))
        .unwrap_or(name);
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::short_type;

    #[test]
    fn types_are_short() {
        for (name, expected) in [
            ("struct Queue", "Queue"),
            ("bank::Account", "Account"),
            ("std::pair<const int, bank::Account>", "pair"),
            ("unsigned int", "unsigned int"),
        ] {
            assert_eq!(short_type(name), expected);
        }
    }
}
