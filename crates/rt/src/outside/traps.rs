//! Atomic instructions of the program that no hook announces: assembly, and what was compiled without hooks. The launcher
//! finds them; here each becomes a trap, and whoever comes to one makes a step before the instruction is performed. The
//! reads of loops that wait are treated in the same way, so that who waits gives way. Of system calls that are made
//! without the C library, those that wait for other threads are performed as if it had made them.
//!
//! The instruction itself is performed from a copy elsewhere, which leads back behind the original, so a trap stays where
//! it is. After it there is another trap, to see what it has left in memory.
//!
//! It is no access to memory for the race detector, for code around it may use the same memory without hooks and be
//! right. It acquires and releases that memory; and while nobody knows what else it orders, accesses before and after it
//! are never called a race, whoever made them (`detect`). They make the memory a shared one, and so another execution
//! has the two accesses without such an instruction in between, if they can be had.

use std::{
    ffi::{c_int, c_void},
    sync::OnceLock,
};

use raddle_fiber::raw;
use raddle_model::{Flags, MemoryOrder, Op, OpKind};
use raddle_trace::{Header, TrapEntry};

use crate::{
    abi::x86_64,
    control::{Inside, control, enter, may_enter},
    outside::{frame, traps::x86_64::peek},
    record::stack::Caller,
    schedule::{signals::leave, step::step},
};

/// An instruction that 64-bit code does not have: it interrupts whoever comes to it, by SIGILL. (SIGTRAP is debuggers'.)
const TRAP: u8 = 0x0e;
/// Bytes for the copy of an instruction and the way back.
const SLOT: usize = 32;
/// A trap, then `jmp [rip]`: to the address that follows.
const BACK: [u8; 7] = [TRAP, 0xff, 0x25, 0, 0, 0, 0];
const PAGE: usize = 4096;

/// All traps of this process.
struct Traps {
    /// Invariant: sorted by address.
    all: Vec<Trap>,
    /// Numbers of all, sorted by slot.
    by_slot: Vec<usize>,
    perform: Perform,
}

struct Trap {
    at: usize,
    /// Where its instruction is performed.
    slot: usize,
    /// What its displacement is relative to.
    bias: usize,
    entry: TrapEntry,
}

/// Performs a system call inside a hook, or leaves it to the kernel.
pub(crate) type Perform = unsafe fn(&mut Inside, i64, &[usize; 6], Caller) -> Option<i64>;

static TRAPS: OnceLock<Traps> = OnceLock::new();

/// In the server, before anything is executed: sets the traps that the launcher wants, once.
pub(crate) fn install(header: *mut Header, perform: Perform) {
    // SAFETY: the launcher has written so many, and waits.
    unsafe {
        let segment = (*control()).segment;
        let n_traps = (*header).request.n_traps.min(segment.caps().traps) as usize;
        if n_traps == 0 || TRAPS.get().is_some() {
            return;
        }
        let entries = segment.copy(segment.traps(), n_traps);
        let mut all = Vec::with_capacity(n_traps);
        for of_module in entries.chunk_by(|a, b| a.module == b.module) {
            let module = of_module[0].module as usize;
            let bounds = (*control()).module_bounds(module);
            let set = bounds.and_then(|(bias, start)| set_traps(of_module, bias, start));
            match set {
                Some(set) => all.extend(set),
                None => (*segment.modules().add(module)).is_announced = 0,
            }
        }
        all.sort_unstable_by_key(|it: &Trap| it.at);
        let mut by_slot: Vec<usize> = (0..all.len()).collect();
        by_slot.sort_unstable_by_key(|it| all[*it].slot);
        // Handlers are to find them before the first is met.
        let traps = TRAPS.get_or_init(|| Traps { all, by_slot, perform });
        traps.all.iter().for_each(arm);
    }
}

/// Copies instructions of a module to somewhere near it: what is given by its distance must stay in reach.
unsafe fn set_traps(entries: &[TrapEntry], bias: usize, start: usize) -> Option<Vec<Trap>> {
    let size = (entries.len() * SLOT).next_multiple_of(PAGE);
    let slots = map_below(start, size)?;
    let mut traps = Vec::with_capacity(entries.len());
    for (idx, entry) in entries.iter().enumerate() {
        let trap = Trap {
            at: bias + entry.offset as usize,
            slot: slots + idx * SLOT,
            bias,
            entry: *entry,
        };
        // SAFETY: the launcher has seen the instruction there; the slot is fresh memory.
        unsafe { fill(&trap)? };
        traps.push(trap);
    }
    protect(slots, size, libc::PROT_READ | libc::PROT_EXEC);
    Some(traps)
}

