//! Toy programs of the papers and of our own.

use super::program::{
    If,
    Ins::{self, *},
    Program,
    Val::{In, Is},
    Var::{At, Off},
};

/// Main spawns the others, one after the other, and does no more.
pub(crate) fn spawned(name: &str, threads: Vec<Vec<Ins>>) -> Program {
    let mut all = vec![(1..=threads.len()).map(Spawn).collect()];
    all.extend(threads);
    Program::new(name, all)
}

/// One writes what n read.
pub(crate) fn readers(n: usize) -> Program {
    let mut threads = vec![vec![Store(At(0), Is(1))]];
    threads.extend((0..n).map(|_| vec![Load(0, At(0))]));
    spawned(&format!("readers_{n}"), threads)
}

/// All write.
pub(crate) fn writers(n: usize) -> Program {
    let threads = (0..n as i64).map(|it| vec![Store(At(0), Is(it))]).collect();
    spawned(&format!("writers_{n}"), threads)
}

/// All add one, in two steps.
pub(crate) fn inc(n: usize) -> Program {
    let thread = vec![Load(0, At(0)), Plus(0, 1), Store(At(0), In(0))];
    spawned(&format!("inc_{n}"), vec![thread; n])
}

/// All add one twice, in two steps each.
pub(crate) fn inc_twice(n: usize) -> Program {
    let once = [Load(0, At(0)), Plus(0, 1), Store(At(0), In(0))];
    spawned(&format!("inc_twice_{n}"), vec![[once, once].concat(); n])
}

/// n threads each set an element from the one before; one looks for the last zero.
pub(crate) fn lastzero(n: usize) -> Program {
    let looks = vec![
        Set(0, Is(n as i64)),
        Load(1, Off(0, 0)),
        Goto(If::Equal(1, 0), 5),
        Plus(0, -1),
        Goto(If::Always, 1),
    ];
    let mut threads = vec![looks];
    threads.extend((1..=n).map(|it| vec![Load(0, At(it - 1)), Plus(0, 1), Store(At(it), In(0))]));
    spawned(&format!("lastzero_{n}"), threads).with_vars(n + 1)
}

/// All take one lock.
pub(crate) fn locks(n: usize) -> Program {
    spawned(&format!("locks_{n}"), vec![vec![Lock(0), Unlock(0)]; n])
}

/// Each allocates a block for its inode: Flanagan and Godefroid's file system, with 32 inodes and 26 blocks.
pub(crate) fn filesystem(n: usize) -> Program {
    const INODES: usize = 32;
    const BLOCKS: usize = 26;
    // Variables: inodes, then whether blocks are busy. Mutexes: of inodes, then of blocks.
    let thread = |number: usize| {
        let inode = number % INODES;
        let mut code = vec![Lock(inode), Load(0, At(inode))];
        let mut block = inode * 2 % BLOCKS;
        let end = 2 + 1 + 7 * BLOCKS;
        code.push(Goto(If::Differs(0, 0), end));
        for _ in 0..BLOCKS {
            let next = code.len() + 7;
            code.extend([
                Lock(INODES + block),
                Load(1, At(INODES + block)),
                Goto(If::Differs(1, 0), next - 1),
                Store(At(INODES + block), Is(1)),
                Store(At(inode), Is(block as i64 + 1)),
                Unlock(INODES + block),
            ]);
            // Two ways out of the block.
            code.push(Goto(If::Equal(1, 0), end));
            let at = code.len() - 5;
            code[at] = Goto(If::Differs(1, 0), code.len());
            block = (block + 1) % BLOCKS;
        }
        code.push(Unlock(inode));
        code
    };
    spawned(&format!("filesystem_{n}"), (0..n).map(thread).collect())
}

/// Two take two locks the other way round.
pub(crate) fn deadlock01() -> Program {
    let thread = |first: usize, second: usize| {
        vec![Lock(first), Lock(second), Unlock(second), Unlock(first)]
    };
    spawned("deadlock01", vec![thread(0, 1), thread(1, 0)])
}

/// n philosophers.
pub(crate) fn dinphil(n: usize) -> Program {
    let thread = |it: usize| {
        let (left, right) = (it, (it + 1) % n);
        vec![
            Lock(left),
            Lock(right),
            Load(0, At(0)),
            Plus(0, 1),
            Store(At(0), In(0)),
            Unlock(right),
            Unlock(left),
        ]
    };
    spawned(&format!("dinphil_{n}"), (0..n).map(thread).collect())
}

