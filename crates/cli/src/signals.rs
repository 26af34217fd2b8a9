//! Ctrl-C: the first one ends the campaign and keeps what was found, the second ends us at once.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

static STOP: OnceLock<Stop> = OnceLock::new();

/// What a campaign looks at to see whether it must end.
#[derive(Debug)]
pub(crate) struct Stop {
    flag: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Set when it must end.
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    /// The signal that came, if one did.
    pub(crate) fn signal(&self) -> Option<i32> {
        let signal = self.signal.load(Ordering::Relaxed);
        i32::try_from(signal).ok().filter(|it| *it > 0)
    }
}

/// Takes over Ctrl-C and polite requests to end, once for the process.
pub(crate) fn catch() -> &'static Stop {
    STOP.get_or_init(|| {
        let stop = Stop { flag: Arc::default(), signal: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            // In this order: the shutdown happens only if the flag was set by an earlier signal.
            let registered =
                flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop.flag))
                    .and_then(|_| flag::register(signal, Arc::clone(&stop.flag)))
                    .and_then(|_| {
                        let number = usize::try_from(signal).unwrap_or_default();
                        flag::register_usize(signal, Arc::clone(&stop.signal), number)
                    });
            registered.expect("bug: these signals may be caught");
        }
        stop
    })
}

/// The signal that came, if one did.
pub(crate) fn came() -> Option<i32> {
    STOP.get()?.signal()
}

/// Ends a campaign that runs, if any does.
pub(crate) fn stop_now() {
    if let Some(stop) = STOP.get() {
        stop.flag.store(true, Ordering::Relaxed);
    }
}
