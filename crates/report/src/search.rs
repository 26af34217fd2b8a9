//! How far a systematic search has come, in words: while it runs, and when it is over.

use std::{collections::BTreeMap, fmt::Write as _};

use raddle_model::Gap;

use crate::{
    Status, Style, gap,
    number::{count, grouped, percent, short},
    style::Ink,
    table,
};

/// How far a search has come.
#[derive(Clone, Debug, Default)]
pub struct SearchStatus {
    /// What the user calls it.
    pub strategy: String,
    /// Random executions before it, and whether they are still under way.
    pub learning: u64,
    /// They are still under way.
    pub is_learning: bool,
    /// The part of the search under way: the tuple of a ranked one.
    pub stage: Option<String>,
    /// The level under way, for searches by levels.
    pub level: Option<u32>,
    /// Executions of the search itself.
    pub executions: u64,
    /// Those of them that showed nothing new.
    pub redundant: u64,
    /// How many there are in all (in this level).
    pub estimate: Option<Estimate>,
    /// Has everything been explored that was asked for?
    pub is_finished: bool,
    /// And nothing been left out?
    pub is_exhaustive: bool,
    /// What limits the claim that nothing fails.
    pub gaps: Vec<Gap>,
    /// Did a bound leave something out?
    pub is_cut: bool,
    /// What is not covered although it was searched for.
    pub unreached: Vec<String>,
    /// What a search with a bound claims, if nothing was found.
    pub claim: Option<&'static str>,
    /// What has been explored, in words.
    pub words: String,
    /// Figures of the search's own, by name.
    pub figures: BTreeMap<&'static str, u64>,
    /// How often it has begun again, because more was found to be shared.
    pub restarts: u32,
    /// Executions that were for nothing then.
    pub abandoned: u64,
    /// Executions that were too long.
    pub too_long: u64,
    /// Executions that did not do what others with the same choices had done.
    pub diverged: u64,
    /// Repetitions of the first execution that were not like it.
    pub unlike: u64,
    /// The first of those that diverged.
    pub divergence: Option<Divergence>,
    /// Which orders of two places were covered, if that guides the search.
    pub covered: Option<CoveredStatus>,
    /// Steps not made again, thanks to live copies of executions.
    pub steps_spared: u64,
    /// The command that goes on with it, if it was kept.
    pub resume: Option<String>,
}

/// Which orders of two places were covered.
#[derive(Clone, Debug, Default)]
pub struct CoveredStatus {
    /// Predecessor pairs, each with the calls that led there.
    pub pairs: u64,
    /// Those that this campaign saw first.
    pub new: u64,
    /// Executions that were learned from.
    pub learned: u64,
    /// The last of them that showed something new, from 1; 0 for none.
    pub last_new: u64,
    /// Pairs of places, in order.
    pub orders: Vec<CoveredOrder>,
}

/// A place that came right after another.
#[derive(Clone, Debug)]
pub struct CoveredOrder {
    /// The place.
    pub place: String,
    /// Its predecessor, in another thread.
    pub after: String,
    /// Did this campaign see it first?
    pub is_new: bool,
}

/// How many executions there are, more or less.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// The expected number.
    pub total: f64,
    /// The standard deviation between parts of the search.
    pub spread: f64,
    /// The part that is done, from 0 to 1.
    pub done: f64,
    /// There are at least so many, where an estimate may be far too low.
    pub least: Option<u64>,
}

/// Where an execution first did something else than another with the same choices.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The step, from 1.
    pub step: u64,
    /// Whose step it was.
    pub thread: u32,
    /// What it did.
    pub expected: String,
    /// Who did what instead; nothing if the execution had ended.
    pub seen: Option<(u32, String)>,
}

impl SearchStatus {
    /// Executions of what the estimate is about: the level or the tuple under way, if there are any.
    fn executions_here(&self) -> u64 {
        match &self.estimate {
            Some(it) if !self.is_finished && (self.level.is_some() || self.stage.is_some()) => {
                (it.total * it.done).round() as u64
            }
            _ => self.executions,
        }
    }
}

