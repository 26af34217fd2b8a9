//! Reader-writer locks. Readers are preferred, as glibc does by default: a reader enters although a
//! writer waits, which is also what lets one thread take the read lock twice. A lock that prefers writers
//! (`PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`) lets no further reader in while readers hold it and a
//! writer waits; one that is about to ask for it counts as waiting.

use raddle_model::{Misuse, OpResult, SiteId, ThreadId};

use crate::Queue;

/// A reader-writer lock.
#[derive(Clone, Debug, Hash, Default)]
pub struct Rwlock {
    writer: Option<(ThreadId, SiteId)>,
    /// One entry for each read lock held; a thread may have several.
    readers: Vec<(ThreadId, SiteId)>,
    /// Do readers wait for writers who wait? Then how many of those there are matters.
    prefers_writers: bool,
    n_writers_waiting: u32,
}

impl Rwlock {
    pub(crate) fn new(prefers_writers: bool) -> Rwlock {
        Rwlock { prefers_writers, ..Rwlock::default() }
    }

    pub(crate) fn is_open(&self, queue: Queue) -> bool {
        self.writer.is_none()
            && (self.readers.is_empty() || queue == Queue::Shared && !self.is_reserved())
    }

    pub(crate) fn has_readers(&self) -> bool {
        !self.readers.is_empty()
    }

    /// Do readers hold it whom a writer waits for, before whom no other reader may come?
    pub(crate) fn is_reserved(&self) -> bool {
        !self.readers.is_empty() && self.prefers_writers && self.n_writers_waiting > 0
    }

    /// So many writers wait; does that matter to readers?
    pub(crate) fn set_writers_waiting(&mut self, n_waiting: u32) -> bool {
        self.n_writers_waiting = n_waiting;
        self.prefers_writers
    }

    /// Is the answer to a lock by `thread` known at once? Its writer gets `EDEADLK`.
    pub(crate) fn answers_at_once(&self, thread: ThreadId) -> bool {
        self.writer.is_some_and(|(it, _)| it == thread)
    }

    pub(crate) fn lock(&mut self, thread: ThreadId, queue: Queue, site: SiteId) -> OpResult {
        if self.answers_at_once(thread) {
            return OpResult::WouldDeadlock;
        }
        assert!(self.is_open(queue), "bug: a rwlock was taken although it is held");
        match queue {
            Queue::Exclusive => self.writer = Some((thread, site)),
            Queue::Shared => self.readers.push((thread, site)),
        }
        OpResult::Done
    }

    pub(crate) fn try_lock(&mut self, thread: ThreadId, queue: Queue, site: SiteId) -> OpResult {
        if self.is_open(queue) { self.lock(thread, queue, site) } else { OpResult::Busy }
    }

    pub(crate) fn unlock(&mut self, thread: ThreadId) -> Result<OpResult, Misuse> {
        if self.answers_at_once(thread) {
            self.writer = None;
            return Ok(OpResult::Done);
        }
        let held = self.readers.iter().rposition(|(it, _)| *it == thread);
        let held = held.ok_or(Misuse::RwUnlockNotHeld)?;
        self.readers.swap_remove(held);
        Ok(OpResult::Done)
    }

    pub(crate) fn holders(&self) -> Vec<(ThreadId, SiteId)> {
        self.writer.iter().chain(&self.readers).copied().collect()
    }

