//! Which schedules a search explores, in words: what it says of itself, what it has not reached, what it may claim.

use std::collections::BTreeMap;

use raddle_model::{BoundUnit, Count, Decided, Derived, Scope, TraceSize, Unreached};

use crate::layout::number::{count, grouped};

/// What has been explored, or is.
pub(crate) fn words(scope: &Scope, is_finished: bool) -> String {
    match scope {
        Scope::All if is_finished => "all schedules were explored".to_owned(),
        Scope::All => "all schedules, depth first".to_owned(),
        Scope::Levels { unit, level, is_cut } => levels(*unit, *level, *is_cut, is_finished),
        Scope::Classes(bound) => classes(*bound, is_finished),
        Scope::Backtracked(bound) => {
            let bound = bound.map(|it| format!(" with {}", at_most(it, BoundUnit::Preemptions)));
            let bound = bound.unwrap_or_default();
            let what = format!("schedules{bound} that the published algorithm backtracks to");
            match is_finished {
                true => format!("all {what} were explored (it may miss others)"),
                false => what,
            }
        }
        Scope::Derived(_) => match is_finished {
            true => "all test cases that the published algorithm derives were executed (it may miss schedules)",
            false => "test cases that the published algorithm derives from earlier ones",
        }
        .to_owned(),
        Scope::NewOrders(bound) => {
            let bound = bound.map(|it| format!(" with {}", at_most(it, BoundUnit::Preemptions)));
            new_orders(&bound.unwrap_or_default(), is_finished)
        }
        Scope::NewOrdersFirst(_) if is_finished => classes(None, true),
        Scope::NewOrdersFirst(Some(0)) => {
            "schedules with a new order of two code locations".to_owned()
        }
        Scope::NewOrdersFirst(Some(n)) => format!(
            "schedules with new orders first, then all schedules with at most {n} covered orders reversed"
        ),
        Scope::NewOrdersFirst(None) => classes(None, false),
        Scope::Tuples(done) => tuples(done.as_deref(), is_finished),
        Scope::Decisions(decided) => decisions(decided),
    }
}

/// "at most 2 preemptions".
fn at_most(n: u32, unit: BoundUnit) -> String {
    let unit = match unit {
        BoundUnit::Preemptions => "preemption",
        BoundUnit::Delays => "delay",
    };
    match n {
        0 => format!("no {unit}"),
        1 => format!("at most 1 {unit}"),
        n => format!("at most {n} {unit}s"),
    }
}

fn levels(unit: BoundUnit, level: u32, is_cut: bool, is_finished: bool) -> String {
    match (is_finished, is_cut, level) {
        (true, false, _) => "all schedules were explored".to_owned(),
        (true, true, _) => format!("all schedules with {} were explored", at_most(level, unit)),
        (false, _, 0) => format!("schedules with {}", at_most(0, unit)),
        (false, ..) => format!(
            "all schedules with {} were explored; now {}",
            at_most(level - 1, unit),
            at_most(level, unit)
        ),
    }
}

fn classes(bound: Option<u32>, is_finished: bool) -> String {
    let bound = bound.map(|it| at_most(it, BoundUnit::Preemptions));
    match (bound, is_finished) {
        (None, true) => "all schedules were explored, up to the order of independent steps".into(),
        (None, false) => {
            "one schedule of each class that differs only in the order of independent steps".into()
        }
        (Some(bound), true) => format!(
            "all schedules with {bound} were explored, up to the order of independent steps"
        ),
        (Some(bound), false) => {
            format!("schedules with {bound}, up to the order of independent steps")
        }
    }
}

fn new_orders(bound: &str, is_finished: bool) -> String {
    match is_finished {
        true if !bound.is_empty() => format!(
            "uncovered orders of two code locations were tried, if schedules{bound} showed them (others are not \
             covered)"
        ),
        true => "every uncovered order of two code locations was tried; schedules that only combine covered orders were \
                 skipped"
            .to_owned(),
        false => format!("schedules{bound} with an uncovered order of two code locations"),
    }
}

fn tuples(done: Option<&str>, is_finished: bool) -> String {
    let what = "(preemptions, variables, threads in every order, loop iterations)";
    match (done, is_finished) {
        (Some(tuple), true) => format!("all tuples up to {tuple} were explored: {what}"),
        (Some(tuple), false) => format!("tuples up to {tuple} were explored: {what}"),
        (None, _) => format!("tuples by rank: {what}"),
    }
}

