//! One function, interpreted with sets of sources in place of values.

mod blocks;
mod call;
mod step;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use raddle_model::flows::SinkKind;

use self::blocks::Blocks;
use crate::{
    binary::{Binary, Code, own_target},
    sources::{Source, Sources},
    state::State,
};

/// Instructions of a function, more than which are not followed.
const INSTRUCTIONS_MAX: usize = 20_000;
/// Basic blocks of one.
const BLOCKS_MAX: usize = 2_000;
/// What a function does, in terms of its own reads, arguments and calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// Return addresses of hooks that announce a read.
    pub(crate) reads: BTreeSet<u64>,
    /// By return address of a hook that announces a write: what flows into the value.
    pub(crate) writes: BTreeMap<u64, Sources>,
    /// By address and kind: what decides it.
    pub(crate) sinks: BTreeMap<(u64, SinkKind), Sources>,
    /// By return address: what is called, with which arguments.
    pub(crate) calls: BTreeMap<u64, Call>,
    /// What it returns.
    pub(crate) returns: Sources,
    /// What it, or whoever it calls, writes to memory that is not its own stack.
    pub(crate) stores: Sources,
    /// Functions whose address it takes.
    pub(crate) pointed_to: BTreeSet<u64>,
    /// Return addresses of hooks that announce an access, and nothing else.
    pub(crate) accesses: BTreeSet<u64>,
    /// Return addresses of hooks that compare and exchange.
    pub(crate) exchanges: BTreeSet<u64>,
    /// Sinks that nobody comes to, and on from there, without an access in this function.
    pub(crate) accompanied: BTreeSet<u64>,
}

impl Summary {
    /// The same, as if nothing flowed out of it and nothing were decided in it.
    pub(crate) fn muted(self) -> Summary {
        let Summary { reads, writes, accesses, exchanges, .. } = self;
        let writes = writes.into_keys().map(|it| (it, Sources::none())).collect();
        Summary { reads, writes, accesses, exchanges, ..Summary::default() }
    }
}

/// A call of a function of the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    /// Where it begins; `None`: through a pointer.
    pub(crate) target: Option<u64>,
    /// By argument.
    pub(crate) arguments: Vec<Sources>,
}

/// Why a function can't be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Irregular;

/// Follows a function.
pub(crate) fn summarise(code: &Code, binary: &Binary) -> Result<Summary, Irregular> {
    if code.instructions.len() > INSTRUCTIONS_MAX {
        return Err(Irregular);
    }
    let blocks = Blocks::of(code, binary).ok_or(Irregular)?;
    if blocks.len() > BLOCKS_MAX {
        return Err(Irregular);
    }
    let mut pass = Pass { code, binary, blocks: &blocks, block: 0, raw: Raw::default() };
    pass.run()?;
    let accompanied = pass.accompanied();
    Ok(Summary { accompanied, ..pass.raw.complete(&blocks, code) })
}

/// A summary in which it is still said of values on which way they were computed.
#[derive(Debug, Default)]
struct Raw {
    summary: Summary,
    /// By place: its block.
    at: BTreeMap<u64, usize>,
    /// By block that returns: what it returns.
    returns: BTreeMap<usize, Sources>,
}

