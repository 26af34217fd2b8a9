//! Test support: a schedule written out by hand, line by line, and what became of each line.
//!
//! - `1 lock m`: thread 1 announces the op and performs it, or waits. Verbs are those of [`OpKind`];
//!   then come objects, a number for `arg`, and `until 500` for a deadline.
//!   A last `choosing 2` is the data choice. A futex wake's `1/6` is a count and a bit set.
//! - `1 goes`: performs what thread 1 waits to do.
//! - `1 times out`, `1 is interrupted`, `1 is cancelled`, `1 mends b`: as the machine's methods.
//! - `settle`, `advance 300`, `alarm 500`, `spurious`, `requeue f g 1`: the same.
//! - `who`: who can go on, and whose deadline may pass.
//!
//! Threads 0 to 3 exist from the start; their objects are `t0` to `t3`, the others those of
//! [`objects`].

use std::fmt::Write;

use expect_test::Expect;
use raddle_model::{ObjectId, Op, OpKind, OpResult, SiteId, ThreadId};

use crate::{Machine, MutexKind, ObjectState, Performed, Status};

const N_THREADS: u32 = 4;

/// Runs a script and compares what became of it.
pub(crate) fn check(script: &str, expect: Expect) {
    let mut machine = Machine::new(ObjectId(1));
    for number in 1..N_THREADS {
        let thread = machine.create_thread(ObjectId(number + 1), Some(ThreadId(0)), SiteId(1));
        machine.perform(thread, 0);
    }
    for (idx, (_, state)) in objects().into_iter().enumerate() {
        machine.set_object(ObjectId(N_THREADS + 1 + idx as u32), state);
    }
    let mut told = String::new();
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let answer = follow(&mut machine, line);
        writeln!(told, "{line}: {answer}").expect("a string takes all");
        check_invariants(&machine);
    }
    expect.assert_eq(&told);
}

fn objects() -> Vec<(&'static str, ObjectState)> {
    vec![
        ("m", ObjectState::mutex(MutexKind::Normal, false)),
        ("n", ObjectState::mutex(MutexKind::Normal, false)),
        ("r", ObjectState::mutex(MutexKind::Recursive, false)),
        ("e", ObjectState::mutex(MutexKind::ErrorCheck, false)),
        ("b", ObjectState::mutex(MutexKind::Normal, true)),
        ("c", ObjectState::cond()),
        ("w", ObjectState::rwlock(false)),
        ("p", ObjectState::rwlock(true)),
        ("s", ObjectState::sem(1)),
        ("full", ObjectState::sem(i32::MAX as u32)),
        ("pair", ObjectState::barrier(2)),
        ("solo", ObjectState::barrier(1)),
        ("o", ObjectState::once()),
        ("f", ObjectState::Futex),
        ("g", ObjectState::Futex),
        ("fd", ObjectState::Descriptor([false, true])),
    ]
}

fn object(name: &str) -> Option<ObjectId> {
    if let Some(number) = name.strip_prefix('t') {
        return Some(ObjectId(number.parse::<u32>().ok()? + 1));
    }
    let idx = objects().iter().position(|it| it.0 == name)?;
    Some(ObjectId(N_THREADS + 1 + idx as u32))
}

fn named(name: &str) -> ObjectId {
    object(name).unwrap_or_else(|| panic!("no object is called {name}"))
}

fn number(word: &str) -> u64 {
    if let Some((count, bits)) = word.split_once('/') {
        return number(count) | number(bits) << 32;
    }
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}

fn follow(machine: &mut Machine, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["settle"] => match machine.settle() {
            Ok(()) => format!("{} at {}", who(machine), machine.now()),
            Err(stuck) => format!("{stuck:?}").to_lowercase(),
        },
        ["advance", time] => {
            machine.advance(number(time));
            format!("{} at {}", who(machine), machine.now())
        }
        ["alarm", time] => {
            machine.set_alarm(Some(number(time)));
            "set".to_owned()
        }
        ["spurious"] => {
            machine.may_wake_spuriously = true;
            "allowed".to_owned()
        }
        ["requeue", from, to, count] => {
            machine.requeue(named(from), named(to), number(count) as u32).to_string()
        }
        ["who"] => who(machine),
        [thread, ref rest @ ..] => lead(machine, ThreadId(number(thread) as u32), rest),
        [] => String::new(),
    }
}

