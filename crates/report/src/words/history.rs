//! Operations that no order explains: the sentence, the reasons, and a table with one column for each thread.

use raddle_model::{Consistency, History, Operation, Refused, ThreadId};

use crate::layout::style::{Style, width};

/// Reasons beyond so many repeat the same thing.
const REASONS_MAX: usize = 3;
/// Operations that are named one by one.
const NAMED_MAX: usize = 4;
/// Blanks between two columns.
const GAP: usize = 3;

/// "after push(1) and T2's pop() → 1, T1's pop() returns 1 instead of None".
pub(crate) fn line(history: &History) -> String {
    match history.refused.first() {
        Some(first) => reason(history, first),
        None => "no order of the operations explains their results".to_owned(),
    }
}

/// Why each operation that could come next does not fit; and which orders were tried.
pub(crate) fn notes(history: &History) -> Vec<String> {
    let reasons = history.refused.iter().skip(1).take(REASONS_MAX);
    let mut all: Vec<String> = reasons.map(|it| reason(history, it)).collect();
    let n_operations = history.operations.len();
    let kept = match history.consistency {
        Consistency::Linearizable => "operations that do not overlap",
        Consistency::Sequential => "each thread's operations",
        Consistency::Quiescent => "operations separated by a moment without a running operation",
    };
    all.push(format!(
        "no order of the {n_operations} operations that keeps the order of {kept} gives these results"
    ));
    all
}

/// "after push(1), T1's pop() returns Some(1) instead of None".
fn reason(history: &History, refused: &Refused) -> String {
    let Some(operation) = history.operations.get(refused.operation as usize) else {
        return String::new();
    };
    let who = format!("T{}'s {}", operation.thread.0, operation.call);
    let what = match (&operation.result, &refused.expected) {
        (Some(result), Some(expected)) => format!("{who} returns {result} instead of {expected}"),
        (Some(result), None) => format!("{who} returns {result} instead of blocking"),
        (None, Some(expected)) => format!("{who} is blocked instead of returning {expected}"),
        (None, None) => format!("{who} does not return"),
    };
    match before(history).as_str() {
        "" => what,
        before => format!("after {before}, {what}"),
    }
}

/// "push(1) and T2's pop() → Some(1)": the order that explains the most.
fn before(history: &History) -> String {
    let all: Vec<&Operation> =
        history.explained.iter().filter_map(|it| history.operations.get(*it as usize)).collect();
    let first = history.operations.iter().map(|it| it.thread).min();
    let text = |it: &&Operation| match (Some(it.thread) == first, outcome(it)) {
        (true, outcome) => format!("{}{outcome}", it.call),
        (false, outcome) => format!("T{}'s {}{outcome}", it.thread.0, it.call),
    };
    let n_left = all.len().saturating_sub(NAMED_MAX);
    let named: Vec<String> = all[n_left..].iter().map(text).collect();
    let mut named = match named.as_slice() {
        [] => return String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    };
    if n_left > 0 {
        named = format!("{n_left} more, {named}");
    }
    named
}

/// " = Some(1)"; nothing for what returns nothing.
fn outcome(operation: &Operation) -> String {
    match operation.result.as_deref() {
        Some("" | "()") | None => String::new(),
        Some(result) => format!(" = {result}"),
    }
}

