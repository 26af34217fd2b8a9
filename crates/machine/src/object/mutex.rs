//! Mutexes of all POSIX types.

use raddle_model::{Misuse, OpResult, SiteId, ThreadId};

/// What a mutex does when its owner locks it again, or another unlocks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MutexKind {
    /// Its owner waits for itself.
    #[default]
    Normal,
    /// Its owner may lock it again.
    Recursive,
    /// Errors are returned.
    ErrorCheck,
}

/// A mutex.
#[derive(Clone, Debug, Hash)]
pub struct Mutex {
    kind: MutexKind,
    is_robust: bool,
    owner: Option<ThreadId>,
    /// How often its owner has locked it. Invariant: 0 exactly if there is no owner.
    depth: u32,
    /// Its last owner ended while holding it.
    is_orphaned: bool,
    /// Given up for good: unlocked while inconsistent.
    is_lost: bool,
    pub(crate) taken_at: SiteId,
}

impl Mutex {
    pub(crate) fn new(kind: MutexKind, is_robust: bool) -> Mutex {
        Mutex {
            kind,
            is_robust,
            owner: None,
            depth: 0,
            is_orphaned: false,
            is_lost: false,
            taken_at: SiteId(0),
        }
    }

    /// Are both of the same kind?
    pub(crate) fn is_like(&self, other: &Mutex) -> bool {
        self.kind == other.kind && self.is_robust == other.is_robust
    }

    pub(crate) fn owner(&self) -> Option<ThreadId> {
        self.owner
    }

    pub(crate) fn is_free(&self) -> bool {
        self.owner.is_none()
    }

    /// Is the answer to a lock by `thread` known at once, without waiting?
    pub(crate) fn answers_at_once(&self, thread: ThreadId) -> bool {
        self.is_lost || (self.owner == Some(thread) && self.kind != MutexKind::Normal)
    }

    /// Takes it; for a lock by the owner, does what its kind says.
    pub(crate) fn lock(&mut self, thread: ThreadId, site: SiteId) -> OpResult {
        if self.is_lost {
            return OpResult::NotRecoverable;
        }
        if self.owner == Some(thread) {
            return match self.kind {
                MutexKind::Recursive => {
                    self.depth += 1;
                    OpResult::Done
                }
                _ => OpResult::WouldDeadlock,
            };
        }
        assert!(self.owner.is_none(), "bug: a mutex was taken from its owner");
        self.owner = Some(thread);
        self.depth = 1;
        self.taken_at = site;
        if self.is_orphaned { OpResult::OwnerDied } else { OpResult::Done }
    }

    pub(crate) fn try_lock(&mut self, thread: ThreadId, site: SiteId) -> OpResult {
        match self.owner {
            Some(owner) if owner != thread || self.kind != MutexKind::Recursive => OpResult::Busy,
            _ => self.lock(thread, site),
        }
    }

    pub(crate) fn unlock(&mut self, thread: ThreadId) -> Result<OpResult, Misuse> {
        if self.owner != Some(thread) {
            return match (self.kind, self.owner) {
                (MutexKind::Normal, _) if self.is_robust => Ok(OpResult::NotOwner),
                (MutexKind::Normal, None) => Err(Misuse::UnlockUnlocked),
                (MutexKind::Normal, Some(_)) => Err(Misuse::UnlockNotOwner),
                _ => Ok(OpResult::NotOwner),
            };
        }
        self.depth -= 1;
        if self.depth == 0 {
            self.owner = None;
            if self.is_orphaned {
                self.is_orphaned = false;
                self.is_lost = true;
            }
        }
        Ok(OpResult::Done)
    }

    /// Gives it back entirely for a wait; returns the depth to restore.
    pub(crate) fn release_all(&mut self, thread: ThreadId) -> Result<u32, Misuse> {
        if self.owner != Some(thread) {
            return Err(Misuse::WaitWithoutMutex);
        }
        let depth = std::mem::replace(&mut self.depth, 1);
        self.unlock(thread)?;
        Ok(depth)
    }

    /// Takes it back after a wait.
    pub(crate) fn restore(&mut self, thread: ThreadId, depth: u32, site: SiteId) -> OpResult {
        let result = self.lock(thread, site);
        if self.owner == Some(thread) {
            self.depth = depth.max(1);
        }
        result
    }

