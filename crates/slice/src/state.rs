//! What is in registers, flags and stack at one point of a function.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::Register;

use crate::sources::{Source, Sources};

/// General registers, then vector registers.
pub(crate) const N_REGISTERS: usize = 48;
const N_GENERAL: usize = 16;

/// The registers of arguments, in order: six general ones, eight vector ones.
pub(crate) const ARGUMENTS: [Register; 14] = [
    Register::RDI,
    Register::RSI,
    Register::RDX,
    Register::RCX,
    Register::R8,
    Register::R9,
    Register::XMM0,
    Register::XMM1,
    Register::XMM2,
    Register::XMM3,
    Register::XMM4,
    Register::XMM5,
    Register::XMM6,
    Register::XMM7,
];

/// Registers that a call leaves as they were.
const PRESERVED: [Register; 7] = [
    Register::RSP,
    Register::RBP,
    Register::RBX,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// The number of a register, for those that are followed.
pub(crate) fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    if full.is_gpr64() {
        Some(full.number())
    } else if full.is_zmm() || full.is_ymm() || full.is_xmm() {
        Some(N_GENERAL + full.number())
    } else {
        None
    }
}

/// Where a register points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointer {
    /// So far above the stack pointer at entry.
    Stack(i64),
    /// Into memory that nobody writes.
    Constant,
    /// Where the word at this address points, which is filled in once, when the program is loaded.
    Word(u64),
    /// Nowhere: it is this number.
    Number(i64),
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    registers: Vec<Sources>,
    /// By general register: where it points, if that is known.
    pointers: [Option<Pointer>; N_GENERAL],
    pub(crate) flags: Sources,
    /// By address: size and sources.
    stack: BTreeMap<i64, (i64, Sources)>,
    /// What went to the stack where nobody knows.
    anywhere: Sources,
    /// By address that somebody was given: what went there, or anywhere above, and has no entry of its own.
    outs: BTreeMap<i64, Sources>,
    /// Addresses that were kept in memory, so that whoever is called may know them.
    escaped: BTreeSet<i64>,
    /// Addresses out of which others were made that are not known: choices between two, elements of arrays.
    blurred: BTreeSet<i64>,
    /// Hooks that announced the last read, on each way here; and where on the stack, if there.
    pub(crate) last_read: Sources,
    pub(crate) read_at: Option<i64>,
    /// Return addresses of hooks that announced the last write; and where on the stack, if there.
    pub(crate) last_write: Vec<u64>,
    pub(crate) write_at: Option<i64>,
}

impl State {
    /// At the entry of a function.
    pub(crate) fn entry() -> State {
        let mut state = State {
            registers: vec![Sources::none(); N_REGISTERS],
            pointers: [None; N_GENERAL],
            flags: Sources::none(),
            stack: BTreeMap::new(),
            anywhere: Sources::none(),
            outs: BTreeMap::new(),
            escaped: BTreeSet::new(),
            blurred: BTreeSet::new(),
            last_read: Sources::none(),
            read_at: None,
            last_write: Vec::new(),
            write_at: None,
        };
        for (idx, register) in ARGUMENTS.iter().enumerate() {
            state.set(*register, Sources::one(Source::Param(idx as u8)));
        }
        state.set_pointer(Register::RSP, Some(Pointer::Stack(0)));
        state
    }

    pub(crate) fn get(&self, register: Register) -> Sources {
        number(register).map_or_else(Sources::none, |it| self.registers[it].clone())
    }

    /// A register is written; what it pointed to is not known any more.
    pub(crate) fn set(&mut self, register: Register, sources: Sources) {
        let Some(number) = number(register) else { return };
        self.registers[number] = sources;
        if number < N_GENERAL {
            self.pointers[number] = None;
        }
    }

    pub(crate) fn pointer(&self, register: Register) -> Option<Pointer> {
        let number = number(register).filter(|it| *it < N_GENERAL)?;
        self.pointers[number]
    }

    /// Where on the stack a register points, if it does.
    pub(crate) fn address(&self, register: Register) -> Option<i64> {
        match self.pointer(register) {
            Some(Pointer::Stack(address)) => Some(address),
            _ => None,
        }
    }

    /// The number in a register, if it is known.
    pub(crate) fn number(&self, register: Register) -> Option<i64> {
        match self.pointer(register) {
            Some(Pointer::Number(it)) => Some(it),
            _ => None,
        }
    }

    /// What so much of the stack holds, or all above an address.
    pub(crate) fn load_from(&self, address: i64, size: Option<i64>) -> Sources {
        let end = self.stack.last_key_value().map_or(address, |(start, it)| start + it.0);
        self.load(address, size.unwrap_or((end - address).max(1)))
    }

    pub(crate) fn set_pointer(&mut self, register: Register, pointer: Option<Pointer>) {
        if let Some(number) = number(register).filter(|it| *it < N_GENERAL) {
            self.pointers[number] = pointer;
        }
    }

    pub(crate) fn set_address(&mut self, register: Register, address: i64) {
        self.set_pointer(register, Some(Pointer::Stack(address)));
    }

    /// What a part of the stack holds.
    pub(crate) fn load(&self, address: i64, size: i64) -> Sources {
        let mut found = self.anywhere.clone();
        let mut is_known = false;
        for (start, (length, sources)) in self.stack.range(..address + size) {
            if start + length > address {
                found.add(sources);
                is_known |= *start <= address && address + size <= start + length;
            }
        }
        if !is_known {
            found.add(&self.outs_at(address + size));
        }
        // Above the entry are the caller's: arguments that had no register.
        if address > 0 && !self.stack.contains_key(&address) {
            found.add(&Sources::one(Source::Unknown));
        }
        found
    }

