//! What of a Rust program is its language's runtime, by the names in the symbol table (`raddle_rust_std`).

pub(crate) use raddle_rust_std::Part;

/// What a function is part of; `None`: of the program. `has_hooks`: does it announce what it does?
pub(crate) fn part(name: &str, has_hooks: bool) -> Option<Part> {
    let name = rustc_demangle::try_demangle(name).ok()?;
    raddle_rust_std::part(&format!("{name:#}"), has_hooks)
}

/// Is it one of the panics that say that a number is too large?
pub(crate) fn is_overflow(name: &str) -> bool {
    name.contains("panic_const")
        && raddle_rust_std::is_overflow(&format!("{:#}", rustc_demangle::demangle(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mangled: &str, has_hooks: bool, expected: Option<Part>) {
        assert_eq!(part(mangled, has_hooks), expected, "{:#}", rustc_demangle::demangle(mangled));
    }

    #[test]
    fn by_names() {
        check("main", false, None);
        check("_ZN4mine4work17h0123456789abcdefE", true, None);
        let contended = "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE";
        check(contended, true, None);
        let spawned = "_ZN3std6thread9lifecycle15spawn_unchecked17h0123456789abcdefE";
        check(spawned, true, Some(Part::Threads));
        // What the program gives a thread to run is inlined here.
        let given = "_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h0123456789abcdefE";
        check(given, true, None);
        let scope = "_ZN3std6thread6scoped5scope17h0123456789abcdefE";
        check(scope, true, None);
        check(scope, false, Some(Part::Threads));
        let count = "_ZN3std9panicking11panic_count17is_zero_slow_path17h0123456789abcdefE";
        check(count, false, Some(Part::Sync));
        let search = "_ZN4core5slice6memchr14memchr_aligned17h0123456789abcdefE";
        check(search, false, Some(Part::Threads));
        check(search, true, None);
    }
}
