//! Timers that run in virtual time, as they are set.

use std::ffi::c_int;

use raddle_model::ThreadId;

use crate::base::time;

/// What a timer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing: the program looks at it.
    None,
    /// Sends a signal to the process or to a thread.
    Signal { signal: c_int, code: c_int, value: usize, to: Option<ThreadId> },
    /// Makes a descriptor readable.
    Descriptor(c_int),
    /// Adds to an eventfd, at which a thread of ours waits to call the program's function.
    Thread(c_int),
}

/// A timer. Times are those of the machine, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    pub(crate) effect: Effect,
    /// The clock of its absolute times.
    pub(crate) clock: c_int,
    /// When it goes off; `None` if it is not set.
    pub(crate) at: Option<u64>,
    /// How long after that it goes off again; 0 for never.
    pub(crate) interval: u64,
    /// How often it has gone off since that was last asked.
    pub(crate) count: u64,
    /// Is there a thread that will set it off?
    pub(crate) has_thread: bool,
}

/// All timers, by number; a deleted one leaves a hole.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    pub(crate) all: Vec<Option<Timer>>,
}

impl Timers {
    /// Adds a timer that is not set.
    pub(crate) fn add(&mut self, effect: Effect, clock: c_int) -> usize {
        let fresh =
            Some(Timer { effect, clock, at: None, interval: 0, count: 0, has_thread: false });
        match self.all.iter().position(|it| it.is_none()) {
            Some(idx) => {
                self.all[idx] = fresh;
                idx
            }
            None => {
                self.all.push(fresh);
                self.all.len() - 1
            }
        }
    }

    pub(crate) fn get(&mut self, idx: usize) -> Option<&mut Timer> {
        self.all.get_mut(idx)?.as_mut()
    }

    /// The timer with this effect.
    pub(crate) fn find(&self, effect: Effect) -> Option<usize> {
        self.all.iter().position(|it| it.is_some_and(|it| it.effect == effect))
    }

    pub(crate) fn remove(&mut self, idx: usize) {
        if let Some(slot) = self.all.get_mut(idx) {
            *slot = None;
        }
    }

    pub(crate) fn earliest(&self) -> Option<u64> {
        self.all.iter().flatten().filter_map(|it| it.at).min()
    }
}

impl Timer {
    /// Goes off as often as it is due, and sets itself again. How often it was.
    pub(crate) fn go_off(&mut self, now: u64) -> u64 {
        let Some(at) = self.at.filter(|at| *at <= now) else { return 0 };
        if self.interval == 0 {
            self.at = None;
            return 1;
        }
        let n_times = 1 + (now - at) / self.interval;
        self.at = Some(at + n_times * self.interval);
        n_times
    }

    /// What it would show: time left and interval.
    pub(crate) fn left(&self, now: u64) -> libc::itimerspec {
        let left = self.at.map_or(0, |at| at.saturating_sub(now).max(1));
        libc::itimerspec {
            it_interval: time::to_timespec(self.interval),
            it_value: time::to_timespec(left),
        }
    }
}
