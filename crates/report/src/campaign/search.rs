//! How far a systematic search has come, in words: while it runs, and when it is over.

use std::fmt::Write as _;

use raddle_model::{CoveredPairs, Gap};

use crate::{
    campaign::status::{CoveredOrder, SearchStatus, Status},
    layout::{
        number::{count, grouped, percent, short},
        style::{Ink, Style},
        table,
    },
    words::{gap, scope},
};

/// The line of the block: ` search ipb: level 1, 812 of about 2.4k ±900 executions (34%)`.
pub(crate) fn block_line(search: &SearchStatus, style: &Style) -> String {
    let strategy = style.tame(&search.strategy);
    if search.is_learning {
        return format!(" search {strategy}: finding shared variables");
    }
    let stage = search.progress.stage.as_ref().filter(|_| !search.progress.is_finished);
    let stage = stage.map(|it| format!("at {it}, ")).unwrap_or_default();
    let level = search.progress.level.map(|it| format!("level {it}, ")).unwrap_or(stage);
    let executions = short(search.executions_here());
    let restarts = match search.effort.n_restarts {
        0 => String::new(),
        many => format!("   restarted {}{}", style.times(), short(u64::from(many))),
    };
    let of = match &search.progress.estimate {
        Some(it) if !search.progress.is_finished => {
            let done = percent((it.done * 100.0).floor());
            let total = about(it.total, it.spread, short, style);
            let least = it.least.map(|it| format!(", at least {}", short(it)));
            format!(" of {total} executions{} ({done})", least.unwrap_or_default())
        }
        _ => " executions".to_owned(),
    };
    format!(" search {strategy}: {level}{executions}{of}{restarts}")
}

/// What a line for logs says of it: ` level=1 search=812/2.4k`.
pub(crate) fn log_words(search: &SearchStatus) -> String {
    let stage = search.progress.stage.as_ref().filter(|_| !search.progress.is_finished);
    let stage = stage.map(|it| format!(" at={}", it.replace(' ', ""))).unwrap_or_default();
    let level = search.progress.level.map(|it| format!(" level={it}")).unwrap_or(stage);
    let of = match &search.progress.estimate {
        Some(it) if it.total >= HUGE => "/many".to_owned(),
        Some(it) if !search.progress.is_finished => format!("/{}", short(it.total as u64)),
        _ => String::new(),
    };
    format!("{level} search={}{of}", short(search.executions_here()))
}

fn plus_minus(style: &Style) -> &'static str {
    if style.unicode { "±" } else { "+/-" }
}

/// Numbers from here on are told by their size only.
const HUGE: f64 = 1e12;

/// `about 2,400 ±900`, or `about 10^31`.
fn about(number: f64, spread: f64, write: fn(u64) -> String, style: &Style) -> String {
    match number {
        _ if !number.is_finite() => "more than 10^300".to_owned(),
        _ if number >= HUGE => format!("about 10^{:.0}", number.log10()),
        _ if spread >= HUGE => format!("about {} or many more", write(number as u64)),
        _ => {
            format!("about {} {}{}", write(number as u64), plus_minus(style), write(spread as u64))
        }
    }
}

/// What the search comes to, after the line about executions.
pub fn closing(status: &Status, search: &SearchStatus, style: &Style) -> String {
    let mut out = String::new();
    let executions = count(search.progress.n_executions, "execution");
    let has_found = !status.findings.is_empty();
    let strategy = style.tame(&search.strategy);
    if search.is_learning {
        let _ = writeln!(out, "search {strategy}: not started");
    } else if search.progress.is_finished {
        let verdict = if has_found { rest(search) } else { verdict(search) };
        let but = match (search.progress.n_diverged + search.effort.n_too_long, search.unlike) {
            (0, 0) if search.is_complete || !search.progress.unreached.is_empty() => "",
            (0, 0) => ", but some behaviour of the program was not controlled",
            (0, _) => ", but the same schedule does not always lead to the same steps",
            _ => ", except after executions that could not be followed",
        };
        let unreached = match search
            .progress
            .unreached
            .iter()
            .map(scope::unreached)
            .collect::<Vec<_>>()
            .join("; ")
        {
            it if it.is_empty() => it,
            it => format!(", not complete: {it}"),
        };
        let words = format!("{}{but}{unreached}{verdict}", said(search, style));
        let words =
            if verdict.is_empty() || has_found { words } else { style.paint(Ink::Good, &words) };
        let _ = writeln!(out, "search {strategy}: {executions}, {words}");
        for gap in search.gaps.iter().filter(|_| !has_found) {
            let _ = writeln!(out, "  not covered: {}", style.tame(&gap::words(gap)));
        }
    } else {
        let left = left(search, style);
        let _ = writeln!(out, "search {strategy}: {executions}, {}; {left}", said(search, style));
    }
    let _ = write!(out, "{}", extras(status, search));
    if let Some(pairs) = &search.progress.covered {
        out += &covered_table(pairs, &search.covered, style);
    }
    if let Some(command) = search.resume.as_ref().filter(|_| !search.progress.is_finished) {
        let _ = writeln!(out, "resume with: {command}");
    }
    out
}

/// What a search with findings that is at its end may claim of the rest. Others say what they have explored.
fn rest(search: &SearchStatus) -> String {
    let rest = scope::rest(&search.progress.scope).filter(|_| search.is_complete);
    rest.map(|it| format!(": {it}")).unwrap_or_default()
}

