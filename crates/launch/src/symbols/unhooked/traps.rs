//! Instructions that other threads may depend on and no hook announces, as traps that the runtime sets to announce them:
//! atomic ones, reads of loops that wait, and system calls.
//!
//! A trap is written over the instruction's first byte, so there must be no doubt that it is one: its function is known,
//! by a symbol or because it can be unwound, and decodes from its beginning to its end. Of a module with atomic instructions elsewhere it is said that not
//! all are announced.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, Register};
use raddle_trace::TrapEntry;

use super::{
    super::{
        locate,
        unseen::{self, Unseen},
    },
    code::{Function, Text},
    is_compilers,
};

/// The atomic instructions of a module that have no hook.
#[derive(Debug, Default)]
pub(crate) struct Traps {
    /// By address; which module it is remains to be said.
    pub(crate) entries: Vec<TrapEntry>,
    /// Are there no others?
    pub(crate) is_all: bool,
}

/// What a file was when it was looked at: its size and when it was written.
type Version = (u64, i64, i64);

/// What is known of files: every session of a campaign asks for the same ones.
static KNOWN: Mutex<BTreeMap<PathBuf, (Version, Arc<Traps>)>> = Mutex::new(BTreeMap::new());

/// The traps for a module. What comes with the compiler has none.
pub(crate) fn traps(path: &Path) -> Arc<Traps> {
    let Ok(status) = fs::metadata(path) else { return Arc::default() };
    let version = (status.len(), status.mtime(), status.mtime_nsec());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match known.get(path) {
        Some((of, traps)) if *of == version => Arc::clone(traps),
        _ => {
            let traps = Arc::new(find(path));
            known.insert(path.to_owned(), (version, Arc::clone(&traps)));
            traps
        }
    }
}

fn find(path: &Path) -> Traps {
    let all = unseen::unseen(path);
    if all.is_empty() {
        return Traps { entries: Vec::new(), is_all: true };
    }
    let debug_path = locate::debug_file(path);
    let Some(text) = Text::read_all(path, debug_path.as_deref()) else { return Traps::default() };
    let functions: Vec<&Function> = text.functions().collect();
    let mut traps = Traps { entries: Vec::new(), is_all: true };
    for Unseen { at, is_atomic } in all {
        let n_before = functions.partition_point(|it| it.start <= at);
        let around = functions[..n_before].last().filter(|it| it.contains(at));
        match around {
            Some(function) if is_compilers(&function.name) => {}
            Some(function) => match instruction(&text, function, at) {
                Some(entry) => traps.entries.push(entry),
                None => traps.is_all &= !is_atomic,
            },
            None => traps.is_all &= !is_atomic,
        }
    }
    traps
}

/// The trap for an instruction, if its function is code from beginning to end and the instruction is part of it.
fn instruction(text: &Text, function: &Function, at: u64) -> Option<TrapEntry> {
    let all = text.decode_surely(function)?;
    let found = all.iter().find(|it| it.ip() == at)?;
    entry(found, text.bytes(found))
}

fn entry(it: &Instruction, bytes: &[u8]) -> Option<TrapEntry> {
    let mut decoder = Decoder::with_ip(64, bytes, it.ip(), DecoderOptions::NONE);
    let decoded = decoder.decode();
    let at = decoder.get_constant_offsets(&decoded).displacement_offset();
    let is_local = match it.segment_prefix() {
        Register::None => false,
        Register::FS => true,
        _ => return None,
    };
    let is_distance = it.is_ip_rel_memory_operand();
    Some(TrapEntry {
        offset: it.ip(),
        displacement: it.memory_displacement64(),
        module: 0,
        length: it.len() as u8,
        distance_at: if is_distance { u8::try_from(at).ok()? } else { 0 },
        base: if is_distance { TrapEntry::NO_REGISTER } else { number(it.memory_base())? },
        index: number(it.memory_index())?,
        scale: it.memory_index_scale() as u8,
        size: u8::try_from(it.memory_size().size()).ok()?,
        is_local: u8::from(is_local),
        is_call: u8::from(it.mnemonic() == Mnemonic::Syscall),
        reserved: [0; 4],
    })
}

/// Addresses are made of whole registers, as a rule; what has others is not announced.
fn number(register: Register) -> Option<u8> {
    if register == Register::None {
        return Some(TrapEntry::NO_REGISTER);
    }
    register.is_gpr64().then(|| register.number() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Option<TrapEntry> {
        let instruction = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode();
        entry(&instruction, bytes)
    }

    #[test]
    fn where_the_memory_of_an_instruction_is() {
        let none = TrapEntry::NO_REGISTER;
        let plain = TrapEntry {
            offset: 0x1000,
            length: 4,
            base: 7,
            index: none,
            scale: 1,
            size: 4,
            ..TrapEntry::default()
        };
        // lock xadd %eax,(%rdi)
        assert_eq!(of(&[0xf0, 0x0f, 0xc1, 0x07]), Some(plain));
        // lock incq 8(%rdi,%rcx,4)
        let indexed =
            TrapEntry { length: 6, index: 1, scale: 4, size: 8, displacement: 8, ..plain };
        assert_eq!(of(&[0xf0, 0x48, 0xff, 0x44, 0x8f, 0x08]), Some(indexed));
        let displacement = 0x1000 + 7 + 0x20 + 1;
        let far =
            TrapEntry { length: 8, base: none, size: 1, displacement, distance_at: 3, ..plain };
        // lock addb $1,0x20(%rip): there is a byte behind the distance
        assert_eq!(of(&[0xf0, 0x80, 0x05, 0x20, 0, 0, 0, 0x01]), Some(far));
        // lock incl %fs:(%rdi)
        let local = TrapEntry { is_local: 1, ..plain };
        assert_eq!(of(&[0x64, 0xf0, 0xff, 0x07]), Some(local));
        // lock incl (%edi): half a register
        assert_eq!(of(&[0x67, 0xf0, 0xff, 0x07]), None);
    }
}
