//! The symbol table of a module, by address: names where there is no debug information, and variables.

use std::fs::File;
use std::path::Path;

use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind};

/// A function written in assembly may have no size; further than this into it is somewhere else.
const MAX_UNSIZED: u64 = 4096;

#[derive(Debug)]
pub(super) struct Symbol {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) name: String,
}

/// Invariant: both sorted by address.
#[derive(Debug, Default)]
pub(super) struct Table {
    functions: Vec<Symbol>,
    variables: Vec<Symbol>,
}

impl Table {
    /// Reads what there is; a stripped module still has its dynamic symbols.
    pub(super) fn load(path: &Path) -> Table {
        let Ok(file) = File::open(path) else { return Table::default() };
        let cache = ReadCache::new(file);
        let Ok(file) = ElfFile64::<Endianness, _>::parse(&cache) else { return Table::default() };
        let mut table = Table::default();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name() else { continue };
            if !symbol.is_definition() || name.is_empty() {
                continue;
            }
            let list = match symbol.kind() {
                SymbolKind::Text => &mut table.functions,
                SymbolKind::Data => &mut table.variables,
                _ => continue,
            };
            list.push(Symbol { address: symbol.address(), size: symbol.size(), name: name.into() });
        }
        sort(&mut table.functions);
        sort(&mut table.variables);
        table
    }

    /// Adds what another file has of the same module.
    pub(super) fn merge(&mut self, other: Table) {
        self.functions.extend(other.functions);
        self.variables.extend(other.variables);
        sort(&mut self.functions);
        sort(&mut self.variables);
    }

    /// All functions, by address.
    pub(super) fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.functions.iter()
    }

    pub(super) fn function(&self, address: u64) -> Option<&Symbol> {
        let symbol = nearest(&self.functions, address)?;
        let size = if symbol.size == 0 { MAX_UNSIZED } else { symbol.size };
        (address - symbol.address < size).then_some(symbol)
    }

    pub(super) fn variable(&self, address: u64) -> Option<&Symbol> {
        let symbol = nearest(&self.variables, address)?;
        (address - symbol.address < symbol.size).then_some(symbol)
    }
}

/// Of several names for an address the widest, then the first in the alphabet, is the last and found.
fn sort(symbols: &mut Vec<Symbol>) {
    symbols.sort_by(|a, b| {
        (a.address, a.size).cmp(&(b.address, b.size)).then_with(|| b.name.cmp(&a.name))
    });
    symbols.dedup_by(|a, b| a.address == b.address && a.name == b.name);
}

fn nearest(symbols: &[Symbol], address: u64) -> Option<&Symbol> {
    let n_before = symbols.partition_point(|symbol| symbol.address <= address);
    symbols[..n_before].last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, address: u64, size: u64) -> Symbol {
        Symbol { address, size, name: name.into() }
    }

    #[test]
    fn an_address_belongs_to_the_symbol_around_it() {
        let mut table = Table {
            functions: vec![symbol("g", 0x20, 0), symbol("f", 0x10, 8)],
            variables: vec![symbol("y", 0x108, 4), symbol("x", 0x100, 8), symbol("_x", 0x100, 8)],
        };
        sort(&mut table.functions);
        sort(&mut table.variables);
        let function = |address| table.function(address).map(|symbol| symbol.name.as_str());
        let variable = |address| table.variable(address).map(|symbol| symbol.name.as_str());
        assert_eq!(function(0x0f), None);
        assert_eq!(function(0x17), Some("f"));
        assert_eq!(function(0x18), None);
        assert_eq!(function(0x30), Some("g"));
        assert_eq!(function(0x2000), None);
        assert_eq!(variable(0x107), Some("_x"));
        assert_eq!(variable(0x108), Some("y"));
        assert_eq!(variable(0x10c), None);
    }
}