/// All figures of total replay in one line.
fn decisions(it: &Decided) -> String {
    let mut parts = Vec::new();
    if it.n_branches > 0 {
        let unknown = match it.n_unknown {
            0 => String::new(),
            n => {
                let percent = (n * 100).checked_div(it.n_branches).unwrap_or(0);
                format!(" ({} with unknown dependencies, {percent}%)", grouped(n))
            }
        };
        let depend = if it.n_affected == 1 { "depends" } else { "depend" };
        parts.push(format!(
            "{} of {}{unknown} {depend} on the interleaving",
            grouped(it.n_affected),
            branches(it.n_branches),
        ));
    }
    parts.push(format!(
        "{} (reachability testing would need at least {}, thread pairs {})",
        count(it.n_test_cases, "test case"),
        and_one(it.reachability),
        and_one(it.thread_pairs)
    ));
    parts.push(guidelines(it));
    parts.push(format!(
        "{} of accesses checked for races, {} reused",
        count(it.n_checked, "pair"),
        grouped(it.n_reused)
    ));
    if let Some(nodes) = it.variant_nodes {
        parts.push(format!(
            "graph of {} ({} bytes) instead of {} ({} bytes)",
            count(it.n_graph_nodes, "node"),
            grouped(it.n_graph_bytes),
            and_one(Some(Count { n: nodes.n.saturating_sub(1), ..nodes })),
            grouped(it.n_variant_bytes)
        ));
    }
    if it.n_witnesses > 0 {
        parts.push(format!("{} to confirm races", count(it.n_witnesses, "execution")));
    }
    if it.n_repeats > 0 {
        parts.push(format!("{} to check determinism", count(it.n_repeats, "execution")));
    }
    if it.n_combined > 0 {
        parts.push(combinations(it));
    }
    if it.is_full {
        parts.push("stopped at the memory limit".to_owned());
    }
    if it.is_model_cut {
        parts.push("too many states to explore all of them".to_owned());
    }
    parts.join(" · ")
}

fn branches(n: u64) -> String {
    format!("{} {}", grouped(n), if n == 1 { "branch" } else { "branches" })
}

/// So many and the first one, or more.
fn and_one(count: Option<Count>) -> String {
    match count {
        Some(Count { n, is_cut: false }) => grouped(n + 1),
        Some(Count { n, is_cut: true }) => format!("more than {}", grouped(n)),
        None => "many".to_owned(),
    }
}

/// How many guidelines there were, and what came of those that were not followed.
fn guidelines(it: &Decided) -> String {
    let waiting = if it.is_queue_full { "or more not tried yet" } else { "not tried yet" };
    let kinds = [
        (it.n_waiting, waiting),
        (it.n_infeasible, "infeasible"),
        (it.n_unwoven, "without a schedule"),
        (it.n_unlucky, "not reached"),
        (it.n_astray, "diverged"),
        (it.n_again, "retried"),
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter(|it| it.0 > 0)
        .map(|(n, what)| format!("{} {what}", grouped(n)))
        .collect();
    let what = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    format!("{}{what}", count(it.n_guidelines, "guideline"))
}

fn combinations(it: &Decided) -> String {
    let open = match (it.n_untried, it.n_unsettled) {
        (0, 0) => String::new(),
        (0, n) => format!(" ({} undecided)", grouped(n)),
        (n, 0) => format!(" ({} not tried)", grouped(n)),
        (n, m) => format!(" ({} not tried, {} undecided)", grouped(n), grouped(m)),
    };
    format!(
        "{}: {} without a race, {} with a potential race{open}",
        count(it.n_combined, "combination"),
        grouped(it.n_combined - it.n_potential),
        grouped(it.n_potential)
    )
}

/// What holds if a search with a bound has finished, found nothing, and left nothing out.
pub(crate) const fn claim(scope: &Scope) -> &'static str {
    match scope {
        Scope::Decisions(_) => {
            "none of them fails, and no other interleaving changes a branch or deadlocks while several threads \
             run (`dpor` also finds failures that need neither)"
        }
        _ => "none of them fails",
    }
}

/// What it may claim beside what was found, if its words do not say it.
pub(crate) const fn rest(scope: &Scope) -> Option<&'static str> {
    match scope {
        Scope::Decisions(_) => {
            Some("no other order takes another branch or deadlocks while several threads run")
        }
        _ => None,
    }
}