/// All but one set a and then b; the last sees whether both are old or both are new.
pub(crate) fn reorder(n: usize) -> Program {
    let mut threads = vec![vec![Store(At(0), Is(1)), Store(At(1), Is(-1))]; n - 1];
    threads.push(vec![
        Load(0, At(0)),
        Goto(If::Differs(0, 0), 4),
        Load(1, At(1)),
        Goto(If::Equal(1, 0), 9),
        Load(0, At(0)),
        Goto(If::Differs(0, 1), 8),
        Load(1, At(1)),
        Goto(If::Equal(1, -1), 9),
        Fail,
    ]);
    spawned(&format!("reorder_{n}"), threads)
}

/// All but one set a first value, then a second one from it, each under a lock; the last reads them so.
pub(crate) fn twostage(n: usize) -> Program {
    let sets = vec![
        Lock(0),
        Store(At(0), Is(1)),
        Unlock(0),
        Lock(1),
        Load(0, At(0)),
        Plus(0, 1),
        Store(At(1), In(0)),
        Unlock(1),
    ];
    let reads = vec![
        Lock(0),
        Load(0, At(0)),
        Unlock(0),
        Goto(If::Equal(0, 0), 9),
        Lock(1),
        Load(1, At(1)),
        Unlock(1),
        Goto(If::Equal(1, 2), 9),
        Fail,
    ];
    let mut threads = vec![sets; n - 1];
    threads.push(reads);
    spawned(&format!("twostage_{n}"), threads)
}

/// One counts under a lock and looks again; n count under another.
pub(crate) fn wronglock(n: usize) -> Program {
    let looks = vec![
        Lock(0),
        Load(0, At(0)),
        Load(1, At(0)),
        Plus(1, 1),
        Store(At(0), In(1)),
        Load(2, At(0)),
        Unlock(0),
    ];
    let counts = vec![Lock(1), Load(0, At(0)), Plus(0, 1), Store(At(0), In(0)), Unlock(1)];
    let mut threads = vec![looks];
    threads.extend(vec![counts; n]);
    spawned(&format!("wronglock_1_{n}"), threads)
}

/// A wait without a look at what it waits for: the signal may come too early.
pub(crate) fn lostwake() -> Program {
    let waits = vec![Lock(0), Wait(0, 0), Unlock(0)];
    let signals = vec![Lock(0), Signal(0), Unlock(0)];
    Program::new("lostwake", vec![waits, signals])
}

/// A wait with a look, and a signal without the lock: still too early, sometimes.
pub(crate) fn nakedsignal() -> Program {
    let waits = vec![Lock(0), Load(0, At(0)), Goto(If::Equal(0, 1), 4), Wait(0, 0), Unlock(0)];
    let signals = vec![Store(At(0), Is(1)), Signal(0)];
    Program::new("nakedsignal", vec![waits, signals])
}

/// Two wait, one is called: which?
pub(crate) fn whichwaiter() -> Program {
    let waits = vec![Lock(0), Wait(0, 0), Store(At(0), Is(1)), Unlock(0)];
    let other = vec![Lock(0), Wait(0, 0), Store(At(0), Is(2)), Unlock(0)];
    let signals = vec![Lock(0), Signal(0), Unlock(0)];
    Program::new("whichwaiter", vec![waits, other, signals])
}

/// Two wait, one is called, and then the other.
pub(crate) fn twosignals() -> Program {
    let waits = |value| vec![Lock(0), Wait(0, 0), Store(At(0), Is(value)), Unlock(0)];
    let signals = vec![Signal(0), Signal(0)];
    Program::new("twosignals", vec![waits(1), waits(2), signals])
}

/// Two wait, both are called.
pub(crate) fn broadcast() -> Program {
    let waits = |value| vec![Lock(0), Wait(0, 0), Store(At(0), Is(value)), Unlock(0)];
    let calls = vec![Lock(0), Broadcast(0), Unlock(0)];
    Program::new("broadcast", vec![waits(1), waits(2), calls])
}