/// The line of the block: ` search ipb: level 1, 812 of about 2.4k ±900 executions (34%)`.
pub(crate) fn block_line(search: &SearchStatus, style: &Style) -> String {
    let strategy = style.tame(&search.strategy);
    if search.is_learning {
        return format!(" search {strategy}: finding out what is shared");
    }
    let stage = search.stage.as_ref().filter(|_| !search.is_finished);
    let stage = stage.map(|it| format!("at {it}, ")).unwrap_or_default();
    let level = search.level.map(|it| format!("level {it}, ")).unwrap_or(stage);
    let executions = short(search.executions_here());
    let restarts = match search.restarts {
        0 => String::new(),
        many => format!("   begun again {}{}", style.times(), short(u64::from(many))),
    };
    let of = match &search.estimate {
        Some(it) if !search.is_finished => {
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
    let stage = search.stage.as_ref().filter(|_| !search.is_finished);
    let stage = stage.map(|it| format!(" at={}", it.replace(' ', ""))).unwrap_or_default();
    let level = search.level.map(|it| format!(" level={it}")).unwrap_or(stage);
    let of = match &search.estimate {
        Some(it) if it.total >= HUGE => "/many".to_owned(),
        Some(it) if !search.is_finished => format!("/{}", short(it.total as u64)),
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
    let executions = count(search.executions, "execution");
    let has_found = !status.findings.is_empty();
    let strategy = style.tame(&search.strategy);
    if search.is_learning {
        let _ = writeln!(out, "search {strategy}: not begun");
    } else if search.is_finished {
        let verdict = if has_found { String::new() } else { verdict(search) };
        let but = match (search.diverged + search.too_long, search.unlike) {
            (0, 0) if search.is_exhaustive || !search.unreached.is_empty() => "",
            (0, 0) => ", but not everything was under control",
            (0, _) => ", but the same schedule does not always lead to the same steps",
            _ => ", but for what could not be followed",
        };
        let unreached = match search.unreached.join("; ") {
            it if it.is_empty() => it,
            it => format!(", not complete: {it}"),
        };
        let words = format!("{}{but}{unreached}{verdict}", said(search, style));
        let words = if verdict.is_empty() { words } else { style.paint(Ink::Good, &words) };
        let _ = writeln!(out, "search {strategy}: {executions}, {words}");
        for gap in search.gaps.iter().filter(|_| !has_found) {
            let _ = writeln!(out, "  not covered: {}", style.tame(&gap::words(gap)));
        }
    } else {
        let left = left(search, style);
        let _ = writeln!(out, "search {strategy}: {executions}, {}; {left}", said(search, style));
    }
    let _ = write!(out, "{}", extras(status, search));
    if let Some(covered) = &search.covered {
        out += &covered_table(covered, style);
    }
    if let Some(command) = search.resume.as_ref().filter(|_| !search.is_finished) {
        let _ = writeln!(out, "go on with: {command}");
    }
    out
}

/// What a search without findings that is at its end may claim: no more than it has seen.
fn verdict(search: &SearchStatus) -> String {
    let is_hidden = |it: &Gap| matches!(it, Gap::Suppressed(_) | Gap::Gone(_));
    if !search.is_exhaustive || search.gaps.iter().any(is_hidden) {
        String::new()
    } else if search.is_cut || !search.gaps.is_empty() {
        format!(": {}", search.claim.unwrap_or("none of them fails"))
    } else {
        ": no schedule of this input fails".to_owned()
    }
}

/// Orders of places in the table, at most: new ones first.
const ORDERS_MAX: usize = 20;

/// What was covered: predecessor pairs, and which are new.
fn covered_table(covered: &CoveredStatus, style: &Style) -> String {
    let CoveredStatus { pairs, new, learned, last_new, orders } = covered;
    let converged = match (learned, last_new) {
        (0, _) => String::new(),
        (_, 0) => format!("; nothing new in {}", count(*learned, "execution")),
        _ => format!(
            "; the last new one in execution {} of {}",
            grouped(*last_new),
            grouped(*learned)
        ),
    };
    let mut out = format!(
        "  {} covered, {} new{converged}\n",
        count(*pairs, "predecessor pair"),
        grouped(*new)
    );
    let mut shown: Vec<&CoveredOrder> = orders.iter().collect();
    shown.sort_by_key(|it| !it.is_new);
    let row = |it: &&CoveredOrder| {
        let is_new = if it.is_new { "new" } else { "" };
        vec![it.place.clone(), it.after.clone(), is_new.to_owned()]
    };
    let rows: Vec<Vec<String>> = shown.iter().take(ORDERS_MAX).map(row).collect();
    if !rows.is_empty() {
        out += &table::render(&["place", "right after", ""], &rows, style);
    }
    if ORDERS_MAX < shown.len() {
        let more = count((shown.len() - ORDERS_MAX) as u64, "more pair");
        let _ = writeln!(out, "and {more} of places: --message-format json has all");
    }
    out
}

/// What the search says of itself.
fn said(search: &SearchStatus, style: &Style) -> String {
    if style.unicode { search.words.clone() } else { search.words.replace(" · ", "; ") }
}

/// What is left, in words.
fn left(search: &SearchStatus, style: &Style) -> String {
    let where_ = match (search.level, &search.stage) {
        (Some(_), _) => " of this level".to_owned(),
        (None, Some(stage)) => format!(" of {stage}"),
        (None, None) => String::new(),
    };
    match &search.estimate {
        Some(it) => {
            let left = (it.total - it.total * it.done).max(1.0);
            let left = about(left, it.spread, grouped, style);
            let least = it.least.map(|it| it.saturating_sub(search.executions));
            let least = least.map(|it| {
                format!(
                    ", {} at least; ways are still being found, so perhaps far more",
                    grouped(it)
                )
            });
            format!("{left} more{where_} are left{}", least.unwrap_or_default())
        }
        None => format!("it is not known how many more{where_} are left"),
    }
}

/// What else there is to say about how it went.
fn extras(status: &Status, search: &SearchStatus) -> String {
    let mut parts = Vec::new();
    if search.learning > 0 {
        parts.push(format!(
            "{} before it to learn what is shared",
            count(search.learning, "execution")
        ));
    }
    if search.restarts > 0 {
        let times = if search.restarts == 1 { "once" } else { "several times" };
        let wasted = count(search.abandoned, "execution");
        parts.push(format!("begun again {times}, because more is shared ({wasted} for nothing)"));
    }
    if search.redundant > 0 {
        parts.push(format!("{} showed nothing new", count(search.redundant, "execution")));
    }
    if search.steps_spared > 0 {
        let (spared, all) = (grouped(search.steps_spared), grouped(status.steps));
        parts.push(format!("{spared} of {all} steps spared by checkpoints"));
    }
    if parts.is_empty() { String::new() } else { format!("  {}\n", parts.join("; ")) }
}

/// Warnings about a search that has left something out.
pub(crate) fn warnings(search: &SearchStatus, label: &str) -> String {
    let mut out = String::new();
    if let Some(it) = &search.divergence {
        let seen = match &it.seen {
            Some((thread, op)) if (*thread, op) == (it.thread, &it.expected) => {
                format!("another `{op}`: of something else, or elsewhere in the code")
            }
            Some((thread, op)) => format!("thread {thread} did `{op}`"),
            None => "the execution had ended".to_owned(),
        };
        let _ = writeln!(
            out,
            "{label}: the program is not deterministic: at step {} thread {} did `{}` before, and with \
             the same choices {seen}",
            grouped(it.step),
            it.thread,
            it.expected
        );
    }
    if search.diverged > 0 {
        let (whose, whom) = if search.diverged == 1 { ("its", "it") } else { ("their", "them") };
        let _ = writeln!(
            out,
            "{label}: {} did not follow {whose} choices: what lies behind {whom} is not explored",
            count(search.diverged, "execution")
        );
    }
    if search.too_long > 0 {
        let _ = writeln!(
            out,
            "{label}: {} had more steps than a search keeps: what lies beside them is not explored",
            count(search.too_long, "execution")
        );
    }
    out
}