    pub(crate) fn destroy(&self) -> Result<(), Misuse> {
        if self.writer.is_none() && self.readers.is_empty() {
            Ok(())
        } else {
            Err(Misuse::DestroyHeld)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::script::check;

    #[test]
    fn readers_xor_writer() {
        check(
            "
             0 rdlock w
             1 rdlock w
             2 wrlock w
             2 goes
             0 rwunlock w
             1 rwunlock w
             who
             3 rdlock w
             2 goes
             3 rwunlock w
             2 goes
             0 rdlock w
             1 tryrdlock w
             1 trywrlock w
             2 rwunlock w
             0 goes",
            expect![[r#"
                0 rdlock w: Done
                1 rdlock w: Done
                2 wrlock w: Queued
                2 goes: can't, "wrlock"
                0 rwunlock w: Done
                1 rwunlock w: Done
                who: [2]
                3 rdlock w: Done
                2 goes: can't, "wrlock"
                3 rwunlock w: Done
                2 goes: Done
                0 rdlock w: Queued
                1 tryrdlock w: Busy
                1 trywrlock w: Busy
                2 rwunlock w: Done
                0 goes: Done
            "#]],
        );
    }

    /// No reader enters while a writer waits, not even one who is in already; when the readers are gone, whoever
    /// comes first.
    #[test]
    fn writers_come_first() {
        check(
            "
             0 rdlock p
             1 wrlock p
             2 rdlock p
             0 tryrdlock p
             who
             0 rwunlock p
             who
             1 goes
             1 rwunlock p
             2 goes
             0 rdlock p
             1 wrlock p
             0 rdlock p
             2 rwunlock p
             who",
            expect![[r#"
                0 rdlock p: Done
                1 wrlock p: Queued
                2 rdlock p: Queued
                0 tryrdlock p: Busy
                who: []
                0 rwunlock p: Done
                who: [1, 2]
                1 goes: Done
                1 rwunlock p: Done
                2 goes: Done
                0 rdlock p: Done
                1 wrlock p: Queued
                0 rdlock p: Queued
                2 rwunlock p: Done
                who: []
            "#]],
        );
    }

    /// A reader enters although a writer waits.
    #[test]
    fn readers_come_first() {
        check(
            "
             0 rdlock w
             1 wrlock w
             0 rdlock w
             2 tryrdlock w
             0 rwunlock w
             0 rwunlock w
             2 rwunlock w
             1 goes",
            expect![[r#"
                0 rdlock w: Done
                1 wrlock w: Queued
                0 rdlock w: Done
                2 tryrdlock w: Done
                0 rwunlock w: Done
                0 rwunlock w: Done
                2 rwunlock w: Done
                1 goes: Done
            "#]],
        );
    }

    #[test]
    fn upgrade_waits_for_itself() {
        check(
            "
             0 rdlock w
             0 trywrlock w
             0 wrlock w
             settle",
            expect![[r#"
                0 rdlock w: Done
                0 trywrlock w: Busy
                0 wrlock w: Queued
                settle: deadlock
            "#]],
        );
    }

    #[test]
    fn upgrades_wait_for_each_other() {
        check(
            "
             0 rdlock w
             1 rdlock w
             0 wrlock w
             1 wrlock w
             settle",
            expect![[r#"
                0 rdlock w: Done
                1 rdlock w: Done
                0 wrlock w: Queued
                1 wrlock w: Queued
                settle: deadlock
            "#]],
        );
    }

    #[test]
    fn the_writer_is_told() {
        check(
            "
             0 wrlock w
             0 wrlock w
             0 rdlock w
             0 trywrlock w
             0 rwunlock w
             0 rwunlock w",
            expect![[r#"
                0 wrlock w: Done
                0 wrlock w: WouldDeadlock
                0 rdlock w: WouldDeadlock
                0 trywrlock w: Busy
                0 rwunlock w: Done
                0 rwunlock w: rw-unlock-not-held
            "#]],
        );
    }

    #[test]
    fn misuse() {
        check(
            "
             0 rwunlock w
             0 rdlock w
             1 rwunlock w
             1 destroy w
             0 rwunlock w
             0 destroy w",
            expect![[r#"
                0 rwunlock w: rw-unlock-not-held
                0 rdlock w: Done
                1 rwunlock w: rw-unlock-not-held
                1 destroy w: destroy-held
                0 rwunlock w: Done
                0 destroy w: Done
            "#]],
        );
    }
}
