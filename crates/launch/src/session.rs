//! Runs blocks of executions on a fork server.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use raddle_explore::{
    coverage::covered,
    target::{Block, BlockResult, Execution, Session, TargetError, Uncontrolled},
};
use raddle_model::{End, OpKind, OpResult, Plan, Timeouts};
use raddle_trace::{Ask, Entry, Module, PAIRS_MAX, SeenRace, Summary, Trace};

use crate::{
    checkpoints::{Checkpoints, Start},
    native::NativeOptions,
    runtime::RUNTIME_NAME,
    server::{Reply, Server},
    symbols::{Symbols, type_name},
    watchdog::{self, Watchdog},
};

/// How long a program may take to reach `main`.
const START_TIME: Duration = Duration::from_secs(30);
/// How often the watchdog looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Output kept of an execution.
const OUTPUT_KEPT: usize = 64 << 10;
/// How long a block may still take when nobody wants more: what it has found is better kept.
const GRACE: Duration = Duration::from_millis(400);
/// How the runtime ends when it has a bug.
const BUG_CODE: i32 = 70;

/// See the module.
#[derive(Debug)]
pub(crate) struct NativeSession {
    options: NativeOptions,
    server: Server,
    symbols: Symbols,
    checkpoints: Checkpoints,
    /// What the last plan said, without its prefix; and how many different ones there have been.
    last_plan: Option<Plan>,
    n_plans: u32,
    /// The program's, as they were when executions were last told in brief.
    modules: Arc<[Module]>,
    /// Processes that the kernel had killed for want of memory, when we last looked.
    n_kernel_kills: u64,
    /// Set when nobody wants what runs.
    given_up: Arc<AtomicBool>,
}

impl NativeSession {
    /// Starts a server and waits until the program stands before `main`.
    pub(crate) fn open(options: &NativeOptions) -> Result<NativeSession, TargetError> {
        let server = Server::start(options).map_err(|error| {
            TargetError::Unusable(format!(
                "`{}` can't be started: {error}",
                options.program.display()
            ))
        })?;
        let mut session = NativeSession {
            options: options.clone(),
            server,
            symbols: Symbols::new(),
            checkpoints: Checkpoints::new(options.checkpoints, options.checkpoint_gap),
            last_plan: None,
            n_plans: 0,
            modules: Arc::default(),
            n_kernel_kills: watchdog::kernel_kills(),
            given_up: Arc::default(),
        };
        session.await_main()?;
        Ok(session)
    }

    fn await_main(&mut self) -> Result<(), TargetError> {
        let start = Instant::now();
        loop {
            match self.server.wait(LOOK_EVERY) {
                Reply::Done => return Ok(()),
                Reply::Waiting if self.options.stop.load(Relaxed) => {
                    return Err(TargetError::Stopped);
                }
                Reply::Waiting if start.elapsed() < START_TIME => {}
                Reply::Waiting => {
                    let seconds = START_TIME.as_secs();
                    return Err(TargetError::Baseline(format!(
                        "`{}` did not reach main in {seconds} s",
                        self.options.program.display()
                    )));
                }
                Reply::Gone => return Err(self.ended_before_main()),
            }
        }
    }

    fn ended_before_main(&mut self) -> TargetError {
        let status = self.server.exit_status().ok();
        let output = self.server.output(OUTPUT_KEPT).unwrap_or_default();
        let told = Trace::read(&self.server.segment);
        let is_bug = told.end == Some(End::Bug)
            || told.end.is_none() && status.and_then(|it| it.code()) == Some(BUG_CODE);
        if is_bug && output.contains(BUG_MARK) {
            return bug(&output);
        }
        let how = match (told.end, status) {
            (Some(end), _) => ending(end, &told.message),
            (None, Some(status)) => status.to_string(),
            (None, None) => "for an unknown reason".to_owned(),
        };
        let program = self.options.program.display();
        TargetError::Baseline(
            format!("`{program}` ended before main ({how})\n{output}").trim_end().to_owned(),
        )
    }

