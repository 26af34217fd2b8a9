//! A native program as a target: each session is a fork server of its own.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use raddle_explore::target::{
    CodeAddress, Session, StackSpot, Target, TargetError, Until, Variable,
};
use raddle_model::{Carrier, Place};
use raddle_trace::Module;

use crate::{elf, session::NativeSession, symbols::Symbols};

/// How to run a program.
#[derive(Clone, Debug)]
pub struct NativeOptions {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The runtime library, as extracted.
    pub runtime: PathBuf,
    /// What carries its threads.
    pub carrier: Carrier,
    /// A file that says which of its code is a library's, see `library_code`.
    pub library: Option<PathBuf>,
    /// A file for its standard input; else it is empty.
    pub stdin: Option<PathBuf>,
    /// The folder to run in; else the present one.
    pub cwd: Option<PathBuf>,
    /// Variables of its environment, beside ours.
    pub env: Vec<(String, String)>,
    /// An execution that takes more memory than this is ended.
    pub memory_limit: u64,
    /// An execution that makes no step for so long is ended.
    pub hang_timeout: Duration,
    /// Processors that the program is told it has.
    pub n_cpus: u32,
    /// Bytes that live copies of executions may take, for each session; 0 for no copies.
    pub checkpoints: u64,
    /// Does every execution get a process of its own?
    pub is_fresh: bool,
    /// Steps that a live copy must spare; by default as many as take the time that a copy costs.
    pub checkpoint_gap: Option<u64>,
    /// Events kept of an execution, if not the default; a power of two.
    pub events: Option<u32>,
    /// When this becomes true, whatever runs is given up soon.
    pub stop: Arc<AtomicBool>,
}

impl NativeOptions {
    /// What is used when nothing is said.
    pub fn new(program: PathBuf, args: Vec<OsString>, runtime: PathBuf) -> NativeOptions {
        NativeOptions {
            program,
            args,
            runtime,
            carrier: Carrier::default(),
            library: None,
            stdin: None,
            cwd: None,
            env: Vec::new(),
            memory_limit: 4 << 30,
            hang_timeout: Duration::from_secs(10),
            n_cpus: 4,
            checkpoints: 0,
            checkpoint_gap: None,
            is_fresh: false,
            events: None,
            stop: Arc::default(),
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Native {
    options: NativeOptions,
}

impl Native {
    /// A program to be explored.
    pub fn new(options: NativeOptions) -> Native {
        Native { options }
    }

    pub(crate) fn options(&self) -> &NativeOptions {
        &self.options
    }
}

impl Target for Native {
    fn open_until(&self, until: &Until) -> Result<Box<dyn Session + Send>, TargetError> {
        Ok(Box::new(NativeSession::open(&self.options, until)?))
    }

    fn unhooked(&self, modules: &[Module]) -> Vec<String> {
        modules.iter().flat_map(|it| elf::unhooked_code(Path::new(&it.path))).collect()
    }
}

impl raddle_explore::target::Symbols for Symbols {
    fn unseen_atomic(&mut self, module: &str) -> Option<Place> {
        Symbols::unseen_atomic(self, module.as_ref())
    }

    fn places(&mut self, module: &str, offset: u64) -> Vec<Place> {
        Symbols::places(self, module.as_ref(), offset)
    }

    fn callee(&mut self, module: &str, offset: u64) -> String {
        Symbols::callee(self, module.as_ref(), offset)
    }

    fn global(&mut self, module: &str, offset: u64, size: u64) -> Option<Variable> {
        Symbols::global(self, module.as_ref(), offset, size)
    }

    fn local(&mut self, spot: &StackSpot<'_>, size: u64) -> Option<Variable> {
        Symbols::local(self, spot, size)
    }

    fn block(
        &mut self,
        calls: &[CodeAddress<'_>],
        block_size: u64,
        offset: u64,
        size: u64,
    ) -> Option<Variable> {
        Symbols::block(self, calls, block_size, offset, size)
    }

    fn source_line(&mut self, place: &Place) -> Option<String> {
        Symbols::source_line(self, place)
    }
}
