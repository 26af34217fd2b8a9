//! `cargo raddle test`: each test explored on its own, under a share of one budget.
//!
//! The tests take turns, in three rounds ([`Round`]): first every test runs once, and those that have one thread are
//! done by that. Then each of the others gets as many executions as it needs to pass, and only then any gets many. In
//! each round a test may have as much time as it would get if all that are still to come got the same, so what one
//! does not need is left to those after it; an execution that takes longer is ended. When time is over, what was not
//! run is not run.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use raddle_explore::{
    Campaign, CampaignEvent, Focus, Found, Ids, Observer, Options, Outcome, Sameness, Store,
    StoredTarget, Target, Until, Verdict as Replay, replay, store::RunEnd,
};
use raddle_launch::{
    Asked, Native, Symbols,
    cargo::{Artifacts, Built, Cargo},
};
use raddle_model::{Explanation, Finding, Gap, Reproduced};
use raddle_report::{
    Shown,
    campaign::suite::{self, Hit, TestLine, Totals, Verdict},
    finding::text,
    formats::{self, json},
    layout::number,
    words::{escape, fault},
};

use super::{
    partition::Member,
    split::Split,
    suite::{Test, Wanted, select},
    target,
};
use crate::{
    args::{Format, RunArgs},
    asked::with_asked,
    ci::Seen,
    exit::{Exit, Failure},
    focus,
    native::{self, Launch},
    record::Record,
    regressions, run, signals, stored,
    terminal::{Terminal, here},
};

/// Executions of each test when nothing is said.
const DEFAULT_EXECUTIONS: u64 = 2_000;
/// Seconds for all of them when nothing is said.
const DEFAULT_SECONDS: u64 = 60;
/// Executions that a test with several threads needs to pass. Nobody gets more before all have had these.
const EXECUTIONS_MIN: u64 = 50;
/// However short a test's share of the time is, explaining what it shows may take so long.
const EXPLAIN_MIN: Duration = Duration::from_secs(1);

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
    run::require_file("--junit", split.junit.as_deref())?;
    let built = cargo.build(Artifacts::Tests, &split.cargo)?;
    if split.is_build_only {
        return Ok(Exit::Clean);
    }
    let focus = focus::focus(args)?;
    let (mut tests, mut n_skipped) = select(&built, &wanted)?;
    if tests.is_empty() {
        return Err(nothing(cargo, &filters, n_skipped));
    }
    if let Some(partition) = split.partition {
        let n_all = tests.len();
        let (mut n_before, mut harnesses) = (0, BTreeMap::<String, u64>::new());
        tests.retain(|it| {
            let n_in_harness = harnesses.entry(it.built.id()).or_default();
            let name = &unexplored(it).full_name();
            let is_in = partition.has(&Member { name, n_in_harness: *n_in_harness, n_before });
            (*n_in_harness, n_before) = (*n_in_harness + 1, n_before + 1);
            is_in
        });
        n_skipped += (n_all - tests.len()) as u64;
    }
    let mut suite = Suite {
        args,
        split,
        terminal,
        budget: Budget::of(args),
        start: Instant::now(),
        symbols: Symbols::new(),
        invocation: Store::new_invocation(),
        has_run: false,
        focus,
        unkept: BTreeMap::new(),
        seen: Seen::default(),
    };
    suite.announce(cargo, &tests);
    suite.tell_left_out(&built);
    let lines = suite.explore_all(&tests)?;
    suite.store_run_of_none(&tests, &lines);
    let seen = suite.seen;
    terminal.note(&args.known.note(&seen));
    if let Some(file) = &args.write_baseline {
        seen.write(file)?;
    }
    let stop = signals::catch();
    let totals = Totals {
        elapsed_s: start.elapsed().as_secs_f64(),
        n_skipped,
        is_interrupted: stop.exit().is_some(),
    };
    let style = terminal.out_style;
    if args.common.message_format != Format::Json {
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
            "proc macros run inside the compiler and can't be explored".to_owned()
        }
        (_, 0) => "the crate has no tests".to_owned(),
        ([], _) => format!("all tests are ignored ({n_skipped}); `-- --ignored` includes them"),
        (filters, _) => {
            let filters = filters.join("`, `");
            format!("no test matches `{filters}` ({n_skipped} filtered out)")
        }
    };
    Failure { exit: Exit::Baseline, words: String::new(), line }
}

