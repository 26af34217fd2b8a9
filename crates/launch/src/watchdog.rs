//! Watches a running execution from outside: no step for too long, too much memory, too much output.
//!
//! Too long is measured in the processor's time where the execution computes, so that it does not
//! depend on who else uses the machine; and before the first step, where there is only one thread that
//! may have much to prepare, it is longer. Who would compute and stands in the kernel's queue for a processor does not
//! wait: on a machine with far too much to do that is most of the time. And time in which the watchdog itself could
//! not look (stopped, asleep, or in that queue) is nobody's.
//!
//! A wait that nobody can end is not waited for as long, nor are calls by which threads wait for each other, and ones that
//! an earlier execution waited in to no avail: so more of the other schedules are tried.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use raddle_model::{MemoryLimit, Standstill};

use crate::{blocked::Blocked, server::Server};

/// Output beyond this is dropped while the execution runs.
const OUTPUT_MAX: u64 = 64 << 20;
/// How long an execution has to say where it is, before it is killed.
const ANSWER_TIME: Duration = Duration::from_secs(2);
/// An execution that uses less than this part of the time waits; else it computes.
const WAITS_BELOW: u32 = 10;
/// So much longer may it compute before its first step.
const ALONE: u32 = 6;
/// Two looks that are further apart count as this far.
const LOOK_MAX: Duration = Duration::from_millis(500);
/// So much longer may it neither wait nor compute enough.
const AT_MOST: u32 = 20;
/// So much shorter may it wait for what never comes.
const FOR_GOOD: u32 = 20;
/// So much shorter may it wait in a call that another execution was ended in, or by which threads wait for each other.
const KNOWN: u32 = 10;
/// What was ended from outside waited, if it made no step for so long before.
const WAITED: Duration = Duration::from_millis(250);

/// Calls that threads wait for each other in: another one may have to go on first, and can't.
const BETWEEN_THREADS: [&str; 7] =
    ["futex", "futex_waitv", "semop", "semtimedop", "msgsnd", "msgrcv", "io_uring_enter"];

/// See the module.
#[derive(Debug)]
pub(crate) struct Watchdog {
    hang_timeout: Duration,
    memory_limit: u64,
    pulse: (u64, u64),
    /// For how long there was no step, as far as the watchdog looked.
    idle: Duration,
    looked_at: Instant,
    /// The processor's time that the execution had at its last step.
    time_at_pulse: Time,
    asked_at: Option<Instant>,
    /// It was found without steps, computing or waiting.
    verdict: Option<Idle>,
    /// What it waits for, if that is known.
    blocked: Option<Blocked>,
    /// Calls that executions were ended in.
    known: BTreeSet<String>,
    /// The running execution was ended for the memory it took.
    pub(crate) is_out_of_memory: bool,
    /// The running execution was ended because it did not answer.
    pub(crate) is_hung: bool,
    /// The running execution was asked to end because nobody wants more.
    pub(crate) is_cut: bool,
}

/// What an execution does that makes no steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    Computes,
    Waits,
}

impl Watchdog {
    /// Begins to watch a block. `known`: the calls that earlier executions were ended in.
    pub(crate) fn new(
        hang_timeout: Duration,
        memory_limit: u64,
        known: BTreeSet<String>,
    ) -> Watchdog {
        Watchdog {
            hang_timeout,
            memory_limit,
            pulse: (0, 0),
            idle: Duration::ZERO,
            looked_at: Instant::now(),
            time_at_pulse: Time::default(),
            asked_at: None,
            verdict: None,
            blocked: None,
            known,
            is_out_of_memory: false,
            is_hung: false,
            is_cut: false,
        }
    }