    /// Says that what it protects is in order again (`pthread_mutex_consistent`).
    pub(crate) fn make_consistent(&mut self, thread: ThreadId) -> bool {
        let was_orphaned = self.is_orphaned && self.owner == Some(thread);
        self.is_orphaned &= !was_orphaned;
        was_orphaned
    }

    /// Its owner has ended. A robust mutex goes to the next thread; any other stays held for ever.
    pub(crate) fn orphan(&mut self) {
        if self.is_robust {
            self.owner = None;
            self.depth = 0;
            self.is_orphaned = true;
        }
    }

    pub(crate) fn destroy(&self) -> Result<(), Misuse> {
        if self.is_free() { Ok(()) } else { Err(Misuse::DestroyHeld) }
    }

    pub(crate) fn is_robust(&self) -> bool {
        self.is_robust
    }

    #[cfg(test)]
    pub(crate) fn check_depth(&self) {
        assert_eq!(self.depth == 0, self.owner.is_none(), "{self:?}");
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::script::check;

    #[test]
    fn one_owner_at_a_time() {
        check(
            "
             0 lock m
             1 lock m
             2 trylock m
             0 unlock m
             who
             1 goes
             2 lock m
             1 unlock m
             2 goes",
            expect![[r#"
                0 lock m: Done
                1 lock m: Queued
                2 trylock m: Busy
                0 unlock m: Done
                who: [1]
                1 goes: Done
                2 lock m: Queued
                1 unlock m: Done
                2 goes: Done
            "#]],
        );
    }

    #[test]
    fn who_unlocks_what() {
        check(
            "
             0 unlock m
             0 lock m
             1 unlock m
             1 unlock e
             1 unlock r
             1 unlock b",
            expect![[r#"
                0 unlock m: unlock-unlocked
                0 lock m: Done
                1 unlock m: unlock-not-owner
                1 unlock e: NotOwner
                1 unlock r: NotOwner
                1 unlock b: NotOwner
            "#]],
        );
    }

    /// The owner of a normal mutex waits for itself; the others answer at once.
    #[test]
    fn relock_by_kind() {
        check(
            "
             0 lock m
             0 trylock m
             0 lock m
             settle
             1 lock e
             1 lock e
             1 trylock e
             1 unlock e
             2 lock r
             2 lock r
             2 trylock r
             2 unlock r
             2 unlock r
             3 trylock r
             2 unlock r
             3 trylock r",
            expect![[r#"
                0 lock m: Done
                0 trylock m: Busy
                0 lock m: Queued
                settle: deadlock
                1 lock e: Done
                1 lock e: WouldDeadlock
                1 trylock e: Busy
                1 unlock e: Done
                2 lock r: Done
                2 lock r: Done
                2 trylock r: Done
                2 unlock r: Done
                2 unlock r: Done
                3 trylock r: Busy
                2 unlock r: Done
                3 trylock r: Done
            "#]],
        );
    }

    #[test]
    fn a_wait_gives_back_every_level_and_takes_them_again() {
        check(
            "
             0 lock r
             0 lock r
             0 lock r
             0 wait c r
             0 wake c r
             1 lock r
             1 signal c
             0 goes
             1 unlock r
             0 goes
             0 unlock r
             0 unlock r
             1 trylock r
             0 unlock r
             1 trylock r
             0 unlock r",
            expect![[r#"
                0 lock r: Done
                0 lock r: Done
                0 lock r: Done
                0 wait c r: Done
                0 wake c r: Parked
                1 lock r: Done
                1 signal c: Done 1
                0 goes: can't, "wake"
                1 unlock r: Done
                0 goes: Done
                0 unlock r: Done
                0 unlock r: Done
                1 trylock r: Busy
                0 unlock r: Done
                1 trylock r: Done
                0 unlock r: NotOwner
            "#]],
        );
    }

    #[test]
    fn robust_mutex_is_mended() {
        check(
            "
             0 lock b
             1 lock b
             0 finish
             1 goes
             1 mends b
             1 mends b
             1 unlock b
             2 lock b",
            expect![[r#"
                0 lock b: Done
                1 lock b: Queued
                0 finish: Done
                1 goes: OwnerDied
                1 mends b: true
                1 mends b: false
                1 unlock b: Done
                2 lock b: Done
            "#]],
        );
    }

    #[test]
    fn robust_mutex_is_lost() {
        check(
            "
             0 lock b
             1 lock b
             2 lock b
             0 finish
             2 mends b
             1 goes
             1 unlock b
             2 goes
             3 lock b
             3 trylock b
             3 unlock b",
            expect![[r#"
                0 lock b: Done
                1 lock b: Queued
                2 lock b: Queued
                0 finish: Done
                2 mends b: false
                1 goes: OwnerDied
                1 unlock b: Done
                2 goes: NotRecoverable
                3 lock b: NotRecoverable
                3 trylock b: NotRecoverable
                3 unlock b: NotOwner
            "#]],
        );
    }

    /// It unlocks in between, without having mended what the mutex protects.
    #[test]
    fn robust_mutex_is_lost_in_a_wait() {
        check(
            "
             0 lock b
             0 finish
             1 lock b
             1 wait c b
             1 wake c b
             2 lock b
             2 signal c
             1 goes
             1 unlock b
             2 destroy b",
            expect![[r#"
                0 lock b: Done
                0 finish: Done
                1 lock b: OwnerDied
                1 wait c b: Done
                1 wake c b: Parked
                2 lock b: NotRecoverable
                2 signal c: Done 2
                1 goes: NotRecoverable
                1 unlock b: NotOwner
                2 destroy b: Done
            "#]],
        );
    }

    #[test]
    fn a_wait_ends_in_a_lost_mutex_without_it() {
        check(
            "
             1 lock b
             1 wait c b
             1 wake c b
             0 lock b
             0 finish
             2 lock b
             2 unlock b
             2 signal c
             1 goes
             1 unlock b
             2 destroy b",
            expect![[r#"
                1 lock b: Done
                1 wait c b: Done
                1 wake c b: Parked
                0 lock b: Done
                0 finish: Done
                2 lock b: OwnerDied
                2 unlock b: Done
                2 signal c: Done 2
                1 goes: NotRecoverable
                1 unlock b: NotOwner
                2 destroy b: Done
            "#]],
        );
    }

    /// The error of the mutex is what counts, as in the C library.
    #[test]
    fn a_wait_times_out_and_the_owner_has_died() {
        check(
            "
             1 lock b
             1 wait c b
             1 wake c b until 5000
             0 lock b
             1 times out
             0 finish
             1 goes
             1 mends b",
            expect![[r#"
                1 lock b: Done
                1 wait c b: Done
                1 wake c b until 5000: Parked
                0 lock b: Done
                1 times out: []
                0 finish: Done
                1 goes: OwnerDied
                1 mends b: true
            "#]],
        );
    }

    #[test]
    fn other_mutexes_stay_held_when_their_owner_ends() {
        check(
            "
             0 lock m
             1 lock m
             0 finish
             settle",
            expect![[r#"
                0 lock m: Done
                1 lock m: Queued
                0 finish: Done
                settle: deadlock
            "#]],
        );
    }

    #[test]
    fn destroy() {
        check(
            "
             0 lock m
             1 destroy m
             1 lock m
             0 unlock m
             0 destroy m
             1 goes
             1 unlock m
             0 destroy m
             1 lock n
             2 lock n
             1 unlock n
             1 destroy n",
            expect![[r#"
                0 lock m: Done
                1 destroy m: destroy-held
                1 lock m: Queued
                0 unlock m: Done
                0 destroy m: destroy-awaited
                1 goes: Done
                1 unlock m: Done
                0 destroy m: Done
                1 lock n: Done
                2 lock n: Queued
                1 unlock n: Done
                1 destroy n: destroy-awaited
            "#]],
        );
    }

    #[test]
    fn use_after_destroy() {
        check(
            "
             0 lock m
             1 lock n
             0 wait c m
             0 wake c m
             1 destroy m
             1 signal c
             0 goes
             1 unlock n
             2 destroy n
             1 trylock n
             1 unlock n
             1 wait c n
             1 destroy n",
            expect![[r#"
                0 lock m: Done
                1 lock n: Done
                0 wait c m: Done
                0 wake c m: Parked
                1 destroy m: Done
                1 signal c: Done 1
                0 goes: use-destroyed
                1 unlock n: Done
                2 destroy n: Done
                1 trylock n: use-destroyed
                1 unlock n: use-destroyed
                1 wait c n: use-destroyed
                1 destroy n: use-destroyed
            "#]],
        );
    }
}