/// Two consumers that look once, and wait once: whoever was woken finds nothing, if the other came first.
pub(crate) fn consumers(call: Ins) -> Program {
    let consumes = vec![
        Lock(0),
        Load(0, At(0)),
        Goto(If::Differs(0, 0), 4),
        Wait(0, 0),
        Load(1, At(0)),
        Goto(If::Differs(1, 0), 7),
        Abort,
        Plus(1, -1),
        Store(At(0), In(1)),
        Unlock(0),
    ];
    let once = vec![Lock(0), Load(0, At(0)), Plus(0, 1), Store(At(0), In(0)), call, Unlock(0)];
    let produces = [once.clone(), once].concat();
    Program::new("consumers", vec![consumes.clone(), consumes, produces])
}

/// Each tries a lock that the other may have.
pub(crate) fn trylocks() -> Program {
    let tries = vec![TryLock(0, 0), Goto(If::Equal(0, 0), 4), Add(1, At(0), 1), Unlock(0)];
    Program::new("trylocks", vec![tries; 2])
}

/// One takes a lock, two try it.
pub(crate) fn trylocked() -> Program {
    let takes = vec![Lock(0), Store(At(0), Is(1)), Unlock(0)];
    let tries = vec![TryLock(0, 0), Goto(If::Equal(0, 0), 3), Unlock(0)];
    Program::new("trylocked", vec![takes, tries.clone(), tries])
}

/// One tries twice; the other takes it in between, or not.
pub(crate) fn trytwice() -> Program {
    let takes = vec![Lock(0), Unlock(0)];
    let tries = vec![
        TryLock(0, 0),
        Goto(If::Equal(0, 0), 3),
        Unlock(0),
        TryLock(1, 0),
        Goto(If::Equal(1, 0), 6),
        Unlock(0),
    ];
    Program::new("trytwice", vec![takes, tries])
}

/// A lock that is waited for only so long.
pub(crate) fn timedlock() -> Program {
    let takes = vec![Lock(0), Store(At(0), Is(1)), Unlock(0)];
    let waits = vec![TimedLock(0, 0), Goto(If::Equal(0, 0), 4), Load(1, At(0)), Unlock(0)];
    Program::new("timedlock", vec![takes, waits])
}

/// A wait that ends by itself, or by a signal, or too late.
pub(crate) fn timedwait() -> Program {
    let waits = vec![Lock(0), TimedWait(0, 0, 0), Load(1, At(0)), Unlock(0)];
    let signals = vec![Lock(0), Store(At(0), Is(1)), Signal(0), Unlock(0)];
    Program::new("timedwait", vec![waits, signals])
}

/// Two wait so, and one is called.
pub(crate) fn timedwaits() -> Program {
    let waits = vec![Lock(0), TimedWait(0, 0, 0), Unlock(0)];
    Program::new("timedwaits", vec![waits.clone(), waits, vec![Signal(0)]])
}

/// One reads twice and tries for a lock, one waits for it in vain and writes what a third passes on: between the
/// two reads, the wait must end by itself before the third begins.
pub(crate) fn timeout_first() -> Program {
    let reads = vec![
        Store(At(0), Is(1)),
        Load(1, At(0)),
        Load(0, At(0)),
        TryLock(3, 0),
        Goto(If::Equal(3, 0), 6),
        Unlock(0),
    ];
    let waits = vec![Lock(0), TimedWait(3, 0, 0), Unlock(0), Store(At(1), Is(4))];
    let passes = vec![Load(0, At(1)), Plus(0, 1), Store(At(0), In(0))];
    spawned("timeout_first", vec![reads, waits, passes])
}

/// Waits that may end for no reason.
pub(crate) fn spurious() -> Program {
    let waits = vec![Lock(0), Wait(0, 0), Load(1, At(0)), Unlock(0)];
    let signals = vec![Lock(0), Store(At(0), Is(1)), Signal(0), Unlock(0)];
    Program { is_spurious: true, ..Program::new("spurious", vec![waits, signals]) }
}

/// n read and one writes, under a rwlock.
pub(crate) fn rwlock(n: usize) -> Program {
    let reads = vec![ReadLock(0), Load(0, At(0)), RwUnlock(0)];
    let mut threads = vec![vec![WriteLock(0), Store(At(0), Is(1)), RwUnlock(0)]];
    threads.extend(vec![reads; n]);
    Program::new(&format!("rwlock_{n}"), threads)
}

