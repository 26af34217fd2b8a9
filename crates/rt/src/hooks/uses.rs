//! What functions of the C library read and write on the program's behalf: strings, memory, formats, numbers. They are
//! accesses of the caller, seen for races and for the bounds of heap blocks, before the function runs.
//!
//! Only calls from the program's own code count. What system libraries do among themselves may be ordered by locks of
//! theirs that nobody sees.
//!
//! What it misses: the format itself, wide strings, what `scanf` and its like write, calls that a compiler has replaced by
//! code of its own.

mod format;
#[cfg(test)]
mod tests;

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
    sync::atomic::AtomicPtr,
};

use raddle_model::OpKind;
use raddle_trace::Common;

use crate::{
    control::control,
    hooks::{behind, caller, common, export, export_before, tsan},
    record::stack::Caller,
    schedule::access::range,
};

/// What one function reads or writes. Numbers are those of its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// A string is read to its end.
    Text(usize),
    /// A string is read to its end, or to a limit.
    TextWithin(usize, usize),
    /// So many bytes are read.
    Read(usize, usize),
    /// So many bytes are written.
    Write(usize, usize),
    /// So many things of some size are read.
    ReadItems(usize, [usize; 2]),
    /// So many things of some size are read and written.
    Sort(usize, [usize; 2]),
    /// A string is written: a copy of another.
    Copy(usize, usize),
    /// A string is copied behind another.
    Append(usize, usize),
    /// The same, with a limit.
    AppendWithin(usize, usize, usize),
    /// Two strings are read up to where they differ; letters may have to be the same only but for their case.
    Common(usize, usize, bool),
    /// The same, with a limit.
    CommonWithin(usize, usize, usize, bool),
    /// A string is read up to where a byte is found.
    Find(usize, usize),
    /// The same in so many bytes.
    FindWithin(usize, usize, usize),
    /// A string is read up to the end of a number.
    Number(usize),
    /// Strings are read that a format asks for.
    Format(Format),
    /// The same, and the result is written, within a size if there is one.
    Print(usize, Option<usize>, Format),
}

/// A format: which argument it is, and whether what it asks for is a list (`va_list`), which follows.
pub(super) type Format = (usize, bool);

macro_rules! uses {
    ($($name:ident: $number:literal, [$($use:expr),*];)*) => {
        /// By number: the function, and what it uses.
        const CALLS: &[(&CStr, &[Use])] = {
            use Use::*;
            &[$((
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                },
                &[$($use),*],
            ),)*]
        };

        export_before! { before; $($name: $number, "rdi";)* }
    };
}

