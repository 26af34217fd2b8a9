//! Race detection against an oracle: random traces of accesses of all sizes, locks and atomics, for which full vector clocks
//! for every byte say whether they have a race. Long enough that executions are busy (`rt/memory/turns`).

mod common;

use std::{fmt::Write as _, fs, path::Path};

use common::{folder, raddle, write};
use raddle_model::Rng;

const N_THREADS: usize = 4;
const N_LOCKS: usize = 3;
const SIZE: usize = 256;

/// What happened before what a thread does now: so much of each thread.
type Clock = [u32; N_THREADS];

fn join(to: &mut Clock, from: &Clock) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = (*to).max(*from));
}

/// All that matters of the past.
struct Oracle {
    threads: [Clock; N_THREADS],
    locks: [Clock; N_LOCKS],
    atomics: [Clock; N_LOCKS],
    /// By byte: when each thread has read and written it last.
    reads: [Clock; SIZE],
    writes: [Clock; SIZE],
}

impl Oracle {
    fn new() -> Oracle {
        let mut threads = [Clock::default(); N_THREADS];
        threads.iter_mut().enumerate().for_each(|(idx, it)| it[idx] = 1);
        let (locks, atomics) = ([Clock::default(); N_LOCKS], [Clock::default(); N_LOCKS]);
        let (reads, writes) = ([Clock::default(); SIZE], [Clock::default(); SIZE]);
        Oracle { threads, locks, atomics, reads, writes }
    }

    fn is_race(&self, access: &Access) -> bool {
        let now = &self.threads[access.thread];
        let is_before = |then: &Clock| then.iter().zip(now).all(|(then, now)| then <= now);
        let bytes = access.at..access.at + access.size;
        let writes_are = self.writes[bytes.clone()].iter().all(is_before);
        !(writes_are && (!access.is_write || self.reads[bytes].iter().all(is_before)))
    }

    fn perform(&mut self, access: &Access) {
        let past = if access.is_write { &mut self.writes } else { &mut self.reads };
        for byte in &mut past[access.at..access.at + access.size] {
            byte[access.thread] = self.threads[access.thread][access.thread];
        }
    }
}

#[derive(Clone, Copy)]
struct Access {
    thread: usize,
    is_write: bool,
    at: usize,
    size: usize,
}

impl Access {
    fn draw(rng: &mut Rng, thread: usize) -> Access {
        let is_write = rng.below(3) == 0;
        let size = match rng.below(8) {
            0 | 1 => 1,
            2 => 2,
            3 | 4 => 4,
            5 | 6 => 8,
            _ if is_write => 9 + rng.below(40) as usize,
            _ => 4,
        };
        let at = rng.below((SIZE - size) as u32) as usize;
        // Eight bytes may be anywhere.
        let at = if size == 2 || size == 4 { at & !(size - 1) } else { at };
        Access { thread, is_write, at, size }
    }

    fn line(&self) -> String {
        let kind = match (self.is_write, self.size) {
            (false, _) => 'r',
            (true, 1 | 2 | 4 | 8) => 'w',
            (true, _) => 'f',
        };
        format!("{} {kind} {} {}\n", self.thread, self.at, self.size)
    }
}

/// A trace without a race, and a last access that races with an earlier one.
fn draw(rng: &mut Rng, n_ops: usize) -> (String, String) {
    let (mut oracle, mut text) = (Oracle::new(), String::new());
    let mut holders = [None; N_LOCKS];
    let mut thread = 0;
    for _ in 0..n_ops {
        if rng.below(4) == 0 {
            thread = rng.below(N_THREADS as u32) as usize;
        }
        let it = rng.below(N_LOCKS as u32) as usize;
        match (rng.below(16), holders[it]) {
            (0 | 1, None) => {
                holders[it] = Some(thread);
                join(&mut oracle.threads[thread], &oracle.locks[it]);
                let _ = writeln!(text, "{thread} [ {it} 0");
            }
            (0 | 1, Some(holder)) => {
                holders[it] = None;
                oracle.locks[it] = oracle.threads[holder];
                oracle.threads[holder][holder] += 1;
                let _ = writeln!(text, "{holder} ] {it} 0");
            }
            (2, _) => {
                join(&mut oracle.threads[thread], &oracle.atomics[it]);
                oracle.atomics[it] = oracle.threads[thread];
                oracle.threads[thread][thread] += 1;
                let _ = writeln!(text, "{thread} m {it} 0");
            }
            _ => {
                let access = Access::draw(rng, thread);
                if !oracle.is_race(&access) {
                    oracle.perform(&access);
                    text.push_str(&access.line());
                }
            }
        }
    }
    let racy = loop {
        let access = Access::draw(rng, rng.clone().below(N_THREADS as u32) as usize);
        if oracle.is_race(&access) {
            break text.clone() + &access.line();
        }
    };
    (text, racy)
}

/// How many races one execution has.
fn n_races(folder: &Path, trace: &str) -> u64 {
    fs::write(folder.join("trace"), trace).expect("a trace can be written");
    let args = ["run", "oracle.c", "--execs", "1", "--strategy", "nonpreemptive", "--no-explain"];
    let rest = ["--detect", "race", "-k", "--max-steps", "10000000", "--message-format", "json"];
    let output = raddle(folder, &[args, rest].concat()).output().expect("raddle starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        matches!(output.status.code(), Some(0 | 2)),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.lines().filter(|it| it.contains("\"type\":\"finding\"")).count() as u64
}

#[test]
fn races_are_those_of_vector_clocks() {
    let cases = std::env::var("RADDLE_TEST_CASES").ok().map(|it| it.parse().expect("a number"));
    let n_traces: u64 = cases.unwrap_or(24);
    let folder = folder();
    write(folder.path(), "oracle.c", include_str!("oracle.c"));
    let seed = raddle_tidy::seed(21);
    for number in 0..n_traces {
        let mut rng = Rng::new(seed + number);
        let n_ops = [300, 9_000, 24_000][(number % 3) as usize];
        let (clean, racy) = draw(&mut rng, n_ops);
        assert_eq!(n_races(folder.path(), &clean), 0, "trace {number} of seed {seed} has no race");
        assert!(n_races(folder.path(), &racy) > 0, "trace {number} of seed {seed} has a race");
    }
}