    /// Writes a block, as what several blocks of one execution each have in common, or one block alone.
    #[expect(unsafe_code, reason = "writes the plan into the shared segment")]
    fn write_block(&mut self, block: &Block, how: How<'_>) -> Result<(), TargetError> {
        let segment = self.server.segment;
        let caps = segment.caps();
        let plan = &block.plan;
        let (entries, prefix) = how.entries(block);
        let fits = entries.len() <= caps.block as usize
            && prefix.len() <= caps.prefix as usize
            && plan.shared.len() < caps.shared as usize
            && plan.profile.fits();
        if !fits {
            return Err(TargetError::Unusable(
                "the plan is too large for one execution".to_owned(),
            ));
        }
        self.number_plan(plan);
        // SAFETY: the server waits for a command, so the segment is ours.
        let header = unsafe { &mut *segment.header() };
        header.plan_number = self.n_plans;
        // Many blocks of one, each with another prefix, are a search's.
        header.lingers = u32::from(plan.record.options && block.entries.len() == 1);
        header.n_block = entries.len() as u32;
        header.is_brief = u32::from(matches!(how, How::Brief(_)));
        header.n_briefs = 0;
        header.n_brief_words = 0;
        header.n_shared = plan.shared.len() as u32;
        header.timeouts_rare = u32::from(plan.timeouts == Timeouts::Rare);
        header.spurious = u32::from(plan.spurious);
        header.handlers = plan.handlers.number();
        header.points = plan.points.number();
        if self.options.is_fresh {
            header.is_fresh = 1;
        }
        header.record_options = u32::from(plan.record.options) << u32::from(plan.record.stacks);
        header.record_races = u32::from(plan.record.races);
        header.watch = plan.record.watch.unwrap_or_default();
        header.n_races = 0;
        header.exit_is_fine = u32::from(block.exit_is_fine);
        header.max_steps = plan.limits.max_steps;
        header.n_choices = plan.profile.n_choices;
        header.n_threads_known = plan.profile.n_threads;
        header.n_lengths = plan.profile.lengths.len() as u32;
        header.n_interests = plan.profile.interests.len() as u32;
        header.n_uses = plan.profile.uses.len() as u32;
        header.n_notes = 0;
        header.n_pairs = 0;
        header.n_shared_found = 0;
        *header.n_done.get_mut() = 0;
        *header.heartbeat.get_mut() = 0;
        // SAFETY: checked above to fit; the server waits.
        unsafe { segment.write(segment.entries(), &entries) };
        // SAFETY: as above.
        unsafe { segment.write(segment.prefix(), &prefix) };
        // SAFETY: as above.
        unsafe { segment.write(segment.shared(), &plan.shared) };
        // SAFETY: as above.
        unsafe { segment.write(segment.lengths(), &plan.profile.lengths) };
        // SAFETY: as above.
        unsafe { segment.write(segment.interests(), &plan.profile.interests) };
        // SAFETY: as above.
        unsafe { segment.write(segment.uses(), &plan.profile.uses) };
        Ok(())
    }

    /// How far the program wants to be explored, as far as it has said so.
    #[expect(unsafe_code, reason = "reads out of the shared segment")]
    pub(crate) fn ask(&self) -> Ask {
        // SAFETY: the server waits for a command, so the segment is ours.
        unsafe { (*self.server.segment.header()).ask }
    }

    /// Gives a new number to a plan that differs from the last one in more than its prefix.
    fn number_plan(&mut self, plan: &Plan) {
        let is_same = |it: &Plan| {
            it.shared == plan.shared
                && it.limits == plan.limits
                && it.spurious == plan.spurious
                && it.handlers == plan.handlers
                && it.points == plan.points
                && it.record == plan.record
        };
        if !self.last_plan.as_ref().is_some_and(is_same) {
            self.last_plan = Some(Plan { prefix: Vec::new(), ..plan.clone() });
            self.n_plans += 1;
        }
    }

