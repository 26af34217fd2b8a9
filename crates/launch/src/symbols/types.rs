//! Types: how large they are, what they are called, and what lies how far into them.
//!
//! The way into a type ends at members whose names are reserved (`__data`, `_M_mutex`): those are the
//! inside of the C and C++ libraries' own types. Only where a node of a library's container holds a
//! value of the program's (`std::map`, `std::list`, what `std::make_shared` allocates) the way goes on,
//! as if it had begun at that value. Rust's std is the same by other names (`rust`).
//!
//! An access may be to several members at once (bit fields, two bytes side by side in the four that the
//! runtime tells apart): then all are named, `flags.{ready,done}`. Of a union the first member is named
//! that begins, or has a part that begins, at the place; which one is meant nobody knows.

use std::fmt::Write as _;

use raddle_model::{Content, Enumerators};

use super::{
    debug::{Debug, Die, Entry, number},
    rust::Part,
};

/// Types within types, and arrays of arrays; deeper is not believed.
const DEPTH_MAX: u32 = 32;

/// Accesses up to this size name each member that they touch; larger ones (a `memcpy`) the whole.
const SMALL: u64 = 8;

/// Enumerators that are kept of a type; of larger ones, numbers are shown for the others.
const ENUMERATORS_MAX: usize = 64;

/// Members that are listed for one access.
const MEMBERS_MAX: usize = 4;

/// What lies somewhere in a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// The way there: `[1].lock`.
    pub(super) path: String,
    /// How far into what the way leads to.
    pub(super) rest: u64,
    /// The type whose member the way ends at: `struct account`; empty if it ends at none.
    pub(super) field_of: String,
    /// The type that the way begins at, if it is a value inside a library's node.
    pub(super) root: Option<Die>,
    /// What is at its end.
    pub(super) content: Content,
}

/// A member or base class, by the bits that it takes.
#[derive(Clone, Debug)]
struct Member {
    name: String,
    type_die: Die,
    start: u64,
    end: u64,
    is_bit_field: bool,
}

impl Debug {
    /// What `size` bytes, `shift` into a type, are.
    pub(super) fn reach(&self, type_die: Die, shift: u64, size: u64) -> Reached {
        let mut walk = Walk { debug: self, size: size.max(1), reached: Reached::default() };
        walk.descend(type_die, shift, None, 0);
        walk.reached
    }

    /// The bytes that a type takes; `None` if that is not known when the program is compiled.
    pub(super) fn size_of(&self, type_die: Die) -> Option<u64> {
        self.size_within(type_die, 0)
    }

    fn size_within(&self, at: Die, depth: u32) -> Option<u64> {
        if depth > DEPTH_MAX {
            return None;
        }
        let at = self.definition(at);
        let entry = self.entry(at)?;
        if let Some(size) = number(&entry, gimli::DW_AT_byte_size) {
            return Some(size);
        }
        if matches!(entry.tag(), gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type) {
            return Some(8);
        }
        let inner = self.reference(at.unit_idx, &entry, gimli::DW_AT_type)?;
        let size = self.size_within(inner, depth + 1)?;
        if entry.tag() != gimli::DW_TAG_array_type {
            return Some(size);
        }
        let counts = self.dimensions(at);
        counts.iter().try_fold(size, |size, count| size.checked_mul((*count)?))
    }

    /// How many elements an array has, by dimension; `None` where that is left open.
    fn dimensions(&self, array: Die) -> Vec<Option<u64>> {
        let mut counts = Vec::new();
        self.child(array, |_, entry| {
            if entry.tag() == gimli::DW_TAG_subrange_type {
                let bound =
                    number(entry, gimli::DW_AT_upper_bound).and_then(|it| it.checked_add(1));
                counts.push(number(entry, gimli::DW_AT_count).or(bound));
            }
            None::<()>
        });
        counts
    }

    /// The type itself, without `typedef`, `const` and the like.
    pub(super) fn bare(&self, type_die: Die) -> Die {
        let mut at = type_die;
        for _ in 0..DEPTH_MAX {
            let Some(entry) = self.entry(at) else { break };
            if !is_alias(&entry) {
                break;
            }
            let Some(inner) = self.reference(at.unit_idx, &entry, gimli::DW_AT_type) else { break };
            at = inner;
        }
        at
    }

    /// What a pointer points to.
    pub(super) fn pointee(&self, type_die: Die) -> Option<Die> {
        let at = self.bare(type_die);
        let entry = self.entry(at)?;
        let is_pointer = entry.tag() == gimli::DW_TAG_pointer_type;
        self.reference(at.unit_idx, &entry, gimli::DW_AT_type).filter(|_| is_pointer)
    }

