//! Tests, each explored on its own: a line for each as cargo-nextest writes them, a summary, and JUnit.

use serde::Serialize;

use crate::layout::{
    number::{count, grouped, percent, seconds},
    style::{Ink, Style},
};

/// How a test came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No schedule that was tried makes it fail.
    Passed,
    /// All interleavings were explored, and none makes it fail.
    All,
    /// A search with a bound, or one that may leave schedules out, has ended, and none that it made fails.
    Complete,
    /// No schedule that was tried makes it fail, but those were too few to say that it passes.
    Few,
    /// Its schedules make no difference: it has one thread.
    Alone,
    /// Not one execution ended in the time that it had.
    Slow,
    /// Not one execution came to an end of its own: what they did instead.
    Inconclusive(String),
    /// Some schedule makes it fail: what was found.
    Found(Vec<Hit>),
    /// It fails with one thread, whatever the schedule: its message.
    Fails(String),
    /// It could not be run: why.
    Broken(String),
}

/// Something that was found in a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hit {
    /// Its id.
    pub id: String,
    /// What it is: `deadlock`.
    pub kind: String,
    /// Its headline.
    pub message: String,
    /// The whole report.
    #[serde(skip)]
    pub text: String,
}

/// A test, and what became of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestLine {
    /// The harness: `queue`, `queue::stress`.
    pub binary: String,
    /// The test's name in it; empty if the harness is all one test.
    pub name: String,
    /// How it came out.
    pub verdict: Verdict,
    /// Executions.
    pub executions: u64,
    /// Classes of traces that differ in more than independent steps.
    pub distinct_traces: u64,
    /// Executions that were ended because they took too long.
    pub cut_short: u64,
    /// Percent of executions in which everything was controlled.
    pub stability: f64,
    /// How long it took.
    pub elapsed_s: f64,
    /// What limits the claim of a search that has ended, by kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<&'static str>,
    /// Was it a search, which could have ended?
    #[serde(skip)]
    pub is_search: bool,
    /// Was it only looked at, to see what kind of test it is?
    #[serde(skip)]
    pub is_provisional: bool,
}

/// All tests together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Seconds since the start.
    pub elapsed_s: f64,
    /// Tests that were left out: ignored, or filtered.
    pub n_skipped: u64,
    /// Did the user end it?
    pub is_interrupted: bool,
}

impl TestLine {
    /// `queue tests::two_pushers`.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.binary, self.name).trim_end().to_owned()
    }

    fn is_good(&self) -> bool {
        matches!(self.verdict, Verdict::Passed | Verdict::All | Verdict::Complete | Verdict::Alone)
    }
}

/// `    PASS [   0.512s] queue tests::two_pushers  2,000 executions, 312 distinct`.
pub fn line(test: &TestLine, style: &Style) -> String {
    let (word, ink) = match test.verdict {
        Verdict::Passed | Verdict::All | Verdict::Complete | Verdict::Alone => ("PASS", Ink::Good),
        Verdict::Few => ("FEW", Ink::Strong),
        Verdict::Slow => ("SLOW", Ink::Strong),
        Verdict::Inconclusive(_) => ("INCONCLUSIVE", Ink::Warning),
        Verdict::Found(_) | Verdict::Fails(_) | Verdict::Broken(_) => ("FAIL", Ink::Error),
    };
    let label = style.paint(ink, &format!("{word:>12}"));
    let name = style.paint(Ink::Strong, &style.tame(&test.full_name()));
    let what = style.paint(Ink::Dim, &figures(test));
    format!("{label} [{:>8.3}s] {name}  {what}\n", test.elapsed_s)
}

