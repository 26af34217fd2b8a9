//! Live copies of executions, each waiting at a choice: which there are, which one an execution can begin
//! from, which are to be made, and which have to go.
//!
//! The runtime makes and runs them (crate `rt`, `checkpoint`). Here they are found by the choices that led
//! to them. What is kept changes how fast executions are, never what they do.

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::Duration,
};

use raddle_explore::target::{Block, PrefixBatch};
use raddle_model::{PickerSpec, Plan};
use raddle_trace::{CHECKPOINTS_MAX, Checkpoint, Entry, Segment};

/// What a copy costs: two forks, pages copied, and a process that can't be rewound.
const COPY_TIME: Duration = Duration::from_micros(400);
/// So many times are measured before the best of them is believed: on a machine that is busy with other things, a
/// few steps seem to take long.
const MEASURED_MIN: u32 = 8;
/// So many refusals in a row, and no more copies are asked for.
const REFUSALS_MAX: u32 = 8;

/// The copies of one server.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    /// Bytes that all copies together may take; 0 for none at all.
    budget: u64,
    slots: Vec<Slot>,
    /// Blocks run so far: what was used when.
    now: u64,
    n_refused: u32,
    /// Steps that a copy must spare, if that is not to be measured.
    gap: Option<u64>,
    /// The best time for a step that an execution had which neither began from a copy nor left one.
    step_time_ns: Option<u64>,
    /// How many there were.
    n_measured: u32,
    /// Is the execution that runs such a one?
    is_plain: bool,
}

#[derive(Debug)]
enum Slot {
    Free,
    /// A copy was asked for.
    Asked(Beginning),
    Kept(Kept),
}

#[derive(Debug)]
struct Kept {
    beginning: Beginning,
    process: i32,
    n_steps: u64,
    bytes: u64,
    used_at: u64,
}

/// What executions have in common that can begin from one copy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Beginning {
    /// Its prefix are the choices made so far.
    plan: Plan,
    entry: Entry,
}

impl Beginning {
    fn of(block: &Block, n_choices: usize) -> Beginning {
        let prefix = block.plan.prefix[..n_choices].to_vec();
        Beginning { plan: Plan { prefix, ..block.plan.clone() }, entry: block.entries[0] }
    }

    /// Does the block begin like this?
    fn is_of(&self, block: &Block) -> bool {
        let (mine, its) = (&self.plan, &block.plan);
        its.prefix.len() > mine.prefix.len()
            && its.prefix.starts_with(&mine.prefix)
            && self.entry == block.entries[0]
            && its.shared == mine.shared
            && its.conditions == mine.conditions
            && its.record == mine.record
    }
}

/// Where an execution begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    slot: usize,
    process: i32,
    /// Steps that need not be made again.
    pub(crate) n_steps: u64,
}

impl Checkpoints {
    /// None so far.
    pub(crate) fn new(budget: u64, gap: Option<u64>) -> Checkpoints {
        let slots = (0..CHECKPOINTS_MAX).map(|_| Slot::Free).collect();
        Checkpoints {
            budget,
            slots,
            now: 0,
            n_refused: 0,
            gap,
            step_time_ns: None,
            n_measured: 0,
            is_plain: false,
        }
    }

    /// Notes how long the steps of an execution took.
    pub(crate) fn measure(&mut self, n_steps: u64, elapsed: Duration) {
        if self.is_plain && n_steps > 0 {
            let each = (elapsed.as_nanos() as u64 / n_steps).max(1);
            self.step_time_ns = Some(self.step_time_ns.map_or(each, |it| it.min(each)));
            self.n_measured += 1;
        }
    }

    /// Choices that must lie between two copies for them to be worth it; before enough is measured, more
    /// than there are.
    fn gap(&self) -> usize {
        let best = self.step_time_ns.filter(|_| MEASURED_MIN <= self.n_measured);
        let measured = best.map(|it| COPY_TIME.as_nanos() as u64 / it);
        let gap = self.gap.or(measured).map_or(usize::MAX / 2, |it| it as usize);
        gap.max(1)
    }

    /// May copies spare an execution something? If not, it is a plain one.
    pub(crate) fn are_worth_it(&mut self, each: &PrefixBatch) -> bool {
        let is_worth_it = self.budget != 0 && self.gap() <= each.prefix(0).len();
        self.is_plain = !is_worth_it;
        is_worth_it
    }

    /// Finds where the block's execution can begin, and asks it to leave copies where it should. The
    /// server waits.
    pub(crate) fn prepare(&mut self, segment: &Segment, block: &Block) -> Option<Start> {
        self.now += 1;
        self.is_plain = true;
        // What a picker takes for its script are no choices that others could begin with.
        let is_script = matches!(
            block.plan.picker,
            PickerSpec::Switches | PickerSpec::Constrained | PickerSpec::LeastSwitching
        );
        if self.budget == 0 || block.entries.len() != 1 || is_script {
            return None;
        }
        let start = self.deepest(block);
        if let Some(Slot::Kept(kept)) = start.and_then(|it| self.slots.get_mut(it.slot)) {
            kept.used_at = self.now;
        }
        self.is_plain = start.is_none();
        let n_spared = start.map_or(0, |it| self.position(it.slot));
        let common = (block.common as usize).min(block.plan.prefix.len().saturating_sub(1));
        let mut distance = self.gap();
        // Others leave the common way not at its end only, but before, too: the further, the fewer.
        while n_spared + distance < common && n_spared + self.gap() <= common - distance {
            self.ask(segment, block, common - distance);
            self.is_plain = false;
            distance *= 2;
        }
        start
    }

