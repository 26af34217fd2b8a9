//! A thousand threads that want the same things: the list of who can go on stays right.

use raddle_machine::{Machine, MutexKind, ObjectState};
use raddle_model::{ObjectId, Op, OpKind, OpResult, Rng, SiteId, ThreadId};

const N_THREADS: u32 = 1_000;
const MUTEX: ObjectId = ObjectId(N_THREADS + 1);
const RWLOCK: ObjectId = ObjectId(N_THREADS + 2);
const SEM: ObjectId = ObjectId(N_THREADS + 3);
const N_STEPS: usize = 6_000;

/// What a thread does, round and round.
const ROUND: [(OpKind, ObjectId); 8] = [
    (OpKind::Lock, MUTEX),
    (OpKind::Unlock, MUTEX),
    (OpKind::ReadLock, RWLOCK),
    (OpKind::RwUnlock, RWLOCK),
    (OpKind::WriteLock, RWLOCK),
    (OpKind::RwUnlock, RWLOCK),
    (OpKind::SemWait, SEM),
    (OpKind::SemPost, SEM),
];

fn op(n_done: usize) -> Op {
    let (kind, object) = ROUND[n_done % ROUND.len()];
    Op::on(kind, object, SiteId(1))
}

#[test]
fn a_thousand_threads_contend() {
    let mut machine = Machine::new(ObjectId(1));
    machine.set_object(MUTEX, ObjectState::mutex(MutexKind::Normal, false));
    machine.set_object(RWLOCK, ObjectState::rwlock(false));
    machine.set_object(SEM, ObjectState::sem(3));
    for number in 1..N_THREADS {
        let thread = machine.create_thread(ObjectId(number + 1), Some(ThreadId(0)), SiteId(1));
        machine.perform(thread, 0);
    }
    // Each begins elsewhere in the round, outside any lock.
    let mut n_done: Vec<usize> = (0..N_THREADS).map(|it| [0, 2, 4, 6][it as usize % 4]).collect();
    for number in 0..N_THREADS {
        machine.announce(ThreadId(number), op(n_done[number as usize]));
    }
    let mut rng = Rng::new(1);
    for step in 0..N_STEPS {
        if step % 20 == 0 {
            check_list(&machine);
        }
        let thread = machine.enabled(rng.below(machine.n_enabled()));
        assert!(machine.is_enabled(thread));
        assert_eq!(machine.perform(thread, 0).result, OpResult::Done);
        n_done[thread.idx()] += 1;
        machine.announce(thread, op(n_done[thread.idx()]));
    }
    assert_eq!(machine.n_live(), N_THREADS);
}

fn check_list(machine: &Machine) {
    let mut listed: Vec<u32> = (0..machine.n_enabled()).map(|it| machine.enabled(it).0).collect();
    listed.sort_unstable();
    let asked: Vec<u32> = (0..N_THREADS).filter(|it| machine.is_enabled(ThreadId(*it))).collect();
    assert_eq!(listed, asked);
}
