//! Memory orders that are too weak, or could be weaker, in words.

use raddle_model::{MemoryOrder, OpKind, Reordered, Repair, Support, Weakness};

use crate::{layout::number, words::place};

/// Changes that a sentence names; further ones are counted.
const NAMED_MAX: usize = 6;

/// "load", "fence".
pub(crate) const fn noun(kind: OpKind) -> &'static str {
    match kind {
        OpKind::AtomicLoad => "load",
        OpKind::AtomicStore => "store",
        OpKind::AtomicCas => "compare-exchange",
        OpKind::Fence => "fence",
        _ => "read-modify-write",
    }
}

/// "store to `ready`", "fence".
pub(crate) fn what(site: &Reordered) -> String {
    let noun = noun(site.kind);
    let word = match site.kind {
        OpKind::AtomicLoad => "of",
        OpKind::AtomicStore => "to",
        _ => "on",
    };
    if site.variable.is_empty() {
        noun.to_owned()
    } else {
        format!("{noun} {word} `{}`", site.variable)
    }
}

/// An order as it is written; a fence that orders nothing is none.
pub(crate) const fn order(kind: OpKind, order: MemoryOrder) -> &'static str {
    match (kind, order) {
        (OpKind::Fence, MemoryOrder::Relaxed) => "none",
        _ => order.word(),
    }
}

/// "all schedules explored, 12 executions", "tested, not proved: 10,000 executions".
pub(crate) fn support(support: Support) -> String {
    let count = number::count(support.n_executions, "execution");
    match support.is_proved {
        true => format!("all schedules were explored: {count}"),
        false => format!("tested, not proved: {count}"),
    }
}

/// What to change, if the memory orders are the cause.
pub(crate) fn help(weakness: &Weakness) -> Option<String> {
    let Weakness::Repaired(repair) = weakness else { return None };
    let named = repair.changes.iter().take(NAMED_MAX).map(|it| {
        let [from, to] = [it.from, it.at.order].map(|order| self::order(it.kind, order));
        format!("{} at {} {to} instead of {from}", what(it), place::short(&it.place))
    });
    let mut named: Vec<String> = named.collect();
    let n_more = repair.changes.len().saturating_sub(NAMED_MAX);
    if n_more > 0 {
        named.push(format!("{n_more} more"));
    }
    Some(format!("memory orders are too weak: make the {}; {}", join(&named), then(repair)))
}

/// "then no execution fails (tested, not proved: 10,000 executions; no smaller set of changes is enough)".
fn then(repair: &Repair) -> String {
    let what = match repair.others_remain {
        true => "then this failure does not occur",
        false => "then no execution fails",
    };
    let smallest = match (repair.is_smallest, repair.changes.len()) {
        (true, 2..) => "; every smaller set of changes was seen to fail",
        _ => "",
    };
    format!("{what} ({}{smallest})", support(repair.support))
}

/// What else is known of the memory orders.
pub(crate) fn note(weakness: &Weakness) -> Option<String> {
    match weakness {
        Weakness::Repaired(_) => None,
        Weakness::NotOrders { n_places: 0 } => None,
        Weakness::NotOrders { n_places } => Some(format!(
            "memory orders are not the cause: it fails also with seq_cst at {}",
            match n_places {
                1 => "the only weaker atomic operation".to_owned(),
                n => format!("all {} weaker atomic operations", number::grouped(*n)),
            }
        )),
        Weakness::Undecided => {
            Some("which memory orders are too weak was not found out in time (--time)".to_owned())
        }
    }
}

/// "a, b and c".
fn join(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
