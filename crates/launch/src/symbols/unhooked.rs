//! Code of a module with hooks that has none itself: object files and archives that were compiled without them, assembly,
//! functions that asked for none, and atomic instructions in inline assembly. Nobody sees what it does to memory.
//!
//! A function without a call of a hook counts if it surely accesses memory that others can see, or if it follows
//! pointers and nothing else of its file has hooks either: compilers leave hooks out where they read constants, or write
//! what nobody else knows yet. What comes with the compiler does not count, as system libraries do not.
//!
//! What it misses: inline assembly that is neither atomic nor in a function of its own, and modules without symbols.

pub(super) mod code;
mod touch;
mod traps;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

pub(crate) use self::traps::traps;
use self::{
    code::{Function, Text},
    touch::Touch,
};
use super::{debug::UnitCode, demangled, library::is_std, locate};

/// Code without hooks, by its source files or, of a file that has hooks otherwise, by its functions.
pub(crate) fn unhooked(path: &Path) -> Vec<String> {
    let debug_path = locate::debug_file(path);
    let units = debug_path.as_deref().and_then(super::Debug::load);
    let units = Units::new(units.map(|it| it.unit_code()).unwrap_or_default());
    let Some(text) = Text::read(path, debug_path.as_deref()) else { return Vec::new() };
    let functions: Vec<Looked<'_>> = text
        .functions()
        .filter(|it| !is_compilers(&it.name))
        .map(|it| {
            let (has_hooks, touch) = text.look(it);
            Looked { unit: units.find(it.start), function: it, has_hooks, touch }
        })
        .filter(|it| it.unit.is_none_or(|it| !units.is_compilers(it)))
        .collect();
    let hooked: BTreeSet<usize> =
        functions.iter().filter(|it| it.has_hooks).filter_map(|it| it.unit).collect();
    let names: BTreeSet<&str> =
        functions.iter().filter(|it| it.has_hooks).map(|it| it.function.name.as_str()).collect();
    let is_hooked = |unit: Option<usize>| unit.is_some_and(|it| hooked.contains(&it));
    let counts = |it: &&Looked<'_>| {
        // What is seldom executed of a function may stand elsewhere.
        let whole = it.function.name.split(".cold").next().unwrap_or_default();
        let has_hooks = it.has_hooks || names.contains(whole);
        match it.touch {
            Touch::Atomic => true,
            Touch::Shared => !has_hooks,
            Touch::Pointers => !has_hooks && !is_hooked(it.unit),
            Touch::Nothing => false,
        }
    };
    let labels = functions.iter().filter(counts).map(|it| {
        let name = demangled(&it.function.name);
        match (it.unit.map(|it| units.file(it)), &it.function.file) {
            (Some(file), _) if is_hooked(it.unit) => format!("`{name}` ({file})"),
            (Some(file), _) => file.to_owned(),
            (None, Some(file)) => file.clone(),
            (None, None) => format!("`{name}`"),
        }
    });
    labels.collect::<BTreeSet<String>>().into_iter().collect()
}

/// A function and what was seen in it.
struct Looked<'a> {
    function: &'a Function,
    unit: Option<usize>,
    has_hooks: bool,
    touch: Touch,
}

/// The source files that a module was compiled from, by address.
struct Units {
    all: Vec<UnitCode>,
    /// By start of a piece of code: its end, and which unit it is of.
    pieces: BTreeMap<u64, (u64, usize)>,
}

impl Units {
    fn new(all: Vec<UnitCode>) -> Units {
        let pieces = all.iter().enumerate().flat_map(|(idx, unit)| {
            unit.ranges.iter().filter(|it| it.start > 0).map(move |it| (it.start, (it.end, idx)))
        });
        Units { pieces: pieces.collect(), all }
    }

    fn find(&self, address: u64) -> Option<usize> {
        let (_, (end, idx)) = self.pieces.range(..=address).next_back()?;
        (address < *end).then_some(*idx)
    }

    fn file(&self, idx: usize) -> &str {
        let name = &self.all[idx].name;
        // `src/lib.rs/@/mine.7c1d-cgu.0`
        let path = name.split_once("/@/").map_or(name.as_str(), |it| it.0);
        path.rsplit('/').next().unwrap_or(path)
    }

