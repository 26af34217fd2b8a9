//! The debug information of a module, wherever the compiler left it: in one piece, split off into
//! `.dwo` files or a `.dwp` package (`-gsplit-dwarf`), in type units, compressed.
//!
//! Entries are known by unit and offset ([`Die`]); what is damaged is left out.

use std::{
    borrow::Cow,
    cell::{OnceCell, RefCell},
    collections::{BTreeSet, HashMap},
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use gimli::{
    self, AttributeValue, DebugTypeSignature, DebuggingInformationEntry, Dwarf, DwarfPackage,
    EndianArcSlice, Reader as _, RunTimeEndian, SectionId, Unit, UnitOffset, UnitType,
};
use object::{Endianness, Object as _, ObjectSection as _, read::elf::ElfFile64};

use super::naming::Records;

pub(super) type Reader = EndianArcSlice<RunTimeEndian>;
pub(super) type Entry = DebuggingInformationEntry<Reader>;

/// Where functions are, and their entries.
pub(super) type Functions = Vec<(Range<u64>, UnitOffset)>;

/// An entry of the debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Die {
    pub(super) unit_idx: usize,
    pub(super) offset: UnitOffset,
}

/// The code that was compiled from one source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnitCode {
    /// The file, as the compiler was given it.
    pub(super) name: String,
    /// Where it was compiled.
    pub(super) folder: String,
    pub(super) ranges: Vec<Range<u64>>,
}

/// A unit and the sections that it refers to.
#[derive(Debug)]
struct Part {
    dwarf: Arc<Dwarf<Reader>>,
    unit: Unit<Reader>,
    /// Units of one file can refer to each other: 0 is the module, another one more than the skeleton that led there.
    file: usize,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Debug {
    parts: Vec<Part>,
    /// Types that have a unit of their own.
    signatures: HashMap<DebugTypeSignature, Die>,
    /// Read when first asked for.
    records: OnceCell<Records>,
    /// What entries are in, as far as somebody has asked.
    scopes: RefCell<HashMap<Die, Vec<String>>>,
    /// What the entries of units are in, as far as somebody has asked.
    parents: RefCell<HashMap<usize, HashMap<UnitOffset, UnitOffset>>>,
    /// Where the functions of units are, as far as somebody has asked.
    pub(super) code: RefCell<HashMap<usize, Functions>>,
}

impl Debug {
    /// Reads what there is; nothing if there is no debug information.
    pub(super) fn load(path: &Path) -> Option<Debug> {
        let mut dwarf = load(path, |id| Some(id.name()))?;
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let dwarf = Arc::new(dwarf);
        let mut debug = Debug::default();
        debug.add_units(&dwarf, 0);
        if debug.parts.iter().any(|it| it.unit.dwo_id.is_some()) {
            debug.add_split_units(path, &dwarf);
        }
        Some(debug)
    }

    pub(super) fn unit_indices(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.parts.len()
    }

    pub(super) fn unit(&self, unit_idx: usize) -> &Unit<Reader> {
        &self.parts[unit_idx].unit
    }

    pub(super) fn dwarf(&self, unit_idx: usize) -> &Dwarf<Reader> {
        &self.parts[unit_idx].dwarf
    }

    /// The Rust crates that were compiled where cargo keeps those of registries.
    pub(super) fn registry_crates(&self) -> BTreeSet<String> {
        let text = |it: &Option<Reader>| {
            let text = it.as_ref().and_then(|it| it.to_string_lossy().ok());
            text.map(Cow::into_owned).unwrap_or_default()
        };
        let of_registry = |part: &Part| {
            let is_registry = raddle_rust_std::is_registry_crate(&text(&part.unit.comp_dir));
            // `src/lib.rs/@/parking_lot.7c1d-cgu.0`
            let name = text(&part.unit.name);
            let name = name.rsplit_once("/@/")?.1.split('.').next()?.to_owned();
            is_registry.then_some(name)
        };
        self.parts.iter().filter_map(of_registry).collect()
    }