    /// Runs a block, from `main` or from a copy that waits on the way.
    fn run_once(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        self.server.clear_output();
        self.write_block(block, How::Alone)?;
        let segment = self.server.segment;
        let mut start = self.checkpoints.prepare(&segment, block);
        let begun = Instant::now();
        let watchdog = loop {
            if let Some(watchdog) = self.run_from(start)? {
                break watchdog;
            }
            if let Some(dead) = start.take() {
                self.checkpoints.forget(&segment, dead);
                self.write_block(block, How::Alone)?;
            }
        };
        if self.checkpoints.collect(&segment) {
            // A server that does not listen is noticed with the next block.
            let _ = self.server.bury_copies();
        }
        let mut result = self.read_block(block, &watchdog, block.entries.len());
        result.n_steps_spared = start.map_or(0, |it| it.n_steps);
        let n_steps = result.summaries.iter().map(|it| it.n_steps).sum::<u64>();
        self.checkpoints.measure(n_steps.saturating_sub(result.n_steps_spared), begun.elapsed());
        Ok(result)
    }

    /// Runs blocks of one execution each, and hears of all that end well at once. The last one that was run may
    /// have to be looked at in full, and was not told in brief then.
    fn run_briefly(&mut self, blocks: &[Block]) -> Result<Vec<BlockResult>, TargetError> {
        self.server.clear_output();
        self.write_block(&blocks[0], How::Brief(blocks))?;
        let begun = Instant::now();
        let Some(watchdog) = self.run_from(None)? else {
            return Err(TargetError::Bug("a block from no copy has lost its copy".to_owned()));
        };
        let elapsed = begun.elapsed();
        let results = self.read_briefs(blocks, &watchdog)?;
        let summaries = results.iter().flat_map(|it| &it.summaries);
        self.checkpoints.measure(summaries.map(|it| it.n_steps).sum(), elapsed);
        Ok(results)
    }

    #[expect(unsafe_code, reason = "reads the results out of the shared segment")]
    fn read_briefs(
        &mut self,
        blocks: &[Block],
        watchdog: &Watchdog,
    ) -> Result<Vec<BlockResult>, TargetError> {
        let segment = self.server.segment;
        // SAFETY: the server has answered, so the segment is ours.
        let header = unsafe { &mut *segment.header() };
        let n_done = (*header.n_done.get_mut() as usize).min(blocks.len());
        // SAFETY: the server wrote so many, within the area's room.
        let summaries = unsafe { segment.copy(segment.summaries(), n_done) };
        let n_pairs = header.n_pairs.min(segment.caps().block * PAIRS_MAX) as usize;
        // SAFETY: cut to the area's room.
        let pairs = unsafe { segment.copy(segment.pairs(), n_pairs) };
        let races = SeenRace::read_all(&segment);
        let modules = segment.read_modules();
        if self.modules != modules {
            self.modules = modules;
        }
        let mut traces = segment.read_briefs(&summaries, &self.modules);
        traces.truncate(n_done);
        let n_briefs = traces.len();
        let mut rest = &pairs[..];
        let mut own_pairs = summaries.iter().map(|it| {
            let (own, others) = rest.split_at(rest.len().min(it.n_pairs as usize));
            rest = others;
            own
        });
        let mut results = Vec::with_capacity(n_done);
        for (idx, trace) in traces.into_iter().enumerate() {
            let own = own_pairs.next().unwrap_or_default();
            results.push(BlockResult {
                summaries: vec![summaries[idx]],
                covered: covered(&summaries[idx..=idx], own),
                races: races_of(&races, idx),
                brief: Some(Box::new(trace)),
                ..BlockResult::default()
            });
        }
        if n_briefs < n_done {
            // The last one. All that is new in the block, it has found.
            let own = own_pairs.next().unwrap_or_default().to_vec();
            let mut last = self.read_block(&blocks[n_briefs], watchdog, n_done);
            last.summaries = last.summaries.split_off(n_briefs);
            last.covered = covered(&last.summaries, &own);
            last.races = races_of(&races, n_briefs);
            results.push(self.look_again(&blocks[n_briefs], last)?);
        }
        Ok(results)
    }