/// The table, a line for each row: a column for each thread, time runs downwards.
pub(crate) fn table(history: &History, style: &Style) -> Vec<String> {
    let mut threads: Vec<ThreadId> = history.operations.iter().map(|it| it.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut rows = vec![threads.iter().map(|it| format!("T{}", it.0)).collect::<Vec<_>>()];
    let moments = moments(history);
    let mut open: Vec<Option<usize>> = vec![None; threads.len()];
    let marks = if style.unicode { ["┌ ", "│", "└ → "] } else { ["/ ", "|", "\\ -> "] };
    let mut idx = 0;
    while let Some(moment) = moments.get(idx) {
        idx += 1;
        let operation = &history.operations[moment.operation];
        let column = threads.iter().position(|it| *it == operation.thread).unwrap_or(0);
        let is_whole = !moment.is_end
            && moments.get(idx).is_some_and(|it| it.is_end && it.operation == moment.operation);
        let text = match (moment.is_end, operation.result.is_some()) {
            _ if is_whole => {
                idx += 1;
                open[column] = None;
                format!("{}{}", operation.call, outcome(operation))
            }
            (false, true) => {
                open[column] = Some(moment.operation);
                format!("{}{}", marks[0], operation.call)
            }
            (false, false) => format!("{} (blocked)", operation.call),
            (true, _) => {
                open[column] = None;
                format!("{}{}", marks[2], operation.result.as_deref().unwrap_or_default())
            }
        };
        let mut row: Vec<String> = open
            .iter()
            .map(|it| if it.is_some() { marks[1].to_owned() } else { String::new() })
            .collect();
        row[column] = text;
        rows.push(row);
    }
    laid_out(&rows, style)
}

/// An operation begins or ends.
struct Moment {
    at: (u64, u8, usize),
    operation: usize,
    is_end: bool,
}

/// All of them as they came. At one moment, operations end before others begin.
fn moments(history: &History) -> Vec<Moment> {
    let mut all = Vec::new();
    for (operation, it) in history.operations.iter().enumerate() {
        let is_instant = it.invoked == it.returned;
        let start = (it.invoked, if is_instant { 1 } else { 2 }, operation);
        all.push(Moment { at: start, operation, is_end: false });
        if it.result.is_some() {
            let end = (it.returned, u8::from(is_instant), operation);
            all.push(Moment { at: end, operation, is_end: true });
        }
    }
    all.sort_by_key(|it| (it.at, it.is_end));
    all
}

fn laid_out(rows: &[Vec<String>], style: &Style) -> Vec<String> {
    let n_columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| rows.iter().map(|it| width(&style.tame(&it[column]))).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (text, room) in row.iter().zip(&widths) {
            let text = style.tame(text);
            line.push_str(&text);
            line.push_str(&" ".repeat(room + GAP - width(&text)));
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{Consistency, History, Operation, Refused, Style, ThreadId, line, notes, table};
    use expect_test::expect;

    fn operation(thread: u32, call: &str, result: &str, invoked: u64, returned: u64) -> Operation {
        Operation {
            thread: ThreadId(thread),
            call: call.to_owned(),
            result: Some(result.to_owned()).filter(|it| !it.is_empty()),
            invoked,
            returned,
        }
    }

    #[test]
    fn one_element_is_taken_twice() {
        let history = History {
            consistency: Consistency::Linearizable,
            operations: vec![
                operation(0, "push(1)", "()", 0, 3),
                operation(1, "pop()", "Some(1)", 5, 12),
                operation(2, "pop()", "Some(1)", 7, 10),
                operation(2, "len()", "0", 10, 10),
            ],
            explained: vec![0, 2],
            refused: vec![
                Refused { operation: 1, expected: Some("None".to_owned()) },
                Refused { operation: 3, expected: None },
            ],
        };
        let unicode = Style { unicode: true, ..Style::default() };
        let mut text = format!("{}\n", line(&history));
        text += &table(&history, &unicode).join("\n");
        text += "\n";
        text += &table(&history, &Style::default()).join("\n");
        text += "\n";
        text += &notes(&history).join("\n");
        expect![[r#"
            after push(1) and T2's pop() = Some(1), T1's pop() returns Some(1) instead of None
            T0        T1            T2
            push(1)
                      ┌ pop()
                      │             pop() = Some(1)
                      │             len() = 0
                      └ → Some(1)
            T0        T1            T2
            push(1)
                      ┌ pop()
                      │             pop() = Some(1)
                      │             len() = 0
                      └ → Some(1)
            after push(1) and T2's pop() = Some(1), T2's len() returns 0 instead of blocking
            no order of the 4 operations that keeps the order of operations that do not overlap gives these results"#]]
        .assert_eq(&text);
    }

    #[test]
    fn one_that_never_returns() {
        let history = History {
            operations: vec![operation(2, "put(1)", "()", 3, 6), operation(1, "take()", "", 1, 1)],
            explained: vec![0],
            refused: vec![Refused { operation: 1, expected: Some("1".to_owned()) }],
            ..History::default()
        };
        let mut text = format!("{}\n", line(&history));
        text += &table(&history, &Style::default()).join("\n");
        expect![[r"
            after T2's put(1), T1's take() is blocked instead of returning 1
            T1                 T2
            take() (blocked)
                               put(1)"]]
        .assert_eq(&text);
    }
}
