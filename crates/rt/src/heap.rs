//! The program's heap blocks: which allocation an address belongs to.

use std::collections::BTreeMap;

use raddle_model::{SiteId, ThreadId};

use crate::stacks::StackId;

/// One allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) size: usize,
    /// Where it was allocated.
    pub(crate) site: SiteId,
    /// Which allocation of that site.
    pub(crate) ordinal: u32,
    /// Who allocated it.
    pub(crate) thread: ThreadId,
    /// The call that allocated it, and those that led there.
    pub(crate) stack: StackId,
}

/// So many callers tell blocks of one site apart: many programs allocate through one function of their
/// own, and not all that comes from there is one kind of thing.
pub(crate) const N_CALLERS: usize = 3;

/// All blocks that are allocated now.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    blocks: BTreeMap<usize, Block>,
    /// By site: allocations so far.
    ordinals: Vec<u32>,
    /// The block whose name was last asked for: start, end, and the hash that names begin with.
    pub(crate) last: (usize, usize, u64),
}

impl Heap {
    /// By site: allocations so far.
    pub(crate) fn ordinals(&self) -> Vec<u32> {
        self.ordinals.clone()
    }

    /// Begins another execution, with so many allocations made before.
    pub(crate) fn restart(&mut self, ordinals: &[u32]) {
        self.last = (0, 0, 0);
        if self.ordinals.len() < ordinals.len() {
            self.ordinals.resize(ordinals.len(), 0);
        }
        let (known, new) = self.ordinals.split_at_mut(ordinals.len());
        known.copy_from_slice(ordinals);
        new.fill(0);
    }

    /// Adds a block; its ordinal is found here.
    pub(crate) fn add(&mut self, address: usize, mut block: Block) {
        self.last = (0, 0, 0);
        let idx = block.site.0 as usize;
        if self.ordinals.len() <= idx {
            self.ordinals.resize(idx + 64, 0);
        }
        block.ordinal = self.ordinals[idx];
        self.ordinals[idx] += 1;
        self.blocks.insert(address, block);
    }

    pub(crate) fn remove(&mut self, address: usize) -> Option<Block> {
        self.last = (0, 0, 0);
        self.blocks.remove(&address)
    }

    /// The block that an address is in, and where it begins.
    pub(crate) fn block_of(&self, address: usize) -> Option<(usize, Block)> {
        let (base, block) = self.blocks.range(..=address).next_back()?;
        (address < base + block.size.max(1)).then_some((*base, *block))
    }
}
