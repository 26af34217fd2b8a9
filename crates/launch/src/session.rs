//! Runs blocks of executions on a fork server.

mod again;
mod traps;

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use raddle_explore::{
    coverage::covered,
    target::{
        Block, BlockResult, Execution, PrefixBatch, PrefixBatchResult, Session, TargetError, Until,
    },
};
use raddle_model::{End, Escape, OpKind, OpResult, OrderAt, Plan, Standstill, Uncontrolled};
use raddle_trace::{
    Ask, Briefs, Caps, Entry, Module, OrderEntry, PAIRS_MAX, Request, SeenRaces, Still, Summary,
    Trace,
    protocol::{BUG_CODE, UNUSABLE_CODE, must_be_looked_at},
};

use crate::{
    checkpoints::{Checkpoints, Start},
    options::NativeOptions,
    runtime::RUNTIME_NAME,
    server::{Heard, Server},
    symbols::{Symbols, type_name},
    watchdog::{self, Watchdog},
};

/// How long a program may take to reach `main`.
const START_TIME: Duration = Duration::from_secs(30);
/// How often the watchdog looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Output kept of an execution.
const OUTPUT_KEPT: usize = 64 << 10;
/// How often it is looked whether a block that nobody wants more of has ended.
const LOOK_SOON: Duration = Duration::from_millis(10);
/// When nobody wants more, a block may still take so long: most end by themselves meanwhile.
const GRACE: Duration = Duration::from_millis(150);
/// After so long, an execution that was asked where it stands, and has not answered, is killed.
const KILL_AFTER: Duration = Duration::from_millis(300);
/// After so long, nobody waits for the server, either.
const LEAVE_AFTER: Duration = Duration::from_millis(500);

/// See the module.
#[derive(Debug)]
pub(crate) struct NativeSession {
    options: NativeOptions,
    server: Server,
    /// How large the areas of its segment are.
    caps: Caps,
    /// It ended, and not by a bug of the runtime: who killed it?
    is_gone: bool,
    /// The last execution was ended by a signal that nobody has explained.
    was_killed: bool,
    symbols: Symbols,
    checkpoints: Checkpoints,
    /// What the last plan said, without its prefix; and how many different ones there have been.
    last_plan: Option<Plan>,
    n_plans: u32,
    /// The program's, as they were when executions were last told in brief.
    modules: Arc<[Module]>,
    /// Processes that the kernel had killed for want of memory, when we last looked.
    n_kernel_kills: u64,
    /// Calls that executions have waited in to no avail.
    known_waits: BTreeSet<String>,
    /// How long somebody wants what runs.
    until: Until,
}

impl NativeSession {
    /// Starts a server and waits until the program stands before `main`.
    pub(crate) fn open(
        options: &NativeOptions,
        until: &Until,
    ) -> Result<NativeSession, TargetError> {
        let caps =
            Caps { events: options.events.unwrap_or(Caps::default().events), ..Caps::default() };
        let server = again::start(options, caps)?;
        let mut session = NativeSession {
            options: options.clone(),
            server,
            caps,
            is_gone: false,
            was_killed: false,
            symbols: Symbols::new(),
            checkpoints: Checkpoints::new(options.checkpoints, options.checkpoint_gap),
            last_plan: None,
            n_plans: 0,
            modules: Arc::default(),
            n_kernel_kills: watchdog::kernel_kills(),
            known_waits: BTreeSet::new(),
            until: until.clone(),
        };
        session.await_main()?;
        Ok(session)
    }

    fn await_main(&mut self) -> Result<(), TargetError> {
        let start = Instant::now();
        loop {
            match self.server.wait(LOOK_EVERY) {
                Heard::Reply => {
                    self.write_traps();
                    return Ok(());
                }
                Heard::Nothing if self.is_over() => {
                    return Err(TargetError::Stopped);
                }
                Heard::Nothing if start.elapsed() < START_TIME => {}
                Heard::Nothing => {
                    let seconds = START_TIME.as_secs();
                    return Err(TargetError::Baseline(format!(
                        "`{}` did not reach main within {seconds} s",
                        self.options.program.display()
                    )));
                }
                Heard::End => return Err(self.ended_before_main()),
            }
        }
    }

    /// Does nobody want more?
    fn is_over(&self) -> bool {
        self.options.stop.load(Relaxed) || self.until.is_over()
    }