/// What a search without findings that is at its end may claim: no more than it has seen.
fn verdict(search: &SearchStatus) -> String {
    let is_hidden = |it: &Gap| matches!(it, Gap::Suppressed(_) | Gap::Gone(_));
    if !search.is_complete || search.gaps.iter().any(is_hidden) {
        String::new()
    } else if search.progress.is_cut || !search.gaps.is_empty() {
        let model = search.gaps.iter().find_map(|it| match it {
            Gap::WeakAtomics(_) => Some(" (sequentially consistent)"),
            Gap::BeyondModel(_) => Some(" (C11 memory model)"),
            Gap::StoreOrder(_) => Some(" (total store order)"),
            _ => None,
        });
        let model = model.unwrap_or_default();
        format!(": {}{model}", scope::claim(&search.progress.scope))
    } else {
        ": no schedule of this input fails".to_owned()
    }
}

/// Orders of places in the table, at most: new ones first.
const ORDERS_MAX: usize = 20;

/// What was covered: predecessor pairs, and which are new.
fn covered_table(covered: &CoveredPairs, orders: &[CoveredOrder], style: &Style) -> String {
    let CoveredPairs { n_pairs, n_new, n_learned, last_new } = *covered;
    let converged = match (n_learned, last_new) {
        (0, _) => String::new(),
        (_, 0) => format!("; nothing new in {}", count(n_learned, "execution")),
        _ => format!("; last new one in execution {} of {}", grouped(last_new), grouped(n_learned)),
    };
    let mut out = format!(
        "  {} covered, {} new{converged}\n",
        count(n_pairs, "predecessor pair"),
        grouped(n_new)
    );
    let mut shown: Vec<&CoveredOrder> = orders.iter().collect();
    shown.sort_by_key(|it| !it.is_new);
    let row = |it: &&CoveredOrder| {
        let is_new = if it.is_new { "new" } else { "" };
        vec![it.place.clone(), it.after.clone(), grouped(it.n_pairs), is_new.to_owned()]
    };
    let rows: Vec<Vec<String>> = shown.iter().take(ORDERS_MAX).map(row).collect();
    if !rows.is_empty() {
        out += &table::render(&["location", "immediately after", "pairs", ""], &rows, style);
    }
    if ORDERS_MAX < shown.len() {
        let more = count((shown.len() - ORDERS_MAX) as u64, "more pair");
        let _ = writeln!(out, "{} {more} (all of them: --message-format json)", style.ellipsis());
    }
    out
}

/// What the search says of itself.
fn said(search: &SearchStatus, style: &Style) -> String {
    let words = search.words();
    if style.unicode { words } else { words.replace(" · ", "; ") }
}

/// What is left, in words.
fn left(search: &SearchStatus, style: &Style) -> String {
    let where_ = match (search.progress.level, &search.progress.stage) {
        (Some(_), _) => " of this level".to_owned(),
        (None, Some(stage)) => format!(" of {stage}"),
        (None, None) => String::new(),
    };
    match &search.progress.estimate {
        Some(it) => {
            let left = (it.total - it.total * it.done).max(1.0);
            let left = about(left, it.spread, grouped, style);
            let least = it.least.map(|it| it.saturating_sub(search.progress.n_executions));
            let least = least.map(|it| {
                format!(
                    ", at least {}; possibly far more, because new branches are still being found",
                    grouped(it)
                )
            });
            format!("{left} more{where_} remain{}", least.unwrap_or_default())
        }
        None => format!("unknown how many more{where_} remain"),
    }
}

/// What else there is to say about how it went.
fn extras(status: &Status, search: &SearchStatus) -> String {
    let mut parts = Vec::new();
    if search.effort.n_learning > 0 {
        parts.push(format!(
            "{} beforehand to find shared variables",
            count(search.effort.n_learning, "execution")
        ));
    }
    if search.effort.n_restarts > 0 {
        let times = match search.effort.n_restarts {
            1 => "once".to_owned(),
            many => format!("{many} times"),
        };
        let wasted = count(search.effort.n_abandoned, "execution");
        parts.push(format!(
            "restarted {times} after new shared variables were found ({wasted} discarded)"
        ));
    }
    if search.progress.n_redundant > 0 {
        parts.push(format!("{} redundant", count(search.progress.n_redundant, "execution")));
    }
    if search.steps_spared > 0 {
        let (spared, all) = (grouped(search.steps_spared), grouped(status.figures.steps_total));
        parts.push(format!("checkpoints saved {spared} of {all} steps"));
    }
    if parts.is_empty() { String::new() } else { format!("  {}\n", parts.join("; ")) }
}

/// Warnings about a search that has left something out.
pub(crate) fn warnings(search: &SearchStatus, label: &str) -> String {
    let mut out = String::new();
    if let Some(it) = &search.progress.divergence {
        let seen = match &it.seen {
            Some((thread, op)) if (*thread, *op) == (it.thread, it.expected) => {
                let op = op.verb();
                format!("it did `{op}` on another object or at another code location")
            }
            Some((thread, op)) => format!("thread {} did `{}`", thread.0, op.verb()),
            None => "the execution had ended".to_owned(),
        };
        let _ = writeln!(
            out,
            "{label}: the program is not deterministic: at step {}, thread {} did `{}` at first; with the same \
             choices, {seen}",
            grouped(it.step + 1),
            it.thread.0,
            it.expected.verb()
        );
    }
    if search.progress.n_diverged > 0 {
        let _ = writeln!(
            out,
            "{label}: {} diverged from the planned schedule; the schedules beyond are not explored",
            count(search.progress.n_diverged, "execution")
        );
    }
    if search.effort.n_too_long > 0 {
        let _ = writeln!(
            out,
            "{label}: {} had too many steps for a search; alternatives to the dropped steps are not explored",
            count(search.effort.n_too_long, "execution")
        );
    }
    out
}
