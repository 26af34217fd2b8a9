//! What `printf` and its like read besides their format: the strings that it asks for.

use std::ffi::{c_char, c_int, c_void};

use raddle_model::OpKind;

use super::{Arguments, Format, VSNPRINTF, byte, length_within, real_call};
use crate::schedule::access::range;

/// A list of arguments, as the ABI lays it out (`va_list`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct List {
    /// Where the next one is among the general registers' values, and among the vector registers'.
    gp_offset: u32,
    fp_offset: u32,
    /// The next one of those that were passed in memory.
    overflow: usize,
    registers: usize,
}

const GP_END: u32 = 48;
const FP_END: u32 = 176;

/// The registers of a call, as a list of arguments points to them.
type Registers = [usize; FP_END as usize / 8];

fn registers(arguments: Arguments) -> Registers {
    let mut all = [0; FP_END as usize / 8];
    for (idx, word) in all[..6].iter_mut().enumerate() {
        *word = arguments.get(idx);
    }
    for idx in 0..8 {
        all[6 + 2 * idx..][..2].copy_from_slice(&arguments.vector(idx));
    }
    all
}

/// The list that a format goes with: it was passed, or is all that follows the format.
unsafe fn list(arguments: Arguments, (format, is_list): Format, registers: &Registers) -> List {
    if is_list {
        // SAFETY: the program promises a list.
        return unsafe { (arguments.get(format + 1) as *const List).read() };
    }
    List {
        gp_offset: 8 * (format as u32 + 1),
        fp_offset: GP_END,
        overflow: arguments.caller.sp,
        registers: registers.as_ptr() as usize,
    }
}

impl List {
    /// The next argument, if it is an integer or a pointer.
    unsafe fn word(&mut self) -> usize {
        let at = if self.gp_offset < GP_END {
            self.gp_offset += 8;
            self.registers + self.gp_offset as usize - 8
        } else {
            self.overflow += 8;
            self.overflow - 8
        };
        // SAFETY: the caller promises that there is one.
        unsafe { (at as *const usize).read() }
    }

    fn skip_double(&mut self) {
        if self.fp_offset < FP_END {
            self.fp_offset += 16;
        } else {
            self.overflow += 8;
        }
    }

    fn skip_long_double(&mut self) {
        self.overflow = self.overflow.next_multiple_of(16) + 16;
    }
}

/// Makes the reads of the strings that a format asks for.
///
/// # Safety
///
/// The program promises a format, and arguments that go with it.
pub(super) unsafe fn strings(arguments: Arguments, which: Format) {
    let registers = registers(arguments);
    // SAFETY: the caller's promise.
    unsafe {
        let mut list = list(arguments, which, &registers);
        let mut at = arguments.get(which.0);
        while at != 0 && byte(at) != 0 {
            let is_directive = byte(at) == b'%';
            at += 1;
            if is_directive {
                let Some(next) = directive(at, &mut list, arguments) else { return };
                at = next;
            }
        }
    }
}

/// Takes the arguments of one directive, which goes on at `at`. Where the text goes on after it; `None` if it is not
/// understood.
unsafe fn directive(mut at: usize, list: &mut List, arguments: Arguments) -> Option<usize> {
    let mut limit = None;
    let (mut is_long_double, mut is_wide) = (false, false);
    // SAFETY: the caller's promise.
    unsafe {
        loop {
            let letter = byte(at);
            at += 1;
            match letter {
                b' '
                | b'-'
                | b'+'
                | b'#'
                | b'\''
                | b'0'..=b'9'
                | b'h'
                | b'j'
                | b'z'
                | b't'
                | b'q' => {}
                b'l' => is_wide = true,
                b'L' => is_long_double = true,
                b'*' => {
                    list.word();
                }
                b'.' if byte(at) == b'*' => {
                    at += 1;
                    limit = usize::try_from(list.word() as u32 as i32).ok();
                }
                b'.' => {
                    let mut number = 0_usize;
                    while byte(at).is_ascii_digit() {
                        number = number.saturating_mul(10) + usize::from(byte(at) - b'0');
                        at += 1;
                    }
                    limit = Some(number);
                }
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' | b'n' | b'S' => {
                    list.word();
                    return Some(at);
                }
                b's' => {
                    let text = list.word();
                    if text != 0 && !is_wide {
                        let size = length_within(text, limit.unwrap_or(usize::MAX));
                        range(text, size, OpKind::Read, arguments.caller);
                    }
                    return Some(at);
                }
                b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' if is_long_double => {
                    list.skip_long_double();
                    return Some(at);
                }
                b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                    list.skip_double();
                    return Some(at);
                }
                b'%' | b'm' => return Some(at),
                // Arguments by number (`%1$s`), or no directive at all.
                _ => return None,
            }
        }
    }
}

/// Bytes of what a format makes of its arguments, with the end of the string. 0 if finding out would change something.
///
/// # Safety
///
/// As above.
pub(super) unsafe fn size(arguments: Arguments, which: Format) -> usize {
    let registers = registers(arguments);
    // SAFETY: the caller's promise; `errno` is the thread's.
    unsafe {
        let format = arguments.get(which.0);
        let (mut at, mut last) = (format, 0);
        let mut is_counted = false;
        while byte(at) != 0 {
            is_counted |= byte(at) == b'n' && last == b'%';
            last = byte(at);
            at += 1;
        }
        if is_counted {
            return 0;
        }
        let errno = *libc::__errno_location();
        let mut list = list(arguments, which, &registers);
        let n_bytes = count(format, &mut list);
        *libc::__errno_location() = errno;
        usize::try_from(n_bytes).map_or(0, |it| it + 1)
    }
}

type Vsnprintf = unsafe extern "C-unwind" fn(*mut c_char, usize, *const c_char, *mut List) -> c_int;

/// Counts what a format makes of a list.
unsafe fn count(format: usize, list: &mut List) -> c_int {
    // SAFETY: nothing is written; the list is our own copy.
    unsafe {
        let real = std::mem::transmute::<*mut c_void, Vsnprintf>(real_call(VSNPRINTF));
        real(std::ptr::null_mut(), 0, format as *const c_char, list)
    }
}