fn write_junit(path: &Path, lines: &[TestLine]) -> Result<(), Failure> {
    std::fs::write(path, formats::junit_of_suite(lines))
        .map_err(|error| Failure::usage(format!("--junit {}: {error}", path.display())))
}

fn exit(lines: &[TestLine], is_strict: bool) -> Exit {
    let any = |is: fn(&Verdict) -> bool| lines.iter().any(|it| is(&it.verdict));
    if any(|it| matches!(it, Verdict::Found(_))) {
        Exit::Findings
    } else if any(|it| matches!(it, Verdict::Fails(_) | Verdict::Broken(_))) {
        Exit::Baseline
    } else if any(|it| matches!(it, Verdict::Slow | Verdict::Inconclusive(_)))
        || is_strict && lines.iter().any(is_weak)
    {
        Exit::Inconclusive
    } else {
        Exit::Clean
    }
}

/// Does it say less than that the test passes?
fn is_weak(line: &TestLine) -> bool {
    line.stability < 100.0 || line.verdict == Verdict::Few
}

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
    split: &'a Split,
    terminal: &'a mut Terminal,
    budget: Budget,
    /// When the first test began.
    start: Instant,
    symbols: Symbols,
    /// What its runs have in common, so that `raddle report` takes them as one.
    invocation: String,
    /// Is any of them stored?
    has_run: bool,
    /// Where to look first.
    focus: Focus,
    /// What tests have shown in their first execution, until a later turn keeps it.
    unkept: BTreeMap<String, (StoredTarget, Box<Outcome>)>,
    /// What tests have shown, known findings too.
    seen: Seen,
}

/// What came of a test.
enum Explored {
    Campaign(Box<Outcome>),
    /// It asked for one schedule, and no other.
    Replayed(Verdict),
}

/// A finding that is to be told.
#[derive(Clone, Copy)]
struct Text<'a> {
    finding: &'a Finding,
    id: &'a str,
    reproduced: Option<Reproduced>,
    explanation: Option<&'a Explanation>,
    test: Option<&'a str>,
}

/// How long one test may go on.
#[derive(Clone, Copy, Debug)]
struct Share {
    executions: Option<u64>,
    time: Option<Duration>,
    round: Round,
}

/// A turn of each test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    /// One execution, to see what kind of test it is. What it shows is kept if there is no other turn.
    Once,
    /// As many as it needs to pass.
    Some,
    /// As many as there is time for.
    Many,
}

