//! What flows where while a program runs: each byte of each register, each flag and each byte of memory has the set of
//! reads that flowed into it.
//!
//! A read that a hook announces is a source, by the hook's return address, and what is loaded there is tainted by it
//! alone: whatever was written there before, by whomever, is the trace's business. What is loaded without a hook comes
//! from private memory, with the taint of its bytes and of the address. Only data flows; control does not.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    UsedMemory,
};

use crate::tracee::Registers;

pub(crate) type Taint = BTreeSet<u64>;

/// Bytes of a vector register.
const WIDTH: usize = 64;
const N_REGISTERS: usize = 48;
/// Bytes below the stack pointer that may be in use.
const BELOW: u64 = 1 << 16;

/// See the module.
pub(crate) struct Tainted {
    registers: Vec<Taint>,
    flags: [Taint; 32],
    memory: BTreeMap<u64, Taint>,
    /// By byte: the hook that announced a read of it, and the stack pointer of the function that makes it.
    announced: BTreeMap<u64, (u64, u64)>,
    /// By first byte: the hook that announced a write.
    to_write: BTreeMap<u64, u64>,
    infos: InstructionInfoFactory,
    /// Where calls return to.
    calls: Vec<u64>,
    /// Calls that were under way when something was announced.
    pub(crate) accessing: BTreeSet<u64>,
    /// Where the program's own code is.
    code: Range<u64>,
    /// What was found: by branch, by hook of an access what flowed into the address, by hook of a write what was written.
    pub(crate) branches: BTreeMap<u64, Taint>,
    pub(crate) references: BTreeMap<u64, Taint>,
    pub(crate) writes: BTreeMap<u64, Taint>,
}

/// An access that a hook announces.
pub(crate) struct Hook {
    pub(crate) place: u64,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) is_read: bool,
    pub(crate) is_write: bool,
    /// The argument that holds the address.
    pub(crate) register: Register,
}

const COPIES: [Mnemonic; 18] = [
    Mnemonic::Mov,
    Mnemonic::Movzx,
    Mnemonic::Movsx,
    Mnemonic::Movsxd,
    Mnemonic::Movaps,
    Mnemonic::Movups,
    Mnemonic::Movapd,
    Mnemonic::Movupd,
    Mnemonic::Movdqa,
    Mnemonic::Movdqu,
    Mnemonic::Movd,
    Mnemonic::Movq,
    Mnemonic::Movss,
    Mnemonic::Movsd,
    Mnemonic::Vmovdqu,
    Mnemonic::Vmovdqa,
    Mnemonic::Push,
    Mnemonic::Pop,
];

/// The first byte of a register, and how many it has.
fn place_of(register: Register) -> Option<(usize, usize)> {
    let full = register.full_register();
    let number = if full.is_gpr64() {
        full.number()
    } else if full.is_xmm() || full.is_ymm() || full.is_zmm() {
        16 + full.number()
    } else {
        return None;
    };
    let is_high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
    Some((number * WIDTH + usize::from(is_high), register.size()))
}

