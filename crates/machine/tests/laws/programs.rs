//! Toy programs at random: mostly well-formed blocks, so that runs get far, and now and then a
//! statement that makes no sense.

use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any, prop_oneof},
    sample::select,
};
use raddle_model::ObjectId;

use crate::toy::{COND, Do, ERROR_CHECK, NORMAL, OTHER_COND, Program, RECURSIVE, X, Y};

const N_THREADS_MAX: usize = 4;
const N_STATEMENTS_MAX: usize = 6;

/// Programs of at most four threads that `main` spawns and joins.
pub(crate) fn program() -> impl Strategy<Value = Program> {
    (vec(code(), 1..=N_THREADS_MAX), any::<bool>()).prop_map(|(threads, may_wake_spuriously)| {
        Program { may_wake_spuriously, ..Program::spawned(threads) }
    })
}

fn code() -> impl Strategy<Value = Vec<Do>> {
    vec(block(), 1..=3).prop_map(|blocks| {
        let mut code = blocks.concat();
        code.truncate(N_STATEMENTS_MAX);
        code
    })
}

fn mutex() -> impl Strategy<Value = ObjectId> {
    select(vec![NORMAL, NORMAL, RECURSIVE, ERROR_CHECK])
}

fn cond() -> impl Strategy<Value = ObjectId> {
    select(vec![COND, COND, COND, OTHER_COND])
}

fn variable() -> impl Strategy<Value = ObjectId> {
    select(vec![X, Y])
}

/// Some deadlines come within a few steps, two at the same time perhaps; some are seconds away.
fn time() -> impl Strategy<Value = u64> {
    select(vec![0, 100, 300, 1_000, 50_000, 50_000, 2_000_000_000, 6_000_000_000])
}

fn block() -> impl Strategy<Value = Vec<Do>> {
    prop_oneof![
        3 => (mutex(), simple()).prop_map(|(m, it)| vec![Do::Lock(m), it, Do::Unlock(m)]),
        2 => (mutex(), mutex())
            .prop_map(|(m, n)| vec![Do::Lock(m), Do::Lock(n), Do::Unlock(n), Do::Unlock(m)]),
        1 => (mutex(), time())
            .prop_map(|(m, time)| vec![Do::TimedLock(m, time), Do::Unlock(m)]),
        1 => mutex().prop_map(|m| vec![Do::TryLock(m), Do::Unlock(m)]),
        3 => (cond(), mutex())
            .prop_map(|(c, m)| vec![Do::Lock(m), Do::Wait(c, m), Do::Unlock(m)]),
        3 => (cond(), mutex(), time())
            .prop_map(|(c, m, time)| vec![Do::Lock(m), Do::TimedWait(c, m, time), Do::Unlock(m)]),
        1 => cond().prop_map(|c| {
            let (lock, unlock) = (Do::Lock(RECURSIVE), Do::Unlock(RECURSIVE));
            vec![lock, lock, Do::Wait(c, RECURSIVE), unlock, unlock]
        }),
        3 => rwlock(),
        5 => simple().prop_map(|it| vec![it]),
        2 => vec(simple(), 2..=4),
        1 => nonsense().prop_map(|it| vec![it]),
    ]
}

fn rwlock() -> impl Strategy<Value = Vec<Do>> {
    let lock = prop_oneof![
        Just(Do::ReadLock),
        Just(Do::WriteLock),
        Just(Do::TryReadLock),
        Just(Do::TryWriteLock),
        time().prop_map(Do::TimedReadLock),
        time().prop_map(Do::TimedWriteLock),
    ];
    (lock, simple()).prop_map(|(lock, it)| vec![lock, it, Do::RwUnlock])
}

fn simple() -> impl Strategy<Value = Do> {
    prop_oneof![
        4 => cond().prop_map(Do::Signal),
        2 => cond().prop_map(Do::Broadcast),
        2 => Just(Do::SemWait),
        1 => time().prop_map(Do::TimedSemWait),
        1 => Just(Do::SemTryWait),
        3 => Just(Do::SemPost),
        3 => Just(Do::Barrier),
        2 => Just(Do::Once),
        1 => Just(Do::OnceThatThrows),
        2 => (variable(), 0..2_u64).prop_map(|(x, value)| Do::FutexWait(x, value)),
        1 => (variable(), time()).prop_map(|(x, time)| Do::TimedFutexWait(x, 0, time)),
        3 => (variable(), 0..4_u32).prop_map(|(x, count)| Do::FutexWake(x, count)),
        2 => variable().prop_map(Do::Read),
        2 => (variable(), 0..3_u64).prop_map(|(x, value)| Do::Write(x, value)),
        2 => (variable(), 0..2_u64).prop_map(|(x, from)| Do::Cas(x, from, from + 1)),
        2 => time().prop_map(Do::Sleep),
        2 => Just(Do::Yield),
        1 => Just(Do::HintedYield),
    ]
}

fn nonsense() -> impl Strategy<Value = Do> {
    prop_oneof![
        mutex().prop_map(Do::Unlock),
        mutex().prop_map(Do::Lock),
        (cond(), mutex()).prop_map(|(c, m)| Do::Wait(c, m)),
        Just(Do::RwUnlock),
        Just(Do::ReadLock),
        Just(Do::WriteLock),
    ]
}