    #[expect(unsafe_code, reason = "reads out of the shared segment")]
    fn ended_before_main(&mut self) -> TargetError {
        let status = self.server.exit_status().ok();
        let output = self.server.output(OUTPUT_KEPT).unwrap_or_default();
        // SAFETY: the program has ended, so nobody writes.
        let segment = unsafe { self.server.segment.still() };
        let code = status.and_then(|it| it.code());
        if let Some(error) = refusal(segment.last_words(), code).or_else(|| bug(segment)) {
            return error;
        }
        if !segment.is_found() && code == Some(BUG_CODE) {
            return TargetError::Bug("the runtime has not found the shared segment".to_owned());
        }
        let told = Trace::read(segment);
        let how = match (told.end, status) {
            (Some(end), _) => ending(end, &told.message),
            (None, Some(status)) => status.to_string(),
            (None, None) => "unknown reason".to_owned(),
        };
        let program = self.options.program.display();
        TargetError::Baseline(
            format!("`{program}` ended before main ({how})\n{output}").trim_end().to_owned(),
        )
    }

    #[expect(unsafe_code, reason = "writes the plan into the shared segment")]
    fn write_block(&mut self, block: &Block, kind: Telling) {
        let segment = self.server.segment;
        let caps = segment.caps();
        let plan = &block.plan;
        assert!(block.entries.len() <= caps.block as usize, "bug: a block that is too long");
        self.number_plan(plan);
        // SAFETY: the server waits for a command, so the segment is ours.
        unsafe { segment.forget_races() };
        // SAFETY: as above.
        let header = unsafe { &mut *segment.header() };
        // Executions with a prefix each are a search's, and more will come.
        let is_each = kind == Telling::Brief || block.entries.len() == 1;
        header.begin_block(Request {
            n_block: block.entries.len() as u32,
            plan_number: self.n_plans,
            is_fresh: u32::from(self.options.is_fresh),
            lingers: u32::from(plan.record.options && is_each),
            is_brief: u32::from(kind == Telling::Brief),
            exit_is_fine: u32::from(block.exit_is_fine),
            ..Request::of(plan, header.request)
        });
        let with_prefix =
            |it: &Entry| Entry { prefix_at: 0, n_prefix: block.prefix_of(it).len() as u32, ..*it };
        let of_all: Vec<Entry>;
        let entries = match kind {
            Telling::Brief => &block.entries,
            Telling::Full => {
                of_all = block.entries.iter().map(with_prefix).collect();
                &of_all
            }
        };
        // SAFETY: checked above to fit; the server waits.
        unsafe { segment.write(segment.entries(), entries) };
        // SAFETY: as above.
        unsafe { segment.write(segment.prefix(), &plan.prefix) };
        // SAFETY: as above.
        unsafe { segment.write(segment.shared(), &plan.shared) };
        // SAFETY: as above.
        unsafe { segment.write(segment.lengths(), &plan.profile.lengths) };
        // SAFETY: as above.
        unsafe { segment.write(segment.interests(), &plan.profile.interests) };
        // SAFETY: as above.
        unsafe { segment.write(segment.uses(), &plan.profile.uses) };
        let order = |it: &OrderAt| OrderEntry {
            module: it.module,
            offset: it.offset,
            order: it.order as u32,
            reserved: 0,
        };
        let orders: Vec<OrderEntry> = plan.orders.iter().map(order).collect();
        // SAFETY: as above.
        unsafe { segment.write(segment.orders(), &orders) };
    }

    /// How far the program wants to be explored, as far as it has said so.
    #[expect(unsafe_code, reason = "reads out of the shared segment")]
    pub(crate) fn ask(&self) -> Ask {
        // SAFETY: the server waits for a command, so the segment is ours.
        unsafe { (*self.server.segment.header()).result.ask }
    }

    /// Gives a new number to a plan that differs from the last one in more than its prefix.
    fn number_plan(&mut self, plan: &Plan) {
        let is_same = |it: &Plan| {
            it.shared == plan.shared
                && it.conditions == plan.conditions
                && it.record == plan.record
                && it.orders == plan.orders
        };
        if !self.last_plan.as_ref().is_some_and(is_same) {
            self.last_plan = Some(Plan { prefix: Vec::new(), ..plan.clone() });
            self.n_plans += 1;
        }
    }

