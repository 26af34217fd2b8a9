//! Atomic instructions that no hook announces: assembly, and what was compiled without hooks. They may order threads, and
//! nobody sees it.
//!
//! Code with hooks has none: its atomic operations are calls. All code of a module is decoded in one sweep, so that
//! functions in assembly need neither a type nor a size.

use std::{fs::File, path::Path};

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};

/// Their addresses in a module.
pub(super) fn atomics(path: &Path) -> Vec<u64> {
    find(path).unwrap_or_default()
}

fn find(path: &Path) -> Option<Vec<u64>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let elf = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    let names = elf.dynamic_symbols().filter_map(|it| it.name().ok().map(str::to_owned));
    let has_wide_hooks = names.into_iter().any(|it| it.starts_with("__tsan_atomic128_"));
    let mut found = Vec::new();
    for section in elf.sections().filter(|it| it.kind() == SectionKind::Text) {
        let Ok(bytes) = section.data() else { continue };
        let decoder = Decoder::with_ip(64, bytes, section.address(), DecoderOptions::NONE);
        let is_unseen = |it: &Instruction| is_atomic(it) && !(has_wide_hooks && is_wide(it));
        found.extend(decoder.into_iter().filter(is_unseen).map(|it| it.ip()));
    }
    Some(found)
}

/// Does it change memory that others see, in one step? (On the stack, it is a fence.)
pub(super) fn is_atomic(instruction: &Instruction) -> bool {
    let has_memory =
        (0..instruction.op_count()).any(|it| instruction.op_kind(it) == OpKind::Memory);
    let is_exchange = instruction.mnemonic() == Mnemonic::Xchg && has_memory;
    (instruction.has_lock_prefix() || is_exchange) && instruction.memory_base() != Register::RSP
}

/// Is it one of 16 bytes? clang leaves them in place beside the hooks that stand for them.
pub(super) fn is_wide(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Cmpxchg16b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_atomic() {
        let check = |bytes: &[u8], expected: bool| {
            let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
            assert_eq!(is_atomic(&instruction), expected, "{bytes:x?}");
        };
        check(&[0xf0, 0x0f, 0xc1, 0x07], true); // lock xadd %eax,(%rdi)
        check(&[0x0f, 0xc1, 0x07], false); // xadd %eax,(%rdi)
        check(&[0x87, 0x07], true); // xchg %eax,(%rdi)
        check(&[0x87, 0xc7], false); // xchg %eax,%edi
        check(&[0xf0, 0x83, 0x0c, 0x24, 0x00], false); // lock orl $0,(%rsp)
    }
}