fn figures(test: &TestLine) -> String {
    let executions = count(test.executions, "execution");
    let figures = match &test.verdict {
        Verdict::Alone => "one thread".to_owned(),
        Verdict::Slow if test.executions > 0 => {
            "no execution finished within the step limit; raise --max-steps".to_owned()
        }
        Verdict::Slow if test.cut_short == 0 => {
            "not explored: time ran out; raise --time".to_owned()
        }
        Verdict::Slow => "no execution finished in time; raise --time".to_owned(),
        Verdict::Inconclusive(what) => what.clone(),
        Verdict::All if test.not_covered.is_empty() => {
            format!("all interleavings explored in {executions}")
        }
        Verdict::All => {
            let limits = test.not_covered.join(", ");
            format!("all interleavings explored in {executions} (not covered: {limits})")
        }
        Verdict::Complete => format!("search completed in {executions}"),
        Verdict::Passed | Verdict::Few => {
            let unfinished = if test.is_search { ", search not finished" } else { "" };
            let few = if test.verdict == Verdict::Few { ": too few to pass" } else { "" };
            let distinct = grouped(test.distinct_traces);
            format!("{executions}, {distinct} distinct{unfinished}{few}")
        }
        Verdict::Found(hits) => {
            let ids: Vec<&str> = hits.iter().map(|it| it.id.as_str()).collect();
            format!("{} in {executions}", ids.join(", "))
        }
        Verdict::Fails(_) => "fails with one thread; the schedule is not the cause".to_owned(),
        Verdict::Broken(_) => "can't be run".to_owned(),
    };
    let is_stable = test.stability >= 100.0 || test.executions == 0;
    let stability = if is_stable { String::new() } else { percent(test.stability) };
    if stability.is_empty() { figures } else { format!("{figures}, stability {stability}") }
}

/// What to say before the first test.
pub fn starting(n_tests: u64, n_binaries: u64, budget: &str, style: &Style) -> String {
    let label = style.paint(Ink::Good, &format!("{:>12}", "Exploring"));
    let binaries = if n_binaries == 1 { "binary" } else { "binaries" };
    format!("{label} {} in {n_binaries} {binaries}: {budget}\n", count(n_tests, "test"))
}