    /// Is it a structure, a class or a union?
    pub(super) fn is_record(&self, type_die: Die) -> bool {
        self.entry(self.bare(type_die)).is_some_and(|it| is_record(&it))
    }

    /// The type of a record's member, by name, also of one that a base class or an anonymous member has.
    pub(super) fn member(&self, record: Die, name: &str) -> Option<Die> {
        self.member_within(self.definition(self.bare(record)), name, 0)
    }

    fn member_within(&self, record: Die, name: &str, depth: u32) -> Option<Die> {
        let members = self.members(record);
        let direct = members.iter().find(|it| it.name == name).map(|it| it.type_die);
        direct.or_else(|| {
            let unnamed = members.iter().filter(|it| it.name.is_empty() && depth < DEPTH_MAX);
            unnamed
                .map(|it| self.definition(self.bare(it.type_die)))
                .find_map(|it| self.member_within(it, name, depth + 1))
        })
    }

    /// The argument of a class or function template.
    pub(super) fn template_argument(&self, die: Die, name: &str) -> Option<Die> {
        self.child(die, |at, entry| {
            let is_it = entry.tag() == gimli::DW_TAG_template_type_parameter
                && self.text(at.unit_idx, entry, gimli::DW_AT_name).as_deref() == Some(name);
            is_it.then(|| self.reference(at.unit_idx, entry, gimli::DW_AT_type)).flatten()
        })
    }

    /// Members and base classes that have data, as the record has them.
    fn members(&self, record: Die) -> Vec<Member> {
        let is_union = self.entry(record).is_some_and(|it| it.tag() == gimli::DW_TAG_union_type);
        let mut members = Vec::new();
        self.child(record, |at, entry| {
            let is_base = entry.tag() == gimli::DW_TAG_inheritance;
            if is_base || entry.tag() == gimli::DW_TAG_member {
                let member = self.read_member(at, entry, is_union);
                members.extend(member.filter(|it| !is_base || self.has_data(it.type_die, 0)));
            }
            None::<()>
        });
        members
    }

    fn read_member(&self, at: Die, entry: &Entry, is_in_union: bool) -> Option<Member> {
        let type_die = self.reference(at.unit_idx, entry, gimli::DW_AT_type)?;
        let n_bits = number(entry, gimli::DW_AT_bit_size);
        let location = number(entry, gimli::DW_AT_data_member_location);
        let start = match (number(entry, gimli::DW_AT_data_bit_offset), n_bits, location) {
            (Some(start), ..) => start,
            (None, Some(n_bits), location) => {
                // As it was before DWARF 4: counted from the other end of a unit of storage.
                let offset = number(entry, gimli::DW_AT_bit_offset)?;
                let unit = number(entry, gimli::DW_AT_byte_size).or_else(|| self.size_of(type_die));
                let end = location.unwrap_or(0) * 8 + unit? * 8;
                end.checked_sub(offset + n_bits)?
            }
            (None, None, Some(location)) => location * 8,
            (None, None, None) if is_in_union => 0,
            // A static member has no place in the whole, a virtual base no fixed one.
            (None, None, None) => return None,
        };
        let n_bits_of_type = || self.size_of(type_die).map(|it| it * 8);
        Some(Member {
            name: self.text(at.unit_idx, entry, gimli::DW_AT_name).unwrap_or_default(),
            type_die,
            start,
            // The last member may be an array that is left open.
            end: n_bits.or_else(n_bits_of_type).map_or(u64::MAX, |it| start + it),
            is_bit_field: n_bits.is_some(),
        })
    }

    /// An empty base class has a size, but takes no room.
    fn has_data(&self, record: Die, depth: u32) -> bool {
        let record = self.definition(self.bare(record));
        depth < DEPTH_MAX
            && self
                .child(record, |at, entry| match entry.tag() {
                    gimli::DW_TAG_member => self.read_member(at, entry, true).map(|_| true),
                    gimli::DW_TAG_inheritance => {
                        let base = self.reference(at.unit_idx, entry, gimli::DW_AT_type)?;
                        self.has_data(base, depth + 1).then_some(true)
                    }
                    _ => None,
                })
                .unwrap_or(false)
    }
}

/// A way into a type.
struct Walk<'a> {
    debug: &'a Debug,
    /// Bytes that are looked for.
    size: u64,
    reached: Reached,
}

