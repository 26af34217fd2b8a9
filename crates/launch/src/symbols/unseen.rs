//! Instructions that no hook announces and that may order threads: assembly, and what was compiled without hooks. Nobody
//! sees what they do.
//!
//! Code with hooks has none: its atomic operations and its reads are calls. All code of a module is decoded in one sweep,
//! so that functions in assembly need neither a type nor a size.
//!
//! Beside atomic instructions these are system calls, and reads of loops that wait: nothing but memory can end such a
//! loop, for it writes none, calls nobody, and no register lives from one round to the next.

use std::{collections::VecDeque, fs::File, path::Path};

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register, UsedRegister,
};
use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};

/// The most instructions of a loop that waits.
const LOOP_MAX: usize = 32;

/// Such an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unseen {
    /// Its address in the module.
    pub(super) at: u64,
    pub(super) is_atomic: bool,
}

/// The atomic instructions of a module, by address.
pub(super) fn atomics(path: &Path) -> Vec<u64> {
    unseen(path).into_iter().filter(|it| it.is_atomic).map(|it| it.at).collect()
}

/// All of a module, by address.
pub(super) fn unseen(path: &Path) -> Vec<Unseen> {
    find(path).unwrap_or_default()
}

fn find(path: &Path) -> Option<Vec<Unseen>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let elf = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    let names = elf.dynamic_symbols().filter_map(|it| it.name().ok().map(str::to_owned));
    let has_wide_hooks = names.into_iter().any(|it| it.starts_with("__tsan_atomic128_"));
    let mut found = Vec::new();
    for section in elf.sections().filter(|it| it.kind() == SectionKind::Text) {
        let Ok(bytes) = section.data() else { continue };
        let decoder = Decoder::with_ip(64, bytes, section.address(), DecoderOptions::NONE);
        sweep(decoder, has_wide_hooks, &mut found);
    }
    found.sort_unstable_by_key(|it| it.at);
    found.dedup();
    Some(found)
}

fn sweep(decoder: Decoder<'_>, has_wide_hooks: bool, found: &mut Vec<Unseen>) {
    let mut last: VecDeque<Instruction> = VecDeque::with_capacity(LOOP_MAX);
    let mut factory = InstructionInfoFactory::new();
    for it in decoder {
        if last.len() == LOOP_MAX {
            last.pop_front();
        }
        last.push_back(it);
        if is_atomic(&it) && !(has_wide_hooks && is_wide(&it)) {
            found.push(Unseen { at: it.ip(), is_atomic: true });
        } else if it.mnemonic() == Mnemonic::Syscall {
            found.push(Unseen { at: it.ip(), is_atomic: false });
        }
        let is_jump = matches!(
            it.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        ) && it.op0_kind() == OpKind::NearBranch64;
        let target = || last.iter().position(|first| first.ip() == it.near_branch_target());
        if is_jump && let Some(start) = target() {
            let body = last.iter().skip(start);
            let reads = awaited(body, &mut factory);
            found.extend(reads.into_iter().map(|at| Unseen { at, is_atomic: false }));
        }
    }
}

/// The reads of a loop that waits, the stack's left out; none if it is not one.
fn awaited<'a>(
    body: impl Iterator<Item = &'a Instruction>,
    factory: &mut InstructionInfoFactory,
) -> Vec<u64> {
    let (mut early, mut written) = (Vec::<Register>::new(), Vec::<Register>::new());
    let mut reads = Vec::new();
    for it in body {
        let is_plain = matches!(
            it.flow_control(),
            FlowControl::Next | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        );
        let info = factory.info(it);
        let is_read = |access: OpAccess| access == OpAccess::Read || access == OpAccess::CondRead;
        let has_writes = info.used_memory().iter().any(|it| !is_read(it.access()));
        if !is_plain || has_writes || is_atomic(it) {
            return Vec::new();
        }
        let is_shared = |base: Register| !matches!(base, Register::RSP | Register::RBP);
        if info.used_memory().iter().any(|it| is_shared(it.base())) {
            reads.push(it.ip());
        }
        let used = info.used_registers();
        let is_early = |it: &&UsedRegister| {
            it.access() != OpAccess::Write && !written.contains(&it.register().full_register())
        };
        early.extend(used.iter().filter(is_early).map(|it| it.register().full_register()));
        let is_written = |it: &&UsedRegister| !is_read(it.access());
        written.extend(used.iter().filter(is_written).map(|it| it.register().full_register()));
    }
    // What a round leaves to the next one counts, or walks along.
    if early.iter().any(|it| written.contains(it)) { Vec::new() } else { reads }
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

    fn waits(bytes: &[u8]) -> Vec<u64> {
        let decoder = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE);
        let mut found = Vec::new();
        sweep(decoder, false, &mut found);
        found.into_iter().map(|it| it.at - 0x1000).collect()
    }

    #[test]
    fn loops_that_wait() {
        // 1: cmp %eax,(%rdi); je 2f; pause; jmp 1b; 2: ret
        assert_eq!(waits(&[0x39, 0x07, 0x74, 0x04, 0xf3, 0x90, 0xeb, 0xf8, 0xc3]), [0]);
        // 1: mov (%rdi),%eax; test %eax,%eax; jne 1b
        assert_eq!(waits(&[0x8b, 0x07, 0x85, 0xc0, 0x75, 0xfa]), [0]);
        // A list: 1: mov (%rax),%rax; test %rax,%rax; jne 1b
        assert_eq!(waits(&[0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x75, 0xf8]), [0; 0]);
        // A string: 1: inc %rdi; cmpb $0,(%rdi); jne 1b
        assert_eq!(waits(&[0x48, 0xff, 0xc7, 0x80, 0x3f, 0x00, 0x75, 0xf8]), [0; 0]);
        // A limit: 1: cmp %eax,(%rdi); je 2f; dec %ecx; jne 1b; 2:
        assert_eq!(waits(&[0x39, 0x07, 0x74, 0x04, 0xff, 0xc9, 0x75, 0xf8]), [0; 0]);
        // It writes: 1: mov (%rdi),%eax; mov %eax,(%rsi); test %eax,%eax; jne 1b
        assert_eq!(waits(&[0x8b, 0x07, 0x89, 0x06, 0x85, 0xc0, 0x75, 0xf8]), [0; 0]);
        // syscall
        assert_eq!(waits(&[0x90, 0x0f, 0x05]), [1]);
    }
}
