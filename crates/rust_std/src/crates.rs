//! Crates that come with the compiler, and what it puts into every program.

/// A function that every Rust program has, and none in another language.
pub const PERSONALITY: &str = "rust_eh_personality";

/// The crates that come with the compiler.
const CRATES: [&str; 19] = [
    "std",
    "core",
    "alloc",
    "test",
    "std_detect",
    "panic_unwind",
    "panic_abort",
    "hashbrown",
    "gimli",
    "addr2line",
    "object",
    "miniz_oxide",
    "rustc_demangle",
    "compiler_builtins",
    "unwind",
    "getopts",
    "memchr",
    "adler2",
    "__rustc",
];

/// Does the crate come with the compiler?
pub fn is_std_crate(name: &str) -> bool {
    CRATES.contains(&name)
}

/// The crate that a function belongs to, by its name: that of its type, if it is a method. `None` if it has none: one of C, or
/// a pointer to a function, whose methods are std's.
pub fn root_crate(function: &str) -> Option<&str> {
    let function = function.trim_start_matches(['<', '&', '*', '(', '[']);
    let function = function.strip_prefix("mut ").unwrap_or(function);
    let function = function.strip_prefix("dyn ").unwrap_or(function);
    let end =
        function.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(function.len());
    let (root, rest) = function.split_at(end);
    // `<fn() as FnOnce>::call_once`: whose it is, is not said; it is std's.
    match root {
        "fn" | "dyn" => Some("core"),
        _ => rest.starts_with("::").then_some(root),
    }
}

/// Is it a function that nobody wrote for this program, and that may have no lines: the `main` that C calls, `__rust_try` under
/// `catch_unwind`, a generic function of std?
pub fn is_glue(function: &str) -> bool {
    function == "main"
        || function.starts_with("__rust_")
        || root_crate(function).is_some_and(is_std_crate)
}
