//! What pickers that follow a script are told, and its form as numbers: a plan's prefix is their script.
//!
//! A script names steps by what is the same in other executions: a thread's own steps by their count, or a
//! place in the code and how often the thread has been there. So it can be followed where a prefix, which
//! counts all steps, is off by one after its first change.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{OpKind, ThreadId, mix};

/// In the first number of an entry: it is a data choice, not a switch.
const IS_CHOICE: u32 = 1 << 31;

/// A deviation from "whoever runs goes on".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deviation {
    /// Another thread is next.
    Switch {
        /// Who ran.
        thread: ThreadId,
        /// After so many of its own steps.
        n_steps: u32,
        /// Who is next, if it can go on.
        to: ThreadId,
    },
    /// One of several ways to perform a step.
    Choice {
        /// Whose step.
        thread: ThreadId,
        /// After so many of its own steps.
        n_steps: u32,
        /// Which way.
        choice: u32,
    },
}

impl Deviation {
    const fn numbers(self) -> [u32; 3] {
        match self {
            Deviation::Switch { thread, n_steps, to } => [thread.0, n_steps, to.0],
            Deviation::Choice { thread, n_steps, choice } => {
                [thread.0 | IS_CHOICE, n_steps, choice]
            }
        }
    }

    /// All of them as a script.
    pub fn script(deviations: &[Deviation]) -> Vec<u32> {
        let mut entries: Vec<[u32; 3]> = deviations.iter().map(|it| it.numbers()).collect();
        entries.sort_unstable();
        entries.into_iter().flatten().collect()
    }

    /// Who is next after so many steps of a thread, if a script says so.
    pub fn switch(script: &[u32], thread: ThreadId, n_steps: u32) -> Option<ThreadId> {
        find(script, thread.0, n_steps).map(ThreadId)
    }

    /// How a thread performs the step after so many of its own, if a script says so.
    pub fn choice(script: &[u32], thread: ThreadId, n_steps: u32) -> Option<u32> {
        find(script, thread.0 | IS_CHOICE, n_steps)
    }
}

fn find(script: &[u32], first: u32, n_steps: u32) -> Option<u32> {
    let (entries, _) = script.as_chunks::<3>();
    let key = (first, n_steps);
    let idx = entries.binary_search_by_key(&key, |it| (it[0], it[1])).ok()?;
    Some(entries[idx][2])
}

/// A step by where it is: the `nth` time that a thread does this there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side {
    /// Who.
    pub thread: ThreadId,
    /// What and where: see [`Side::key`].
    pub key: u32,
    /// Which time, from 1.
    pub nth: u32,
}

impl Side {
    /// A hash of an op's kind and of its site's hash, the same in every execution.
    pub const fn key(kind: OpKind, site_hash: u64) -> u32 {
        (mix(site_hash, kind as u64) >> 32) as u32
    }

    /// The same for one object only, by its name.
    pub const fn key_on(key: u32, name: u64) -> u32 {
        (mix(name, key as u64) >> 32) as u32
    }
}

/// One step before another, as a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Before {
    /// What comes first.
    pub first: Side,
    /// What waits for it.
    pub second: Side,
}

impl Before {
    const N_NUMBERS: usize = 6;

    /// All of them as a script.
    pub fn script(orders: &[Before]) -> Vec<u32> {
        Before::script_after(&[], orders)
    }

    /// The same after these choices: how many orders, the orders, the choices.
    pub fn script_after(choices: &[u32], orders: &[Before]) -> Vec<u32> {
        let numbers = |it: &Side| [it.thread.0, it.key, it.nth];
        let sides = orders.iter().flat_map(|it| [numbers(&it.first), numbers(&it.second)]);
        let mut script = vec![orders.len() as u32];
        script.extend(sides.flatten());
        script.extend(choices);
        script
    }

    /// The orders of a script.
    pub fn of_script(script: &[u32]) -> impl Iterator<Item = Before> {
        let side = |it: &[u32]| Side { thread: ThreadId(it[0]), key: it[1], nth: it[2] };
        let (orders, _) = Before::parts(script);
        let (entries, _) = orders.as_chunks::<{ Before::N_NUMBERS }>();
        entries.iter().map(move |it| Before { first: side(&it[..3]), second: side(&it[3..]) })
    }

    /// The choices of a script, which come before all that is asked.
    pub fn choices_of_script(script: &[u32]) -> &[u32] {
        Before::parts(script).1
    }

    fn parts(script: &[u32]) -> (&[u32], &[u32]) {
        let Some((n_orders, rest)) = script.split_first() else { return (&[], &[]) };
        rest.split_at((*n_orders as usize * Before::N_NUMBERS).min(rest.len()))
    }
}

/// One place in the code before another, whoever comes there: a thread that is about to do what is at the second waits
/// until another thread has done what is at the first.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceOrder {
    /// What comes first, as [`Side::key`]; 0: whatever else can be done.
    pub first: u32,
    /// What waits for it.
    pub second: u32,
}

impl PlaceOrder {
    /// Asks for nothing.
    pub const NONE: PlaceOrder = PlaceOrder { first: 0, second: 0 };

    pub(crate) const fn to_number(self) -> u64 {
        (self.first as u64) << 32 | self.second as u64
    }

    pub(crate) const fn from_number(number: u64) -> PlaceOrder {
        PlaceOrder { first: (number >> 32) as u32, second: number as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::{Before, Deviation, Side};
    use crate::ThreadId;

    #[test]
    fn deviations_are_found() {
        let switch = |thread, n_steps, to| Deviation::Switch {
            thread: ThreadId(thread),
            n_steps,
            to: ThreadId(to),
        };
        let choice = Deviation::Choice { thread: ThreadId(1), n_steps: 4, choice: 2 };
        let script =
            Deviation::script(&[switch(2, 1, 0), choice, switch(1, 4, 2), switch(1, 3, 0)]);
        assert_eq!(Deviation::switch(&script, ThreadId(1), 4), Some(ThreadId(2)));
        assert_eq!(Deviation::switch(&script, ThreadId(2), 1), Some(ThreadId(0)));
        assert_eq!(Deviation::switch(&script, ThreadId(2), 2), None);
        assert_eq!(Deviation::choice(&script, ThreadId(1), 4), Some(2));
        assert_eq!(Deviation::choice(&script, ThreadId(2), 1), None);
        assert_eq!(Deviation::switch(&[], ThreadId(0), 0), None);
    }

    #[test]
    fn orders_come_back() {
        let side = |thread, key, nth| Side { thread: ThreadId(thread), key, nth };
        let orders = [
            Before { first: side(1, 77, 1), second: side(2, 78, 3) },
            Before { first: side(0, 5, 2), second: side(2, 78, 1) },
        ];
        for choices in [&[][..], &[0, 1, 1, 0, 2, 2, 1]] {
            let script = Before::script_after(choices, &orders);
            assert_eq!(Before::of_script(&script).collect::<Vec<_>>(), orders);
            assert_eq!(Before::choices_of_script(&script), choices);
        }
        assert_eq!(Before::of_script(&[]).count(), 0);
    }
}
