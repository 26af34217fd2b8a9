//! The one place where a native program becomes a target.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use raddle_launch::{Cache, CacheError, Native, NativeOptions, extract_runtime};
use raddle_model::Carrier;

/// What to start, and within which bounds.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) carrier: Carrier,
    pub(crate) stdin: Option<PathBuf>,
    /// Bytes.
    pub(crate) memory: u64,
    pub(crate) hang_timeout: Duration,
    pub(crate) n_cpus: u32,
}

/// The program as a target.
pub(crate) fn open(launch: &Launch) -> Result<Native, CacheError> {
    let runtime = extract_runtime(&Cache::open()?)?;
    let args = launch.args.iter().map(OsString::from).collect();
    Ok(Native::new(NativeOptions {
        carrier: launch.carrier,
        stdin: launch.stdin.clone(),
        memory_limit: launch.memory,
        hang_timeout: launch.hang_timeout,
        n_cpus: launch.n_cpus,
        ..NativeOptions::new(launch.program.clone(), args, runtime)
    }))
}
