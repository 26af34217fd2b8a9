//! What the first screen of a finding must say, and the table of `docs/explain.md` over all programs whose texts are
//! written down.
//!
//! Programs say what their cause is: `//@ cause:` has parts of its lines, `//@ says:` words of the first sentence: the data
//! and the threads that a reader needs, by the program, not by the report. `//@ unnamed:` and `//@ unsaid:` have the same where
//! the report does not show it in every schedule, or does not say it yet: only the table tells.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use crate::Directives;
use libtest_mimic::Failed;
use raddle_explore::Explained;
use raddle_model::{Finding, Kind, Place, Share};
use raddle_report::{
    Shown, Style,
    finding::{diagnosis::Diagnosis, text},
};

/// The cause must be named in so many lines.
const LINES: usize = 20;
/// The whole report has at most so many.
const SCREEN: usize = 45;
/// Fewer executions than this do not measure an ordering.
const SAMPLES_MIN: u64 = 5;

/// The cause is in the first lines, no ordering that is shown is irrelevant, and the sentence names data and threads.
pub(crate) fn check(
    explained: &Explained,
    path: &Path,
    directives: &Directives,
    sources: &mut dyn FnMut(&Place) -> Option<String>,
) -> Result<(), Failed> {
    let Explained { finding, explanation, .. } = explained;
    let style = Style::default();
    let whole = whole(explained, &style, sources);
    if SCREEN < whole.lines().count() {
        return Err(format!("more than {SCREEN} lines:\n{whole}").into());
    }
    if let Some(reason) = &explanation.reason {
        let is_irrelevant = |it: &Share| {
            SAMPLES_MIN <= it.of
                && 9 * reason.sufficient.n * it.of <= 10 * it.n * reason.sufficient.of
        };
        if reason.orders.iter().any(|it| is_irrelevant(&it.reversed)) {
            return Err(format!("an ordering that does not matter is shown:\n{whole}").into());
        }
    }
    let source = fs::read_to_string(path)?;
    let is_late = |it: &&String| lines_to(&whole, &source, it).is_none_or(|it| LINES < it);
    if let Some(missing) = directives.cause.iter().find(is_late) {
        return Err(format!("`{missing}` is not within the first {LINES} lines:\n{whole}").into());
    }
    let sentence = Diagnosis::of(finding, Some(explanation), &style).sentence;
    if let Some(missing) = directives.says.iter().find(|it| !sentence.contains(it.as_str())) {
        return Err(format!("the sentence does not say `{missing}`: {sentence}").into());
    }
    if !directives.says.is_empty() && !names_data_and_threads(finding, &sentence) {
        return Err(format!("the sentence does not name data and threads: {sentence}").into());
    }
    Ok(())
}

/// The report as users see it first.
fn whole(
    explained: &Explained,
    style: &Style,
    sources: &mut dyn FnMut(&Place) -> Option<String>,
) -> String {
    let shown = Shown {
        finding: &explained.finding,
        id: "finding-0000",
        seed: None,
        reproduced: None,
        base: "",
        explanation: Some(&explained.explanation),
        test: None,
    };
    text::finding(&shown, style, sources)
}

/// Data, and both threads or the cycle. What runs for ever, or waits for what nobody does, may be one thread.
fn names_data_and_threads(finding: &Finding, sentence: &str) -> bool {
    let threads: BTreeSet<&str> = sentence
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| it.strip_prefix('T').is_some_and(|it| it.parse::<u32>().is_ok()))
        .collect();
    let is_alone = matches!(finding.kind, Kind::Deadlock | Kind::Livelock | Kind::Misuse);
    // What has no name is called by what it is.
    let is_unnamed =
        ["still running", "pipe ", "descriptor ", "block ", "thread ", "a signal", "joins T"];
    let has_data = sentence.contains('`')
        || is_unnamed.iter().any(|it| sentence.contains(it))
        || finding.kind == Kind::Livelock
        || !finding.cycle.is_empty();
    has_data && (2 <= threads.len() || is_alone && !threads.is_empty())
}

