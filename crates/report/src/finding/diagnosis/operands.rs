//! What the variables of a failed assertion held. The program says only its text: `n_sold == n_tickets`. Their last values
//! are those of the schedule, which need not know every access; they are believed only if they make the condition false.

use raddle_model::{Fault, Finding, Kind, ObjectId, OpKind, OpResult, Step};

use super::marks;

/// A variable of the failed condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    /// As the condition has it.
    pub(super) name: String,
    pub(super) value: i64,
    pub(super) object: ObjectId,
    /// The step that wrote the value, if it is known.
    pub(super) write: Option<usize>,
}

type Comparison = fn(&i64, &i64) -> bool;

/// The variables of the part of the condition that is false; none if that is not known.
pub(super) fn operands(finding: &Finding) -> Vec<Operand> {
    let said = match &finding.fault {
        Fault::Said(said) if finding.kind == Kind::Assert => said.as_str(),
        _ => return Vec::new(),
    };
    if said.contains("||") || said.contains('?') {
        return Vec::new();
    }
    let look_up = |name: &str| last_value(finding, name);
    said.split("&&").find_map(|it| false_part(it, &look_up)).unwrap_or_default()
}

/// The variables of a comparison that their values make false.
fn false_part(text: &str, look_up: &dyn Fn(&str) -> Option<Operand>) -> Option<Vec<Operand>> {
    const COMPARISONS: [(&str, Comparison); 6] = [
        ("==", i64::eq),
        ("!=", i64::ne),
        ("<=", i64::le),
        (">=", i64::ge),
        ("<", i64::lt),
        (">", i64::gt),
    ];
    let text = unwrapped(text.trim());
    let comparison = COMPARISONS.iter().find_map(|it| Some((text.split_once(it.0)?, it.1)));
    let Some(((left, right), holds)) = comparison else {
        // `ready` or `!busy`.
        let (name, is_wanted) = match text.strip_prefix('!') {
            Some(name) => (name.trim(), false),
            None => (text, true),
        };
        let operand = look_up(name).filter(|_| is_name(name))?;
        return ((operand.value != 0) != is_wanted).then(|| vec![operand]);
    };
    let sides = [left, right].map(|it| side(it.trim(), look_up));
    let [Some((left, one)), Some((right, other))] = sides else { return None };
    let operands: Vec<Operand> = [one, other].into_iter().flatten().collect();
    (!holds(&left, &right) && !operands.is_empty()).then_some(operands)
}

/// The value of a number or of a variable.
fn side(text: &str, look_up: &dyn Fn(&str) -> Option<Operand>) -> Option<(i64, Option<Operand>)> {
    let text = unwrapped(text);
    if let Ok(number) = text.parse() {
        return Some((number, None));
    }
    let operand = look_up(text).filter(|_| is_name(text))?;
    Some((operand.value, Some(operand)))
}

/// Without brackets around all of it.
fn unwrapped(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    inner.filter(|it| !it.contains(['(', ')'])).map_or(text, str::trim)
}

/// `n_sold`, `queue.n_items`, `slots[2]`.
fn is_name(text: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '[' | ']');
    text.starts_with(|it: char| it.is_alphabetic() || it == '_') && text.chars().all(is_part)
}

/// What a variable held at the end, by the last step that touched it.
fn last_value(finding: &Finding, name: &str) -> Option<Operand> {
    let is_it = |it: &Step| {
        let object = finding.objects.get(it.object.idx());
        it.kind.is_access() && object.and_then(|it| it.own_name()).as_deref() == Some(name)
    };
    let last = finding.steps.iter().rposition(is_it)?;
    let step = &finding.steps[last];
    let value = match step.kind {
        OpKind::AtomicRmw | OpKind::AtomicCas => marks::left(finding, last)?,
        _ => marks::value(step)?,
    };
    let value = match step.size {
        4 => i64::from(value as u32 as i32),
        8 => value as i64,
        // Whether a small one has a sign is not known.
        _ if value < 0x80 => value as i64,
        _ => return None,
    };
    let is_write = |it: &Step| {
        it.object == step.object
            && it.kind.is_access()
            && it.kind.is_write()
            && it.result != OpResult::Busy
    };
    let write = finding.steps[..=last].iter().rposition(is_write);
    Some(Operand { name: name.to_owned(), value, object: step.object, write })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<Operand> {
        let value = match name {
            "one" => 1,
            "two" | "pair.second" => 2,
            "none" => 0,
            _ => return None,
        };
        Some(Operand { name: name.to_owned(), value, object: ObjectId::NONE, write: None })
    }

    fn names(text: &str) -> Option<String> {
        let operands = false_part(text, &known)?;
        Some(operands.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn only_what_is_false_is_believed() {
        assert_eq!(names("one == two").as_deref(), Some("one two"));
        assert_eq!(names("(one == pair.second)").as_deref(), Some("one pair.second"));
        assert_eq!(names("one >= 2").as_deref(), Some("one"));
        assert_eq!(names("none").as_deref(), Some("none"));
        assert_eq!(names("!one").as_deref(), Some("one"));
        // It is true, or nobody knows.
        for text in [
            "one == 1",
            "one < two",
            "one",
            "!none",
            "one == three",
            "f(one) == 2",
            "one + 1 == one",
            "1 == 2",
        ] {
            assert_eq!(names(text), None, "{text}");
        }
    }
}
