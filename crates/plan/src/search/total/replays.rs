//! Does the program do the same again for the same choices?
//!
//! Executions share beginnings: as long as two have made the same choices, they have to have made the same steps.
//! One that has not is a program's that depends on something else (time, addresses, other processes). What it shows
//! is no consequence of its schedule, so nothing is concluded from it.

use std::collections::BTreeMap;

use raddle_model::{OpKind, ThreadId, mix};

use super::super::{Divergence, Run};

/// Steps that are remembered.
const STEPS_MAX: usize = 2_000_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Replays {
    /// By the choices so far, as a hash: the step that they made.
    known: BTreeMap<u64, (u64, ThreadId, OpKind)>,
    /// Executions that did something else.
    pub(super) n_diverged: u64,
    /// The first of them.
    pub(super) first: Option<Divergence>,
}

impl Replays {
    /// Remembers an execution; `false` if it did something else than an earlier one with the same choices.
    pub(super) fn agrees(&mut self, run: &Run) -> bool {
        let mut choices = 0;
        for (idx, step) in run.steps.iter().enumerate() {
            let choice = if step.n_choices > 1 { u64::from(step.choice) + 1 } else { 0 };
            choices = mix(mix(choices, u64::from(step.thread.0)), choice);
            let place = run.sites.get(step.site.0 as usize).copied().unwrap_or_default();
            let object = run.objects.get(step.object.idx()).map_or(0, |it| it.name);
            let now = mix(mix(step.kind as u64, place), object);
            match self.known.get(&choices) {
                Some((before, ..)) if *before == now => {}
                Some((_, thread, expected)) => {
                    self.n_diverged += 1;
                    self.first.get_or_insert(Divergence {
                        step: idx as u64,
                        thread: *thread,
                        expected: *expected,
                        seen: Some((step.thread, step.kind)),
                    });
                    return false;
                }
                None if self.known.len() < STEPS_MAX => {
                    self.known.insert(choices, (now, step.thread, step.kind));
                }
                None => {}
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Step;

    fn run(kinds: &[(u32, OpKind)]) -> Run {
        let step =
            |it: &(u32, OpKind)| Step { thread: ThreadId(it.0), kind: it.1, ..Step::default() };
        Run { steps: kinds.iter().map(step).collect(), ..Run::default() }
    }

    #[test]
    fn the_same_choices_make_the_same_steps() {
        let mut replays = Replays::default();
        assert!(replays.agrees(&run(&[(0, OpKind::Read), (1, OpKind::Write)])));
        // Another choice may make anything.
        assert!(replays.agrees(&run(&[(0, OpKind::Read), (0, OpKind::Lock)])));
        assert!(!replays.agrees(&run(&[(0, OpKind::Read), (1, OpKind::Lock)])));
        assert_eq!(replays.n_diverged, 1);
        let first = replays.first.expect("there was one");
        assert_eq!((first.step, first.expected), (1, OpKind::Write));
        assert_eq!(first.seen, Some((ThreadId(1), OpKind::Lock)));
    }
}
