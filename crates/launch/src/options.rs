//! How to run a program.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use raddle_model::Carrier;

use crate::{Cache, CacheError, extract_runtime, library_code};

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
    /// Processors that the program sees.
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

    /// The same with the runtime that is embedded, and with what of a Rust program's code is a library's.
    pub fn of(
        cache: &Cache,
        program: PathBuf,
        args: Vec<OsString>,
    ) -> Result<NativeOptions, CacheError> {
        let runtime = extract_runtime(cache)?;
        let library = library_code(cache, &program)?;
        Ok(NativeOptions { library, ..NativeOptions::new(program, args, runtime) })
    }
}