/// Lines of a text up to the one that shows a line of the program which holds `part`: the line itself beside its
/// number, or its place.
fn lines_to(text: &str, source: &str, part: &str) -> Option<usize> {
    let holds = |(idx, line): (usize, &str)| line.contains(part).then_some(idx + 1);
    let numbers: Vec<usize> = source
        .lines()
        .enumerate()
        .filter(|it| !it.1.starts_with("//@"))
        .filter_map(holds)
        .collect();
    let is_shown = |line: &str| {
        let quoted = line.split_once(" |").and_then(|it| it.0.trim().parse().ok());
        let is_quoted = quoted.is_some_and(|it: usize| numbers.contains(&it));
        let is_named = |number: &usize| {
            let place = format!(":{number}");
            line.match_indices(&place).any(|(at, _)| {
                !line[at + place.len()..].starts_with(|it: char| it.is_ascii_digit())
            })
        };
        is_quoted || numbers.iter().any(is_named)
    };
    text.lines().position(is_shown).map(|it| it + 1)
}

/// The table of `docs/explain.md`, over all programs: in which line the last part of the cause is, whether the sentence
/// says what it should, how many orderings are shown, and how many rows of the schedule are folded.
pub(crate) fn table(programs: &Path, golden: &Path) -> Result<String, Failed> {
    let mut rows = String::from(
        "| program | lines to the cause | sentence lacks | orderings shown | rows folded | lines in all |\n\
         |---|---|---|---|---|---|\n",
    );
    let mut all = crate::programs_under(programs);
    all.sort();
    let (mut n, mut n_within, mut n_said) = (0, 0, 0);
    for path in &all {
        let source = fs::read_to_string(path)?;
        let name = path.strip_prefix(programs).unwrap_or(path).display().to_string();
        let declared = |key| source.lines().find_map(|it: &str| it.strip_prefix(key));
        let cause = declared("//@ cause:").or(declared("//@ unnamed:"));
        let lacks = declared("//@ unsaid:").unwrap_or_default().trim();
        if declared("//@ says:").is_none() && lacks.is_empty() {
            return Err(format!("{name} does not declare what its sentence says").into());
        }
        let text = fs::read_to_string(golden.join(format!("{}.txt", crate::golden_name(path))));
        // Misuse of memory is where it shows, and a new C++ program has no text yet.
        let (Some(cause), Ok(text)) = (cause, text) else { continue };
        let to_cause = cause.split(" | ").map(|it| lines_to(&text, &source, it.trim()));
        let to_cause = to_cause.collect::<Option<Vec<usize>>>().and_then(|it| it.into_iter().max());
        let n_folded = text.lines().filter(|it| it.trim_start().starts_with('…')).count();
        let shown = to_cause.map_or_else(|| "not named".to_owned(), |it| it.to_string());
        let _ = writeln!(
            rows,
            "| {name} | {shown} | {lacks} | {} | {n_folded} | {} |",
            n_orders(&text),
            text.lines().count()
        );
        n += 1;
        n_within += u32::from(to_cause.is_some_and(|it| it <= LINES));
        n_said += u32::from(lacks.is_empty());
    }
    Ok(format!(
        "The cause is named within {LINES} lines in {n_within} of {n} programs; the sentence names the data and the\n\
         threads that it should in {n_said}.\n\n{rows}"
    ))
}

/// Orderings that a text shows, without those that are reversed.
fn n_orders(text: &str) -> usize {
    let lines = text.lines().skip_while(|it| !it.contains("= order:")).enumerate();
    let order = lines.take_while(|(idx, it)| *idx == 0 || !it.contains(" = ")).map(|it| it.1);
    let words: Vec<&str> = order.flat_map(str::split_whitespace).collect();
    let words = words.join(" ");
    words.split(';').next().unwrap_or_default().matches(" before ").count()
}