impl Walk<'_> {
    /// Goes `shift` bytes into a type and writes the way down. `alias` is what a `typedef` calls it.
    fn descend(&mut self, at: Die, shift: u64, alias: Option<Die>, depth: u32) {
        self.reached.rest = shift;
        let at = self.debug.definition(at);
        let Some(entry) = self.debug.entry(at).filter(|_| depth <= DEPTH_MAX) else { return };
        let inner = self.debug.reference(at.unit_idx, &entry, gimli::DW_AT_type);
        if is_record(&entry) {
            self.descend_to_member(at, shift, alias.unwrap_or(at), depth);
        } else if let (true, Some(inner)) = (is_alias(&entry), inner) {
            let is_named = entry.tag() == gimli::DW_TAG_typedef;
            self.descend(inner, shift, if is_named { Some(at) } else { alias }, depth + 1);
        } else if let (gimli::DW_TAG_array_type, Some(element)) = (entry.tag(), inner) {
            self.descend_to_element(at, element, shift, depth);
        } else {
            self.reached.content = self.debug.content(at, &entry);
        }
    }

    fn descend_to_element(&mut self, array: Die, element: Die, shift: u64, depth: u32) {
        let Some(size) = self.debug.size_of(element).filter(|it| *it > 0) else { return };
        if self.size > size.max(SMALL) {
            return;
        }
        self.write_indices(array, shift / size);
        self.descend(element, shift % size, None, depth + 1);
    }

    /// The index of an element; several for an array of several dimensions, the last one fastest.
    fn write_indices(&mut self, array: Die, mut idx: u64) {
        let counts = self.debug.dimensions(array);
        let mut indices = Vec::new();
        for count in counts.iter().skip(1).rev() {
            let count = count.unwrap_or(1).max(1);
            indices.push(idx % count);
            idx /= count;
        }
        indices.push(idx);
        for idx in indices.iter().rev() {
            let _ = write!(self.reached.path, "[{idx}]");
        }
    }

    fn descend_to_member(&mut self, record: Die, shift: u64, known_as: Die, depth: u32) {
        let (from, to) = (shift * 8, (shift + self.size) * 8);
        let mut hits = self.debug.members(record);
        hits.retain(|it| it.start < to && from < it.end);
        let is_union =
            self.debug.entry(record).is_some_and(|it| it.tag() == gimli::DW_TAG_union_type);
        if is_union {
            let begins = |it: &Member| self.debug.reach(it.type_die, shift, self.size).rest == 0;
            let best = hits.iter().position(|it| to <= it.end && begins(it));
            hits = hits.into_iter().skip(best.unwrap_or(0)).take(1).collect();
        }
        // A lock's own flag is in the same word as what the lock protects.
        let is_whole = |it: &Member| self.debug.rust_part(record, &it.name) == Part::Whole;
        if hits.len() > 1
            && let Some(whole) = hits.iter().position(is_whole)
        {
            hits.swap(0, whole);
            hits.truncate(1);
        }
        match hits.as_slice() {
            [] => {}
            [one] => match self.debug.rust_part(record, &one.name) {
                Part::Named => self.enter(one, shift, known_as, depth),
                Part::Inside => {
                    let is_atomic =
                        self.debug.name_of(record).is_some_and(|it| it.starts_with("Atomic"));
                    self.end_inside(Some(one.type_die).filter(|_| is_atomic));
                }
                part => {
                    if part == Part::Root {
                        self.reached = Reached { root: Some(one.type_die), ..Reached::default() };
                    }
                    self.descend(
                        one.type_die,
                        shift.saturating_sub(one.start / 8),
                        None,
                        depth + 1,
                    );
                }
            },
            several => self.list(several, known_as),
        }
    }

    fn enter(&mut self, member: &Member, shift: u64, known_as: Die, depth: u32) {
        let start = member.start / 8;
        let shift = shift.saturating_sub(start);
        if is_reserved(&member.name) {
            self.enter_library(member, shift, depth);
            return;
        }
        if !member.name.is_empty() {
            let _ = write!(self.reached.path, ".{}", member_name(&member.name));
            self.reached.field_of = self.debug.type_name(known_as);
        }
        self.reached.rest = shift;
        if member.is_bit_field {
            self.reached.rest = 0;
        } else {
            self.descend(member.type_die, shift, None, depth + 1);
        }
    }

    /// The inside of a library's type: only the elements of `std::array` and values in nodes show.
    fn enter_library(&mut self, member: &Member, shift: u64, depth: u32) {
        if member.name == "_M_elems" {
            self.descend(member.type_die, shift, None, depth + 1);
        } else if let Some((value, shift)) = self.debug.value_within(member.type_die, shift, depth)
        {
            self.reached = Reached { root: Some(value), ..Reached::default() };
            self.descend(value, shift, None, depth + 1);
        } else {
            self.end_inside(Some(member.type_die));
        }
    }

    /// The way ends inside a library's type. One that holds nothing but a value shows that: an atomic, a smart pointer.
    fn end_inside(&mut self, only: Option<Die>) {
        self.reached.rest = 0;
        let content = only.and_then(|it| self.debug.only_content(it, 0));
        self.reached.content = content.unwrap_or(Content::Inside);
    }

    /// Several small members at once; of a large access, the whole.
    fn list(&mut self, members: &[Member], known_as: Die) {
        let is_library = members.iter().any(|it| is_reserved(&it.name));
        if is_library {
            self.end_inside(None);
        }
        if is_library || self.size > SMALL {
            return;
        }
        let names = members.iter().map(|it| it.name.as_str()).filter(|it| !it.is_empty());
        let mut names: Vec<&str> = names.take(MEMBERS_MAX + 1).collect();
        if names.len() > MEMBERS_MAX {
            names[MEMBERS_MAX] = "...";
        }
        let _ = write!(self.reached.path, ".{{{}}}", names.join(","));
        self.reached.field_of = self.debug.type_name(known_as);
        self.reached.rest = 0;
    }
}

