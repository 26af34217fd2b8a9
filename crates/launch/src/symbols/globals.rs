//! Global and static variables, by address.

use gimli::{AttributeValue, Operation};

use super::debug::{Debug, Die, Entry};

/// Memory that is a variable, or a part of one: optimisers take variables apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) address: u64,
    pub(super) variable: Die,
    /// How far into the variable it begins.
    pub(super) start: u64,
    /// Bytes, if it is only a part.
    size: Option<u64>,
}

/// Where all variables with a fixed address are. Invariant: sorted by address.
#[derive(Debug)]
pub(super) struct Globals {
    spans: Vec<Span>,
}

impl Globals {
    pub(super) fn read(debug: &Debug) -> Globals {
        let mut spans = Vec::new();
        for unit_idx in debug.unit_indices() {
            let mut entries = debug.unit(unit_idx).entries();
            // What is damaged is left out, from there on.
            while let Ok(Some(entry)) = entries.next_dfs() {
                if entry.tag() == gimli::DW_TAG_variable {
                    add_spans(debug, unit_idx, entry, &mut spans);
                }
            }
        }
        spans.sort_by_key(|it| (it.address, it.variable.unit_idx, it.variable.offset.0));
        Globals { spans }
    }

    /// The variable that an address is in, how far into it that is, and the bytes that follow in memory.
    pub(super) fn find(&self, debug: &Debug, address: u64) -> Option<(Die, u64, u64)> {
        let n_before = self.spans.partition_point(|it| it.address <= address);
        let start = self.spans[..n_before].last()?.address;
        // Of a variable that is declared in one place and defined in another, the definition has a type
        // of which the size is known.
        let same = self.spans[..n_before].iter().rev().take_while(|it| it.address == start);
        let past = address - start;
        same.copied().find_map(|it| {
            let whole = || debug.size_of(debug.type_of(it.variable)?);
            let size = it.size.or_else(whole).filter(|size| past < *size)?;
            Some((it.variable, it.start + past, size - past))
        })
    }
}

fn add_spans(debug: &Debug, unit_idx: usize, entry: &Entry, spans: &mut Vec<Span>) -> Option<()> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else {
        return None;
    };
    let unit = debug.unit(unit_idx);
    let variable = Die { unit_idx, offset: entry.offset() };
    let mut operations = expression.operations(unit.encoding());
    let (mut at, mut start) = (None, 0);
    while let Some(operation) = operations.next().ok()? {
        at = match (operation, at) {
            (Operation::Address { address }, None) => Some(address),
            (Operation::AddressIndex { index }, None) => {
                Some(debug.dwarf(unit_idx).address(unit, index).ok()?)
            }
            // Part of what clang has merged into one.
            (Operation::PlusConstant { value }, Some(address)) => Some(address.checked_add(value)?),
            (Operation::Piece { size_in_bits, .. }, at) => {
                let size = size_in_bits / 8;
                spans.extend(at.map(|address| Span { address, variable, start, size: Some(size) }));
                start += size;
                None
            }
            // The value of a pointer that was optimised away, or a thread's own variable.
            _ => return None,
        };
    }
    spans.extend(at.map(|address| Span { address, variable, start, size: None }));
    Some(())
}
