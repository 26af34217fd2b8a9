//! `cargo raddle test`: each test explored on its own, under a share of one budget.
//!
//! First every test runs once: those that have one thread are done by that. The others share the time
//! that is left: each may have as much as it would get if all that are still to come got the same, so
//! what one does not need is left to those after it. The first round may take half of the time; a test that
//! takes more than a quarter of what is left of that is given up, and tried again in the second. There it may
//! take longer than its share to end at least once, ten seconds at first and half as much after each that did not.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use raddle_explore::{
    Campaign, Found, Observer, Options, Outcome, Reproduced, Sameness, Store, StoredTarget, Target,
    Verdict as Replay, replay, store::RunEnd,
};
use raddle_launch::{
    Asked, Native, Symbols,
    cargo::{Artifacts, Cargo},
};
use raddle_model::{Explanation, Finding, Kind};
use raddle_report::{
    Shown, json, number,
    suite::{self, Hit, TestLine, Totals, Verdict},
    text,
};

use super::{
    split::Split,
    suite::{Test, Wanted, select},
    target,
};
use crate::{
    args::{Format, RunArgs},
    asked::with_asked,
    exit::{Exit, Failure},
    native::{self, Launch},
    record::Record,
    regressions, run, search, signals, stored,
    terminal::Terminal,
};

/// Executions of each test when nothing is said.
const DEFAULT_EXECUTIONS: u64 = 2_000;
/// Seconds for all of them when nothing is said.
const DEFAULT_SECONDS: u64 = 60;

/// Builds the tests and explores each of those that were asked for.
pub(super) fn test(
    cargo: &Cargo,
    split: &Split,
    args: &RunArgs,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let start = Instant::now();
    let filters: Vec<String> = args.sources.iter().map(|it| it.display().to_string()).collect();
    let wanted = Wanted::parse(&filters, &args.args).map_err(Failure::usage)?;
    let built = cargo.build(Artifacts::Tests, &split.cargo)?;
    if split.is_build_only {
        return Ok(Exit::Clean);
    }
    let (tests, n_skipped) = select(&built, &wanted)?;
    if tests.is_empty() {
        return Err(nothing(cargo, &filters, n_skipped));
    }
    let mut suite = Suite {
        args,
        terminal,
        budget: Budget::of(args),
        explored_for: Duration::ZERO,
        symbols: Symbols::new(),
    };
    suite.announce(cargo, &tests);
    let lines = suite.explore_all(&tests)?;
    let stop = signals::catch();
    let totals = Totals {
        elapsed_s: start.elapsed().as_secs_f64(),
        n_skipped,
        is_interrupted: stop.exit().is_some(),
    };
    let style = terminal.out_style;
    if args.common.message_format == Format::Human {
        terminal.out(&suite::summary(&lines, &totals, &style));
    }
    if let Some(path) = &split.junit {
        write_junit(path, &lines)?;
    }
    Ok(stop.exit().unwrap_or_else(|| exit(&lines, args.strict)))
}

fn nothing(cargo: &Cargo, filters: &[String], n_skipped: u64) -> Failure {
    let is_macro = !cargo.workspace.packages.is_empty()
        && cargo.workspace.packages.iter().all(|it| it.is_proc_macro);
    let line = match (filters, n_skipped) {
        (_, 0) if is_macro => {
            "a proc macro runs inside the compiler: there is nothing to explore".to_owned()
        }
        (_, 0) => "the crate has no tests".to_owned(),
        ([], _) => format!("no test is left: {n_skipped} are ignored (see `-- --ignored`)"),
        (filters, _) => {
            let filters = filters.join("`, `");
            format!("no test matches `{filters}`: {n_skipped} do not")
        }
    };
    Failure { exit: Exit::Baseline, words: String::new(), line }
}

fn write_junit(path: &Path, lines: &[TestLine]) -> Result<(), Failure> {
    std::fs::write(path, suite::junit(lines))
        .map_err(|error| Failure::usage(format!("--junit {}: {error}", path.display())))
}