    /// Runs the block that stands in the segment, from `main` or from a copy; `None` if the copy is dead.
    fn run_from(&mut self, start: Option<Start>) -> Result<Option<Watchdog>, TargetError> {
        match start {
            Some(start) => self.checkpoints.run(&self.server.segment, start),
            None => self.server.run_block().map_err(|error| {
                TargetError::Bug(format!("the fork server does not listen: {error}"))
            })?,
        }
        self.await_block(start)
    }

    fn await_block(&mut self, start: Option<Start>) -> Result<Option<Watchdog>, TargetError> {
        let mut watchdog = Watchdog::new(self.options.hang_timeout, self.options.memory_limit);
        let mut stopped_at = None;
        loop {
            match self.server.wait(LOOK_EVERY) {
                Reply::Done => return Ok(Some(watchdog)),
                Reply::Waiting if start.is_some_and(|it| !it.is_alive()) => return Ok(None),
                Reply::Waiting if self.server.has_ended() => return Err(self.server_is_gone()),
                Reply::Waiting => watchdog.look(&self.server),
                Reply::Gone => return Err(self.server_is_gone()),
            }
            if (self.given_up.load(Relaxed) || self.options.stop.load(Relaxed))
                && stopped_at.get_or_insert_with(Instant::now).elapsed() > GRACE
            {
                return Err(TargetError::Stopped);
            }
        }
    }

    fn server_is_gone(&mut self) -> TargetError {
        let how = self.server.exit_status().map_or(String::new(), |it| it.to_string());
        let output = self.server.output(OUTPUT_KEPT).unwrap_or_default();
        if output.contains(BUG_MARK) {
            return bug(&output);
        }
        TargetError::Bug(format!("the fork server ended by itself ({how})"))
    }

    #[expect(unsafe_code, reason = "reads the results out of the shared segment")]
    fn read_block(&mut self, block: &Block, watchdog: &Watchdog, n_block: usize) -> BlockResult {
        let segment = self.server.segment;
        // SAFETY: the server has answered, so the segment is ours.
        let header = unsafe { &mut *segment.header() };
        let n_done = (*header.n_done.get_mut() as usize).min(n_block);
        // SAFETY: the server wrote so many, within the area's room.
        let mut summaries = unsafe { segment.copy(segment.summaries(), n_done) };
        let n_pairs = header.n_pairs.min(segment.caps().block * PAIRS_MAX) as usize;
        // SAFETY: cut to the area's room.
        let covered = covered(&summaries, &unsafe { segment.copy(segment.pairs(), n_pairs) });
        let n_known = header.n_shared as usize;
        let n_all = (n_known + header.n_shared_found as usize).min(segment.caps().shared as usize);
        // SAFETY: cut to the area's room.
        let mut shared_found = unsafe { segment.copy(segment.shared(), n_all) }.split_off(n_known);
        shared_found.sort_unstable();
        shared_found.dedup();
        if summaries.last().is_some_and(is_lost) {
            header.n_events = header.heartbeat.load(Relaxed);
            if n_block > 1 || header.is_brief == 1 {
                // Tables and threads are an earlier execution's; of this one there are only the events.
                (header.n_threads, header.n_objects, header.n_sites) = (0, 0, 0);
                header.n_stacks = 0;
            }
        }
        let end = summaries.last_mut().map(|it| self.settle_end(it, watchdog));
        let must_look = block.entries.len() == 1
            || end.is_some_and(|it| must_be_looked_at(it, block.exit_is_fine));
        let mut trace = (must_look || header.n_notes > 0).then(|| Trace::read(&segment));
        if let (Some(trace), Some(summary), Some(end)) = (&mut trace, summaries.last_mut(), end) {
            complete(trace, summary, end, watchdog);
        }
        let uncontrolled = trace.as_ref().map_or_else(Vec::new, |it| self.uncontrolled(it));
        let last = match (must_look, trace, end, summaries.last()) {
            (true, Some(trace), Some(end), Some(summary)) => {
                Some(self.execution(trace, end, *summary))
            }
            _ => None,
        };
        BlockResult {
            summaries,
            shared_found,
            covered,
            races: SeenRace::read_all(&segment),
            brief: None,
            last,
            uncontrolled,
            n_steps_spared: 0,
        }
    }

