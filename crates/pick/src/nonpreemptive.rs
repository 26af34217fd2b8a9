//! The running thread goes on until it can't; then the next in the order of creation that can, round
//! and round. What most programs do most of the time on an idle machine: the baseline execution.

use raddle_model::ThreadId;

use crate::view::{Threads, View};

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nonpreemptive;

impl Nonpreemptive {
    pub(crate) fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if view.threads.is_enabled(view.last) {
            return view.last;
        }
        let n_threads = view.threads.n_threads();
        (1..=n_threads)
            .map(|distance| ThreadId((view.last.0 + distance) % n_threads))
            .find(|thread| view.threads.is_enabled(*thread))
            .unwrap_or_else(|| view.threads.enabled(0))
    }
}