    /// Looks, and acts. To be called a few times a second.
    pub(crate) fn look(&mut self, server: &Server) {
        if server.output_size() > OUTPUT_MAX {
            server.clear_output();
        }
        let pulse = server.pulse();
        let time = Time::of(server.child()).unwrap_or_default();
        let now = Instant::now();
        self.idle += now.duration_since(self.looked_at).min(LOOK_MAX);
        self.looked_at = now;
        if pulse != self.pulse {
            self.pulse = pulse;
            self.idle = Duration::ZERO;
            self.time_at_pulse = time;
            self.asked_at = None;
            self.verdict = None;
            self.is_out_of_memory = false;
        }
        let memory = memory_of(server.child()).unwrap_or_default();
        let is_too_large = memory > self.memory_limit;
        if memory / 2 > self.memory_limit && self.asked_at.is_some() {
            // It was asked where it is, and goes on taking more.
            self.is_out_of_memory = true;
            server.kill_execution();
            return;
        }
        match self.asked_at {
            Some(asked_at) if asked_at.elapsed() > ANSWER_TIME => {
                self.is_hung = true;
                server.kill_execution();
            }
            Some(_) => {}
            None => {
                self.is_out_of_memory = is_too_large;
                let time = time.since(self.time_at_pulse);
                self.verdict = self.judge(time);
                let is_judged = is_too_large || self.verdict.is_some();
                let may_be_in_vain =
                    self.is_asleep(time) && self.hang_timeout / FOR_GOOD < self.idle;
                if is_judged || may_be_in_vain {
                    self.blocked = Blocked::of(server.child());
                }
                if !is_judged && may_be_in_vain && self.is_in_vain() {
                    self.verdict = Some(Idle::Waits);
                }
                if is_too_large || self.verdict.is_some() {
                    self.ask(server);
                }
            }
        }
    }

    /// Nobody wants more: what runs is to say where it is, unless it was asked before because it makes no steps. If it
    /// has waited for some time, there is more to be said than that it was ended.
    pub(crate) fn cut_short(&mut self, server: &Server) {
        if self.is_cut || self.asked_at.is_some() {
            return;
        }
        let time = Time::of(server.child()).unwrap_or_default().since(self.time_at_pulse);
        if WAITED <= self.idle && self.is_asleep(time) {
            self.verdict = Some(Idle::Waits);
            self.blocked = Blocked::of(server.child());
            self.is_hung = true;
            self.ask(server);
        } else {
            self.is_cut = true;
            server.ask_where(None);
        }
    }

    fn ask(&mut self, server: &Server) {
        self.asked_at = Some(Instant::now());
        server.ask_where(self.blocked.as_ref().map(|it| it.thread));
    }

    /// Does it wait where waiting leads nowhere?
    fn is_in_vain(&self) -> bool {
        let Some(blocked) = &self.blocked else { return false };
        let call = blocked.call.as_str();
        let is_known = self.known.contains(call) || BETWEEN_THREADS.contains(&call);
        blocked.is_for_good || is_known && self.hang_timeout / KNOWN < self.idle
    }

    /// Has it waited, since its last step?
    fn is_asleep(&self, Time { used, queued }: Time) -> bool {
        used + queued < self.idle / WAITS_BELOW
    }

    /// The call that the execution waited in, if it was ended for that.
    pub(crate) fn waited_in(&self) -> Option<&str> {
        let waited = self.asked_at.is_some() && self.verdict == Some(Idle::Waits);
        self.blocked.as_ref().filter(|_| waited).map(|it| it.call.as_str())
    }

    /// What an execution does that has made no step for too long.
    fn judge(&self, time: Time) -> Option<Idle> {
        let elapsed = self.idle;
        let is_alone = self.pulse.1 == 0;
        let patience = self.hang_timeout * if is_alone { ALONE } else { 1 };
        if elapsed > self.hang_timeout && self.is_asleep(time) {
            Some(Idle::Waits)
        } else if time.used > patience || elapsed > patience * AT_MOST {
            Some(Idle::Computes)
        } else {
            None
        }
    }

    /// The limit that an execution exceeded, if it was ended for that.
    pub(crate) fn memory_limit(&self) -> Option<MemoryLimit> {
        self.is_out_of_memory.then_some(MemoryLimit(self.memory_limit))
    }

    /// Why an execution was asked or ended that made no step: in code of `file`, or waiting for input from outside.
    pub(crate) fn standstill(&self, file: Option<String>, is_outside: bool) -> Option<Standstill> {
        self.asked_at?;
        let seconds = self.idle.as_secs().max(1);
        Some(match self.verdict? {
            _ if is_outside => Standstill::Outside(seconds),
            Idle::Computes => Standstill::Computed(seconds, file),
            Idle::Waits => {
                let is_for_good = self.blocked.as_ref().is_some_and(|it| it.is_for_good);
                Standstill::Blocked {
                    call: self.blocked.as_ref().map(|it| it.call.clone()),
                    seconds: (!is_for_good).then_some(seconds),
                    file,
                }
            }
        })
    }
}

