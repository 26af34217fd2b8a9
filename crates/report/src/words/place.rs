//! Places, threads and objects in words.

use raddle_model::{Finding, OpKind, Place, ThreadId, WaitFor};

/// Gives the text of a source line.
pub type Sources<'a> = dyn FnMut(&Place) -> Option<String> + 'a;

/// `bank.c:31`, or the best that is known: of a library's header, the function.
pub(crate) fn short(place: &Place) -> String {
    if is_library(place) && !place.function.is_empty() {
        return function(&place.function);
    }
    let file = place.file.rsplit('/').next().unwrap_or_default();
    known(file, place)
}

/// `:31` beside a place in the same file, else `bank.c:31`.
pub(crate) fn beside(place: &Place, other: &Place) -> String {
    match place.file == other.file && place.line > 0 && !is_library(place) {
        true => format!(":{}", place.line),
        false => short(place),
    }
}

/// `examples/bank.c:31`: the path relative to `base`, where it is below it.
pub(crate) fn long(place: &Place, base: &str) -> String {
    let base = base.trim_end_matches('/');
    let file = match place.file.strip_prefix(base).and_then(|it| it.strip_prefix('/')) {
        Some(relative) if !base.is_empty() => relative,
        _ => &place.file,
    };
    known(file.strip_prefix("./").unwrap_or(file), place)
}

/// `examples/bank.c:31 in transfer`.
pub(crate) fn with_function(place: &Place, base: &str) -> String {
    let text = long(place, base);
    let function = function(&place.function);
    let is_said = function.is_empty() || place.file.is_empty();
    if is_said { text } else { format!("{text} in {function}") }
}

/// Is some of it written in Rust?
pub(crate) fn is_rust(places: &[Place]) -> bool {
    places.iter().any(|it| it.file.ends_with(".rs"))
}

/// Is it code that nobody wrote for this program, and that has no lines: what the Rust compiler puts into every program, or a
/// generic function of std?
pub(crate) fn is_glue(place: &Place) -> bool {
    place.file.is_empty() && raddle_rust_std::is_glue(&place.function)
}

/// Is it in a header of the system or of a language's library, or in such a library without a place?
pub(crate) fn is_library(place: &Place) -> bool {
    const LIBRARIES: [&str; 4] = ["libc.so", "libstdc++", "libc++", "libgcc_s"];
    let is_in_library = || LIBRARIES.iter().any(|it| place.module.starts_with(it));
    place.file.starts_with("/usr/include/")
        || place.function.starts_with("raddle::")
        || place.file.contains("/include/c++/")
        || raddle_rust_std::is_rust_library(&place.file)
        || place.file.is_empty() && is_in_library()
}

/// Is it in a file that others include?
pub(crate) fn is_header(place: &Place) -> bool {
    let ending = place.file.rsplit_once('.').map_or("", |it| it.1);
    matches!(ending, "h" | "hh" | "hpp" | "hxx" | "inl" | "ipp" | "tcc")
}

/// The source text of a place; empty where there is none, and for libraries, whose text says nothing to
/// users.
pub(crate) fn source(place: Option<&Place>, sources: &mut Sources<'_>) -> String {
    place.filter(|it| !is_library(it)).and_then(sources).unwrap_or_default()
}

/// A function without its template arguments, parameters and result: `std::vector::at`.
pub(crate) fn function(name: &str) -> String {
    raddle_model::short_function(name)
}

fn known(file: &str, place: &Place) -> String {
    match (file, place.line) {
        ("", _) if !place.function.is_empty() => {
            format!("{}{}", function(&place.function), offset(place))
        }
        ("", _) if !place.module.is_empty() => format!("{}{}", place.module, offset(place)),
        ("", _) => String::new(),
        (_, 0) => file.to_owned(),
        (_, line) => format!("{file}:{line}"),
    }
}

/// `+0x1f`, where no line is known and the code is the program's.
pub(crate) fn offset(place: &Place) -> String {
    match place.offset {
        0 => String::new(),
        _ if is_library(place) => String::new(),
        offset => format!("+{offset:#x}"),
    }
}

/// `main`, `T2`: who allocated something.
pub(crate) fn allocator(thread: ThreadId) -> String {
    match thread.0 {
        0 => "main".to_owned(),
        number => format!("T{number}"),
    }
}

/// `T1 writer`, `T0 main`, `T2`: with the name that the program has given it, or else that of the
/// function which it runs.
pub(crate) fn thread(finding: &Finding, thread: ThreadId) -> String {
    let state = finding.threads.iter().find(|it| it.thread == thread);
    match state.filter(|it| it.name.is_empty() && !it.function.is_empty()) {
        Some(state) => format!("T{} {}", thread.0, function(&state.function)),
        None => thread_in_passing(finding, thread),
    }
}

/// The same without the function: for where the thread has been spoken of before.
pub(crate) fn thread_in_passing(finding: &Finding, thread: ThreadId) -> String {
    let state = finding.threads.iter().find(|it| it.thread == thread);
    let name = state.map(|it| it.name.as_str()).unwrap_or_default();
    // The program chose it: what would move a terminal's cursor does not.
    let name = name.replace(char::is_control, "?");
    match (name.as_str(), thread.0) {
        ("", 0) => "T0 main".to_owned(),
        ("", number) => format!("T{number}"),
        (name, number) => format!("T{number} {name}"),
    }
}

/// Does a thread that stands between another one and a lock not hold it, but wait for it too, and go first?
pub(crate) fn is_ahead(finding: &Finding, thread: ThreadId, wait: &WaitFor) -> bool {
    let Some(state) = finding.threads.iter().find(|it| it.thread == thread) else { return false };
    let Some(own) = state.waits_for.as_ref() else { return false };
    state.pending == Some(OpKind::WriteLock)
        && own.object_id == wait.object_id
        && wait.holders.iter().any(|(it, place)| *it == thread && *place == own.at)
}

#[cfg(test)]
mod tests {
    use raddle_model::Place;

    use super::{long, short, with_function};

    fn place(file: &str, line: u32, function: &str) -> Place {
        Place { file: file.into(), line, function: function.into(), ..Place::default() }
    }

    #[test]
    fn the_best_that_is_known() {
        let bank = place("/home/me/examples/bank.c", 31, "transfer");
        assert_eq!(short(&bank), "bank.c:31");
        assert_eq!(long(&bank, "/home/me"), "examples/bank.c:31");
        assert_eq!(long(&bank, "/home/you"), "/home/me/examples/bank.c:31");
        assert_eq!(long(&bank, ""), "/home/me/examples/bank.c:31");
        assert_eq!(with_function(&bank, "/home/me/"), "examples/bank.c:31 in transfer");
        assert_eq!(with_function(&place("", 0, "read"), ""), "read");
        assert_eq!(short(&Place { module: "libc.so.6".into(), ..Place::default() }), "libc.so.6");
        let stripped = Place { module: "bank".into(), offset: 0x1f, ..place("", 0, "pay(int)") };
        assert_eq!(short(&stripped), "pay+0x1f");
        assert_eq!(with_function(&stripped, ""), "pay+0x1f");
        assert_eq!(short(&Place { function: String::new(), ..stripped }), "bank+0x1f");
        assert_eq!(short(&Place::default()), "");
    }
}
