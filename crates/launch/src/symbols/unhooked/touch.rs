//! What code does to memory, as far as its instructions say, one after the other.
//!
//! Which memory a register points into is followed in a straight line: joins are not looked at.

use std::ops::Range;

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    UsedMemory,
};

use super::super::unseen::{is_atomic, is_wide};

/// The most that code does to memory that others can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    /// Nothing: its stack, its thread's own variables, constants.
    Nothing,
    /// It follows pointers that are not known.
    Pointers,
    /// It reads or writes variables.
    Shared,
    /// It does so in one step.
    Atomic,
}

/// What memory is for.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) written: Vec<Range<u64>>,
    pub(super) constant: Vec<Range<u64>>,
}

/// What a register holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Held {
    #[default]
    Unknown,
    Stack,
    Constant,
    Written,
}

/// See the module.
pub(super) struct Touches<'a> {
    memory: &'a Memory,
    held: [Held; 16],
    most: Touch,
    factory: InstructionInfoFactory,
}

impl Touches<'_> {
    pub(super) fn new(memory: &Memory) -> Touches<'_> {
        let mut touches = Touches {
            memory,
            held: [Held::Unknown; 16],
            most: Touch::Nothing,
            factory: InstructionInfoFactory::new(),
        };
        touches.held[Register::RSP.number()] = Held::Stack;
        touches
    }

    pub(super) fn sum(&self) -> Touch {
        self.most
    }

    pub(super) fn see(&mut self, instruction: &Instruction) {
        if instruction.is_invalid() || instruction.mnemonic() == Mnemonic::Nop {
            return;
        }
        let is_own = self.held(instruction.memory_base()) == Held::Stack;
        if is_atomic(instruction) && !is_own && !is_wide(instruction) {
            self.most = Touch::Atomic;
        }
        let info = self.factory.info(instruction).clone();
        for used in info.used_memory() {
            self.most = self.most.max(self.touch(used));
        }
        let result = self.result(instruction);
        for used in info.used_registers() {
            let is_written = matches!(
                used.access(),
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            );
            let register = used.register().full_register();
            if is_written && register.is_gpr64() && register != Register::RSP {
                self.held[register.number()] = Held::Unknown;
            }
        }
        if let Some((register, held)) = result {
            self.held[register.number()] = held;
        }
        if matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
            let kept = [Register::RSP, Register::RBX, Register::RBP, Register::R12];
            let kept = [&kept[..], &[Register::R13, Register::R14, Register::R15]].concat();
            for number in 0..self.held.len() {
                if !kept.iter().any(|it| it.number() == number) {
                    self.held[number] = Held::Unknown;
                }
            }
        }
    }

    fn touch(&self, used: &UsedMemory) -> Touch {
        let is_used = !matches!(used.access(), OpAccess::None | OpAccess::NoMemAccess);
        if !is_used || matches!(used.segment(), Register::FS | Register::GS) {
            return Touch::Nothing;
        }
        match self.pointed_to(used.base(), used.index(), used.displacement()) {
            Held::Stack | Held::Constant => Touch::Nothing,
            Held::Written => Touch::Shared,
            Held::Unknown => Touch::Pointers,
        }
    }

    /// What an address lies in.
    fn pointed_to(&self, base: Register, index: Register, displacement: u64) -> Held {
        let is_absolute = matches!(base, Register::None | Register::RIP | Register::EIP);
        let known = [self.held(base), self.held(index)].into_iter().find(|it| *it != Held::Unknown);
        match known {
            Some(held) => held,
            None if is_absolute => self.at(displacement),
            None => Held::Unknown,
        }
    }

    fn at(&self, address: u64) -> Held {
        let is_in = |all: &[Range<u64>]| all.iter().any(|it| it.contains(&address));
        if is_in(&self.memory.constant) {
            Held::Constant
        } else if is_in(&self.memory.written) {
            Held::Written
        } else {
            Held::Unknown
        }
    }

    fn held(&self, register: Register) -> Held {
        let is_general = register.is_gpr64();
        if is_general { self.held[register.number()] } else { Held::Unknown }
    }

    /// The register that holds an address afterwards.
    fn result(&self, instruction: &Instruction) -> Option<(Register, Held)> {
        let to = instruction.op0_register();
        if instruction.op0_kind() != OpKind::Register || !to.is_gpr() || to == Register::RSP {
            return None;
        }
        let from = instruction.op1_kind();
        let held = match (instruction.mnemonic(), from) {
            (Mnemonic::Lea, _) => {
                let displacement = instruction.memory_displacement64();
                self.pointed_to(instruction.memory_base(), instruction.memory_index(), displacement)
            }
            (Mnemonic::Mov, OpKind::Register) => self.held(instruction.op1_register()),
            (Mnemonic::Mov, OpKind::Immediate32 | OpKind::Immediate64) => {
                self.at(instruction.immediate(1))
            }
            (Mnemonic::Add | Mnemonic::Sub | Mnemonic::And, OpKind::Register) => {
                let all = [self.held(to), self.held(instruction.op1_register())];
                all.into_iter().find(|it| *it != Held::Unknown).unwrap_or_default()
            }
            (
                Mnemonic::Add | Mnemonic::Sub | Mnemonic::And | Mnemonic::Shr | Mnemonic::Shl,
                OpKind::Immediate8
                | OpKind::Immediate8to64
                | OpKind::Immediate32to64
                | OpKind::Immediate8to32
                | OpKind::Immediate32,
            ) => self.held(to),
            _ => return None,
        };
        Some((to.full_register(), held))
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    #[test]
    fn what_code_touches() {
        let mut memory = Memory::default();
        memory.written.push(0x1000..0x2000);
        memory.constant.push(0x2000..0x3000);
        let check = |bytes: &[u8], expected: Touch| {
            let mut touches = Touches::new(&memory);
            Decoder::with_ip(64, bytes, 0x800, DecoderOptions::NONE)
                .iter()
                .for_each(|it| touches.see(&it));
            assert_eq!(touches.sum(), expected, "{bytes:x?}");
        };
        check(&[0x55, 0x48, 0x89, 0xe5, 0x89, 0x7d, 0xfc, 0xc3], Touch::Nothing); // push; mov %edi,-4(%rbp); ret
        check(&[0x8b, 0x07, 0xc3], Touch::Pointers); // mov (%rdi),%eax
        check(&[0x8b, 0x05, 0x00, 0x09, 0x00, 0x00], Touch::Shared); // mov 0x900(%rip),%eax
        check(&[0x8b, 0x05, 0x00, 0x19, 0x00, 0x00], Touch::Nothing); // mov 0x1900(%rip),%eax
        // lea 0x900(%rip),%rax or lea 0x1900(%rip),%rax; mov (%rax,%rdi,4),%eax
        check(&[0x48, 0x8d, 0x05, 0x00, 0x09, 0x00, 0x00, 0x8b, 0x04, 0xb8], Touch::Shared);
        check(&[0x48, 0x8d, 0x05, 0x00, 0x19, 0x00, 0x00, 0x8b, 0x04, 0xb8], Touch::Nothing);
        check(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0], Touch::Nothing); // mov %fs:0x28,%rax
        check(&[0xf0, 0x0f, 0xc1, 0x07], Touch::Atomic); // lock xadd %eax,(%rdi)
        // lea -8(%rsp),%rax; call; mov (%rax),%eax: the call may have changed it
        check(&[0x48, 0x8d, 0x44, 0x24, 0xf8, 0xe8, 0, 0, 0, 0, 0x8b, 0x00], Touch::Pointers);
    }
}
