//! Patterns for names.

/// A pattern: `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What stands between the stars.
    parts: Vec<String>,
    /// Must the name begin with the first part, and end with the last?
    is_start_fixed: bool,
    is_end_fixed: bool,
}

impl Pattern {
    /// A pattern for whole names.
    pub fn whole(text: &str) -> Pattern {
        let parts = text.split('*').map(str::to_owned).collect();
        Pattern { parts, is_start_fixed: true, is_end_fixed: true }
    }

    /// TSan's: for a part of a name, unless `^` or `$` say that it begins or ends there.
    pub fn part(text: &str) -> Pattern {
        let (text, is_start_fixed) = match text.strip_prefix('^') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (text, is_end_fixed) = match text.strip_suffix('$') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let parts = text.split('*').map(str::to_owned).collect();
        Pattern { parts, is_start_fixed, is_end_fixed }
    }

    /// Is this a name that the pattern stands for? An empty one never is.
    pub fn matches(&self, name: &str) -> bool {
        if name.is_empty() {
            return false;
        }
        let [first, rest @ ..] = self.parts.as_slice() else { return false };
        let [middle @ .., last] = rest else { return self.matches_one(first, name) };
        let start = match self.is_start_fixed {
            true => name.starts_with(first.as_str()).then_some(0),
            false => name.find(first.as_str()),
        };
        // The first place of each part is the best: it leaves most for the others.
        let Some(mut at) = start.map(|it| it + first.len()) else { return false };
        for part in middle {
            match name[at..].find(part.as_str()) {
                Some(idx) => at += idx + part.len(),
                None => return false,
            }
        }
        let rest = &name[at..];
        if self.is_end_fixed { rest.ends_with(last.as_str()) } else { rest.contains(last.as_str()) }
    }

    /// Without a star.
    fn matches_one(&self, part: &str, name: &str) -> bool {
        match (self.is_start_fixed, self.is_end_fixed) {
            (true, true) => name == part,
            (true, false) => name.starts_with(part),
            (false, true) => name.ends_with(part),
            (false, false) => name.contains(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn whole_names() {
        for (pattern, name, is_match) in [
            ("push", "push", true),
            ("push", "push_all", false),
            ("push*", "push_all", true),
            ("*push", "queue::push", true),
            ("a*b*c", "axbxc", true),
            ("a*b*c", "axcxb", false),
            ("a*a", "a", false),
            ("*", "anything", true),
            ("*", "", false),
        ] {
            assert_eq!(Pattern::whole(pattern).matches(name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn parts_of_names() {
        for (pattern, name, is_match) in [
            ("push", "queue::push_all", true),
            ("^push", "queue::push_all", false),
            ("^queue", "queue::push_all", true),
            ("all$", "queue::push_all", true),
            ("push$", "push_push", true),
            ("push$", "push_all", false),
            ("q*p*l", "queue::push_all", true),
            ("^q*l$", "queue::push_all", true),
            ("^q*h$", "queue::push_all", false),
        ] {
            assert_eq!(Pattern::part(pattern).matches(name), is_match, "{pattern} {name}");
        }
    }
}