fn lead(machine: &mut Machine, thread: ThreadId, words: &[&str]) -> String {
    match words {
        ["goes"] => perform(machine, thread, 0),
        ["times", "out"] => {
            machine.time_out(thread);
            who(machine)
        }
        ["is", "interrupted"] => {
            machine.interrupt(thread);
            who(machine)
        }
        ["is", "cancelled"] => {
            let cond = machine.pending(thread).object;
            machine.cancel_wait(thread, cond);
            who(machine)
        }
        ["mends", mutex] => machine.make_consistent(named(mutex), thread).to_string(),
        _ => {
            let (words, choice) = match words {
                [words @ .., "choosing", choice] => (words, number(choice) as u32),
                _ => (words, 0),
            };
            machine.announce(thread, op(words));
            if machine.is_enabled(thread) {
                perform(machine, thread, choice)
            } else {
                format!("{:?}", machine.status(thread)).split('(').next().unwrap_or("").to_owned()
            }
        }
    }
}

fn op(words: &[&str]) -> Op {
    let kind = OpKind::ALL.iter().copied().find(|it| it.verb() == words[0]);
    let kind = kind.unwrap_or_else(|| panic!("there is no verb {}", words[0]));
    let mut op = Op::on(kind, ObjectId::NONE, SiteId(1));
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        match object(word) {
            _ if *word == "until" => {
                op = op.until(rest.next().map(|it| number(it)));
            }
            Some(it) if op.object == ObjectId::NONE => op.object = it,
            Some(it) => op.other = it,
            None => op.arg = number(word),
        }
    }
    if kind == OpKind::Detach {
        op.arg = u64::from(op.object.0 - 1);
    }
    op
}

fn perform(machine: &mut Machine, thread: ThreadId, choice: u32) -> String {
    if !machine.is_enabled(thread) {
        return format!("can't, {:?}", machine.pending(thread).kind.verb());
    }
    let op = *machine.pending(thread);
    let n_choices = machine.n_choices(thread);
    let performed = machine.perform(thread, choice);
    if op.kind == OpKind::FutexWait {
        let bits = if op.arg == 0 { u32::MAX } else { op.arg as u32 };
        machine.queue_at_futex(thread, op.object, bits);
    }
    let mut told = tell(&performed);
    if n_choices > 1 {
        write!(told, ", one of {n_choices} ways").expect("a string takes all");
    }
    told
}

fn tell(performed: &Performed) -> String {
    match (performed.misuse, performed.result, performed.value) {
        (Some(misuse), OpResult::Misused, _) => misuse.word().to_owned(),
        (None, result, 0) => format!("{result:?}"),
        (None, result, value) => format!("{result:?} {value}"),
        (Some(_), result, _) => panic!("a misuse, but {result:?}"),
    }
}

fn who(machine: &Machine) -> String {
    let mut enabled: Vec<u32> = (0..machine.n_enabled()).map(|it| machine.enabled(it).0).collect();
    enabled.sort_unstable();
    let mut timed: Vec<u32> = machine.timed().iter().map(|it| it.0).collect();
    timed.sort_unstable();
    match (machine.is_alarm_due, timed.is_empty()) {
        (true, _) => format!("{enabled:?}, alarm"),
        (false, true) => format!("{enabled:?}"),
        (false, false) => format!("{enabled:?}, timed {timed:?}"),
    }
}

/// The list of who can go on, and the answer for each thread, agree; so do slots and lists, owners and
/// depths.
fn check_invariants(machine: &Machine) {
    let mut listed: Vec<u32> = (0..machine.n_enabled()).map(|it| machine.enabled(it).0).collect();
    listed.sort_unstable();
    let asked: Vec<u32> =
        (0..machine.n_threads()).filter(|it| machine.is_enabled(ThreadId(*it))).collect();
    assert_eq!(listed, asked);
    for thread in &machine.timed {
        assert!(machine.threads[thread.idx()].is_timed);
        assert_ne!(machine.status(*thread), Status::Running);
    }
    for object in (1..=N_THREADS + objects().len() as u32).map(ObjectId) {
        if let Some(ObjectState::Mutex(mutex)) = machine.object(object) {
            mutex.check_depth();
        }
    }
    let earliest = machine.deadlines.first().map_or(u64::MAX, |it| it.0);
    assert_eq!(machine.next_deadline, earliest);
}