    /// Did the unit come with the compiler?
    fn is_compilers(&self, idx: usize) -> bool {
        let UnitCode { name, folder, .. } = &self.all[idx];
        [name, folder].iter().any(|it| raddle_rust_std::is_compilers(it))
            || folder.starts_with("/build/") && folder.contains("glibc")
    }
}

/// Functions that come with the compiler and the C library and are linked into every program that needs them: how a
/// program begins and ends, helpers for arithmetic, stacks and exceptions.
pub(super) fn is_compilers(name: &str) -> bool {
    const WHOLE: [&str; 16] = [
        "_start",
        "_init",
        "_fini",
        "_dl_relocate_static_pie",
        "deregister_tm_clones",
        "register_tm_clones",
        "frame_dummy",
        "atexit",
        "at_quick_exit",
        "pthread_atfork",
        "stat",
        "fstat",
        "lstat",
        "fstatat",
        "mknod",
        "mknodat",
    ];
    const BEGINNINGS: [&str; 21] = [
        "__do_global_",
        "__libc_csu_",
        "__stack_chk_fail",
        "__cpu_",
        "__popcount",
        "__parity",
        "__clz",
        "__ctz",
        "__ffs",
        "__emutls_",
        "__register_frame",
        "__deregister_frame",
        "__gcc_",
        "__gcov_",
        "__morestack",
        "__splitstack",
        "__stack_split",
        "__clang_",
        "_Unwind_",
        "execute_native_thread_routine",
        // Functions that correct a pointer to an object and go on in another one.
        "_ZT",
    ];
    let own = name.strip_prefix("__wrap_").unwrap_or(name);
    // `<&str as core::fmt::Debug>::fmt`: the type is the language's, so the trait's crate has it.
    let is_std_rust = |name: &str| {
        // Names of C++ may begin with the type that they return.
        if !name.starts_with("_R") && !name.contains("17h") {
            return false;
        }
        let text = demangled(name);
        let names = text.strip_prefix('<').and_then(|it| it.split_once(" as "));
        let of_trait = names.filter(|it| !it.0.contains("::")).map(|it| it.1);
        is_std(name) || of_trait.is_some_and(is_std)
    };
    WHOLE.contains(&name)
        || BEGINNINGS.iter().any(|it| name.starts_with(it))
        || own.starts_with('_') && (is_std_rust(own) || is_std_cpp(own))
}

/// Is it a function of the C++ library? Its mangled name is looked at, for others may return what is the library's.
fn is_std_cpp(name: &str) -> bool {
    const BEGINNINGS: [&str; 13] = [
        "St",
        "Sa",
        "Sb",
        "Sd",
        "Si",
        "So",
        "Ss",
        "9__gnu_cxx",
        "10__cxxabiv1",
        "nw",
        "na",
        "dl",
        "da",
    ];
    let Some(name) = name.strip_prefix("_Z") else { return false };
    let name = name.strip_prefix('L').unwrap_or(name);
    let name = match name.strip_prefix('N') {
        Some(nested) => nested.trim_start_matches(['K', 'V', 'R', 'O']),
        None => name,
    };
    let plain = name.trim_start_matches(|it: char| it.is_ascii_digit());
    BEGINNINGS.iter().any(|it| name.starts_with(it))
        || ["__gxx_", "__cxa_", "_txnal_"].iter().any(|it| plain.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_compilers() {
        for (name, expected) in [
            ("_start", true),
            ("__popcountdi2", true),
            ("_Unwind_Resume", true),
            ("_ZThn16_N1A1fEv", true),
            ("_ZNSt6thread4joinEv", true),
            ("_ZN4core3fmt5write17h0123456789abcdefE", true),
            (
                "_RNvXNtNtCs6O6TnIPaRGP_6object4read8read_refRShNtB2_7ReadRef19read_bytes_at_until",
                true,
            ),
            ("_ZNKSt6thread8joinableEv", true),
            ("_ZL23__gxx_exception_cleanup19_Unwind_Reason_CodeP17_Unwind_Exception", true),
            ("_Z27_txnal_cow_string_D1_commitPv", true),
            ("_Znwm", true),
            ("_ZN4mine4workEv", false),
            ("_Z4makeIiESt6vectorIT_SaIS1_EEv", false),
            ("__spin_lock", false),
            ("start", false),
        ] {
            assert_eq!(is_compilers(name), expected, "{name}");
        }
    }
}
