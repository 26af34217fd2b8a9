//! What the program has said about signals, and those on their way.

use std::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use raddle_model::{Handlers, ObjectId};

use crate::state::timers::Timers;

/// Signals are numbered from 1 to this.
pub(crate) const SIGNAL_MAX: c_int = 64;

/// The first signal of which several can be queued.
const SIGNAL_QUEUED: c_int = 32;

/// What the program has said about signals.
#[derive(Debug)]
pub(crate) struct Signals {
    /// Must some thread run a handler, or end, when it leaves its hook?
    pub(crate) is_any_pending: bool,
    /// What the last look for handlers to run came to.
    pub(crate) ran: Ran,
    actions: [Action; SIGNAL_MAX as usize + 1],
    /// Sent to the process while every thread blocked them.
    pub(crate) process: Vec<Sent>,
    pub(crate) timers: Timers,
    /// Where handlers run.
    pub(crate) handlers: Handlers,
    /// By signal: the last thread that was made to handle it, and its object.
    pub(crate) made: Vec<(c_int, ObjectId)>,
}

impl Signals {
    /// Begins another execution: nothing has been sent. Handlers stay.
    pub(crate) fn restart(&mut self) {
        self.is_any_pending = false;
        self.process.clear();
        self.timers = Timers::default();
        self.made.clear();
    }
}

impl Default for Signals {
    fn default() -> Signals {
        Signals {
            is_any_pending: false,
            ran: Ran { is_any: false, may_restart: true },
            actions: [Action::default(); SIGNAL_MAX as usize + 1],
            process: Vec::new(),
            timers: Timers::default(),
            handlers: Handlers::Nested,
            made: Vec::new(),
        }
    }
}

/// What is to be done on a signal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Action {
    /// `SIG_DFL` (0), `SIG_IGN` (1) or the handler.
    pub(crate) handler: usize,
    pub(crate) flags: c_int,
    /// Blocked while it runs.
    pub(crate) mask: u64,
}

impl Action {
    pub(crate) fn has_handler(&self) -> bool {
        self.handler != libc::SIG_DFL && self.handler != libc::SIG_IGN
    }

    /// Calls the handler; one that wants the number only ignores the rest.
    ///
    /// # Safety
    ///
    /// There is a handler, and the arguments are what it expects.
    pub(crate) unsafe fn call(
        &self,
        signal: c_int,
        info: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        // SAFETY: the program gave us a handler of one of the two types; the caller promises the rest.
        unsafe {
            let handler = std::mem::transmute::<
                usize,
                unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void),
            >(self.handler);
            handler(signal, info, context);
        }
    }
}

/// A signal on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) signal: c_int,
    /// `SI_USER`, `SI_TKILL`…
    pub(crate) code: c_int,
    pub(crate) value: usize,
}

/// A signal as a set.
pub(crate) const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Signals that can't be blocked.
pub(crate) const UNBLOCKABLE: u64 = bit(libc::SIGKILL) | bit(libc::SIGSTOP);

impl Signals {
    pub(crate) fn action(&self, signal: c_int) -> Action {
        self.actions[signal as usize]
    }

    /// Sets an action. The kernel must learn of it (`outside/faults`).
    pub(crate) fn set_action(&mut self, signal: c_int, action: Action) {
        self.actions[signal as usize] = action;
    }

    /// A handler is about to run.
    pub(crate) fn handler_begins(&mut self, signal: c_int) {
        let action = &mut self.actions[signal as usize];
        if action.flags & libc::SA_RESETHAND != 0 {
            action.handler = libc::SIG_DFL;
        }
    }

    /// Queues a signal for the process; one that can't be queued twice is not.
    pub(crate) fn queue(queue: &mut Vec<Sent>, sent: Sent) {
        let is_there = queue.iter().any(|it| it.signal == sent.signal);
        if !is_there || sent.signal >= SIGNAL_QUEUED {
            queue.push(sent);
        }
    }
}

/// Takes the first signal of a set out of a queue: the lowest, as Linux does.
pub(crate) fn take(queue: &mut Vec<Sent>, set: u64) -> Option<Sent> {
    let idx = (0..queue.len())
        .filter(|idx| set & bit(queue[*idx].signal) != 0)
        .min_by_key(|idx| (queue[*idx].signal, *idx))?;
    Some(queue.remove(idx))
}

pub(crate) fn set_of(queue: &[Sent]) -> u64 {
    queue.iter().fold(0, |set, it| set | bit(it.signal))
}

/// What `run_handlers` did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    pub(crate) is_any: bool,
    /// Had all of them `SA_RESTART`?
    pub(crate) may_restart: bool,
}

/// Signals that came from the kernel and have not been looked at, as a bit set.
pub(crate) static ARRIVED: AtomicU64 = AtomicU64::new(0);

/// Signals that have arrived from the kernel since this was last asked, as a bit set.
pub(crate) fn take_arrived() -> u64 {
    ARRIVED.swap(0, Relaxed)
}