/// Fresh memory below an address, in reach of what is there.
pub(super) fn map_below(end: usize, size: usize) -> Option<usize> {
    const REACH: usize = 1 << 30;
    const MAP_FIXED_NOREPLACE: usize = 0x10_0000;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize | MAP_FIXED_NOREPLACE;
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let first = (end & !(PAGE - 1)).checked_sub(size)?;
    (first.saturating_sub(REACH)..=first).rev().step_by(64 << 10).find(|at| {
        // SAFETY: asks for new memory, touches none.
        let result =
            unsafe { raw::syscall(libc::SYS_mmap, [*at, size, protection, flags, usize::MAX, 0]) };
        result == *at as isize
    })
}

pub(super) fn protect(start: usize, size: usize, protection: c_int) {
    // SAFETY: the memory is a module's code, or ours.
    unsafe { raw::syscall(libc::SYS_mprotect, [start, size, protection as usize, 0, 0, 0]) };
}

/// Writes the copy of an instruction; `None` if what it uses is out of its reach.
unsafe fn fill(trap: &Trap) -> Option<()> {
    let TrapEntry { length, distance_at, displacement, .. } = trap.entry;
    let n_bytes = usize::from(length);
    let next = trap.slot + n_bytes;
    // SAFETY: the caller promises an instruction and room in its slot.
    unsafe {
        let slot = trap.slot as *mut u8;
        std::ptr::copy_nonoverlapping(trap.at as *const u8, slot, n_bytes);
        if distance_at > 0 {
            let target = trap.bias as i64 + displacement as i64;
            let distance = i32::try_from(target - next as i64).ok()?;
            slot.add(usize::from(distance_at)).cast::<i32>().write_unaligned(distance);
        }
        let back = next as *mut u8;
        std::ptr::copy_nonoverlapping(BACK.as_ptr(), back, BACK.len());
        back.add(BACK.len()).cast::<usize>().write_unaligned(trap.at + n_bytes);
    }
    Some(())
}

/// Makes an instruction a trap.
fn arm(trap: &Trap) {
    let page = trap.at & !(PAGE - 1);
    protect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
    // SAFETY: the page can be written now, and nobody executes it meanwhile.
    unsafe { (trap.at as *mut u8).write(TRAP) };
    protect(page, PAGE, libc::PROT_READ | libc::PROT_EXEC);
}

fn find(at: usize) -> Option<&'static Trap> {
    let all = &TRAPS.get()?.all;
    all.binary_search_by_key(&at, |it| it.at).ok().map(|idx| &all[idx])
}

/// The trap whose instruction is performed here.
fn performed_at(pc: usize) -> Option<&'static Trap> {
    let Traps { all, by_slot, .. } = TRAPS.get()?;
    let n_before = by_slot.partition_point(|it| all[*it].slot <= pc);
    let trap = &all[*by_slot[..n_before].last()?];
    (pc < trap.slot + SLOT).then_some(trap)
}

/// Where an instruction of the program is that is performed elsewhere.
pub(crate) fn origin(pc: usize) -> Option<usize> {
    performed_at(pc).map(|it| it.at)
}

/// After an interrupt: was it a trap? Then it has been seen to when this returns.
///
/// # Safety
///
/// A handler of ours runs, with what the kernel gave it.
pub(crate) unsafe fn meet(
    signal: c_int,
    info: *const libc::siginfo_t,
    context: *mut libc::ucontext_t,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let pc = &mut (*context).uc_mcontext.gregs[libc::REG_RIP as usize];
        let at = *pc as usize;
        let is_seen = may_enter() && (*control()).scheduler.machine.n_threads() > 1;
        if let Some(trap) = performed_at(at) {
            if at != trap.slot + usize::from(trap.entry.length) {
                return false;
            }
            *pc += 1;
            if is_seen {
                (*control()).is_inside = true;
                (*control()).note_line();
                (*control()).is_inside = false;
            }
            return true;
        }
        let Some(trap) = find(at) else { return false };
        *pc = trap.slot as i64;
        if is_seen {
            // Handlers run on a stack that all threads share: others must not be chosen there.
            let handler = announce as *const () as usize;
            (*control()).is_inside = true;
            frame::go_on_in(handler, signal, info, context.cast::<c_void>(), None);
            (*control()).is_inside = false;
        }
        true
    }
}

