//! What one instruction does to the sources.

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use raddle_model::flows::SinkKind;

use super::{Irregular, Pass};
use crate::{
    binary::{near_target, own_target},
    runtime,
    sources::{Source, Sources},
    state::{Pointer, State},
};

/// Where a memory operand is.
enum Place {
    /// This far from the stack pointer at entry.
    Stack(i64),
    /// Somewhere in the function's frame.
    Frame,
    /// In memory that nobody writes.
    Constant,
    /// In a global, so on no stack.
    Global,
    /// Elsewhere: a hook has announced it, or nobody.
    Elsewhere,
}

impl Pass<'_> {
    /// Interprets an instruction; `control` decides whether it runs.
    pub(super) fn step(
        &mut self,
        state: &mut State,
        idx: usize,
        control: &Sources,
    ) -> Result<(), Irregular> {
        let code = self.code;
        let it = &code.instructions[idx];
        match it.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => self.call(state, it, control),
            FlowControl::ConditionalBranch => {
                let mut sources = state.flags.clone();
                if matches!(it.mnemonic(), Mnemonic::Jrcxz | Mnemonic::Jecxz) {
                    sources.add(&state.get(Register::RCX));
                }
                if !self.checks_arithmetic() {
                    self.add_sink(it.ip(), SinkKind::Branch, &sources);
                }
            }
            FlowControl::UnconditionalBranch => {
                let start = code.start;
                let end = code.instructions.last().map_or(start, |it| it.next_ip());
                let is_inside = near_target(it).is_some_and(|it| start <= it && it < end);
                if !is_inside {
                    // A call in place of a return.
                    self.call(state, it, control);
                    self.leave(state);
                }
            }
            FlowControl::IndirectBranch if !self.blocks.successors(self.block).is_empty() => {
                let mut sources = state.get(it.memory_base()).with(&state.get(it.memory_index()));
                if it.op0_kind() == OpKind::Register {
                    sources.add(&state.get(it.op0_register()));
                }
                self.add_sink(it.ip(), SinkKind::Branch, &sources);
            }
            FlowControl::IndirectBranch => {
                self.call(state, it, control);
                self.leave(state);
            }
            FlowControl::Return => self.leave(state),
            _ => self.plain(state, it, control)?,
        }
        Ok(())
    }

    fn leave(&mut self, state: &State) {
        for register in [Register::RAX, Register::RDX, Register::XMM0] {
            let sources = state.get(register);
            self.raw.returns.entry(self.block).or_default().add(&sources);
        }
    }

    fn plain(
        &mut self,
        state: &mut State,
        it: &Instruction,
        control: &Sources,
    ) -> Result<(), Irregular> {
        self.note_pointers(it);
        match it.mnemonic() {
            Mnemonic::Nop | Mnemonic::Endbr64 => return Ok(()),
            Mnemonic::Push => return self.push(state, it, control),
            Mnemonic::Pop => return self.pop(state, it),
            Mnemonic::Leave => {
                let frame = state.address(Register::RBP).ok_or(Irregular)?;
                let sources = state.load(frame, 8);
                state.set_address(Register::RSP, frame + 8);
                state.set(Register::RBP, sources);
                return Ok(());
            }
            _ => {}
        }
        let pointer = self.new_pointer(state, it)?;
        let blurred = match pointer {
            Some((_, None)) => addresses_in(state, it),
            _ => Vec::new(),
        };
        let sources = self.inputs(state, it).with(control);
        self.outputs(state, it, &sources);
        if let Some((register, pointer)) = pointer {
            state.set_pointer(register, pointer);
        }
        for address in blurred {
            state.blur(address);
        }
        if it.rflags_modified() != 0 {
            state.flags = sources;
        }
        Ok(())
    }

    /// A function whose address is taken may be called by anybody.
    fn note_pointers(&mut self, it: &Instruction) {
        let address = match it.mnemonic() {
            Mnemonic::Lea if it.memory_base() == Register::RIP => it.ip_rel_memory_address(),
            Mnemonic::Mov if it.op1_kind() == OpKind::Immediate32 => u64::from(it.immediate32()),
            _ => return,
        };
        if self.binary.functions.contains_key(&address) {
            self.raw.summary.pointed_to.insert(address);
        }
    }

    fn push(
        &mut self,
        state: &mut State,
        it: &Instruction,
        control: &Sources,
    ) -> Result<(), Irregular> {
        let sources = self.inputs(state, it).with(control);
        let top = state.address(Register::RSP).ok_or(Irregular)? - 8;
        state.set_address(Register::RSP, top);
        state.store(top, 8, sources);
        Ok(())
    }

    fn pop(&mut self, state: &mut State, it: &Instruction) -> Result<(), Irregular> {
        let top = state.address(Register::RSP).ok_or(Irregular)?;
        let sources = state.load(top, 8);
        state.set(it.op0_register(), sources);
        state.set_address(Register::RSP, top + 8);
        Ok(())
    }

    /// Where a register points that an instruction writes.
    fn new_pointer(
        &self,
        state: &State,
        it: &Instruction,
    ) -> Result<Option<(Register, Option<Pointer>)>, Irregular> {
        if it.op_count() == 0 || it.op0_kind() != OpKind::Register {
            return Ok(None);
        }
        let target = it.op0_register();
        let is_stack_pointer = target == Register::RSP;
        let pointer = match it.mnemonic() {
            Mnemonic::Mov if it.op1_kind() == OpKind::Register => state.pointer(it.op1_register()),
            Mnemonic::Mov if is_immediate(it) => Some(Pointer::Number(it.immediate(1) as i64)),
            Mnemonic::Mov if it.memory_base() == Register::RIP => {
                let word = it.ip_rel_memory_address();
                let is_function = self.binary.words.contains_key(&word)
                    || self.binary.imports.contains_key(&word);
                is_function.then_some(Pointer::Word(word))
            }
            Mnemonic::Lea => match self.place(state, it) {
                Place::Stack(address) => Some(Pointer::Stack(address)),
                Place::Constant => Some(Pointer::Constant),
                _ => None,
            },
            Mnemonic::Add | Mnemonic::Sub => {
                let amount = is_immediate(it).then(|| it.immediate(1) as i64);
                let sign = if it.mnemonic() == Mnemonic::Add { 1 } else { -1 };
                match (state.pointer(target), amount) {
                    (Some(Pointer::Stack(address)), Some(amount)) => {
                        Some(Pointer::Stack(address + sign * amount))
                    }
                    (Some(Pointer::Constant), _) => Some(Pointer::Constant),
                    _ if it.op1_kind() == OpKind::Register => {
                        state.pointer(it.op1_register()).filter(|it| *it == Pointer::Constant)
                    }
                    _ => None,
                }
            }
            // Aligns the stack: what is below it does not matter.
            Mnemonic::And if is_stack_pointer => state.pointer(target),
            Mnemonic::Cmp | Mnemonic::Test => return Ok(None),
            _ => None,
        };
        if is_stack_pointer && pointer.is_none() {
            return Err(Irregular);
        }
        Ok(Some((target, pointer)))
    }

    /// All that flows into an instruction.
    fn inputs(&mut self, state: &State, it: &Instruction) -> Sources {
        let mut sources = Sources::none();
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(it);
        if is_zeroing(it) {
            return sources;
        }
        let mut explicit = Vec::new();
        for operand in 0..it.op_count() {
            match it.op_kind(operand) {
                OpKind::Register => {
                    let register = it.op_register(operand);
                    explicit.push(register.full_register());
                    if is_read(info.op_access(operand)) || is_partial(it, register) {
                        sources.add(&state.get(register));
                    }
                }
                OpKind::Memory if it.mnemonic() == Mnemonic::Lea => {
                    explicit.extend([it.memory_base(), it.memory_index()]);
                    sources.add(&state.get(it.memory_base()));
                    sources.add(&state.get(it.memory_index()));
                }
                OpKind::Memory => {
                    explicit.extend([it.memory_base(), it.memory_index()]);
                    if is_read(info.op_access(operand)) {
                        sources.add(&self.load(state, it));
                    }
                }
                _ => {}
            }
        }
        for used in info.used_registers() {
            let is_implied =
                !explicit.iter().any(|it| it.full_register() == used.register().full_register());
            if is_implied && is_read(used.access()) {
                sources.add(&state.get(used.register()));
            }
        }
        if it.rflags_read() != 0 {
            sources.add(&state.flags);
        }
        if info.used_memory().len() > 1 {
            // String instructions: from anywhere to anywhere.
            sources.add(&Sources::one(Source::Unknown));
        }
        sources
    }

    fn load(&self, state: &State, it: &Instruction) -> Sources {
        let size = it.memory_size().size().max(1) as i64;
        match self.place(state, it) {
            Place::Stack(address) => match state.read_at {
                // A hook has announced it: others may have written it.
                Some(at) if at < address + size && address < at + 16 => state.last_read.clone(),
                _ => state.load(address, size),
            },
            // Perhaps a hook has announced it.
            Place::Frame => {
                state.load_anywhere().with(&state.last_read).with(&state.get(it.memory_index()))
            }
            // Either of them may be the table.
            Place::Constant => state.get(it.memory_base()).with(&state.get(it.memory_index())),
            Place::Global | Place::Elsewhere if state.last_read.is_empty() => Pass::unknown(),
            Place::Global => state.last_read.clone(),
            Place::Elsewhere => state.last_read.clone().with(&state.load_blurred()),
        }
    }

    fn outputs(&mut self, state: &mut State, it: &Instruction, sources: &Sources) {
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(it);
        for used in info.used_registers() {
            match used.access() {
                OpAccess::Write | OpAccess::ReadWrite => {
                    state.set(used.register(), sources.clone());
                }
                OpAccess::CondWrite | OpAccess::ReadCondWrite => {
                    let both = state.get(used.register()).with(sources);
                    state.set(used.register(), both);
                }
                _ => {}
            }
        }
        for operand in 0..it.op_count() {
            let is_memory = it.op_kind(operand) == OpKind::Memory;
            if is_memory && is_written(info.op_access(operand)) {
                self.store(state, it, sources);
                let kept = (it.op_count() > 1 && it.op1_kind() == OpKind::Register)
                    .then(|| state.address(it.op1_register()));
                if let Some(address) = kept.flatten() {
                    state.escape(address);
                }
            }
        }
    }

    fn store(&mut self, state: &mut State, it: &Instruction, sources: &Sources) {
        let size = it.memory_size().size().max(1) as i64;
        match self.place(state, it) {
            Place::Stack(address) => {
                state.store(address, size, sources.clone());
                if state.write_at.is_some_and(|at| at < address + size && address < at + 16) {
                    self.announced(state, sources);
                }
            }
            Place::Frame => {
                state.store_anywhere(sources);
                self.announced(state, sources);
            }
            Place::Constant => {}
            place @ (Place::Global | Place::Elsewhere) => {
                self.raw.summary.stores.add(sources);
                if matches!(place, Place::Elsewhere) {
                    state.store_blurred(sources);
                }
                if state.write_at.is_none() {
                    self.announced(state, sources);
                }
            }
        }
    }

    /// A value goes where the last hooks said that something is written.
    fn announced(&mut self, state: &State, sources: &Sources) {
        for place in &state.last_write {
            self.add_write(*place, sources);
        }
    }

    /// Does the branch at the end of this block lead straight to one of Rust's panics for overflows? Every `n += 1`
    /// has one, whose outcome is always the same but for a failure of its own.
    fn checks_arithmetic(&self) -> bool {
        let panics = |mut block: usize| {
            // Several may share the call.
            while let [next] = self.blocks.successors(block)
                && *next > block
            {
                block = *next;
            }
            let last = &self.code.instructions[self.blocks.last(block)];
            let target = own_target(last, self.binary);
            let name = target.and_then(|it| self.binary.functions.get(&it)).map(|it| &it.name);
            name.is_some_and(|it| runtime::is_overflow(it))
        };
        self.blocks.successors(self.block).iter().any(|it| panics(*it))
    }

    fn place(&self, state: &State, it: &Instruction) -> Place {
        let base = it.memory_base();
        if base == Register::RIP {
            let is_constant = self.binary.is_read_only(it.ip_rel_memory_address());
            return if is_constant { Place::Constant } else { Place::Global };
        }
        let index = it.memory_index();
        if state.pointer(index) == Some(Pointer::Constant) {
            return Place::Constant;
        }
        match (state.pointer(base), index) {
            (Some(Pointer::Constant), _) => Place::Constant,
            (Some(Pointer::Stack(address)), Register::None) => {
                Place::Stack(address + it.memory_displacement64() as i64)
            }
            (Some(Pointer::Stack(_)), _) => Place::Frame,
            // The canary.
            (None, _) if it.memory_segment() == Register::FS => Place::Constant,
            _ => Place::Elsewhere,
        }
    }
}

