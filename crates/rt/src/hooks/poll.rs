//! Waiting for several descriptors: `poll`, `select`, `epoll_wait`.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, size_t, timespec, timeval};
use raddle_fiber::raw;
use raddle_model::{ObjectId, Op, OpKind, OpResult, SiteId};

use crate::{
    base::{real, time},
    control::{Inside, enter},
    hooks::{caller, export, fail, hooks, signal::bits_of},
    outside::{
        clock,
        io::{self, PollRequest},
    },
    record::stack::Caller,
    schedule::{access::range, signals::leave, step::step},
    state::io::AT_ONCE,
};

hooks! { |inside, caller|
    fn poll | __poll | __poll_chk(list: *mut pollfd, n_list: nfds_t, timeout_ms: c_int) -> c_int => {
        let limit = Limit::of_ms(timeout_ms);
        answer(poll_list(inside, list, n_list as usize, limit, ptr::null(), caller))
    };
    fn ppoll | __ppoll_chk(
        list: *mut pollfd, n_list: nfds_t, length: *const timespec, mask: *const sigset_t
    ) -> c_int => {
        let limit = Limit::of_timespec(length);
        answer(poll_list(inside, list, n_list as usize, limit, mask, caller))
    };
    fn select | __select(
        count: c_int, reads: *mut fd_set, writes: *mut fd_set, others: *mut fd_set, length: *mut timeval
    ) -> c_int => {
        let limit = match length.as_ref() {
            None => Limit::Never,
            Some(it) => {
                let nanoseconds = timespec { tv_sec: it.tv_sec, tv_nsec: it.tv_usec * 1000 };
                Limit::after(time::nanoseconds(&nanoseconds))
            }
        };
        let result = select_until(inside, count, [reads, writes, others], limit, ptr::null(), caller);
        if let Limit::Until(at) = limit {
            let left = time::to_timespec(at.saturating_sub(inside.scheduler.machine.now()));
            *length = timeval { tv_sec: left.tv_sec, tv_usec: left.tv_nsec / 1000 };
        }
        answer(result)
    };
    fn pselect(
        count: c_int, reads: *mut fd_set, writes: *mut fd_set, others: *mut fd_set, length: *const timespec,
        mask: *const sigset_t
    ) -> c_int => {
        let limit = Limit::of_timespec(length);
        answer(select_until(inside, count, [reads, writes, others], limit, mask, caller))
    };
}

export! {
    epoll_wait => do_epoll_wait;
    epoll_pwait => do_epoll_pwait;
    epoll_pwait2 => do_epoll_pwait2;
}

/// `FD_SETSIZE`.
const SET_MAX: usize = 1024;
const MILLISECOND_NS: u64 = 1_000_000;

/// How long a call waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// Not at all.
    Now,
    /// Until this time of the machine's.
    Until(u64),
    Never,
}

impl Limit {
    fn after(length_ns: u64) -> Limit {
        if length_ns == 0 { Limit::Now } else { Limit::Until(clock::deadline_after(length_ns)) }
    }

    fn of_ms(timeout_ms: c_int) -> Limit {
        match u64::try_from(timeout_ms) {
            Ok(length) => Limit::after(length * MILLISECOND_NS),
            Err(_) => Limit::Never,
        }
    }

    unsafe fn of_timespec(length: *const timespec) -> Limit {
        // SAFETY: the program promises a time or nothing.
        match unsafe { length.as_ref() } {
            Some(length) => Limit::after(time::nanoseconds(length)),
            None => Limit::Never,
        }
    }

    fn deadline(self) -> Option<u64> {
        match self {
            Limit::Until(at) => Some(at),
            Limit::Now | Limit::Never => None,
        }
    }
}

/// Waits until one of a list is ready, inside a hook; then asks the kernel with `look`, again and again
/// while the answer is 0 and there is time. `-errno` or the answer.
unsafe fn poll_until(
    inside: &mut Inside,
    list: *mut pollfd,
    n_list: usize,
    limit: Limit,
    site: SiteId,
    mut look: impl FnMut() -> isize,
) -> isize {
    // SAFETY: the caller promises a list that lives while the thread waits; inside a hook, the borrows
    // end before the steps.
    unsafe {
        inside.this().spin.reset();
        if let (0, Limit::Until(at)) = (n_list, limit) {
            return match step(inside, Op::on(OpKind::Sleep, ObjectId::NONE, site).until(Some(at)))
                .result
            {
                OpResult::Interrupted => -(libc::EINTR as isize),
                _ => look(),
            };
        }
        let (object, written) = objects_of(inside, list, n_list);
        if limit == Limit::Now {
            io::step_at_once(inside, OpKind::Poll, object, AT_ONCE, site);
            return look();
        }
        let is_late =
            n_list > 0 && (0..n_list).all(|idx| inside.process.io.is_outside((*list.add(idx)).fd));
        loop {
            let deadline = limit.deadline();
            let request = PollRequest {
                kind: OpKind::Poll,
                list,
                n_list,
                object,
                written,
                deadline,
                is_late,
                site,
            };
            let result = io::wait_for(inside, &request);
            if result == OpResult::Interrupted && inside.process.signals.ran.is_any {
                return -(libc::EINTR as isize);
            }
            let answer = look();
            if answer != 0 || result == OpResult::TimedOut {
                return answer;
            }
        }
    }
}

