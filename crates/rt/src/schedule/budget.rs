//! An execution has spent its steps: does it go in circles, or has it only much to do?
//!
//! First, is it worth more? Who goes in circles comes again and again to the same steps: the same thread at the same
//! place does the same to the same object, with the same value. Who works does not: values count up, objects are new.
//! So the later half of the last steps is compared with the earlier one, and where enough of it is new the budget is
//! extended. Where it is not, but a thread has a deadline, time jumps there, and the budget is extended a little: those
//! who go in circles may wait for that thread. No access is left out of these steps (`access::is_due`): it may be the one that shows the work. This is a
//! guess, and nothing is concluded from it.
//!
//! Then comes the *trial*. It may be the picker that keeps the program from its end, so at first threads are chosen
//! uniformly at random for a while, which gets out of every circle that a schedule can leave. Then they take turns, so
//! that a program whose state comes again does so soon, and its whole state (`fingerprint`) is compared with earlier ones
//! (Brent's way: one state is kept, and replaced after twice as many steps each time). If the same state comes three
//! times, and every thread that could go on in between has, the program can go on like this for ever under a fair
//! scheduler: a livelock, and that is proven. Anything else is inconclusive: the execution is cut short.
//!
//! What comes from outside, and what time will bring, ends no circle that anybody could prove, so an execution that asks
//! for such things, or has a thread with a deadline, is never called a livelock.

mod circles;

use raddle_model::{End, Flags, Op, OpKind, ThreadId};

use self::circles::{have_all_gone_on, nothing_is_new};
use crate::{
    control::Control,
    state::trial::{State, Trial},
};

/// So many of the last steps are looked at, and no more than this part of the budget.
const STEPS_MAX: u64 = 1 << 14;
const PART_MAX: u64 = 8;
/// The budget is extended to so many times what was given.
const EXTENDED_MAX: u64 = 16;
/// How often a state must come again.
const REPEATS: u32 = 3;
/// How often all memory is compared, at most.
const COMPARED_MAX: u32 = 256;

impl Control {
    /// Is a step among those that will tell who goes in circles?
    pub(crate) fn is_among_last(&self) -> bool {
        self.recorder.emit.n_steps + n_last(self.scheduler.max_steps) >= self.scheduler.max_steps
    }

    /// The steps are spent: is that the end of the execution? With what it says of itself.
    #[cold]
    pub(crate) fn end_if_spent(&mut self, proposed: Option<&Op>) -> Option<(End, String)> {
        let Some(mut trial) = self.scheduler.trial.take() else {
            if !self.is_worth_more() {
                self.forget_places();
                self.scheduler.trial = Some(Box::new(Trial::new(self.scheduler.max_steps)));
            }
            return None;
        };
        let end = match trial.n_random + trial.n_turns {
            0 => Some((End::Spent, String::new())),
            _ if trial.n_random > 0 => None,
            _ => self.look_for_state(&mut trial, proposed).map(|it| (End::Livelock, it)),
        };
        self.scheduler.trial = Some(trial);
        end
    }

    /// Does the execution seem to get somewhere? Then its budget is extended.
    fn is_worth_more(&mut self) -> bool {
        // SAFETY: the header is mapped for as long as the process lives.
        let given = unsafe { (*self.header).request.max_steps };
        let last = self.recorder.emit.last_events(n_last(self.scheduler.max_steps) as usize);
        let enabled =
            (0..self.scheduler.machine.n_enabled()).map(|it| self.scheduler.machine.enabled(it));
        let (earlier, later) = last.split_at(last.len() / 2);
        let goes_in_circles = have_all_gone_on(later, enabled) && nothing_is_new(earlier, later);
        if self.scheduler.max_steps / EXTENDED_MAX >= given
            || goes_in_circles && !self.wait_for_time()
        {
            return false;
        }
        self.scheduler.max_steps +=
            if goes_in_circles { given.div_ceil(EXTENDED_MAX) } else { given };
        true
    }

    /// Those who go in circles may wait for one who sleeps: time jumps to the next deadline, if there is one. They may
    /// as well have something to do, so that counts as a delay.
    fn wait_for_time(&mut self) -> bool {
        let length = self.scheduler.machine.hurry();
        self.recorder.emit.delay_ns += length.unwrap_or(0);
        length.is_some()
    }