#[rustfmt::skip]
uses! {
    strlen: 0, [Text(0)];
    strnlen: 1, [TextWithin(0, 1)];
    strcpy: 2, [Text(1), Copy(0, 1)];
    stpcpy: 3, [Text(1), Copy(0, 1)];
    strncpy: 4, [TextWithin(1, 2), Write(0, 2)];
    stpncpy: 5, [TextWithin(1, 2), Write(0, 2)];
    strcat: 6, [Text(0), Text(1), Append(0, 1)];
    strncat: 7, [Text(0), TextWithin(1, 2), AppendWithin(0, 1, 2)];
    strcmp: 8, [Common(0, 1, false)];
    strcoll: 9, [Text(0), Text(1)];
    strcasecmp: 10, [Common(0, 1, true)];
    strncmp: 11, [CommonWithin(0, 1, 2, false)];
    strncasecmp: 12, [CommonWithin(0, 1, 2, true)];
    strchr: 13, [Find(0, 1)];
    index: 14, [Find(0, 1)];
    strchrnul: 15, [Find(0, 1)];
    rawmemchr: 16, [Find(0, 1)];
    strrchr: 17, [Text(0)];
    rindex: 18, [Text(0)];
    strstr: 19, [Text(0), Text(1)];
    strcasestr: 20, [Text(0), Text(1)];
    strspn: 21, [Text(0), Text(1)];
    strcspn: 22, [Text(0), Text(1)];
    strpbrk: 23, [Text(0), Text(1)];
    strdup: 24, [Text(0)];
    __strdup: 25, [Text(0)];
    strndup: 26, [TextWithin(0, 1)];
    __strndup: 27, [TextWithin(0, 1)];
    memcmp: 28, [Read(0, 2), Read(1, 2)];
    bcmp: 29, [Read(0, 2), Read(1, 2)];
    __memcmpeq: 30, [Read(0, 2), Read(1, 2)];
    memchr: 31, [FindWithin(0, 1, 2)];
    memrchr: 32, [Read(0, 2)];
    memmem: 33, [Read(0, 1), Read(2, 3)];
    mempcpy: 34, [Read(1, 2), Write(0, 2)];
    __mempcpy: 35, [Read(1, 2), Write(0, 2)];
    bcopy: 36, [Read(0, 2), Write(1, 2)];
    bzero: 37, [Write(0, 1)];
    explicit_bzero: 38, [Write(0, 1)];
    atoi: 39, [Number(0)];
    atol: 40, [Number(0)];
    atoll: 41, [Number(0)];
    atof: 42, [Number(0)];
    strtol: 43, [Number(0)];
    strtoll: 44, [Number(0)];
    strtoul: 45, [Number(0)];
    strtoull: 46, [Number(0)];
    strtoimax: 47, [Number(0)];
    strtoumax: 48, [Number(0)];
    strtod: 49, [Number(0)];
    strtof: 50, [Number(0)];
    strtold: 51, [Number(0)];
    __isoc23_strtol: 52, [Number(0)];
    __isoc23_strtoll: 53, [Number(0)];
    __isoc23_strtoul: 54, [Number(0)];
    __isoc23_strtoull: 55, [Number(0)];
    qsort: 56, [Sort(0, [1, 2])];
    qsort_r: 57, [Sort(0, [1, 2])];
    puts: 58, [Text(0)];
    printf: 59, [Format((0, false))];
    vprintf: 60, [Format((0, true))];
    __printf_chk: 61, [Format((1, false))];
    __vprintf_chk: 62, [Format((1, true))];
    dprintf: 63, [Format((1, false))];
    vdprintf: 64, [Format((1, true))];
    sprintf: 65, [Print(0, None, (1, false))];
    vsprintf: 66, [Print(0, None, (1, true))];
    snprintf: 67, [Print(0, Some(1), (2, false))];
    vsnprintf: 68, [Print(0, Some(1), (2, true))];
    __sprintf_chk: 69, [Print(0, None, (3, false))];
    __vsprintf_chk: 70, [Print(0, None, (3, true))];
    __snprintf_chk: 71, [Print(0, Some(1), (4, false))];
    __vsnprintf_chk: 72, [Print(0, Some(1), (4, true))];
    asprintf: 73, [Format((1, false))];
    vasprintf: 74, [Format((1, true))];
    __asprintf_chk: 75, [Format((2, false))];
    __vasprintf_chk: 76, [Format((2, true))];
    __strcpy_chk: 77, [Text(1), Copy(0, 1)];
    __stpcpy_chk: 78, [Text(1), Copy(0, 1)];
    __strncpy_chk: 79, [TextWithin(1, 2), Write(0, 2)];
    __strcat_chk: 80, [Text(0), Text(1), Append(0, 1)];
    __strncat_chk: 81, [Text(0), TextWithin(1, 2), AppendWithin(0, 1, 2)];
    __memcpy_chk: 82, [Read(1, 2), Write(0, 2)];
    __memmove_chk: 83, [Read(1, 2), Write(0, 2)];
    __memset_chk: 84, [Write(0, 2)];
    strxfrm: 85, [Text(1)];
}

/// The number of `vsnprintf`.
const VSNPRINTF: usize = 68;
const _: () = assert!(matches!(CALLS[VSNPRINTF].0.to_bytes(), b"vsnprintf"));

/// The same for functions that have a hook of another file, which comes here first.
const OTHERS: &[(&CStr, &[Use])] = {
    use Use::*;
    &[
        (c"fprintf", &[Format((1, false))]),
        (c"vfprintf", &[Format((1, true))]),
        (c"__fprintf_chk", &[Format((2, false))]),
        (c"__vfprintf_chk", &[Format((2, true))]),
        (c"fputs", &[Text(0)]),
        (c"fputs_unlocked", &[Text(0)]),
        (c"fwrite", &[ReadItems(0, [1, 2])]),
        (c"fwrite_unlocked", &[ReadItems(0, [1, 2])]),
        (c"pwrite", &[Read(1, 2)]),
        (c"pwrite64", &[Read(1, 2)]),
    ]
};

/// The arguments of a call, as an entry by `export_before` has put them on the stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments {
    caller: Caller,
}

impl Arguments {
    /// One of the first six.
    fn get(self, idx: usize) -> usize {
        // SAFETY: `export_before` pushes rdi, rsi, rdx, rcx, r8 and r9, below the return address.
        unsafe { ((self.caller.sp - 16 - 8 * idx) as *const usize).read() }
    }

    /// The sixteen bytes of a vector register.
    fn vector(self, idx: usize) -> [usize; 2] {
        // SAFETY: `export_before` keeps eight of them below the other registers.
        unsafe { ((self.caller.sp - 192 + 16 * idx) as *const [usize; 2]).read() }
    }
}