impl Raw {
    /// Where a value is used on the same way on which it was computed, that way decides nothing about it;
    /// elsewhere, whatever decides the branch does.
    fn complete(self, blocks: &Blocks, code: &Code) -> Summary {
        let of_branch = |block: u32| {
            let branch = code.instructions[blocks.last(block as usize)].ip();
            self.summary.sinks.get(&(branch, SinkKind::Branch))
        };
        let complete = |sources: &Sources, block: usize| {
            let mut found = Sources::none();
            let mut open: Vec<Source> = sources.iter().collect();
            let mut seen = BTreeSet::new();
            while let Some(source) = open.pop() {
                match source {
                    Source::Control(it) if blocks.deciders(block).contains(&(it as usize)) => {}
                    Source::Control(it) => {
                        if seen.insert(it) {
                            open.extend(of_branch(it).into_iter().flat_map(Sources::iter));
                        }
                    }
                    _ => {
                        found.add(&Sources::one(source));
                    }
                }
            }
            found
        };
        let block = |place: &u64| self.at.get(place).copied().unwrap_or(0);
        let mut summary = self.summary.clone();
        for ((place, _), sources) in &mut summary.sinks {
            *sources = complete(sources, block(place));
        }
        for (place, sources) in &mut summary.writes {
            *sources = complete(sources, block(place));
        }
        for (place, call) in &mut summary.calls {
            for sources in &mut call.arguments {
                *sources = complete(sources, block(place));
            }
        }
        // Whoever looks there is not in this function: every way counts.
        summary.stores = complete(&summary.stores, 0);
        for (block, sources) in &self.returns {
            summary.returns.add(&complete(sources, *block));
        }
        summary
    }
}

/// One interpretation of a function.
struct Pass<'a> {
    code: &'a Code,
    binary: &'a Binary,
    blocks: &'a Blocks,
    /// Where it is.
    block: usize,
    raw: Raw,
}

impl Pass<'_> {
    fn run(&mut self) -> Result<(), Irregular> {
        let mut states: Vec<Option<State>> = vec![None; self.blocks.len()];
        states[0] = Some(State::entry());
        let mut open = VecDeque::from([0]);
        while let Some(block) = open.pop_front() {
            let Some(mut state) = states[block].clone() else { continue };
            self.block = block;
            let deciders = self.blocks.deciders(block).iter();
            let control = deciders.map(|it| Source::Control(*it as u32)).collect();
            for idx in self.blocks.range(block) {
                self.step(&mut state, idx, &control)?;
            }
            for next in self.blocks.successors(block) {
                let has_changed = match &mut states[*next] {
                    Some(known) => known.join(&state),
                    none => {
                        *none = Some(state.clone());
                        true
                    }
                };
                if has_changed && !open.contains(next) {
                    open.push_back(*next);
                }
            }
        }
        Ok(())
    }

    /// See [`Summary::accompanied`]. Ways into a panic do not count: they are seen as such.
    fn accompanied(&self) -> BTreeSet<u64> {
        let has_access: BTreeSet<usize> = self
            .raw
            .summary
            .accesses
            .iter()
            .filter_map(|it| self.raw.at.get(it).copied())
            .collect();
        let is_end = |it: usize| {
            let last = &self.code.instructions[self.blocks.last(it)];
            let target = own_target(last, self.binary);
            self.blocks.successors(it).is_empty()
                && target.is_none_or(|it| !self.binary.endless.contains(&it))
        };
        let quiet = self.blocks.without(&has_access, is_end);
        let is_quiet = |it: &u64| self.raw.at.get(it).is_none_or(|it| quiet.contains(it));
        self.raw.summary.sinks.keys().map(|it| it.0).filter(|it| !is_quiet(it)).collect()
    }

    fn add_sink(&mut self, place: u64, kind: SinkKind, sources: &Sources) {
        self.raw.at.insert(place, self.block);
        self.raw.summary.sinks.entry((place, kind)).or_default().add(sources);
    }

    fn add_write(&mut self, place: u64, sources: &Sources) {
        self.raw.at.insert(place, self.block);
        self.raw.summary.writes.entry(place).or_default().add(sources);
    }

    fn add_call(&mut self, place: u64, target: Option<u64>, arguments: &[Sources]) {
        self.raw.at.insert(place, self.block);
        let known = self.raw.summary.calls.entry(place).or_default();
        known.target = target;
        known.arguments.resize(known.arguments.len().max(arguments.len()), Sources::none());
        for (mine, theirs) in known.arguments.iter_mut().zip(arguments) {
            mine.add(theirs);
        }
    }

    fn unknown() -> Sources {
        Sources::one(Source::Unknown)
    }
}
