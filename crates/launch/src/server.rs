//! The fork server's process, and the memory, pipes and files that it shares with us.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    process::{self, Child, ExitStatus, Stdio},
    sync::atomic::Ordering::Relaxed,
    time::Duration,
};

use raddle_model::Carrier;
use raddle_trace::{
    Caps, Segment,
    protocol::{
        COMMAND_FD, Command, HANG_SIGNAL, LIBRARY_VARIABLE, REPLY_FD, Reply, SEGMENT_FD,
        SEGMENT_VARIABLE, name,
    },
};

use crate::{options::NativeOptions, processes, runtime::preload};

/// A server that has closed its pipe ends within so many looks.
const ENDING_LOOKS: u32 = 25;
const ENDING_LOOK: Duration = Duration::from_millis(10);

/// A running fork server. Dropping it ends the server and whatever runs under it.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    pub(crate) segment: Segment,
    segment_size: usize,
    commands: File,
    replies: File,
    output: File,
}

/// What came back when we waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The server has done what it was told.
    Reply,
    /// Nothing yet.
    Nothing,
    /// The server is gone.
    End,
}

impl Server {
    /// Starts the program up to `main`.
    pub(crate) fn start(options: &NativeOptions, caps: Caps) -> io::Result<Server> {
        let size = Segment::size(&caps);
        let memory = memory_file(c"raddle segment")?;
        memory.set_len(size as u64)?;
        // The program has it, too: if it made it shorter, we would die of that.
        seal(&memory)?;
        let segment = map(&memory, size, caps)?;
        // SAFETY: the segment is ours alone so far.
        unsafe {
            (*segment.header()).request.carrier = u32::from(options.carrier == Carrier::Threads)
        };
        // SAFETY: as above.
        unsafe { (*segment.header()).request.n_cpus = options.n_cpus };
        let (command_read, command_write) = pipe()?;
        let (reply_read, reply_write) = pipe()?;
        let output = memory_file(c"raddle output")?;
        let memory = OwnedFd::from(memory);
        let process = command(options, &output, [&memory, &command_read, &reply_write])?.spawn()?;
        Ok(Server {
            process,
            segment,
            segment_size: size,
            commands: command_write.into(),
            replies: reply_read.into(),
            output,
        })
    }

    /// Tells the server to run the block that stands in the segment.
    pub(crate) fn run_block(&mut self) -> io::Result<()> {
        self.commands.write_all(&[Command::Run as u8])
    }

    /// Tells the server to forget copies of executions that have ended. There is no answer.
    pub(crate) fn bury_copies(&mut self) -> io::Result<()> {
        self.commands.write_all(&[Command::Bury as u8])
    }

