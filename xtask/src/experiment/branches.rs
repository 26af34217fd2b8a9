//! How many branches an execution takes. Traces do not tell that, so the first execution of a program under Raddle is
//! traced: each conditional jump that comes from a line of the program's own sources is a breakpoint, counted and passed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, bail, ensure};

/// `int3`.
const BREAKPOINT: u8 = 0xcc;

/// The branches that the first execution takes from `main` on. `raddle` runs the program of the first of these source
/// files, which includes the others.
pub(super) fn n_executed(mut raddle: Command, sources: &[&str]) -> anyhow::Result<u64> {
    raddle.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let root = start_traced(&mut raddle)?;
    let mut counted = Counted::new(sources)?;
    let mut known = BTreeSet::new();
    while let Some((pid, status)) = wait(-1)? {
        if !libc::WIFSTOPPED(status) {
            if pid == root {
                break;
            }
            continue;
        }
        let signal = libc::WSTOPSIG(status);
        let is_new = known.insert(pid);
        let pass_on = match (signal, status >> 16) {
            (_, libc::PTRACE_EVENT_EXEC) => {
                counted.plant(pid)?;
                0
            }
            (_, 1..) => 0,
            (libc::SIGTRAP, _) if is_new && pid == root => {
                follow(pid)?;
                0
            }
            (libc::SIGSTOP, _) if is_new => 0,
            (libc::SIGTRAP, _) if counted.pass(pid)? => 0,
            (signal, _) => signal,
        };
        go_on(pid, pass_on)?;
    }
    ensure!(counted.n_begun > 0, "{} was not executed", sources[0]);
    Ok(counted.n_taken)
}

/// A conditional jump: when it is taken, and where both ways go on.
#[derive(Clone, Copy, Debug)]
struct Jump {
    /// As in its opcode.
    condition: u8,
    taken: u64,
    next: u64,
}

struct Counted {
    /// What the program's file is called, and its sources.
    program: PathBuf,
    sources: BTreeSet<String>,
    /// By address.
    jumps: BTreeMap<u64, Jump>,
    main: u64,
    /// What the breakpoint at `main` stands for.
    first: u8,
    /// Executions that have come to `main`: the first one counts.
    n_begun: u64,
    n_taken: u64,
}

impl Counted {
    fn new(sources: &[&str]) -> anyhow::Result<Counted> {
        let name =
            |it: &&str| Path::new(it).file_name().map(|it| it.to_string_lossy().into_owned());
        Ok(Counted {
            program: Path::new(sources.first().context("no source")?).with_extension(""),
            sources: sources.iter().filter_map(name).collect(),
            jumps: BTreeMap::new(),
            main: 0,
            first: 0,
            n_begun: 0,
            n_taken: 0,
        })
    }

    /// If a process has become the program: sets the breakpoints.
    fn plant(&mut self, pid: i32) -> anyhow::Result<()> {
        let exe = fs::read_link(format!("/proc/{pid}/exe"))?;
        if exe.file_stem() != self.program.file_stem() {
            return Ok(());
        }
        let code = Code::of(&exe, &self.sources)?;
        let base = base(pid, &exe)?;
        let base = if code.main < base { base } else { 0 };
        self.main = base + code.main;
        self.first = peek(pid, self.main, 1)?[0];
        poke(pid, self.main, BREAKPOINT)?;
        for (at, taken) in code.jumps {
            let bytes = peek(pid, base + at, 2)?;
            let (condition, length) = match (bytes[0], bytes[1]) {
                (0x70..=0x7f, _) => (bytes[0] & 15, 2),
                (0x0f, 0x80..=0x8f) => (bytes[1] & 15, 6),
                _ => bail!("{}: an unknown jump at {at:#x}", exe.display()),
            };
            let jump = Jump { condition, taken: base + taken, next: base + at + length };
            self.jumps.insert(base + at, jump);
            poke(pid, base + at, BREAKPOINT)?;
        }
        Ok(())
    }