    /// Has the program come back to a state often enough? With what is said of it then.
    fn look_for_state(&mut self, trial: &mut Trial, proposed: Option<&Op>) -> Option<String> {
        if !self.note_place() || !self.scheduler.machine.is_timeless() {
            trial.kept = None;
            return None;
        }
        let outline = self.outline(proposed);
        if let Some(kept) = &mut trial.kept {
            kept.follow(self);
            if kept.outline == outline && kept.is_compared_now() {
                trial.n_compared += 1;
                if self.is_in(kept) {
                    kept.n_repeats += 1;
                }
                if kept.n_repeats >= REPEATS && kept.has_been_fair() {
                    return Some(kept.words(self.recorder.emit.n_steps));
                }
            }
        }
        if trial.n_taken >= trial.keep_at && trial.n_compared < COMPARED_MAX {
            trial.keep_at *= 2;
            trial.n_compared += 1;
            trial.kept = self.state(outline);
        }
        None
    }

    fn state(&self, outline: u64) -> Option<State> {
        let n_threads = self.scheduler.threads.len();
        Some(State {
            outline,
            stacks_and_objects: self.stacks_and_objects(),
            memory: self.memory()?,
            outside: self.outside()?,
            step: self.recorder.emit.n_steps,
            n_repeats: 0,
            n_alike: 0,
            could: vec![false; n_threads],
            went: vec![false; n_threads],
        })
    }

    /// Is the program, whose outline is the same, in this state?
    fn is_in(&self, kept: &State) -> bool {
        kept.stacks_and_objects == self.stacks_and_objects()
            && Some(kept.memory) == self.memory()
            && Some(kept.outside) == self.outside()
    }

    /// The next thread of a trial: any one at random, later each in turn.
    pub(crate) fn next_of_trial(&mut self, proposed: Option<&Op>) -> Option<ThreadId> {
        let (machine, me) = (&self.scheduler.machine, self.me);
        let trial = self.scheduler.trial.as_deref_mut()?;
        let n_others = machine.n_enabled();
        if trial.n_random > 0 {
            trial.n_random -= 1;
            let choice = trial.rng.below(n_others + u32::from(proposed.is_some()));
            return Some(if choice == n_others { me } else { machine.enabled(choice) });
        }
        trial.n_turns = trial.n_turns.saturating_sub(1);
        trial.n_taken += 1;
        let n_threads = machine.n_threads();
        let others = (me.0 + 1..n_threads).chain(0..me.0).map(ThreadId);
        let next = others.into_iter().find(|it| machine.is_enabled(*it)).unwrap_or(me);
        let op = proposed.filter(|_| next == me).unwrap_or(machine.pending(next));
        if asks_the_world(op) {
            trial.kept = None;
        }
        Some(next)
    }
}

impl State {
    /// Notes who could go on, and who has.
    fn follow(&mut self, control: &Control) {
        let machine = &control.scheduler.machine;
        self.could.resize(control.scheduler.threads.len(), false);
        self.went.resize(control.scheduler.threads.len(), false);
        self.went[control.me.idx()] = true;
        for idx in 0..machine.n_enabled() {
            self.could[machine.enabled(idx).idx()] = true;
        }
    }

    fn has_been_fair(&self) -> bool {
        self.could.iter().zip(&self.went).all(|(could, went)| *went || !could)
    }

    /// The outline has come again: is all compared? Always at first, later ever more seldom, but so that whichever of
    /// them is the one is met soon: one in so many, two in three times as many.
    fn is_compared_now(&mut self) -> bool {
        self.n_alike += 1;
        let odd = self.n_alike >> self.n_alike.trailing_zeros();
        odd == 1 || odd == 3 || self.n_repeats > 0
    }

    /// After how many steps it comes again.
    fn words(&self, step: u64) -> String {
        ((step - self.step) / u64::from(self.n_repeats)).to_string()
    }
}

/// Does an op depend on what is outside the program, on time, or on a choice that another execution would make
/// otherwise? (Signals are not part of a state.)
fn asks_the_world(op: &Op) -> bool {
    let by_kind = matches!(
        op.kind,
        OpKind::Any
            | OpKind::Sleep
            | OpKind::Kill
            | OpKind::Handle
            | OpKind::SigWait
            | OpKind::Cancel
    );
    by_kind || op.kind.is_io() || op.flags.has(Flags::TIMED)
}

const fn n_last(budget: u64) -> u64 {
    let part = budget / PART_MAX;
    if part < STEPS_MAX { part } else { STEPS_MAX }
}