static FOUND: [AtomicPtr<c_void>; CALLS.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; CALLS.len()];

/// Makes the accesses of a call. Where to go on.
unsafe extern "C-unwind" fn before(
    _first: *mut c_void,
    number: usize,
    pc: usize,
    sp: usize,
) -> *mut c_void {
    // SAFETY: we were called by an entry of `export_before`.
    unsafe { make(CALLS[number].1, Caller { pc, sp }) };
    real_call(number)
}

/// Makes the accesses of a call of a function that has its hook elsewhere.
///
/// # Safety
///
/// Called from an entry of `export_before`, with its caller.
pub(super) unsafe fn of_other(name: &CStr, caller: Caller) {
    if let Some((_, uses)) = OTHERS.iter().find(|it| it.0 == name) {
        // SAFETY: the caller's promise.
        unsafe { make(uses, caller) };
    }
}

unsafe fn make(uses: &[Use], caller: Caller) {
    if !is_seen(caller) {
        return;
    }
    let arguments = Arguments { caller };
    for it in uses {
        // SAFETY: the program promises arguments that the function can work with.
        unsafe { one(*it, arguments) };
    }
}

unsafe fn one(it: Use, arguments: Arguments) {
    let of = |idx| arguments.get(idx);
    let access = |idx, size, kind| range(of(idx), size, kind, arguments.caller);
    let read = |idx, size| access(idx, size, OpKind::Read);
    // SAFETY: as the caller promises; nothing is looked at that the function would not look at.
    unsafe {
        match it {
            Use::Text(text) => read(text, length(of(text)) + 1),
            Use::TextWithin(text, limit) => read(text, length_within(of(text), of(limit))),
            Use::Read(memory, size) => read(memory, of(size)),
            Use::Write(memory, size) => access(memory, of(size), OpKind::Write),
            Use::ReadItems(memory, [size, n]) => read(memory, of(size).saturating_mul(of(n))),
            Use::Sort(memory, [n, size]) => {
                access(memory, of(size).saturating_mul(of(n)), OpKind::ReadWrite);
            }
            Use::Copy(to, from) => access(to, length(of(from)) + 1, OpKind::Write),
            Use::Append(to, from) => append(arguments, to, length(of(from))),
            Use::AppendWithin(to, from, limit) => {
                append(arguments, to, letters_within(of(from), of(limit)));
            }
            Use::Common(a, b, is_loose) => {
                let size = common(of(a), of(b), usize::MAX, is_loose);
                read(a, size);
                read(b, size);
            }
            Use::CommonWithin(a, b, limit, is_loose) => {
                let size = common(of(a), of(b), of(limit), is_loose);
                read(a, size);
                read(b, size);
            }
            Use::Find(text, wanted) => {
                read(text, up_to(of(text), of(wanted) as u8, usize::MAX, true));
            }
            Use::FindWithin(memory, wanted, size) => {
                read(memory, up_to(of(memory), of(wanted) as u8, of(size), false));
            }
            Use::Number(text) => read(text, number(of(text))),
            Use::Format(which) => format::strings(arguments, which),
            Use::Print(to, limit, which) => {
                format::strings(arguments, which);
                let size = format::size(arguments, which);
                let size = limit.map_or(size, |it| size.min(of(it)));
                access(to, size, OpKind::Write);
            }
        }
    }
}

unsafe fn append(arguments: Arguments, to: usize, size: usize) {
    let to = arguments.get(to);
    // SAFETY: the caller's promise: it is a string.
    let end = to + unsafe { length(to) };
    range(end, size + 1, OpKind::Write, arguments.caller);
}

unsafe fn byte(address: usize) -> u8 {
    // SAFETY: the caller's promise. (Volatile, or the compiler makes calls of the very functions of the loops below.)
    unsafe { (address as *const u8).read_volatile() }
}

unsafe fn length(text: usize) -> usize {
    // SAFETY: the caller's promise.
    (0..).take_while(|at| unsafe { byte(text + at) } != 0).count()
}

/// Letters of a string, which need not end within the limit.
unsafe fn letters_within(text: usize, limit: usize) -> usize {
    // SAFETY: the caller's promise.
    (0..limit).take_while(|at| unsafe { byte(text + at) } != 0).count()
}

/// Bytes that are looked at to find the end of a string, or a limit.
unsafe fn length_within(text: usize, limit: usize) -> usize {
    // SAFETY: the caller's promise.
    let end = (0..limit).find(|at| unsafe { byte(text + at) } == 0);
    end.map_or(limit, |it| it + 1)
}