impl Debug {
    /// What a type that has no parts holds.
    fn content(&self, at: Die, entry: &Entry) -> Content {
        match entry.tag() {
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => Content::Pointer,
            gimli::DW_TAG_enumeration_type => Content::Enumeration(Box::new(self.enumerators(at))),
            _ => Content::Number,
        }
    }

    /// What a type holds, if it is but one value.
    fn only_content(&self, at: Die, depth: u32) -> Option<Content> {
        let at = self.definition(self.bare(at));
        let entry = self.entry(at).filter(|_| depth <= DEPTH_MAX)?;
        if !is_record(&entry) {
            let is_list = entry.tag() == gimli::DW_TAG_array_type;
            return (!is_list).then(|| self.content(at, &entry));
        }
        match self.members(at).as_slice() {
            [only] => self.only_content(only.type_die, depth + 1),
            _ => None,
        }
    }

    fn enumerators(&self, enumeration: Die) -> Enumerators {
        let mut all = Vec::new();
        self.child(enumeration, |at, entry| {
            if entry.tag() == gimli::DW_TAG_enumerator
                && let Some(value) = constant(entry)
                && let Some(name) = self.text(at.unit_idx, entry, gimli::DW_AT_name)
            {
                all.push((value, name));
            }
            (all.len() == ENUMERATORS_MAX).then_some(())
        });
        Enumerators(all)
    }

    /// The value of the program's own that a library's node has at `shift`, and how far into it that is.
    fn value_within(&self, at: Die, shift: u64, depth: u32) -> Option<(Die, u64)> {
        let at = self.definition(self.bare(at));
        let entry = self.entry(at).filter(|it| is_record(it) && depth <= DEPTH_MAX)?;
        let name = self.text(at.unit_idx, &entry, gimli::DW_AT_name).unwrap_or_default();
        if ["__aligned_buffer<", "__aligned_membuf<"].iter().any(|it| name.starts_with(it)) {
            return Some((self.template_argument(at, "_Tp")?, shift));
        }
        let is_inside = |it: &&Member| it.start <= shift * 8 && shift * 8 < it.end;
        let members = self.members(at);
        let mut inside = members.iter().filter(is_inside);
        inside.find_map(|it| self.value_within(it.type_die, shift - it.start / 8, depth + 1))
    }
}

/// The value of an enumerator.
fn constant(entry: &Entry) -> Option<i64> {
    let value = entry.attr_value(gimli::DW_AT_const_value)?;
    value.sdata_value().or_else(|| value.udata_value()?.try_into().ok())
}

fn is_record(entry: &Entry) -> bool {
    matches!(
        entry.tag(),
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
    )
}

/// Is it another name for a type, or the same one with a quality?
fn is_alias(entry: &Entry) -> bool {
    matches!(
        entry.tag(),
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
    )
}

/// Names that programs must not have: those of the C and C++ libraries' own types. (Rust calls the
/// members of tuples `__0`, `__1`.)
fn is_reserved(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('_') else { return false };
    let is_of_tuple = rest.strip_prefix('_').is_some_and(starts_with_digit);
    rest.starts_with(|it: char| it == '_' || it.is_ascii_uppercase()) && !is_of_tuple
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit())
}

/// What reports call a member.
fn member_name(name: &str) -> &str {
    match name.strip_prefix("__").filter(|it| starts_with_digit(it)) {
        Some(of_tuple) => of_tuple,
        // gcc: `_vptr.Base`, clang: `_vptr$Base`.
        None if name.starts_with("_vptr") => "vptr",
        None => name,
    }
}