/// The thread that runs has come to a trap, and goes on in its slot.
unsafe extern "C-unwind" fn announce(
    _: c_int,
    _: *mut libc::siginfo_t,
    context: *mut libc::ucontext_t,
) {
    // SAFETY: the kernel's values, copied by `go_on_in`; the borrows end before the step.
    unsafe {
        let registers = &(*context).uc_mcontext.gregs;
        let slot = registers[libc::REG_RIP as usize] as usize;
        let Some(trap) = performed_at(slot) else { return };
        let Some(mut inside) = enter() else { return };
        let pc = trap.at + usize::from(trap.entry.length);
        let caller = Caller { pc, sp: registers[libc::REG_RSP as usize] as usize };
        if trap.entry.is_call == 1 {
            return call(inside, &mut (*context).uc_mcontext.gregs, pc, caller);
        }
        announce_at(&mut inside, trap.address(registers), usize::from(trap.entry.size), caller);
        leave((), inside);
    }
}

/// A system call, inside a hook: performed, or left to the kernel.
unsafe fn call(mut inside: Inside, registers: &mut [i64; 23], next: usize, caller: Caller) {
    let arg = |it: c_int| registers[it as usize] as usize;
    let args = [
        arg(libc::REG_RDI),
        arg(libc::REG_RSI),
        arg(libc::REG_RDX),
        arg(libc::REG_R10),
        arg(libc::REG_R8),
        arg(libc::REG_R9),
    ];
    let perform = TRAPS.get().expect("bug: a call without traps").perform;
    // SAFETY: the thread that runs is inside a hook; the program's promises are passed on.
    let result = unsafe { perform(&mut inside, registers[libc::REG_RAX as usize], &args, caller) };
    if let Some(result) = result {
        registers[libc::REG_RAX as usize] = result;
        registers[libc::REG_RIP as usize] = next as i64;
    }
    leave((), inside);
}

/// A step on the memory of an instruction, inside a hook.
unsafe fn announce_at(inside: &mut Inside, address: usize, size: usize, caller: Caller) {
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let object = inside.variables(address, size);
        if inside.scheduler.machine.is_alone() {
            return inside.order_by_unhooked(object, address, size);
        }
        let site = inside.site(caller);
        let (offset, _) = inside.recorder.emit.bytes_of(object, address, size);
        let mut op = Op::on(OpKind::AtomicRmw, object, site);
        op = op.order(MemoryOrder::SeqCst).bytes(offset, size);
        op.flags = inside.this().spin.flags().with(Flags::UNHOOKED);
        step(inside, op);
        let seen = peek(address, size.min(8));
        inside.note_step(&op, seen);
        inside.recorder.emit.set_value(seen, size.min(8) as u8);
        inside.this().spin.read(site, object, seen);
        inside.order_by_unhooked(object, address, size);
    }
}

impl Trap {
    /// The memory that its instruction is about.
    fn address(&self, registers: &[i64; 23]) -> usize {
        const REGISTERS: [c_int; 16] = [
            libc::REG_RAX,
            libc::REG_RCX,
            libc::REG_RDX,
            libc::REG_RBX,
            libc::REG_RSP,
            libc::REG_RBP,
            libc::REG_RSI,
            libc::REG_RDI,
            libc::REG_R8,
            libc::REG_R9,
            libc::REG_R10,
            libc::REG_R11,
            libc::REG_R12,
            libc::REG_R13,
            libc::REG_R14,
            libc::REG_R15,
        ];
        let value = |number: u8| {
            let register = REGISTERS.get(usize::from(number));
            register.map_or(0, |it| registers[*it as usize] as usize)
        };
        let TrapEntry { base, index, scale, displacement, distance_at, is_local, .. } = self.entry;
        let from = if distance_at > 0 { self.bias } else { value(base) };
        let local = if is_local == 1 { raddle_fiber::thread_pointer() } else { 0 };
        from.wrapping_add(value(index).wrapping_mul(usize::from(scale)))
            .wrapping_add(displacement as usize)
            .wrapping_add(local)
    }
}
