//! The machine's state as numbers: equal numbers, equal states. In two parts, for there are few threads and may be
//! many objects.
//!
//! What only decides in which order threads are offered to a picker is left out, and so is time: as long as
//! [`Machine::is_timeless`] holds, nothing of what the machine does depends on it.

use std::hash::{Hash, Hasher};

use raddle_model::{ObjectId, hash_bytes, mix};

use crate::Machine;

impl Machine {
    /// Is there nobody whom the mere passing of time would let go on?
    pub fn is_timeless(&self) -> bool {
        self.deadlines.is_empty() && self.alarm.is_none() && !self.is_alarm_due
    }

    /// What threads are about to do, and whether they can.
    pub fn fingerprint_threads(&self) -> u64 {
        let mut all = Mixer(0);
        for thread in &self.threads {
            let op = &thread.pending;
            thread.status.hash(&mut all);
            (op.kind, op.order, op.size, op.object, op.other, op.site, op.arg).hash(&mut all);
            (thread.is_woken, thread.verdict, thread.depth).hash(&mut all);
            (thread.is_joined, thread.is_detached).hash(&mut all);
        }
        all.finish()
    }

    /// The states of all objects.
    pub fn fingerprint_objects(&self) -> u64 {
        let mut all = Mixer(0);
        for object in (0..self.n_objects()).map(|it| self.object_ref(ObjectId(it))) {
            object.map(|it| (&it.state, &it.futex_waiters)).hash(&mut all);
        }
        all.finish()
    }
}

/// The one hash function, as the library wants it.
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = mix(self.0, hash_bytes(bytes));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Flags, ObjectId, Op, OpKind, SiteId, ThreadId};

    use crate::{Machine, MutexKind, ObjectState};

    const LOCK: ObjectId = ObjectId(9);

    fn machine() -> Machine {
        let mut machine = Machine::new(ObjectId(1));
        let other = machine.create_thread(ObjectId(2), Some(ThreadId(0)), SiteId(1));
        machine.perform(other, 0);
        machine.set_object(LOCK, ObjectState::mutex(MutexKind::Normal, false));
        machine
    }

    fn both(machine: &Machine) -> (u64, u64) {
        (machine.fingerprint_threads(), machine.fingerprint_objects())
    }

    fn perform(machine: &mut Machine, kind: OpKind) {
        machine.announce(ThreadId(1), Op::on(kind, LOCK, SiteId(3)));
        machine.perform(ThreadId(1), 0);
    }

    #[test]
    fn a_lock_that_is_given_back_leaves_what_was() {
        let mut machine = machine();
        perform(&mut machine, OpKind::Lock);
        perform(&mut machine, OpKind::Unlock);
        let before = both(&machine);
        perform(&mut machine, OpKind::Lock);
        assert_ne!(before.1, both(&machine).1);
        perform(&mut machine, OpKind::Unlock);
        assert_eq!(before, both(&machine));
    }

    #[test]
    fn who_waits_where_is_part_of_it() {
        let mut machine = machine();
        let before = both(&machine);
        machine.announce(ThreadId(0), Op::on(OpKind::Read, ObjectId(3), SiteId(4)));
        assert_ne!(before.0, both(&machine).0);
    }

    #[test]
    fn a_deadline_makes_time_matter() {
        let mut machine = machine();
        assert!(machine.is_timeless());
        let sleep = Op::on(OpKind::Sleep, ObjectId::NONE, SiteId(5)).until(Some(1_000_000));
        assert!(sleep.flags.has(Flags::TIMED));
        machine.announce(ThreadId(0), sleep);
        assert!(!machine.is_timeless());
    }
}
