//! The basic blocks of a function, and which branches decide whether each runs.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{FlowControl, Instruction, Mnemonic, Register};

use crate::{
    binary::{Binary, Code, called, near_target, own_target},
    hooks::{Callee, callee},
};

/// See the module.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// By block: its first instruction; the next block's first ends it.
    starts: Vec<usize>,
    n_instructions: usize,
    successors: Vec<Vec<usize>>,
    /// By block: blocks whose branch decides whether it runs, and whose branch decides that…
    deciders: Vec<BTreeSet<usize>>,
}

impl Blocks {
    /// `None` if somebody jumps where nobody knows.
    pub(crate) fn of(code: &Code, binary: &Binary) -> Option<Blocks> {
        let all = &code.instructions;
        let at: BTreeMap<u64, usize> =
            all.iter().enumerate().map(|(idx, it)| (it.ip(), idx)).collect();
        let switch = switch_targets(code, binary);
        let mut starts = BTreeSet::from([0]);
        starts.extend(switch.iter().filter_map(|it| at.get(it)));
        for (idx, instruction) in all.iter().enumerate() {
            if ends_block(instruction, binary) {
                starts.insert(idx + 1);
                let target = near_target(instruction).filter(|_| is_jump(instruction));
                starts.extend(target.and_then(|it| at.get(&it)));
            }
        }
        starts.remove(&all.len());
        let starts: Vec<usize> = starts.into_iter().collect();
        let block_of: BTreeMap<usize, usize> =
            starts.iter().enumerate().map(|(block, start)| (*start, block)).collect();
        let mut blocks = Blocks {
            n_instructions: all.len(),
            successors: Vec::with_capacity(starts.len()),
            deciders: Vec::new(),
            starts,
        };
        for block in 0..blocks.starts.len() {
            let last = &all[blocks.last(block)];
            let next = block_of.get(&(blocks.last(block) + 1)).copied();
            let target = near_target(last).filter(|_| is_jump(last));
            let inside = target.and_then(|it| at.get(&it)).and_then(|it| block_of.get(it)).copied();
            let successors = match last.flow_control() {
                FlowControl::ConditionalBranch => inside.into_iter().chain(next).collect(),
                FlowControl::UnconditionalBranch => inside.into_iter().collect(),
                FlowControl::IndirectBranch
                    if !is_import(last, binary) && own_target(last, binary).is_none() =>
                {
                    let targets = switch.iter().filter_map(|it| block_of.get(at.get(it)?));
                    let targets: Vec<usize> = targets.copied().collect();
                    if targets.is_empty() {
                        return None;
                    }
                    targets
                }
                FlowControl::IndirectBranch | FlowControl::Return | FlowControl::Exception => {
                    Vec::new()
                }
                _ if ends_block(last, binary) => Vec::new(),
                _ => next.into_iter().collect(),
            };
            blocks.successors.push(successors);
        }
        blocks.find_deciders();
        Some(blocks)
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The instructions of a block.
    pub(crate) fn range(&self, block: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(block + 1).copied().unwrap_or(self.n_instructions);
        self.starts[block]..end
    }

    /// The last instruction of a block.
    pub(crate) fn last(&self, block: usize) -> usize {
        self.range(block).end - 1
    }

    pub(crate) fn successors(&self, block: usize) -> &[usize] {
        &self.successors[block]
    }

    /// Blocks whose branch decides whether this one runs.
    pub(crate) fn deciders(&self, block: usize) -> &BTreeSet<usize> {
        &self.deciders[block]
    }

    /// The blocks on ways from the start to an end that have none of `avoided` on them.
    pub(crate) fn without(
        &self,
        avoided: &BTreeSet<usize>,
        is_end: impl Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        for (block, successors) in self.successors.iter().enumerate() {
            for next in successors {
                before[*next].push(block);
            }
        }
        let reach = |mut open: Vec<usize>, edges: &[Vec<usize>]| {
            let mut reached = BTreeSet::new();
            while let Some(block) = open.pop() {
                if !avoided.contains(&block) && reached.insert(block) {
                    open.extend(&edges[block]);
                }
            }
            reached
        };
        let begun = reach(vec![0], &self.successors);
        let ended = reach((0..self.len()).filter(|it| is_end(*it)).collect(), &before);
        begun.intersection(&ended).copied().collect()
    }

    /// Control dependence (Ferrante, Ottenstein, Warren): a branch decides a block if on one of its ways the
    /// block always comes, and on another it may not.
    fn find_deciders(&mut self) {
        let after = self.post_dominators();
        self.deciders = vec![BTreeSet::new(); self.len()];
        for branch in 0..self.len() {
            if self.successors[branch].len() < 2 {
                continue;
            }
            for next in &self.successors[branch] {
                for block in &after[*next] {
                    let is_always = after[branch].contains(block) && *block != branch;
                    if !is_always {
                        self.deciders[*block].insert(branch);
                    }
                }
            }
        }
        self.close();
    }

    /// Who decides a decider decides, too.
    fn close(&mut self) {
        for block in 0..self.len() {
            let mut open: Vec<usize> = self.deciders[block].iter().copied().collect();
            while let Some(decider) = open.pop() {
                let further: Vec<usize> = self.deciders[decider].iter().copied().collect();
                open.extend(further.into_iter().filter(|it| self.deciders[block].insert(*it)));
            }
        }
    }

    /// Blocks after which nothing comes; of a loop that never ends, its first: as if it could end there.
    fn ends(&self) -> BTreeSet<usize> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        for (block, successors) in self.successors.iter().enumerate() {
            for next in successors {
                before[*next].push(block);
            }
        }
        let mut ends: BTreeSet<usize> =
            (0..self.len()).filter(|it| self.successors[*it].is_empty()).collect();
        let mut reached = BTreeSet::new();
        let mut open: Vec<usize> = ends.iter().copied().collect();
        loop {
            while let Some(block) = open.pop() {
                if reached.insert(block) {
                    open.extend(&before[block]);
                }
            }
            // Of those that never come to an end, the last in the code is in a loop.
            let Some(stuck) = (0..self.len()).rev().find(|it| !reached.contains(it)) else {
                return ends;
            };
            let first = self.loop_start(stuck);
            ends.insert(first);
            open.push(first);
        }
    }

