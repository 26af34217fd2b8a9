//! Mapped memory: what is mapped, moved or given back has no past. A mutex that was held there, a block
//! that was freed, another thread's data: none of it is what is there next.

use std::ffi::{c_int, c_void};

use libc::{off_t, size_t};
use raddle_fiber::raw;
use raddle_model::{Allocator, BlockSort, Op, OpKind};

use crate::{
    base::real,
    control::{control, enter, is_active},
    hooks::{caller, export, fail},
    record::stack::Caller,
    schedule::{signals::leave, step::step},
};

export! {
    mmap => do_mmap;
    mmap64 => do_mmap;
    munmap => do_munmap;
    mremap => do_mremap;
    sbrk => do_sbrk;
}

fn answer(result: isize) -> *mut c_void {
    if (-4095..0).contains(&result) {
        fail(-result as c_int);
        return libc::MAP_FAILED;
    }
    result as *mut c_void
}

unsafe extern "C" fn do_mmap(
    address: *mut c_void,
    size: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let caller = caller();
    let args =
        [address as usize, size, protection as usize, flags as usize, fd as usize, offset as usize];
    // SAFETY: the program's promises are passed on.
    let memory = answer(unsafe { raw::syscall(libc::SYS_mmap, args) });
    if memory != libc::MAP_FAILED {
        forget(memory as usize, size);
        let is_file = flags & libc::MAP_ANONYMOUS == 0;
        let sort = if is_file { BlockSort::File } else { BlockSort::Mapping };
        add_block(memory as usize, size, sort, caller);
        note_shared(memory as usize, size, protection, flags);
    }
    memory
}

/// What one process writes to shared memory, a copy of it reads.
fn note_shared(address: usize, size: usize, protection: c_int, flags: c_int) {
    let is_shared = flags & libc::MAP_TYPE != libc::MAP_PRIVATE;
    if is_shared
        && protection & libc::PROT_WRITE != 0
        && let Some(mut inside) = enter()
    {
        inside.memory.tied.push(address..address.saturating_add(size));
        inside.is_inside = false;
    }
}

/// Memory that the program maps is named as a block that it allocates is.
fn add_block(address: usize, size: usize, sort: BlockSort, caller: Caller) {
    if let Some(mut inside) = enter() {
        inside.add_block(address, size, (sort, Allocator::Malloc), caller);
        inside.note_allocation();
        inside.watch_block(address);
        inside.is_inside = false;
    }
}

unsafe extern "C-unwind" fn do_munmap(address: *mut c_void, size: size_t) -> c_int {
    give_back(address as usize, size, caller());
    // SAFETY: the program's promises are passed on.
    let result = unsafe { raw::syscall(libc::SYS_munmap, [address as usize, size, 0, 0, 0, 0]) };
    if result < 0 { fail(-result as c_int) } else { 0 }
}

/// Variadic in C: the new address is there if the flags say so.
unsafe extern "C-unwind" fn do_mremap(
    old: *mut c_void,
    old_size: size_t,
    size: size_t,
    flags: c_int,
    new: *mut c_void,
) -> *mut c_void {
    let args = [old as usize, old_size, size, flags as usize, new as usize, 0];
    let caller = caller();
    let sort = sort_of(old as usize);
    // SAFETY: the program's promises are passed on.
    let memory = answer(unsafe { raw::syscall(libc::SYS_mremap, args) });
    if memory != libc::MAP_FAILED {
        if memory != old {
            // What was there has moved; objects get new numbers where they are now.
            forget(old as usize, old_size);
            forget(memory as usize, size);
        }
        add_block(memory as usize, size, sort, caller);
    }
    memory
}

/// What is mapped at an address, as far as it is known.
fn sort_of(address: usize) -> BlockSort {
    let Some(mut inside) = enter() else {
        return BlockSort::Mapping;
    };
    let found = inside.memory.heap.block_of(address);
    inside.is_inside = false;
    found.map_or(BlockSort::Mapping, |(_, it)| it.sort)
}

unsafe extern "C" fn do_sbrk(increment: isize) -> *mut c_void {
    // SAFETY: the program's promises are passed on.
    let start = unsafe { real::sbrk(increment) };
    if increment > 0 && start != libc::MAP_FAILED {
        forget(start as usize, increment as usize);
    }
    start
}

/// Memory is about to be given back: a step, if other threads know it.
fn give_back(address: usize, size: usize, caller: Caller) {
    let Some(mut inside) = enter() else {
        return clear(address, size);
    };
    inside.settle_write();
    if !inside.scheduler.machine.is_alone()
        && let Some(object) = inside.shared_object_in(address, size)
    {
        let site = inside.site(caller);
        step(&mut inside, Op::on(OpKind::Free, object, site));
    }
    inside.inspect_free(address, size, caller);
    if inside.memory.heap.block_of(address).is_some_and(|(start, _)| start == address) {
        inside.memory.heap.remove(address);
    }
    clear(address, size);
    leave((), inside);
}

/// Makes memory untouched, inside a hook or outside. Not a step.
fn forget(address: usize, size: usize) {
    let entered = enter();
    clear(address, size);
    if let Some(mut inside) = entered {
        inside.is_inside = false;
    }
}

/// Makes memory untouched, inside a hook, for `memset` is one.
fn clear(address: usize, size: usize) {
    if !is_active() || address.checked_add(size).is_none_or(|end| end >> 47 != 0) {
        return;
    }
    // SAFETY: active means initialised. The memory is fresh or about to go: nobody uses its cells.
    unsafe { (*control()).memory.shadow.fill(address, size, false) };
}
