//! A schedule that is the same up to the order of independent steps, and as like another as it can be: executions that
//! have much of their beginning in common can begin from one checkpoint (§7.6.4).

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use crate::history::{Act, Step};

/// The numbers of steps in their new order: whoever can go on and has the lowest rank is next. The last step stays the last.
/// Time O(steps · log steps).
pub fn follow(steps: &[Step], rank: impl Fn(usize) -> u32) -> Vec<usize> {
    let mut n_before = vec![0_u32; steps.len()];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    let mut uses: BTreeMap<Used, Uses> = BTreeMap::new();
    for (idx, step) in steps.iter().enumerate() {
        for (used, is_read) in used(step) {
            let uses = uses.entry(used).or_default();
            let last = uses.last.into_iter();
            let before: Vec<usize> = match is_read {
                true => last.collect(),
                false => last.chain(uses.reads.drain(..)).collect(),
            };
            for before in before {
                after[before].push(idx);
                n_before[idx] += 1;
            }
            match is_read {
                true => uses.reads.push(idx),
                false => uses.last = Some(idx),
            }
        }
    }
    let last = steps.len().wrapping_sub(1);
    let rank = |idx: usize| if idx == last { u32::MAX } else { rank(idx) };
    let free = (0..steps.len()).filter(|it| n_before[*it] == 0);
    let mut free: BinaryHeap<Reverse<(u32, usize)>> =
        free.map(|it| Reverse((rank(it), it))).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(Reverse((_, idx))) = free.pop() {
        order.push(idx);
        for next in &after[idx] {
            n_before[*next] -= 1;
            if n_before[*next] == 0 {
                free.push(Reverse((rank(*next), *next)));
            }
        }
    }
    order
}

/// What steps use that are not independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Used {
    Thread(u32),
    Object(u64),
}

/// Who used something so far.
#[derive(Debug, Default)]
struct Uses {
    /// The last that changed it.
    last: Option<usize>,
    /// Those that have only read it since then.
    reads: Vec<usize>,
}

/// What a step uses, and whether it only reads it.
fn used(step: &Step) -> impl Iterator<Item = (Used, bool)> {
    let other = match step.act {
        Act::Spawn(it) | Act::Join(it) => Used::Thread(it.0),
        _ => Used::Object(step.other),
    };
    let all = [
        (Used::Thread(step.thread.0), false),
        (Used::Object(step.object), step.act == Act::Read),
        (other, false),
    ];
    all.into_iter().filter(|it| it.0 != Used::Object(0))
}
