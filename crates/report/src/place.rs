//! Places, threads and objects in words.

use raddle_model::{Finding, Place, ThreadId};

/// `bank.c:31`, or the best that is known.
pub(crate) fn short(place: &Place) -> String {
    let file = place.file.rsplit('/').next().unwrap_or_default();
    known(file, place)
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
    if place.function.is_empty() || text == place.function {
        text
    } else {
        format!("{text} in {}", place.function)
    }
}

fn known(file: &str, place: &Place) -> String {
    match (file, place.line) {
        ("", _) if !place.function.is_empty() => place.function.clone(),
        ("", _) if !place.module.is_empty() => place.module.clone(),
        ("", _) => String::new(),
        (_, 0) => file.to_owned(),
        (_, line) => format!("{file}:{line}"),
    }
}

/// `T1 writer`, `T0 main`, `T2`.
pub(crate) fn thread(finding: &Finding, thread: ThreadId) -> String {
    let name = finding
        .threads
        .iter()
        .find(|it| it.thread == thread)
        .map(|it| it.name.as_str())
        .unwrap_or_default();
    match (name, thread.0) {
        ("", 0) => "T0 main".to_owned(),
        ("", number) => format!("T{number}"),
        (name, number) => format!("T{number} {name}"),
    }
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
        assert_eq!(short(&Place::default()), "");
    }
}
