//! Which function a call calls, as its machine code says.

use std::{collections::HashMap, fs::File, os::unix::fs::FileExt as _, path::Path};

use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSegment as _};

/// A module's code, read where it is asked for.
#[derive(Debug)]
pub(super) struct Code {
    file: File,
    parts: Vec<Part>,
    /// What the loader writes into words of the module's data: addresses in the module.
    written: HashMap<u64, u64>,
}

/// Bytes of the file, and where they are loaded.
#[derive(Clone, Copy, Debug)]
struct Part {
    address: u64,
    offset: u64,
    size: u64,
}

impl Code {
    pub(super) fn open(path: &Path) -> Option<Code> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let elf = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
        let part = |it: object::read::elf::ElfSegment64<'_, '_, Endianness, _>| {
            let (offset, size) = it.file_range();
            Part { address: it.address(), offset, size }
        };
        let parts = elf.segments().map(part).collect();
        let written = elf.dynamic_relocations().into_iter().flatten();
        let written = written.map(|(at, it)| (at, it.addend() as u64)).collect();
        Some(Code { file: File::open(path).ok()?, parts, written })
    }

    /// The address that is called by the call right before this one, as far as the code around it says.
    pub(super) fn called(&self, after: u64) -> Option<u64> {
        let bytes = self.before(after);
        match bytes[..] {
            // A distance, counted from the end.
            [.., 0xe8, a, b, c, d] => distance(after, [a, b, c, d]),
            // The same, to a word that holds the address.
            [.., 0xff, 0x15, a, b, c, d] => self.in_word(distance(after, [a, b, c, d])?),
            // A register, which was loaded from such a word not long ago.
            [.., 0xff, register @ 0xd0..=0xd7] => {
                let load = [0x48, 0x8b, 0x05 | (register - 0xd0) << 3];
                let at = bytes.windows(7).rposition(|it| it.starts_with(&load))?;
                let end = after - (bytes.len() - at - 7) as u64;
                self.in_word(distance(end, bytes[at + 3..at + 7].try_into().ok()?)?)
            }
            _ => None,
        }
    }

    fn in_word(&self, word: u64) -> Option<u64> {
        self.written.get(&word).copied()
    }

    /// The bytes before an address.
    fn before(&self, after: u64) -> Vec<u8> {
        const MOST: u64 = 96;
        let is_in = |it: &&Part| it.address < after && after - it.address <= it.size;
        let Some(part) = self.parts.iter().find(is_in) else { return Vec::new() };
        let size = MOST.min(after - part.address);
        let mut bytes = vec![0; size as usize];
        let read = self.file.read_exact_at(&mut bytes, part.offset + after - size - part.address);
        read.map_or(Vec::new(), |()| bytes)
    }
}

fn distance(from: u64, bytes: [u8; 4]) -> Option<u64> {
    from.checked_add_signed(i64::from(i32::from_le_bytes(bytes)))
}