    /// Passes a breakpoint, if it is one of ours.
    fn pass(&mut self, pid: i32) -> anyhow::Result<bool> {
        let mut registers = registers(pid)?;
        let at = registers.rip.wrapping_sub(1);
        if let Some(jump) = self.jumps.get(&at) {
            self.n_taken += u64::from(self.n_begun == 1);
            registers.rip =
                if holds(jump.condition, registers.eflags) { jump.taken } else { jump.next };
            set_registers(pid, &registers)?;
            return Ok(true);
        }
        if self.main == 0 || at != self.main {
            return Ok(false);
        }
        self.n_begun += 1;
        registers.rip = at;
        set_registers(pid, &registers)?;
        poke(pid, at, self.first)?;
        step(pid)?;
        wait(pid)?;
        poke(pid, at, BREAKPOINT)?;
        Ok(true)
    }
}

/// Is a jump with this condition taken?
fn holds(condition: u8, flags: u64) -> bool {
    let has = |bit: u32| flags >> bit & 1 == 1;
    let (carry, parity, zero, sign, overflow) = (has(0), has(2), has(6), has(7), has(11));
    let is_so = match condition >> 1 {
        0 => overflow,
        1 => carry,
        2 => zero,
        3 => carry || zero,
        4 => sign,
        5 => parity,
        6 => sign != overflow,
        _ => zero || sign != overflow,
    };
    is_so != (condition & 1 == 1)
}

/// Addresses in a program's file.
#[derive(Debug, Default)]
struct Code {
    main: u64,
    /// Conditional jumps of the program's own lines, and where they lead.
    jumps: Vec<(u64, u64)>,
}

impl Code {
    fn of(exe: &Path, sources: &BTreeSet<String>) -> anyhow::Result<Code> {
        let mut command = Command::new("objdump");
        command.args(["--disassemble", "--line-numbers", "--no-show-raw-insn"]).arg(exe);
        let output = command.output().context("objdump is needed to count branches")?;
        ensure!(output.status.success(), "objdump: {}", String::from_utf8_lossy(&output.stderr));
        let code = Code::parse(&String::from_utf8_lossy(&output.stdout), sources);
        ensure!(code.main != 0, "{} has no main", exe.display());
        Ok(code)
    }

    /// What objdump says.
    fn parse(text: &str, sources: &BTreeSet<String>) -> Code {
        let mut code = Code::default();
        let mut is_own = false;
        let number = |it: &str| u64::from_str_radix(it, 16).ok();
        for line in text.lines() {
            if let Some(symbol) = line.strip_suffix(" <main>:") {
                code.main = number(symbol).unwrap_or(0);
            } else if let Some(instruction) = line.strip_prefix(' ') {
                let words: Vec<&str> = instruction.split_whitespace().collect();
                let [at, jump, to, ..] = words[..] else { continue };
                let is_conditional =
                    jump.starts_with('j') && !["jmp", "jrcxz", "jecxz"].contains(&jump);
                let addresses = number(at.trim_end_matches(':')).zip(number(to));
                code.jumps.extend(addresses.filter(|_| is_own && is_conditional));
            } else if let Some((file, _)) = line.rsplit_once(':').filter(|it| it.0.contains('/')) {
                is_own = file.rsplit('/').next().is_some_and(|it| sources.contains(it));
            }
        }
        code
    }
}

/// Where a process has its program.
fn base(pid: i32, exe: &Path) -> anyhow::Result<u64> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let first = maps.lines().find(|it| it.ends_with(&*exe.to_string_lossy()));
    let begin = first.and_then(|it| it.split('-').next()).context("a program is mapped")?;
    Ok(u64::from_str_radix(begin, 16)?)
}

fn peek(pid: i32, at: u64, n: usize) -> anyhow::Result<Vec<u8>> {
    let mut memory = fs::File::open(format!("/proc/{pid}/mem"))?;
    memory.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; n];
    memory.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn poke(pid: i32, at: u64, byte: u8) -> anyhow::Result<()> {
    let mut memory = fs::OpenOptions::new().write(true).open(format!("/proc/{pid}/mem"))?;
    memory.seek(SeekFrom::Start(at))?;
    Ok(memory.write_all(&[byte])?)
}

/// Starts a process that this thread traces.
#[expect(unsafe_code, reason = "std does not trace")]
fn start_traced(command: &mut Command) -> anyhow::Result<i32> {
    let trace_me = || match
        // SAFETY: a system call without memory of ours.
        unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) }
    {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    };
    // SAFETY: it makes one system call between fork and exec.
    unsafe { command.pre_exec(trace_me) };
    Ok(command.spawn()?.id() as i32)
}

