//! Stacks that are worth keeping, each once: where blocks were allocated, where threads were created.
//!
//! A stack is a list of return addresses, innermost first, cut to a few. Equal ones share a number; most
//! programs have some hundred different ones. What the launcher gets are modules and offsets, so that
//! keeping a stack does not number sites: those are numbered by the program's steps alone.

use std::collections::BTreeMap;

use raddle_trace::{STACK_DEPTH, StackEntry};

/// The return addresses of a stack; unused ones are 0.
pub(crate) type Stack = [usize; STACK_DEPTH];

/// The number of a stack. 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StackId(pub(crate) u32);

const N_LAST: usize = 16;

/// All stacks kept so far.
#[derive(Debug)]
pub(crate) struct Stacks {
    numbers: BTreeMap<Stack, u32>,
    all: Vec<Stack>,
    /// By the innermost call: the last one that was asked for. Programs allocate and free in loops.
    last: [u32; N_LAST],
    room: u32,
}

impl Stacks {
    pub(crate) fn new(room: u32) -> Stacks {
        Stacks { numbers: BTreeMap::new(), all: vec![[0; STACK_DEPTH]], last: [0; N_LAST], room }
    }

    /// The number of a stack, and whether it is new; unknown if there are too many.
    pub(crate) fn add(&mut self, stack: &Stack) -> (StackId, bool) {
        let last = (stack[0] ^ stack[0] >> 4) % N_LAST;
        if self.all[self.last[last] as usize] == *stack {
            return (StackId(self.last[last]), false);
        }
        let number = self.all.len() as u32;
        let (number, is_new) = match self.numbers.get(stack) {
            Some(number) => (*number, false),
            None if number >= self.room => return (StackId(0), false),
            None => (number, true),
        };
        if is_new {
            self.numbers.insert(*stack, number);
            self.all.push(*stack);
        }
        self.last[last] = number;
        (StackId(number), is_new)
    }

    /// Is half of the room taken? Steps leave the rest to blocks, which are named after their stacks.
    pub(crate) fn is_half_full(&self) -> bool {
        self.all.len() as u32 >= self.room / 2
    }

    pub(crate) fn get(&self, stack: StackId) -> &Stack {
        &self.all[stack.0 as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

/// A stack as the launcher reads it; `find` tells the module and offset of an address.
pub(crate) fn entry(stack: &Stack, find: impl Fn(usize) -> raddle_trace::SiteEntry) -> StackEntry {
    let mut entry = StackEntry::default();
    for (to, pc) in entry.frames.iter_mut().zip(stack.iter().take_while(|it| **it != 0)) {
        *to = find(*pc);
        entry.n_frames += 1;
    }
    entry
}
