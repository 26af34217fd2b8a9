//! What each thread holds at each step. A set is kept for each change, not for each step.

use crate::history::{Act, History};

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeldAt {
    /// Which.
    pub lock: u64,
    /// The step that took it.
    pub since: u32,
    /// Other readers may hold it too.
    pub is_shared: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Locks {
    /// Invariant: the first is the empty one.
    sets: Vec<Vec<HeldAt>>,
    /// By step: what its thread held when it was made; of a lock's taking, before it.
    at: Vec<u32>,
}

impl Locks {
    /// Works it out.
    pub fn of(history: &History) -> Locks {
        let mut locks = Locks { sets: vec![Vec::new()], at: Vec::new() };
        let mut now: Vec<(u32, Vec<(u64, u32)>)> = vec![(0, Vec::new()); history.n_threads()];
        // By thread that waits: how often it held what it gave back.
        let mut given: Vec<Option<u32>> = vec![None; history.n_threads()];
        for (idx, step) in history.steps.iter().enumerate() {
            let (set, depths) = &mut now[step.thread.idx()];
            locks.at.push(*set);
            let lock =
                if matches!(step.done(), Act::Wait | Act::Wake) { step.other } else { step.object };
            match step.done() {
                Act::Lock | Act::ReadLock | Act::Wake => {
                    if let Some((_, depth)) = depths.iter_mut().find(|it| it.0 == lock) {
                        *depth += 1;
                        continue;
                    }
                    let woken = given[step.thread.idx()].take_if(|_| step.done() == Act::Wake);
                    depths.push((lock, woken.unwrap_or(1)));
                    let is_shared = step.done() == Act::ReadLock;
                    let mut held = locks.sets[*set as usize].clone();
                    held.push(HeldAt { lock, since: idx as u32, is_shared });
                    *set = locks.add(held);
                }
                Act::Unlock | Act::Wait => {
                    let Some(at) = depths.iter().position(|it| it.0 == lock) else { continue };
                    if step.done() == Act::Wait {
                        given[step.thread.idx()] = Some(depths[at].1);
                    }
                    depths[at].1 -= 1;
                    if depths[at].1 > 0 && step.done() == Act::Unlock {
                        continue;
                    }
                    depths.remove(at);
                    let mut held = locks.sets[*set as usize].clone();
                    held.retain(|it| it.lock != lock);
                    *set = locks.add(held);
                }
                _ => {}
            }
        }
        locks
    }

    fn add(&mut self, held: Vec<HeldAt>) -> u32 {
        if held.is_empty() {
            return 0;
        }
        self.sets.push(held);
        self.sets.len() as u32 - 1
    }

    /// What the step's thread held, in the order in which it was taken.
    pub fn at(&self, step: u32) -> &[HeldAt] {
        &self.sets[self.at[step as usize] as usize]
    }
}
