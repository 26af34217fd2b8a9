//! Loaded executables and libraries: where code and data are, and whose they are.

use std::ops::Range;

use raddle_trace::SiteEntry;

use crate::record::library::{Library, NearCall};

/// A loaded executable or library.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) bias: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Where its code is.
    pub(crate) text: (usize, usize),
    /// Is it the program's own, not the system's?
    pub(crate) is_program: bool,
    pub(crate) path_hash: u64,
}

/// All of them. Invariant: sorted by `start`.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// In the order in which they were found: their numbers.
    pub(crate) found: Vec<Module>,
    /// Where the C library's code is.
    pub(crate) c_library: (usize, usize),
    /// How often to look again for more, at addresses that are in none.
    pub(crate) n_looks: u32,
    /// Which code of the program is its language's library.
    library: Library,
}

impl Modules {
    pub(crate) fn new(library: Library) -> Modules {
        Modules { library, ..Modules::default() }
    }

    /// The module that an address is in.
    pub(crate) fn of(&self, address: usize) -> Option<(u32, &Module)> {
        let is_in = |it: &&Module| it.start <= address && address < it.end;
        let idx = self.found.iter().position(|it| is_in(&it))?;
        Some((idx as u32, &self.found[idx]))
    }

    /// The last address of each module: its data is there.
    pub(crate) fn data_addresses(&self) -> Vec<usize> {
        self.found.iter().map(|it| it.end - 1).collect()
    }

    /// Where the code, and where all, of the module is that an address is in.
    pub(crate) fn ranges_of(&self, address: usize) -> Option<(Range<usize>, Range<usize>)> {
        let (_, it) = self.of(address)?;
        Some((it.text.0..it.text.1, it.start..it.end))
    }

    /// Where the module whose path has this hash is loaded.
    pub(crate) fn bias_of(&self, path_hash: u64) -> Option<usize> {
        self.found.iter().find(|it| it.path_hash == path_hash).map(|it| it.bias)
    }

    /// Module and offset of an address.
    pub(crate) fn site_entry(&self, pc: usize) -> SiteEntry {
        match self.of(pc) {
            Some((number, module)) => {
                SiteEntry { module: number, offset: (pc - module.bias) as u64, via: 0 }
            }
            None => SiteEntry { module: u32::MAX, offset: 0, via: 0 },
        }
    }

    /// Is it code of the program's language's library, compiled into the program?
    #[inline]
    pub(crate) fn is_library_code(&self, pc: usize) -> bool {
        let program = self.found.first().filter(|it| it.text.0 <= pc && pc < it.text.1);
        program.is_some_and(|it| self.library.has((pc - it.bias) as u64))
    }

    /// Where that code pauses.
    pub(crate) fn pauses(&self) -> Vec<usize> {
        let bias = self.found.first().map_or(0, |it| it.bias);
        self.library.pauses().iter().map(|it| bias + *it as usize).collect()
    }

    /// The program's calls of hooks that are to be near it: asked for once.
    pub(crate) fn take_near_calls(&mut self) -> Vec<NearCall> {
        self.library.take_near_calls()
    }

    /// Is it code of the program itself?
    pub(crate) fn is_program_code(&self, pc: usize) -> bool {
        self.found.iter().any(|it| it.is_program && it.text.0 <= pc && pc < it.text.1)
    }
}
