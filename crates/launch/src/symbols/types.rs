//! Names for parts of variables, from the debug information: `accounts[1].lock` for 64 bytes into
//! `accounts`.
//!
//! Only globals and statics have an address there; what the heap and stacks hold has none. The way into
//! a type ends at members whose names are reserved (`__data`, `_M_mutex`): those are the inside of the C
//! and C++ libraries' own types.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use gimli::{
    self, AttributeValue, DebuggingInformationEntry, Dwarf, EndianArcSlice, Operation,
    RunTimeEndian, SectionId, Unit, UnitOffset,
};
use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _};

type Reader = EndianArcSlice<RunTimeEndian>;
type Entry = DebuggingInformationEntry<Reader>;

/// Types within types, and arrays of arrays; deeper is not believed.
const DEPTH_MAX: u32 = 32;

/// Where a type is described.
#[derive(Clone, Copy, Debug)]
struct TypeRef {
    unit_idx: usize,
    offset: UnitOffset,
}

/// The variables of a module, and their types.
pub(super) struct Types {
    dwarf: Dwarf<Reader>,
    units: Vec<Unit<Reader>>,
    /// By address in the file.
    variables: HashMap<u64, TypeRef>,
}

impl Types {
    /// Reads what there is; nothing if there is no debug information.
    pub(super) fn load(path: &Path) -> Option<Types> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
        let load = |id: SectionId| -> Result<Reader, gimli::Error> {
            let section = file.section_by_name(id.name());
            let data = section.and_then(|it| it.data().ok()).unwrap_or_default();
            Ok(EndianArcSlice::new(data.into(), RunTimeEndian::Little))
        };
        let dwarf = Dwarf::load(load).ok()?;
        let mut types = Types { dwarf, units: Vec::new(), variables: HashMap::new() };
        let mut headers = types.dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Ok(unit) = types.dwarf.unit(header) else { continue };
            types.units.push(unit);
            // What is damaged is left out, from there on.
            let _ = types.read_variables(types.units.len() - 1);
        }
        Some(types)
    }

    /// The part of the variable at `address` that is `shift` bytes into it: `[1].lock`; and how far into
    /// that part it is. `None` if the variable's type is not known.
    pub(super) fn part(&self, address: u64, shift: u64) -> Option<(String, u64)> {
        let mut part = String::new();
        let rest = self.descend(*self.variables.get(&address)?, shift, &mut part, 0)?;
        Some((part, rest))
    }

    fn read_variables(&mut self, unit_idx: usize) -> gimli::Result<()> {
        let unit = &self.units[unit_idx];
        let mut found = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() != gimli::DW_TAG_variable {
                continue;
            }
            let Some(address) = self.address(unit, entry) else { continue };
            if let Some(type_ref) = self.type_of_variable(unit_idx, entry) {
                found.push((address, type_ref));
            }
        }
        self.variables.extend(found);
        Ok(())
    }

    fn address(&self, unit: &Unit<Reader>, entry: &Entry) -> Option<u64> {
        let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else {
            return None;
        };
        let mut operations = expression.operations(unit.encoding());
        match operations.next().ok()?? {
            Operation::Address { address } => Some(address),
            Operation::AddressIndex { index } => self.dwarf.address(unit, index).ok(),
            _ => None,
        }
    }

    /// Its own, or that of its declaration in a class or a header.
    fn type_of_variable(&self, unit_idx: usize, entry: &Entry) -> Option<TypeRef> {
        if let Some(type_ref) = self.reference(unit_idx, entry, gimli::DW_AT_type) {
            return Some(type_ref);
        }
        let declared = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin]
            .into_iter()
            .find_map(|it| self.reference(unit_idx, entry, it))?;
        let declaration = self.entry(declared)?;
        self.reference(declared.unit_idx, &declaration, gimli::DW_AT_type)
    }

    fn reference(&self, unit_idx: usize, entry: &Entry, name: gimli::DwAt) -> Option<TypeRef> {
        match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => Some(TypeRef { unit_idx, offset }),
            AttributeValue::DebugInfoRef(offset) => {
                let of_unit = |unit: &Unit<Reader>| offset.to_unit_offset(&unit.header);
                let unit_idx = self.units.iter().position(|it| of_unit(it).is_some())?;
                Some(TypeRef { unit_idx, offset: of_unit(&self.units[unit_idx])? })
            }
            _ => None,
        }
    }

    fn entry(&self, at: TypeRef) -> Option<Entry> {
        self.units[at.unit_idx].entry(at.offset).ok()
    }

    /// Goes `shift` bytes into a type and writes the way down; gives back what is left of `shift`.
    fn descend(&self, at: TypeRef, shift: u64, part: &mut String, depth: u32) -> Option<u64> {
        if depth > DEPTH_MAX {
            return Some(shift);
        }
        let entry = self.entry(at)?;
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type => {
                let inner = self.reference(at.unit_idx, &entry, gimli::DW_AT_type)?;
                self.descend(inner, shift, part, depth + 1)
            }
            gimli::DW_TAG_array_type => {
                let element = self.reference(at.unit_idx, &entry, gimli::DW_AT_type)?;
                let size = self.size(element, depth).filter(|it| *it > 0)?;
                let idx = shift / size;
                self.write_indices(at, idx, part);
                self.descend(element, shift % size, part, depth + 1)
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                self.descend_to_member(at, shift, part, depth)
            }
            _ => Some(shift),
        }
    }

    /// The index of an element; several for an array of several dimensions, the last one fastest.
    fn write_indices(&self, at: TypeRef, mut idx: u64, part: &mut String) {
        let mut counts = Vec::new();
        self.for_children(at, |entry| {
            if entry.tag() == gimli::DW_TAG_subrange_type {
                let number = |name| entry.attr_value(name).and_then(|it| it.udata_value());
                let count = number(gimli::DW_AT_count);
                counts.push(count.or(number(gimli::DW_AT_upper_bound).map(|it| it + 1)));
            }
            None::<()>
        });
        let mut indices = Vec::new();
        for count in counts.iter().skip(1).rev() {
            let count = count.unwrap_or(1).max(1);
            indices.push(idx % count);
            idx /= count;
        }
        indices.push(idx);
        for idx in indices.iter().rev() {
            let _ = write!(part, "[{idx}]");
        }
    }

    fn descend_to_member(
        &self,
        at: TypeRef,
        shift: u64,
        part: &mut String,
        depth: u32,
    ) -> Option<u64> {
        let is_union = self.entry(at).is_some_and(|entry| entry.tag() == gimli::DW_TAG_union_type);
        let found = self.for_children(at, |entry| {
            let is_part = matches!(entry.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance);
            // Static members have no place in the whole.
            let start = entry.attr_value(gimli::DW_AT_data_member_location);
            let start = match start.and_then(|it| it.udata_value()) {
                None if is_union => 0,
                start => start?,
            };
            let member = self.reference(at.unit_idx, entry, gimli::DW_AT_type)?;
            let size = self.size(member, depth)?;
            let is_inside = is_part && start <= shift && shift - start < size;
            is_inside.then(|| (self.name(at.unit_idx, entry), member, start))
        });
        let Some((name, member, start)) = found else { return Some(shift) };
        if name.starts_with('_') {
            return Some(0);
        }
        if !name.is_empty() {
            let _ = write!(part, ".{name}");
        }
        self.descend(member, shift - start, part, depth + 1)
    }

    fn name(&self, unit_idx: usize, entry: &Entry) -> String {
        let text = entry
            .attr_value(gimli::DW_AT_name)
            .and_then(|it| self.dwarf.attr_string(&self.units[unit_idx], it).ok());
        text.map(|it| String::from_utf8_lossy(&it).into_owned()).unwrap_or_default()
    }

    /// The bytes that a type takes.
    fn size(&self, at: TypeRef, depth: u32) -> Option<u64> {
        if depth > DEPTH_MAX {
            return None;
        }
        let entry = self.entry(at)?;
        if let Some(size) = entry.attr_value(gimli::DW_AT_byte_size) {
            return size.udata_value();
        }
        if entry.tag() == gimli::DW_TAG_pointer_type {
            return Some(8);
        }
        let inner = self.reference(at.unit_idx, &entry, gimli::DW_AT_type)?;
        let size = self.size(inner, depth + 1)?;
        if entry.tag() != gimli::DW_TAG_array_type {
            return Some(size);
        }
        let mut count = 1;
        self.for_children(at, |entry| {
            if entry.tag() == gimli::DW_TAG_subrange_type {
                let number = |name| entry.attr_value(name).and_then(|it| it.udata_value());
                let bound = number(gimli::DW_AT_upper_bound).map(|it| it + 1);
                count *= number(gimli::DW_AT_count).or(bound).unwrap_or(0);
            }
            None::<()>
        });
        Some(size * count)
    }

    /// Looks at the entries below one, until `look` finds something.
    fn for_children<T>(&self, at: TypeRef, mut look: impl FnMut(&Entry) -> Option<T>) -> Option<T> {
        let mut tree = self.units[at.unit_idx].entries_tree(Some(at.offset)).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            if let Some(found) = look(child.entry()) {
                return Some(found);
            }
        }
        None
    }
}
