//! Which locks are held from where to where.

use raddle_model::{Finding, ObjectId, ThreadId};

use crate::schedule::switches::Locks;

/// A lock in a thread's hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Band {
    pub(crate) thread: ThreadId,
    pub(crate) lock: ObjectId,
    /// The row in which it was taken.
    pub(crate) from: usize,
    /// The row in which it was given back; `None` if it never was.
    pub(crate) to: Option<usize>,
    /// How many locks the thread held before.
    pub(crate) depth: usize,
}

/// All bands, in the order in which locks were taken.
pub(super) fn bands(finding: &Finding, row_of_step: &[usize]) -> Vec<Band> {
    let mut locks = Locks::default();
    let mut bands: Vec<Band> = Vec::new();
    // Indices of bands that have not ended, by thread, in the order in which the locks were taken.
    let mut open: Vec<(ThreadId, Vec<usize>)> = Vec::new();
    for (step, row) in finding.steps.iter().zip(row_of_step) {
        locks.apply(step);
        let thread = step.thread;
        let held = locks.held_by(thread);
        let idx = open.iter().position(|it| it.0 == thread).unwrap_or_else(|| {
            open.push((thread, Vec::new()));
            open.len() - 1
        });
        let mine = &mut open[idx].1;
        mine.retain(|band| {
            let is_held = held.contains(&bands[*band].lock);
            if !is_held {
                bands[*band].to = Some(*row);
            }
            is_held
        });
        for lock in held {
            let is_new = !mine.iter().any(|band| bands[*band].lock == lock);
            if is_new {
                let depth = free_depth(mine.iter().map(|it| bands[*it].depth));
                mine.push(bands.len());
                bands.push(Band { thread, lock, from: *row, to: None, depth });
            }
        }
    }
    bands
}

/// The first depth that no other band is drawn at.
fn free_depth(taken: impl Iterator<Item = usize> + Clone) -> usize {
    (0..).find(|depth| taken.clone().all(|it| it != *depth)).unwrap_or_default()
}
