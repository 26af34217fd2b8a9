//! `new` and `delete`: which of them a block was allocated by, and is freed by. What they do is the C++ library's, and comes
//! to `malloc` and `free`.
//!
//! What it misses: those with an alignment, which count as `malloc` and `free`, and operators that the program, or a C++
//! library within it, defines itself. (Where the C++ library is within it, none is judged.)

use std::{
    ffi::{CStr, c_void},
    ptr,
    sync::atomic::AtomicPtr,
};

use raddle_model::Allocator;

use crate::{
    control::may_enter,
    hooks::{behind, export_before, memory},
    state::heap,
};

/// By number: an operator, the family that it is of, and whether it frees.
const OPERATORS: &[(&CStr, Allocator, bool)] = &[
    (c"_Znwm", Allocator::New, false),
    (c"_ZnwmRKSt9nothrow_t", Allocator::New, false),
    (c"_Znam", Allocator::NewArray, false),
    (c"_ZnamRKSt9nothrow_t", Allocator::NewArray, false),
    (c"_ZdlPv", Allocator::New, true),
    (c"_ZdlPvm", Allocator::New, true),
    (c"_ZdlPvRKSt9nothrow_t", Allocator::New, true),
    (c"_ZdaPv", Allocator::NewArray, true),
    (c"_ZdaPvm", Allocator::NewArray, true),
    (c"_ZdaPvRKSt9nothrow_t", Allocator::NewArray, true),
];

static FOUND: [AtomicPtr<c_void>; OPERATORS.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; OPERATORS.len()];

export_before! {
    before;
    _Znwm: 0, "rdi";
    _ZnwmRKSt9nothrow_t: 1, "rdi";
    _Znam: 2, "rdi";
    _ZnamRKSt9nothrow_t: 3, "rdi";
    _ZdlPv: 4, "rdi";
    _ZdlPvm: 5, "rdi";
    _ZdlPvRKSt9nothrow_t: 6, "rdi";
    _ZdaPv: 7, "rdi";
    _ZdaPvm: 8, "rdi";
    _ZdaPvRKSt9nothrow_t: 9, "rdi";
}

/// Says which operator comes to `malloc` or `free` next. Where to go on: without a shared C++ library, there.
unsafe extern "C-unwind" fn before(
    argument: *mut c_void,
    number: usize,
    _pc: usize,
    _sp: usize,
) -> *mut c_void {
    let (_, allocator, is_free) = OPERATORS[number];
    let found = real_operator(number);
    if found.is_null() {
        // The C++ library is part of the program, and some of its operators are not seen: all count as `malloc` and `free`.
        return match is_free {
            true => memory::free as *const c_void as *mut c_void,
            false => memory::malloc as *const c_void as *mut c_void,
        };
    }
    if may_enter() && !(is_free && argument.is_null()) {
        heap::begin(allocator, is_free);
    }
    found
}

/// As in `common`.
pub(super) fn find_all() {
    (0..OPERATORS.len()).for_each(|it| {
        real_operator(it);
    });
}

fn real_operator(number: usize) -> *mut c_void {
    behind(&FOUND[number], OPERATORS[number].0)
}