    /// The copy that is furthest on the block's way.
    fn deepest(&self, block: &Block) -> Option<Start> {
        let kept = self.slots.iter().enumerate().filter_map(|(slot, it)| match it {
            Slot::Kept(kept) if kept.beginning.is_of(block) => Some((slot, kept)),
            _ => None,
        });
        let (slot, kept) = kept.max_by_key(|(_, it)| it.beginning.plan.prefix.len())?;
        Some(Start { slot, process: kept.process, n_steps: kept.n_steps })
    }

    fn position(&self, slot: usize) -> usize {
        match &self.slots[slot] {
            Slot::Kept(Kept { beginning, .. }) | Slot::Asked(beginning) => {
                beginning.plan.prefix.len()
            }
            Slot::Free => 0,
        }
    }

    /// Asks for a copy after so many choices, if there is room or something older to give up.
    #[expect(unsafe_code, reason = "writes to the shared segment")]
    fn ask(&mut self, segment: &Segment, block: &Block, n_choices: usize) {
        if REFUSALS_MAX <= self.n_refused {
            return;
        }
        let free = self.slots.iter().position(|it| matches!(it, Slot::Free));
        let Some(slot) = free.or_else(|| self.oldest()) else { return };
        self.end(segment, slot);
        self.slots[slot] = Slot::Asked(Beginning::of(block, n_choices));
        // SAFETY: the server waits, and nobody waits at this slot.
        unsafe { (*segment.header()).live.checkpoints[slot].position = n_choices as u32 };
        self.state(segment, slot).state.store(Checkpoint::ASKED, Release);
    }

    /// The copy that was not used for longest; not one used for this block.
    fn oldest(&self) -> Option<usize> {
        let kept = self.slots.iter().enumerate().filter_map(|(slot, it)| match it {
            Slot::Kept(kept) if kept.used_at < self.now => Some((kept.used_at, slot)),
            _ => None,
        });
        kept.min().map(|(_, slot)| slot)
    }

    /// Starts the block's execution from a copy.
    #[expect(unsafe_code, reason = "wakes another process")]
    pub(crate) fn run(&self, segment: &Segment, start: Start) {
        let word = &self.state(segment, start.slot).state;
        word.store(Checkpoint::RUNS, Release);
        // SAFETY: waking needs nothing but a mapped word.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
    }

    /// Takes stock after an execution: what was left where. The server waits. `true` if copies have ended
    /// and want to be buried.
    pub(crate) fn collect(&mut self, segment: &Segment) -> bool {
        for slot in 0..self.slots.len() {
            if matches!(self.slots[slot], Slot::Asked(_)) {
                self.collect_one(segment, slot);
            }
        }
        let mut has_ended = false;
        while self.budget < self.bytes() {
            let Some(oldest) = self.oldest().or_else(|| self.newest()) else { break };
            self.end(segment, oldest);
            has_ended = true;
        }
        has_ended
    }

    fn collect_one(&mut self, segment: &Segment, slot: usize) {
        let asked = std::mem::replace(&mut self.slots[slot], Slot::Free);
        let Slot::Asked(beginning) = asked else { return };
        let checkpoint = self.state(segment, slot);
        match checkpoint.state.load(Acquire) {
            Checkpoint::WAITS => {
                let process = checkpoint.process.load(Relaxed);
                let (n_steps, bytes) = (checkpoint.n_steps, own_bytes(process));
                let used_at = self.now;
                self.slots[slot] = Slot::Kept(Kept { beginning, process, n_steps, bytes, used_at });
                self.n_refused = 0;
            }
            state => {
                checkpoint.state.store(Checkpoint::FREE, Relaxed);
                self.n_refused += u32::from(state == Checkpoint::REFUSED);
            }
        }
    }

    fn bytes(&self) -> u64 {
        let kept = self.slots.iter().filter_map(|it| match it {
            Slot::Kept(kept) => Some(kept.bytes),
            _ => None,
        });
        kept.sum()
    }

    fn newest(&self) -> Option<usize> {
        self.slots.iter().rposition(|it| matches!(it, Slot::Kept(_)))
    }

    /// Gives up a copy that has died.
    pub(crate) fn forget(&mut self, segment: &Segment, start: Start) {
        self.end(segment, start.slot);
    }

    #[expect(unsafe_code, reason = "ends another process")]
    fn end(&mut self, segment: &Segment, slot: usize) {
        if let Slot::Kept(kept) = &self.slots[slot] {
            // SAFETY: a process that our server made, and that nobody has waited for.
            unsafe { libc::kill(kept.process, libc::SIGKILL) };
        }
        self.slots[slot] = Slot::Free;
        self.state(segment, slot).state.store(Checkpoint::FREE, Relaxed);
    }

    #[expect(unsafe_code, reason = "reads the shared segment")]
    fn state<'a>(&self, segment: &'a Segment, slot: usize) -> &'a Checkpoint {
        // SAFETY: the header is mapped for as long as the server lives.
        unsafe { &(*segment.header()).live.checkpoints[slot] }
    }
}

impl Start {
    /// Does the copy still live?
    pub(crate) fn is_alive(self) -> bool {
        let path = format!("/proc/{}/stat", self.process);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // The second field is the program's name, which may hold anything.
        text.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    }
}

/// Memory that a process shares with no other, in bytes; all that is known to be so.
fn own_bytes(process: i32) -> u64 {
    let path = format!("/proc/{process}/smaps_rollup");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let own = text.lines().filter(|it| it.starts_with("Private_"));
    let kilobytes = own.filter_map(|it| it.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.sum::<u64>() << 10
}
