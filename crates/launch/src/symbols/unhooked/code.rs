//! The functions of a module, and the names behind its calls.

use std::{collections::BTreeMap, fs, ops::Range, path::Path};

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection as _};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::{
    Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, ObjectSymbolTable as _,
    RelocationTarget, SectionFlags, SectionKind, SymbolKind, elf, read::elf::ElfFile64,
};

use super::touch::{Memory, Touch, Touches};

/// From a symbol to the end of its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Function {
    pub(super) name: String,
    pub(super) start: u64,
    end: u64,
    /// Does its symbol say where it ends?
    pub(super) has_size: bool,
    /// The source file, if the function is not seen outside of it.
    pub(super) file: Option<String>,
}

impl Function {
    pub(super) fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// Code of a module.
#[derive(Debug, Default)]
pub(in super::super) struct Text {
    functions: BTreeMap<u64, Function>,
    sections: Vec<(u64, Vec<u8>)>,
    memory: Memory,
    /// Words that the loader fills with the address of a hook, and stubs that jump there: which hook.
    hooks: BTreeMap<u64, String>,
}

impl Text {
    /// `debug`: another file with the module's symbols, if it was stripped of them.
    pub(super) fn read(path: &Path, debug: Option<&Path>) -> Option<Text> {
        let bytes = fs::read(path).ok()?;
        let file = ElfFile64::<Endianness>::parse(&*bytes).ok()?;
        let mut text = Text::default();
        let mut code: Vec<Range<u64>> = Vec::new();
        for section in file.sections() {
            let name = section.name().unwrap_or_default();
            let range = section.address()..section.address() + section.size();
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            if sh_flags.0 & elf::SHF_ALLOC.0 == 0 {
                continue;
            }
            // What is written once, by the loader, stays as it is.
            let is_bound = [".got", ".got.plt", ".data.rel.ro", ".dynamic"].contains(&name)
                || name.ends_with("_array");
            if sh_flags.0 & elf::SHF_WRITE.0 != 0 && !is_bound {
                text.memory.written.push(range.clone());
            } else {
                text.memory.constant.push(range.clone());
            }
            let is_glue = name.starts_with(".plt") || [".init", ".fini"].contains(&name);
            if section.kind() == SectionKind::Text && !is_glue {
                text.sections.push((section.address(), section.data().ok()?.to_vec()));
                code.push(range);
            }
        }
        text.read_hooks(&file);
        text.read_functions(&file, &code);
        if let Some(bytes) = debug.filter(|it| *it != path).and_then(|it| fs::read(it).ok())
            && let Ok(other) = ElfFile64::<Endianness>::parse(&*bytes)
        {
            text.read_functions(&other, &code);
        }
        text.find_ends(&code);
        Some(text)
    }

    /// The same, with functions that have no symbol but can be unwound; their names are empty.
    pub(in super::super) fn read_all(path: &Path, debug: Option<&Path>) -> Option<Text> {
        let mut text = Text::read(path, debug)?;
        for Range { start, end } in unwindable(path).unwrap_or_default() {
            let before = text.functions.range(..=start).next_back();
            let is_known = before.is_some_and(|it| it.1.contains(start));
            let is_code = |it: &(u64, Vec<u8>)| it.0 <= start && end <= it.0 + it.1.len() as u64;
            if !is_known && text.sections.iter().any(is_code) {
                let (name, file) = (String::new(), None);
                text.functions.insert(start, Function { name, start, end, has_size: true, file });
            }
        }
        Some(text)
    }

    pub(in super::super) fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.values()
    }

    /// Does a function call hooks, and what does it do to memory?
    pub(super) fn look(&self, function: &Function) -> (bool, Touch) {
        let mut touches = Touches::new(&self.memory);
        let mut has_hooks = false;
        for instruction in self.decode(function) {
            has_hooks |= self.is_hook(&instruction);
            touches.see(&instruction);
        }
        (has_hooks, touches.sum())
    }

    pub(super) fn decode(&self, function: &Function) -> impl Iterator<Item = Instruction> {
        let has = |it: &&(u64, Vec<u8>)| {
            it.0 <= function.start && function.end <= it.0 + it.1.len() as u64
        };
        let bytes = self.sections.iter().find(has).map_or(&[][..], |(start, bytes)| {
            &bytes[(function.start - start) as usize..(function.end - start) as usize]
        });
        Decoder::with_ip(64, bytes, function.start, DecoderOptions::NONE).into_iter()
    }

    /// All instructions of a function, if there is no doubt that they are: it decodes from its beginning to its end.
    pub(in super::super) fn decode_surely(&self, function: &Function) -> Option<Vec<Instruction>> {
        let all: Vec<Instruction> = self.decode(function).collect();
        let is_padding =
            |it: &&Instruction| matches!(it.mnemonic(), Mnemonic::Nop | Mnemonic::Int3);
        let last = all.iter().rev().find(|it| !is_padding(it))?;
        let is_code = all.iter().all(|it| !it.is_invalid())
            && (function.has_size || last.flow_control() != FlowControl::Next);
        is_code.then_some(all)
    }