    /// Runs a block, from `main` or from a copy that waits on the way.
    fn run_once(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        if self.is_over() {
            return Err(TargetError::Stopped);
        }
        self.make_room(&block.plan)?;
        self.server.clear_output();
        self.write_block(block, Telling::Full);
        let segment = self.server.segment;
        let mut start = self.checkpoints.prepare(&segment, block);
        let begun = Instant::now();
        let watchdog = loop {
            if let Some(watchdog) = self.run_from(start)? {
                break watchdog;
            }
            if self.is_over() {
                return Err(TargetError::Stopped);
            }
            if let Some(dead) = start.take() {
                self.checkpoints.forget(&segment, dead);
                self.write_block(block, Telling::Full);
            }
        };
        if self.checkpoints.collect(&segment) {
            // A server that does not listen is noticed with the next block.
            let _ = self.server.bury_copies();
        }
        let mut result = self.read_block(block, &watchdog, block.entries.len());
        if result.summaries.is_empty() && result.cut.is_none() {
            return Err(self.nothing_came());
        }
        result.n_steps_spared = start.map_or(0, |it| it.n_steps);
        let n_steps = result.summaries.iter().map(|it| it.n_steps).sum::<u64>();
        self.checkpoints.measure(n_steps.saturating_sub(result.n_steps_spared), begun.elapsed());
        Ok(result)
    }

    /// Runs executions with a prefix each, and hears of all that end well at once. The last one that was run may
    /// have to be looked at in full, and was not told in brief then.
    fn run_briefly(
        &mut self,
        each: &PrefixBatch,
        room: Briefs,
    ) -> Result<PrefixBatchResult, TargetError> {
        self.make_room(&each.shared().plan)?;
        self.server.clear_output();
        self.write_block(each.shared(), Telling::Brief);
        let begun = Instant::now();
        let Some(watchdog) = self.run_from(None)? else {
            return Err(TargetError::Bug("a block from no copy has lost its copy".to_owned()));
        };
        let elapsed = begun.elapsed();
        let (result, n_steps) = self.read_briefs(each, &watchdog, room)?;
        self.checkpoints.measure(n_steps, elapsed);
        Ok(result)
    }

    /// What was run, and how many steps that were.
    #[expect(unsafe_code, reason = "reads the results out of the shared segment")]
    fn read_briefs(
        &mut self,
        each: &PrefixBatch,
        watchdog: &Watchdog,
        room: Briefs,
    ) -> Result<(PrefixBatchResult, u64), TargetError> {
        let segment = self.server.segment;
        // SAFETY: the server has answered, so the segment is ours.
        let header = unsafe { &mut *segment.header() };
        let n_done = (*header.live.n_done.get_mut() as usize).min(each.entries().len());
        // SAFETY: the server wrote so many, within the area's room.
        let mut summaries = unsafe { segment.copy(segment.summaries(), n_done) };
        summaries.iter_mut().for_each(Summary::make_plausible);
        let n_steps = summaries.iter().map(|it| it.n_steps).sum();
        // SAFETY: as above, until the next block is written.
        let still = unsafe { segment.still() };
        let races = SeenRaces::read(still);
        let modules = still.read_modules();
        if self.modules != modules {
            self.modules = modules;
        }
        let briefs = still.read_briefs(&summaries, &self.modules, room);
        let mut result = PrefixBatchResult { briefs, races, last: None };
        let n_briefs = result.briefs.len();
        if n_briefs < n_done {
            // The last one. All that is new in the block, it has found.
            let n_before = summaries[..n_briefs].iter().map(|it| it.n_pairs as usize).sum();
            let n_pairs = header.result.n_pairs.min(segment.caps().block * PAIRS_MAX) as usize;
            // SAFETY: cut to the area's room.
            let mut pairs = unsafe { segment.copy(segment.pairs(), n_pairs) };
            let alone = each.alone(n_briefs);
            let mut last = self.read_block(&alone, watchdog, n_done);
            last.summaries = last.summaries.split_off(n_briefs);
            last.covered = covered(&last.summaries, &pairs.split_off(n_pairs.min(n_before)));
            last.races = result.races.of(n_briefs as u32);
            result.last = Some(self.look_again(&alone, last)?);
        }
        Ok((result, n_steps))
    }

    /// Runs the block that stands in the segment, from `main` or from a copy; `None` if the copy is dead.
    fn run_from(&mut self, start: Option<Start>) -> Result<Option<Watchdog>, TargetError> {
        match start {
            Some(start) => self.checkpoints.run(&self.server.segment, start),
            None => {
                if self.server.run_block().is_err() {
                    return Err(self.server_is_gone());
                }
            }
        }
        self.await_block(start)
    }