/// Two readers, of which one lets go only when the other has; a writer waits for both.
pub(crate) fn rwchain() -> Program {
    let first = vec![ReadLock(0), Load(0, At(0)), RwUnlock(0)];
    let second = vec![ReadLock(0), Store(At(0), Is(1)), RwUnlock(0)];
    let writes = vec![WriteLock(0), Store(At(1), Is(1)), RwUnlock(0)];
    Program::new("rwchain", vec![first, second, writes])
}

/// Tries of both kinds at a rwlock.
pub(crate) fn rwtries() -> Program {
    let reads = vec![TryReadLock(0, 0), Goto(If::Equal(0, 0), 3), RwUnlock(0)];
    let writes = vec![TryWriteLock(0, 0), Goto(If::Equal(0, 0), 3), RwUnlock(0)];
    let waits = vec![ReadLock(0), RwUnlock(0)];
    Program::new("rwtries", vec![reads, writes, waits])
}

/// Both read, then both want to write: a deadlock.
pub(crate) fn upgrade() -> Program {
    let thread = vec![ReadLock(0), WriteLock(0)];
    let other = vec![ReadLock(0), RwUnlock(0), WriteLock(0), RwUnlock(0)];
    Program::new("upgrade", vec![thread, other])
}

/// A semaphore as a lock.
pub(crate) fn semlock(n: usize) -> Program {
    let thread = vec![Take(0), Load(0, At(0)), Plus(0, 1), Store(At(0), In(0)), Post(0)];
    Program::new(&format!("semlock_{n}"), vec![thread; n]).with_sems(&[1])
}

/// Two may pass at once, of three.
pub(crate) fn semtwo() -> Program {
    let thread = |it: usize| vec![Take(0), Add(0, At(it), 1), Post(0)];
    Program::new("semtwo", vec![thread(0), thread(1), thread(2)]).with_sems(&[2])
}

/// One makes two, the other takes two.
pub(crate) fn producer() -> Program {
    let makes = vec![Store(At(0), Is(1)), Post(0), Store(At(1), Is(2)), Post(0)];
    let takes = vec![Take(0), Load(0, At(0)), Take(0), Load(1, At(1))];
    Program::new("producer", vec![makes, takes])
}

/// Two make one each, two take one each.
pub(crate) fn producers() -> Program {
    Program::new("producers", vec![vec![Post(0)], vec![Post(0)], vec![Take(0)], vec![Take(0)]])
}

/// A semaphore that is tried.
pub(crate) fn semtry() -> Program {
    let tries = vec![TryTake(0, 0), TryTake(1, 0)];
    Program::new("semtry", vec![vec![Post(0), Post(0)], tries, vec![Take(0)]])
}

/// n meet; the last one to come is told so.
pub(crate) fn barrier(n: usize) -> Program {
    let thread = |it: usize| vec![Store(At(it), Is(1)), Arrive(0, 0), Load(1, At((it + 1) % n))];
    Program::new(&format!("barrier_{n}"), (0..n).map(thread).collect())
}

/// Two meet twice.
pub(crate) fn rounds() -> Program {
    Program::new("rounds", vec![vec![Arrive(0, 0), Arrive(1, 0)]; 2])
}

/// Four want to meet where two fit.
pub(crate) fn crowd() -> Program {
    Program { barriers: vec![2], ..Program::new("crowd", vec![vec![Arrive(0, 0)]; 4]) }
}

/// One of n does it, the others wait until it is done.
pub(crate) fn once(n: usize) -> Program {
    let thread =
        vec![Once(0, 0), Goto(If::Equal(0, 0), 4), Add(1, At(0), 1), OnceDone(0), Load(2, At(0))];
    Program::new(&format!("once_{n}"), vec![thread; n])
}

/// All want to be first.
pub(crate) fn cas(n: usize) -> Program {
    let thread = |it: usize| vec![Cas(0, At(0), Is(0), Is(it as i64 + 1)), Load(1, At(0))];
    Program::new(&format!("cas_{n}"), (0..n).map(thread).collect())
}

