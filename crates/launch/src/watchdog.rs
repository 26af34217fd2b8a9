//! Watches a running execution from outside: no step for too long, too much memory, too much output.

use std::time::{Duration, Instant};

use crate::server::Server;

/// Output beyond this is dropped while the execution runs.
const OUTPUT_MAX: u64 = 64 << 20;
/// How long a stuck execution has to say where it is.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug)]
pub(crate) struct Watchdog {
    hang_timeout: Duration,
    memory_limit: u64,
    pulse: (u64, u64),
    pulse_seen: Instant,
    asked_at: Option<Instant>,
    /// The running execution was ended for the memory it took.
    pub(crate) is_out_of_memory: bool,
    /// The running execution was ended because it did not answer.
    pub(crate) is_hung: bool,
}

impl Watchdog {
    /// Begins to watch a block.
    pub(crate) fn new(hang_timeout: Duration, memory_limit: u64) -> Watchdog {
        Watchdog {
            hang_timeout,
            memory_limit,
            pulse: (0, 0),
            pulse_seen: Instant::now(),
            asked_at: None,
            is_out_of_memory: false,
            is_hung: false,
        }
    }

    /// Looks, and acts. To be called a few times a second.
    pub(crate) fn look(&mut self, server: &Server) {
        if server.output_size() > OUTPUT_MAX {
            server.clear_output();
        }
        if memory_of(server.child()).is_some_and(|it| it > self.memory_limit) {
            self.is_out_of_memory = true;
            server.kill_execution();
        }
        let pulse = server.pulse();
        if pulse != self.pulse {
            self.pulse = pulse;
            self.pulse_seen = Instant::now();
            self.asked_at = None;
        }
        match self.asked_at {
            None if self.pulse_seen.elapsed() > self.hang_timeout => {
                self.asked_at = Some(Instant::now());
                server.ask_where();
            }
            Some(asked_at) if asked_at.elapsed() > ANSWER_TIME => {
                self.is_hung = true;
                self.asked_at = Some(Instant::now());
                server.kill_execution();
            }
            _ => {}
        }
    }
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
