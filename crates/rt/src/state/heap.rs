//! The program's heap blocks: which allocation an address belongs to, and which were freed.
//!
//! A block that was freed is known until its address is given out again. Not all allocations are seen (those of
//! threads that are not ours, and those made on behalf of a hook are not); whoever asks must make sure that none
//! was made there.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed},
};

use raddle_model::{Allocator, BlockSort, SiteId, ThreadId, mix};

use crate::record::stacks::StackId;

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
    /// Which functions it was allocated by.
    pub(crate) allocator: Allocator,
    /// Was it mapped?
    pub(crate) sort: BlockSort,
    /// Allocations so far that were not seen.
    pub(crate) n_unseen: u64,
    /// When it was allocated, as `Locksets::moment`.
    pub(crate) born: u64,
}

impl Block {
    /// Is it the same allocation?
    pub(crate) fn is(&self, other: &Block) -> bool {
        (self.site, self.ordinal) == (other.site, other.ordinal)
    }
}

/// A block that was freed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freed {
    pub(crate) block: Block,
    /// Who freed it.
    pub(crate) thread: ThreadId,
    /// The call that freed it, and those that led there.
    pub(crate) stack: StackId,
    /// Steps until then.
    pub(crate) step: u64,
    /// Allocations until then that were not seen.
    pub(crate) n_unseen: u64,
}

/// Allocations that were not seen.
static N_UNSEEN: AtomicU64 = AtomicU64::new(0);

/// The family of the function that has begun to allocate (the first) or to free (the second), and goes on in `malloc` or
/// `free`; 0: it is that itself.
static BEGUN: [AtomicU8; 2] = [const { AtomicU8::new(0) }; 2];

/// An allocation, or a free, has begun in a function that may call others before it comes to `malloc` or `free`.
pub(crate) fn begin(allocator: Allocator, is_free: bool) {
    let begun = &BEGUN[usize::from(is_free)];
    if begun.load(Relaxed) == 0 {
        begun.store(allocator as u8, Relaxed);
    }
}

/// In which function the allocation, or the free, has begun that has come to `malloc` or `free`.
pub(crate) fn take_begun(is_free: bool) -> Allocator {
    let begun = &BEGUN[usize::from(is_free)];
    let number = begun.load(Relaxed);
    if number != 0 {
        begun.store(0, Relaxed);
    }
    Allocator::from_number(number).unwrap_or_default()
}

/// So many callers tell blocks of one site apart: many programs allocate through one function of their
/// own, and not all that comes from there is one kind of thing.
pub(crate) const N_CALLERS: usize = 3;

/// So many blocks that were freed are known for certain, and up to twice as many.
const FREED_MAX: usize = 1 << 15;

/// All blocks that are allocated now, and the last ones that were freed.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    blocks: BTreeMap<usize, Block>,
    /// Blocks that were freed, and those that were before these.
    freed: [BTreeMap<usize, Freed>; 2],
    /// By site: allocations so far.
    ordinals: Vec<u32>,
    /// The memory whose name was last asked for.
    pub(crate) last: Named,
}

/// A stretch of memory, a block, a module or a stack, in which a name is made of how far from an origin something is.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) range: Range<usize>,
    /// Names begin with this.
    pub(crate) seed: u64,
    pub(crate) origin: usize,
    /// Is the distance counted downwards?
    pub(crate) is_stack: bool,
}

impl Named {
    /// The name of what is at an address, if that is here.
    #[inline]
    pub(crate) fn name_of(&self, address: usize) -> Option<u64> {
        let (from, to) =
            if self.is_stack { (address, self.origin) } else { (self.origin, address) };
        self.range.contains(&address).then(|| mix(self.seed, to.wrapping_sub(from) as u64))
    }
}

/// Allocations so far that were not seen.
pub(crate) fn n_unseen() -> u64 {
    N_UNSEEN.load(Relaxed)
}

/// Something was allocated, and nobody may be told.
pub(crate) fn add_unseen() {
    N_UNSEEN.fetch_add(1, Relaxed);
}

impl Heap {
    /// By site: allocations so far.
    pub(crate) fn ordinals(&self) -> Vec<u32> {
        self.ordinals.clone()
    }

    /// Begins another execution, with so many allocations made before.
    pub(crate) fn restart(&mut self, ordinals: &[u32]) {
        self.last = Named::default();
        self.freed.iter_mut().for_each(BTreeMap::clear);
        if self.ordinals.len() < ordinals.len() {
            self.ordinals.resize(ordinals.len(), 0);
        }
        let (known, new) = self.ordinals.split_at_mut(ordinals.len());
        known.copy_from_slice(ordinals);
        new.fill(0);
    }

    /// Adds a block; its ordinal is found here.
    pub(crate) fn add(&mut self, address: usize, mut block: Block) {
        self.last = Named::default();
        let idx = block.site.0 as usize;
        if self.ordinals.len() <= idx {
            self.ordinals.resize(idx + 64, 0);
        }
        block.ordinal = self.ordinals[idx];
        self.ordinals[idx] += 1;
        self.blocks.insert(address, block);
        let end = address + block.size.max(1);
        for freed in &mut self.freed {
            while let Some((&start, _)) = freed.range(address..end).next() {
                freed.remove(&start);
            }
        }
    }

    pub(crate) fn remove(&mut self, address: usize) -> Option<Block> {
        self.last = Named::default();
        self.blocks.remove(&address)
    }

    /// A block is freed.
    pub(crate) fn free(&mut self, address: usize, freed: Freed) {
        self.remove(address);
        if self.freed[0].len() >= FREED_MAX {
            self.freed.swap(0, 1);
            self.freed[0].clear();
        }
        self.freed[0].insert(address, freed);
    }

    /// The block that an address was in before it was freed, and where it began.
    pub(crate) fn freed_of(&self, address: usize) -> Option<(usize, Freed)> {
        let of = |all: &BTreeMap<usize, Freed>| {
            let (base, freed) = all.range(..=address).next_back()?;
            (address < base + freed.block.size.max(1)).then_some((*base, *freed))
        };
        of(&self.freed[0]).or_else(|| of(&self.freed[1]))
    }

    /// A block that was freed is looked at once more: it is known again, until the execution is over.
    pub(crate) fn recall(&mut self, address: usize, freed: &Freed) {
        self.last = Named::default();
        self.blocks.insert(address, freed.block);
    }

    /// The block that an access was meant for which begins at `address` and is outside of blocks from `first` on: the one
    /// that it begins in, or the one that is nearest. Where it begins, and whether the access is before it.
    pub(crate) fn nearest(&self, address: usize, first: usize) -> Option<(usize, bool)> {
        let before = self.blocks.range(..=first).next_back();
        let after = self.blocks.range(first + 1..).next();
        match (before, after) {
            (Some((start, block)), Some((next, _))) => {
                let is_next =
                    address >= start + block.size && next - first < first - (start + block.size);
                Some(if is_next { (*next, true) } else { (*start, false) })
            }
            (Some((start, _)), None) => Some((*start, false)),
            (None, after) => after.map(|(start, _)| (*start, true)),
        }
    }

    /// The block that an address is in, and where it begins.
    pub(crate) fn block_of(&self, address: usize) -> Option<(usize, Block)> {
        let (base, block) = self.blocks.range(..=address).next_back()?;
        (address < base + block.size.max(1)).then_some((*base, *block))
    }
}
