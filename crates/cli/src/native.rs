//! The one place where a native program becomes a target.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use raddle_explore::{StoredTarget, store::Bounds};
use raddle_launch::{Cache, CacheError, Native, NativeOptions};
use raddle_model::Carrier;

/// A target's program, with how to run it.
#[derive(Clone, Debug)]
pub(crate) struct Launch<'a> {
    /// What was built, or built again.
    pub(crate) program: PathBuf,
    pub(crate) target: &'a StoredTarget,
    pub(crate) carrier: Carrier,
    /// Does every execution get a process of its own?
    pub(crate) is_fresh: bool,
    /// Bytes that live copies of executions may take, for each worker.
    pub(crate) checkpoints: u64,
    /// Events kept of an execution, if not as many as usual.
    pub(crate) events: Option<u32>,
    /// Set when nobody wants more.
    pub(crate) stop: Arc<AtomicBool>,
}

/// The program as a target.
pub(crate) fn open(launch: Launch<'_>) -> Result<Native, CacheError> {
    let cache = Cache::open()?;
    let Launch { program, target, carrier, is_fresh, checkpoints, events, stop } = launch;
    let Bounds { memory, hang_timeout_ms, n_cpus } = target.bounds;
    Ok(Native::new(NativeOptions {
        carrier,
        stdin: target.stdin.clone(),
        cwd: Some(target.cwd.clone()).filter(|it| it.is_dir()),
        env: target.env.clone(),
        memory_limit: memory,
        hang_timeout: Duration::from_millis(hang_timeout_ms),
        n_cpus,
        is_fresh,
        checkpoints,
        events,
        stop,
        ..NativeOptions::of(&cache, program, target.args.clone())?
    }))
}