impl Suite<'_> {
    fn announce(&mut self, cargo: &Cargo, tests: &[Test]) {
        if self.args.common.message_format == Format::Json {
            return;
        }
        if let Some(note) = self.args.jobs_note() {
            self.terminal.warning(&note);
        }
        let style = self.terminal.error_style;
        let mut harnesses: Vec<&Path> = tests.iter().map(|it| &*it.built.executable).collect();
        harnesses.dedup();
        let budget = format!("{}, seed {}", self.budget.text(), self.args.seed());
        let (n_tests, n_harnesses) = (tests.len() as u64, harnesses.len() as u64);
        self.terminal.note(&suite::starting(n_tests, n_harnesses, &budget, &style));
        if cargo.workspace.packages.iter().any(|it| it.has_doc_tests) {
            self.terminal
                .note("note: documentation tests are not explored; run `cargo test --doc`\n");
        }
    }

    fn tell_left_out(&mut self, built: &[Built]) {
        for it in built.iter().filter(|it| it.is_test && it.is_proc_macro()) {
            self.terminal.note(&format!(
                "note: unit tests of proc macros run inside the compiler and are not explored; run `cargo test -p {}`\n",
                it.package.name
            ));
        }
    }

    /// In three rounds. What has no turn any more is told when the last one is over.
    fn explore_all(&mut self, tests: &[Test]) -> Result<Vec<TestLine>, Failure> {
        let mut lines: Vec<TestLine> = tests.iter().map(unexplored).collect();
        for round in [Round::Once, Round::Some, Round::Many] {
            let open = |idx: &usize| self.is_open(&lines[*idx]);
            let mut open: Vec<usize> = (0..tests.len()).filter(open).collect();
            // Whoever has had least comes first: if time ends, it ends for those who have had most.
            open.sort_by_key(|idx| lines[*idx].executions);
            for (n_done, idx) in open.iter().enumerate() {
                if signals::catch().exit().is_some() {
                    break;
                }
                let n_left = (open.len() - n_done) as u32;
                let Some(share) = self.share(round, n_left, &lines[*idx]) else { continue };
                let line = self.explore(&tests[*idx], share)?;
                lines[*idx] = after(&lines[*idx], line);
                if !self.is_open(&lines[*idx]) {
                    self.tell(&lines[*idx]);
                }
            }
        }
        self.retry(tests, &mut lines)?;
        if signals::catch().exit().is_some() {
            lines.retain(|it| it.executions > 0);
        }
        for line in &lines {
            if line.is_provisional {
                self.keep(&line.full_name());
            }
            if self.is_open(line) {
                self.tell(line);
            }
        }
        Ok(lines)
    }

    /// Tests that failed without a schedule that shows it may have had bad luck with the machine: once more, `--retries`
    /// times. What a schedule shows was run again already, and is no matter of luck.
    fn retry(&mut self, tests: &[Test], lines: &mut [TestLine]) -> Result<(), Failure> {
        for _ in 0..self.split.n_retries {
            for (test, line) in tests.iter().zip(&mut *lines) {
                let is_over = signals::catch().exit().is_some();
                let is_failed = matches!(
                    line.verdict,
                    Verdict::Fails(_) | Verdict::Broken(_) | Verdict::Inconclusive(_)
                );
                let Some(share) =
                    self.share(Round::Some, 1, line).filter(|_| is_failed && !is_over)
                else {
                    continue;
                };
                let again = self.explore(test, share)?;
                *line = TestLine { elapsed_s: line.elapsed_s + again.elapsed_s, ..again };
                if !self.is_open(line) {
                    self.tell(line);
                }
            }
        }
        Ok(())
    }

    /// Keeps what a test has shown in its only execution.
    fn keep(&mut self, test: &str) {
        let Some((stored, outcome)) = self.unkept.remove(test) else { return };
        let (mut record, _) = self.begin(self.args, &stored);
        for found in &outcome.findings {
            record.add_found(found, self.terminal);
        }
        record.finish(RunEnd::of(&outcome), self.terminal);
    }

    /// Begins a run of this suite.
    fn begin(&mut self, args: &RunArgs, stored: &StoredTarget) -> (Record, Ids) {
        self.has_run = true;
        let store = stored::store(&self.args.common.store);
        let mut info = run::info(args, stored);
        info.invocation.get_or_insert_with(|| self.invocation.clone());
        Record::begin(&store, info, self.terminal)
    }

    /// If no test was worth a run, because all have one thread: one for all, or a report would be about what was
    /// stored before.
    fn store_run_of_none(&mut self, tests: &[Test], lines: &[TestLine]) {
        let Some(first) = tests.first().filter(|_| !self.has_run) else { return };
        let stored = target(&first.built, self.split, &self.args.conditions);
        let (mut record, _) = self.begin(self.args, &stored);
        let mut end = RunEnd::default();
        end.figures.executions = lines.iter().map(|it| it.executions).sum();
        end.figures.elapsed = self.start.elapsed();
        end.figures.stability = 100.0;
        end.figures.single_threaded = lines.iter().all(|it| it.verdict == Verdict::Alone);
        record.finish(end, self.terminal);
    }

    /// What a test gets in a round, if so many are still to come; nothing, if more of it would tell no more.
    fn share(&self, round: Round, n_left: u32, line: &TestLine) -> Option<Share> {
        let executions = match round {
            Round::Once => Some(1),
            Round::Some => Some(EXECUTIONS_MIN.min(self.budget.executions.unwrap_or(u64::MAX))),
            Round::Many => self.budget.executions,
        };
        let Some(all) = self.budget.time else {
            return Some(Share { executions, time: None, round });
        };
        // The first round takes no more than half of the time, and no test of it more than an eighth of that.
        let all = if round == Round::Once { all / 2 } else { all };
        let left = all.checked_sub(self.start.elapsed()).filter(|it| !it.is_zero())?;
        let equal = left / n_left;
        let time = if round == Round::Once { equal.max(left / 8) } else { equal };
        // It begins again from its first execution: with as much time it would not come further than it has.
        let is_less = round == Round::Many && time.as_secs_f64() < 2.0 * line.elapsed_s;
        (!is_less).then_some(Share { executions, time: Some(time), round })
    }

    /// May more executions show more?
    fn is_open(&self, line: &TestLine) -> bool {
        let has_room = self.budget.executions.is_none_or(|it| line.executions < it);
        match &line.verdict {
            Verdict::Slow => true,
            Verdict::Passed | Verdict::Few => has_room,
            Verdict::Found(_) => line.is_provisional || has_room && self.args.keep_going,
            // It waited in the same place each time: more of that says no more.
            Verdict::Inconclusive(_) => line.is_provisional,
            Verdict::Alone | Verdict::All | Verdict::Complete => false,
            Verdict::Fails(_) | Verdict::Broken(_) => false,
        }
    }

    /// When all must be over.
    fn deadline(&self) -> Option<Instant> {
        self.budget.time.map(|it| self.start + it)
    }

    /// Explores one test.
    fn explore(&mut self, test: &Test, share: Share) -> Result<TestLine, Failure> {
        let is_provisional = share.round == Round::Once;
        let mut line = TestLine { is_provisional, ..unexplored(test) };
        let stored = StoredTarget {
            args: test.args.clone(),
            test: Some(line.full_name()),
            ..target(&test.built, self.split, &self.args.conditions)
        };
        let start = Instant::now();
        let explored = self.campaign(test, &stored, share);
        line.elapsed_s = start.elapsed().as_secs_f64();
        let test = stored.test.as_deref();
        match explored {
            Ok(Explored::Replayed(verdict)) => (line.verdict, line.executions) = (verdict, 1),
            Ok(Explored::Campaign(mut outcome)) => {
                self.seen.add(&outcome.findings);
                outcome.findings.retain(|it| !self.args.known.knows(&it.id));
                self.judge(&outcome, &mut line, test);
                if share.round != Round::Once {
                    self.warn(&outcome, &line, test);
                }
            }
            Err(failure) if failure.exit == Exit::Bug => return Err(failure),
            Err(failure) => line.verdict = Verdict::Broken(failure.line),
        }
        Ok(line)
    }

    /// The test asks for the schedule of a finding (`raddle::replay`): what comes of it.
    fn replay(
        &mut self,
        native: &Native,
        id: &str,
        test: Option<&str>,
    ) -> Result<Verdict, Failure> {
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
            let found = Text { finding: &finding, id, reproduced: None, explanation: None, test };
            let text = self.text(&found);
            let (kind, message) = (finding.kind.word().to_owned(), fault::line(&finding));
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
        let is_kept = share.round != Round::Once;
        let until = Until::at(self.deadline());
        let asked = if is_kept { native.asked(&until)? } else { Asked::default() };
        if let Some(id) = &asked.replay {
            return self.replay(&native, id, stored.test.as_deref()).map(Explored::Replayed);
        }
        let args = &with_asked(self.args, &asked)?;
        let is_asked = self.args.is_default_budget() && !args.is_default_budget();
        let mut options = Options {
            // A test that always fails needs no schedule.
            until_first: true,
            executions: if is_asked { args.execs } else { share.executions },
            time: if is_asked { args.time.or(share.time) } else { share.time },
            deadline: self.deadline(),
            n_alone: test.n_alone,
            jobs: if is_kept { self.args.n_jobs() } else { 1 },
            focus: self.focus.clone(),
            ..run::options(args, focus::method(args, &self.focus)?)
        };
        if let (Some(explain), Some(time)) = (&mut options.explain, share.time) {
            // What one test shows is not explained in the time of the others.
            explain.time = explain.time.min(time.max(EXPLAIN_MIN));
        }
        let mut campaign = Campaign::new(&native, options);
        let store = stored::store(&self.args.common.store);
        if !is_kept {
            campaign = campaign.with_ids(store.ids().unwrap_or_default());
            let outcome = Box::new(campaign.run(&mut self.symbols, &mut (), stop.flag())?);
            if !outcome.findings.is_empty() {
                let name = stored.test.clone().unwrap_or_default();
                self.unkept.insert(name, (stored.clone(), outcome.clone()));
            }
            return Ok(Explored::Campaign(outcome));
        }
        let (record, mut ids) = self.begin(args, stored);
        let mut keeper = Keeper { record, terminal: &mut *self.terminal };
        let format = self.args.common.message_format;
        let first =
            regressions::run_all(args, stored, &native, &until, &mut self.symbols, &mut |ran| {
                ran.tell(format, keeper.terminal);
                if let Some(found) = &ran.found {
                    keeper.see(CampaignEvent::Confirmed(found));
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

    fn judge(&mut self, outcome: &Outcome, line: &mut TestLine, test: Option<&str>) {
        line.executions = outcome.figures.executions;
        line.distinct_traces = outcome.figures.distinct_traces;
        line.stability = outcome.figures.stability;
        line.cut_short = outcome.figures.n_cut_short;
        line.is_search = outcome.search.is_some();
        line.not_covered = outcome.gaps.iter().map(Gap::name).collect();
        if let Some(finding) = &outcome.baseline_failure {
            let found = Text { finding, id: "", reproduced: None, explanation: None, test };
            let text = self.text(&found);
            line.verdict =
                Verdict::Fails(format!("{}: {}", finding.kind.title(), fault::line(finding)));
            self.terminal.out(&text);
        } else if outcome.findings.iter().any(|it| !it.finding.is_warning()) {
            let hits = outcome.findings.iter().map(|it| self.hit(it, test)).collect();
            line.verdict = Verdict::Found(hits);
        } else if let (0, Some(it)) = (outcome.n_ended(), outcome.inconclusive.first()) {
            line.verdict = Verdict::Inconclusive(fault::standstill(&it.why));
        } else if outcome.n_ended() == 0 {
            line.verdict = Verdict::Slow;
        } else if outcome.figures.single_threaded {
            line.verdict = Verdict::Alone;
        } else if outcome.is_complete()
            && outcome.findings.is_empty()
            && !outcome.has_hidden_failures()
        {
            let is_all = outcome.is_exhaustive();
            line.verdict = if is_all { Verdict::All } else { Verdict::Complete };
        } else if outcome.figures.executions < EXECUTIONS_MIN {
            line.verdict = Verdict::Few;
        } else {
            line.verdict = Verdict::Passed;
        }
    }

    /// Says what was not under control.
    fn warn(&mut self, outcome: &Outcome, line: &TestLine, test: Option<&str>) {
        if !matches!(line.verdict, Verdict::Found(_)) {
            let texts: String = outcome.findings.iter().map(|it| self.hit(it, test).text).collect();
            self.terminal.out(&texts);
        }
        for it in &outcome.inconclusive {
            let executions = number::count(it.count, "execution");
            self.terminal.warning(&format!(
                "{}: {executions} inconclusive: {}",
                line.full_name(),
                fault::standstill(&it.why)
            ));
        }
        for it in &outcome.uncontrolled {
            let times = number::count(it.count, "time");
            self.terminal.warning(&format!(
                "{}: {}, {times}",
                line.full_name(),
                escape::words(it.what)
            ));
        }
    }

    fn hit(&mut self, found: &Found, test: Option<&str>) -> Hit {
        let reproduced = found.reproduced.if_tried();
        let Found { finding, id, .. } = found;
        let explanation = found.explanation.as_deref();
        Hit {
            id: id.clone(),
            kind: finding.kind.word().to_owned(),
            message: fault::line(finding),
            text: self.text(&Text { finding, id, reproduced, explanation, test }),
        }
    }

    fn text(&mut self, text: &Text<'_>) -> String {
        let base = here();
        let seed = Some(self.args.seed());
        let Text { finding, id, reproduced, explanation, test } = *text;
        let shown = Shown { finding, id, seed, reproduced, base: &base, explanation, test };
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
            self.terminal.out(&(texts + &json::test(line)));
        } else {
            self.terminal.out(&(suite::line(line, &style) + &texts));
        }
    }
}

/// A test that had no turn yet.
fn unexplored(test: &Test) -> TestLine {
    TestLine {
        binary: test.built.id(),
        name: test.name.clone(),
        verdict: Verdict::Slow,
        executions: 0,
        distinct_traces: 0,
        cut_short: 0,
        stability: 100.0,
        elapsed_s: 0.0,
        not_covered: Vec::new(),
        is_search: false,
        is_provisional: true,
    }
}

/// What is known of a test after one more turn. A turn that came less far than the one before tells nothing.
fn after(before: &TestLine, now: TestLine) -> TestLine {
    let has_news = !matches!(now.verdict, Verdict::Passed | Verdict::Few | Verdict::Slow);
    let is_more = has_news || before.executions <= now.executions;
    let elapsed_s = before.elapsed_s + now.elapsed_s;
    TestLine { elapsed_s, ..if is_more { now } else { before.clone() } }
}

/// Keeps what is found.
struct Keeper<'a> {
    record: Record,
    terminal: &'a mut Terminal,
}

impl Observer for Keeper<'_> {
    fn see(&mut self, event: CampaignEvent<'_>) {
        if let CampaignEvent::Confirmed(found) = event {
            self.record.add_found(found, self.terminal);
        }
    }
}