/// Each adds one with compare-exchange, until it works.
pub(crate) fn casloop(n: usize) -> Program {
    let thread = vec![
        Load(0, At(0)),
        Set(1, In(0)),
        Plus(1, 1),
        Cas(2, At(0), In(0), In(1)),
        Goto(If::Equal(2, 0), 0),
    ];
    Program::new(&format!("casloop_{n}"), vec![thread; n])
}

/// A wait on a variable, in both orders with the wake-up.
pub(crate) fn futex() -> Program {
    let waits = vec![FutexWait(0, At(0), 0), Load(1, At(0))];
    let wakes = vec![Store(At(0), Is(1)), FutexWake(At(0), 1)];
    Program::new("futex", vec![waits, wakes])
}

/// Two wait on a variable, and one is woken, then the other.
pub(crate) fn futexes() -> Program {
    let waits = |it: usize| vec![FutexWait(0, At(0), 0), Store(At(1), Is(it as i64))];
    let wakes = vec![FutexWake(At(0), 1), FutexWake(At(0), 1)];
    Program::new("futexes", vec![waits(1), waits(2), wakes])
}

/// A recursive lock, against another thread.
pub(crate) fn recursive() -> Program {
    let deep =
        vec![Lock(0), Lock(0), Store(At(0), Is(1)), Unlock(0), Store(At(0), Is(2)), Unlock(0)];
    let plain = vec![Lock(0), Load(0, At(0)), Unlock(0)];
    Program { is_recursive: true, ..Program::new("recursive", vec![deep, plain.clone(), plain]) }
}

/// A recursive lock is given back as a whole to wait.
pub(crate) fn deepwait() -> Program {
    let deep = vec![Lock(0), Lock(0), Wait(0, 0), Unlock(0), Store(At(0), Is(1)), Unlock(0)];
    let calls = vec![Lock(0), Signal(0), Unlock(0), Lock(0), Load(0, At(0)), Unlock(0)];
    Program { is_recursive: true, ..Program::new("deepwait", vec![deep, calls]) }
}

/// Stores, then loads of what the other stored.
pub(crate) fn store_buffer() -> Program {
    let thread = |mine: usize, other: usize| vec![Store(At(mine), Is(1)), Load(0, At(other))];
    Program::new("store_buffer", vec![thread(0, 1), thread(1, 0)])
}

/// Data and a flag.
pub(crate) fn message() -> Program {
    let sends = vec![Store(At(0), Is(1)), Store(At(1), Is(1))];
    let takes = vec![Load(0, At(1)), Goto(If::Equal(0, 0), 3), Load(1, At(0))];
    Program::new("message", vec![sends, takes])
}

/// Threads that create threads, and wait for them.
pub(crate) fn family() -> Program {
    let main = vec![Spawn(1), Store(At(0), Is(1)), Join(1), Load(0, At(0))];
    let child = vec![Spawn(2), Load(0, At(0)), Join(2)];
    let grandchild = vec![Store(At(0), Is(2))];
    Program { has_ends: true, ..Program::new("family", vec![main, child, grandchild]) }
}

/// Two steps of others wait for an end.
pub(crate) fn joiners() -> Program {
    let main = vec![Spawn(1), Spawn(2), Load(0, At(0)), Join(1), Load(1, At(0)), Join(2)];
    let child = vec![Add(0, At(0), 1)];
    Program { has_ends: true, ..Program::new("joiners", vec![main, child.clone(), child]) }
}

/// Looks at the length, and again, while another makes it shorter.
pub(crate) fn strbuf() -> Program {
    let copies = vec![Lock(0), Load(0, At(0)), Unlock(0), Lock(0), Load(1, At(0)), Unlock(0)];
    let erases = vec![Lock(0), Store(At(0), Is(0)), Unlock(0)];
    Program::new("strbuf", vec![copies, erases])
}

/// A deposit, a withdrawal and a look at the balance, each under the lock.
pub(crate) fn account() -> Program {
    let adds = |by| vec![Lock(0), Load(0, At(0)), Plus(0, by), Store(At(0), In(0)), Unlock(0)];
    Program::new("account", vec![adds(10), adds(-10), vec![Lock(0), Load(0, At(0)), Unlock(0)]])
}