    /// Has the server ended? Its copies may still hold the pipe by which we would hear of it.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.try_wait().is_ok_and(|it| it.is_some())
    }

    /// Waits for the server's answer, but not longer than `limit`.
    pub(crate) fn wait(&mut self, limit: Duration) -> Heard {
        let mut waiting =
            libc::pollfd { fd: self.replies.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, ours.
        let n_ready = unsafe { libc::poll(&raw mut waiting, 1, limit.as_millis() as i32) };
        if n_ready <= 0 {
            return Heard::Nothing;
        }
        let mut byte = [0];
        match self.replies.read(&mut byte) {
            Ok(1) if Reply::from_byte(byte[0]).is_some() => Heard::Reply,
            Ok(1) => Heard::Nothing,
            _ => Heard::End,
        }
    }

    /// Asks the running execution to say where it is stuck: the thread that is, if that is known.
    pub(crate) fn ask_where(&self, thread: Option<i32>) {
        let child = self.child();
        let args = |it: i32| (i64::from(child), i64::from(it), i64::from(HANG_SIGNAL));
        match thread.map(args) {
            // SAFETY: signals a thread of a process that our server made, or nobody if it has just ended.
            Some((process, thread, signal)) if child > 0 => unsafe {
                libc::syscall(libc::SYS_tgkill, process, thread, signal);
            },
            _ => self.signal_child(HANG_SIGNAL),
        }
    }

    /// Ends the running execution.
    pub(crate) fn kill_execution(&self) {
        self.signal_child(libc::SIGKILL);
    }

    fn signal_child(&self, signal: i32) {
        let child = self.child();
        if child > 0 {
            // SAFETY: signals a process that our server made, or none if it has just ended.
            unsafe { libc::kill(child, signal) };
        }
    }

    /// The running execution's process, or 0.
    pub(crate) fn child(&self) -> i32 {
        // SAFETY: the header is mapped; the field is atomic.
        unsafe { (*self.segment.header()).live.child.load(Relaxed) }
    }

    /// Executions of the block that have ended, and steps of the one that runs.
    pub(crate) fn pulse(&self) -> (u64, u64) {
        // SAFETY: the header is mapped; the fields are atomic.
        let header = unsafe { &*self.segment.header() };
        (header.live.n_done.load(Relaxed), header.live.heartbeat.load(Relaxed))
    }

    /// What the program has printed: the first part and the last, if it was much.
    pub(crate) fn output(&mut self, limit: usize) -> io::Result<String> {
        let size = self.output.seek(SeekFrom::End(0))? as usize;
        let mut bytes = vec![0; size.min(limit)];
        self.output.seek(SeekFrom::Start((size - bytes.len()) as u64))?;
        self.output.read_exact(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(if size > limit { format!("[{} bytes left out]\n{text}", size - limit) } else { text })
    }

    /// Bytes printed and not yet dropped.
    pub(crate) fn output_size(&self) -> u64 {
        self.output.metadata().map_or(0, |it| it.len())
    }

    /// Drops what was printed.
    pub(crate) fn clear_output(&self) {
        if self.output_size() > 0 {
            // Recording less output is no reason to fail an execution.
            let _ = self.output.set_len(0);
        }
    }

    /// How the server ended, once it is gone. One that does not answer any more and lives all the same is ended.
    pub(crate) fn exit_status(&mut self) -> io::Result<ExitStatus> {
        for _ in 0..ENDING_LOOKS {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(ENDING_LOOK);
        }
        self.kill_all();
        self.process.wait()
    }

    /// Kills the server and whatever runs under it.
    fn kill_all(&self) {
        self.kill_execution();
        let group = self.process.id() as i32;
        processes::kill_below(group);
        // SAFETY: the server leads a process group of its own, made by us.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill_all();
        // It was killed: there is nothing to learn from how it ended.
        let _ = self.process.wait();
        // SAFETY: mapped by `map` with this size; nobody keeps the segment beyond the server.
        unsafe { libc::munmap(self.segment.header().cast(), self.segment_size) };
    }
}

fn memory_file(name: &std::ffi::CStr) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: a new descriptor, or an error.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Its size stays what it is.
fn seal(memory: &File) -> io::Result<()> {
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: a plain system call on our own descriptor.
    match unsafe { libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, seals) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn map(memory: &File, size: usize, caps: Caps) -> io::Result<Segment> {
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping of a file of this size.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), size, prot, flags, memory.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is fresh and as large as the caps ask for.
    Ok(unsafe { Segment::create(base.cast(), caps) })
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

fn command(
    options: &NativeOptions,
    output: &File,
    fds: [&OwnedFd; 3],
) -> io::Result<process::Command> {
    let mut command = process::Command::new(&options.program);
    command.args(&options.args);
    if let Some(cwd) = &options.cwd {
        command.current_dir(cwd);
    }
    // Appending, so that dropping what was printed leaves no hole.
    let path = format!("/proc/self/fd/{}", output.as_raw_fd());
    let writer = File::options().append(true).open(path)?;
    command.stdout(writer.try_clone()?).stderr(writer);
    command.stdin(match &options.stdin {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    });
    preload(&mut command, &options.runtime);
    command.env("LD_BIND_NOW", "1");
    command.env(name(SEGMENT_VARIABLE), "1").env("RADDLE", "1");
    // A Rust program that panics would read its own debug information, each time; stacks are ours to tell.
    command.env("RUST_BACKTRACE", "0").env("RUST_LIB_BACKTRACE", "0");
    if let Some(library) = &options.library {
        command.env(name(LIBRARY_VARIABLE), library);
    }
    command.envs(options.env.iter().map(|(name, value)| (name, value)));
    command.process_group(0);
    let moves = [
        (fds[0].as_raw_fd(), SEGMENT_FD),
        (fds[1].as_raw_fd(), COMMAND_FD),
        (fds[2].as_raw_fd(), REPLY_FD),
    ];
    // SAFETY: between fork and exec only system calls are made, on values prepared before.
    unsafe { command.pre_exec(move || prepare(&moves)) };
    Ok(command)
}

/// In the new process, before the program: descriptors in place, addresses fixed, no orphans.
fn prepare(moves: &[(RawFd, RawFd); 3]) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain system calls on our own values.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
    }
    if limit.rlim_cur <= REPLY_FD as u64 {
        limit.rlim_cur = limit.rlim_max.min(4096);
        // SAFETY: as above.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
    // With many workers our own descriptors have such numbers, too: all are out of the way before one is put in place.
    let mut apart = [0; 3];
    for ((from, _), apart) in moves.iter().zip(&mut apart) {
        // SAFETY: as above.
        *apart = unsafe { libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, REPLY_FD + 1) };
        if *apart < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    for ((_, to), from) in moves.iter().zip(apart) {
        // SAFETY: as above.
        if unsafe { libc::dup2(from, *to) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: as above. A sandbox that forbids it costs determinism of addresses only.
    unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as u64) };
    // SAFETY: as above.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    Ok(())
}