/// Processes that the kernel has killed for want of memory since it was started.
pub(crate) fn kernel_kills() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let line = text.lines().find_map(|it| it.strip_prefix("oom_kill "));
    line.and_then(|it| it.trim().parse().ok()).unwrap_or_default()
}

/// The resident memory of a process, in bytes.
fn memory_of(process: i32) -> Option<u64> {
    const PAGE: u64 = 4096;
    if process <= 0 {
        return None;
    }
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let n_pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(n_pages * PAGE)
}

/// What the threads of a process have had of the processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Time {
    /// They ran.
    used: Duration,
    /// They could have.
    queued: Duration,
}

impl Time {
    /// All threads of a process together, those that have ended left out.
    fn of(process: i32) -> Option<Time> {
        if process <= 0 {
            return None;
        }
        let mut all = Time::default();
        for thread in std::fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten() {
            // Nanoseconds on a processor, and in the queue for one.
            let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            let mut fields = text.split_whitespace().map(|it| it.parse().unwrap_or_default());
            let mut next = || Duration::from_nanos(fields.next().unwrap_or_default());
            all = Time { used: all.used + next(), queued: all.queued + next() };
        }
        Some(all)
    }

    fn since(self, earlier: Time) -> Time {
        Time {
            used: self.used.saturating_sub(earlier.used),
            queued: self.queued.saturating_sub(earlier.queued),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, time::Duration};

    use super::{Blocked, Idle, Time, Watchdog, memory_of};

    const SECOND: Duration = Duration::from_secs(1);

    fn used(used: Duration) -> Time {
        Time { used, queued: Duration::ZERO }
    }

    #[test]
    fn who_computes_may_take_longer() {
        let mut watchdog = Watchdog::new(SECOND, 0, BTreeSet::new());
        watchdog.idle = SECOND * 3;
        assert_eq!(watchdog.judge(used(SECOND / 100)), Some(Idle::Waits));
        assert_eq!(watchdog.judge(used(SECOND * 3)), None);
        watchdog.pulse.1 = 7;
        assert_eq!(watchdog.judge(used(SECOND * 3)), Some(Idle::Computes));
        assert_eq!(watchdog.judge(used(SECOND * 9 / 10)), None);
        watchdog.idle = Duration::ZERO;
        assert_eq!(watchdog.judge(used(Duration::ZERO)), None);
    }

    /// It has a hundredth of a processor, and would take all of one.
    #[test]
    fn who_is_kept_from_computing_does_not_wait() {
        let mut watchdog = Watchdog::new(SECOND, 0, BTreeSet::new());
        watchdog.pulse.1 = 7;
        watchdog.idle = SECOND * 3;
        let starved = Time { used: SECOND / 30, queued: SECOND * 2 };
        assert_eq!(watchdog.judge(starved), None);
    }

    #[test]
    fn what_is_waited_for_in_vain() {
        let mut watchdog = Watchdog::new(SECOND * 10, 0, BTreeSet::new());
        watchdog.idle = SECOND * 2;
        let wait = |call: &str, is_for_good| {
            Some(Blocked { thread: 7, call: call.to_owned(), is_for_good })
        };
        assert!(!watchdog.is_in_vain());
        watchdog.blocked = wait("futex", true);
        assert!(watchdog.is_in_vain());
        watchdog.blocked = wait("semop", false);
        assert!(watchdog.is_in_vain());
        watchdog.blocked = wait("read", false);
        assert!(!watchdog.is_in_vain());
        watchdog.known.insert("read".to_owned());
        assert!(watchdog.is_in_vain());
        watchdog.blocked = wait("wait4", false);
        assert!(!watchdog.is_in_vain());
        watchdog.idle = SECOND / 2;
        watchdog.blocked = wait("semop", false);
        assert!(!watchdog.is_in_vain());
    }

    #[test]
    fn this_process_is_measured() {
        let process = std::process::id() as i32;
        assert!(memory_of(process).is_some_and(|it| it > 0));
        assert!(Time::of(process).is_some_and(|it| it.used > Duration::ZERO));
        assert_eq!(Time::of(0), None);
    }
}