/// A driver that is stopped while it works: Qadeer and Wu's bluetooth driver. Variables: how many are
/// inside, is it to stop, is it stopped.
pub(crate) fn bluetooth() -> Program {
    let stops = vec![
        Store(At(1), Is(1)),
        Add(0, At(0), -1),
        Goto(If::Differs(0, 1), 4),
        Store(At(2), Is(1)),
    ];
    let works = vec![
        Load(0, At(1)),
        Goto(If::Differs(0, 0), 6),
        Add(1, At(0), 1),
        Load(2, At(2)),
        Goto(If::Equal(2, 0), 6),
        Fail,
        Add(1, At(0), -1),
    ];
    let main = vec![Store(At(0), Is(1)), Spawn(1), Spawn(2)];
    Program::new("bluetooth", vec![main, stops, works])
}

/// Mutual exclusion by variables: Peterson's, each tries once.
pub(crate) fn peterson() -> Program {
    let thread = |mine: usize, other: usize| {
        vec![
            Store(At(mine), Is(1)),
            Store(At(2), Is(other as i64)),
            Load(0, At(other)),
            Goto(If::Equal(0, 0), 6),
            Load(1, At(2)),
            Goto(If::Equal(1, other as i64), 7),
            Add(2, At(3), 1),
        ]
    };
    Program::new("peterson", vec![thread(0, 1), thread(1, 0)])
}

/// Waits for a flag, spinning.
pub(crate) fn spin() -> Program {
    let waits = vec![
        Load(0, At(0)),
        Goto(If::Equal(0, 1), 5),
        Spin(0, At(0)),
        Goto(If::Equal(0, 0), 2),
        Load(1, At(1)),
    ];
    let sets = vec![Store(At(1), Is(7)), Store(At(0), Is(1))];
    Program::new("spin", vec![waits, sets])
}

/// Two threads, three locks in one order.
pub(crate) fn ordered_locks() -> Program {
    let thread = vec![Lock(0), Lock(1), Lock(2), Unlock(2), Unlock(1), Unlock(0)];
    Program::new("ordered_locks", vec![thread.clone(), thread])
}

/// A buffer of one element with a lock and two condition variables.
pub(crate) fn buffer() -> Program {
    let puts = vec![
        Lock(0),
        Load(0, At(0)),
        Goto(If::Equal(0, 0), 5),
        Wait(0, 0),
        Goto(If::Always, 1),
        Store(At(0), Is(1)),
        Signal(1),
        Unlock(0),
    ];
    let gets = vec![
        Lock(0),
        Load(0, At(0)),
        Goto(If::Equal(0, 1), 5),
        Wait(1, 0),
        Goto(If::Always, 1),
        Store(At(0), Is(0)),
        Signal(0),
        Unlock(0),
    ];
    let mut twice = puts.clone();
    twice.extend(puts.iter().map(|it| match *it {
        Goto(when, target) => Goto(when, target + 8),
        other => other,
    }));
    let mut gets_twice = gets.clone();
    gets_twice.extend(gets.iter().map(|it| match *it {
        Goto(when, target) => Goto(when, target + 8),
        other => other,
    }));
    Program::new("buffer", vec![twice, gets_twice])
}

/// Everything that is small enough to be enumerated.
pub(crate) fn small() -> Vec<Program> {
    vec![
        readers(2),
        readers(4),
        writers(3),
        writers(5),
        inc(2),
        inc(3),
        lastzero(2),
        lastzero(3),
        locks(3),
        locks(4),
        deadlock01(),
        dinphil(2),
        dinphil(3),
        reorder(3),
        lostwake(),
        nakedsignal(),
        whichwaiter(),
        twosignals(),
        broadcast(),
        trylocks(),
        trylocked(),
        trytwice(),
        timedlock(),
        timedwait(),
        timedwaits(),
        spurious(),
        rwlock(2),
        rwlock(3),
        rwchain(),
        rwtries(),
        upgrade(),
        semlock(2),
        semlock(3),
        semtwo(),
        producer(),
        producers(),
        semtry(),
        barrier(2),
        barrier(3),
        rounds(),
        crowd(),
        once(2),
        once(3),
        cas(2),
        cas(3),
        casloop(2),
        futex(),
        futexes(),
        recursive(),
        deepwait(),
        store_buffer(),
        message(),
        family(),
        joiners(),
        strbuf(),
        account(),
        bluetooth(),
        peterson(),
        spin(),
        ordered_locks(),
        buffer(),
    ]
}
