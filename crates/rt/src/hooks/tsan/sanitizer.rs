//! What all sanitizers have in common (`sanitizer/common_interface_defs.h`, `sanitizer/allocator_interface.h`), and what
//! TSan answers about a report of its own.
//!
//! Accesses that may be unaligned are accesses like any other, and sizes of blocks are the C library's. The rest is there
//! so that programs link: there is no report to be asked about or written elsewhere, no callback is called, no stack
//! is printed.

use std::ffi::{c_char, c_int, c_void};

use libc::size_t;
use raddle_model::OpKind;

use crate::{
    hooks::{caller, export},
    schedule::access::range,
};

export! {
    __sanitizer_unaligned_load16 => do_load_16;
    __sanitizer_unaligned_load32 => do_load_32;
    __sanitizer_unaligned_load64 => do_load_64;
    __sanitizer_unaligned_store16 => do_store_16;
    __sanitizer_unaligned_store32 => do_store_32;
    __sanitizer_unaligned_store64 => do_store_64;
    __sanitizer_get_allocated_size => do_size;
    __sanitizer_get_ownership => do_is_block;
    __sanitizer_get_estimated_allocated_size => do_same;
    __sanitizer_get_current_allocated_bytes => do_zero;
    __sanitizer_get_heap_size => do_zero;
    __sanitizer_get_free_bytes => do_zero;
    __sanitizer_get_unmapped_bytes => do_zero;
    __sanitizer_install_malloc_and_free_hooks => do_zero;
    __sanitizer_acquire_crash_state => do_one;
    __sanitizer_get_module_and_offset_for_pc => do_zero;
    __sanitizer_get_report_path => do_report_path;
    __sanitizer_set_report_path => do_nothing;
    __sanitizer_set_report_fd => do_nothing;
    __sanitizer_set_death_callback => do_nothing;
    __sanitizer_report_error_summary => do_nothing;
    __sanitizer_print_stack_trace => do_nothing;
    __sanitizer_sandbox_on_notify => do_nothing;
    __sanitizer_symbolize_pc => do_unknown;
    __sanitizer_symbolize_global => do_unknown;
    __tsan_get_current_report => do_zero;
    __tsan_get_report_data => do_zero;
    __tsan_get_report_tag => do_zero;
    __tsan_get_report_stack => do_zero;
    __tsan_get_report_mop => do_zero;
    __tsan_get_report_loc => do_zero;
    __tsan_get_report_loc_object_type => do_zero;
    __tsan_get_report_mutex => do_zero;
    __tsan_get_report_thread => do_zero;
    __tsan_get_report_unique_tid => do_zero;
    __tsan_get_alloc_stack => do_zero;
}

extern "C" fn do_nothing() {}

extern "C" fn do_zero() -> usize {
    0
}

extern "C" fn do_one() -> c_int {
    1
}

extern "C" fn do_same(size: size_t) -> size_t {
    size
}

/// As TSan says, where nothing else was asked for.
extern "C" fn do_report_path() -> *const c_char {
    c"stderr".as_ptr()
}

unsafe extern "C" fn do_load_16(address: *const u16) -> u16 {
    range(address as usize, 2, OpKind::Read, caller());
    // SAFETY: the program's promise of readable memory.
    unsafe { address.read_unaligned() }
}

unsafe extern "C" fn do_load_32(address: *const u32) -> u32 {
    range(address as usize, 4, OpKind::Read, caller());
    // SAFETY: the program's promise of readable memory.
    unsafe { address.read_unaligned() }
}

unsafe extern "C" fn do_load_64(address: *const u64) -> u64 {
    range(address as usize, 8, OpKind::Read, caller());
    // SAFETY: the program's promise of readable memory.
    unsafe { address.read_unaligned() }
}

unsafe extern "C" fn do_store_16(address: *mut u16, value: u16) {
    range(address as usize, 2, OpKind::Write, caller());
    // SAFETY: the program's promise of writable memory.
    unsafe { address.write_unaligned(value) };
}

unsafe extern "C" fn do_store_32(address: *mut u32, value: u32) {
    range(address as usize, 4, OpKind::Write, caller());
    // SAFETY: the program's promise of writable memory.
    unsafe { address.write_unaligned(value) };
}

unsafe extern "C" fn do_store_64(address: *mut u64, value: u64) {
    range(address as usize, 8, OpKind::Write, caller());
    // SAFETY: the program's promise of writable memory.
    unsafe { address.write_unaligned(value) };
}

unsafe extern "C" fn do_size(block: *mut c_void) -> size_t {
    // SAFETY: the program's promise of a block, or null.
    unsafe { libc::malloc_usable_size(block) }
}

/// Whoever asks has a block, as a rule.
extern "C" fn do_is_block(block: *const c_void) -> c_int {
    c_int::from(!block.is_null())
}

/// An empty text: what code and variables are called is known outside.
unsafe extern "C" fn do_unknown(_: usize, _format: *const c_char, text: *mut c_char, size: size_t) {
    if size > 0 && !text.is_null() {
        // SAFETY: the program's promise of so many bytes.
        unsafe { text.write(0) };
    }
}