/// Bytes that are looked at to find a byte, or the end of a string.
unsafe fn up_to(memory: usize, wanted: u8, limit: usize, is_text: bool) -> usize {
    // SAFETY: the caller's promise.
    let is_last = |at: &usize| match unsafe { byte(memory + at) } {
        0 if is_text => true,
        it => it == wanted,
    };
    (0..limit).find(is_last).map_or(limit, |it| it + 1)
}

/// Bytes that are looked at of two strings to tell them apart.
unsafe fn common(a: usize, b: usize, limit: usize, is_loose: bool) -> usize {
    let is_last = |at: &usize| {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (byte(a + at), byte(b + at)) };
        let is_same = if is_loose { a.eq_ignore_ascii_case(&b) } else { a == b };
        !is_same || a == 0
    };
    (0..limit).find(is_last).map_or(limit, |it| it + 1)
}

/// Bytes that are looked at to find the end of a number of any kind, as far as letters tell.
unsafe fn number(text: usize) -> usize {
    // SAFETY: the caller's promise.
    let is_blank = |at: &usize| unsafe { byte(text + at) }.is_ascii_whitespace();
    let n_blanks = (0..).take_while(is_blank).count();
    let is_part = |at: &usize| {
        // SAFETY: as above.
        let it = unsafe { byte(text + at) };
        it.is_ascii_digit() || (*at == n_blanks && matches!(it, b'+' | b'-'))
    };
    (n_blanks..).find(|at| !is_part(at)).unwrap_or(n_blanks) + 1
}

/// As in `common`.
pub(super) fn find_all() {
    (0..CALLS.len()).for_each(|it| {
        real_call(it);
    });
    (0..AFTER.len()).for_each(|it| {
        real_after(it);
    });
}

fn real_call(number: usize) -> *mut c_void {
    behind(&FOUND[number], CALLS[number].0)
}

export! {
    iconv => do_iconv;
    pread => do_pread;
    pread64 => do_pread;
}

/// Functions whose accesses are known when they have returned.
const AFTER: &[&CStr] = &[c"iconv", c"pread"];

static FOUND_AFTER: [AtomicPtr<c_void>; AFTER.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; AFTER.len()];

fn real_after(number: usize) -> *mut c_void {
    behind(&FOUND_AFTER[number], AFTER[number])
}

type Iconv =
    unsafe extern "C-unwind" fn(usize, *mut usize, *mut usize, *mut usize, *mut usize) -> usize;
type Pread = unsafe extern "C-unwind" fn(c_int, *mut c_void, usize, i64) -> isize;

/// What is converted is read, what it becomes is written.
unsafe extern "C-unwind" fn do_iconv(
    converter: usize,
    from: *mut usize,
    n_from: *mut usize,
    to: *mut usize,
    n_to: *mut usize,
) -> usize {
    let caller = caller();
    // SAFETY: the program's promises are passed on; each of the four may be null.
    unsafe {
        let place = |it: *mut usize| if it.is_null() { 0 } else { *it };
        let (start, is_seen) = (place(to), is_seen(caller));
        if is_seen && place(from) != 0 {
            range(place(from), place(n_from), OpKind::Read, caller);
        }
        let real = std::mem::transmute::<*mut c_void, Iconv>(real_after(0));
        let result = real(converter, from, n_from, to, n_to);
        if is_seen && start != 0 {
            range(start, place(to).saturating_sub(start), OpKind::Write, caller);
        }
        result
    }
}

/// What was read from the file is written to memory.
unsafe extern "C-unwind" fn do_pread(
    fd: c_int,
    buffer: *mut c_void,
    size: usize,
    offset: i64,
) -> isize {
    let caller = caller();
    common::call(Common::Files, OpKind::Call, caller);
    // SAFETY: the program's promises are passed on.
    unsafe {
        let real = std::mem::transmute::<*mut c_void, Pread>(real_after(1));
        let result = real(fd, buffer, size, offset);
        written(buffer as usize, result.max(0) as usize, caller);
        result
    }
}

/// A function that the program has called has written so many bytes.
pub(super) fn written(address: usize, size: usize, caller: Caller) {
    if is_seen(caller) {
        range(address, size, OpKind::Write, caller);
    }
}

/// A function that the program has called has written a string.
///
/// # Safety
///
/// It is one.
pub(super) unsafe fn text_written(address: usize, caller: Caller) {
    if is_seen(caller) {
        // SAFETY: the caller's promise.
        range(address, unsafe { length(address) } + 1, OpKind::Write, caller);
    }
}

/// Do the accesses count that a function makes for whoever called it?
fn is_seen(caller: Caller) -> bool {
    // SAFETY: active means initialised; a plain look.
    tsan::is_shared_world() && unsafe { !(*control()).is_system_code(caller.pc) }
}