    /// The code of each source file. (What was split off has left its ranges in the skeleton, and its name in the other.)
    pub(super) fn unit_code(&self) -> Vec<UnitCode> {
        let own = self.parts.iter().enumerate().filter(|it| it.1.file == 0);
        let code = own.map(|(idx, Part { dwarf, unit, .. })| {
            let split = self.parts.iter().find(|it| it.file == idx + 1).map(|it| &it.unit);
            let name = unit.name.as_ref().or_else(|| split?.name.as_ref());
            let mut ranges = Vec::new();
            if let Ok(mut all) = dwarf.unit_ranges(unit) {
                while let Ok(Some(range)) = all.next() {
                    ranges.push(range.begin..range.end);
                }
            }
            let folder = unit.comp_dir.as_ref().map(lossy).unwrap_or_default();
            UnitCode { name: name.map(lossy).unwrap_or_default(), folder, ranges }
        });
        code.filter(|it| !it.ranges.is_empty()).collect()
    }

    /// The files that the module was compiled from, headers too.
    pub(super) fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        for Part { dwarf, unit, .. } in &self.parts {
            let Some(header) = unit.line_program.as_ref().map(|it| it.header()) else { continue };
            let text = |it: AttributeValue<Reader>| {
                let text = dwarf.attr_string(unit, it).ok()?;
                text.to_string_lossy().ok().map(Cow::into_owned)
            };
            let base = unit.comp_dir.as_ref().and_then(|it| it.to_string_lossy().ok());
            let base = PathBuf::from(base.map(Cow::into_owned).unwrap_or_default());
            for file in header.file_names() {
                let folder = file.directory(header).and_then(text).unwrap_or_default();
                files.extend(text(file.path_name()).map(|it| base.join(folder).join(it)));
            }
        }
        files
    }

    /// The records that have a name.
    pub(super) fn records(&self) -> &Records {
        self.records.get_or_init(|| Records::read(self))
    }

    /// The namespaces and classes that an entry is in, outermost first; a function ends them.
    pub(super) fn scope(&self, die: Die) -> Vec<String> {
        if let Some(scope) = self.scopes.borrow().get(&die) {
            return scope.clone();
        }
        let scope = self.find_scope(die);
        self.scopes.borrow_mut().insert(die, scope.clone());
        scope
    }

    pub(super) fn entry(&self, die: Die) -> Option<Entry> {
        self.unit(die.unit_idx).entry(die.offset).ok()
    }

    /// The first entry of a unit.
    pub(super) fn root(&self, unit_idx: usize) -> Option<Entry> {
        let unit = self.unit(unit_idx);
        unit.entry(unit.header.root_offset()).ok()
    }

