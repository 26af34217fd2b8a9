//! A search that can be left in the midst of its thoughts.
//!
//! What a search makes of an execution may take long: some compare all pairs of steps, or of executions. When time
//! is over, or the user wants no more, nobody waits for that. So thoughts that may be long are thought on a thread of
//! their own, which is left behind with the search if need be: it ends with the process. What the search had come to
//! before is in the journal, and the execution it was thinking about is made again when the search goes on.

use std::{
    panic::resume_unwind,
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use raddle_model::{Scope, SearchProgress};
use raddle_plan::search::{Run, Search, Task};

/// How often somebody looks whether a thought is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How much longer than there is time for may a search think? Users are promised that all ends within a second.
const PATIENCE: Duration = Duration::from_millis(300);
/// Executions with fewer steps are short thoughts.
const LONG_STEPS: usize = 1_000;
/// Who has thought for so long once will do so again.
const LONG_THOUGHT: Duration = Duration::from_millis(5);
/// As much as the main thread has, and more: some searches recurse.
const STACK: usize = 64 << 20;

/// For how long thoughts are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) deadline: Option<Instant>,
    pub(super) stop: &'a AtomicBool,
}

impl Wanted<'_> {
    pub(super) fn is_over(self) -> bool {
        let is_late = self.deadline.is_some_and(|it| it + PATIENCE <= Instant::now());
        is_late || self.stop.load(Relaxed)
    }
}

/// Does something that may take long; `None` if `is_over` first. Then nobody waits for it.
pub fn unless_over<T: Send + 'static>(
    is_over: impl Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody may be there any more.
        let _ = sender.send(work());
    });
    let thread = thread.expect("bug: no thread to think on");
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(done) => return Some(done),
            Err(RecvTimeoutError::Timeout) if is_over() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("bug: a thought without a result"),
            },
        }
    }
}

/// A search, as long as it is not left.
pub(super) struct Thinking<'a> {
    search: Option<Box<dyn Search + Send>>,
    wanted: Wanted<'a>,
    /// It has thought for long before.
    is_slow: bool,
    /// How far it was before its last long thought.
    left_at: SearchProgress,
    /// For how long it has thought about executions, and about what comes next.
    learned: Duration,
    planned: Duration,
}