    /// The bytes of an instruction that was decoded.
    pub(in super::super) fn bytes(&self, instruction: &Instruction) -> &[u8] {
        let has = |it: &&(u64, Vec<u8>)| {
            it.0 <= instruction.ip() && instruction.next_ip() <= it.0 + it.1.len() as u64
        };
        self.sections.iter().find(has).map_or(&[][..], |(start, bytes)| {
            &bytes[(instruction.ip() - start) as usize..][..instruction.len()]
        })
    }

    /// Does it call a hook, or take its address from where the loader has put it?
    fn is_hook(&self, instruction: &Instruction) -> bool {
        self.hook(instruction).is_some()
    }

    /// Which hook does it call, or take the address of?
    pub(in super::super) fn hook(&self, instruction: &Instruction) -> Option<&str> {
        let is_branch = !matches!(
            instruction.flow_control(),
            FlowControl::Next | FlowControl::Return | FlowControl::Interrupt
        );
        let is_near = is_branch && instruction.op0_kind() == OpKind::NearBranch64;
        let target = is_near.then(|| instruction.near_branch_target());
        let word = || {
            let is_word = instruction.is_ip_rel_memory_operand();
            is_word.then(|| instruction.ip_rel_memory_address())
        };
        let hook = |address: u64| self.hooks.get(&address).map(String::as_str);
        target.and_then(hook).or_else(|| word().and_then(hook))
    }

    fn read_hooks(&mut self, file: &ElfFile64<'_, Endianness>) {
        let names = file.dynamic_symbol_table();
        for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let RelocationTarget::Symbol(idx) = relocation.target() else { continue };
            let symbol = names.as_ref().and_then(|it| it.symbol_by_index(idx).ok());
            let name = symbol.and_then(|it| it.name().ok().map(str::to_owned));
            if let Some(name) = name.filter(|it| it.starts_with("__tsan_")) {
                self.hooks.insert(address, name);
            }
        }
        for section in file.sections() {
            let is_stubs = section.name().is_ok_and(|it| it.starts_with(".plt"));
            let (true, Ok(bytes)) = (is_stubs, section.data()) else { continue };
            let mut before = None;
            for stub in Decoder::with_ip(64, bytes, section.address(), DecoderOptions::NONE) {
                let mark = before.replace(stub);
                let is_jump =
                    stub.mnemonic() == Mnemonic::Jmp && stub.memory_base() == Register::RIP;
                let hook = self.hooks.get(&stub.ip_rel_memory_address()).filter(|_| is_jump);
                if let Some(hook) = hook.cloned() {
                    let mark = mark.filter(|it| it.mnemonic() == Mnemonic::Endbr64);
                    self.hooks.extend(mark.map(|it| (it.ip(), hook.clone())));
                    self.hooks.insert(stub.ip(), hook);
                }
            }
        }
    }

    /// Functions in assembly may have neither a type nor a size.
    fn read_functions(&mut self, file: &ElfFile64<'_, Endianness>, code: &[Range<u64>]) {
        let mut source: Option<String> = None;
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name() else { continue };
            if symbol.kind() == SymbolKind::File {
                source = (!name.is_empty()).then(|| name.to_owned());
                continue;
            }
            let is_code = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown)
                && symbol.is_definition()
                && code.iter().any(|it| it.contains(&symbol.address()));
            if !is_code || name.is_empty() {
                continue;
            }
            let start = symbol.address();
            let file = source.clone().filter(|_| symbol.is_local());
            let end = start + symbol.size();
            let has_size = end > start;
            let new = Function { name: name.to_owned(), start, end, has_size, file };
            let old = self.functions.entry(start).or_insert_with(|| new.clone());
            if old.end < new.end || old.file.is_none() && new.file.is_some() {
                let has_size = old.has_size || new.has_size;
                *old = Function { end: old.end.max(new.end), has_size, ..new };
            }
        }
    }

    /// What has no size ends where the next function begins.
    fn find_ends(&mut self, code: &[Range<u64>]) {
        let starts: Vec<u64> = self.functions.keys().copied().collect();
        for (idx, start) in starts.iter().enumerate() {
            let Some(section) = code.iter().find(|it| it.contains(start)) else { continue };
            let next = starts.get(idx + 1).copied().unwrap_or(u64::MAX).min(section.end);
            let function = self.functions.get_mut(start).expect("bug: a function was there");
            let end = if function.end == *start { next } else { function.end };
            function.end = end.min(section.end);
        }
    }
}

/// Where the functions of a module are for which it says how their frames are left. A stripped one says that, too.
fn unwindable(path: &Path) -> Option<Vec<Range<u64>>> {
    let bytes = fs::read(path).ok()?;
    let file = ElfFile64::<Endianness>::parse(&*bytes).ok()?;
    let section = file.section_by_name(".eh_frame")?;
    let frames = EhFrame::new(section.data().ok()?, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let mut entries = frames.entries(&bases);
    let mut found = Vec::new();
    while let Some(entry) = entries.next().ok()? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let whole = partial.parse(|_, bases, at| frames.cie_from_offset(bases, at)).ok()?;
        found.push(whole.initial_address()..whole.end_address());
    }
    Some(found)
}
