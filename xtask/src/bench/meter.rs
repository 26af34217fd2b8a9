//! CPU time of processes, also of those that outlive their parents: those in which executions run, when their
//! server is killed.

use anyhow::ensure;

/// Whose time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// That of processes that were started, and of all that these started.
    Children,
    /// And our own.
    All,
}

/// What was spent before.
#[derive(Debug)]
pub(crate) struct Meter {
    whose: Whose,
    before: f64,
}

impl Meter {
    /// From now on. No child must be alive, then or when the seconds are asked for, but such as will end.
    #[expect(unsafe_code, reason = "std does not wait for orphans")]
    pub(crate) fn start(whose: Whose) -> anyhow::Result<Meter> {
        // SAFETY: says only who waits for orphans.
        ensure!(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) } == 0, "no subreaper");
        wait_for_all();
        Ok(Meter { whose, before: spent(whose) })
    }

    /// What was spent since, when all have ended.
    pub(crate) fn seconds(&self) -> f64 {
        wait_for_all();
        spent(self.whose) - self.before
    }
}

#[expect(unsafe_code, reason = "std does not wait for orphans")]
fn wait_for_all() {
    // SAFETY: asks for no status.
    while unsafe { libc::wait(std::ptr::null_mut()) } > 0 {}
}

fn spent(whose: Whose) -> f64 {
    let own = if whose == Whose::All { of(libc::RUSAGE_SELF) } else { 0.0 };
    own + of(libc::RUSAGE_CHILDREN)
}

/// User and system time, in seconds; of children, that of those who were waited for.
#[expect(unsafe_code, reason = "std does not tell")]
fn of(who: i32) -> f64 {
    let seconds = |it: libc::timeval| it.tv_sec as f64 + it.tv_usec as f64 / 1e6;
    // SAFETY: plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: fills them in.
    unsafe { libc::getrusage(who, &raw mut usage) };
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