fn exit(lines: &[TestLine], is_strict: bool) -> Exit {
    let any = |is: fn(&Verdict) -> bool| lines.iter().any(|it| is(&it.verdict));
    if any(|it| matches!(it, Verdict::Found(_))) {
        Exit::Findings
    } else if any(|it| matches!(it, Verdict::Fails(_) | Verdict::Broken(_))) {
        Exit::Baseline
    } else if is_strict
        && lines.iter().any(|it| it.stability < 100.0 || it.verdict == Verdict::Slow)
    {
        Exit::Inconclusive
    } else {
        Exit::Clean
    }
}

/// However many tests are slow, each may take so much longer than its share to end once.
const PATIENCE_MIN: Duration = Duration::from_millis(500);

/// What all tests share.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Executions of each.
    executions: Option<u64>,
    /// The time of all together.
    time: Option<Duration>,
}

impl Budget {
    fn of(args: &RunArgs) -> Budget {
        if args.is_default_budget() {
            let time = Some(Duration::from_secs(DEFAULT_SECONDS));
            return Budget { executions: Some(DEFAULT_EXECUTIONS), time };
        }
        let (executions, time) = args.limits();
        Budget { executions, time }
    }

    fn text(&self) -> String {
        let executions =
            self.executions.map(|it| format!("{} each", number::count(it, "execution")));
        let time = self.time.map(|it| format!("{} for all", number::seconds(it.as_secs_f64())));
        executions.into_iter().chain(time).collect::<Vec<_>>().join(" or ")
    }
}

struct Suite<'a> {
    args: &'a RunArgs,
    terminal: &'a mut Terminal,
    budget: Budget,
    /// How much of its time is spent. Explaining what one test shows is not taken from the others.
    explored_for: Duration,
    symbols: Symbols,
}

/// What came of a test.
enum Explored {
    Campaign(Box<Outcome>),
    /// It asked for one schedule, and no other.
    Replayed(Verdict),
}

/// How long one test may go on.
#[derive(Clone, Copy, Debug)]
struct Share {
    executions: Option<u64>,
    time: Option<Duration>,
    /// How much longer it may take to end once.
    patience: Duration,
    is_kept: bool,
}

