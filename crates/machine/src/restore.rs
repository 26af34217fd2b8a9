//! Back to an earlier state, without giving memory back: executions of one function begin in the same state
//! a million times a second.

use crate::{
    Machine,
    machine::Object,
    ready::{Line, Ready},
};

impl Machine {
    /// Makes this machine what `earlier` is. What it has allocated is kept for later.
    pub fn restore(&mut self, earlier: &Machine) {
        self.threads.truncate(earlier.threads.len());
        self.threads.clone_from_slice(&earlier.threads);
        self.restore_objects(earlier);
        self.ready.restore(&earlier.ready);
        self.yielded.clone_from(&earlier.yielded);
        self.timed.clone_from(&earlier.timed);
        self.timed_end = earlier.timed_end;
        self.spurious.clone_from(&earlier.spurious);
        if !(self.deadlines.is_empty() && earlier.deadlines.is_empty()) {
            self.deadlines.clone_from(&earlier.deadlines);
        }
        self.now = earlier.now;
        self.restore_counts(earlier);
        self.next_deadline = earlier.next_deadline;
        self.n_idle_rounds = earlier.n_idle_rounds;
        self.idle_since = earlier.idle_since;
        self.is_idle = earlier.is_idle;
        self.n_clock_reads = earlier.n_clock_reads;
        self.alarm = earlier.alarm;
        self.is_alarm_due = earlier.is_alarm_due;
    }
}

impl Object {
    pub(crate) fn restore(&mut self, earlier: &Object) {
        self.state.clone_from(&earlier.state);
        for (line, earlier) in self.lines.iter_mut().zip(&earlier.lines) {
            line.restore(earlier);
        }
        self.futex_waiters.clone_from(&earlier.futex_waiters);
    }

    /// Nobody waits for it any more: it can be used for another.
    pub(crate) fn clear(&mut self) {
        for line in &mut self.lines {
            line.threads.clear();
            (line.is_open, line.listed) = (false, 0);
        }
        self.futex_waiters.clear();
    }
}

impl Line {
    fn restore(&mut self, earlier: &Line) {
        self.threads.clone_from(&earlier.threads);
        (self.is_open, self.listed) = (earlier.is_open, earlier.listed);
    }
}

impl Ready {
    fn restore(&mut self, earlier: &Ready) {
        self.singles.clone_from(&earlier.singles);
        self.lines.clone_from(&earlier.lines);
        self.n_in_lines = earlier.n_in_lines;
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{ObjectId, Op, OpKind, SiteId, ThreadId};

    use crate::{Machine, MutexKind, ObjectState};

    fn op(kind: OpKind, object: u32) -> Op {
        Op::on(kind, ObjectId(object), SiteId(7))
    }

    /// All that can be seen of a machine, but for what it keeps for later.
    fn seen(machine: &Machine) -> String {
        let text = format!("{machine:?}");
        text.split_once(", spare").expect("the last field").0.to_owned()
    }

    /// A thread is created, both want a lock, one waits.
    fn run(machine: &mut Machine) {
        let (main, other) = (ThreadId(0), ThreadId(1));
        machine.set_object(ObjectId(3), ObjectState::mutex(MutexKind::Normal, false));
        assert_eq!(machine.create_thread(ObjectId(2), Some(main), SiteId(1)), other);
        machine.perform(other, 0);
        machine.perform_now(main, &op(OpKind::Lock, 3), 0);
        machine.announce(other, op(OpKind::Lock, 3));
        machine.announce(main, op(OpKind::Join, 2));
        assert_eq!((machine.n_enabled(), machine.n_live()), (0, 2));
    }

    #[test]
    fn what_is_restored_is_as_it_was() {
        let mut machine = Machine::new(ObjectId(1));
        let begin = machine.clone();
        run(&mut machine);
        let first = seen(&machine);
        for _ in 0..3 {
            machine.restore(&begin);
            assert_eq!(machine.n_live(), 1);
            assert_eq!(machine.n_threads(), 1);
            assert!(!machine.has_object(ObjectId(3)));
            run(&mut machine);
            assert_eq!(seen(&machine), first);
        }
    }
}