    /// What any part of the stack holds.
    pub(crate) fn load_anywhere(&self) -> Sources {
        let all = self.stack.values().map(|it| &it.1).chain(self.outs.values());
        all.fold(self.anywhere.clone(), |all, it| all.with(it))
    }

    /// What callees may have written below an address, where nothing was written since.
    fn outs_at(&self, end: i64) -> Sources {
        let outs = self.outs.range(..end).map(|it| it.1);
        outs.fold(Sources::none(), |all, it| all.with(it))
    }

    /// A call was given this address of the stack: it may have written there, or above.
    pub(crate) fn store_from(&mut self, address: i64, sources: &Sources) {
        for (start, (length, known)) in &mut self.stack {
            if start + *length > address {
                known.add(sources);
            }
        }
        self.outs.entry(address).or_default().add(sources);
    }

    /// An address of the stack is kept in memory.
    pub(crate) fn escape(&mut self, address: i64) {
        self.escaped.insert(address);
    }

    /// Another address was made of this one, and nobody knows which.
    pub(crate) fn blur(&mut self, address: i64) {
        self.blurred.insert(address);
    }

    /// What a pointer that is not known may point to on the stack.
    pub(crate) fn load_blurred(&self) -> Sources {
        let Some(first) = self.blurred.first() else { return Sources::none() };
        let above = self.stack.iter().filter(|(start, it)| **start + it.0 > *first);
        let all = above.map(|it| &it.1.1).chain(self.outs.values());
        all.fold(self.anywhere.clone(), |all, it| all.with(it))
    }

    /// Something goes where a pointer points that is not known.
    pub(crate) fn store_blurred(&mut self, sources: &Sources) {
        if let Some(first) = self.blurred.first().copied() {
            self.store_from(first, sources);
        }
    }

    /// Addresses of the stack that a call knows: in its arguments, and those that were kept.
    pub(crate) fn known_to_callee(&self) -> BTreeSet<i64> {
        let in_registers = ARGUMENTS[..6].iter().filter_map(|it| self.address(*it));
        in_registers.chain(self.escaped.iter().chain(&self.blurred).copied()).collect()
    }

    pub(crate) fn store(&mut self, address: i64, size: i64, sources: Sources) {
        self.stack
            .retain(|start, (length, _)| *start < address || start + *length > address + size);
        let sources = match self.stack.get(&address) {
            // A longer one stays behind it.
            Some((_, before)) => sources.with(before),
            None => sources,
        };
        let size = self.stack.get(&address).map_or(size, |it| it.0.max(size));
        self.stack.insert(address, (size, sources));
    }

    pub(crate) fn store_anywhere(&mut self, sources: &Sources) {
        self.anywhere.add(sources);
    }

    /// After a call: what it may have written holds nothing that is followed.
    pub(crate) fn clobber(&mut self) {
        let kept: Vec<usize> = PRESERVED.iter().filter_map(|it| number(*it)).collect();
        for register in (0..N_REGISTERS).filter(|it| !kept.contains(it)) {
            self.registers[register] = Sources::none();
            if register < N_GENERAL {
                self.pointers[register] = None;
            }
        }
        self.flags = Sources::none();
    }

    /// Where two ways meet; `true` if anything has changed.
    pub(crate) fn join(&mut self, other: &State) -> bool {
        let mut has_changed = false;
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            has_changed |= mine.add(theirs);
        }
        for (mine, theirs) in self.pointers.iter_mut().zip(&other.pointers) {
            if mine != theirs {
                let lost = [*mine, *theirs].into_iter().flatten();
                for it in lost {
                    if let Pointer::Stack(address) = it {
                        has_changed |= self.blurred.insert(address);
                    }
                }
                has_changed |= mine.take().is_some();
            }
        }
        for (address, (size, sources)) in &other.stack {
            let fresh = (*size, self.outs_at(address + size));
            let is_new = !self.stack.contains_key(address);
            let mine = self.stack.entry(*address).or_insert(fresh);
            mine.0 = mine.0.max(*size);
            has_changed |= mine.1.add(sources) || is_new;
        }
        let mut outs = other.outs.iter().peekable();
        let mut below = Sources::none();
        for (address, (size, sources)) in &mut self.stack {
            while let Some((_, out)) = outs.next_if(|it| *it.0 < *address + *size) {
                below.add(out);
            }
            if !other.stack.contains_key(address) {
                has_changed |= sources.add(&below);
            }
        }
        for (address, sources) in &other.outs {
            let is_new = !self.outs.contains_key(address);
            has_changed |= self.outs.entry(*address).or_default().add(sources) || is_new;
        }
        let n_known = self.escaped.len() + self.blurred.len();
        self.escaped.extend(&other.escaped);
        self.blurred.extend(&other.blurred);
        has_changed |= n_known < self.escaped.len() + self.blurred.len();
        has_changed |= self.flags.add(&other.flags);
        has_changed |= self.anywhere.add(&other.anywhere);
        has_changed |= self.last_read.add(&other.last_read);
        if self.read_at != other.read_at && self.read_at.is_some() {
            self.read_at = None;
            has_changed = true;
        }
        if self.write_at != other.write_at && self.write_at.is_some() {
            self.write_at = None;
            has_changed = true;
        }
        for write in &other.last_write {
            if !self.last_write.contains(write) {
                self.last_write.push(*write);
                has_changed = true;
            }
        }
        has_changed
    }
}
