//! Arguments, results and what goes through pointers, passed between functions: by function, in reads.
//!
//! What flows between functions is a graph: an argument of a function flows from what its callers have there, its
//! result from its own reads, arguments and calls. Sets of reads go along its edges until nothing changes. A set
//! that has something unknown in it is unknown, and that is all there is to it, so each node changes at most once for
//! each read, and a program as large as Rust's standard library takes a moment.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    function::Summary,
    sources::{Source, Sources},
    state::ARGUMENTS,
};

/// What may flow somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// These reads, by their numbers, a bit for each.
    Reads(Vec<u64>),
    /// Nobody knows.
    Unknown,
}

/// Something that flows from function to function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// An argument of a function.
    Param(u64, u8),
    /// The same argument of whoever is called through a pointer.
    AnyParam(u8),
    /// What a function returns.
    Ret(u64),
    /// What a function writes through pointers, or whoever it calls.
    Out(u64),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Resolved<'a> {
    summaries: &'a BTreeMap<u64, Summary>,
    /// All reads, in order: their numbers.
    reads: Vec<u64>,
    origins: BTreeMap<Node, Origin>,
}

impl Origin {
    fn none() -> Origin {
        Origin::Reads(Vec::new())
    }

    /// Adds another; `true` if anything was new.
    fn add(&mut self, other: &Origin) -> bool {
        let (Origin::Reads(mine), Origin::Reads(theirs)) = (&mut *self, other) else {
            let is_new = *self != Origin::Unknown && *other == Origin::Unknown;
            if is_new {
                *self = Origin::Unknown;
            }
            return is_new;
        };
        mine.resize(mine.len().max(theirs.len()), 0);
        let mut is_new = false;
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            is_new |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        is_new
    }

    fn add_number(&mut self, number: usize) {
        if let Origin::Reads(bits) = self {
            bits.resize(bits.len().max(number / 64 + 1), 0);
            bits[number / 64] |= 1 << (number % 64);
        }
    }
}

impl<'a> Resolved<'a> {
    /// Passes everything around. `pointed_to`: whoever may be called through a pointer; `called_anyhow`: functions
    /// of which nobody knows with what they are called.
    pub(crate) fn new(
        summaries: &'a BTreeMap<u64, Summary>,
        pointed_to: &BTreeSet<u64>,
        called_anyhow: &BTreeSet<u64>,
    ) -> Resolved<'a> {
        let reads: BTreeSet<u64> =
            summaries.values().flat_map(|it| it.reads.iter().copied()).collect();
        let mut resolved =
            Resolved { summaries, reads: reads.into_iter().collect(), origins: BTreeMap::new() };
        let mut edges: BTreeMap<Node, BTreeSet<Node>> = BTreeMap::new();
        for (start, summary) in summaries {
            resolved.begin(Node::Ret(*start), *start, &summary.returns, &mut edges);
            resolved.begin(Node::Out(*start), *start, &summary.stores, &mut edges);
            for call in summary.calls.values() {
                for (argument, sources) in (0..).zip(&call.arguments) {
                    let to = match call.target {
                        Some(target) => Node::Param(target, argument),
                        None => Node::AnyParam(argument),
                    };
                    resolved.begin(to, *start, sources, &mut edges);
                }
            }
        }
        for argument in 0..ARGUMENTS.len() as u8 {
            let all = pointed_to.iter().map(|it| Node::Param(*it, argument));
            edges.entry(Node::AnyParam(argument)).or_default().extend(all);
            for function in called_anyhow {
                resolved.origins.insert(Node::Param(*function, argument), Origin::Unknown);
            }
        }
        resolved.spread(&edges);
        resolved
    }

    /// What flows into a node within one function; what comes from others becomes edges.
    fn begin(
        &mut self,
        to: Node,
        function: u64,
        sources: &Sources,
        edges: &mut BTreeMap<Node, BTreeSet<Node>>,
    ) {
        let (own, from) = self.parts(function, sources);
        self.origins.entry(to).or_insert_with(Origin::none).add(&own);
        for from in from {
            edges.entry(from).or_default().insert(to);
        }
    }

    /// A function's sources: what is its own, and what comes from other functions.
    fn parts(&self, function: u64, sources: &Sources) -> (Origin, Vec<Node>) {
        let (mut own, mut from) = (Origin::none(), Vec::new());
        for source in sources.iter() {
            match source {
                // What it stands for was filled in before.
                Source::Control(_) => {}
                Source::Unknown => return (Origin::Unknown, Vec::new()),
                Source::Read(place) => match self.reads.binary_search(&place) {
                    Ok(number) => own.add_number(number),
                    Err(_) => return (Origin::Unknown, Vec::new()),
                },
                Source::Param(argument) => from.push(Node::Param(function, argument)),
                Source::Ret(place) | Source::Out(place) => {
                    let call = self.summaries[&function].calls.get(&place);
                    let target = call.and_then(|it| it.target);
                    match target.filter(|it| self.summaries.contains_key(it)) {
                        Some(target) if source == Source::Ret(place) => {
                            from.push(Node::Ret(target))
                        }
                        Some(target) => from.push(Node::Out(target)),
                        None => return (Origin::Unknown, Vec::new()),
                    }
                }
            }
        }
        (own, from)
    }

    fn spread(&mut self, edges: &BTreeMap<Node, BTreeSet<Node>>) {
        let mut open: BTreeSet<Node> = self.origins.keys().copied().collect();
        while let Some(node) = open.pop_first() {
            let origin = self.origins[&node].clone();
            for to in edges.get(&node).into_iter().flatten() {
                if self.origins.entry(*to).or_insert_with(Origin::none).add(&origin) {
                    open.insert(*to);
                }
            }
        }
    }

    /// The reads that flow into sources of a function; `None`: nobody knows.
    pub(crate) fn reads(&self, function: u64, sources: &Sources) -> Option<BTreeSet<u64>> {
        let (mut all, from) = self.parts(function, sources);
        for node in from {
            if let Some(origin) = self.origins.get(&node) {
                all.add(origin);
            }
        }
        let Origin::Reads(bits) = all else { return None };
        let of_word = |(idx, word): (usize, u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| idx * 64 + bit)
        };
        Some(bits.into_iter().enumerate().flat_map(of_word).map(|it| self.reads[it]).collect())
    }
}