    /// What an attribute of an entry refers to.
    pub(super) fn reference(
        &self,
        unit_idx: usize,
        entry: &Entry,
        name: gimli::DwAt,
    ) -> Option<Die> {
        match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => Some(Die { unit_idx, offset }),
            AttributeValue::DebugInfoRef(offset) => {
                let file = self.parts[unit_idx].file;
                self.parts.iter().enumerate().find_map(|(unit_idx, part)| {
                    let offset = offset.to_unit_offset(&part.unit.header)?;
                    (part.file == file).then_some(Die { unit_idx, offset })
                })
            }
            AttributeValue::DebugTypesRef(signature) => self.signatures.get(&signature).copied(),
            _ => None,
        }
    }

    /// The type of an entry: its own, or that of its declaration or of the function it was inlined from.
    pub(super) fn type_of(&self, die: Die) -> Option<Die> {
        self.inherited(die, |debug, die, entry| {
            debug.reference(die.unit_idx, entry, gimli::DW_AT_type)
        })
    }

    /// The name of an entry: its own, or that of its declaration or of the function it was inlined from.
    pub(super) fn name_of(&self, die: Die) -> Option<String> {
        self.inherited(die, |debug, die, entry| debug.text(die.unit_idx, entry, gimli::DW_AT_name))
    }

    /// A number of an entry, or of its declaration.
    pub(super) fn number_of(&self, die: Die, name: gimli::DwAt) -> Option<u64> {
        self.inherited(die, |_, _, entry| number(entry, name))
    }

    /// The entry that says what is only meant by this one: the declaration, the function as written.
    pub(super) fn origin(&self, die: Die) -> Die {
        let mut at = die;
        for _ in 0..ORIGINS_MAX {
            let Some(entry) = self.entry(at) else { break };
            let next = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification]
                .into_iter()
                .find_map(|it| self.reference(at.unit_idx, &entry, it));
            let Some(next) = next else { break };
            at = next;
        }
        at
    }

    fn inherited<T>(&self, die: Die, look: impl Fn(&Debug, Die, &Entry) -> Option<T>) -> Option<T> {
        let mut at = die;
        for _ in 0..ORIGINS_MAX {
            let entry = self.entry(at)?;
            if let Some(found) = look(self, at, &entry) {
                return Some(found);
            }
            at = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification]
                .into_iter()
                .find_map(|it| self.reference(at.unit_idx, &entry, it))?;
        }
        None
    }

    /// A text attribute of an entry.
    pub(super) fn text(&self, unit_idx: usize, entry: &Entry, name: gimli::DwAt) -> Option<String> {
        let part = &self.parts[unit_idx];
        let text = part.dwarf.attr_string(&part.unit, entry.attr_value(name)?).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Looks at the entries right below one, until `look` finds something.
    pub(super) fn child<T>(
        &self,
        die: Die,
        mut look: impl FnMut(Die, &Entry) -> Option<T>,
    ) -> Option<T> {
        let mut tree = self.unit(die.unit_idx).entries_tree(Some(die.offset)).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            let at = Die { unit_idx: die.unit_idx, offset: entry.offset() };
            if let Some(found) = look(at, entry) {
                return Some(found);
            }
        }
        None
    }

    /// The entries that an entry is within, outermost first, without the unit's own.
    pub(super) fn ancestors(&self, die: Die) -> Vec<Die> {
        let mut units = self.parents.borrow_mut();
        let parents = units.entry(die.unit_idx).or_insert_with(|| self.parents_in(die.unit_idx));
        let mut way = Vec::new();
        let mut at = die.offset;
        while let Some(parent) = parents.get(&at).copied() {
            way.push(Die { unit_idx: die.unit_idx, offset: parent });
            at = parent;
        }
        // The first entry of the unit is no scope.
        way.pop();
        way.reverse();
        way
    }

    /// What each entry of a unit is in.
    fn parents_in(&self, unit_idx: usize) -> HashMap<UnitOffset, UnitOffset> {
        let mut parents = HashMap::new();
        let mut way: Vec<UnitOffset> = Vec::new();
        let mut entries = self.unit(unit_idx).entries();
        while let Ok(Some(entry)) = entries.next_dfs() {
            way.truncate(entry.depth().try_into().unwrap_or(0));
            if let Some(parent) = way.last() {
                parents.insert(entry.offset(), *parent);
            }
            way.push(entry.offset());
        }
        parents
    }

    /// Does the code of an entry contain this address?
    pub(super) fn has_code(&self, unit_idx: usize, entry: &Entry, address: u64) -> bool {
        let part = &self.parts[unit_idx];
        let Ok(mut ranges) = part.dwarf.die_ranges(&part.unit, entry) else { return false };
        while let Ok(Some(range)) = ranges.next() {
            if range.begin <= address && address < range.end {
                return true;
            }
        }
        false
    }

    /// The file that an entry was declared in, as a path.
    pub(super) fn declared_file(&self, die: Die) -> Option<String> {
        let number = self.number_of(die, gimli::DW_AT_decl_file)?;
        // The number belongs to the line program of the unit that has the declaration.
        let at = self.origin(die);
        let unit_idx = match self.entry(die) {
            Some(entry) if entry.has_attr(gimli::DW_AT_decl_file) => die.unit_idx,
            _ => at.unit_idx,
        };
        // What was split off has left its lines in the skeleton.
        let part = match &self.parts[unit_idx] {
            split if split.unit.line_program.is_none() => {
                self.parts.get(split.file.checked_sub(1)?)?
            }
            part => part,
        };
        let header = part.unit.line_program.as_ref()?.header();
        let file = header.file(number)?;
        let text = |value: AttributeValue<Reader>| {
            let text = part.dwarf.attr_string(&part.unit, value).ok()?;
            Some(PathBuf::from(String::from_utf8_lossy(&text).into_owned()))
        };
        let folder = file.directory(header).and_then(text).unwrap_or_default();
        let base = part.unit.comp_dir.as_ref().map(|it| PathBuf::from(lossy(it)));
        let path = base.unwrap_or_default().join(folder).join(text(file.path_name())?);
        Some(super::tidy(&path.to_string_lossy()))
    }

    fn add_units(&mut self, dwarf: &Arc<Dwarf<Reader>>, file: usize) -> std::ops::Range<usize> {
        let start = self.parts.len();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            self.add_unit(dwarf, header, file);
        }
        let mut headers = dwarf.type_units();
        while let Ok(Some(header)) = headers.next() {
            self.add_unit(dwarf, header, file);
        }
        start..self.parts.len()
    }

    fn add_unit(
        &mut self,
        dwarf: &Arc<Dwarf<Reader>>,
        header: gimli::UnitHeader<Reader>,
        file: usize,
    ) {
        let unit_idx = self.parts.len();
        if let UnitType::Type { type_signature, type_offset }
        | UnitType::SplitType { type_signature, type_offset } = header.type_()
        {
            self.signatures.insert(type_signature, Die { unit_idx, offset: type_offset });
        }
        if let Ok(unit) = dwarf.unit(header) {
            self.parts.push(Part { dwarf: Arc::clone(dwarf), unit, file });
        }
    }

    /// What the skeletons in the module only point to.
    fn add_split_units(&mut self, path: &Path, parent: &Arc<Dwarf<Reader>>) {
        let package = package(path);
        for skeleton_idx in 0..self.parts.len() {
            let Some(id) = self.parts[skeleton_idx].unit.dwo_id else { continue };
            let found = package.as_ref().and_then(|it| it.find_cu(id, parent).ok().flatten());
            let found = found.or_else(|| self.dwo(skeleton_idx, parent));
            let Some(dwarf) = found.map(Arc::new) else { continue };
            let units = self.add_units(&dwarf, skeleton_idx + 1);
            let (skeletons, split) = self.parts.split_at_mut(units.start);
            for part in split {
                part.unit.copy_relocated_attributes(&skeletons[skeleton_idx].unit);
            }
        }
        if let Some(package) = package {
            self.add_packaged_types(&package, parent);
        }
    }

    fn dwo(&self, skeleton_idx: usize, parent: &Dwarf<Reader>) -> Option<Dwarf<Reader>> {
        let skeleton = &self.parts[skeleton_idx].unit;
        let name = parent.attr_string(skeleton, skeleton.dwo_name().ok()??).ok()?;
        let folder = skeleton.comp_dir.as_ref().map(lossy).unwrap_or_default();
        let mut dwarf = load(&Path::new(&folder).join(lossy(&name)), |id| id.dwo_name())?;
        let header = dwarf.units().next().ok()??;
        let id = dwarf.unit(header).ok()?.dwo_id;
        // Of another build.
        if id != skeleton.dwo_id {
            return None;
        }
        dwarf.make_dwo(parent);
        Some(dwarf)
    }

    fn add_packaged_types(&mut self, package: &DwarfPackage<Reader>, parent: &Dwarf<Reader>) {
        for row in 1..=package.tu_index.unit_count() {
            if let Ok(dwarf) = package.tu_sections(row, parent) {
                let file = self.parts.len() + 1;
                self.add_units(&Arc::new(dwarf), file);
            }
        }
    }
}