/// Addresses of the stack that an instruction makes another value of.
fn addresses_in(state: &State, it: &Instruction) -> Vec<i64> {
    let operands = (0..it.op_count()).filter(|operand| it.op_kind(*operand) == OpKind::Register);
    let registers = operands.map(|operand| it.op_register(operand));
    let is_lea = it.mnemonic() == Mnemonic::Lea;
    let parts = [it.memory_base(), it.memory_index()].into_iter().filter(|_| is_lea);
    // What is overwritten does not count, unless it goes into the result.
    let is_read_too = !matches!(it.mnemonic(), Mnemonic::Mov | Mnemonic::Lea | Mnemonic::Movzx);
    let skipped = usize::from(!is_read_too);
    let all = registers.skip(skipped).chain(parts).filter(|it| *it != Register::None);
    all.filter_map(|it| state.address(it)).collect()
}

const fn is_read(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

const fn is_written(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

/// One and two bytes leave the rest of a register as it was.
fn is_partial(it: &Instruction, register: Register) -> bool {
    register.size() < 4
        && it.op0_kind() == OpKind::Register
        && it.op0_register() == register
        && !matches!(it.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
}

fn is_zeroing(it: &Instruction) -> bool {
    let is_same = it.op_count() >= 2
        && it.op0_kind() == OpKind::Register
        && it.op1_kind() == OpKind::Register
        && it.op0_register() == it.op1_register();
    is_same
        && matches!(
            it.mnemonic(),
            Mnemonic::Xor | Mnemonic::Sub | Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Xorpd
        )
}

fn is_immediate(it: &Instruction) -> bool {
    it.try_immediate(1).is_ok()
}
