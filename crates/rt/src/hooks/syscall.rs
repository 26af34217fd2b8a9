//! `syscall`: the calls that matter to a schedule are those of the hooks beside this one; all others
//! go to the kernel as they are.

use std::{
    ffi::{c_int, c_uint},
    ptr,
};

use libc::{pid_t, timespec};
use raddle_model::Escape;

use crate::{
    base::{random::fill, real},
    control::{Inside, control, enter, is_active},
    hooks::{
        caller, child, descriptor, export, fail, futex, number, process, signal, thread, time,
    },
    outside::forks,
    record::stack::Caller,
    schedule::{signals::leave, step::yield_at},
    state::io::is_hidden,
};

export! {
    syscall => do_syscall;
    gettid => do_gettid;
}

type Args = [usize; 6];

unsafe extern "C-unwind" fn do_syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> i64 {
    let caller = caller();
    let args = [a, b, c, d, e, f];
    if names_hidden(number, &args) {
        return i64::from(fail(libc::EBADF));
    }
    // SAFETY: the program's promises are passed on.
    unsafe {
        if number == libc::SYS_close_range {
            return i64::from(descriptor::do_close_range(a as c_uint, b as c_uint, c as c_int));
        }
        if let Some(what) = uncontrolled(number, &args) {
            child::note(what, caller);
        } else if is_ours(number, &args)
            && let Some(mut inside) = enter()
        {
            return leave(perform(&mut inside, number, &args, caller), inside);
        }
        if number == libc::SYS_futex && futex_call(&args).is_endless() {
            forks::meets_futex(a);
        }
        let [a, b, c, d, e, f] = number::exchange(number, args);
        real::syscall(number, a, b, c, d, e, f)
    }
}

/// A call that the program makes without the C library, inside a hook; `None` if the kernel is to perform it. Its result
/// is as the kernel gives it.
pub(crate) unsafe fn raw_syscall(
    inside: &mut Inside,
    number: i64,
    args: &Args,
    caller: Caller,
) -> Option<i64> {
    // SAFETY: the program's promises are passed on; the thread that runs is inside a hook.
    unsafe {
        match number {
            libc::SYS_futex if futex_call(args).is_controlled() => {
                Some(match futex_call(args).perform(inside, caller) {
                    Ok(count) => i64::from(count),
                    Err(error) => -i64::from(error),
                })
            }
            libc::SYS_sched_yield => {
                let site = inside.site(caller);
                yield_at(inside, site);
                Some(0)
            }
            _ => None,
        }
    }
}

/// Does it do something to a descriptor of ours, which for the program is not there?
fn names_hidden(number: i64, args: &Args) -> bool {
    match number {
        libc::SYS_close | libc::SYS_dup | libc::SYS_fcntl | libc::SYS_ftruncate => {
            is_hidden(args[0] as c_int)
        }
        libc::SYS_dup2 | libc::SYS_dup3 => {
            is_hidden(args[0] as c_int) || is_hidden(args[1] as c_int)
        }
        _ => false,
    }
}

fn futex_call(args: &Args) -> futex::Call {
    futex::Call {
        word: args[0] as *mut u32,
        op: args[1] as c_int,
        value: args[2] as u32,
        count2: args[3],
        word2: args[4] as *mut u32,
        value3: args[5] as u32,
    }
}

fn is_ours(number: i64, args: &Args) -> bool {
    match number {
        libc::SYS_futex
        | libc::SYS_gettid
        | libc::SYS_tgkill
        | libc::SYS_tkill
        | libc::SYS_getrandom
        | libc::SYS_sched_yield
        | libc::SYS_exit_group
        | libc::SYS_nanosleep => true,
        libc::SYS_prctl => matches!(args[0] as c_int, libc::PR_SET_NAME | libc::PR_GET_NAME),
        libc::SYS_clock_gettime => (0..=libc::CLOCK_TAI).contains(&(args[0] as c_int)),
        // Command 0 asks what there is; the others order memory, which is in order.
        libc::SYS_membarrier => args[0] != 0,
        _ => false,
    }
}

/// What blocks in the kernel and is not known to us.
fn uncontrolled(number: i64, args: &Args) -> Option<Escape> {
    match number {
        libc::SYS_futex if !futex_call(args).is_controlled() => Some(Escape::PriorityFutex),
        libc::SYS_futex_waitv => Some(Escape::FutexWaitv),
        _ => None,
    }
}

/// Performs one of our calls, inside a hook.
unsafe fn perform(inside: &mut Inside, number: i64, args: &Args, caller: Caller) -> i64 {
    // SAFETY: the program's promises are passed on; the thread that runs is inside a hook.
    unsafe {
        match number {
            libc::SYS_futex => match futex_call(args).perform(inside, caller) {
                Ok(count) => i64::from(count),
                Err(error) => i64::from(fail(error)),
            },
            libc::SYS_gettid => i64::from(number::of_thread(inside.me)),
            libc::SYS_tgkill => i64::from(signal::send_by_number(
                inside,
                args[0] as pid_t,
                args[1] as pid_t,
                args[2] as c_int,
                caller,
            )),
            libc::SYS_tkill => {
                let process = number::own_process();
                let (thread, signal) = (args[0] as pid_t, args[1] as c_int);
                i64::from(signal::send_by_number(inside, process, thread, signal, caller))
            }
            libc::SYS_getrandom => {
                fill(ptr::with_exposed_provenance_mut(args[0]), args[1]);
                args[1] as i64
            }
            libc::SYS_prctl => i64::from(thread::name_itself(inside, args[0] as c_int, args[1])),
            libc::SYS_sched_yield => {
                let site = inside.site(caller);
                yield_at(inside, site);
                0
            }
            libc::SYS_exit_group => {
                inside.is_inside = false;
                process::do_exit_at_once(args[0] as c_int)
            }
            libc::SYS_clock_gettime => {
                let shown = time::read(inside, args[0] as c_int, caller);
                *(args[1] as *mut timespec) = crate::base::time::to_timespec(shown);
                0
            }
            libc::SYS_nanosleep => {
                let (length, left) = (args[0] as *const timespec, args[1] as *mut timespec);
                match time::sleep_by(inside, libc::CLOCK_MONOTONIC, 0, length, left, caller) {
                    0 => 0,
                    error => i64::from(fail(error)),
                }
            }
            _ => 0,
        }
    }
}

/// The kernel's number of the thread that runs, as the program is to see it.
unsafe extern "C" fn do_gettid() -> pid_t {
    // SAFETY: the thread that runs asks for itself; others are answered by the kernel.
    unsafe {
        if is_active() && (*control()).hot.fs == raddle_fiber::thread_pointer() {
            return number::of_thread((*control()).me);
        }
        raddle_fiber::raw::syscall(libc::SYS_gettid, [0; 6]) as pid_t
    }
}