    fn await_block(&mut self, start: Option<Start>) -> Result<Option<Watchdog>, TargetError> {
        let known = self.known_waits.clone();
        let mut watchdog =
            Watchdog::new(self.options.hang_timeout, self.options.memory_limit, known);
        let mut over_since: Option<Instant> = None;
        loop {
            let look = if over_since.is_some() { LOOK_SOON } else { LOOK_EVERY };
            match self.server.wait(look) {
                Heard::Reply => return Ok(Some(watchdog)),
                Heard::Nothing if start.is_some_and(|it| !it.is_alive()) => return Ok(None),
                Heard::Nothing if self.server.has_ended() => return Err(self.server_is_gone()),
                Heard::Nothing if over_since.is_none() => watchdog.look(&self.server),
                Heard::Nothing => {}
                Heard::End => return Err(self.server_is_gone()),
            }
            if over_since.is_none() && self.is_over() {
                over_since = Some(Instant::now());
            }
            match over_since.map(|it| it.elapsed()) {
                Some(late) if late > LEAVE_AFTER => return Err(TargetError::Stopped),
                Some(late) if late > KILL_AFTER => self.server.kill_execution(),
                Some(late) if late > GRACE => watchdog.cut_short(&self.server),
                _ => {}
            }
        }
    }

    #[expect(unsafe_code, reason = "reads out of the shared segment")]
    fn server_is_gone(&mut self) -> TargetError {
        let how = self.server.exit_status().map_or(String::new(), |it| it.to_string());
        // SAFETY: the server has ended, so nobody writes.
        if let Some(bug) = bug(unsafe { self.server.segment.still() }) {
            return bug;
        }
        self.is_gone = true;
        TargetError::Unusable(format!("the program's fork server was killed from outside ({how})"))
    }

    /// The server has answered, and no execution had ended: it was killed before it could begin.
    fn nothing_came(&mut self) -> TargetError {
        if self.is_over() {
            return TargetError::Stopped;
        }
        self.is_gone = true;
        TargetError::Unusable("the program's fork server answered without an execution".to_owned())
    }

    #[expect(unsafe_code, reason = "reads the results out of the shared segment")]
    fn read_block(&mut self, block: &Block, watchdog: &Watchdog, n_block: usize) -> BlockResult {
        let segment = self.server.segment;
        // SAFETY: the server has answered, so the segment is ours.
        let header = unsafe { &mut *segment.header() };
        let n_done = (*header.live.n_done.get_mut() as usize).min(n_block);
        // SAFETY: the server wrote so many, within the area's room.
        let mut summaries = unsafe { segment.copy(segment.summaries(), n_done) };
        summaries.iter_mut().for_each(Summary::make_plausible);
        let n_pairs = header.result.n_pairs.min(segment.caps().block * PAIRS_MAX) as usize;
        // SAFETY: cut to the area's room.
        let covered = covered(&summaries, &unsafe { segment.copy(segment.pairs(), n_pairs) });
        // What we have written ourselves: what stands there now, anybody may have changed.
        let n_known = block.plan.shared.len();
        let n_all =
            (n_known + header.result.n_shared_found as usize).min(segment.caps().shared as usize);
        // SAFETY: cut to the area's room.
        let mut shared_found = unsafe { segment.copy(segment.shared(), n_all) };
        shared_found.drain(..n_known.min(n_all));
        shared_found.sort_unstable();
        shared_found.dedup();
        if summaries.last().is_some_and(is_lost) {
            header.result.n_events = header.live.heartbeat.load(Relaxed);
            if n_block > 1 || header.request.is_brief == 1 {
                // Tables and threads are an earlier execution's; of this one there are only the events.
                (header.result.n_threads, header.result.n_objects, header.result.n_sites) =
                    (0, 0, 0);
                header.result.n_stacks = 0;
            }
        }
        self.known_waits.extend(watchdog.waited_in().map(str::to_owned));
        let is_cut = watchdog.is_cut && summaries.last().is_some_and(is_ended_by_us);
        let end = summaries.last_mut().map(|it| self.settle_end(it, watchdog));
        let must_look = block.entries.len() == 1
            || end.is_some_and(|it| must_be_looked_at(Some(it), block.exit_is_fine));
        // SAFETY: as above, until the next block is written.
        let still = unsafe { segment.still() };
        let mut trace = (must_look || header.result.n_notes > 0).then(|| Trace::read(still));
        if let (Some(trace), Some(summary), Some(end)) = (&mut trace, summaries.last_mut(), end) {
            complete(trace, summary, end, watchdog);
        }
        let uncontrolled = trace.as_ref().map_or_else(Vec::new, |it| self.uncontrolled(it));
        let mut last = match (must_look, trace, end, summaries.last()) {
            (true, Some(trace), Some(end), Some(summary)) => {
                Some(self.execution(trace, end, *summary))
            }
            _ => None,
        };
        let cut = last.take_if(|_| is_cut);
        if cut.is_some() {
            summaries.pop();
        }
        BlockResult {
            summaries,
            shared_found,
            covered,
            races: SeenRaces::read(still),
            last,
            uncontrolled,
            n_steps_spared: 0,
            cut,
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
            End::Lost(status) => {
                self.was_killed = true;
                End::Crash(libc::WTERMSIG(status))
            }
            told => told,
        };
        let (kind, detail) = end.to_numbers();
        summary.end_kind = u32::from(kind);
        summary.end_detail = detail;
        end
    }

