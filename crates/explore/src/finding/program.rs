//! Which places are the program's own, and how places are written.
//!
//! A guess by names: a program that defines its own `raise`, or whose sources lie under
//! `/usr/include`, loses those frames in buckets and messages (never in stacks).

use raddle_model::Place;

/// Libraries that no program is to blame for.
const SYSTEM_MODULES: &[&str] = &[
    "libc.so",
    "libc-",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "libpthread",
    "ld-linux",
    "ld-2",
    "ld.so",
    "libm.so",
    "libdl",
    "librt.so",
    "libraddle_rt",
    "raddle_rt",
    "[vdso]",
];

/// Is it a library of the system, by its path?
pub(super) fn is_system_path(path: &str) -> bool {
    let is_ours = path.ends_with("libraddle_rt.so");
    is_ours || ["/lib", "/usr/lib", "linux-vdso"].iter().any(|it| path.starts_with(it))
}

/// Is a file a library that runs the program's code as tasks, in threads of its own, and orders them by atomic
/// instructions that have no hooks: TBB, OpenMP?
pub fn runs_tasks(path: &str) -> bool {
    const NAMES: [&str; 4] = ["libtbb.so", "libgomp.so", "libomp", "libiomp5.so"];
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.iter().any(|it| name.starts_with(it))
}

/// Functions that only say that something went wrong, or that lead to `main`.
const SYSTEM_FUNCTIONS: &[&str] = &[
    "abort",
    "raise",
    "gsignal",
    "tgkill",
    "pthread_kill",
    "__pthread_kill_implementation",
    "__pthread_kill_internal",
    "__assert",
    "__assert_fail",
    "__assert_fail_base",
    "__assert_perror_fail",
    "std::terminate",
    "std::terminate()",
    "_start",
    "frame_dummy",
    "register_tm_clones",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
    "exit",
    "__rust_try",
    "_exit",
    "quick_exit",
];

/// What the names of such functions begin with.
const SYSTEM_FUNCTION_PREFIXES: &[&str] = &[
    "raddle_rt",
    "raddle::",
    "__raddle",
    "__GI_",
    "__gnu_cxx::",
    "__cxxabiv1::",
    "__cxa_",
    "_Unwind_",
    "std::__throw_",
    "__tsan_",
    "__interceptor_",
];

/// What the paths of headers and sources of the system and of language libraries begin with.
const SYSTEM_FILE_PREFIXES: &[&str] = &[
    "/usr/include/",
    "/usr/local/include/",
    "/usr/lib/",
    "/usr/lib64/",
    "bits/",
    "./nptl/",
    "./stdlib/",
    "./assert/",
    "../sysdeps/",
];

/// Is the file a header or source of the system or of a language's library?
pub fn is_system_file(file: &str) -> bool {
    SYSTEM_FILE_PREFIXES.iter().any(|it| file.starts_with(it))
        || file.contains("/include/c++/")
        || raddle_rust_std::is_rust_library(file)
        || is_own_header(file)
}

/// Is it `raddle.h` or one beside it, where Raddle has put them for the compiler?
fn is_own_header(file: &str) -> bool {
    const HEADERS: [&str; 3] = ["raddle.h", "raddle_linear.h", "raddle.hpp"];
    let Some((folder, name)) = file.rsplit_once('/') else { return false };
    HEADERS.contains(&name)
        && folder.rsplit('/').next().is_some_and(|it| it.starts_with("include-"))
}

/// Is it a frame of the program under test, not of the C or C++ library or of Raddle?
pub(crate) fn is_own(frame: &Place) -> bool {
    let function = frame.function.as_str();
    let is_system = is_system_module(&frame.module)
        || SYSTEM_FUNCTIONS.contains(&function)
        || SYSTEM_FUNCTION_PREFIXES.iter().any(|it| function.starts_with(it))
        || is_system_file(&frame.file);
    let is_known = !function.is_empty() || !frame.file.is_empty() || frame.offset > 0;
    is_known && !is_system
}

/// The first frame that is the program's own, or the innermost of all.
pub(crate) fn first_own(stack: &[Place]) -> Place {
    stack.iter().find(|it| is_own(it)).or(stack.first()).cloned().unwrap_or_default()
}

/// The file's name without its directories.
pub(crate) fn file_name(place: &Place) -> &str {
    place.file.rsplit('/').next().unwrap_or_default()
}

/// A place as reports show it: an offset into a library, without a line, helps nobody.
pub(crate) fn reported(place: &Place) -> Place {
    Place { offset: if is_own(place) { place.offset } else { 0 }, ..place.clone() }
}

fn is_system_module(module: &str) -> bool {
    SYSTEM_MODULES.iter().any(|it| module.starts_with(it))
}

#[cfg(test)]
mod tests {
    use raddle_model::Place;

    use super::is_own;

    fn place(function: &str, file: &str, line: u32, module: &str) -> Place {
        Place {
            function: function.into(),
            file: file.into(),
            line,
            column: 0,
            module: module.into(),
            offset: 0,
        }
    }

    #[test]
    fn own_frames() {
        assert!(is_own(&place("main", "/home/me/bank.c", 3, "bank")));
        assert!(is_own(&place("worker", "", 0, "bank")));
        assert!(is_own(&place("send", "net.c", 7, "libnet.so.1")));
        assert!(!is_own(&place("abort", "", 0, "bank")));
        assert!(!is_own(&place("memcpy", "", 0, "libc.so.6")));
        assert!(!is_own(&place("std::mutex::lock", "/usr/include/c++/12/mutex", 1, "bank")));
        assert!(!is_own(&place("raddle_rt::hooks::lock", "", 0, "libraddle_rt.so")));
        assert!(!is_own(&place(
            "raddle_check",
            "/home/me/.cache/raddle/include-00ab/raddle.h",
            9,
            "bank"
        )));
        assert!(!is_own(&place("raddle::linear::Linear<S,M>::report", "linear.rs", 9, "one")));
        assert!(is_own(&place("raddle_check", "/home/me/work/raddle.h", 9, "bank")));
        assert!(!is_own(&Place::default()));
    }
}
