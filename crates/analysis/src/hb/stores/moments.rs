//! Total store order: what a load may read where stores wait in a buffer, as x86 processors have it (Sewell, Sarkar, Owens,
//! Zappa Nardelli and Myreen, *x86-TSO*, CACM 2010).
//!
//! There are no buffers here. A store is in memory at once, and a thread sees memory as it was at some moment, which never goes
//! back: Abdulla, Atig, Bouajjani and Ngo, *A load-buffer semantics for total store ordering* (LMCS 2018), prove that
//! this allows the same. A load reads what a location held at the moment that its thread sees, or at a later one, which
//! is the moment that it sees from then on; or its own thread's last store, if that is later, without seeing more. What
//! empties a buffer lets the thread see all: a `seq_cst` fence, a read-modify-write, a compare-exchange even if it fails, a
//! `seq_cst` store (which compilers make an `xchg`), a lock, a system call.

use raddle_model::ThreadId;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Moments {
    /// How many stores there have been.
    now: u32,
    /// By thread: the last of them that it sees.
    seen: Vec<u32>,
}

impl Moments {
    pub(super) const fn new() -> Moments {
        Moments { now: 0, seen: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.now = 0;
        self.seen.clear();
    }

    /// The moment of a new store.
    pub(super) fn next(&mut self) -> u32 {
        self.now += 1;
        self.now
    }

    /// Can a thread read nothing that is older than a store?
    pub(super) fn is_floor(&self, moment: u32, writer: Option<ThreadId>, thread: ThreadId) -> bool {
        writer == Some(thread) || moment <= self.seen.get(thread.idx()).copied().unwrap_or(0)
    }

    /// A thread has read a store.
    pub(super) fn see(&mut self, moment: u32, writer: Option<ThreadId>, thread: ThreadId) {
        if writer != Some(thread) {
            self.see_up_to(moment, thread);
        }
    }

    /// A thread sees all there is.
    pub(super) fn catch_up(&mut self, thread: ThreadId) {
        self.see_up_to(self.now, thread);
    }

    fn see_up_to(&mut self, moment: u32, thread: ThreadId) {
        if self.seen.len() <= thread.idx() {
            self.seen.resize(thread.idx() + 1, 0);
        }
        let seen = &mut self.seen[thread.idx()];
        *seen = (*seen).max(moment);
    }
}