/// Declarations of declarations, at most.
const ORIGINS_MAX: usize = 8;

/// A number of an entry.
pub(super) fn number(entry: &Entry, name: gimli::DwAt) -> Option<u64> {
    match entry.attr_value(name)? {
        AttributeValue::FileIndex(number) => Some(number),
        value => value.udata_value(),
    }
}

fn lossy(text: &Reader) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// The sections of a file, decompressed.
fn load<'a>(path: &Path, name: impl Fn(SectionId) -> Option<&'a str>) -> Option<Dwarf<Reader>> {
    let bytes = fs::read(path).ok()?;
    let file = ElfFile64::<Endianness>::parse(&*bytes).ok()?;
    Dwarf::load(|id| Ok::<_, gimli::Error>(section(&file, name(id)))).ok()
}

fn section(file: &ElfFile64<'_, Endianness>, name: Option<&str>) -> Reader {
    let section = name.and_then(|it| file.section_by_name(it));
    let data = section.and_then(|it| it.uncompressed_data().ok()).unwrap_or(Cow::Borrowed(&[]));
    EndianArcSlice::new(Arc::from(data), RunTimeEndian::Little)
}

/// `prog.dwp` beside the module: all of its `.dwo` files in one.
fn package(module: &Path) -> Option<DwarfPackage<Reader>> {
    let mut name = module.as_os_str().to_owned();
    name.push(".dwp");
    let bytes = fs::read(name).ok()?;
    let file = ElfFile64::<Endianness>::parse(&*bytes).ok()?;
    let empty = EndianArcSlice::new(Arc::from([]), RunTimeEndian::Little);
    DwarfPackage::load(|id| Ok::<_, gimli::Error>(section(&file, id.dwo_name())), empty).ok()
}
