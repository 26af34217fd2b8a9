//! Just enough of C and C++ to read one line that allocates memory: what the result is assigned to, the
//! type behind `new`, the type in `sizeof`. What looks like anything else is not understood, which is
//! fine: then a block has no type.

/// `self->items[0].name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) start: String,
    pub(super) steps: Vec<Link>,
}

/// One step of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// `->name`.
    Arrow(String),
    /// `.name`.
    Dot(String),
    /// `[…]`.
    Index,
}

/// A line that allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Allocation {
    /// What the result is assigned to.
    pub(super) target: Option<Chain>,
    /// The type in `sizeof(…)`, if it is written as a type can be: `Queue` for `struct Queue`.
    pub(super) size_of: Option<String>,
}

impl Chain {
    /// The name that the chain ends with.
    pub(super) fn last_name(&self) -> &str {
        let mut names = self.steps.iter().rev().filter_map(|it| match it {
            Link::Arrow(name) | Link::Dot(name) => Some(name.as_str()),
            Link::Index => None,
        });
        names.next().unwrap_or(&self.start)
    }
}

/// What a line does with what one of `callees` gives back; `None` if none is called there, or more than
/// once.
pub(super) fn allocation(line: &str, callees: &[&str]) -> Option<Allocation> {
    let mut calls = callees.iter().flat_map(|name| calls(line, name));
    let (before, after) = calls.next()?;
    if calls.next().is_some() {
        return None;
    }
    Some(Allocation { target: target(before), size_of: size_of(after) })
}

/// The type of the only `new` on a line: `bank::Account`. Not that of an array, which may have more than
/// its elements, nor of a template.
pub(super) fn type_after_new(line: &str) -> Option<String> {
    let mut starts = words(line, "new");
    let (_, after) = starts.next()?;
    if starts.next().is_some() {
        return None;
    }
    let after = after.trim_start();
    let n_name = after.find(|it: char| !is_word(it) && it != ':').unwrap_or(after.len());
    let (name, rest) = after.split_at(n_name);
    let is_type = !name.is_empty() && !name.starts_with(|it: char| it.is_ascii_digit());
    let is_one = rest.trim_start().starts_with(['(', '{', ';', ',', ')']);
    (is_type && is_one).then(|| name.trim_start_matches("::").to_owned())
}

/// The text before and after each call of a function.
fn calls<'a>(line: &'a str, name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    words(line, name).filter(|(_, after)| after.trim_start().starts_with('('))
}

/// The text before and after each place where a word stands alone.
fn words<'a>(line: &'a str, word: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let found: Vec<usize> = line.match_indices(word).map(|(idx, _)| idx).collect();
    let n_word = word.len();
    found.into_iter().filter_map(move |idx| {
        let (before, after) = (&line[..idx], &line[idx + n_word..]);
        let is_alone = !before.ends_with(is_word) && !after.starts_with(is_word);
        is_alone.then_some((before, after))
    })
}

/// What stands before the last `=` of the text before a call, with nothing but casts in between.
fn target(before: &str) -> Option<Chain> {
    let (left, right) = before.rsplit_once('=')?;
    let is_assignment = !left.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '&', '|']);
    let right = right.trim();
    let is_cast = right.is_empty() || right.starts_with('(') && right.ends_with(')');
    if !is_assignment || !is_cast {
        return None;
    }
    chain(left.trim_end())
}

/// The chain that a text ends with.
fn chain(text: &str) -> Option<Chain> {
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        let bare = rest.trim_end();
        if bare.ends_with(']') {
            rest = &bare[..matching(bare)?];
            steps.push(Link::Index);
            continue;
        }
        let n_before = bare.trim_end_matches(is_word).len();
        let (before, name) = bare.split_at(n_before);
        if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) {
            return None;
        }
        let before = before.trim_end();
        if let Some(before) = before.strip_suffix("->") {
            steps.push(Link::Arrow(name.to_owned()));
            rest = before;
        } else if let Some(before) = before.strip_suffix('.') {
            steps.push(Link::Dot(name.to_owned()));
            rest = before;
        } else {
            // `*out = malloc(…)` gives the address to what `out` points to.
            let is_declared_or_plain = !before.ends_with(['*', ')', ':'])
                || before.trim_end_matches(['*', ' ']).ends_with(is_word);
            steps.reverse();
            let start = name.to_owned();
            // `this->items` is `items` of the object.
            return is_declared_or_plain.then_some(Chain { start, steps });
        }
    }
}

/// Where the bracket begins that a text ends with.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (idx, char) in text.char_indices().rev() {
        match char {
            ']' => depth += 1,
            '[' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(idx);
        }
    }
    None
}

/// The type in the only `sizeof(…)` of a text.
fn size_of(text: &str) -> Option<String> {
    let mut found = words(text, "sizeof");
    let (_, after) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let inside = after.trim_start().strip_prefix('(')?.split_once(')')?.0.trim();
    let name = inside.strip_prefix("struct ").or(inside.strip_prefix("union ")).unwrap_or(inside);
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|it| is_word(it) || it == ':');
    is_name.then(|| name.to_owned())
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(chain: &Chain) -> String {
        let steps = chain.steps.iter().map(|it| match it {
            Link::Arrow(name) => format!("->{name}"),
            Link::Dot(name) => format!(".{name}"),
            Link::Index => "[]".to_owned(),
        });
        chain.start.clone() + &steps.collect::<String>()
    }

    #[test]
    fn lines_that_allocate() {
        for (line, target, size_of) in [
            ("struct Queue *queue = malloc(sizeof(struct Queue));", "queue", "Queue"),
            ("queue = malloc(sizeof *queue);", "queue", ""),
            ("q->items = (struct item *)calloc(n, sizeof(item_t));", "q->items", "item_t"),
            ("self->rows[i + a[0]].cells = malloc(8);", "self->rows[].cells", ""),
            ("return malloc(sizeof(union U));", "", "U"),
            ("if (!(p = malloc(4)))", "p", ""),
            ("*out = malloc(sizeof(struct Queue));", "", "Queue"),
            ("if (p == malloc(4))", "", ""),
            ("x = 2 * (int)malloc(4);", "", ""),
            ("p = malloc(sizeof(struct A) + sizeof(struct B));", "p", ""),
        ] {
            let found = allocation(line, &["malloc", "calloc"]).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(found.target.as_ref().map(text).unwrap_or_default(), target, "{line}");
            assert_eq!(found.size_of.unwrap_or_default(), size_of, "{line}");
        }
        assert_eq!(allocation("a = malloc(1), b = malloc(2);", &["malloc"]), None);
        assert_eq!(allocation("p = xmalloc(1);", &["malloc"]), None);
        assert_eq!(allocation("malloc_trim(0);", &["malloc"]), None);
    }

    #[test]
    fn types_behind_new() {
        for (line, name) in [
            ("auto *a = new bank::Account(3);", Some("bank::Account")),
            ("list.push_back(new Node{1});", Some("Node")),
            ("p = new Node;", Some("Node")),
            ("f(new ::A, 1);", Some("A")),
            ("p = new int[3];", None),
            ("p = new Box<int>(3);", None),
            ("a = new A(new B());", None),
            ("p = new (place) A();", None),
            ("int newest = 3;", None),
        ] {
            assert_eq!(type_after_new(line).as_deref(), name, "{line}");
        }
    }
}
