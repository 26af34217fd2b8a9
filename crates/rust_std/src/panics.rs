//! Panics, as the unwinder, the shell and other threads see them.

/// The exit code of a program that panicked, and of a harness whose test failed.
pub const PANICKED: i32 = 101;

/// What those panics say that pass on the panic of another thread.
pub const PASSED_ON: [&[u8]; 3] = [b"Any { .. }", b"PoisonError", b"a scoped thread panicked"];

/// How std marks its exceptions.
pub const EXCEPTION_CLASS: u64 = u64::from_ne_bytes(*b"MOZ\0RUST");

/// Where the two words of the boxed payload are in an exception: after the unwinder's part and a mark.
pub const PAYLOAD_DATA: usize = 40;
/// The second of them.
pub const PAYLOAD_VTABLE: usize = 48;
