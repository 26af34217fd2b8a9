//! A program that is executed one instruction at a time, by the processor itself.

use std::{
    collections::BTreeMap,
    fs::File,
    ops::Range,
    os::unix::fs::FileExt as _,
    path::Path,
    process::{Child, Command, Stdio},
};

use iced_x86::{Decoder, DecoderOptions, Instruction, Register};
use nix::{
    sys::{
        ptrace,
        wait::{WaitStatus, waitpid},
    },
    unistd::Pid,
};
use object::{Object as _, ObjectSymbol as _, SymbolKind};

/// See the module. The program asks to be traced and stops, then it goes on step by step.
pub(crate) struct Tracee {
    child: Child,
    memory: File,
    maps: String,
    decoded: BTreeMap<u64, Instruction>,
}

/// What is in the general registers.
pub(crate) struct Registers {
    values: [u64; 16],
    pub(crate) ip: u64,
}

impl Registers {
    /// The value of a register that addresses are made of.
    pub(crate) fn of(&self, register: Register) -> Option<u64> {
        match register {
            Register::None | Register::DS | Register::ES | Register::SS | Register::CS => Some(0),
            // Such addresses have it in them already.
            Register::RIP | Register::EIP => Some(0),
            _ if register.is_gpr64() => Some(self.values[register.number()]),
            _ if register.is_gpr32() => {
                Some(self.values[register.full_register().number()] & 0xffff_ffff)
            }
            _ => None,
        }
    }

    pub(crate) fn stack(&self) -> u64 {
        self.values[Register::RSP.number()]
    }

    /// Of the function that begins here.
    pub(crate) fn argument(&self, idx: usize) -> u64 {
        let register = [Register::RDI, Register::RSI, Register::RDX][idx];
        self.values[register.number()]
    }
}

impl Tracee {
    pub(crate) fn start(program: &Path) -> Tracee {
        let child =
            Command::new(program).stdout(Stdio::null()).spawn().expect("the program starts");
        let pid = Pid::from_raw(child.id() as i32);
        let status = waitpid(pid, None).expect("it is a child");
        assert!(matches!(status, WaitStatus::Stopped(..)), "it stops itself: {status:?}");
        let of = |name: &str| format!("/proc/{pid}/{name}");
        let maps = std::fs::read_to_string(of("maps")).expect("it can be read");
        let memory = File::open(of("mem")).expect("it can be opened");
        Tracee { child, memory, maps, decoded: BTreeMap::new() }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Where a file is loaded.
    pub(crate) fn range(&self, file: &Path) -> Range<u64> {
        let name = file.to_str().expect("it is text");
        let lines: Vec<&str> = self.maps.lines().filter(|it| it.ends_with(name)).collect();
        let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
        let of = |line: &str| {
            let (start, rest) = line.split_once('-').expect("a range");
            number(start)..number(rest.split(' ').next().expect("an end"))
        };
        of(lines[0]).start..of(lines[lines.len() - 1]).end
    }

    /// Functions of a file that is loaded, by address.
    pub(crate) fn functions(&self, file: &Path) -> BTreeMap<u64, String> {
        let base = self.range(file).start;
        let bytes = std::fs::read(file).expect("it can be read");
        let object = object::File::parse(&bytes[..]).expect("it is a program");
        let symbols = object.symbols().chain(object.dynamic_symbols());
        let functions = symbols.filter(|it| it.kind() == SymbolKind::Text && it.size() > 0);
        let named = functions.map(|it| (base + it.address(), it.name().unwrap_or("").to_owned()));
        named.collect()
    }

    pub(crate) fn registers(&self) -> Registers {
        let all = ptrace::getregs(self.pid()).expect("it is stopped");
        let values = [
            all.rax, all.rcx, all.rdx, all.rbx, all.rsp, all.rbp, all.rsi, all.rdi, all.r8, all.r9,
            all.r10, all.r11, all.r12, all.r13, all.r14, all.r15,
        ];
        Registers { values, ip: all.rip }
    }

    pub(crate) fn word(&self, address: u64) -> u64 {
        let mut bytes = [0; 8];
        self.memory.read_exact_at(&mut bytes, address).expect("it is mapped");
        u64::from_le_bytes(bytes)
    }

    /// The instruction at an address.
    pub(crate) fn instruction(&mut self, ip: u64) -> Instruction {
        let memory = &self.memory;
        *self.decoded.entry(ip).or_insert_with(|| {
            let mut bytes = [0; 16];
            // At the end of what is mapped there are less.
            let n_bytes = memory.read_at(&mut bytes, ip).expect("it is mapped");
            Decoder::with_ip(64, &bytes[..n_bytes], ip, DecoderOptions::NONE).decode()
        })
    }

    /// Executes one.
    pub(crate) fn step(&self) {
        ptrace::step(self.pid(), None).expect("it is stopped");
        let status = waitpid(self.pid(), None).expect("it is a child");
        assert!(matches!(status, WaitStatus::Stopped(..)), "it goes on: {status:?}");
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
