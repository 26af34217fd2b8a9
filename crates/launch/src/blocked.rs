//! What a process waits for that makes no steps: which of its threads, and in which system call.

use std::fs;

use crate::runtime::RUNTIME_NAME;

/// A thread that waits in a system call which is not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// The kernel's number of it.
    pub(crate) thread: i32,
    /// The system call, as the manual calls it.
    pub(crate) call: String,
    /// Nobody can ever wake it: all threads of the process sleep at futexes of their own, without a time limit.
    pub(crate) is_for_good: bool,
}

impl Blocked {
    /// The first of a process's threads that waits, those left out that wait for their turn in the runtime.
    /// `None` if the kernel does not say.
    pub(crate) fn of(process: i32) -> Option<Blocked> {
        let ours = ranges_of_runtime(process);
        let mut threads: Vec<i32> = fs::read_dir(format!("/proc/{process}/task"))
            .ok()?
            .flatten()
            .filter_map(|it| it.file_name().to_str()?.parse().ok())
            .collect();
        threads.sort_unstable();
        let is_alone = threads.len() == 1;
        let calls: Vec<Option<Call>> = threads
            .iter()
            .map(|it| fs::read_to_string(format!("/proc/{process}/task/{it}/syscall")).ok())
            .map(|it| parse(&it?))
            .collect();
        let sleeps = |it: &Option<Call>| it.as_ref().is_some_and(Call::is_left_to_threads);
        let is_for_good = calls.iter().all(sleeps) && !has_children(process, &threads);
        let waits = |(thread, call): (&i32, &Option<Call>)| {
            let call = call.as_ref()?;
            let is_ours = ours.iter().any(|(start, end)| (*start..*end).contains(&call.pc));
            // Calls of a process that can be rewound are made by the runtime, on the program's behalf.
            let told = || Blocked { thread: *thread, call: call.name(), is_for_good };
            (!is_ours || is_alone).then(told)
        };
        threads.iter().zip(&calls).find_map(waits)
    }
}

/// A system call that a thread waits in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    number: i64,
    args: [u64; 6],
    /// Where it was made.
    pc: u64,
}

impl Call {
    /// Can only a thread of the same process end it?
    fn is_left_to_threads(&self) -> bool {
        let [_, op, _, limit, ..] = self.args;
        let op = op as i32;
        let is_wait = matches!(
            op & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME),
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET
        );
        self.number == libc::SYS_futex
            && is_wait
            && op & libc::FUTEX_PRIVATE_FLAG != 0
            && limit == 0
    }

    /// As the program calls it.
    fn name(&self) -> String {
        match self.number {
            // The C library's `semop` is one without a time limit.
            libc::SYS_semtimedop if self.args[3] == 0 => name(libc::SYS_semop),
            number => name(number),
        }
    }
}

/// What `/proc/…/syscall` says; `None` of a thread that runs, or waits for something else.
fn parse(text: &str) -> Option<Call> {
    let mut fields = text.split_whitespace();
    let number = fields.next()?.parse().ok().filter(|it| *it >= 0)?;
    let mut next = || u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok();
    let mut args = [0; 6];
    for arg in &mut args {
        *arg = next()?;
    }
    let (_stack, pc) = (next()?, next()?);
    Some(Call { number, args, pc })
}

/// Has a process children, as far as the kernel says?
fn has_children(process: i32, threads: &[i32]) -> bool {
    let children =
        |it: &i32| fs::read_to_string(format!("/proc/{process}/task/{it}/children")).ok();
    !threads.iter().all(|it| children(it).is_some_and(|it| it.trim().is_empty()))
}

/// Where the runtime's code is in a process.
fn ranges_of_runtime(process: i32) -> Vec<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let range = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let hex = |it| u64::from_str_radix(it, 16).ok();
        rest.contains(RUNTIME_NAME).then_some((hex(start)?, hex(end)?))
    };
    text.lines().filter_map(range).collect()
}