    /// The kernel kills for want of memory, and counts.
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
            found.push(Uncontrolled { what: note.what, count: u64::from(note.count), stack });
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

/// Did it say where it stands because it was asked, or was it killed?
fn is_ended_by_us(summary: &Summary) -> bool {
    let end = End::from_numbers(summary.end_kind as u8, summary.end_detail);
    is_lost(summary) || end == Some(End::Hang)
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
    if end == End::OutOfMemory {
        trace.memory_limit = watchdog.memory_limit();
    }
    if end == End::Hang {
        let waits_outside = trace.notes.iter().any(|it| it.what == Escape::WaitInput);
        // Asked where it is, the runtime names the file of the code.
        let file = Some(std::mem::take(&mut trace.message)).filter(|it| !it.is_empty());
        let is_outside = waits_outside && file.as_deref() == Some(RUNTIME_NAME);
        trace.standstill = match (watchdog.standstill(file, is_outside), trace.end) {
            (Some(standstill), _) => standstill,
            // Nobody asked: the runtime has seen it by itself.
            (None, Some(End::Hang)) => Standstill::OtherProcess,
            (None, _) => Standstill::NoStep,
        };
    }
}

/// What the runtime has said in the segment, if it died of a bug. Whatever the program prints says nothing about that.
fn bug(segment: Still<'_>) -> Option<TargetError> {
    segment.last_words().map(|words| TargetError::Bug(format!("in the runtime: {words}")))
}

/// The runtime has said that it does not know the C library, and which structure of it.
fn refusal(words: Option<String>, code: Option<i32>) -> Option<TargetError> {
    let structure = words.filter(|_| code == Some(UNUSABLE_CODE))?;
    Some(TargetError::Unusable(format!(
        "unsupported C library: the layout of its `{structure}` is unknown; use glibc on x86-64, or report its version"
    )))
}

/// How the program ended before it was an execution.
fn ending(end: End, message: &str) -> String {
    let how = match end {
        End::Exit(code) => format!("exit code {code}"),
        End::Crash(signal) => format!("signal {signal}"),
        End::Assert => "assertion failed".to_owned(),
        End::Abort => "abort".to_owned(),
        End::Exception => "uncaught exception".to_owned(),
        End::Panic => "panic".to_owned(),
        End::NotLinearizable => "not linearizable".to_owned(),
        End::Deadlock => "deadlock".to_owned(),
        End::Misuse(misuse) => format!("misuse by the first thread: {}", misuse.word()),
        End::Livelock | End::Hang | End::OutOfMemory | End::Lost(_) | End::Bug | End::Spent => {
            "unknown reason".to_owned()
        }
    };
    if message.is_empty() { how } else { format!("{how}: {message}") }
}

/// How a block's executions are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    /// The last one in full. All have the same prefix.
    Full,
    /// In brief. Entries say which part of the prefix is whose.
    Brief,
}

impl Session for NativeSession {
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        let result = self.steadily(|session| session.run_once(block))?;
        match result.summaries.len() {
            0 => Ok(result),
            n_run => {
                let entries = vec![block.entries[n_run - 1]];
                self.look_again(&Block { entries, ..block.clone() }, result)
            }
        }
    }

    fn run_each(
        &mut self,
        each: &PrefixBatch,
        room: Briefs,
    ) -> Result<PrefixBatchResult, TargetError> {
        match self.checkpoints.are_worth_it(each) {
            true => Ok(PrefixBatchResult {
                last: Some(self.run(&each.alone(0))?),
                ..PrefixBatchResult::default()
            }),
            false => {
                let mut room = Some(room);
                self.steadily(|it| it.run_briefly(each, room.take().unwrap_or_default()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_c_library_is_an_error_of_the_environment() {
        let words = || Some("sem_t".to_owned());
        let error = refusal(words(), Some(UNUSABLE_CODE));
        assert!(matches!(&error, Some(TargetError::Unusable(why)) if why.contains("`sem_t`")));
        assert!(refusal(words(), Some(BUG_CODE)).is_none());
        assert!(refusal(None, Some(UNUSABLE_CODE)).is_none());
    }
}