/// The last lines: what passed, what failed, and which those were.
pub fn summary(tests: &[TestLine], totals: &Totals, style: &Style) -> String {
    let n_of = |is: &dyn Fn(&TestLine) -> bool| tests.iter().filter(|it| is(it)).count() as u64;
    let n_passed = n_of(&|it| it.is_good());
    let n_alone = n_of(&|it| it.verdict == Verdict::Alone);
    let n_slow = n_of(&|it| it.verdict == Verdict::Slow);
    let n_few = n_of(&|it| it.verdict == Verdict::Few);
    let n_all = n_of(&|it| it.verdict == Verdict::All);
    let n_inconclusive = n_of(&|it| matches!(it.verdict, Verdict::Inconclusive(_)));
    let n_failed = tests.len() as u64 - n_passed - n_slow - n_few - n_inconclusive;
    let ink = if n_failed == 0 { Ink::Good } else { Ink::Error };
    let mut parts = vec![format!("{n_passed} passed")];
    let all = (n_all > 0).then(|| format!("{n_all} with all interleavings explored"));
    let alone = (n_alone > 0).then(|| format!("{n_alone} with one thread"));
    let details: Vec<String> = all.into_iter().chain(alone).collect();
    if !details.is_empty() {
        parts[0] += &format!(" ({})", details.join(", "));
    }
    parts.push(format!("{n_failed} failed"));
    if n_few > 0 {
        parts.push(format!("{n_few} executed too few times"));
    }
    if n_slow > 0 {
        parts.push(format!("{n_slow} too slow"));
    }
    if n_inconclusive > 0 {
        parts.push(format!("{n_inconclusive} inconclusive"));
    }
    parts.push(format!("{} skipped", totals.n_skipped));
    let executions = count(tests.iter().map(|it| it.executions).sum(), "execution");
    let mut text = format!("{}\n", style.rule().repeat(6));
    let label = style.paint(ink, &format!("{:>12}", "Summary"));
    let n_run = count(tests.len() as u64, "test");
    text += &format!(
        "{label} [{:>8.3}s] {n_run} explored in {executions}: {}\n",
        totals.elapsed_s,
        parts.join(", ")
    );
    for test in tests.iter().filter(|it| !it.is_good()) {
        text += &line(test, style);
    }
    if totals.is_interrupted {
        text += &format!("interrupted after {}\n", seconds(totals.elapsed_s));
    }
    text
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    pub(crate) fn tests() -> Vec<TestLine> {
        let test = |name: &str, verdict, executions, distinct_traces| TestLine {
            binary: "queue".into(),
            name: name.into(),
            verdict,
            executions,
            distinct_traces,
            cut_short: 0,
            stability: 100.0,
            elapsed_s: 0.25,
            not_covered: Vec::new(),
            is_search: false,
            is_provisional: false,
        };
        let hit = Hit {
            id: "dl-02c1".into(),
            kind: "deadlock".into(),
            message: "T1 waits for <a> & \"b\"".into(),
            text: "error[dl-02c1]\u{1b}\n".into(),
        };
        vec![
            test("plain", Verdict::Alone, 1, 1),
            test("pushes", Verdict::Passed, 2000, 312),
            test("pops", Verdict::Found(vec![hit]), 17, 9),
            TestLine { stability: 50.0, ..test("", Verdict::Fails("boom".into()), 1, 1) },
            TestLine { cut_short: 1, ..test("stress", Verdict::Slow, 0, 0) },
            TestLine { is_search: true, ..test("two", Verdict::All, 370, 370) },
            TestLine { is_search: true, ..test("ten", Verdict::Passed, 50_362, 50_000) },
            test("long", Verdict::Few, 12, 12),
            test("last", Verdict::Slow, 0, 0),
            test("waits", Verdict::Inconclusive("blocked for 10 s in `semop`".into()), 3, 1),
        ]
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::formats::json;

    #[test]
    fn lines_and_summary() {
        let totals = Totals { elapsed_s: 1.5, n_skipped: 2, is_interrupted: false };
        let style = Style::default();
        let tests = samples::tests();
        let lines: String = tests.iter().map(|it| line(it, &style)).collect();
        // A first line of its own, since what all lines are indented by is not compared.
        expect![[r#"
            tests
                    PASS [   0.250s] queue plain  one thread
                    PASS [   0.250s] queue pushes  2,000 executions, 312 distinct
                    FAIL [   0.250s] queue pops  dl-02c1 in 17 executions
                    FAIL [   0.250s] queue  fails with one thread; the schedule is not the cause, stability 50%
                    SLOW [   0.250s] queue stress  no execution finished in time; raise --time
                    PASS [   0.250s] queue two  all interleavings explored in 370 executions
                    PASS [   0.250s] queue ten  50,362 executions, 50,000 distinct, search not finished
                     FEW [   0.250s] queue long  12 executions, 12 distinct: too few to pass
                    SLOW [   0.250s] queue last  not explored: time ran out; raise --time
            INCONCLUSIVE [   0.250s] queue waits  blocked for 10 s in `semop`
        "#]]
        .assert_eq(&format!("tests\n{lines}"));
        expect![[r#"
            ────────────
                 Summary [   1.500s] 10 tests explored in 52,766 executions: 4 passed (1 with all interleavings explored, 1 with one thread), 2 failed, 1 executed too few times, 2 too slow, 1 inconclusive, 2 skipped
                    FAIL [   0.250s] queue pops  dl-02c1 in 17 executions
                    FAIL [   0.250s] queue  fails with one thread; the schedule is not the cause, stability 50%
                    SLOW [   0.250s] queue stress  no execution finished in time; raise --time
                     FEW [   0.250s] queue long  12 executions, 12 distinct: too few to pass
                    SLOW [   0.250s] queue last  not explored: time ran out; raise --time
            INCONCLUSIVE [   0.250s] queue waits  blocked for 10 s in `semop`
        "#]]
        .assert_eq(&summary(&tests, &totals, &style));
        expect![[r#"
            {"type":"test","version":1,"binary":"queue","name":"pops","verdict":{"found":[{"id":"dl-02c1","kind":"deadlock","message":"T1 waits for <a> & \"b\""}]},"executions":17,"distinct_traces":9,"cut_short":0,"stability":100.0,"elapsed_s":0.25}
        "#]]
        .assert_eq(&json::test(&tests[2]));
    }
}
