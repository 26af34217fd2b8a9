//! What both orders of a race led to, as a sentence.

use raddle_model::{Access, BothOrders, Change, Evidence, Outcome};

use crate::{Style, number, place};

/// "the order matters: …", "both orders were run: …"; `None` if they were not.
pub(crate) fn text(evidence: &Evidence, style: &Style) -> Option<String> {
    let orders = evidence.orders.as_ref()?;
    let [first, second] = evidence.accesses.as_slice() else { return None };
    let [as_it_was, turned] = &orders.outcomes;
    let who = |it: &Access| format!("T{}'s {}", it.thread.0, it.kind.verb());
    let (one, other) = (who(first), who(second));
    Some(match orders.change() {
        Change::End => format!(
            "the order matters: if {one} comes first, {}; if {other} does, {}",
            end(as_it_was),
            end(turned)
        ),
        Change::Output => format!(
            "the order matters: the program writes something else if {one} comes before {other} than if it \
             comes after"
        ),
        Change::Value => {
            let values = value(orders, [first, second], style);
            let ends = match &as_it_was.failure {
                None => "the program ends well both times",
                Some(_) => "the program fails both times",
            };
            format!("the order changes a value: {values} ({one} first, {other} first); {ends}")
        }
        Change::Nothing => format!(
            "both orders of {one} and {other} were run: the same end, output and values (it is a race all the \
             same)"
        ),
    })
}

fn end(outcome: &Outcome) -> String {
    match &outcome.failure {
        None => "the program ends well".to_owned(),
        Some((kind, message)) if message.is_empty() => kind.title().to_owned(),
        Some((kind, message)) => format!("{}: {message}", kind.title()),
    }
}

/// "T2 reads 0 or 1".
fn value(orders: &BothOrders, accesses: [&Access; 2], style: &Style) -> String {
    let [one, other] = &orders.outcomes;
    let or = |a: u64, b: u64| format!("{} or {}", number::value(a, style), number::value(b, style));
    for (idx, access) in accesses.into_iter().enumerate() {
        if let (Some(a), Some(b)) = (one.reads[idx], other.reads[idx])
            && a != b
        {
            return format!("T{} reads {}", access.thread.0, or(a, b));
        }
    }
    match (&one.next_read, &other.next_read) {
        (Some((a, at)), Some((b, _))) => {
            let at = match place::short(at) {
                at if at.is_empty() => "then".to_owned(),
                at => format!("at {at}"),
            };
            format!("what is read {at} is {}", or(*a, *b))
        }
        _ => "one of them is not made".to_owned(),
    }
}
