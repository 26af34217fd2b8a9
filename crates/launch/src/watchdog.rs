//! Watches a running execution from outside: no step for too long, too much memory, too much output.
//!
//! Too long is measured in the processor's time where the execution computes, so that it does not
//! depend on who else uses the machine; and before the first step, where there is only one thread that
//! may have much to prepare, it is longer.

use std::time::{Duration, Instant};

use crate::server::Server;

/// Output beyond this is dropped while the execution runs.
const OUTPUT_MAX: u64 = 64 << 20;
/// How long an execution has to say where it is, before it is killed.
const ANSWER_TIME: Duration = Duration::from_secs(2);
/// An execution that uses less than this part of the time waits; else it computes.
const WAITS_BELOW: u32 = 10;
/// So much longer may it compute before its first step.
const ALONE: u32 = 6;
/// So much longer may it neither wait nor compute enough.
const AT_MOST: u32 = 20;

/// See the module.
#[derive(Debug)]
pub(crate) struct Watchdog {
    hang_timeout: Duration,
    memory_limit: u64,
    pulse: (u64, u64),
    pulse_seen: Instant,
    /// The processor's time that the execution had used at its last step.
    used_at_pulse: Duration,
    asked_at: Option<Instant>,
    /// It was found without steps, computing or waiting.
    verdict: Option<Idle>,
    /// The running execution was ended for the memory it took.
    pub(crate) is_out_of_memory: bool,
    /// The running execution was ended because it did not answer.
    pub(crate) is_hung: bool,
}

/// What an execution does that makes no steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    Computes,
    Waits,
}

impl Watchdog {
    /// Begins to watch a block.
    pub(crate) fn new(hang_timeout: Duration, memory_limit: u64) -> Watchdog {
        Watchdog {
            hang_timeout,
            memory_limit,
            pulse: (0, 0),
            pulse_seen: Instant::now(),
            used_at_pulse: Duration::ZERO,
            asked_at: None,
            verdict: None,
            is_out_of_memory: false,
            is_hung: false,
        }
    }

    /// Looks, and acts. To be called a few times a second.
    pub(crate) fn look(&mut self, server: &Server) {
        if server.output_size() > OUTPUT_MAX {
            server.clear_output();
        }
        let pulse = server.pulse();
        let used = processor_time(server.child()).unwrap_or_default();
        if pulse != self.pulse {
            self.pulse = pulse;
            self.pulse_seen = Instant::now();
            self.used_at_pulse = used;
            self.asked_at = None;
            self.verdict = None;
            self.is_out_of_memory = false;
        }
        let memory = memory_of(server.child()).unwrap_or_default();
        let is_too_large = memory > self.memory_limit;
        if memory / 2 > self.memory_limit {
            // It was asked, or is too fast for that, and goes on taking more.
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
                self.verdict = self.judge(used.saturating_sub(self.used_at_pulse));
                if is_too_large || self.verdict.is_some() {
                    self.asked_at = Some(Instant::now());
                    server.ask_where();
                }
            }
        }
    }

    /// What an execution does that has made no step for too long.
    fn judge(&self, used: Duration) -> Option<Idle> {
        let elapsed = self.pulse_seen.elapsed();
        let is_alone = self.pulse.1 == 0;
        let patience = self.hang_timeout * if is_alone { ALONE } else { 1 };
        if elapsed > self.hang_timeout && used < elapsed / WAITS_BELOW {
            Some(Idle::Waits)
        } else if used > patience || elapsed > patience * AT_MOST {
            Some(Idle::Computes)
        } else {
            None
        }
    }

    /// What is to be said about an execution that was asked or ended.
    pub(crate) fn words(&self) -> Option<String> {
        if self.is_out_of_memory {
            let megabytes = self.memory_limit >> 20;
            return Some(format!("more than {megabytes} MiB (--memory)"));
        }
        let seconds = self.asked_at?.duration_since(self.pulse_seen).as_secs().max(1);
        Some(match self.verdict? {
            Idle::Computes => format!("computes for {seconds} s without a step"),
            Idle::Waits => format!("waits for {seconds} s outside of all that raddle sees"),
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

/// The processor's time that a process has used.
fn processor_time(process: i32) -> Option<Duration> {
    /// Ticks last 10 ms for every program on x86-64, whatever the kernel uses inside.
    const TICK: Duration = Duration::from_millis(10);
    if process <= 0 {
        return None;
    }
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the program's name, which may hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Idle, Watchdog, memory_of, processor_time};

    #[test]
    fn who_computes_may_take_longer() {
        let second = Duration::from_secs(1);
        let mut watchdog = Watchdog::new(second, 0);
        let Some(past) = Instant::now().checked_sub(second * 3) else { return };
        watchdog.pulse_seen = past;
        assert_eq!(watchdog.judge(second / 100), Some(Idle::Waits));
        assert_eq!(watchdog.judge(second * 3), None);
        watchdog.pulse.1 = 7;
        assert_eq!(watchdog.judge(second * 3), Some(Idle::Computes));
        assert_eq!(watchdog.judge(second * 9 / 10), None);
        watchdog.pulse_seen = Instant::now();
        assert_eq!(watchdog.judge(Duration::ZERO), None);
    }

    #[test]
    fn this_process_is_measured() {
        let process = std::process::id() as i32;
        assert!(memory_of(process).is_some_and(|it| it > 0));
        assert!(processor_time(process).is_some());
        assert_eq!(processor_time(0), None);
    }
}
