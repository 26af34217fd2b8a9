//! Which memory is unshared, protected or unprotected, by seed paper 1's rule (`--points lockset`).
//!
//! Memory is initialised by what its thread does from its allocation to the next step, and by what a thread does while
//! nobody else is alive. From then on it is unshared while one thread accesses it, protected while all accesses are
//! reads or have a lock in common, and unprotected for good once that is over: accesses to it are scheduling points, in
//! this execution and, by its name, in those to come.
//!
//! The paper ends initialisation where a reference escapes, which it finds in the program's text. Nothing can escape
//! without a step of the thread (a lock, an atomic, or an access to memory that others know), so ours ends no later.

use raddle_model::OpKind;

use crate::{
    control::Control,
    state::{detect::Touch, locksets::Class, shadow::State},
};

impl Control {
    /// An access is about to be made: the classes of the memory, if anybody asks.
    #[inline]
    pub(crate) fn classify(&mut self, touch: &Touch) {
        if self.memory.locksets.is_on {
            self.classify_words(touch);
        }
    }

    #[inline(never)]
    fn classify_words(&mut self, touch: &Touch) {
        let is_alone = self.scheduler.machine.is_alone();
        let is_write = !matches!(touch.kind, OpKind::Read | OpKind::AtomicLoad);
        for at in (touch.address & !3..touch.address + touch.size).step_by(4) {
            let cell = self.memory.shadow.cell(at);
            if cell.is_null() {
                return;
            }
            // SAFETY: not null, so a cell.
            let state = unsafe { *cell }.state();
            let is_settled = match state {
                State::Sync(_) | State::Freed | State::Outside => true,
                State::Variable(object) => self.recorder.emit.is_exposed(object),
                _ => false,
            };
            if is_settled {
                continue;
            }
            if is_alone || state == State::Untouched {
                self.memory.locksets.forget(at);
            }
            if !is_alone
                && !self.is_being_initialised(at)
                && self.memory.locksets.access(at, self.me, is_write) == Class::Unprotected
            {
                self.expose_word(cell, at);
            }
        }
    }

    /// Has nobody made a step since the memory was allocated?
    fn is_being_initialised(&self, at: usize) -> bool {
        let now = self.memory.locksets.moment(self.recorder.emit.n_steps);
        self.memory.heap.block_of(at).is_some_and(|(_, block)| block.born == now)
    }
}