/// What was not covered although it was searched for.
pub(crate) fn unreached(it: &Unreached) -> String {
    match it {
        Unreached::Guidelines { n, of } => {
            format!("{} of {} guidelines were not reached", grouped(*n), grouped(*of))
        }
        Unreached::States => "too many states to explore all of them".to_owned(),
        Unreached::Outcomes(calls) => {
            format!("other outcomes of {} were not tried", calls.join(", "))
        }
        Unreached::Ties => "several waits timed out at the same time".to_owned(),
        Unreached::CutOff => "threads were still running at exit".to_owned(),
        Unreached::LastThread => {
            "the last thread was observed only after all others had finished".to_owned()
        }
        Unreached::Combinations => {
            "not every combination of known decisions was executed".to_owned()
        }
        Unreached::Races(1) => "1 potential race is undecided".to_owned(),
        Unreached::Races(n) => format!("{} potential races are undecided", grouped(*n)),
    }
}

/// Figures of a search's own, as tools call them. What was cut has its name twice, with `_cut`.
pub(crate) fn figures(scope: &Scope) -> BTreeMap<&'static str, u64> {
    let it = match scope {
        Scope::Decisions(it) => it,
        Scope::Derived(it) => return derived(it),
        _ => return BTreeMap::new(),
    };
    let mut all = trace_size(it.first);
    all.extend([
        ("branches_reached", it.n_reached),
        ("known_nodes", it.n_known_nodes),
        ("known_bytes", it.n_known_bytes),
        ("branches", it.n_branches),
        ("branches_unknown", it.n_unknown),
        ("branches_decided", it.n_affected),
        ("guidelines", it.n_guidelines),
        ("guidelines_waiting", it.n_waiting),
        ("guidelines_infeasible", it.n_infeasible),
        ("guidelines_unlucky", it.n_unlucky),
        ("guidelines_unwoven", it.n_unwoven),
        ("memory_full", u64::from(it.is_full)),
        ("test_cases", it.n_test_cases),
        ("led_elsewhere", it.n_astray),
        ("tried_again", it.n_again),
        ("witnesses", it.n_witnesses),
        ("repeated", it.n_repeats),
        ("pairs_checked", it.n_checked),
        ("pairs_reused", it.n_reused),
        ("groups", it.n_groups),
        ("combinations", it.n_combined),
        ("potential_races", it.n_potential),
        ("potential_races_open", it.n_untried + it.n_unsettled),
        ("states_cut", u64::from(it.is_model_cut)),
        ("graph_nodes", it.n_graph_nodes),
        ("graph_bytes", it.n_graph_bytes),
    ]);
    let and_first = |it: Count| Count { n: it.n + u64::from(!it.is_cut), ..it };
    let bytes = it.variant_nodes.map(|nodes| Count { n: it.n_variant_bytes, ..nodes });
    let counts = [
        (["reachability", "reachability_cut"], it.reachability.map(and_first)),
        (["thread_pairs", "thread_pairs_cut"], it.thread_pairs.map(and_first)),
        (["variant_nodes", "variant_nodes_cut"], it.variant_nodes),
        (["variant_bytes", "variant_bytes_cut"], bytes),
    ];
    for ([name, cut], count) in counts {
        let Some(count) = count else { continue };
        all.insert(name, count.n);
        if count.is_cut {
            all.insert(cut, 1);
        }
    }
    all
}

/// Of the first execution.
fn trace_size(
    TraceSize { n_steps, n_threads, n_shared }: TraceSize,
) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("trace_steps", n_steps),
        ("trace_threads", n_threads),
        ("trace_shared_variables", n_shared),
    ])
}

fn derived(it: &Derived) -> BTreeMap<&'static str, u64> {
    let mut all = trace_size(it.first);
    all.extend([
        ("graph_nodes", it.nodes.n),
        ("graph_bytes", it.n_bytes),
        ("pairs_checked", it.judged.n_checked),
        ("pairs_reused", it.judged.n_reused),
        ("groups", it.judged.n_groups),
        ("races_by_manners", it.judged.n_races),
        ("analysis_us", it.analysis_us),
        ("generation_us", it.generation_us),
    ]);
    if it.nodes.is_cut {
        all.extend([("graph_nodes_cut", 1), ("graph_bytes_cut", 1)]);
    }
    all
}