    /// The first block of the loop that a way from here runs into.
    fn loop_start(&self, from: usize) -> usize {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if reached.insert(block) {
                open.extend(&self.successors[block]);
            }
        }
        let returns = |start: usize| {
            let mut seen = BTreeSet::new();
            let mut open = self.successors[start].clone();
            while let Some(block) = open.pop() {
                if block == start {
                    return true;
                }
                if seen.insert(block) {
                    open.extend(&self.successors[block]);
                }
            }
            false
        };
        reached.into_iter().find(|it| returns(*it)).unwrap_or(from)
    }

    /// By block: the blocks that come after it on every way to the end, itself included.
    fn post_dominators(&self) -> Vec<BTreeSet<usize>> {
        let ends = self.ends();
        let all: BTreeSet<usize> = (0..self.len()).collect();
        let mut after: Vec<BTreeSet<usize>> = vec![all; self.len()];
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for block in (0..self.len()).rev() {
                let mut common: Option<BTreeSet<usize>> = None;
                for next in &self.successors[block] {
                    common = Some(match common {
                        Some(it) => it.intersection(&after[*next]).copied().collect(),
                        None => after[*next].clone(),
                    });
                }
                let mut now = common.filter(|_| !ends.contains(&block)).unwrap_or_default();
                now.insert(block);
                if now != after[block] {
                    after[block] = now;
                    has_changed = true;
                }
            }
        }
        after
    }
}

/// Where jumps through tables may lead. If a function has several tables, each jump may lead wherever any of
/// them leads.
fn switch_targets(code: &Code, binary: &Binary) -> BTreeSet<u64> {
    let is_switch = |it: &Instruction| {
        it.flow_control() == FlowControl::IndirectBranch
            && !is_import(it, binary)
            && own_target(it, binary).is_none()
    };
    if !code.instructions.iter().any(is_switch) {
        return BTreeSet::new();
    }
    let end = code.instructions.last().map_or(code.start, Instruction::next_ip);
    let is_table =
        |it: &&Instruction| it.mnemonic() == Mnemonic::Lea && it.memory_base() == Register::RIP;
    let tables = code.instructions.iter().filter(is_table).map(|it| it.ip_rel_memory_address());
    tables.flat_map(|it| binary.jumps(it, &(code.start..end))).collect()
}

fn is_jump(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
    )
}

fn ends_block(instruction: &Instruction, binary: &Binary) -> bool {
    match instruction.flow_control() {
        FlowControl::Next => false,
        FlowControl::Call | FlowControl::IndirectCall => {
            called(instruction, binary).is_some_and(|it| callee(it) == Callee::End)
                || own_target(instruction, binary).is_some_and(|it| binary.endless.contains(&it))
        }
        _ => instruction.mnemonic() != Mnemonic::Syscall,
    }
}

fn is_import(instruction: &Instruction, binary: &Binary) -> bool {
    called(instruction, binary).is_some()
}