/// Whatever a process starts is traced too.
fn follow(pid: i32) -> anyhow::Result<()> {
    let options = libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    ask(libc::PTRACE_SETOPTIONS, pid, options as usize)
}

fn go_on(pid: i32, signal: i32) -> anyhow::Result<()> {
    ask(libc::PTRACE_CONT, pid, signal as usize)
}

fn step(pid: i32) -> anyhow::Result<()> {
    ask(libc::PTRACE_SINGLESTEP, pid, 0)
}

/// Asks for something about a process that has stopped. One that was killed meanwhile tells by itself.
#[expect(unsafe_code, reason = "std does not trace")]
fn ask(what: u32, pid: i32, data: usize) -> anyhow::Result<()> {
    // SAFETY: these requests take a number.
    let done = unsafe { libc::ptrace(what, pid, 0_usize, data) };
    let error = std::io::Error::last_os_error();
    ensure!(done == 0 || error.raw_os_error() == Some(libc::ESRCH), "ptrace {what}: {error}");
    Ok(())
}

#[expect(unsafe_code, reason = "std does not trace")]
fn registers(pid: i32) -> anyhow::Result<libc::user_regs_struct> {
    // SAFETY: plain numbers.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    // SAFETY: fills them in.
    let done = unsafe { libc::ptrace(libc::PTRACE_GETREGS, pid, 0_usize, &raw mut registers) };
    ensure!(done == 0, "ptrace: {}", std::io::Error::last_os_error());
    Ok(registers)
}

#[expect(unsafe_code, reason = "std does not trace")]
fn set_registers(pid: i32, registers: &libc::user_regs_struct) -> anyhow::Result<()> {
    // SAFETY: reads them.
    let done = unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0_usize, &raw const *registers) };
    ensure!(done == 0, "ptrace: {}", std::io::Error::last_os_error());
    Ok(())
}

/// Waits for a process that this thread traces, or any (-1): who, and its status. None: nobody is left.
#[expect(unsafe_code, reason = "std waits for its own children only")]
fn wait(pid: i32) -> anyhow::Result<Option<(i32, i32)>> {
    let mut status = 0;
    // Other threads wait for children of theirs.
    let options = libc::__WALL | libc::__WNOTHREAD;
    // SAFETY: fills the status in.
    let pid = unsafe { libc::waitpid(pid, &raw mut status, options) };
    let error = std::io::Error::last_os_error();
    ensure!(pid >= 0 || error.raw_os_error() == Some(libc::ECHILD), "waitpid: {error}");
    Ok((pid >= 0).then_some((pid, status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_of_the_source() {
        let text = "0000000000001130 <main>:\nmain():\n/tmp/a.c:5\n    1130:\tcmp    %eax,%ebx\n\
            \x20   1132:\tje     1140 <main+0x10>\n    1134:\tjmp    1140 <main+0x10>\n\
            /usr/include/b.h:7 (discriminator 2)\n    1136:\tjne    1140 <main+0x10>\n\
            /tmp/a.c:6 (discriminator 1)\n    1138:\tjg     1150 <main+0x20>\n";
        let jumps = |sources: &[&str]| {
            let sources = sources.iter().map(|it| (*it).to_owned()).collect();
            let code = Code::parse(text, &sources);
            assert_eq!(code.main, 0x1130);
            code.jumps
        };
        assert_eq!(jumps(&["a.c"]), [(0x1132, 0x1140), (0x1138, 0x1150)]);
        assert_eq!(jumps(&["a.c", "b.h"]), [(0x1132, 0x1140), (0x1136, 0x1140), (0x1138, 0x1150)]);
    }

    #[test]
    fn conditions() {
        const ZERO: u64 = 1 << 6;
        const SIGN: u64 = 1 << 7;
        // je, jne, jl, jge, jle, jg.
        let taken = |flags| [4, 5, 12, 13, 14, 15].map(|it| holds(it, flags));
        assert_eq!(taken(ZERO), [true, false, false, true, true, false]);
        assert_eq!(taken(SIGN), [false, true, true, false, true, false]);
        assert_eq!(taken(0), [false, true, false, true, false, true]);
    }
}
