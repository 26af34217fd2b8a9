//! Counting oracle: all schedules of small programs, by depth-first search over the choices.
//!
//! A thread of n statements has at least n + 1 steps: it finishes, too. F stands for that.

use raddle_pick::{AnyPicker, Chooser, Nonpreemptive};

use crate::toy::{
    COND, Do, ERROR_CHECK, Ended, NORMAL, Program, RECURSIVE, Run, SEM_COUNT, X, Y, run,
};

const MAX_STEPS: usize = 100;
const SOON: u64 = 50_000_000;

/// Runs every schedule once.
fn every_run(program: &Program, mut each: impl FnMut(&Run)) {
    let mut prefix = Vec::new();
    // By choice: what was not tried there yet.
    let mut untried: Vec<Vec<u32>> = Vec::new();
    loop {
        let chooser = Chooser::new(&prefix, AnyPicker::Nonpreemptive(Nonpreemptive::new()));
        let it = run(program, chooser, MAX_STEPS, &mut ());
        assert_eq!(it.diverged_at, None);
        for idx in untried.len()..it.choices.len() {
            let rest = it.options[idx].iter().copied().filter(|one| *one != it.choices[idx]);
            untried.push(rest.collect());
        }
        each(&it);
        while untried.last().is_some_and(|it| it.is_empty()) {
            untried.pop();
        }
        let Some(next) = untried.last_mut().and_then(|it| it.pop()) else { return };
        prefix = it.choices[..untried.len() - 1].to_vec();
        prefix.push(next);
    }
}

/// How many schedules there are, and how many of them deadlock.
fn count(program: &Program) -> (u32, u32) {
    let (mut n_all, mut n_deadlocks) = (0, 0);
    every_run(program, |it| {
        assert!(matches!(it.ended, Ended::Finished | Ended::Deadlock), "{it:?}");
        n_all += 1;
        n_deadlocks += u32::from(it.ended == Ended::Deadlock);
    });
    (n_all, n_deadlocks)
}

fn lock_unlock() -> Vec<Do> {
    vec![Do::Lock(NORMAL), Do::Unlock(NORMAL)]
}

fn abba(first: Do, second: Do, undo_first: Do, undo_second: Do) -> Vec<Do> {
    vec![first, second, undo_second, undo_first]
}

