//! Runs blocks of executions on a fork server.

use std::time::{Duration, Instant};

use raddle_explore::target::{Block, BlockResult, Execution, Session, TargetError, Uncontrolled};
use raddle_model::{End, Timeouts};
use raddle_trace::{Summary, Trace};

use crate::{
    native::NativeOptions,
    server::{Reply, Server},
    symbols::Symbols,
    watchdog::Watchdog,
};

/// How long a program may take to reach `main`.
const START_TIME: Duration = Duration::from_secs(30);
/// How often the watchdog looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Output kept of an execution.
const OUTPUT_KEPT: usize = 64 << 10;

/// See the module.
#[derive(Debug)]
pub(crate) struct NativeSession {
    options: NativeOptions,
    server: Server,
    symbols: Symbols,
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
        let mut session =
            NativeSession { options: options.clone(), server, symbols: Symbols::new() };
        session.await_main()?;
        Ok(session)
    }

    fn await_main(&mut self) -> Result<(), TargetError> {
        let start = Instant::now();
        loop {
            match self.server.wait(LOOK_EVERY) {
                Reply::Done => return Ok(()),
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
        let how = self
            .server
            .exit_status()
            .map_or("for an unknown reason".to_owned(), |it| it.to_string());
        let output = self.server.output(OUTPUT_KEPT).unwrap_or_default();
        let program = self.options.program.display();
        TargetError::Baseline(
            format!("`{program}` ended before main ({how})\n{output}").trim_end().to_owned(),
        )
    }

    #[expect(unsafe_code, reason = "writes the plan into the shared segment")]
    fn write_block(&mut self, block: &Block) -> Result<(), TargetError> {
        let segment = self.server.segment;
        let caps = segment.caps();
        let plan = &block.plan;
        let fits = block.entries.len() <= caps.block as usize
            && plan.prefix.len() <= caps.prefix as usize
            && plan.shared.len() < caps.shared as usize;
        if !fits {
            return Err(TargetError::Unusable(
                "the plan is too large for one execution".to_owned(),
            ));
        }
        // SAFETY: the server waits for a command, so the segment is ours.
        let header = unsafe { &mut *segment.header() };
        header.n_block = block.entries.len() as u32;
        header.n_prefix = plan.prefix.len() as u32;
        header.n_shared = plan.shared.len() as u32;
        header.timeouts_rare = u32::from(plan.timeouts == Timeouts::Rare);
        header.spurious = u32::from(plan.spurious);
        header.exit_is_fine = u32::from(block.exit_is_fine);
        header.max_steps = plan.limits.max_steps;
        header.n_notes = 0;
        header.n_shared_found = 0;
        *header.n_done.get_mut() = 0;
        *header.heartbeat.get_mut() = 0;
        // SAFETY: checked above to fit; the server waits.
        unsafe { segment.write(segment.entries(), &block.entries) };
        // SAFETY: as above.
        unsafe { segment.write(segment.prefix(), &plan.prefix) };
        // SAFETY: as above.
        unsafe { segment.write(segment.shared(), &plan.shared) };
        Ok(())
    }

    fn await_block(&mut self) -> Result<Watchdog, TargetError> {
        let mut watchdog = Watchdog::new(self.options.hang_timeout, self.options.memory_limit);
        loop {
            match self.server.wait(LOOK_EVERY) {
                Reply::Done => return Ok(watchdog),
                Reply::Waiting => watchdog.look(&self.server),
                Reply::Gone => {
                    let how = self.server.exit_status().map_or(String::new(), |it| it.to_string());
                    return Err(TargetError::Bug(format!(
                        "the fork server ended by itself ({how})"
                    )));
                }
            }
        }
    }

    #[expect(unsafe_code, reason = "reads the results out of the shared segment")]
    fn read_block(&mut self, block: &Block, watchdog: &Watchdog) -> BlockResult {
        let segment = self.server.segment;
        // SAFETY: the server has answered, so the segment is ours.
        let header = unsafe { &mut *segment.header() };
        let n_done = (*header.n_done.get_mut() as usize).min(block.entries.len());
        // SAFETY: the server wrote so many, within the area's room.
        let mut summaries = unsafe { segment.copy(segment.summaries(), n_done) };
        let n_known = header.n_shared as usize;
        let n_all = (n_known + header.n_shared_found as usize).min(segment.caps().shared as usize);
        // SAFETY: cut to the area's room.
        let mut shared_found = unsafe { segment.copy(segment.shared(), n_all) }.split_off(n_known);
        shared_found.sort_unstable();
        shared_found.dedup();
        let end = summaries.last_mut().map(|it| self.settle_end(it, watchdog));
        let must_look = block.entries.len() == 1
            || end.is_some_and(|it| must_be_looked_at(it, block.exit_is_fine));
        let trace = (must_look || header.n_notes > 0).then(|| Trace::read(&segment));
        let uncontrolled = trace.as_ref().map_or_else(Vec::new, |it| self.uncontrolled(it));
        let last = match (must_look, trace, end, summaries.last()) {
            (true, Some(trace), Some(end), Some(summary)) => {
                Some(self.execution(trace, end, *summary))
            }
            _ => None,
        };
        BlockResult { summaries, shared_found, last, uncontrolled }
    }

    /// How the last execution ended, also where the runtime could not say it.
    fn settle_end(&self, summary: &mut Summary, watchdog: &Watchdog) -> End {
        let told =
            End::from_numbers(summary.end_kind as u8, summary.end_detail).unwrap_or(End::Lost(0));
        let end = match told {
            End::Lost(_) if watchdog.is_out_of_memory => End::OutOfMemory,
            End::Lost(_) if watchdog.is_hung => End::Hang,
            End::Lost(status) if libc::WIFEXITED(status) => End::Exit(libc::WEXITSTATUS(status)),
            // The kernel's own memory killer.
            End::Lost(status) if libc::WTERMSIG(status) == libc::SIGKILL => End::OutOfMemory,
            End::Lost(status) => End::Crash(libc::WTERMSIG(status)),
            told => told,
        };
        let (kind, detail) = end.to_numbers();
        summary.end_kind = u32::from(kind);
        summary.end_detail = detail;
        end
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
                let Some(site) = trace.sites.get(site.0 as usize) else { continue };
                let Some(module) = site.module.and_then(|it| trace.modules.get(it as usize)) else {
                    continue;
                };
                stack.extend(
                    self.symbols.places(module.path.as_ref(), site.offset.saturating_sub(1)),
                );
            }
            found.push(Uncontrolled {
                what: note.what.clone(),
                count: u64::from(note.count),
                stack,
            });
        }
        found
    }
}

fn must_be_looked_at(end: End, exit_is_fine: bool) -> bool {
    match end {
        End::Exit(0) => false,
        End::Exit(_) => !exit_is_fine,
        _ => true,
    }
}

impl Session for NativeSession {
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError> {
        self.server.clear_output();
        self.write_block(block)?;
        self.server.run_block().map_err(|error| {
            TargetError::Bug(format!("the fork server does not listen: {error}"))
        })?;
        let watchdog = self.await_block()?;
        Ok(self.read_block(block, &watchdog))
    }
}
