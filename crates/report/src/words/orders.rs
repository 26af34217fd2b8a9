//! What both orders of a race led to, as a sentence.

use raddle_model::{Access, BothOrders, Change, Evidence, Outcome};

use crate::{
    layout::{number, style::Style},
    words::{fault, place},
};

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
        Change::Output => {
            format!("the order matters: the program's output differs if {one} comes before {other}")
        }
        Change::Value => {
            let (what, [a, b]) = value(orders, [first, second])?;
            let (a, b) = (number::value(a, style), number::value(b, style));
            let ends = match &as_it_was.failure {
                None => "the program passes both times",
                Some(_) => "the program fails both times",
            };
            format!(
                "the order changes a value: {what} {a} if {one} comes first, {b} if {other} does; {ends}"
            )
        }
        Change::Nothing => format!(
            "both orders of {one} and {other} were run: same result, output and values (still a data race)"
        ),
    })
}

fn end(outcome: &Outcome) -> String {
    match &outcome.failure {
        None => "the program passes".to_owned(),
        Some((kind, failure)) => match fault::message(*kind, failure) {
            message if message.is_empty() => kind.title().to_owned(),
            message => format!("{}: {message}", kind.title()),
        },
    }
}

/// The value that differs: "T2 reads", and what it is in each order.
fn value(orders: &BothOrders, accesses: [&Access; 2]) -> Option<(String, [u64; 2])> {
    let [one, other] = &orders.outcomes;
    for (idx, access) in accesses.into_iter().enumerate() {
        if let (Some(a), Some(b)) = (one.reads[idx], other.reads[idx])
            && a != b
        {
            return Some((format!("T{} reads", access.thread.0), [a, b]));
        }
    }
    let ((a, at), (b, _)) = (one.next_read.as_ref()?, other.next_read.as_ref()?);
    let what = match place::short(at).as_str() {
        "" => "the next read returns".to_owned(),
        at => format!("the next read, at {at}, returns"),
    };
    Some((what, [*a, *b]))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use raddle_model::{Access, BothOrders, Evidence, Fault, Kind, OpKind, Outcome, ThreadId};

    use super::text;
    use crate::{layout::style::Style, tests::samples::at};

    fn check(outcomes: [Outcome; 2], expected: Expect) {
        let access = |thread, kind| Access {
            thread: ThreadId(thread),
            kind,
            size: 4,
            step: 1,
            place: at(1, "f"),
            stack: Vec::new(),
            holds: Vec::new(),
        };
        let evidence = Evidence {
            accesses: vec![access(1, OpKind::Write), access(2, OpKind::Read)],
            orders: Some(BothOrders { outcomes }),
            ..Evidence::default()
        };
        expected.assert_eq(&text(&evidence, &Style::default()).unwrap_or_default());
    }

    fn reading(value: u64) -> Outcome {
        Outcome { reads: [None, Some(value)], ..Outcome::default() }
    }

    #[test]
    fn what_the_order_changes() {
        let fails =
            Outcome { failure: Some((Kind::Assert, Fault::Said("x == 1".into()))), ..reading(0) };
        check(
            [reading(1), fails],
            expect![
                "the order matters: if T1's write comes first, the program passes; if T2's read does, assertion failed: x == 1"
            ],
        );
        check(
            [reading(1), reading(0)],
            expect![
                "the order changes a value: T2 reads 1 if T1's write comes first, 0 if T2's read does; the program passes both times"
            ],
        );
        let next = |value| Outcome { next_read: Some((value, at(9, "g"))), ..Outcome::default() };
        check(
            [next(1), next(2)],
            expect![
                "the order changes a value: the next read, at bank.c:9, returns 1 if T1's write comes first, 2 if T2's read does; the program passes both times"
            ],
        );
        check(
            [reading(1), Outcome { output: 7, ..reading(1) }],
            expect![
                "the order matters: the program's output differs if T1's write comes before T2's read"
            ],
        );
        check(
            [reading(1), reading(1)],
            expect![
                "both orders of T1's write and T2's read were run: same result, output and values (still a data race)"
            ],
        );
    }
}