    /// How the last execution ended, also where the runtime could not say it.
    fn settle_end(&mut self, summary: &mut Summary, watchdog: &Watchdog) -> End {
        let told =
            End::from_numbers(summary.end_kind as u8, summary.end_detail).unwrap_or(End::Lost(0));
        let end = match told {
            End::Lost(_) | End::Hang if watchdog.is_out_of_memory => End::OutOfMemory,
            End::Lost(_) if watchdog.is_hung => End::Hang,
            End::Lost(status) if libc::WIFEXITED(status) => End::Exit(libc::WEXITSTATUS(status)),
            End::Lost(status) if self.was_killed_by_kernel(status) => End::OutOfMemory,
            End::Lost(status) => End::Crash(libc::WTERMSIG(status)),
            told => told,
        };
        let (kind, detail) = end.to_numbers();
        summary.end_kind = u32::from(kind);
        summary.end_detail = detail;
        end
    }

    /// The kernel kills for want of memory, and counts; whoever else kills is the program's affair.
    fn was_killed_by_kernel(&mut self, status: i32) -> bool {
        let n_before = std::mem::replace(&mut self.n_kernel_kills, watchdog::kernel_kills());
        libc::WTERMSIG(status) == libc::SIGKILL && n_before < self.n_kernel_kills
    }

    fn execution(&mut self, mut trace: Trace, end: End, summary: Summary) -> Execution {
        trace.end = Some(end);
        trace.summary = summary;
        // Output that can't be read is no reason to lose the execution.
        Execution { trace, output: self.server.output(OUTPUT_KEPT).unwrap_or_default() }
    }

    fn uncontrolled(&mut self, trace: &Trace) -> Vec<Uncontrolled> {
        let mut found = Vec::new();
        for note in &trace.notes {
            let mut stack = Vec::new();
            for site in &note.frames {
                let Some(module) = site.module.and_then(|it| trace.modules.get(it as usize)) else {
                    continue;
                };
                let address = site.offset.saturating_sub(1);
                stack.extend(self.symbols.places(module.path.as_ref(), address));
            }
            // What called `main` is ours, not the program's.
            stack.retain(|it| !it.module.starts_with(RUNTIME_NAME));
            found.push(Uncontrolled {
                what: note.what.clone(),
                count: u64::from(note.count),
                stack,
            });
        }
        found
    }
}

/// Did the process vanish without saying how it ended?
fn is_lost(summary: &Summary) -> bool {
    matches!(
        End::from_numbers(summary.end_kind as u8, summary.end_detail),
        None | Some(End::Lost(_))
    )
}

/// What the runtime could not say, because the process was killed, or does not know.
fn complete(trace: &mut Trace, summary: &mut Summary, end: End, watchdog: &Watchdog) {
    if trace.end.is_none() {
        let is_spawn =
            |it: &&raddle_model::Event| it.kind == OpKind::Spawn && it.result == OpResult::Done;
        summary.n_threads = 1 + trace.events.iter().filter(is_spawn).count() as u32;
        let switches = trace.events.windows(2).filter(|it| it[0].thread != it[1].thread);
        summary.n_switches = switches.count() as u64;
    }
    if end == End::Exception {
        trace.message = type_name(&trace.message);
    }
    if matches!(end, End::Hang | End::OutOfMemory) && trace.message.is_empty() {
        trace.message = watchdog.words().unwrap_or_default();
    }
}

/// What the runtime says before it dies of a bug.
const BUG_MARK: &str = "raddle: bug: ";

fn bug(output: &str) -> TargetError {
    let line = output.lines().find_map(|it| it.split_once(BUG_MARK)).map_or("", |it| it.1);
    TargetError::Bug(format!("in the runtime: {line}"))
}