/// Program, schedules, deadlocks among them.
fn table() -> Vec<(&'static str, Program, (u32, u32))> {
    let write = Do::Write(X, 1);
    let read = Do::Read(Y);
    let (lock_n, unlock_n) = (Do::Lock(NORMAL), Do::Unlock(NORMAL));
    let (lock_r, unlock_r) = (Do::Lock(RECURSIVE), Do::Unlock(RECURSIVE));
    let (lock_e, unlock_e) = (Do::Lock(ERROR_CHECK), Do::Unlock(ERROR_CHECK));
    let wait = Do::Wait(COND, NORMAL);
    assert_eq!(SEM_COUNT, 1);
    vec![
        // One thread: one.
        ("alone", Program::bare(&[&[write, read]]), (1, 0)),
        // 3 and 4 steps that are always possible: C(7, 3) = 35.
        ("independent 2+3", Program::bare(&[&[write, read], &[read, read, read]]), (35, 0)),
        // 3 threads of 2 steps: 6! / (2! 2! 2!) = 90.
        ("independent 1+1+1", Program::bare(&[&[write], &[write], &[write]]), (90, 0)),
        // L U of one, L U F of the other, and F of the first anywhere after its U: 4 places; twice.
        ("mutex 2", Program::bare(&[&lock_unlock(), &lock_unlock()]), (8, 0)),
        // 3! orders of the critical sections. In each, the last one's L U F closes the row; the second
        // one's F has 4 places after its U, then the first one's F has 7 after its U: 6 * 28.
        ("mutex 3", Program::bare(&[&lock_unlock(), &lock_unlock(), &lock_unlock()]), (168, 0)),
        // Deadlock: both first locks, in either order: 2. Else one has both locks before the other
        // begins: its La Lb Ub come first. Then Ua F among Lb La Ua Ub F: C(7, 2) = 21, less those
        // where Lb La come before Ua, C(5, 2) = 10: 11; twice.
        (
            "ab-ba",
            Program::bare(&[
                &abba(lock_n, lock_r, unlock_n, unlock_r),
                &abba(lock_r, lock_n, unlock_r, unlock_n),
            ]),
            (24, 2),
        ),
        // Relock of a normal mutex: it waits for itself.
        ("relock", Program::bare(&[&[lock_n, lock_n]]), (1, 1)),
        // Readers share: C(6, 3) = 20.
        (
            "readers",
            Program::bare(&[&[Do::ReadLock, Do::RwUnlock], &[Do::ReadLock, Do::RwUnlock]]),
            (20, 0),
        ),
        // Reader and writer exclude each other: as a mutex.
        (
            "reader and writer",
            Program::bare(&[&[Do::ReadLock, Do::RwUnlock], &[Do::WriteLock, Do::RwUnlock]]),
            (8, 0),
        ),
        // A reader that wants to write waits for itself, and the other one too: R R in either order.
        (
            "upgrade",
            Program::bare(&[&[Do::ReadLock, Do::WriteLock], &[Do::ReadLock, Do::WriteLock]]),
            (2, 2),
        ),
        // The semaphore has one. Producer W P F, consumer S S R F: the second S after P. Of C(7, 3) = 35
        // rows, P is after the second S in those that begin with S S, or with W among S S:
        // S S first: C(5, 2) = 10 (W P F among R F); W S S or S W S first: C(4, 2) = 6 each. 35 - 22.
        (
            "producer, consumer",
            Program::bare(&[&[write, Do::SemPost], &[Do::SemWait, Do::SemWait, read]]),
            (13, 0),
        ),
        // Nobody posts: S and S in either order, then the first one's F: the other one is stuck.
        ("semaphore of one", Program::bare(&[&[Do::SemWait], &[Do::SemWait]]), (2, 2)),
        // L W and S F: C(4, 2) = 6 rows. S after W only in L W S F: 5 lost wakeups. After L W S, F
        // goes anywhere among wake U F: 4.
        ("lost wakeup", Program::bare(&[&[lock_n, wait, unlock_n], &[Do::Signal(COND)]]), (9, 5)),
        // N is the wake of one. N before both W: F W W in any order: 6. One W before N: W N, then
        // W', F and the chain K F'': 4! / 2! = 12, twice. Both before N: 2 orders, 2 choices, then F and
        // the chain K F': 3. 6 + 24 + 12, and somebody always sleeps on.
        (
            "futex wake of one",
            Program::bare(&[
                &[Do::FutexWait(X, 0)],
                &[Do::FutexWait(X, 0)],
                &[Do::FutexWake(X, 1)],
            ]),
            (42, 42),
        ),
        // Store, then wake; the value is compared in one step with going to sleep. S N F and W F'.
        // W before S: W S N, then F and K F': 3. Else W finds the value changed: S before W, of C(5, 2) =
        // 10 rows those that do not begin with W, C(4, 1) = 4: 6.
        (
            "futex store and wake",
            Program::bare(&[&[Do::Write(X, 1), Do::FutexWake(X, 1)], &[Do::FutexWait(X, 0)]]),
            (9, 0),
        ),
        // A A' in either order; then leave F of the first among F of the second: 3; twice.
        ("barrier", Program::bare(&[&[Do::Barrier], &[Do::Barrier]]), (6, 0)),
        // One arrives and waits for ever.
        ("barrier alone", Program::bare(&[&[Do::Barrier]]), (1, 1)),
        // E D of one; then its F among E F of the other: 3; twice.
        ("once", Program::bare(&[&[Do::Once], &[Do::Once]]), (6, 0)),
        // E A of one; then its F among E A F of the other: 4; twice.
        ("once throws", Program::bare(&[&[Do::OnceThatThrows], &[Do::OnceThatThrows]]), (8, 0)),
        // 8 as "mutex 2"; and where the timed one comes to the lock while it is held, it may time out: L,
        // time-out, then U F among U F, C(4, 2) = 6, its U being refused.
        (
            "timed lock",
            Program::bare(&[&[lock_e, unlock_e], &[Do::TimedLock(ERROR_CHECK, SOON), unlock_e]]),
            (14, 0),
        ),
        // Sleep may end at any time: S F and W F': C(4, 2) = 6.
        ("sleep", Program::bare(&[&[Do::Sleep(SOON)], &[write]]), (6, 0)),
        // Y F and W W F'. A thread that yields goes after a step of another, or when nobody else can.
        // Y is not first: of C(5, 2) = 10 rows, 4 begin with Y.
        ("yield", Program::bare(&[&[Do::Yield], &[write, write]]), (6, 0)),
        // The same, but all 10: it may go on at once.
        ("hinted yield", Program::bare(&[&[Do::HintedYield], &[write, write]]), (10, 0)),
        // Y F and Y' F', where Y' goes after a step of the other that does something: after F.
        ("hints do nothing", Program::bare(&[&[Do::HintedYield], &[Do::Yield]]), (1, 0)),
        // main: s1 s2 j1 j2 F, with s1 first and j2 F last. Between them a1 b1 j1 and s2 a2 b2, where
        // j1 is after s2: C(6, 3) - 1 = 19.
        ("spawn and join", Program::spawned(vec![vec![], vec![]]), (19, 0)),
    ]
}

#[test]
fn schedules_are_counted() {
    for (name, program, expected) in table() {
        assert_eq!(count(&program), expected, "{name}");
    }
}

/// No schedule is run twice, and the values that racing threads leave are those of all orders.
#[test]
fn every_schedule_is_new_and_every_value_is_seen() {
    let add = [Do::Cas(X, 0, 1), Do::Cas(X, 1, 2)];
    let program = Program::bare(&[&add, &add]);
    let mut seen = std::collections::BTreeSet::new();
    let mut n_all = 0;
    every_run(&program, |it| {
        assert!(seen.insert(it.choices.clone()), "{:?} again", it.choices);
        n_all += 1;
    });
    // 3 and 3 steps: C(6, 3) = 20.
    assert_eq!(n_all, 20);
}
