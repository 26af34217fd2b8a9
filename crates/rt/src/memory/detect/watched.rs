//! Four bytes of memory that are watched: who accesses them, from where, and with which locks.

use raddle_analysis::hb::{Conflict, Segment};
use raddle_model::{OpKind, SiteId, Watch};
use raddle_trace::{HELD_MAX, HeldEntry, RACE_FRAMES_MAX, RaceSide, protocol::RegionTag};

use super::Touch;
use crate::{control::Control, state::detect::watched::Logged};

/// Most accesses kept; then the oldest are forgotten.
const LOG_MAX: usize = 4096;

impl Control {
    /// Memory is to be watched from now on, if there is any already; else when it is there.
    pub(super) fn watch(&mut self, watch: Watch) {
        self.memory.detect.watched.watch = watch;
        if watch.region == RegionTag::Global as u32
            && let Some(bias) = self.recorder.modules.bias_of(watch.base)
        {
            self.memory.shadow.watch(bias + watch.offset as usize);
        }
    }

    /// A block was allocated: is it the one that is watched?
    pub(crate) fn watch_block(&mut self, address: usize) {
        let watch = self.memory.detect.watched.watch;
        if watch.region != RegionTag::Heap as u32 {
            return;
        }
        let Some((start, block)) = self.memory.heap.block_of(address) else { return };
        if block.ordinal == watch.ordinal && self.block_hash(&block) == watch.base {
            self.memory.shadow.watch(start + watch.offset as usize);
        }
    }

    /// The thread that runs has its stack: is that where the memory is that is watched?
    pub(crate) fn watch_stack(&mut self) {
        let watch = self.memory.detect.watched.watch;
        if watch.region == RegionTag::Stack as u32 && watch.base == u64::from(self.me.0) {
            let base = self.scheduler.threads[self.me.idx()].stack_base;
            self.memory.shadow.watch(base.wrapping_sub(watch.offset as usize));
        }
    }

    /// Does anybody want to know who holds which locks?
    #[inline]
    pub(super) fn follows_locks(&self) -> bool {
        self.memory.detect.watched.is_used() || self.memory.locksets.is_on
    }

    /// An access to memory that is watched.
    #[cold]
    pub(super) fn log(&mut self, at: usize, touch: &Touch, segment: Segment) {
        let site = self.site_of(touch);
        let logged = Logged {
            thread: self.me,
            segment,
            kind: touch.kind,
            mask: touch.mask(at),
            shift: (touch.address as isize - at as isize) as i16,
            size: touch.size.min(255) as u8,
            step: self.recorder.emit.n_steps,
            site,
            callers: self.hot.stack.callers().take(RACE_FRAMES_MAX).collect(),
            holds: self.memory.locksets.held.of(self.me).collect(),
        };
        let log = &mut self.memory.detect.watched.log;
        let same = log.iter().position(|it| {
            it.segment == segment && it.kind == logged.kind && it.mask == logged.mask
        });
        if let Some(idx) = same.or_else(|| (log.len() >= LOG_MAX).then_some(0)) {
            log.remove(idx);
        }
        log.push(logged);
    }

    /// Says of both sides of a race in watched memory all that is known.
    pub(super) fn complete_sides(
        &mut self,
        conflict: &Conflict,
        earlier: &mut RaceSide,
        later: &mut RaceSide,
    ) {
        let wanted = conflict.earlier;
        let is_it = |it: &&Logged| {
            let is_write = !matches!(it.kind, OpKind::Read | OpKind::AtomicLoad);
            it.segment == wanted.segment
                && is_write == wanted.is_write
                && it.mask & wanted.mask != 0
                && (wanted.site == SiteId(0) || it.site == wanted.site)
        };
        let log = std::mem::take(&mut self.memory.detect.watched.log);
        if let Some(logged) = log.iter().rev().find(is_it) {
            self.complete_side(logged, earlier);
        }
        if let Some(logged) = log.last().filter(|it| it.thread == self.me) {
            self.complete_side(logged, later);
        }
        self.memory.detect.watched.log = log;
    }

    fn complete_side(&mut self, logged: &Logged, side: &mut RaceSide) {
        side.kind = logged.kind as u8;
        side.size = logged.size;
        side.shift = logged.shift;
        side.step = logged.step;
        side.site = self.recorder.emit.site_entry(logged.site);
        for (idx, pc) in logged.callers.iter().enumerate() {
            side.frames[idx] = self.add_site(*pc, false).0;
            side.n_frames = idx as u32 + 1;
        }
        for (idx, held) in logged.holds.iter().take(HELD_MAX).enumerate() {
            let is_shared = u32::from(held.is_shared);
            side.held[idx] = HeldEntry { object: held.lock.0, site: held.site.0, is_shared };
            side.n_held = idx as u32 + 1;
        }
    }
}
