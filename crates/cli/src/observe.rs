//! What is shown while a campaign runs: progress and findings, as they come.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use raddle_explore::{CampaignEvent, Execution, Found, Observer, Outcome, store::SearchFile};
use raddle_model::{Explanation, Finding, Reproduced};
use raddle_report::{
    Shown, Status, Style, Tally,
    campaign::progress::{self, Heading, Since},
    finding::text,
    formats::{self, json},
};

use crate::{
    args::{Format, ProgressMode, RunArgs},
    ci::Baseline,
    record::Record,
    search,
    terminal::Terminal,
};

/// A block is drawn this often.
const REDRAW: Duration = Duration::from_millis(1000);

/// Tells the user and the store what happens.
pub(crate) struct Watcher<'a> {
    pub(crate) terminal: &'a mut Terminal,
    pub(crate) record: Record,
    format: Format,
    mode: ProgressMode,
    heading: Heading,
    seed: u64,
    base: String,
    known: Baseline,
    sources: raddle_launch::Symbols,
    /// Findings that were written, and whether as timing assumptions: an error is written in the place of one.
    told: BTreeSet<(String, bool)>,
    /// When the next line is due, in seconds.
    due_s: f64,
    since: Option<Since>,
    /// Lines of the block on the terminal.
    n_drawn: usize,
    drawn_at: Option<Instant>,
    /// The command that goes on with the search, if it is kept.
    pub(crate) resume: Option<String>,
}

/// What a watcher is to do.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) format: Format,
    pub(crate) mode: ProgressMode,
    pub(crate) heading: Heading,
    pub(crate) seed: u64,
    /// The directory that paths are shown relative to.
    pub(crate) base: String,
    /// What is not written, because it is known.
    pub(crate) known: Baseline,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(watch: Watch, record: Record, terminal: &'a mut Terminal) -> Watcher<'a> {
        let mode = match watch.mode {
            ProgressMode::Auto if watch.format == Format::Json => ProgressMode::None,
            ProgressMode::Auto if terminal.is_error_terminal => ProgressMode::Bar,
            ProgressMode::Auto => ProgressMode::Line,
            mode => mode,
        };
        Watcher {
            terminal,
            record,
            format: watch.format,
            mode,
            heading: watch.heading,
            seed: watch.seed,
            base: watch.base,
            known: watch.known,
            sources: raddle_launch::Symbols::new(),
            told: BTreeSet::new(),
            due_s: progress::next_due_s(0.0),
            since: None,
            n_drawn: 0,
            drawn_at: None,
            resume: None,
        }
    }

    /// Writes what was found, unless it was written before.
    pub(crate) fn tell(&mut self, found: &Found) {
        let reproduced = found.reproduced.if_tried();
        self.tell_once(&found.finding, &found.id, reproduced, found.explanation.as_deref());
    }

    fn tell_once(
        &mut self,
        finding: &Finding,
        id: &str,
        reproduced: Option<Reproduced>,
        explanation: Option<&Explanation>,
    ) {
        if self.known.knows(id) || !self.told.insert((id.to_owned(), finding.is_timing())) {
            return;
        }
        self.erase();
        let text = self.text(finding, id, reproduced, explanation);
        self.terminal.out(&text);
    }

    /// A finding as the user wants to read it.
    pub(crate) fn text(
        &mut self,
        finding: &Finding,
        id: &str,
        reproduced: Option<Reproduced>,
        explanation: Option<&Explanation>,
    ) -> String {
        let (seed, base) = (Some(self.seed), self.base.as_str());
        let shown = Shown { finding, id, seed, reproduced, base, explanation, test: None };
        match self.format {
            Format::Json => json::finding(&shown),
            Format::Short => formats::short(&shown),
            Format::Human => {
                let sources = &mut self.sources;
                let mut source_line = |place: &_| sources.source_line(place);
                text::finding(&shown, &self.terminal.out_style, &mut source_line) + "\n"
            }
        }
    }

    /// The campaign is over: can its search go on later?
    pub(crate) fn set_resume(&mut self, args: &RunArgs, search: Option<&SearchFile>) {
        let Some(search) = search else { return };
        if let Some(error) = search.error() {
            let line = format!("this search can't be resumed: {error}");
            return self.terminal.warning(&line);
        }
        let run = self.record.id().filter(|_| search.has_begun());
        self.resume = run.map(|it| search::command(args, it));
    }

    /// Takes the block off the terminal, so that something else can be written.
    pub(crate) fn erase(&mut self) {
        if self.n_drawn > 0 {
            self.terminal.note(&progress::erase(self.n_drawn));
            self.n_drawn = 0;
            self.drawn_at = None;
        }
    }

    fn draw(&mut self, status: &Status) {
        if self.drawn_at.is_some_and(|it| it.elapsed() < REDRAW) {
            return;
        }
        let style = self.terminal.error_style;
        let block = progress::block(&self.heading, status, &style);
        self.terminal.note(&progress::redraw(self.n_drawn, &block, &style));
        self.n_drawn = block.lines().count();
        self.drawn_at = Some(Instant::now());
    }

    /// Writes what an execution wrote.
    fn output(&mut self, number: u64, execution: &Execution) {
        self.erase();
        let text = match self.format {
            Format::Json => json::output(number, &execution.output),
            Format::Human | Format::Short => {
                text::execution(number, &execution.output, &self.terminal.out_style)
            }
        };
        self.terminal.out(&text);
    }

    /// Writes a line if one is due.
    fn line(&mut self, status: &Status) {
        if status.figures.elapsed_s() < self.due_s {
            return;
        }
        self.due_s = progress::next_due_s(status.figures.elapsed_s());
        if self.format == Format::Json {
            self.terminal.out(&json::progress(status));
        }
        if self.mode == ProgressMode::Line {
            self.terminal.note(&progress::line(status, self.since.as_ref()));
        }
        let distinct_traces = status.figures.distinct_traces;
        self.since = Some(Since { elapsed_s: status.figures.elapsed_s(), distinct_traces });
    }
}

impl Observer for Watcher<'_> {
    fn see(&mut self, event: CampaignEvent<'_>) {
        match event {
            CampaignEvent::Found { id, finding } => {
                self.record.add(id, finding, Reproduced::default(), self.terminal);
            }
            CampaignEvent::Confirmed(found) => {
                self.record.add_found(found, self.terminal);
                self.tell(found);
            }
            CampaignEvent::Progress(outcome) => {
                let status = status(outcome, None, false, &self.terminal.error_style);
                if self.mode == ProgressMode::Bar {
                    self.draw(&status);
                }
                self.line(&status);
            }
            CampaignEvent::Executed { number, execution } => self.output(number, execution),
            CampaignEvent::Ended(_) => self.erase(),
        }
    }
}

/// A campaign's figures, as reports want them.
pub(crate) fn status(
    outcome: &Outcome,
    resume: Option<&str>,
    is_over: bool,
    style: &Style,
) -> Status {
    Status {
        figures: outcome.figures.clone(),
        findings: outcome
            .findings
            .iter()
            .map(|it| Tally {
                id: it.id.clone(),
                count: it.count,
                place: text::short_place(&it.finding, style),
                is_timing: it.finding.is_timing(),
                is_race: it.finding.evidence.is_some(),
            })
            .collect(),
        search: search::status(outcome, resume, is_over),
    }
}
