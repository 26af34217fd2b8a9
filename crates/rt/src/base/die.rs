//! The runtime's last words: it is wrong itself, or can't go on.

use std::sync::{
    OnceLock,
    atomic::{AtomicPtr, Ordering::Relaxed},
};

use raddle_fiber::raw;
use raddle_trace::{
    Header, LAST_WORDS_MAX,
    protocol::{BUG_CODE, UNUSABLE_CODE},
};

/// A number's digits.
pub(crate) fn decimal(number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut rest = number;
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return &digits[start..];
        }
    }
}

/// The segment's header, once it is mapped.
pub(crate) static FOUND: AtomicPtr<Header> = AtomicPtr::new(std::ptr::null_mut());

/// What ends an execution that is on its way; it returns if there is none.
pub(crate) static AT_LAST: OnceLock<fn(&[u8])> = OnceLock::new();

/// The runtime dies of a bug: what the launcher is to hear of it.
fn write_last_words(words: &[u8]) {
    let header = FOUND.load(Relaxed);
    if !header.is_null() {
        // SAFETY: the header is mapped for as long as the process lives, and this process does nothing more.
        unsafe { (*header).result.set_last_words(words) };
    }
}

/// The runtime itself is wrong, or can't go on: one line, and out. The launcher reads it in the segment; the user of a
/// program without a launcher, on standard error.
#[cold]
pub(crate) fn die(parts: &[&[u8]]) -> ! {
    const MARK: &[u8] = b"raddle: bug: ";
    const SYS_WRITE: i64 = 1;
    let mut text = [0_u8; LAST_WORDS_MAX];
    let mut len = 0;
    for part in [MARK].iter().chain(parts) {
        let n_bytes = part.len().min(text.len() - 1 - len);
        text[len..len + n_bytes].copy_from_slice(&part[..n_bytes]);
        len += n_bytes;
    }
    let words = MARK.len()..len;
    text[len] = b'\n';
    write_last_words(&text[words.clone()]);
    // SAFETY: writes our own bytes to standard error.
    unsafe { raw::syscall(SYS_WRITE, [2, text.as_ptr() as usize, len + 1, 0, 0, 0]) };
    if let Some(end) = AT_LAST.get() {
        end(&text[words]);
    }
    raw::exit_group(BUG_CODE)
}

/// The C library is none that we know: the launcher is told which of its structures is laid out otherwise.
#[cold]
pub(crate) fn refuse(structure: &str) -> ! {
    write_last_words(structure.as_bytes());
    raw::exit_group(UNUSABLE_CODE)
}