/// The objects of a wait: those of the one descriptor if there is one, else one for them all.
unsafe fn objects_of(
    inside: &mut Inside,
    list: *const pollfd,
    n_list: usize,
) -> (ObjectId, ObjectId) {
    // SAFETY: the caller promises a list; inside a hook.
    unsafe {
        let first = if n_list > 0 { (*list).fd } else { -1 };
        if n_list == 1 && inside.process.io.look(first).kind.is_stream() {
            let object = inside.descriptor_object(first);
            match (*list).events {
                libc::POLLIN => return (object, ObjectId::NONE),
                libc::POLLOUT => return (object, object),
                _ => {}
            }
        }
        (inside.poll_object(first), ObjectId::NONE)
    }
}

/// With another signal mask while `body` waits, if one is given; inside a hook.
unsafe fn with_mask(
    inside: &mut Inside,
    mask: *const sigset_t,
    body: impl FnOnce(&mut Inside) -> isize,
) -> isize {
    // SAFETY: the program promises a set or nothing; the borrows end at once.
    unsafe {
        if mask.is_null() {
            return body(inside);
        }
        let before = inside.set_mask(bits_of(mask));
        let result = match crate::schedule::signals::run_handlers(inside).is_any {
            true => -(libc::EINTR as isize),
            false => body(inside),
        };
        inside.set_mask(before);
        result
    }
}

/// What the program gets for the kernel's answer.
fn answer(result: isize) -> c_int {
    if result < 0 { fail(-result as c_int) } else { result as c_int }
}

unsafe fn poll_list(
    inside: &mut Inside,
    list: *mut pollfd,
    n_list: usize,
    limit: Limit,
    mask: *const sigset_t,
    caller: Caller,
) -> isize {
    // SAFETY: the program promises a list; inside a hook.
    unsafe {
        let site = inside.site(caller);
        with_mask(inside, mask, |inside| {
            poll_until(inside, list, n_list, limit, site, || {
                crate::state::io::poll_now(list, n_list)
            })
        })
    }
}

unsafe fn select_until(
    inside: &mut Inside,
    count: c_int,
    sets: [*mut fd_set; 3],
    limit: Limit,
    mask: *const sigset_t,
    caller: Caller,
) -> isize {
    let mut list = [pollfd { fd: -1, events: 0, revents: 0 }; SET_MAX];
    let mut n_list = 0;
    // SAFETY: the program promises sets or nothing; inside a hook.
    unsafe {
        let site = inside.site(caller);
        for fd in 0..count.clamp(0, SET_MAX as c_int) {
            let wants = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
            let is_in = |set: *mut fd_set| !set.is_null() && libc::FD_ISSET(fd, set);
            let events = (0..3).filter(|k| is_in(sets[*k])).fold(0, |all, k| all | wants[k]);
            if events != 0 {
                list[n_list] = pollfd { fd, events, revents: 0 };
                n_list += 1;
            }
        }
        let given: [fd_set; 3] = [0, 1, 2].map(|k| match sets[k].is_null() {
            true => std::mem::zeroed(),
            false => *sets[k],
        });
        let look = || {
            for (set, given) in sets.iter().zip(&given) {
                if !set.is_null() {
                    **set = *given;
                }
            }
            let mut now = timeval { tv_sec: 0, tv_usec: 0 };
            let [reads, writes, others] = sets.map(|it| it as usize);
            let now = &raw mut now as usize;
            raw::syscall(libc::SYS_select, [count as usize, reads, writes, others, now, 0])
        };
        with_mask(inside, mask, |inside| {
            poll_until(inside, list.as_mut_ptr(), n_list, limit, site, look)
        })
    }
}

unsafe extern "C-unwind" fn do_epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout_ms: c_int,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(inside) = enter() else {
            return real::epoll_wait(epoll, events, count, timeout_ms);
        };
        wait_for_events(inside, epoll, events, count, Limit::of_ms(timeout_ms), ptr::null(), caller)
    }
}

unsafe extern "C-unwind" fn do_epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout_ms: c_int,
    mask: *const sigset_t,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(inside) = enter() else {
            return real::epoll_pwait(epoll, events, count, timeout_ms, mask);
        };
        wait_for_events(inside, epoll, events, count, Limit::of_ms(timeout_ms), mask, caller)
    }
}

unsafe extern "C-unwind" fn do_epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    length: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(inside) = enter() else {
            return real::epoll_pwait2(epoll, events, count, length, mask);
        };
        wait_for_events(inside, epoll, events, count, Limit::of_timespec(length), mask, caller)
    }
}

/// The rest of the hooks above: leaves.
unsafe fn wait_for_events(
    mut inside: Inside,
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    limit: Limit,
    mask: *const sigset_t,
    caller: Caller,
) -> c_int {
    let mut list = pollfd { fd: epoll, events: libc::POLLIN, revents: 0 };
    // SAFETY: the program promises room for so many events; inside a hook.
    unsafe {
        let site = inside.site(caller);
        let look = || {
            let args = [epoll as usize, events as usize, count as usize, 0, 0, size_of::<size_t>()];
            raw::syscall(libc::SYS_epoll_pwait, args)
        };
        let answer = answer(with_mask(&mut inside, mask, |inside| {
            poll_until(inside, &raw mut list, 1, limit, site, look)
        }));
        let n_events = leave(answer, inside);
        if n_events > 0 {
            let size = n_events as usize * size_of::<epoll_event>();
            range(events.cast::<c_void>() as usize, size, OpKind::Write, caller);
        }
        n_events
    }
}
