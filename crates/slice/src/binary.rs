//! What is in the file: functions, names behind calls, memory that nobody writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget, SectionFlags,
    SectionKind, SymbolKind, elf,
};

/// Does a function announce what it does?
pub(crate) fn has_hooks(code: &Code, binary: &Binary) -> bool {
    let mut names = code.instructions.iter().filter_map(|it| called(it, binary));
    names.any(|it| it.starts_with("__tsan_"))
}

/// Why a program can't be looked through.
#[derive(Debug, thiserror::Error)]
pub enum SliceError {
    /// It can't be read.
    #[error("can't read `{}`: {error}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is no program for this machine.
    #[error("can't analyse `{}`: {error}", path.display())]
    Parse {
        /// Which.
        path: PathBuf,
        /// Why.
        error: object::Error,
    },
}

/// A function's code.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) instructions: Vec<Instruction>,
}

fn is_within(ranges: &[(u64, u64)], address: u64) -> bool {
    ranges.iter().any(|(start, end)| *start <= address && address < *end)
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Binary {
    /// By address.
    pub(crate) functions: BTreeMap<u64, Code>,
    /// By address of a stub, or of the word that a call goes through: the name of what is called.
    pub(crate) imports: BTreeMap<u64, String>,
    /// By address of a word that nobody writes once the program is loaded: the function whose address it holds.
    pub(crate) words: BTreeMap<u64, u64>,
    /// Functions without hooks that never return, Rust's panics as a rule: whoever calls one is at an end.
    pub(crate) endless: BTreeSet<u64>,
    /// Functions whose address is somewhere in the data.
    pub(crate) pointed_to: BTreeSet<u64>,
    /// Memory that nobody writes: start and end.
    read_only: Vec<(u64, u64)>,
    /// What is in it, as far as the file says: start and bytes.
    constants: Vec<(u64, Vec<u8>)>,
}

impl Binary {
    pub(crate) fn read(path: &Path) -> Result<Binary, SliceError> {
        let bytes =
            fs::read(path).map_err(|error| SliceError::Read { path: path.to_owned(), error })?;
        let file = object::File::parse(&bytes[..])
            .map_err(|error| SliceError::Parse { path: path.to_owned(), error })?;
        let mut binary = Binary::default();
        binary.read_functions(&file);
        binary.read_relocations(&file);
        binary.read_stubs(&file);
        for section in file.sections() {
            // What is not loaded, debug information above all, is at address 0 and means nothing.
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            if sh_flags.0 & elf::SHF_ALLOC.0 == 0 {
                continue;
            }
            let is_written = sh_flags.0 & elf::SHF_WRITE.0 != 0;
            let is_bound = matches!(section.name(), Ok(".got" | ".got.plt" | ".data.rel.ro"));
            if !is_written || is_bound {
                let start = section.address();
                binary.read_only.push((start, start + section.size()));
                let is_data = matches!(
                    section.kind(),
                    SectionKind::ReadOnlyData | SectionKind::ReadOnlyString
                );
                if is_data {
                    let bytes = section.data().unwrap_or_default();
                    binary.constants.push((start, bytes.to_vec()));
                }
            }
        }
        let Binary { words, read_only, .. } = &mut binary;
        words.retain(|it, _| is_within(read_only, *it));
        binary.find_endless();
        Ok(binary)
    }

    /// Is it memory that nobody writes?
    pub(crate) fn is_read_only(&self, address: u64) -> bool {
        is_within(&self.read_only, address)
    }

    /// The code that a table of jumps may lead to, if it is one: distances from its start, the first of them
    /// into the function. It ends where one leads elsewhere.
    pub(crate) fn jumps(&self, table: u64, function: &std::ops::Range<u64>) -> Vec<u64> {
        let holds = |it: &&(u64, Vec<u8>)| it.0 <= table && table < it.0 + it.1.len() as u64;
        let Some((start, bytes)) = self.constants.iter().find(holds) else { return Vec::new() };
        let entries = bytes[(table - start) as usize..].as_chunks::<4>().0.iter();
        let targets =
            entries.map(|it| table.wrapping_add_signed(i64::from(i32::from_le_bytes(*it))));
        targets.take_while(|it| function.contains(it)).collect()
    }

    fn find_endless(&mut self) {
        let returns = |code: &Code| {
            let end = code.instructions.last().map_or(code.start, Instruction::next_ip);
            let is_inside = |it: u64| code.start <= it && it < end;
            code.instructions.iter().any(|it| match it.flow_control() {
                FlowControl::Return | FlowControl::IndirectBranch => true,
                FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
                    near_target(it).is_none_or(|it| !is_inside(it))
                }
                _ => false,
            })
        };
        let endless = self.functions.iter().filter(|it| !returns(it.1) && !has_hooks(it.1, self));
        self.endless = endless.map(|it| *it.0).collect();
    }

    fn read_functions(&mut self, file: &object::File<'_>) {
        for symbol in file.symbols().filter(|it| it.kind() == SymbolKind::Text && it.size() > 0) {
            let section = symbol.section_index().and_then(|it| file.section_by_index(it).ok());
            let Some(section) = section else { continue };
            let Ok(Some(bytes)) = section.data_range(symbol.address(), symbol.size()) else {
                continue;
            };
            let options = DecoderOptions::NONE;
            let mut decoder = Decoder::with_ip(64, bytes, symbol.address(), options);
            let code = Code {
                name: symbol.name().unwrap_or_default().to_owned(),
                start: symbol.address(),
                instructions: decoder.iter().collect(),
            };
            self.functions.entry(symbol.address()).or_insert(code);
        }
    }

    fn read_relocations(&mut self, file: &object::File<'_>) {
        let names = file.dynamic_symbol_table();
        for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
            match relocation.target() {
                RelocationTarget::Symbol(idx) => {
                    use object::ObjectSymbolTable as _;
                    let symbol = names.as_ref().and_then(|it| it.symbol_by_index(idx).ok());
                    if let Some(name) = symbol.and_then(|it| it.name().ok().map(str::to_owned)) {
                        self.imports.insert(address, name);
                    }
                }
                _ => {
                    let target = relocation.addend() as u64;
                    if self.functions.contains_key(&target) {
                        self.words.insert(address, target);
                        self.pointed_to.insert(target);
                    }
                }
            }
        }
    }

    /// Stubs of the procedure linkage table: each jumps through a word that is relocated.
    fn read_stubs(&mut self, file: &object::File<'_>) {
        for section in file.sections() {
            let is_stubs = section.name().is_ok_and(|it| it.starts_with(".plt"));
            let (true, Ok(bytes)) = (is_stubs, section.data()) else { continue };
            let mut decoder = Decoder::with_ip(64, bytes, section.address(), DecoderOptions::NONE);
            let all: Vec<Instruction> = decoder.iter().collect();
            for (idx, instruction) in all.iter().enumerate() {
                if instruction.mnemonic() != Mnemonic::Jmp
                    || instruction.op0_kind() != OpKind::Memory
                    || instruction.memory_base() != Register::RIP
                {
                    continue;
                }
                let Some(name) = self.imports.get(&instruction.ip_rel_memory_address()) else {
                    continue;
                };
                let name = name.clone();
                let mark = idx.checked_sub(1).map(|it| all[it]);
                let mark = mark.filter(|it| it.mnemonic() == Mnemonic::Endbr64);
                self.imports.insert(instruction.ip(), name.clone());
                if let Some(mark) = mark {
                    self.imports.insert(mark.ip(), name);
                }
            }
        }
    }
}

/// The target of a direct jump or call.
pub(crate) fn near_target(instruction: &Instruction) -> Option<u64> {
    let is_near = matches!(
        instruction.op0_kind(),
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
    );
    is_near.then(|| instruction.near_branch_target())
}

/// The program's own function that is called or jumped to, if it is known which: also through a word that is
/// filled in once, when the program is loaded.
pub(crate) fn own_target(instruction: &Instruction, binary: &Binary) -> Option<u64> {
    let through = || binary.words.get(&word(instruction)?).copied();
    near_target(instruction).or_else(through)
}

/// The word that a call or jump goes through.
fn word(instruction: &Instruction) -> Option<u64> {
    let is_word =
        instruction.op0_kind() == OpKind::Memory && instruction.memory_base() == Register::RIP;
    is_word.then(|| instruction.ip_rel_memory_address())
}

/// The name of what is called or jumped to, if it is not the program's own.
pub(crate) fn called<'a>(instruction: &Instruction, binary: &'a Binary) -> Option<&'a str> {
    let at = near_target(instruction).or_else(|| word(instruction))?;
    binary.imports.get(&at).map(String::as_str)
}
