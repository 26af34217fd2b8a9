//! The hooks that a program calls most, copied to somewhere near it.
//!
//! A call of another library goes by way of a stub and a jump through memory, which takes as long as the hook itself. The
//! launcher has found such calls (`launch/symbols/hooked`), as whole instructions; each is made one of a copy that is in
//! reach. What the copies do is the same to the instruction, and whoever is interrupted in one counts as interrupted in
//! the hook.

use std::sync::OnceLock;

use raddle_trace::protocol::NEAR_HOOKS;

use crate::{
    control::Control,
    outside::traps::{map_below, protect},
    record::library::NearCall,
};

/// A hook of ours that has no more than one way out beside its return.
pub(crate) type Hook = unsafe extern "C" fn();

/// Behind the last instruction of each hook.
pub(crate) const END: u64 = 0x6b6f_6f68_2d64_6e65;

/// `lea r10, [rip + …]; nop dword ptr [rax]`: the beginning of each hook, and of its copy `mov r10, …`.
const LOAD: [u8; 3] = [0x4c, 0x8d, 0x15];
const LOAD_FAR: [u8; 2] = [0x49, 0xba];
const LOAD_SIZE: usize = 10;
/// `jmp`, with a distance: what some hooks end with. And `jmp [rip]`: to the address that follows.
const JUMP: u8 = 0xe9;
const JUMP_SIZE: usize = 5;
const JUMP_FAR: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];
/// Bytes for a copy.
const SLOT: usize = 512;
const PAGE: usize = 4096;

/// Calls with a distance, a jump in place of the last call and a return, and a call through memory.
const CALL: u8 = 0xe8;
const CALL_INDIRECT: [u8; 2] = [0xff, 0x15];
/// A prefix that changes nothing of a call: with it that is as long as one through memory.
const SAME: u8 = 0x67;

/// Where the copies are.
struct Copies {
    start: usize,
    hooks: [Hook; NEAR_HOOKS.len()],
}

static COPIES: OnceLock<Copies> = OnceLock::new();

/// In the server, before anything is executed: copies the hooks, and makes the calls that the launcher has found calls of
/// the copies.
pub(crate) fn install(control: &mut Control, hooks: [Hook; NEAR_HOOKS.len()]) {
    let calls = control.recorder.modules.take_near_calls();
    let Some(program) = control.recorder.modules.found.first().filter(|_| !calls.is_empty()) else {
        return;
    };
    let size = SLOT * hooks.len();
    let Some(start) = map_below(program.start, size.next_multiple_of(PAGE)) else { return };
    for (idx, hook) in hooks.into_iter().enumerate() {
        // SAFETY: hooks of ours end with a mark; the slot is fresh memory.
        unsafe { copy(hook, start + idx * SLOT) };
    }
    protect(start, size, libc::PROT_READ | libc::PROT_EXEC);
    COPIES.get_or_init(|| Copies { start, hooks });
    let (text, end) = (program.text.0 & !(PAGE - 1), program.text.1.next_multiple_of(PAGE));
    protect(text, end - text, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
    for NearCall { at, hook } in calls {
        let at = program.bias + at as usize;
        if (text..end - JUMP_SIZE).contains(&at) {
            // SAFETY: the launcher has found the instruction in this very file; nobody executes it meanwhile.
            unsafe { lead(at, start + hook * SLOT) };
        }
    }
    protect(text, end - text, libc::PROT_READ | libc::PROT_EXEC);
}

/// Copies a hook. What it jumps to is out of the copy's reach.
unsafe fn copy(hook: Hook, to: usize) {
    let from = hook as usize;
    // SAFETY: the caller promises a hook with a mark, and room.
    unsafe {
        let word = |at: usize| (at as *const u64).read_unaligned();
        let size = (0..SLOT).find(|it| word(from + it) == END).expect("bug: a hook without an end");
        let body = std::slice::from_raw_parts(from as *const u8, size);
        assert!(body.starts_with(&LOAD), "bug: a hook begins in another way");
        let distance = i32::from_le_bytes(body[3..7].try_into().expect("bug: four bytes"));
        let loaded = from.wrapping_add(7).wrapping_add_signed(distance as isize);
        let mut code = LOAD_FAR.to_vec();
        code.extend(loaded.to_le_bytes());
        code.extend(&body[LOAD_SIZE..]);
        if body[size - JUMP_SIZE] == JUMP {
            let distance: [u8; 4] = body[size - 4..].try_into().expect("bug: four bytes");
            let target = (from + size).wrapping_add_signed(i32::from_le_bytes(distance) as isize);
            code.truncate(size - JUMP_SIZE);
            code.extend(JUMP_FAR);
            code.extend(target.to_le_bytes());
        }
        assert!(code.len() <= SLOT, "bug: a long hook");
        std::ptr::copy_nonoverlapping(code.as_ptr(), to as *mut u8, code.len());
    }
}

/// Makes a call lead to a copy, if it is what the launcher has seen and the copy is in its reach.
unsafe fn lead(at: usize, to: usize) {
    let place = at as *mut u8;
    // SAFETY: the caller promises an instruction that can be written.
    unsafe {
        let place = match [*place, *place.add(1)] {
            [CALL | JUMP, _] => place,
            CALL_INDIRECT => place.add(1),
            _ => return,
        };
        let next = place as usize + JUMP_SIZE;
        let Ok(distance) = i32::try_from(to as i64 - next as i64) else { return };
        if place as usize > at {
            (*(at as *mut u8), *place) = (SAME, CALL);
        }
        place.add(1).cast::<i32>().write_unaligned(distance);
    }
}

/// Where in its hook an instruction is that was copied.
pub(crate) fn origin(pc: usize) -> Option<usize> {
    let Copies { start, hooks } = COPIES.get()?;
    let offset = pc.checked_sub(*start)?;
    let hook = hooks.get(offset / SLOT)?;
    Some(*hook as usize + offset % SLOT)
}