/// How the program ended before it was an execution.
fn ending(end: End, message: &str) -> String {
    let how = match end {
        End::Exit(code) => format!("exit code {code}"),
        End::Crash(signal) => format!("signal {signal}"),
        End::Assert => "a failed assertion".to_owned(),
        End::Abort => "abort".to_owned(),
        End::Exception => "an exception".to_owned(),
        End::Panic => "a panic".to_owned(),
        End::Deadlock => "a deadlock".to_owned(),
        End::Misuse(misuse) => format!("its first thread {}", misuse.text()),
        End::Livelock | End::Hang | End::OutOfMemory | End::Lost(_) | End::Bug => {
            "for an unknown reason".to_owned()
        }
    };
    if message.is_empty() { how } else { format!("{how}: {message}") }
}

fn must_be_looked_at(end: End, exit_is_fine: bool) -> bool {
    match end {
        End::Exit(0) => false,
        End::Exit(_) => !exit_is_fine,
        _ => true,
    }
}

/// How a block is run.
#[derive(Clone, Copy, Debug)]
enum How<'a> {
    /// As it is.
    Alone,
    /// As the first of these, which are told in brief.
    Brief(&'a [Block]),
}

impl How<'_> {
    /// What each execution is to do, and the prefixes that they follow.
    fn entries(self, block: &Block) -> (Vec<Entry>, Vec<u32>) {
        let entry = |it: &Entry, prefix_at: usize, n_prefix: usize| Entry {
            prefix_at: prefix_at as u64,
            n_prefix: n_prefix as u32,
            ..*it
        };
        match self {
            How::Alone => {
                let prefix = &block.plan.prefix;
                let entries = block.entries.iter().map(|it| entry(it, 0, prefix.len()));
                (entries.collect(), prefix.clone())
            }
            How::Brief(blocks) => {
                let mut prefixes = Vec::new();
                let mut entries = Vec::with_capacity(blocks.len());
                for Block { plan, entries: own, .. } in blocks {
                    entries.push(entry(&own[0], prefixes.len(), plan.prefix.len()));
                    prefixes.extend_from_slice(&plan.prefix);
                }
                (entries, prefixes)
            }
        }
    }
}

/// The races that one execution of a block showed, as those of a block of one.
fn races_of(races: &[SeenRace], execution: usize) -> Vec<SeenRace> {
    let own = races.iter().filter(|it| it.execution as usize == execution);
    own.map(|it| SeenRace { execution: 0, ..it.clone() }).collect()
}

impl Session for NativeSession {
    fn heed(&mut self, given_up: Arc<AtomicBool>) {
        self.given_up = given_up;
    }

    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        let mut result = self.run_once(block)?;
        let n_run = result.summaries.len();
        if block.entries.len() > 1 {
            let entries = vec![block.entries[n_run - 1]];
            result = self.look_again(&Block { entries, ..block.clone() }, result)?;
        }
        Ok(result)
    }

    fn run_each(&mut self, blocks: &[Block]) -> Result<Vec<BlockResult>, TargetError> {
        match self.checkpoints.are_worth_it(&blocks[0]) {
            true => Ok(vec![self.run(&blocks[0])?]),
            false => self.run_briefly(blocks),
        }
    }
}

impl NativeSession {
    /// If the last execution of a block was killed before it could explain its events: alone, it does that as
    /// they come.
    fn look_again(
        &mut self,
        alone: &Block,
        mut result: BlockResult,
    ) -> Result<BlockResult, TargetError> {
        if let (Some(killed), Some(last)) = (result.summaries.last_mut(), &mut result.last)
            && last.trace.threads.is_empty()
            && matches!(last.trace.end, Some(End::Crash(_) | End::Exit(_)))
        {
            let again = self.run_once(alone)?;
            if let (Some(summary), Some(execution)) = (again.summaries.last(), again.last)
                && (summary.end_kind, summary.end_detail) == (killed.end_kind, killed.end_detail)
                && summary.n_steps == killed.n_steps
            {
                (*killed, *last) = (*summary, execution);
            }
        }
        Ok(result)
    }
}
