//! Mutexes of all POSIX types.

use raddle_model::{Misuse, OpResult, SiteId, ThreadId};

/// What a mutex does when its owner locks it again, or another unlocks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug)]
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
        self.owner = None;
        Ok(std::mem::take(&mut self.depth))
    }

    /// Takes it back after a wait.
    pub(crate) fn restore(&mut self, thread: ThreadId, depth: u32, site: SiteId) -> OpResult {
        let result = self.lock(thread, site);
        self.depth = depth.max(1);
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
}
