//! What the program asks not to be told (`hooks/tsan/annotations`).

use std::collections::BTreeMap;

use raddle_model::{ObjectId, ThreadId};

/// What the program has asked for.
#[derive(Debug, Default)]
pub(crate) struct Intent {
    /// Annotations that are in force, of all threads.
    pub(crate) n_ignoring: u32,
    /// Memory whose races are not told: start and end.
    pub(crate) benign: Vec<(usize, usize)>,
    /// By address: what stands for the order that the program says there is. Not the variable itself, which need not
    /// be an atomic.
    pub(crate) orders: BTreeMap<usize, ObjectId>,
    /// Fibers made so far, and those that threads are on.
    pub(crate) n_fibers: usize,
    pub(crate) fibers: BTreeMap<ThreadId, usize>,
}

impl Intent {
    /// Begins another execution: what stood for an order has another number in it, if any.
    pub(crate) fn restart(&mut self) {
        self.orders.clear();
        self.fibers.clear();
        self.n_fibers = 0;
    }
}
