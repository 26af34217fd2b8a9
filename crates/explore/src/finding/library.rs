//! Races inside libraries that no program can help.
//!
//! They are races by the letter of the standard, known to the library's authors, and harmless as compiled. A
//! race counts as the library's if both sides are in one of these functions themselves: a container that two
//! threads use without a lock is the program's.
//!
//! Rust's std is compiled without hooks, but calls generic functions of its own that have them: what such code
//! does under std's own locks is seen, the locks are not. An access that no code of the program led to is std's.

use raddle_model::{Access, Place};
use raddle_rust_std::is_rust_library;

use super::program;

/// What the names of the functions begin with.
const FUNCTIONS: &[&str] = &[
    // Fill a table of converted characters as they are asked for, each byte to one value only (PR 77704).
    "std::ctype<char>::narrow",
    "std::ctype<char>::widen",
    // The pointer is guarded by a bit of the count; a load gives it back relaxed (before GCC 13).
    "std::_Sp_atomic<",
];

/// Is the race the library's own?
pub(super) fn is_librarys(accesses: &[Access]) -> bool {
    // What they call of the same library is theirs, too.
    let is_inside = |it: &Access| {
        let inner = it.stack.iter().take_while(|it| !program::is_own(it));
        let is_known = |it: &Place| FUNCTIONS.iter().any(|name| it.function.starts_with(name));
        inner.into_iter().any(is_known)
    };
    !accesses.is_empty() && (accesses.iter().all(is_inside) || accesses.iter().any(is_rusts))
}

/// Did no code of a Rust program lead to the access?
fn is_rusts(access: &Access) -> bool {
    let is_own = |it: &Place| program::is_own(it) && it.line > 0;
    access.stack.iter().any(|it| is_rust_library(&it.file)) && !access.stack.iter().any(is_own)
}