impl<'a> Thinking<'a> {
    pub(super) fn new(search: Box<dyn Search + Send>, wanted: Wanted<'a>) -> Thinking<'a> {
        Thinking {
            search: Some(search),
            wanted,
            is_slow: false,
            left_at: SearchProgress::default(),
            learned: Duration::ZERO,
            planned: Duration::ZERO,
        }
    }

    /// The search, if it was not left.
    pub(super) fn get(&self) -> Option<&(dyn Search + Send)> {
        self.search.as_deref()
    }

    /// Lets the search, if it was not left, learn from a random execution before it.
    pub(super) fn teach(&mut self, run: &Run) {
        if let Some(search) = &mut self.search {
            search.teach(run);
        }
    }

    /// How far it is, or was when it was left.
    pub(super) fn progress(&self) -> SearchProgress {
        let mut progress = self.get().map_or_else(|| self.left_at.clone(), Search::progress);
        if let Scope::Derived(it) = &mut progress.scope {
            it.analysis_us = self.learned.as_micros() as u64;
            it.generation_us = self.planned.as_micros() as u64;
        }
        progress
    }

    /// Has it thought of everything?
    pub(super) fn is_finished(&self) -> bool {
        self.get().is_some_and(Search::is_finished)
    }

    /// The next tasks; none if it was left.
    pub(super) fn next(&mut self, n_max: usize) -> Vec<Task> {
        let since = Instant::now();
        let tasks = match self.is_slow {
            true => self.apart(move |it| it.next(n_max)),
            false => self.at_once(|it| it.next(n_max)),
        };
        self.planned += since.elapsed();
        tasks.unwrap_or_default()
    }

    /// Takes in an execution: the tasks that count now; `None` if it was left.
    pub(super) fn learn(&mut self, number: u64, run: &Run) -> Option<Vec<u64>> {
        let since = Instant::now();
        // Some only take it in here, and think about it when they are asked what comes next.
        self.is_slow |= LONG_STEPS <= run.steps.len();
        let counting = if self.is_slow {
            let run = run.clone();
            self.apart(move |it| it.learn(number, &run))
        } else {
            self.at_once(|it| it.learn(number, run))
        };
        self.learned += since.elapsed();
        counting
    }

    fn at_once<T>(&mut self, think: impl FnOnce(&mut dyn Search) -> T) -> Option<T> {
        let since = Instant::now();
        let thought = think(self.search.as_deref_mut()?);
        self.is_slow |= LONG_THOUGHT <= since.elapsed();
        Some(thought)
    }

    fn apart<T: Send + 'static>(
        &mut self,
        think: impl FnOnce(&mut dyn Search) -> T + Send + 'static,
    ) -> Option<T> {
        let mut search = self.search.take()?;
        let progress = search.progress();
        let wanted = self.wanted;
        let done = unless_over(
            || wanted.is_over(),
            move || {
                let thought = think(search.as_mut());
                (search, thought)
            },
        );
        let Some((search, thought)) = done else {
            self.left_at = SearchProgress { is_finished: false, ..progress };
            return None;
        };
        self.search = Some(search);
        Some(thought)
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::PickerSpec;
    use raddle_plan::search::Step;
    use serde_json::value::{RawValue, to_raw_value};

    use super::*;

    #[test]
    fn what_ends_is_waited_for() {
        assert_eq!(unless_over(|| false, || 7), Some(7));
    }

    #[test]
    fn nobody_waits_for_what_is_not_wanted() {
        let (keep, blocked) = mpsc::channel::<()>();
        // It never ends by itself.
        assert_eq!(unless_over(|| true, move || blocked.recv().is_ok()), None);
        drop(keep);
    }

    fn fail() {
        panic!("as it was");
    }

    #[test]
    fn a_panic_comes_through() {
        let through = std::panic::catch_unwind(|| unless_over::<()>(|| false, fail));
        let panic = through.expect_err("it was swallowed");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"as it was"));
    }

    /// A search that says on which thread it was asked for tasks, as their prefix.
    struct Telling(thread::ThreadId);

    impl Search for Telling {
        fn next(&mut self, _n_max: usize) -> Vec<Task> {
            let is_apart = thread::current().id() != self.0;
            let tail = PickerSpec::Walk;
            vec![Task { number: 0, prefix: vec![u32::from(is_apart)], tail }]
        }

        fn turn(&self) -> Option<u64> {
            Some(0)
        }

        fn learn(&mut self, number: u64, _run: &Run) -> Vec<u64> {
            vec![number]
        }

        fn is_finished(&self) -> bool {
            false
        }

        fn progress(&self) -> SearchProgress {
            SearchProgress::default()
        }

        fn save(&self) -> Box<RawValue> {
            to_raw_value(&()).expect("nothing can be written")
        }
    }

    fn is_next_apart_after(n_steps: usize) -> bool {
        let stop = AtomicBool::new(false);
        let wanted = Wanted { deadline: None, stop: &stop };
        let mut thinking = Thinking::new(Box::new(Telling(thread::current().id())), wanted);
        let run = Run { steps: vec![Step::default(); n_steps], ..Run::default() };
        assert_eq!(thinking.learn(0, &run), Some(vec![0]));
        thinking.next(1)[0].prefix == [1]
    }

    /// The published total searches derive test cases of a trace in `next`: it can't be waited for.
    #[test]
    fn what_comes_after_a_long_execution_is_thought_apart() {
        assert!(is_next_apart_after(LONG_STEPS));
    }
}
