//! ThreadSet that wait by looking again and again.
//!
//! A thread that has yielded and reads what it has read before, with nothing but reads and yields in
//! between, is where it was: whatever follows could have followed the first look, with the steps of others
//! that came in between moved before it. So such a look is taken as one that should not have been made
//! (`assume` in model checkers): nothing is turned round because of it or to get to it, and nothing
//! branches after it. This bounds the search where a loop could go on for ever. It is sound if the loop keeps
//! nothing of its rounds: a program that counts them, and does something else after the third, may hide a
//! bug from us.

use raddle_model::{Flags, OpKind, OpResult, ThreadId};

use super::{Pending, Step};

/// Is a step the second look of a thread that waits so?
pub(crate) fn is_repeat(steps: &[Step], idx: usize) -> bool {
    repeats(steps, idx, last_look(&steps[idx].op(), &steps[..idx]))
}

/// The same, if its thread is known to have looked last at this one.
pub(crate) fn repeats(steps: &[Step], idx: usize, looked: Option<usize>) -> bool {
    looked.is_some_and(|it| is_look(&steps[idx]) && steps[it].value == steps[idx].value)
}

/// The last time a thread looked as it is about to look, if it has yielded since and done nothing else than
/// to look.
pub(crate) fn last_look(op: &Pending, steps: &[Step]) -> Option<usize> {
    if !matches!(op.kind, OpKind::Read | OpKind::AtomicLoad | OpKind::AtomicCas) {
        return None;
    }
    let mut has_yielded = op.flags.has(Flags::SPIN);
    for (idx, before) in steps.iter().enumerate().rev().filter(|it| it.1.thread == op.thread) {
        if before.kind == OpKind::Yield {
            has_yielded |= !before.flags.has(Flags::HINT);
        } else if !is_look(before) {
            return None;
        } else if (before.kind, before.object, before.site) == (op.kind, op.object, op.site) {
            return has_yielded.then_some(idx);
        } else {
            has_yielded |= before.flags.has(Flags::SPIN);
        }
    }
    None
}

/// Did a thread look again when it last looked, and has it done nothing since?
pub(crate) fn is_waiting(steps: &[Step], thread: ThreadId) -> bool {
    let mut own = (0..steps.len()).rev().filter(|it| steps[*it].thread == thread);
    own.find(|it| steps[*it].kind != OpKind::Yield).is_some_and(|it| is_repeat(steps, it))
}

fn is_look(step: &Step) -> bool {
    match step.kind {
        OpKind::Read | OpKind::AtomicLoad => true,
        OpKind::AtomicCas => step.result == OpResult::Busy,
        _ => false,
    }
}