const fn reads(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

const fn writes(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

impl Tainted {
    pub(crate) fn new(code: Range<u64>) -> Tainted {
        Tainted {
            registers: vec![Taint::new(); N_REGISTERS * WIDTH],
            flags: Default::default(),
            memory: BTreeMap::new(),
            announced: BTreeMap::new(),
            to_write: BTreeMap::new(),
            infos: InstructionInfoFactory::new(),
            calls: Vec::new(),
            accessing: BTreeSet::new(),
            code,
            branches: BTreeMap::new(),
            references: BTreeMap::new(),
            writes: BTreeMap::new(),
        }
    }

    /// A hook is entered.
    pub(crate) fn announce(&mut self, hook: &Hook, registers: &Registers) {
        self.accessing.extend(self.calls.iter().map(|it| it.wrapping_sub(self.code.start)));
        let address = self.of_register(hook.register);
        self.references.entry(hook.place).or_default().extend(address);
        // Where the function that calls it has its stack pointer.
        let stack = registers.stack() + 8;
        // What it has announced before it has read: nothing is loaded later than that, across a call.
        self.announced.retain(|_, it| it.1 > stack);
        for byte in (hook.address..hook.address + hook.size).filter(|_| hook.is_read) {
            self.announced.insert(byte, (hook.place, stack));
        }
        if hook.is_write {
            self.to_write.insert(hook.address, hook.place);
        }
    }

    fn bytes_of(&self, register: Register) -> &[Taint] {
        let (start, size) = place_of(register).unwrap_or_default();
        &self.registers[start..start + size]
    }

    fn of_register(&self, register: Register) -> Taint {
        self.bytes_of(register).iter().flatten().copied().collect()
    }

    fn of_byte(&self, address: u64) -> Taint {
        match self.announced.get(&address) {
            Some((place, _)) => Taint::from([*place]),
            None => self.memory.get(&address).cloned().unwrap_or_default(),
        }
    }

    /// Before an instruction is executed.
    pub(crate) fn execute(&mut self, it: &Instruction, at: &Registers) {
        let info = self.infos.info(it).clone();
        let memory: Vec<(UsedMemory, u64)> = info
            .used_memory()
            .iter()
            .filter_map(|it| Some((*it, it.virtual_address(0, |register, _, _| at.of(register))?)))
            .collect();
        let of_flags: Taint =
            bits(it.rflags_read()).flat_map(|it| self.flags[it].clone()).collect();
        match it.flow_control() {
            FlowControl::ConditionalBranch => {
                return self.branch(it, of_flags);
            }
            FlowControl::IndirectBranch => {
                let registers =
                    info.used_registers().iter().map(|it| self.of_register(it.register()));
                let mut target: Taint = registers.flatten().collect();
                target.extend(memory.iter().flat_map(|it| self.of_memory(it)).flatten());
                return self.branch(it, target);
            }
            FlowControl::Return => {
                let stack = at.stack();
                self.calls.pop();
                // What is below the stack pointer is gone: whoever loads it has forgotten to write it first.
                let gone: Vec<u64> =
                    self.memory.range(stack - BELOW..stack).map(|it| *it.0).collect();
                for byte in gone {
                    self.memory.remove(&byte);
                }
                return self.announced.retain(|_, it| it.1 > stack);
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                self.calls.push(it.next_ip());
                let pushed = at.stack().wrapping_sub(8);
                return self.store(pushed, &vec![Taint::new(); 8]);
            }
            _ => {}
        }
        if it.is_string_instruction() {
            return self.copy_string(it, at);
        }
        if COPIES.contains(&it.mnemonic()) && it.op_count() <= 2 {
            return self.copy(it, &memory);
        }
        // Registers that are only part of an address do not flow into what is computed, if the access is announced.
        let is_operand = |register: Register| {
            (0..it.op_count()).any(|idx| {
                it.op_kind(idx) == OpKind::Register
                    && it.op_register(idx).full_register() == register.full_register()
            })
        };
        let is_address = |register: Register| {
            it.mnemonic() != Mnemonic::Lea
                && memory.iter().any(|(it, _)| [it.base(), it.index()].contains(&register))
        };
        let scalar = scalar(it);
        let mut all = of_flags;
        for used in info.used_registers().iter().filter(|it| reads(it.access())) {
            let register = used.register();
            let is_kept = scalar.is_some() && converts(it) && register == it.op0_register();
            if (!is_address(register) || is_operand(register)) && !is_kept {
                let bytes = self.bytes_of(register);
                all.extend(bytes.iter().take(scalar.unwrap_or(WIDTH)).flatten());
            }
        }
        for it in memory.iter().filter(|it| reads(it.0.access())) {
            all.extend(self.of_memory(it).into_iter().flatten());
        }
        for used in info.used_registers().iter().filter(|it| writes(it.access())) {
            // A push does not change the stack pointer by what is pushed.
            if used.register() != Register::RSP || it.op0_register() == Register::RSP {
                let mut bytes = self.bytes_of(used.register()).to_vec();
                let n_written = scalar.unwrap_or(WIDTH).min(bytes.len());
                bytes[..n_written].fill(all.clone());
                self.set_register(used.register(), &bytes);
            }
        }
        for (used, address) in memory.iter().filter(|it| writes(it.0.access())) {
            self.store(*address, &vec![all.clone(); used.memory_size().size()]);
        }
        let fixed = it.rflags_cleared() | it.rflags_set();
        for flag in bits(it.rflags_modified()) {
            let is_fixed = bits(fixed).any(|it| it == flag);
            self.flags[flag] = if is_fixed { Taint::new() } else { all.clone() };
        }
    }

    fn branch(&mut self, it: &Instruction, taint: Taint) {
        if self.code.contains(&it.ip()) {
            self.branches.entry(it.ip() - self.code.start).or_default().extend(taint);
        }
    }

    /// What is loaded, byte by byte; with the address, unless it is announced.
    fn of_memory(&self, (used, address): &(UsedMemory, u64)) -> Vec<Taint> {
        let size = used.memory_size().size() as u64;
        let mut bytes: Vec<Taint> = (*address..address + size).map(|it| self.of_byte(it)).collect();
        if !self.announced.contains_key(address) {
            let of_address = [used.base(), used.index()].map(|it| self.of_register(it));
            for byte in &mut bytes {
                byte.extend(of_address.iter().flatten());
            }
        }
        bytes
    }

    /// Moves bytes from one place to another.
    fn copy(&mut self, it: &Instruction, memory: &[(UsedMemory, u64)]) {
        let from = memory.iter().find(|it| reads(it.0.access()));
        let source = u32::from(it.op_count() > 1);
        let bytes = match (from, it.op_kind(source)) {
            (Some(from), _) => self.of_memory(from),
            (None, OpKind::Register) => self.bytes_of(it.op_register(source)).to_vec(),
            _ => Vec::new(),
        };
        let extended = match it.mnemonic() {
            Mnemonic::Movsx | Mnemonic::Movsxd => bytes.last().cloned().unwrap_or_default(),
            _ => Taint::new(),
        };
        let to_size = |size: usize| {
            let more = std::iter::repeat(extended.clone());
            bytes.iter().cloned().chain(more).take(size).collect::<Vec<Taint>>()
        };
        if let Some((to, address)) = memory.iter().find(|it| writes(it.0.access())) {
            self.store(*address, &to_size(to.memory_size().size()));
        } else if it.op0_kind() == OpKind::Register {
            self.set_register(it.op0_register(), &to_size(it.op0_register().size()));
        }
    }

    fn copy_string(&mut self, it: &Instruction, at: &Registers) {
        let size = it.memory_size().size() as u64;
        let [to, from] = [0, 1].map(|it| at.argument(it));
        let bytes: Vec<Taint> = match it.mnemonic() {
            Mnemonic::Stosb | Mnemonic::Stosw | Mnemonic::Stosd | Mnemonic::Stosq => {
                vec![self.of_register(Register::RAX); size as usize]
            }
            _ => (from..from + size).map(|it| self.of_byte(it)).collect(),
        };
        self.store(to, &bytes);
    }

    fn set_register(&mut self, register: Register, bytes: &[Taint]) {
        let Some((start, size)) = place_of(register) else { return };
        self.registers[start..start + size].clone_from_slice(&bytes[..size]);
        // Writing half of a general register clears the rest of it.
        if register.is_gpr32() {
            self.registers[start + 4..start + 8].fill(Taint::new());
        }
    }

    fn store(&mut self, address: u64, bytes: &[Taint]) {
        for (byte, taint) in (address..).zip(bytes) {
            self.announced.remove(&byte);
            if taint.is_empty() {
                self.memory.remove(&byte);
            } else {
                self.memory.insert(byte, taint.clone());
            }
        }
        if let Some(place) = self.to_write.remove(&address) {
            self.writes.entry(place).or_default().extend(bytes.iter().flatten());
        }
    }
}

/// Of an instruction on the lowest number in vector registers: its bytes.
fn scalar(it: &Instruction) -> Option<usize> {
    let name = format!("{:?}", it.mnemonic()).to_lowercase();
    let has_vectors = (0..it.op_count()).any(|idx| it.op_register(idx).is_vector_register());
    let is_of = |kind: &str| name.ends_with(kind) || (name.contains("cvt") && name.contains(kind));
    match () {
        () if !has_vectors => None,
        () if is_of("sd") => Some(8),
        () if is_of("ss") => Some(4),
        () => None,
    }
}

/// It makes a number of another kind, so that what was there does not matter.
fn converts(it: &Instruction) -> bool {
    matches!(
        it.mnemonic(),
        Mnemonic::Cvtsi2sd | Mnemonic::Cvtsi2ss | Mnemonic::Cvtss2sd | Mnemonic::Cvtsd2ss
    )
}

fn bits(of: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |it| of & (1 << it) != 0)
}