impl Suite<'_> {
    fn announce(&mut self, cargo: &Cargo, tests: &[Test]) {
        if self.args.common.message_format == Format::Json {
            return;
        }
        let style = self.terminal.error_style;
        let mut harnesses: Vec<&Path> = tests.iter().map(|it| &*it.built.executable).collect();
        harnesses.dedup();
        let budget = format!("{}, seed {}", self.budget.text(), self.args.seed);
        let (n_tests, n_harnesses) = (tests.len() as u64, harnesses.len() as u64);
        self.terminal.note(&suite::starting(n_tests, n_harnesses, &budget, &style));
        if cargo.workspace.packages.iter().any(|it| it.has_doc_tests) {
            self.terminal
                .note("note: tests in documentation are not explored: `cargo test --doc`\n");
        }
    }

    /// In two rounds: once, then those that have several threads.
    fn explore_all(&mut self, tests: &[Test]) -> Result<Vec<TestLine>, Failure> {
        let mut lines: Vec<Option<TestLine>> = Vec::new();
        let start = Instant::now();
        for test in tests {
            if signals::catch().exit().is_some() {
                lines.push(None);
                continue;
            }
            let time = self.budget.time.map(|it| (it / 2).saturating_sub(start.elapsed()) / 4);
            let patience = PATIENCE_MIN;
            let once = Share { executions: Some(1), time, patience, is_kept: false };
            let line = self.explore(test, once)?;
            lines.push((!is_open(&line)).then_some(line));
        }
        self.explored_for = start.elapsed();
        let open: Vec<usize> = (0..tests.len()).filter(|idx| lines[*idx].is_none()).collect();
        let mut patience = Options::PATIENCE;
        for (n_done, idx) in open.iter().enumerate() {
            if signals::catch().exit().is_some() {
                break;
            }
            let n_left = (open.len() - n_done) as u32;
            let time = self.budget.time.map(|it| it.saturating_sub(self.explored_for) / n_left);
            let share = Share { executions: self.budget.executions, time, patience, is_kept: true };
            let line = self.explore(&tests[*idx], share)?;
            if line.verdict == Verdict::Slow {
                patience = (patience / 2).max(PATIENCE_MIN);
            }
            lines[*idx] = Some(line);
        }
        Ok(lines.into_iter().flatten().collect())
    }

    /// Explores one test. What is settled is told.
    fn explore(&mut self, test: &Test, share: Share) -> Result<TestLine, Failure> {
        let stored =
            StoredTarget { args: test.args.clone(), ..target(&test.built, &self.args.conditions) };
        let start = Instant::now();
        let explored = self.campaign(test, &stored, share);
        let mut line = TestLine {
            binary: test.built.id(),
            name: test.name.clone(),
            verdict: Verdict::Passed,
            executions: 0,
            distinct_traces: 0,
            stability: 100.0,
            elapsed_s: start.elapsed().as_secs_f64(),
        };
        match explored {
            Ok(Explored::Replayed(verdict)) => (line.verdict, line.executions) = (verdict, 1),
            Ok(Explored::Campaign(outcome)) => {
                self.judge(&outcome, &mut line);
                if share.is_kept {
                    self.explored_for += outcome.elapsed;
                    self.warn(&outcome, &line);
                }
            }
            Err(failure) if failure.exit == Exit::Bug => return Err(failure),
            Err(failure) => line.verdict = Verdict::Broken(failure.line),
        }
        if share.is_kept || !is_open(&line) {
            self.tell(&line);
        }
        Ok(line)
    }

    /// The test asks for the schedule of a finding (`raddle::replay`): what comes of it.
    fn replay(&mut self, native: &Native, id: &str) -> Result<Verdict, Failure> {
        let known = stored::find(&self.args.common, id)?;
        let mut session = native.open()?;
        let verdict = replay(
            &mut *session,
            &known.finding,
            &mut self.symbols,
            known.info.exit_is_fine,
            Sameness::Functions,
        )?;
        let finding = match verdict {
            Replay::Reproduced { finding, .. } => Some(finding),
            Replay::Diverged { finding, .. } => finding,
            Replay::Gone => None,
        };
        Ok(finding.map_or(Verdict::Passed, |finding| {
            let text = self.text(&finding, id, None, None);
            let (kind, message) = (finding.kind.word().to_owned(), finding.message.clone());
            Verdict::Found(vec![Hit { id: id.to_owned(), kind, message, text }])
        }))
    }

    fn campaign(
        &mut self,
        test: &Test,
        stored: &StoredTarget,
        share: Share,
    ) -> Result<Explored, Failure> {
        raddle_launch::inspect(&stored.program)?.require_hooks()?;
        let stop = signals::catch();
        let native = native::open(Launch {
            program: stored.program.clone(),
            target: stored,
            carrier: self.args.conditions.carrier.into(),
            is_fresh: self.args.conditions.fresh,
            checkpoints: 0,
            events: None,
            stop: Arc::clone(stop.flag()),
        })?;
        let asked = if share.is_kept { native.asked()? } else { Asked::default() };
        if let Some(id) = &asked.replay {
            return self.replay(&native, id).map(Explored::Replayed);
        }
        let args = &with_asked(self.args, &asked)?;
        let is_asked = self.args.is_default_budget() && !args.is_default_budget();
        let options = Options {
            executions: if is_asked { args.execs } else { share.executions },
            time: if is_asked { args.time.or(share.time) } else { share.time },
            patience: share.patience,
            n_alone: test.n_alone,
            jobs: if share.is_kept { self.args.n_jobs() } else { 1 },
            ..run::options(args, search::options(args, 0, None)?)
        };
        let mut campaign = Campaign::new(&native, options);
        if !share.is_kept {
            let outcome = campaign.run(&mut self.symbols, &mut Nobody, stop.flag())?;
            return Ok(Explored::Campaign(Box::new(outcome)));
        }
        let store = Store::at(&self.args.common.store);
        let (record, mut ids) = Record::begin(&store, run::info(args, stored), self.terminal);
        let mut keeper = Keeper { record, terminal: &mut *self.terminal };
        let format = self.args.common.message_format;
        let first = regressions::run_all(args, stored, &native, &mut self.symbols, &mut |ran| {
            ran.tell(format, keeper.terminal);
            if let Some(found) = &ran.found {
                keeper.confirmed(found);
            }
        })?;
        if regressions::is_enough(args, &first.findings) {
            keeper.record.finish(RunEnd::of(&first), keeper.terminal);
            return Ok(Explored::Campaign(Box::new(first)));
        }
        regressions::take_ids(&first.findings, &mut ids);
        campaign = campaign.with_ids(ids);
        let mut outcome = campaign.run(&mut self.symbols, &mut keeper, stop.flag())?;
        regressions::add_to(&mut outcome, first.findings);
        keeper.record.finish(RunEnd::of(&outcome), keeper.terminal);
        Ok(Explored::Campaign(Box::new(outcome)))
    }

    fn judge(&mut self, outcome: &Outcome, line: &mut TestLine) {
        line.executions = outcome.executions;
        line.distinct_traces = outcome.distinct_traces;
        line.stability = outcome.stability;
        if let Some(finding) = &outcome.baseline_failure {
            let text = self.text(finding, "", None, None);
            line.verdict = Verdict::Fails(format!("{}: {}", finding.kind.title(), finding.message));
            self.terminal.out(&text);
        } else if !outcome.findings.is_empty() {
            let hits = outcome.findings.iter().map(|it| self.hit(it)).collect();
            line.verdict = Verdict::Found(hits);
        } else if outcome.executions == 0 {
            line.verdict = Verdict::Slow;
        } else if outcome.single_threaded {
            line.verdict = Verdict::Alone;
        }
    }

    /// Says what was not under control.
    fn warn(&mut self, outcome: &Outcome, line: &TestLine) {
        for it in &outcome.uncontrolled {
            let times = number::count(it.count, "time");
            self.terminal.warning(&format!("{}: {}, {times}", line.full_name(), it.what));
        }
    }

    fn hit(&mut self, found: &Found) -> Hit {
        let Reproduced { n, m } = found.reproduced;
        let reproduced = (m > 0).then_some(json::Reproduced { n, of: m });
        Hit {
            id: found.id.clone(),
            kind: found.finding.kind.word().to_owned(),
            message: found.finding.message.clone(),
            text: self.text(&found.finding, &found.id, reproduced, found.explanation.as_deref()),
        }
    }

    fn text(
        &mut self,
        finding: &Finding,
        id: &str,
        reproduced: Option<json::Reproduced>,
        explanation: Option<&Explanation>,
    ) -> String {
        let base = run::here();
        let seed = Some(self.args.seed);
        let shown = Shown { finding, id, seed, reproduced, base: &base, explanation };
        if self.args.common.message_format == Format::Json {
            return json::finding(&shown);
        }
        let symbols = &mut self.symbols;
        let mut source_line = |place: &_| symbols.source_line(place);
        text::finding(&shown, &self.terminal.out_style, &mut source_line) + "\n"
    }

    fn tell(&mut self, line: &TestLine) {
        let texts: String = match &line.verdict {
            Verdict::Found(hits) => hits.iter().map(|it| it.text.as_str()).collect(),
            Verdict::Broken(why) => format!("error: {why}\n"),
            _ => String::new(),
        };
        let style = self.terminal.out_style;
        if self.args.common.message_format == Format::Json {
            self.terminal.out(&(texts + &suite::test_json(line)));
        } else {
            self.terminal.out(&(suite::line(line, &style) + &texts));
        }
    }
}

/// May more executions show more?
fn is_open(line: &TestLine) -> bool {
    matches!(line.verdict, Verdict::Passed | Verdict::Found(_) | Verdict::Slow)
}

/// Nothing is kept of an execution that only tells what kind of test it is.
struct Nobody;

impl Observer for Nobody {}

/// Keeps what is found.
struct Keeper<'a> {
    record: Record,
    terminal: &'a mut Terminal,
}

impl Observer for Keeper<'_> {
    fn finding(&mut self, finding: &Finding, id: &str) {
        if finding.kind == Kind::Hang {
            // Nobody runs a hang again to confirm it.
            self.record.add(id, finding, Reproduced::default(), self.terminal);
        }
    }

    fn confirmed(&mut self, found: &Found) {
        self.record.add_found(found, self.terminal);
    }
}