/// Calls that can wait, as the manual calls them.
const NAMES: [(i64, &str); 61] = [
    (libc::SYS_read, "read"),
    (libc::SYS_write, "write"),
    (libc::SYS_open, "open"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_close, "close"),
    (libc::SYS_poll, "poll"),
    (libc::SYS_ppoll, "ppoll"),
    (libc::SYS_select, "select"),
    (libc::SYS_pselect6, "pselect"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_pread64, "pread"),
    (libc::SYS_pwrite64, "pwrite"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_preadv, "preadv"),
    (libc::SYS_pwritev, "pwritev"),
    (libc::SYS_sendfile, "sendfile"),
    (libc::SYS_splice, "splice"),
    (libc::SYS_tee, "tee"),
    (libc::SYS_vmsplice, "vmsplice"),
    (libc::SYS_copy_file_range, "copy_file_range"),
    (libc::SYS_connect, "connect"),
    (libc::SYS_accept, "accept"),
    (libc::SYS_accept4, "accept4"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_recvfrom, "recvfrom"),
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_recvmsg, "recvmsg"),
    (libc::SYS_sendmmsg, "sendmmsg"),
    (libc::SYS_recvmmsg, "recvmmsg"),
    (libc::SYS_epoll_wait, "epoll_wait"),
    (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_epoll_pwait2, "epoll_pwait2"),
    (libc::SYS_flock, "flock"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_pause, "pause"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_wait4, "wait4"),
    (libc::SYS_waitid, "waitid"),
    (libc::SYS_futex, "futex"),
    (449, "futex_waitv"),
    (libc::SYS_semop, "semop"),
    (libc::SYS_semtimedop, "semtimedop"),
    (libc::SYS_msgsnd, "msgsnd"),
    (libc::SYS_msgrcv, "msgrcv"),
    (libc::SYS_mq_timedsend, "mq_send"),
    (libc::SYS_mq_timedreceive, "mq_receive"),
    (libc::SYS_rt_sigsuspend, "sigsuspend"),
    (libc::SYS_rt_sigtimedwait, "sigtimedwait"),
    (libc::SYS_io_getevents, "io_getevents"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_vfork, "vfork"),
    (libc::SYS_clone, "clone"),
    (libc::SYS_clone3, "clone3"),
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_userfaultfd, "userfaultfd"),
    (libc::SYS_restart_syscall, "restart_syscall"),
    (libc::SYS_rt_sigreturn, "sigreturn"),
];

fn name(number: i64) -> String {
    let known = NAMES.iter().find(|it| it.0 == number);
    known.map_or_else(|| format!("system call {number}"), |it| it.1.to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::{Blocked, name, parse};

    #[test]
    fn lines_of_the_kernel_are_understood() {
        let line = "202 0x7f 0x80 0x0 0x0 0x1 0x8 0x7ffd3f4ee428 0x7fdb5cfdfbd3\n";
        let call = parse(line).expect("it is a call");
        assert_eq!((call.number, call.pc), (202, 0x7fdb_5cfd_fbd3));
        assert!(call.is_left_to_threads());
        let limited = line.replace("0x80 0x0 0x0", "0x80 0x0 0x7ffd3f4ee000");
        let shared = line.replace("0x80", "0x0");
        for other in [&limited, &shared, "0 0x3 0x80 0x0 0x0 0x1 0x8 0x7ffd3f4ee428 0x7fdb5cfdfbd3"]
        {
            assert!(parse(other).is_some_and(|it| !it.is_left_to_threads()), "{other}");
        }
        let semop = "220 0x1 0x7ffd3f4ee410 0x1 0x0 0x0 0x0 0x7ffd3f4ee3e8 0x7fdb5cfdfbd3";
        assert_eq!(parse(semop).map(|it| it.name()).as_deref(), Some("semop"));
        assert_eq!(parse("running\n"), None);
        assert_eq!(parse("-1 0x7ffd3f4ee428 0x7fdb5cfdfbd3\n"), None);
        assert_eq!((name(202), name(9999)), ("futex".to_owned(), "system call 9999".to_owned()));
    }

    #[test]
    fn a_process_that_reads_is_seen_reading() {
        let mut cat = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat is there");
        let process = cat.id() as i32;
        let blocked = (0..10_000).find_map(|_| {
            std::thread::yield_now();
            Blocked::of(process).filter(|it| it.call == "read")
        });
        let expected = Blocked { thread: process, call: "read".to_owned(), is_for_good: false };
        assert_eq!(blocked, Some(expected));
        drop(cat.stdin.take());
        cat.wait().expect("it ends with its input");
    }
}
