//! The functions at an address, and the variables of a function that is on a stack.
//!
//! Where a variable is comes from the debug information, relative to the frame; where the frame is, from
//! the runtime (its stack pointer, and the word above its return address). Only variables that live in
//! memory have an address, and only those whose place is a plain offset are found.

use gimli::{AttributeValue, Operation, X86_64};

use super::debug::{Debug, Die, Entry, Functions, Reader};

/// A place on a stack, as the runtime tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    /// An address in the code of the function whose frame it is.
    pub(super) code: u64,
    /// Bytes above the end of the frame (the word above the return address); below it if negative.
    pub(super) from_cfa: i64,
    /// Bytes above the stack pointer, as it is in the function's body.
    pub(super) from_sp: i64,
}

/// A variable of a function, or a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) variable: Die,
    /// The function that has it, maybe inlined into the one whose frame it is.
    pub(super) function: Die,
    /// How far into the variable the place is.
    pub(super) shift: u64,
}

/// What offsets of a frame count from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Cfa,
    /// The frame pointer: two words below the CFA in every function that has one.
    FramePointer,
    StackPointer,
}

impl Base {
    fn of_register(register: gimli::Register) -> Option<Base> {
        match register {
            X86_64::RBP => Some(Base::FramePointer),
            X86_64::RSP => Some(Base::StackPointer),
            _ => None,
        }
    }

    /// The spot, counted from this base.
    fn distance(self, spot: &Spot) -> i64 {
        match self {
            Base::Cfa => spot.from_cfa,
            Base::FramePointer => spot.from_cfa + 16,
            Base::StackPointer => spot.from_sp,
        }
    }
}

impl Debug {
    /// The functions that the code at an address belongs to, innermost inlined first.
    pub(super) fn functions_at(&self, code: u64) -> Vec<Die> {
        let found = self.unit_indices().find_map(|unit_idx| self.function_in(unit_idx, code));
        let Some(function) = found else { return Vec::new() };
        let mut functions = vec![function];
        let mut at = function;
        while let Some(inlined) = self.inlined_below(at, code) {
            functions.push(inlined);
            at = inlined;
        }
        functions.reverse();
        functions
    }

    /// The variable of a function at a spot on its stack.
    pub(super) fn local(&self, spot: &Spot) -> Option<Local> {
        let function = *self.functions_at(spot.code).last()?;
        let base = self.frame_base(function);
        let mut search = Search { debug: self, spot, base, found: Vec::new() };
        search.look(function, function, true);
        // Variables of blocks that are over may have been at the same place.
        let (live, dead): (Vec<_>, Vec<_>) = search.found.into_iter().partition(|it| it.1);
        match (live.as_slice(), dead.as_slice()) {
            ([.., (last, _)], _) => Some(*last),
            ([], [(only, _)]) => Some(*only),
            _ => None,
        }
    }

    fn function_in(&self, unit_idx: usize, code: u64) -> Option<Die> {
        let root = self.root(unit_idx)?;
        let has_ranges = root.has_attr(gimli::DW_AT_ranges) || root.has_attr(gimli::DW_AT_high_pc);
        if has_ranges && !self.has_code(unit_idx, &root, code) {
            return None;
        }
        let mut units = self.code.borrow_mut();
        let functions = units.entry(unit_idx).or_insert_with(|| self.code_of(unit_idx));
        let found = functions.iter().rev().find(|it| it.0.contains(&code))?;
        Some(Die { unit_idx, offset: found.1 })
    }

    /// Where the functions of a unit are, in the order of their entries.
    fn code_of(&self, unit_idx: usize) -> Functions {
        let (dwarf, unit) = (self.dwarf(unit_idx), self.unit(unit_idx));
        let mut functions = Vec::new();
        let mut entries = unit.entries();
        while let Ok(Some(entry)) = entries.next_dfs() {
            if entry.tag() != gimli::DW_TAG_subprogram {
                continue;
            }
            let Ok(mut ranges) = dwarf.die_ranges(unit, entry) else { continue };
            while let Ok(Some(range)) = ranges.next() {
                functions.push((range.begin..range.end, entry.offset()));
            }
        }
        functions
    }

    fn inlined_below(&self, at: Die, code: u64) -> Option<Die> {
        self.child(at, |die, entry| match entry.tag() {
            gimli::DW_TAG_inlined_subroutine => {
                self.has_code(die.unit_idx, entry, code).then_some(die)
            }
            gimli::DW_TAG_lexical_block => self.inlined_below(die, code),
            _ => None,
        })
    }

    fn frame_base(&self, function: Die) -> Option<Base> {
        let entry = self.entry(function)?;
        let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_frame_base)? else {
            return None;
        };
        let encoding = self.unit(function.unit_idx).encoding();
        match expression.operations(encoding).next().ok()?? {
            Operation::CallFrameCFA => Some(Base::Cfa),
            Operation::Register { register } => Base::of_register(register),
            _ => None,
        }
    }
}

struct Search<'a> {
    debug: &'a Debug,
    spot: &'a Spot,
    base: Option<Base>,
    /// With whether its block has not ended.
    found: Vec<(Local, bool)>,
}

impl Search<'_> {
    fn look(&mut self, at: Die, function: Die, is_live: bool) {
        let mut below = Vec::new();
        self.debug.child(at, |die, entry| {
            match entry.tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    if let Some(shift) = self.shift(die, entry) {
                        self.found.push((Local { variable: die, function, shift }, is_live));
                    }
                }
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine => {
                    let is_inlined = entry.tag() == gimli::DW_TAG_inlined_subroutine;
                    let has_begun = self.debug.has_code(die.unit_idx, entry, self.spot.code);
                    below.push((die, if is_inlined { die } else { function }, has_begun));
                }
                _ => {}
            }
            None::<()>
        });
        for (die, function, has_begun) in below {
            self.look(die, function, is_live && has_begun);
        }
    }

    /// How far into the variable the spot is, if it is.
    fn shift(&self, die: Die, entry: &Entry) -> Option<u64> {
        let (base, offset) = self.place(die, entry)?;
        let shift = u64::try_from(base.distance(self.spot) - offset).ok()?;
        let size = self.debug.size_of(self.debug.type_of(die)?)?;
        (shift < size).then_some(shift)
    }

    fn place(&self, die: Die, entry: &Entry) -> Option<(Base, i64)> {
        let value = entry.attr_value(gimli::DW_AT_location)?;
        let unit = self.debug.unit(die.unit_idx);
        if let AttributeValue::Exprloc(expression) = value {
            return self.offset(die, expression);
        }
        let mut list = self.debug.dwarf(die.unit_idx).attr_locations(unit, value).ok()??;
        let mut places = Vec::new();
        while let Ok(Some(location)) = list.next() {
            let is_now =
                location.range.begin <= self.spot.code && self.spot.code < location.range.end;
            let place = self.offset(die, location.data);
            if is_now && place.is_some() {
                return place;
            }
            places.extend(place);
        }
        // In memory at another time: its address has been given away there, so it is there still.
        places.pop()
    }

    fn offset(&self, die: Die, expression: gimli::Expression<Reader>) -> Option<(Base, i64)> {
        let mut operations = expression.operations(self.debug.unit(die.unit_idx).encoding());
        let place = match operations.next().ok()?? {
            Operation::FrameOffset { offset } => (self.base?, offset),
            // Another register is what the optimiser has put there: it may hold any address.
            Operation::RegisterOffset { register, offset, .. } => {
                (Base::of_register(register).filter(|it| Some(*it) == self.base)?, offset)
            }
            _ => return None,
        };
        operations.next().ok()?.is_none().then_some(place)
    }
}
