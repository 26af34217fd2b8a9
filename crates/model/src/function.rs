//! Names of functions, as people write them.

/// A function without its template arguments, parameters and result: `std::vector::at`,
/// `Queue::push`.
pub fn short_function(name: &str) -> String {
    let mut short = String::new();
    let mut rest = name;
    // Rust's `<queue::Queue<T>>::push`, `<Queue as Drop>::drop`: the type is the path.
    if let Some(inner) = name.strip_prefix('<') {
        let after = skip(name);
        let inner = &inner[..inner.len() - after.len() - 1];
        let of_type = inner.split(" as ").next().unwrap_or(inner);
        short = short_function(of_type.trim_start_matches(['&', '*']));
        rest = after;
    }
    while let Some(char) = rest.chars().next() {
        let is_word_end = !short.ends_with(|it: char| it.is_alphanumeric() || it == '_');
        if let Some(after) = rest.strip_prefix("operator").filter(|_| is_word_end) {
            let (symbols, after) = operator(after);
            short.push_str("operator");
            short.push_str(symbols);
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("(anonymous namespace)") {
            short.push_str("(anonymous namespace)");
            rest = after;
            continue;
        }
        match char {
            '(' if !short.is_empty() => {
                // What follows the parameters is `const`, or the rest of a name: `f(int)::g`.
                let after = skip(rest);
                if !after.starts_with("::") {
                    return short;
                }
                rest = after;
            }
            '<' => {
                rest = skip(rest);
                // Rust's `f::<u32>`.
                short.truncate(short.strip_suffix("::").unwrap_or(&short).len());
            }
            '{' => {
                let after = skip(rest);
                short.push_str(&rest[..rest.len() - after.len()]);
                rest = after;
            }
            ' ' => {
                // What came before was the result's type.
                short.clear();
                rest = &rest[1..];
            }
            _ => {
                short.push(char);
                rest = &rest[char.len_utf8()..];
            }
        }
    }
    if short.is_empty() { name.to_owned() } else { short }
}

/// What of an operator's name is no bracket or space of ours, and what follows: `operator<`, `operator->`,
/// `operator()`, `operator bool`.
fn operator(after: &str) -> (&str, &str) {
    const SYMBOLS: [&str; 13] =
        ["()", "[]", "->*", "->", "<<=", ">>=", "<=>", "<<", ">>", "<=", ">=", "<", ">"];
    let end = match SYMBOLS.iter().find(|it| after.starts_with(**it)) {
        Some(symbols) => symbols.len(),
        None if after.starts_with(' ') => after.find('(').unwrap_or(after.len()),
        None => 0,
    };
    let (symbols, rest) = after.split_at(end);
    // gcc separates `operator<` from its template arguments.
    (symbols, rest.strip_prefix(' ').unwrap_or(rest))
}

/// What follows the bracket that the text begins with, and all within it.
fn skip(text: &str) -> &str {
    let mut depth = 0_u32;
    for (idx, char) in text.char_indices() {
        match char {
            '(' | '<' | '{' | '[' => depth += 1,
            // The end of `->` is no bracket.
            '>' if text[..idx].ends_with('-') => {}
            ')' | '>' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return &text[idx + char.len_utf8()..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::short_function;

    #[test]
    fn functions_are_short() {
        for (name, expected) in [
            ("transfer", "transfer"),
            ("<std::thread::JoinInner<()>>::join", "std::thread::JoinInner::join"),
            ("<alloc::sync::Arc<T> as core::ops::drop::Drop>::drop", "alloc::sync::Arc::drop"),
            ("core::panicking::assert_failed::<u32, u32>", "core::panicking::assert_failed"),
            ("queue::main::{closure#0}", "queue::main::{closure#0}"),
            (
                "<queue::main::{closure#0} as FnOnce<()>>::call_once",
                "queue::main::{closure#0}::call_once",
            ),
            ("Observer::notice(int)", "Observer::notice"),
            ("std::vector<int, std::allocator<int> >::size() const", "std::vector::size"),
            (
                "void std::__invoke_impl<void, void (*)(), >(std::__invoke_other, &&)",
                "std::__invoke_impl",
            ),
            ("main::{lambda()#1}::operator()() const", "main::{lambda()#1}::operator()"),
            ("(anonymous namespace)::work(int)", "(anonymous namespace)::work"),
            ("bool operator< <int>(A<int> const&, A<int> const&)", "operator<"),
            ("std::ostream& operator<<(std::ostream&, X)", "operator<<"),
            ("P<T>::operator->() const", "P::operator->"),
            ("f(int)::g::h()", "f::g::h"),
            ("operators_of(int)", "operators_of"),
            ("Flag::operator bool() const", "Flag::operator bool"),
        ] {
            assert_eq!(short_function(name), expected, "{name}");
        }
    }
}
